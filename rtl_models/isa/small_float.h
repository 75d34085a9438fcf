#pragma once

#include <cstdint>

#include "rtl_models/base/bits.h"

namespace warpline {

/// PTX ISA, "Rounding Modifiers".
enum class Rounding : std::uint8_t { nearest, zero, down, up };

/// What the highest exponent of a format stands for.
enum class Specials : std::uint8_t {
  infinities,  ///< infinity and NaN, as in IEEE 754
  nan,         ///< numbers, but for all ones: NaN. There is no infinity
  none,        ///< numbers
};

/// A binary format of 16 bits or fewer.
struct SmallFormat {
  int mantissa;  ///< explicit bits
  int exponent;  ///< bits
  Specials specials = Specials::infinities;

  [[nodiscard]] constexpr unsigned bits() const { return static_cast<unsigned>(1 + mantissa + exponent); }
};
// PTX ISA, "Alternate Floating-Point Data Formats".
inline constexpr SmallFormat kHalf{10, 5};
inline constexpr SmallFormat kBrain{7, 8};
inline constexpr SmallFormat kE5m2{2, 5};
inline constexpr SmallFormat kE4m3{3, 4, Specials::nan};
inline constexpr SmallFormat kE3m2{2, 3, Specials::none};
inline constexpr SmallFormat kE2m3{3, 2, Specials::none};
inline constexpr SmallFormat kE2m1{1, 2, Specials::none};

/// What elements outside of a tensor are filled with where its map asks for NaN: `fma.oob` takes a product
/// with it for zero. Not in the PTX ISA; the value that public models of tensor copies give (assumed).
inline constexpr std::uint16_t kOutOfBoundsNan = 0x7FF7;

/// `x` rounded to `format`, NaN canonical; `finite`: what overflows becomes the largest finite number, as it
/// does in a format without specials, in which NaN becomes that number, too.
[[nodiscard]] std::uint16_t encode(double x, SmallFormat format, Rounding rounding, bool finite = false);
/// `x` rounded up or down by chance (PTX ISA, "cvt", `.rs`): away from zero if what would be cut off, in
/// units of the last place, and `random` / 2^`random_bits` make one together. Overflow as of encode().
[[nodiscard]] std::uint16_t encode_stochastic(float x, SmallFormat format, std::uint32_t random,
                                              unsigned random_bits, bool finite);
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
