#include "rtl_models/isa/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpline {

std::uint16_t encode(double x, SmallFormat format, Rounding rounding, bool finite) {
  const unsigned sign = std::signbit(x) ? 1U << static_cast<unsigned>(format.mantissa + format.exponent) : 0U;
  const unsigned infinity = ((1U << static_cast<unsigned>(format.exponent)) - 1)
                            << static_cast<unsigned>(format.mantissa);
  if (std::isnan(x)) return 0x7FFF;
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | (finite ? infinity - 1 : infinity));
  if (x == 0) return static_cast<std::uint16_t>(sign);
  const double magnitude = std::fabs(x);
  const int lowest = 2 - (1 << (format.exponent - 1));
  const int exponent = std::max(std::ilogb(magnitude), lowest);
  if (exponent > -lowest + 2)
    return encode(x < 0 ? -std::ldexp(1.0, -lowest + 2) : std::ldexp(1.0, -lowest + 2), format, rounding,
                  finite);
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
  if (bits < infinity) return static_cast<std::uint16_t>(sign | bits);
  const bool to_infinity = rounding == Rounding::nearest ||
                           (rounding != Rounding::zero && (rounding == Rounding::up) == (sign == 0));
  return static_cast<std::uint16_t>(sign | (to_infinity && !finite ? infinity : infinity - 1));
}

double decode(std::uint16_t bits, SmallFormat format) {
  const unsigned fraction = bits & ((1U << static_cast<unsigned>(format.mantissa)) - 1);
  const int field = static_cast<int>((bits >> static_cast<unsigned>(format.mantissa)) &
                                     ((1U << static_cast<unsigned>(format.exponent)) - 1));
  const bool negative = (bits >> static_cast<unsigned>(format.mantissa + format.exponent)) != 0;
  const int lowest = 2 - (1 << (format.exponent - 1));
  double x = 0;
  if (field == (1 << format.exponent) - 1)
    x = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (field == 0)
    x = std::ldexp(static_cast<double>(fraction), lowest - format.mantissa);
  else
    x = std::ldexp(static_cast<double>(fraction + (1U << static_cast<unsigned>(format.mantissa))),
                   lowest - format.mantissa + field - 1);
  return negative ? -x : x;
}

}  // namespace warpline
