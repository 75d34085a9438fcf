#include <algorithm>
#include <iterator>

#include "platform/launch/expression_node.h"

namespace warpline {
namespace {

using Op = ExpressionOp;

constexpr Op kIntegersOnly[] = {Op::remainder, Op::shift_left, Op::shift_right, Op::bit_and,
                                Op::bit_xor,   Op::bit_or,     Op::bit_not};
constexpr Op kTruths[] = {Op::less,      Op::less_equal,  Op::greater,    Op::greater_equal, Op::equal,
                          Op::not_equal, Op::logical_and, Op::logical_or, Op::logical_not};

template <std::size_t kCount>
bool is_one_of(Op op, const Op (&ops)[kCount]) {
  return std::find(std::begin(ops), std::end(ops), op) != std::end(ops);
}

/// Decides in which arithmetic each sub-tree computes, and refuses what that arithmetic lacks.
class Typer {
 public:
  Typer(ParsedExpression& parsed, DataType type) : parsed_(parsed), type_(type) {
    // The parser makes operands before what they are operands of.
    for (const ExpressionNode& x : parsed.nodes) only_integers_.push_back(only_integers(x));
  }

  /// `n` as an operand in the buffer's type; returns the node to use instead.
  std::uint32_t data(std::uint32_t n) {
    if (!is_float(type_)) {
      integers(n);
      return n;
    }
    std::vector<std::uint32_t> chain;
    while (is_binary_operator(node(n).op) && !computes_integers(n)) {
      chain.push_back(n);
      n = node(n).operand[0];
    }
    std::uint32_t left = part(n);
    for (; !chain.empty(); chain.pop_back()) {
      const std::uint32_t right = data(node(chain.back()).operand[1]);
      node(chain.back()).operand[0] = left;
      node(chain.back()).operand[1] = right;
      left = chain.back();
    }
    return left;
  }

 private:
  /// Whether a part of a float expression computes in integers.
  [[nodiscard]] bool computes_integers(std::uint32_t n) {
    const Op op = node(n).op;
    return is_one_of(op, kIntegersOnly) || (is_one_of(op, kTruths) && only_integers_[n]);
  }

  /// The same of what is no operator in a chain.
  std::uint32_t part(std::uint32_t n) {
    if (computes_integers(n)) {
      integers(n);
      return wrap(n);
    }
    const Op op = node(n).op;
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

  /// Pre: it is known of its operands.
  [[nodiscard]] bool only_integers(const ExpressionNode& x) const {
    if (x.op == Op::real || x.op == Op::square_root) return false;
    if (x.op == Op::element) return !is_float(x.type);
    const unsigned first = x.op == Op::sum || x.op == Op::dot ? 2 : 0;
    for (unsigned o = first; o < x.operands; ++o)
      if (!only_integers_[x.operand[o]]) return false;
    return true;
  }

  /// Checks a sub-tree that computes in integers, its nodes before their operands. Float elements are allowed
  /// where the buffer itself is of integers: they are truncated.
  void integers(std::uint32_t root) {
    std::vector<std::uint32_t> work = {root};
    while (!work.empty()) {
      const ExpressionNode& x = node(work.back());
      work.pop_back();
      if (x.op == Op::real) fault(x, "a float literal where integers are computed");
      if (x.op == Op::square_root) fault(x, "sqrt where integers are computed");
      if (x.op == Op::element && is_float(type_) && is_float(x.type))
        fault(x, "an element of a float buffer where integers are computed");
      for (unsigned o = x.operands; o-- > 0;) work.push_back(x.operand[o]);
    }
  }

  void fault(const ExpressionNode& at, const char* message) {
    parsed_.faults.push_back({at.offset, at.length, message, {}});
  }

  ParsedExpression& parsed_;
  DataType type_;
  std::vector<bool> only_integers_;  ///< of each node that the parser made
};

}  // namespace

void type_expression(ParsedExpression& parsed, DataType type) {
  parsed.root = Typer(parsed, type).data(parsed.root);
}

}  // namespace warpline
