#include <cmath>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/rounding.h"

namespace warpline::ptx {
namespace {

// A product of two 16-bit floats is exact in binary64, and so is a sum of two halves; other sums
// are rounded to odd. One more rounding gives the exact result.

double evaluate(FloatOperation operation, double a, double b, double c) {
  switch (operation) {
    case FloatOperation::add: return sum_to_odd(a, b);
    case FloatOperation::sub: return sum_to_odd(a, -b);
    case FloatOperation::mul: return a * b;
    default: return sum_to_odd(a * b, c);
  }
}

std::uint16_t flush(std::uint16_t x, SmallFormat format) {
  const auto sign = static_cast<std::uint16_t>(x & 0x8000U);
  const unsigned exponent = (x & 0x7FFFU) >> static_cast<unsigned>(format.mantissa);
  return exponent == 0 ? sign : x;
}

/// One element. Bit 0 of `mode`: .relu; bit 1: .oob.
std::uint16_t arithmetic(const Op& op, std::uint16_t a, std::uint16_t b, std::uint16_t c,
                         SmallFormat format) {
  const auto operation = static_cast<FloatOperation>(op.count);
  if ((op.mode & 2U) != 0 && (a == kOutOfBoundsNan || b == kOutOfBoundsNan)) return 0;
  const auto take = [&](std::uint16_t x) { return decode(op.flush ? flush(x, format) : x, format); };
  double exact = evaluate(operation, take(a), take(b), take(c));
  // What is below the normal numbers before it is rounded becomes zero (measured on an H200).
  if (op.flush && std::fabs(exact) < std::ldexp(1.0, 2 - (1 << (format.exponent - 1))))
    exact = std::copysign(0.0, exact);
  std::uint16_t r = encode(exact, format, Rounding::nearest);
  const bool is_nan = decode(r, format) != decode(r, format);
  if (op.saturate) {
    const double x = decode(r, format);
    r = encode(saturated(x), format, Rounding::nearest);
  }
  if ((op.mode & 1U) != 0 && !is_nan && (r & 0x8000U) != 0) r = 0;
  return r;
}

/// The lesser or greater; bit 0 of `mode`: a NaN operand makes the result NaN.
std::uint16_t selected(const Op& op, std::uint16_t a, std::uint16_t b, SmallFormat format) {
  const bool high = static_cast<FloatOperation>(op.count) == FloatOperation::max;
  if (op.flush) a = flush(a, format), b = flush(b, format);
  const double x = decode(a, format);
  const double y = decode(b, format);
  if (x != x || y != y) {
    if ((op.mode & 1U) != 0 || (x != x && y != y)) return 0x7FFF;
    return x != x ? b : a;
  }
  if (x == y) return ((a & 0x8000U) != 0) == high ? b : a;
  return (x < y) == high ? b : a;
}

/// Bit 1 of `mode`: .xorsign.abs.
std::uint16_t extreme(const Op& op, std::uint16_t a, std::uint16_t b, SmallFormat format) {
  if ((op.mode & 2U) == 0) return selected(op, a, b, format);
  const std::uint16_t r = selected(op, a & 0x7FFFU, b & 0x7FFFU, format);
  const bool is_nan = decode(r, format) != decode(r, format);
  return static_cast<std::uint16_t>(is_nan ? r : r | ((a ^ b) & 0x8000U));
}

std::uint16_t sign(const Op& op, std::uint16_t a, SmallFormat format) {
  if (op.flush) a = flush(a, format);
  if (const double x = decode(a, format); x != x) return 0x7FFF;
  return static_cast<std::uint16_t>(
      static_cast<FloatOperation>(op.count) == FloatOperation::neg ? a ^ 0x8000U : a & 0x7FFFU);
}

std::uint16_t element(const Op& op, std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  const SmallFormat format = op.wide_address ? kHalf : kBrain;
  switch (static_cast<FloatOperation>(op.count)) {
    case FloatOperation::min:
    case FloatOperation::max: return extreme(op, a, b, format);
    case FloatOperation::abs:
    case FloatOperation::neg: return sign(op, a, format);
    default: return arithmetic(op, a, b, c, format);
  }
}

/// T: uint16_t, or uint32_t for two elements side by side. `count` holds the operation and
/// `wide_address` is false for bfloat16.
template <class T>
T each_half(const Op& op, T a, T b, T c) {
  T r = 0;
  for (unsigned k = 0; k < sizeof(T) / 2; ++k) {
    const auto part = [k](T x) { return static_cast<std::uint16_t>(x >> (16 * k)); };
    r = static_cast<T>(r | static_cast<T>(element(op, part(a), part(b), part(c))) << (16 * k));
  }
  return r;
}

}  // namespace

void decode_half(Decoder& d, FloatOperation operation, DataType type) {
  using O = FloatOperation;
  const unsigned sources = operation == O::fma ? 3 : operation == O::abs || operation == O::neg ? 1 : 2;
  const bool arithmetic = operation != O::min && operation != O::max && sources != 1;
  Op op;
  if (arithmetic) {
    d.take(".rn");
    op.saturate = d.take(".sat");
    if (operation == O::fma && d.take(".relu")) op.mode = 1;
    if (operation == O::fma && d.take(".oob")) op.mode |= 2U;
  } else if (sources == 2) {
    if (d.take(".NaN")) op.mode = 1;
    if (d.take(".xorsign")) {
      if (!d.take(".abs")) d.fail("'.xorsign' goes with '.abs'");
      op.mode |= 2U;
    }
  }
  op.flush = d.take(".ftz");
  op.r = d.operands(type, sources).r;
  for (unsigned i = sources + 1; i <= 3; ++i) op.r.at(i) = op.r[1];
  op.count = static_cast<std::uint8_t>(operation);
  op.wide_address = type == DataType::f16 || type == DataType::f16x2;
  op.run = size_of(type) == 4 ? &run_lanes<&each_half<std::uint32_t>> : &run_lanes<&each_half<std::uint16_t>>;
  d.emit(op, latency::kSimple);
}

}  // namespace warpline::ptx
