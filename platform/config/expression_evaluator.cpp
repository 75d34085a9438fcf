#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "warpline/config/element.h"
#include "warpline/config/expression.h"

namespace warpline {
namespace {

using Op = ExpressionOp;
using Node = ExpressionNode;

/// Unwinds an evaluation to its entry.
struct Stop {
  ExpressionFault fault;
};

[[noreturn]] void fail(const Node& at, std::string message) { throw Stop{{at.offset, at.length, std::move(message), {}}}; }

/// Truncation towards zero, saturating; NaN becomes 0 (as PTX's cvt.rzi does).
template <class I>
I truncated(double x) {
  constexpr auto kLow = std::numeric_limits<I>::min();
  constexpr auto kHigh = std::numeric_limits<I>::max();
  if (std::isnan(x)) return 0;
  if (x <= static_cast<double>(kLow)) return kLow;
  if (x >= static_cast<double>(kHigh)) return kHigh;
  return static_cast<I>(x);
}

/// Integers in a 64-bit carrier: int64_t for indices and every type but u64.
template <class C>
struct IntegerArithmetic {
  using Carrier = C;
  unsigned unused = 0;      ///< bits of the carrier that the type lacks
  bool sign = true;         ///< whether the type is signed
  static constexpr bool kFloat = false;

  [[nodiscard]] C round(std::uint64_t bits) const {
    if (sign) return static_cast<C>(static_cast<std::int64_t>(bits << unused) >> unused);
    return static_cast<C>((bits << unused) >> unused);
  }
};
using IndexArithmetic = IntegerArithmetic<std::int64_t>;

template <class C>
struct FloatArithmetic {
  using Carrier = C;
  static constexpr bool kFloat = true;
};

/// Everything one evaluation knows.
struct State {
  const std::vector<Node>& nodes;
  const std::vector<ArrayView>& arrays;
  std::uint64_t budget;
  std::uint64_t index = 0;
  std::int64_t variable[Node::kMaxVariables] = {};
};

template <class A>
class Evaluator {
 public:
  using C = typename A::Carrier;
  Evaluator(State& state, A arithmetic) : state_(state), a_(arithmetic) {}

  C value(std::uint32_t n) {
    const Node& x = state_.nodes[n];
    switch (x.op) {
      case Op::integer: return static_cast<C>(x.integer);
      case Op::real: return static_cast<C>(x.real);
      case Op::index: return static_cast<C>(state_.index);
      case Op::variable: return static_cast<C>(state_.variable[x.slot]);
      case Op::element: return element(x);
      case Op::integer_part:
        return static_cast<C>(Evaluator<IndexArithmetic>(state_, {}).value(x.operand[0]));
      case Op::choose: return value(x.operand[0]) != C{0} ? value(x.operand[1]) : value(x.operand[2]);
      case Op::logical_and: return truth(value(x.operand[0]) != C{0} && value(x.operand[1]) != C{0});
      case Op::logical_or: return truth(value(x.operand[0]) != C{0} || value(x.operand[1]) != C{0});
      case Op::logical_not: return truth(value(x.operand[0]) == C{0});
      case Op::sum:
      case Op::dot: return range(x);
      case Op::fused: {
        const C p = value(x.operand[0]);
        const C q = value(x.operand[1]);
        return fused(p, q, value(x.operand[2]));
      }
      case Op::negate:
      case Op::bit_not:
      case Op::absolute:
      case Op::square_root: return unary(x, value(x.operand[0]));
      default: break;
    }
    const C left = value(x.operand[0]);
    return binary(x, left, value(x.operand[1]));
  }

 private:
  static C truth(bool b) { return b ? C{1} : C{0}; }

  C element(const Node& x) {
    const std::int64_t where = Evaluator<IndexArithmetic>(state_, {}).value(x.operand[0]);
    const ArrayView& array = state_.arrays[x.slot];
    if (where < 0 || static_cast<std::uint64_t>(where) >= array.count)
      fail(x, "index " + std::to_string(where) + " is outside the buffer of " + std::to_string(array.count) + " elements");
    const std::uint8_t* bytes = array.bytes + static_cast<std::uint64_t>(where) * size_of(x.type);
    switch (x.type) {
      case DataType::u8: return static_cast<C>(load<std::uint8_t>(bytes));
      case DataType::u16: return static_cast<C>(load<std::uint16_t>(bytes));
      case DataType::u32: return static_cast<C>(load<std::uint32_t>(bytes));
      case DataType::u64: return static_cast<C>(load<std::uint64_t>(bytes));
      case DataType::s8: return static_cast<C>(load<std::int8_t>(bytes));
      case DataType::s16: return static_cast<C>(load<std::int16_t>(bytes));
      case DataType::s32: return static_cast<C>(load<std::int32_t>(bytes));
      case DataType::s64: return static_cast<C>(load<std::int64_t>(bytes));
      case DataType::f32: return from_float(static_cast<double>(load<float>(bytes)));
      default: return from_float(load<double>(bytes));
    }
  }
  template <class T>
  static T load(const std::uint8_t* bytes) {
    T x;
    std::memcpy(&x, bytes, sizeof x);
    return x;
  }
  static C from_float(double x) {
    if constexpr (A::kFloat) {
      return static_cast<C>(x);
    } else {
      return truncated<C>(x);
    }
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
      state_.variable[x.slot] = k;
      const C term = value(x.operand[2]);
      if (x.op == Op::dot) {
        total = fused(term, value(x.operand[3]), total);
      } else {
        total = plus(total, term);
      }
    }
    return total;
  }

