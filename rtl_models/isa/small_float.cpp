#include "rtl_models/isa/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpline {

namespace {

unsigned infinity_of(SmallFormat f) {
  return ((1U << static_cast<unsigned>(f.exponent)) - 1) << static_cast<unsigned>(f.mantissa);
}
unsigned largest_of(SmallFormat f) {
  const unsigned all = (1U << (f.bits() - 1)) - 1;
  return f.specials == Specials::infinities ? infinity_of(f) - 1
         : f.specials == Specials::nan      ? all - 1
                                            : all;
}
int lowest_exponent(SmallFormat f) {
  return 2 - (1 << (f.exponent - 1));
}
/// The step from the largest number to what would follow it.
double last_place(SmallFormat f) {
  const int field = (1 << f.exponent) - (f.specials == Specials::infinities ? 2 : 1);
  return std::ldexp(1.0, lowest_exponent(f) + field - 1 - f.mantissa);
}

}  // namespace

std::uint16_t encode(double x, SmallFormat format, Rounding rounding, bool finite) {
  const unsigned sign = std::signbit(x) ? 1U << (format.bits() - 1) : 0U;
  const unsigned all = (1U << (format.bits() - 1)) - 1;
  const unsigned largest = largest_of(format);
  if (std::isnan(x)) return static_cast<std::uint16_t>(all);
  const bool bounded = finite || format.specials == Specials::none;
  const unsigned beyond = bounded                                   ? largest
                          : format.specials == Specials::infinities ? infinity_of(format)
                                                                    : all;
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | beyond);
  if (x == 0) return static_cast<std::uint16_t>(sign);
  const double magnitude = std::fabs(x);
  const int lowest = lowest_exponent(format);
  const int exponent = std::max(std::ilogb(magnitude), lowest);
  const int too_large = 3 - lowest;
  if (exponent > too_large)
    return encode(std::copysign(std::ldexp(1.0, too_large), x), format, rounding, finite);
  const double scaled = std::ldexp(magnitude, format.mantissa - exponent);
  const double whole = std::floor(scaled);
  const double rest = scaled - whole;
  auto n = static_cast<unsigned>(whole);
  const bool away = rounding == Rounding::nearest ? rest > 0.5 || (rest == 0.5 && (n & 1U) != 0)
                    : rounding == Rounding::zero  ? false
                                                  : rest > 0 && (rounding == Rounding::up) == (sign == 0);
  if (away) ++n;
  // A subnormal has no implicit bit, and its exponent field is one less than its exponent says.
  const unsigned bits =
      (static_cast<unsigned>(exponent - lowest) << static_cast<unsigned>(format.mantissa)) + n;
  if (bits <= largest) return static_cast<std::uint16_t>(sign | bits);
  const bool outward = rounding == Rounding::nearest ||
                       (rounding != Rounding::zero && (rounding == Rounding::up) == (sign == 0));
  return static_cast<std::uint16_t>(sign | (outward ? beyond : largest));
}

std::uint16_t encode_stochastic(float x, SmallFormat format, std::uint32_t random, unsigned random_bits,
                                bool finite) {
  const auto exact = static_cast<double>(x);
  if (!std::isfinite(x) || x == 0) return encode(exact, format, Rounding::nearest, finite);
  const int exponent = std::max(std::ilogb(exact), lowest_exponent(format));
  const double share = std::ldexp(static_cast<double>(random), -static_cast<int>(random_bits));
  const double step = std::ldexp(share, exponent - format.mantissa);
  // To odd: a sum just below a number of the format stays below it.
  const double sum = std::copysign(sum_to_odd(std::fabs(exact), step), exact);
  const std::uint16_t cut = encode(sum, format, Rounding::zero, finite);
  const unsigned magnitude = cut & ((1U << (format.bits() - 1)) - 1);
  const bool over = magnitude == largest_of(format) &&
                    std::fabs(sum) >= std::fabs(decode(cut, format)) + last_place(format);
  return over ? encode(std::copysign(HUGE_VAL, exact), format, Rounding::nearest, finite) : cut;
}

double decode(std::uint16_t bits, SmallFormat format) {
  const unsigned fraction = bits & ((1U << static_cast<unsigned>(format.mantissa)) - 1);
  const int field = static_cast<int>((bits >> static_cast<unsigned>(format.mantissa)) &
                                     ((1U << static_cast<unsigned>(format.exponent)) - 1));
  const bool negative = ((bits >> (format.bits() - 1)) & 1U) != 0;
  const int lowest = lowest_exponent(format);
  double x = 0;
  if (format.specials == Specials::nan && (bits & ((1U << (format.bits() - 1)) - 1)) > largest_of(format))
    x = std::numeric_limits<double>::quiet_NaN();
  else if (format.specials == Specials::infinities && field == (1 << format.exponent) - 1)
    x = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (field == 0)
    x = std::ldexp(static_cast<double>(fraction), lowest - format.mantissa);
  else
    x = std::ldexp(static_cast<double>(fraction + (1U << static_cast<unsigned>(format.mantissa))),
                   lowest - format.mantissa + field - 1);
  return negative ? -x : x;
}

}  // namespace warpline
