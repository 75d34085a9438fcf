#include "platform/launch/expression.h"

#include <algorithm>

namespace warpline {
namespace {

using Op = ExpressionOp;

/// Operators that floats do not have.
bool is_integer_operator(Op op) {
  switch (op) {
    case Op::remainder:
    case Op::shift_left:
    case Op::shift_right:
    case Op::bit_and:
    case Op::bit_xor:
    case Op::bit_or:
    case Op::bit_not: return true;
    default: return false;
  }
}

bool is_truth_operator(Op op) {
  switch (op) {
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_not: return true;
    default: return false;
  }
}

/// Decides in which arithmetic each sub-tree computes, and refuses what that arithmetic lacks.
class Typer {
 public:
  Typer(ParsedExpression& parsed, DataType type) : parsed_(parsed), type_(type) {}

  /// `n` as an operand in the buffer's type; returns the node to use instead.
  std::uint32_t data(std::uint32_t n) {
    if (!is_float(type_)) {
      integers(n);
      return n;
    }
    const Op op = node(n).op;
    if (is_integer_operator(op) || (is_truth_operator(op) && only_integers(n))) {
      integers(n);
      return wrap(n);
    }
    if (op == Op::element) {
      integers(node(n).operand[0]);
      return n;
    }
    const bool has_range = op == Op::sum || op == Op::dot;
    for (unsigned o = 0; o < node(n).operands; ++o) {
      const std::uint32_t operand = node(n).operand[o];
      if (has_range && o < 2) {
        integers(operand);
      } else {
        const std::uint32_t typed = data(operand);
        node(n).operand[o] = typed;
      }
    }
    return n;
  }

 private:
  ExpressionNode& node(std::uint32_t n) { return parsed_.nodes[n]; }

  std::uint32_t wrap(std::uint32_t n) {
    ExpressionNode part;
    part.op = Op::integer_part;
    part.operands = 1;
    part.operand[0] = n;
    part.offset = node(n).offset;
    part.length = node(n).length;
    parsed_.nodes.push_back(part);
    return static_cast<std::uint32_t>(parsed_.nodes.size() - 1);
  }

  [[nodiscard]] bool only_integers(std::uint32_t n) {
    const ExpressionNode& x = node(n);
    if (x.op == Op::real || x.op == Op::square_root) return false;
    if (x.op == Op::element) return !is_float(x.type);
    const unsigned first = x.op == Op::sum || x.op == Op::dot ? 2 : 0;
    for (unsigned o = first; o < x.operands; ++o)
      if (!only_integers(x.operand[o])) return false;
    return true;
  }

  /// Checks a sub-tree that computes in integers. Float elements are allowed where the buffer itself
  /// is of integers: they are truncated.
  void integers(std::uint32_t n) {
    const ExpressionNode& x = node(n);
    if (x.op == Op::real) fault(x, "a float literal where integers are computed");
    if (x.op == Op::square_root) fault(x, "sqrt where integers are computed");
    if (x.op == Op::element && is_float(type_) && is_float(x.type))
      fault(x, "an element of a float buffer where integers are computed");
    for (unsigned o = 0; o < x.operands; ++o) integers(x.operand[o]);
  }

  void fault(const ExpressionNode& at, const char* message) {
    parsed_.faults.push_back({at.offset, at.length, message, {}});
  }

  ParsedExpression& parsed_;
  DataType type_;
};

}  // namespace

std::vector<ExpressionFault> Expression::compile(std::string_view text, DataType type,
                                                 const std::vector<NamedArray>& arrays, Expression& out) {
  ParsedExpression parsed = parse_expression(text, type, arrays);
  if (!parsed.faults.empty()) return std::move(parsed.faults);
  Typer typer(parsed, type);
  parsed.root = typer.data(parsed.root);
  if (!parsed.faults.empty()) return std::move(parsed.faults);
  out.nodes_ = std::move(parsed.nodes);
  out.root_ = parsed.root;
  out.type_ = type;
  return {};
}

bool Expression::uses(std::size_t array) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const ExpressionNode& n) { return n.op == Op::element && n.slot == array; });
}

}  // namespace warpline
