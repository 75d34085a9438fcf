#pragma once

#include <cstdint>

#include "rtl_models/base/bits.h"

namespace warpline {

/// PTX ISA, "Rounding Modifiers".
enum class Rounding : std::uint8_t { nearest, zero, down, up };

/// A binary format of 16 bits or fewer.
struct SmallFormat {
  int mantissa;  ///< explicit bits
  int exponent;  ///< bits
};
inline constexpr SmallFormat kHalf{10, 5};
inline constexpr SmallFormat kBrain{7, 8};

/// `x` rounded to `format`, NaN canonical; `finite`: what overflows becomes the largest finite number.
[[nodiscard]] std::uint16_t encode(double x, SmallFormat format, Rounding rounding, bool finite = false);
[[nodiscard]] double decode(std::uint16_t bits, SmallFormat format);

/// a + b rounded to odd: truncated, last bit set if anything was lost. Rounded once more to a format with
/// at least two bits less, in any direction, it is the correctly rounded sum.
inline double sum_to_odd(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  const double lost = (a - (s - t)) + (b - t);
  const auto bits = bits_as<std::uint64_t>(s);
  const bool inexact = lost > 0 || lost < 0;  // not for infinities and NaN, whose `lost` is NaN
  const bool even = (bits & 1U) == 0;
  const std::uint64_t step = (lost > 0) == (s > 0) ? 1 : ~std::uint64_t{0};
  return inexact && even ? bits_as<double>(bits + step) : s;
}

}  // namespace warpline
