#include "platform/launch/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>

#include "platform/launch/element.h"

namespace warpline {
namespace expression_test {

using ::testing::HasSubstr;

template <class T>
ArrayView view(const std::vector<T>& v) {
  return {reinterpret_cast<const std::uint8_t*>(v.data()), v.size()};
}

/// Arrays that the tests name.
struct Arrays {
  std::vector<float> a = {0.1F, 2.5F, -3.0F, 1e20F, std::nanf("")};
  std::vector<float> b = {0.2F, -0.5F, 7.0F, 1e-20F, 1.0F};
  std::vector<std::uint32_t> u = {0xFFFFFFFFU, 3, 0x80000000U, 300, 2};
  std::vector<std::int32_t> s = {-7, 7, std::numeric_limits<std::int32_t>::min(), -1, 0};
  std::vector<std::uint64_t> w = {~0ULL, 1, 2, 3, 4};
  std::vector<std::uint8_t> c = {255, 1, 2, 3, 4};
  std::vector<double> d = {0.1, 1e300, -1e300, 3.99, -3.99};
  std::vector<NamedArray> names = {{"a", DataType::f32}, {"b", DataType::f32}, {"u", DataType::u32},
                                   {"s", DataType::s32}, {"w", DataType::u64}, {"c", DataType::u8},
                                   {"d", DataType::f64}};
  [[nodiscard]] std::vector<ArrayView> views() const {
    return {view(a), view(b), view(u), view(s), view(w), view(c), view(d)};
  }
};

std::uint64_t bits_at(const std::string& text, DataType type, std::uint64_t i) {
  const Arrays arrays;
  Expression e;
  const auto faults = Expression::compile(text, type, arrays.names, e);
  EXPECT_TRUE(faults.empty()) << text << ": " << (faults.empty() ? "" : faults.front().message);
  if (!faults.empty()) return 0;
  std::uint64_t out = 0;
  const auto fault = e.evaluate(arrays.views(), i, 1, &out);
  EXPECT_FALSE(fault.has_value()) << text << ": " << fault->message;
  return out;
}
std::string at(const std::string& text, DataType type, std::uint64_t i = 0) {
  return element_text(type, bits_at(text, type, i));
}
float f32_at(const std::string& text, std::uint64_t i = 0) {
  return static_cast<float>(element_as_double(DataType::f32, bits_at(text, DataType::f32, i)));
}

ExpressionFault fault_of(const std::string& text, DataType type) {
  const Arrays arrays;
  Expression e;
  auto faults = Expression::compile(text, type, arrays.names, e);
  if (!faults.empty()) return faults.front();
  std::uint64_t out = 0;
  auto fault = e.evaluate(arrays.views(), 0, 1, &out, 1000);
  EXPECT_TRUE(fault.has_value()) << text;
  return fault.value_or(ExpressionFault{});
}

TEST(Expression, PrecedenceIsThatOfC) {
  EXPECT_EQ(at("2 + 3 * 4 - 10 / 3 % 2", DataType::s32), std::to_string(2 + 3 * 4 - 10 / 3 % 2));
  EXPECT_EQ(at("1 << 2 + 1", DataType::s32), "8");
  EXPECT_EQ(at("5 & 3 == 3", DataType::s32), "1");
  EXPECT_EQ(at("1 | 6 ^ 3 & 2", DataType::s32), std::to_string(1 | (6 ^ (3 & 2))));
  EXPECT_EQ(at("0 || 2 && 3", DataType::s32), "1");
  EXPECT_EQ(at("1 ? 2 : 0 ? 3 : 4", DataType::s32), "2");
  EXPECT_EQ(at("0 ? 2 : 0 ? 3 : 4", DataType::s32), "4");
  EXPECT_EQ(at("1 - 2 - 3", DataType::s32), "-4");
  EXPECT_EQ(at("- - 3 + !0 + ~0", DataType::s32), "3");
  EXPECT_EQ(at("3 < 4 == 1", DataType::s32), "1");
  EXPECT_EQ(at("-7 / 2", DataType::s32), "-3");
  EXPECT_EQ(at("-7 % 2", DataType::s32), "-1");
}

TEST(Expression, LiteralsAreThoseOfC) {
  EXPECT_EQ(at("0x1F + 010 + 5u + 7UL", DataType::s32), "51");
  EXPECT_EQ(at("0xFFFFFFFFFFFFFFFF", DataType::u64), "18446744073709551615");
  EXPECT_EQ(at("1.5e1 + .5 + 2.", DataType::f64), "17.5");
  EXPECT_EQ(at("0x1p-3", DataType::f64), "0.125");
  EXPECT_EQ(at("0.1f", DataType::f64),
            element_text(DataType::f64, float_bits(DataType::f64, static_cast<double>(0.1F))));
  EXPECT_EQ(at("010", DataType::f64), "8");
  EXPECT_EQ(f32_at("16777217"), 16777216.0F);
  EXPECT_EQ(f32_at("0.1"), 0.1F);
}

TEST(Expression, IntegerResultsWrapToTheType) {
  EXPECT_EQ(at("i + 250", DataType::u8, 10), "4");
  EXPECT_EQ(at("i + 120", DataType::s8, 10), "-126");
  EXPECT_EQ(at("i * 2654435761 >> 16", DataType::u32, 3), std::to_string((3U * 2654435761U) >> 16U));
  EXPECT_EQ(at("s[2] - 1", DataType::s32), std::to_string(std::numeric_limits<std::int32_t>::max()));
  EXPECT_EQ(at("-s[2]", DataType::s32), std::to_string(std::numeric_limits<std::int32_t>::min()));
  EXPECT_EQ(at("abs(s[i])", DataType::s32), "7");
  EXPECT_EQ(at("w[0] + 2", DataType::u64), "1");
  EXPECT_EQ(at("w[0] / 3", DataType::u64), "6148914691236517205");
  EXPECT_EQ(at("w[0] > 1", DataType::u64), "1");
  EXPECT_EQ(at("(0 - 9223372036854775807 - 1) / (0 - 1)", DataType::s64), "-9223372036854775808");
  EXPECT_EQ(at("(0 - 9223372036854775807 - 1) % (0 - 1)", DataType::s64), "0");
  EXPECT_EQ(at("-1", DataType::u16), "65535");
}

TEST(Expression, OperandsOfIntegersAreTakenAsTheyAre) {
  EXPECT_EQ(at("i % 10", DataType::u8, 303), "3");  // the index is not cut to 8 bits first
  EXPECT_EQ(at("u[3] >> 8", DataType::u8), "1");
  EXPECT_EQ(at("c[0] * 2", DataType::u32), "510");
  EXPECT_EQ(at("s[0] < 0", DataType::u32), "1");
  EXPECT_EQ(at("d[3]", DataType::s32), "3");
  EXPECT_EQ(at("d[4]", DataType::s32), "-3");
  EXPECT_EQ(at("d[1]", DataType::s64), "9223372036854775807");
  EXPECT_EQ(at("a[4]", DataType::u32), "0");  // NaN
}

TEST(Expression, EveryFloatOperationRoundsToTheType) {
  const volatile float a = 0.1F;
  const volatile float b = 0.2F;
  EXPECT_EQ(f32_at("a[i] + b[i]"), a + b);
  EXPECT_EQ(f32_at("a[i] * b[i] + a[i]"), static_cast<float>(a * b) + a);
  EXPECT_EQ(f32_at("fma(a[i], b[i], a[i])"), std::fma(a, b, a));
  EXPECT_EQ(f32_at("sqrt(b[i]) / 3"), std::sqrt(static_cast<float>(b)) / 3.0F);
  EXPECT_EQ(f32_at("16777216 + 1 + 1"), 16777216.0F);
  EXPECT_EQ(at("16777216 + 1 + 1", DataType::f64), "16777218");
  EXPECT_EQ(f32_at("d[0]"), 0.1F);
  EXPECT_TRUE(std::isnan(f32_at("a[i] + 1", 4)));
  EXPECT_EQ(f32_at("1 / 0"), std::numeric_limits<float>::infinity());
}

TEST(Expression, MinimumAndMaximumPreferNumbersAndOrderZeros) {
  EXPECT_EQ(f32_at("min(a[4], 3)"), 3.0F);
  EXPECT_EQ(f32_at("max(3, a[4])"), 3.0F);
  EXPECT_TRUE(std::signbit(f32_at("min(0, -0.0)")));
  EXPECT_TRUE(std::signbit(f32_at("min(-0.0, 0)")));
  EXPECT_FALSE(std::signbit(f32_at("max(-0.0, 0)")));
  EXPECT_EQ(at("min(s[0], 3) + max(w[1], 5)", DataType::s32), "-2");
}

TEST(Expression, IntegerPartsOfFloatExpressionsAreExact) {
  EXPECT_EQ(f32_at("i % 7 * 0.5", 16777220), static_cast<float>(16777220 % 7) * 0.5F);
  EXPECT_EQ(f32_at("i == 16777217 ? 1 : 2", 16777217), 1.0F);
  EXPECT_EQ(f32_at("i & 1 ? a[1] : b[1]", 3), 2.5F);
  EXPECT_EQ(f32_at("i / 2", 3), 1.5F);     // a float operation
  EXPECT_EQ(f32_at("a[i / 2]", 3), 2.5F);  // an index
  EXPECT_EQ(f32_at("a[u[4] - 1]"), 2.5F);  // through another buffer
}

TEST(Expression, SumsAddInOrder) {
  EXPECT_EQ(at("sum(k, 0, 5, u[k] == 3)", DataType::u32), "1");
  EXPECT_EQ(at("sum(k, 3, 1, 1)", DataType::u32), "0");
  EXPECT_EQ(at("sum(k, 0, 3, sum(m, 0, k, m + 10 * k))", DataType::s32), "51");
  float wanted = 0;
  for (int k = 0; k < 1000; ++k) wanted += static_cast<float>(k) * 0.1F;
  EXPECT_EQ(f32_at("sum(k, 0, 1000, k * 0.1)"), wanted);
  float separate = 0;
  float chain = 0;
  for (int k = 0; k < 20; ++k) {
    const float x = static_cast<float>(k) * 0.1F;
    const float y = 5.0F - static_cast<float>(k) * 0.7F;
    const volatile float product = x * y;
    separate += product;
    chain = std::fma(x, y, chain);
  }
  EXPECT_EQ(f32_at("sum(k, 0, 20, k * 0.1 * (5 - k * 0.7))"), separate);
  EXPECT_EQ(f32_at("dot(k, 0, 20, k * 0.1, 5 - k * 0.7)"), chain);
  EXPECT_NE(separate, chain);
}

TEST(Expression, ShortCircuitsLikeC) {
  EXPECT_EQ(at("i > 0 && u[i - 1] == 3", DataType::u32, 0), "0");
  EXPECT_EQ(at("i == 0 || u[i - 1]", DataType::u32, 0), "1");
  EXPECT_EQ(at("i < 5 ? u[i] : 9", DataType::u32, 7), "9");
}

TEST(Expression, MistakesNameThePlace) {
  EXPECT_THAT(fault_of("a[i] + ", DataType::f32).message, HasSubstr("ends where a value is expected"));
  EXPECT_EQ(fault_of("a[i] @ 3", DataType::f32).offset, 5U);
  EXPECT_EQ(fault_of("summ(k,0,1,k)", DataType::f32).hint, "did you mean \"sum\"?");
  EXPECT_THAT(fault_of("x[i]", DataType::f32).message, HasSubstr("no buffer is called \"x\""));
  EXPECT_EQ(fault_of("a + 1", DataType::f32).hint, "write a[i]");
  EXPECT_THAT(fault_of("k", DataType::f32).message, HasSubstr("unknown name"));
  EXPECT_THAT(fault_of("a[i", DataType::f32).message, HasSubstr("expected \"]\""));
  EXPECT_THAT(fault_of("1 ? 2", DataType::f32).message, HasSubstr("expected \":\""));
  EXPECT_THAT(fault_of("min(1)", DataType::f32).message, HasSubstr("expected \",\""));
  EXPECT_THAT(fault_of("09", DataType::u32).message, HasSubstr("octal"));
  EXPECT_THAT(fault_of("12ab", DataType::u32).message, HasSubstr("malformed"));
  EXPECT_THAT(fault_of("99999999999999999999", DataType::u32).message, HasSubstr("64 bits"));
  EXPECT_THAT(fault_of("sum(i, 0, 1, i)", DataType::u32).message, HasSubstr("already means"));
  EXPECT_THAT(fault_of("a[i] % 2", DataType::f32).message, HasSubstr("float buffer where integers"));
  EXPECT_THAT(fault_of("a[0.5]", DataType::f32).message, HasSubstr("float literal where integers"));
  EXPECT_THAT(fault_of("0.5", DataType::u32).message, HasSubstr("float literal where integers"));
  EXPECT_THAT(fault_of(std::string(5000, '('), DataType::u32).message, HasSubstr("too deeply"));
  std::string nested = "1";
  for (int n = 0; n < 5000; ++n) nested = "(1+" + nested + ")";
  EXPECT_THAT(fault_of(nested, DataType::u32).message, HasSubstr("too deeply"));
}

TEST(Expression, AFlatChainOfOperatorsIsAsLongAsItLikes) {
  constexpr int kTerms = 100000;
  std::string integers = "1", floats = "1.0", mixed = "0 == 1", truths = "a[1] == 3.0";
  for (int n = 0; n < kTerms; ++n) {
    integers += n % 2 == 0 ? " + 2" : " - 1";
    floats += " + 1.0 * 2.0";
    mixed += " || i == 7";
    truths += " || a[i] == 2.5";
  }
  EXPECT_EQ(at(integers, DataType::u32), std::to_string(1 + kTerms / 2));
  EXPECT_EQ(at(floats, DataType::f64), std::to_string(1 + 2 * kTerms));
  EXPECT_EQ(at(mixed, DataType::u32, 3), "0");
  EXPECT_EQ(at(mixed, DataType::f32, 7 % 5), "0");
  EXPECT_EQ(at(truths, DataType::f32, 1), "1");
  EXPECT_EQ(at("10 - 3 - 2 * 3 - (1 - 2)", DataType::s32), "2");
  EXPECT_EQ(at("0 && 1 / 0 || 1 || 1 / 0", DataType::s32), "1") << "the rest is not evaluated";
  EXPECT_THAT(fault_of(floats + " + 1 % a[i]", DataType::f32).message,
              HasSubstr("float buffer where integers"));
}

TEST(Expression, FaultsWhileEvaluatingAreReported) {
  EXPECT_THAT(fault_of("1 / (i - i)", DataType::u32).message, HasSubstr("division by zero"));
  EXPECT_THAT(fault_of("1 % 0", DataType::f32).message, HasSubstr("division by zero"));
  EXPECT_THAT(fault_of("u[5]", DataType::u32).message,
              HasSubstr("index 5 is outside the buffer of 5 elements"));
  EXPECT_THAT(fault_of("u[i - 1]", DataType::u32).message, HasSubstr("index -1 is outside"));
  EXPECT_THAT(fault_of("1 << 64", DataType::u64).message, HasSubstr("shift by 64"));
  EXPECT_THAT(fault_of("1 << -1", DataType::s32).message, HasSubstr("shift by -1"));
  EXPECT_THAT(fault_of("sum(k, 0, 1000000000000, 1)", DataType::u32).message, HasSubstr("too many steps"));
}

TEST(Expression, MatrixMultiplyOf128IsQuick) {
  constexpr std::uint64_t kSize = 128;
  std::vector<float> a(kSize * kSize), b(kSize * kSize);
  for (std::size_t e = 0; e < kSize * kSize; ++e) {
    a[e] = static_cast<float>(e % 13) * 0.25F;
    b[e] = static_cast<float>(e % 7) - 3.0F;
  }
  Expression e;
  ASSERT_TRUE(Expression::compile("dot(k, 0, 128, a[i / 128 * 128 + k], b[k * 128 + i % 128])", DataType::f32,
                                  {{"a", DataType::f32}, {"b", DataType::f32}}, e)
                  .empty());
  std::vector<std::uint64_t> out(kSize * kSize);
  // Of this processor: others may have most of the machine.
  const std::clock_t begin = std::clock();
  ASSERT_FALSE(e.evaluate({view(a), view(b)}, 0, kSize * kSize, out.data()).has_value());
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 5.0);
  RecordProperty("seconds", std::to_string(seconds));
  for (const std::size_t at : {std::size_t{0}, std::size_t{777}, kSize * kSize - 1}) {
    float wanted = 0;
    for (std::size_t k = 0; k < kSize; ++k)
      wanted = std::fma(a[at / kSize * kSize + k], b[k * kSize + at % kSize], wanted);
    EXPECT_EQ(element_as_double(DataType::f32, out[at]), static_cast<double>(wanted));
  }
}

}  // namespace expression_test
}  // namespace warpline
