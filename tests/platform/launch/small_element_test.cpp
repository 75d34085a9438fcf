// Elements of 16-bit float types, against a table of all values of the type.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "platform/launch/element.h"
#include "platform/launch/expression.h"
#include "rtl_models/base/random.h"

namespace warpline {
namespace small_element_test {

/// The nearest of all f16, ties to the even one, found by looking: `x` is exact.
std::uint64_t nearest_half(long double x) {
  static const std::vector<double> kMagnitudes = [] {
    std::vector<double> all;
    for (std::uint64_t bits = 0; bits < 0x7C00; ++bits) all.push_back(element_as_double(DataType::f16, bits));
    return all;
  }();
  const std::uint64_t sign = std::signbit(x) ? 0x8000 : 0;
  const long double m = std::fabs(x);
  if (m >= 65520) return sign | 0x7C00;
  const auto above =
      std::lower_bound(kMagnitudes.begin(), kMagnitudes.end(), m,
                       [](double value, long double of) { return static_cast<long double>(value) < of; });
  auto bits = static_cast<std::uint64_t>(above - kMagnitudes.begin());
  if (above == kMagnitudes.end()) return sign | (bits - 1);
  if (bits == 0) return sign;
  const long double up = static_cast<long double>(*above) - m,
                    down = m - static_cast<long double>(*(above - 1));
  if (down < up || (down == up && bits % 2 == 1)) --bits;
  return sign | bits;
}

std::uint64_t computed(const std::string& text, DataType type, const std::vector<std::uint16_t>& a,
                       const std::vector<std::uint16_t>& b, const std::vector<std::uint64_t>& w = {0}) {
  const std::vector<NamedArray> names = {{"a", type}, {"b", type}, {"w", DataType::u64}};
  Expression e;
  EXPECT_TRUE(Expression::compile(text, type, names, e).empty()) << text;
  const auto bytes = [](const auto& v) { return reinterpret_cast<const std::uint8_t*>(v.data()); };
  std::uint64_t out = 0;
  EXPECT_FALSE(
      e.evaluate({{bytes(a), a.size()}, {bytes(b), b.size()}, {bytes(w), w.size()}}, 0, 1, &out).has_value())
      << text;
  return out;
}

TEST(SmallElement, EveryValueIsItselfAsADouble) {
  for (const DataType type : {DataType::f16, DataType::bf16})
    for (std::uint64_t bits = 0; bits < 0x10000; ++bits) {
      const double x = element_as_double(type, bits);
      if (!std::isnan(x)) {
        ASSERT_EQ(float_bits(type, x), bits);
      }
    }
  EXPECT_EQ(element_as_double(DataType::f16, 0x3C00), 1.0);
  EXPECT_EQ(element_as_double(DataType::bf16, 0x3F80), 1.0);
  EXPECT_TRUE(same_element(DataType::f16, 0x7E00, 0xFE01));
  EXPECT_FALSE(same_element(DataType::bf16, 0x3F80, 0x3F81));
}

TEST(SmallElement, RoundsOnceToNearestEven) {
  EXPECT_EQ(float_bits(DataType::f16, 65519.99), 0x7BFFU);
  EXPECT_EQ(float_bits(DataType::f16, 65520.0), 0x7C00U);
  EXPECT_EQ(float_bits(DataType::f16, 0.1), nearest_half(0.1L));
  Random random(1);
  for (unsigned n = 0; n < 20'000; ++n) {
    const double x =
        std::ldexp(static_cast<double>(random.next() >> 11U), static_cast<int>(random.below(60)) - 75);
    ASSERT_EQ(float_bits(DataType::f16, x), nearest_half(static_cast<long double>(x))) << x;
  }
}

TEST(SmallElement, EachOperationOfAnExpressionRoundsOnce) {
  Random random(2);
  for (unsigned n = 0; n < 4000; ++n) {
    const std::vector<std::uint16_t> a = {static_cast<std::uint16_t>(random.next())},
                                     b = {static_cast<std::uint16_t>(random.next())};
    const long double x = element_as_double(DataType::f16, a[0]), y = element_as_double(DataType::f16, b[0]);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    const auto is = [&](const char* text, long double exact) {
      const std::uint64_t bits = computed(text, DataType::f16, a, b);
      EXPECT_EQ(bits, nearest_half(exact)) << text << " of " << a[0] << " and " << b[0];
    };
    is("a[i] * b[i]", x * y);
    is("a[i] - b[i]", x - y);
    is("fma(a[i], b[i], b[i])", x * y + y);  // exact in 64 bits
    if (y != 0) is("a[i] / b[i]", x / y);
    if (y > 0) is("sqrt(b[i])", std::sqrt(y));
  }
}

TEST(SmallElement, IntegersRoundOnce) {
  // 2^63 + 2^55 + 1 lies just above the middle of two values of 8 bits.
  const std::uint64_t above = (std::uint64_t{1} << 63U) + (std::uint64_t{1} << 55U) + 1;
  EXPECT_EQ(element_as_double(DataType::bf16, computed("w[i]", DataType::bf16, {0}, {0}, {above})),
            std::ldexp(129.0, 56));
  EXPECT_EQ(element_as_double(DataType::bf16, computed("w[i]", DataType::bf16, {0}, {0}, {above - 1})),
            std::ldexp(128.0, 56));
  EXPECT_EQ(computed("2049", DataType::f16, {0}, {0}), nearest_half(2049));
}

TEST(SmallElement, IsShownAsANumber) {
  EXPECT_EQ(element_text(DataType::f16, 0x3E00), "1.5");
  EXPECT_EQ(element_text(DataType::bf16, 0xC000), "-2");
  EXPECT_EQ(element_type_from("bf16"), DataType::bf16);
  EXPECT_EQ(element_type_from("f16x2"), DataType::none);
}

}  // namespace small_element_test
}  // namespace warpline
