// Every value of every format of 16 bits and fewer, and roundings to the narrow ones against a search among
// all their values for the nearest.
#include "rtl_models/isa/small_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline {
namespace small_float_test {

struct Described {
  SmallFormat format;
  unsigned mantissa, exponent;
  int bias;
  bool infinity, nan;
};
// PTX ISA, "Alternate Floating-Point Data Formats"; OCP, "Microscaling Formats", for those of 4 to 8 bits.
const Described kNarrow[] = {{kE5m2, 2, 5, 15, true, true},
                             {kE4m3, 3, 4, 7, false, true},
                             {kE3m2, 2, 3, 3, false, false},
                             {kE2m3, 3, 2, 1, false, false},
                             {kE2m1, 1, 2, 1, false, false}};

/// The number that code `c`, without a sign, stands for.
double number(const Described& d, unsigned c) {
  const unsigned fields = 1U << d.mantissa;
  const unsigned top = (1U << d.exponent) - 1;
  const unsigned e = c / fields;
  const unsigned m = c % fields;
  if (d.infinity && e == top) return m == 0 ? HUGE_VAL : std::nan("");
  if (!d.infinity && d.nan && e == top && m == fields - 1) return std::nan("");
  const double fraction = static_cast<double>(m) / fields;
  return e == 0 ? fraction * std::pow(2.0, 1 - d.bias)
                : (1 + fraction) * std::pow(2.0, static_cast<int>(e) - d.bias);
}

std::vector<double> finite_numbers(const Described& d) {
  std::vector<double> all;
  for (unsigned c = 0; c < 1U << (d.mantissa + d.exponent); ++c)
    if (std::isfinite(number(d, c))) all.push_back(number(d, c));
  return all;
}

TEST(SmallFloat, EachCodeStandsForItsNumber) {
  for (const Described& d : kNarrow) {
    const unsigned codes = 1U << (d.mantissa + d.exponent);
    for (unsigned c = 0; c < codes; ++c) {
      const double want = number(d, c);
      const double plus = decode(static_cast<std::uint16_t>(c), d.format);
      const double minus = decode(static_cast<std::uint16_t>(c | codes), d.format);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(plus) && std::isnan(minus)) << c;
        continue;
      }
      EXPECT_EQ(plus, want) << c;
      EXPECT_EQ(minus, -want) << c;
      EXPECT_EQ(encode(want, d.format, Rounding::nearest), c);
      EXPECT_EQ(encode(-want, d.format, Rounding::nearest), c | codes);
    }
  }
}

/// The code nearest to the magnitude `x`, of two equally near ones the even one. What lies half a step or
/// more beyond the largest number overflows: to `beyond`.
unsigned nearest(const std::vector<double>& all, double x, unsigned beyond) {
  const double step = all.back() - all[all.size() - 2];
  const double limit = all.back() + step / 2;
  if (x > limit || (x == limit && all.size() % 2 == 0)) return beyond;
  unsigned best = 0;
  for (unsigned c = 1; c < all.size(); ++c) {
    const double here = std::fabs(all[c] - x);
    const double there = std::fabs(all[best] - x);
    if (here < there || (here == there && c % 2 == 0)) best = c;
  }
  return best;
}

TEST(SmallFloat, EveryHalfIsRoundedToTheNearestOfAllNumbers) {
  for (const Described& d : kNarrow) {
    const std::vector<double> all = finite_numbers(d);
    const auto largest = static_cast<unsigned>(all.size() - 1);
    const unsigned sign = 1U << (d.mantissa + d.exponent);
    for (unsigned h = 0; h < 0x8000; ++h) {
      const double x = decode(static_cast<std::uint16_t>(h), kHalf);
      if (std::isnan(x)) {
        const unsigned want = d.nan ? sign - 1 : largest;
        ASSERT_EQ(encode(x, d.format, Rounding::nearest, true), want) << h;
        continue;
      }
      ASSERT_EQ(encode(x, d.format, Rounding::nearest, true), nearest(all, x, largest)) << h;
      ASSERT_EQ(encode(-x, d.format, Rounding::nearest, true), sign | nearest(all, x, largest)) << h;
      const unsigned beyond = d.infinity ? largest + 1 : d.nan ? sign - 1 : largest;
      ASSERT_EQ(encode(x, d.format, Rounding::nearest, false), nearest(all, x, beyond)) << h;
      unsigned below = largest;
      while (all[below] > x) --below;
      if (std::isfinite(x)) {
        ASSERT_EQ(encode(x, d.format, Rounding::zero, true), below) << h;
      }
    }
  }
}

TEST(SmallFloat, ChanceRoundsAwayAsOftenAsTheShareThatIsCutOff) {
  Random random(3);
  for (const Described& d : kNarrow) {
    const std::vector<double> all = finite_numbers(d);
    for (int k = 0; k < 400; ++k) {
      const auto at = static_cast<std::size_t>(random.below(all.size() - 1));
      const double share = static_cast<double>(random.below(65537)) / 65536.0;
      const auto x = static_cast<float>(all[at] + share * (all[at + 1] - all[at]));
      const double cut = (static_cast<double>(x) - all[at]) / (all[at + 1] - all[at]);
      for (const std::uint32_t r :
           {0U, 1U, 0x7FFFU, 0x8000U, 0xFFFFU, static_cast<std::uint32_t>(random.below(65536))}) {
        const bool away = cut + static_cast<double>(r) / 65536.0 >= 1.0;
        ASSERT_EQ(encode_stochastic(x, d.format, r, 16, true), at + (away ? 1 : 0)) << x << " " << r;
      }
    }
    const auto largest = static_cast<std::uint16_t>(all.size() - 1);
    EXPECT_EQ(encode_stochastic(1e30F, d.format, 0, 16, true), largest);
    EXPECT_EQ(encode_stochastic(1e-30F, d.format, 0xFFFF, 16, true), 0);
  }
  EXPECT_EQ(encode_stochastic(65519.0F, kHalf, 0x1FFF, 13, false), 0x7C00);
  EXPECT_EQ(encode_stochastic(65519.0F, kHalf, 0, 13, false), 0x7BFF);
}

}  // namespace small_float_test
}  // namespace warpline
