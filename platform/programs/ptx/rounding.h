#pragma once

#include <cfenv>
#include <cmath>
#include <cstdint>

#include "platform/programs/ptx/frame.h"
#include "platform/programs/ptx/program.h"
#include "rtl_models/isa/small_float.h"

// Arithmetic rounded as asked, without touching the host's rounding mode where binary32 results
// are wanted: a binary64 sum rounded to odd keeps enough of what was lost that one more rounding,
// in any direction, gives the correctly rounded binary32 result.

namespace warpline::ptx {

inline constexpr std::uint32_t kNan32 = 0x7FFFFFFF;          ///< PTX ISA: NaN results of binary32 arithmetic
inline constexpr std::uint64_t kNan64 = 0xFFF8000000000000;  ///< of binary64, of operands that are none
inline constexpr double kLeastNormal32 = 0x1p-126;

inline float canonical(float x) {
  return x != x ? bits_as<float>(kNan32) : x;
}
inline double quiet(double nan) {
  return bits_as<double>(bits_as<std::uint64_t>(nan) | 0x0008000000000000U);
}
/// `result`, and where it is NaN the first NaN among `operands`, made quiet, else kNan64. The PTX ISA leaves
/// open which NaN a binary64 operation gives; this, and the order of the operands, was measured on an H200.
template <class... Operands>
double with_payload(double result, Operands... operands) {
  if (result == result) return result;
  for (const double x : {operands...})
    if (x != x) return quiet(x);
  return bits_as<double>(kNan64);
}

/// `.ftz`: a subnormal becomes zero of its sign.
inline float flush_subnormal(float x) {
  const auto bits = bits_as<std::uint32_t>(x);
  return (bits & 0x7F800000U) == 0 ? bits_as<float>(bits & 0x80000000U) : x;
}
inline float flushed(const Op& op, float x) {
  return op.flush ? flush_subnormal(x) : x;
}
/// `.sat`: to [0, 1], NaN to +0.
inline float saturated(float x) {
  return x > 0.0F ? (x < 1.0F ? x : 1.0F) : 0.0F;
}
inline double saturated(double x) {
  return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
}

/// The binary32 number next to `x`, upward or downward. Pre: not NaN, nor the infinity asked for.
inline float next_number(float x, bool up) {
  const auto bits = bits_as<std::uint32_t>(x);
  if ((bits & 0x7FFFFFFFU) == 0) return bits_as<float>(up ? 1U : 0x80000001U);
  const bool away = ((bits >> 31U) == 0) == up;
  return bits_as<float>(away ? bits + 1 : bits - 1);
}

/// `x` rounded to binary32.
inline float narrow(double x, Rounding rounding) {
  const auto f = static_cast<float>(x);
  const auto back = static_cast<double>(f);
  if (rounding == Rounding::nearest || x != x || back == x) return f;
  if (rounding == Rounding::up) return back < x ? next_number(f, true) : f;
  if (rounding == Rounding::down) return back > x ? next_number(f, false) : f;
  return std::fabs(back) > std::fabs(x) ? next_number(f, x < 0) : f;
}

/// The zero that a sum of exactly zero is.
inline double signed_zero(double a, double b, Rounding rounding) {
  if (a == 0 && b == 0 && std::signbit(a) == std::signbit(b)) return a;
  return rounding == Rounding::down ? -0.0 : 0.0;
}

inline float add32(float a, float b, Rounding rounding) {
  const double s = sum_to_odd(static_cast<double>(a), static_cast<double>(b));
  return narrow(s == 0 ? signed_zero(static_cast<double>(a), static_cast<double>(b), rounding) : s, rounding);
}
/// `exact` rounded to binary32 as `op` asks. Under `.ftz` what is below the normal numbers before it is
/// rounded becomes zero (measured on an H200).
inline float narrow(const Op& op, double exact) {
  if (op.flush && std::fabs(exact) < kLeastNormal32) return std::copysign(0.0F, static_cast<float>(exact));
  return narrow(exact, op.rounding);
}
/// Rounded once; to nearest it is what std::fma gives, but it vectorises.
inline float fma32(float a, float b, float c) {
  return static_cast<float>(
      sum_to_odd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c)));
}
inline float fma32(const Op& op, float a, float b, float c) {
  const double p = static_cast<double>(a) * static_cast<double>(b);
  const double s = sum_to_odd(p, static_cast<double>(c));
  return narrow(op, s == 0 ? signed_zero(p, static_cast<double>(c), op.rounding) : s);
}
/// From a quotient or root rounded to nearest, to the direction asked for. `excess` has the sign
/// of (candidate - exact).
inline float direct(float candidate, double excess, Rounding rounding) {
  if (rounding == Rounding::nearest || excess == 0 || excess != excess) return candidate;
  const bool too_high = excess > 0;
  if (rounding == Rounding::up) return too_high ? candidate : next_number(candidate, true);
  if (rounding == Rounding::down) return too_high ? next_number(candidate, false) : candidate;
  const bool positive = !std::signbit(candidate);
  return positive == too_high ? next_number(candidate, !positive) : candidate;
}
inline float div32(float a, float b, Rounding rounding) {
  const float q = a / b;
  if (rounding == Rounding::nearest || std::isnan(q) || b == 0 || std::isinf(a) || std::isinf(b)) return q;
  if (std::isinf(q)) return direct(q, std::signbit(q) ? -1.0 : 1.0, rounding);
  const double excess = static_cast<double>(q) * static_cast<double>(b) - static_cast<double>(a);
  return direct(q, std::signbit(b) ? -excess : excess, rounding);
}
inline float sqrt32(float a, Rounding rounding) {
  const float q = std::sqrt(a);
  if (!(a > 0) || std::isinf(a)) return q;
  return direct(q, static_cast<double>(q) * static_cast<double>(q) - static_cast<double>(a), rounding);
}

/// The result of `operation` on binary64 operands under the host's rounding mode. The operands go
/// through volatile objects so that nothing is computed before the mode is set.
template <class Operation>
double rounded64(Rounding rounding, double a, double b, double c, Operation operation) {
  if (rounding == Rounding::nearest) return operation(a, b, c);
  const int mode = rounding == Rounding::zero ? FE_TOWARDZERO
                   : rounding == Rounding::up ? FE_UPWARD
                                              : FE_DOWNWARD;
  volatile double x = a;
  volatile double y = b;
  volatile double z = c;
  std::fesetround(mode);
  volatile double result = operation(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

}  // namespace warpline::ptx
