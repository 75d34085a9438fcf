#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "platform/launch/element.h"
#include "platform/launch/expression_node.h"

namespace warpline {

/// Unwinds an evaluation to its entry.
struct ExpressionStop {
  ExpressionFault fault;
};
[[noreturn]] inline void fail(const ExpressionNode& at, std::string message) {
  throw ExpressionStop{{at.offset, at.length, std::move(message), {}}};
}

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

/// Comparisons, minimum and maximum: the same for every type that is computed in.
template <class C>
class Comparisons {
 public:
  static C truth(bool b) { return b ? C{1} : C{0}; }

  /// Whether `op` is one of them; then `out` has its value.
  static bool compare(ExpressionOp op, C p, C q, C& out) {
    switch (op) {
      case ExpressionOp::less: out = truth(p < q); return true;
      case ExpressionOp::less_equal: out = truth(p <= q); return true;
      case ExpressionOp::greater: out = truth(p > q); return true;
      case ExpressionOp::greater_equal: out = truth(p >= q); return true;
      case ExpressionOp::equal: out = truth(p == q); return true;
      case ExpressionOp::not_equal: out = truth(p != q); return true;
      case ExpressionOp::minimum: out = extreme(p, q, true); return true;
      case ExpressionOp::maximum: out = extreme(p, q, false); return true;
      default: return false;
    }
  }

 private:
  /// The smaller (`less`) or larger operand; a number wins over NaN, -0 is smaller than +0.
  static C extreme(C p, C q, bool less) {
    if constexpr (std::is_floating_point_v<C>) {
      if (std::isnan(p)) return q;
      if (std::isnan(q)) return p;
      if (p == q) return std::signbit(p) == less ? p : q;
    }
    return (p < q) == less ? p : q;
  }
};

/// Integers in a word of 64 bits: int64_t for indices and every type but u64. Results wrap to the type.
template <class C>
struct IntegerArithmetic : Comparisons<C> {
  using Number = C;
  using Op = ExpressionOp;
  unsigned unused = 0;  ///< bits of the word that the type lacks
  bool sign = true;     ///< whether the type is signed

  IntegerArithmetic() = default;
  IntegerArithmetic(unsigned unused_bits, bool is_signed_type) : unused(unused_bits), sign(is_signed_type) {}

  static C from_real(double x) { return truncated<C>(x); }
  template <class I>
  static C from_integer(I n) {
    return static_cast<C>(n);
  }
  [[nodiscard]] C round(std::uint64_t bits) const {
    if (sign) return static_cast<C>(static_cast<std::int64_t>(bits << unused) >> unused);
    return static_cast<C>((bits << unused) >> unused);
  }
  [[nodiscard]] C plus(C p, C q) const {
    return round(static_cast<std::uint64_t>(p) + static_cast<std::uint64_t>(q));
  }
  [[nodiscard]] C fused(C p, C q, C r) const {
    return round(static_cast<std::uint64_t>(p) * static_cast<std::uint64_t>(q) +
                 static_cast<std::uint64_t>(r));
  }
  [[nodiscard]] C unary(const ExpressionNode& x, C p) const {
    const auto bits = static_cast<std::uint64_t>(p);
    if (x.op == Op::bit_not) return round(~bits);
    if (x.op == Op::absolute && !(p < C{0})) return p;
    return round(0 - bits);
  }
  [[nodiscard]] C binary(const ExpressionNode& x, C p, C q) const {
    C compared{};
    if (this->compare(x.op, p, q, compared)) return compared;
    const auto a = static_cast<std::uint64_t>(p);
    const auto b = static_cast<std::uint64_t>(q);
    switch (x.op) {
      case Op::add: return round(a + b);
      case Op::subtract: return round(a - b);
      case Op::multiply: return round(a * b);
      case Op::bit_and: return round(a & b);
      case Op::bit_or: return round(a | b);
      case Op::bit_xor: return round(a ^ b);
      case Op::divide:
      case Op::remainder: return divided(x, p, q);
      default: break;
    }
    if (b > 63) fail(x, "shift by " + std::to_string(q));
    return round(x.op == Op::shift_left ? a << b : static_cast<std::uint64_t>(p >> q));
  }

 private:
  [[nodiscard]] C divided(const ExpressionNode& x, C p, C q) const {
    const bool quotient = x.op == Op::divide;
    if (q == C{0}) fail(x, quotient ? "division by zero" : "remainder of a division by zero");
    if constexpr (std::is_signed_v<C>) {
      // The one quotient that overflows is avoided: -2^63 / -1.
      if (q == C{-1}) return quotient ? round(0 - static_cast<std::uint64_t>(p)) : C{0};
    }
    return round(static_cast<std::uint64_t>(quotient ? p / q : p % q));
  }
};
using IndexArithmetic = IntegerArithmetic<std::int64_t>;

/// IEEE arithmetic in the type itself, round to nearest even.
template <class C>
struct FloatArithmetic : Comparisons<C> {
  using Number = C;
  using Op = ExpressionOp;
  static C from_real(double x) { return static_cast<C>(x); }
  template <class I>
  static C from_integer(I n) {
    return static_cast<C>(n);
  }
  static C plus(C p, C q) { return p + q; }
  static C fused(C p, C q, C r) { return std::fma(p, q, r); }
  static C unary(const ExpressionNode& x, C p) {
    if (x.op == Op::negate) return -p;
    return x.op == Op::absolute ? std::fabs(p) : std::sqrt(p);
  }
  static C binary(const ExpressionNode& x, C p, C q) {
    C compared{};
    if (Comparisons<C>::compare(x.op, p, q, compared)) return compared;
    if (x.op == Op::add) return p + q;
    if (x.op == Op::subtract) return p - q;
    return x.op == Op::multiply ? p * q : p / q;
  }
};

/// The same of a float type of 16 bits: each operation is exact or rounded to odd in f64, and then rounded to
/// the type.
struct SmallArithmetic : Comparisons<double> {
  using Number = double;
  using Op = ExpressionOp;
  SmallFormat format;

  explicit SmallArithmetic(SmallFormat of) : format(of) {}
  [[nodiscard]] double from_real(double x) const {
    return decode(encode(x, format, Rounding::nearest), format);
  }
  template <class I>
  [[nodiscard]] double from_integer(I n) const {
    if constexpr (std::is_unsigned_v<I>) {
      // Halved and rounded to odd, it rounds as the whole.
      if (static_cast<std::uint64_t>(n) >> 63U != 0)
        return from_real(2 * integer_to_round(static_cast<std::int64_t>(n >> 1U | (n & 1U))));
    }
    return from_real(integer_to_round(static_cast<std::int64_t>(n)));
  }
  [[nodiscard]] double plus(double p, double q) const { return from_real(sum_to_odd(p, q)); }
  // A product has at most twice the bits of the type.
  [[nodiscard]] double fused(double p, double q, double r) const { return from_real(sum_to_odd(p * q, r)); }
  [[nodiscard]] double unary(const ExpressionNode& x, double p) const {
    if (x.op == Op::negate) return -p;
    return x.op == Op::absolute ? std::fabs(p) : from_real(std::sqrt(p));
  }
  [[nodiscard]] double binary(const ExpressionNode& x, double p, double q) const {
    double compared{};
    if (compare(x.op, p, q, compared)) return compared;
    if (x.op == Op::add) return plus(p, q);
    if (x.op == Op::subtract) return plus(p, -q);
    return from_real(x.op == Op::multiply ? p * q : p / q);
  }
};

}  // namespace warpline
