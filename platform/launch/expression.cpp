#include "platform/launch/expression.h"

#include <algorithm>
#include <cstring>

#include "platform/launch/element.h"
#include "platform/launch/expression_arithmetic.h"

namespace warpline {
namespace {

using Op = ExpressionOp;
using Node = ExpressionNode;

/// Steps between two questions whether to go on, a power of two.
constexpr std::uint64_t kAskEvery = std::uint64_t{1} << 20U;

/// Everything one evaluation knows.
struct State {
  const std::vector<Node>& nodes;
  const std::vector<ArrayView>& arrays;
  std::uint64_t budget;
  const std::function<bool()>& go_on;
  std::uint64_t index = 0;
  std::vector<std::uint32_t> chain = {};  ///< operators whose left operand is being evaluated
  std::int64_t variable[Node::kMaxVariables] = {};
};

template <class A>
class Evaluator {
 public:
  using C = typename A::Number;
  Evaluator(State& state, A arithmetic) : state_(state), a_(arithmetic) {}

  C value(std::uint32_t n) {
    const Node& x = state_.nodes[n];
    switch (x.op) {
      case Op::integer: return a_.from_integer(x.integer);
      case Op::real: return a_.from_real(x.real);
      case Op::index: return a_.from_integer(state_.index);
      case Op::variable: return a_.from_integer(state_.variable[x.slot]);
      case Op::element: return element(x);
      case Op::integer_part:
        return a_.from_integer(Evaluator<IndexArithmetic>(state_, {}).value(x.operand[0]));
      case Op::choose: return value(x.operand[0]) != C{0} ? value(x.operand[1]) : value(x.operand[2]);
      case Op::logical_not: return A::truth(value(x.operand[0]) == C{0});
      case Op::sum:
      case Op::dot: return range(x);
      case Op::fused: {
        const C p = value(x.operand[0]);
        const C q = value(x.operand[1]);
        return a_.fused(p, q, value(x.operand[2]));
      }
      case Op::negate:
      case Op::bit_not:
      case Op::absolute:
      case Op::square_root: return a_.unary(x, value(x.operand[0]));
      default: break;
    }
    if (!is_binary_operator(x.op) || !is_binary_operator(state_.nodes[x.operand[0]].op))
      return combine(x, value(x.operand[0]));
    // The chain of operators that leans to the left from here, from its first operand on.
    const std::size_t before = state_.chain.size();
    while (is_binary_operator(state_.nodes[n].op)) {
      state_.chain.push_back(n);
      n = state_.nodes[n].operand[0];
    }
    C left = value(n);
    while (state_.chain.size() > before) {
      const Node& next = state_.nodes[state_.chain.back()];
      state_.chain.pop_back();
      left = combine(next, left);
    }
    return left;
  }

 private:
  /// Node `x` of two operands, of which the first is `left`.
  C combine(const Node& x, C left) {
    const std::uint32_t right = x.operand[1];
    if (x.op == Op::logical_and) return A::truth(left != C{0} && value(right) != C{0});
    if (x.op == Op::logical_or) return A::truth(left != C{0} || value(right) != C{0});
    return a_.binary(x, left, value(right));
  }