  [[nodiscard]] C plus(C p, C q) const {
    if constexpr (A::kFloat) {
      return p + q;
    } else {
      return a_.round(static_cast<std::uint64_t>(p) + static_cast<std::uint64_t>(q));
    }
  }
  [[nodiscard]] C fused(C p, C q, C r) const {
    if constexpr (A::kFloat) {
      return std::fma(p, q, r);
    } else {
      return a_.round(static_cast<std::uint64_t>(p) * static_cast<std::uint64_t>(q) + static_cast<std::uint64_t>(r));
    }
  }

  C unary(const Node& x, C p) const {
    if constexpr (A::kFloat) {
      if (x.op == Op::negate) return -p;
      return x.op == Op::absolute ? std::fabs(p) : std::sqrt(p);
    } else {
      const auto bits = static_cast<std::uint64_t>(p);
      if (x.op == Op::bit_not) return a_.round(~bits);
      if (x.op == Op::absolute && !(p < C{0})) return p;
      return a_.round(0 - bits);
    }
  }

  /// The smaller (`less`) or larger operand; a number wins over NaN, -0 is smaller than +0.
  static C extreme(C p, C q, bool less) {
    if constexpr (A::kFloat) {
      if (std::isnan(p)) return q;
      if (std::isnan(q)) return p;
      if (p == q) return std::signbit(p) == less ? p : q;
    }
    return (p < q) == less ? p : q;
  }

  C binary(const Node& x, C p, C q) const {
    switch (x.op) {
      case Op::less: return truth(p < q);
      case Op::less_equal: return truth(p <= q);
      case Op::greater: return truth(p > q);
      case Op::greater_equal: return truth(p >= q);
      case Op::equal: return truth(p == q);
      case Op::not_equal: return truth(p != q);
      case Op::minimum: return extreme(p, q, true);
      case Op::maximum: return extreme(p, q, false);
      case Op::add: return plus(p, q);
      default: break;
    }
    if constexpr (A::kFloat) {
      if (x.op == Op::subtract) return p - q;
      return x.op == Op::multiply ? p * q : p / q;
    } else {
      return integer_binary(x, p, q);
    }
  }

  C integer_binary(const Node& x, C p, C q) const {
    const auto a = static_cast<std::uint64_t>(p);
    const auto b = static_cast<std::uint64_t>(q);
    switch (x.op) {
      case Op::subtract: return a_.round(a - b);
      case Op::multiply: return a_.round(a * b);
      case Op::bit_and: return a_.round(a & b);
      case Op::bit_or: return a_.round(a | b);
      case Op::bit_xor: return a_.round(a ^ b);
      case Op::divide:
      case Op::remainder: return divided(x, p, q);
      default: break;
    }
    if (b > 63) fail(x, "shift by " + std::to_string(q));
    return a_.round(x.op == Op::shift_left ? a << b : static_cast<std::uint64_t>(p >> q));
  }

  C divided(const Node& x, C p, C q) const {
    const bool quotient = x.op == Op::divide;
    if (q == C{0}) fail(x, quotient ? "division by zero" : "remainder of a division by zero");
    if constexpr (std::is_signed_v<C>) {
      // The one quotient that overflows is avoided: -2^63 / -1.
      if (q == C{-1}) return quotient ? a_.round(0 - static_cast<std::uint64_t>(p)) : C{0};
    }
    return a_.round(static_cast<std::uint64_t>(quotient ? p / q : p % q));
  }

  State& state_;
  A a_;
};

std::uint64_t bits_of(DataType type, float x) { return float_bits(type, static_cast<double>(x)); }
std::uint64_t bits_of(DataType type, double x) { return float_bits(type, x); }
template <class I>
std::uint64_t bits_of(DataType type, I x) {
  const unsigned unused = 64 - size_of(type) * 8;
  return (static_cast<std::uint64_t>(x) << unused) >> unused;
}

template <class A>
void run(State& state, A arithmetic, std::uint32_t root, DataType type, std::uint64_t first, std::uint64_t count,
         std::uint64_t* out) {
  Evaluator<A> evaluator(state, arithmetic);
  for (std::uint64_t e = 0; e < count; ++e) {
    state.index = first + e;
    out[e] = bits_of(type, evaluator.value(root));
  }
}

}  // namespace

std::optional<ExpressionFault> Expression::evaluate(const std::vector<ArrayView>& arrays, std::uint64_t first,
                                                    std::uint64_t count, std::uint64_t* out,
                                                    std::uint64_t budget) const {
  State state{nodes_, arrays, budget};
  const unsigned unused = 64 - size_of(type_) * 8;
  try {
    if (type_ == DataType::f32) {
      run(state, FloatArithmetic<float>{}, root_, type_, first, count, out);
    } else if (type_ == DataType::f64) {
      run(state, FloatArithmetic<double>{}, root_, type_, first, count, out);
    } else if (type_ == DataType::u64) {
      run(state, IntegerArithmetic<std::uint64_t>{0, false}, root_, type_, first, count, out);
    } else {
      run(state, IntegerArithmetic<std::int64_t>{unused, is_signed(type_)}, root_, type_, first, count, out);
    }
  } catch (const Stop& stop) {
    return stop.fault;
  }
  return std::nullopt;
}

}  // namespace warpline
