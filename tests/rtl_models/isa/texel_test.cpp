#include "rtl_models/isa/texel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace warpline {
namespace texel_test {

float as_float(std::uint32_t bits) {
  float f = 0;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

TEST(Texel, FormatsAreTypesAndHowMany) {
  const auto names = texel_format_names();
  EXPECT_EQ(names.size(), 24U);
  for (const std::string& name : names) {
    const auto format = texel_format_from(name);
    ASSERT_TRUE(format) << name;
    EXPECT_EQ(name.substr(0, name.find('x')), name_of(format->type));
    EXPECT_EQ(format->components, name.find('x') == std::string::npos ? 1U : name.back() - '0');
    EXPECT_EQ(format->bytes(), size_of(format->type) * format->components);
  }
  for (const char* none : {"", "f64", "u8x3", "u8x1", "b32", "f32x", "F32", "f32x8", "pred"})
    EXPECT_FALSE(texel_format_from(none)) << none;
}

TEST(Texel, ComponentsExtendAndMissingOnesAreZeroZeroOne) {
  const std::array<std::uint8_t, 16> bytes = {0x81, 0xFF, 0x7F, 0x80, 0, 0, 0x80, 0x3F,
                                              9,    10,   11,   12,   0, 0, 0,    0x40};
  using Words = std::array<std::uint32_t, 4>;
  const auto of = [&](const char* format) { return components_of(*texel_format_from(format), bytes.data()); };
  const std::uint32_t one = 0x3F80'0000;
  EXPECT_EQ(of("u8"), (Words{0x81, 0, 0, 1}));
  EXPECT_EQ(of("s8"), (Words{0xFFFF'FF81, 0, 0, 1}));
  EXPECT_EQ(of("s8x2"), (Words{0xFFFF'FF81, 0xFFFF'FFFF, 0, 1}));
  EXPECT_EQ(of("u8x4"), (Words{0x81, 0xFF, 0x7F, 0x80}));
  EXPECT_EQ(of("s16x2"), (Words{0xFFFF'FF81, 0xFFFF'807F, 0, 1}));
  EXPECT_EQ(of("u16x4"), (Words{0xFF81, 0x807F, 0, 0x3F80}));
  EXPECT_EQ(of("u32"), (Words{0x807F'FF81, 0, 0, 1}));
  EXPECT_EQ(of("s32x2"), (Words{0x807F'FF81, one, 0, 1}));
  EXPECT_EQ(of("f32"), (Words{0x807F'FF81, 0, 0, one}));
  EXPECT_EQ(of("f32x2"), (Words{0x807F'FF81, one, 0, one}));
  EXPECT_EQ(of("f32x4"), (Words{0x807F'FF81, one, 0x0C0B'0A09, 0x4000'0000}));
  EXPECT_EQ(of("f16x4")[3], components_of({DataType::f16, 1}, &bytes[6])[0]);
}

TEST(Texel, EveryHalfWidensToItsValue) {
  for (std::uint32_t half = 0; half < 65536; ++half) {
    const auto low = static_cast<std::uint16_t>(half);
    std::array<std::uint8_t, 2> bytes{};
    std::memcpy(bytes.data(), &low, 2);
    const float got = as_float(components_of({DataType::f16, 1}, bytes.data())[0]);
    const int exponent = static_cast<int>(half >> 10U & 31U);
    const float fraction = static_cast<float>(half & 1023U);
    float want = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) want = std::numeric_limits<float>::infinity();
    if ((half & 0x8000U) != 0) want = -want;
    if (exponent == 31 && fraction != 0) {
      ASSERT_TRUE(std::isnan(got)) << half;
    } else {
      ASSERT_EQ(got, want) << half;
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << half;
    }
  }
}

}  // namespace texel_test
}  // namespace warpline