  C element(const Node& x) {
    const std::int64_t where = Evaluator<IndexArithmetic>(state_, {}).value(x.operand[0]);
    const ArrayView& array = state_.arrays[x.slot];
    if (where < 0 || static_cast<std::uint64_t>(where) >= array.count)
      fail(x, "index " + std::to_string(where) + " is outside the buffer of " + std::to_string(array.count) +
                  " elements");
    const std::uint8_t* bytes = array.bytes + static_cast<std::uint64_t>(where) * size_of(x.type);
    switch (x.type) {
      case DataType::u8: return a_.from_integer(load<std::uint8_t>(bytes));
      case DataType::u16: return a_.from_integer(load<std::uint16_t>(bytes));
      case DataType::u32: return a_.from_integer(load<std::uint32_t>(bytes));
      case DataType::u64: return a_.from_integer(load<std::uint64_t>(bytes));
      case DataType::s8: return a_.from_integer(load<std::int8_t>(bytes));
      case DataType::s16: return a_.from_integer(load<std::int16_t>(bytes));
      case DataType::s32: return a_.from_integer(load<std::int32_t>(bytes));
      case DataType::s64: return a_.from_integer(load<std::int64_t>(bytes));
      case DataType::f16:
      case DataType::bf16: return a_.from_real(element_as_double(x.type, load<std::uint16_t>(bytes)));
      case DataType::f32: return a_.from_real(static_cast<double>(load<float>(bytes)));
      default: return a_.from_real(load<double>(bytes));
    }
  }
  template <class T>
  static T load(const std::uint8_t* bytes) {
    T x;
    std::memcpy(&x, bytes, sizeof x);
    return x;
  }
  /// sum and dot: one step per k, in order.
  C range(const Node& x) {
    Evaluator<IndexArithmetic> bounds(state_, {});
    const std::int64_t low = bounds.value(x.operand[0]);
    const std::int64_t high = bounds.value(x.operand[1]);
    C total{0};
    for (std::int64_t k = low; k < high; ++k) {
      if (state_.budget-- == 0) {
        state_.budget = 0;
        fail(x, "the expression takes too many steps");
      }
      if (state_.budget % kAskEvery == 0 && state_.go_on && !state_.go_on()) fail(x, "interrupted");
      state_.variable[x.slot] = k;
      const C term = value(x.operand[2]);
      if (x.op == Op::dot) {
        total = a_.fused(term, value(x.operand[3]), total);
      } else {
        total = a_.plus(total, term);
      }
    }
    return total;
  }

  State& state_;
  A a_;
};

std::uint64_t bits_of(DataType type, float x) {
  return float_bits(type, static_cast<double>(x));
}
std::uint64_t bits_of(DataType type, double x) {
  return float_bits(type, x);
}
template <class I>
std::uint64_t bits_of(DataType type, I x) {
  const unsigned unused = 64 - size_of(type) * 8;
  return (static_cast<std::uint64_t>(x) << unused) >> unused;
}

template <class A>
void run(State& state, A arithmetic, std::uint32_t root, DataType type, std::uint64_t first,
         std::uint64_t count, std::uint64_t* out) {
  Evaluator<A> evaluator(state, arithmetic);
  for (std::uint64_t e = 0; e < count; ++e) {
    state.index = first + e;
    out[e] = bits_of(type, evaluator.value(root));
  }
}

}  // namespace

std::vector<ExpressionFault> Expression::compile(std::string_view text, DataType type,
                                                 const NamedArrays& arrays, Expression& out) {
  ParsedExpression parsed = parse_expression(text, type, arrays);
  if (!parsed.faults.empty()) return std::move(parsed.faults);
  type_expression(parsed, type);
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

std::optional<ExpressionFault> Expression::evaluate(const std::vector<ArrayView>& arrays, std::uint64_t first,
                                                    std::uint64_t count, std::uint64_t* out,
                                                    std::uint64_t budget,
                                                    const std::function<bool()>& go_on) const {
  State state{nodes_, arrays, budget, go_on};
  const unsigned unused = 64 - size_of(type_) * 8;
  try {
    if (type_ == DataType::f32) {
      run(state, FloatArithmetic<float>{}, root_, type_, first, count, out);
    } else if (type_ == DataType::f64) {
      run(state, FloatArithmetic<double>{}, root_, type_, first, count, out);
    } else if (const auto small = small_format_of(type_)) {
      run(state, SmallArithmetic(*small), root_, type_, first, count, out);
    } else if (type_ == DataType::u64) {
      run(state, IntegerArithmetic<std::uint64_t>{0, false}, root_, type_, first, count, out);
    } else {
      run(state, IntegerArithmetic<std::int64_t>{unused, is_signed(type_)}, root_, type_, first, count, out);
    }
  } catch (const ExpressionStop& stop) {
    return stop.fault;
  }
  return std::nullopt;
}

}  // namespace warpline
