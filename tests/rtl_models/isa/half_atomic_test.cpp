// Atomics on half precision and on 16 bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/isa/atomic.h"

namespace warpline {
namespace half_atomic_test {

using O = AtomicOperation;
using T = DataType;

struct Format {
  T one, two;
  int mantissa, exponent;
};
constexpr Format kFormats[] = {{T::f16, T::f16x2, 10, 5}, {T::bf16, T::bf16x2, 7, 8}};
constexpr std::uint64_t kNan = 0x7FFF;

bool is_nan(const Format& f, std::uint64_t bits) {
  return (bits & 0x7FFFU) > ((1U << f.exponent) - 1U) << f.mantissa;
}

/// The value of the bits, one by one; that of infinity is the power of two which follows the largest number.
double value(const Format& f, std::uint64_t bits) {
  const int field = static_cast<int>(bits >> f.mantissa & ((1U << f.exponent) - 1U));
  double fraction = 0;
  for (int i = 0; i < f.mantissa; ++i)
    if ((bits >> i & 1U) != 0) fraction += std::ldexp(1.0, i - f.mantissa);
  const int bias = (1 << (f.exponent - 1)) - 1;
  const double magnitude =
      field == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, field - bias);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

/// Whether `result` is the number nearest to a + b, the even one of two: by the distances of its neighbours.
/// The sum is s + e exactly, by Knuth.
bool is_nearest(const Format& f, double a, double b, std::uint64_t result) {
  const double s = a + b, t = s - a;
  const double e = (a - (s - t)) + (b - t);
  const auto distance = [&](std::uint64_t bits) {
    const double difference = s - value(f, bits);
    const double d = difference + e;
    // What is left of e where the difference swamps it.
    const double rest = e - (d - difference);
    return d < 0 || (d == 0 && rest < 0) ? std::make_pair(-d, -rest) : std::make_pair(d, rest);
  };
  const auto mine = distance(result);
  for (const int step : {-1, 1}) {
    const std::uint64_t magnitude = result & 0x7FFFU;
    const std::uint64_t infinity = ((1U << f.exponent) - 1U) << f.mantissa;
    if ((magnitude == 0 && step < 0) || (magnitude == infinity && step > 0)) continue;
    const std::uint64_t other = (result & 0x8000U) | (magnitude + static_cast<std::uint64_t>(step));
    const auto theirs = distance(other);
    if (theirs < mine || (theirs == mine && (result & 1U) != 0)) return false;
  }
  return true;
}

std::uint64_t random_half(const Format& f, Random& random) {
  const std::uint64_t bits = random.next() & 0xFFFFU;
  // Exponents near each other half of the time, so that sums round.
  const std::uint64_t exponent = (1U << (f.exponent - 1)) + random.below(4) - 2;
  const std::uint64_t middle = (bits & (0x8000U | ((1U << f.mantissa) - 1U))) | exponent << f.mantissa;
  switch (random.below(8)) {
    case 0: return bits & (0x8000U | ((1U << f.mantissa) - 1U));  // subnormal
    case 1:
    case 2:
    case 3: return middle;
    default: return bits;
  }
}

TEST(HalfAtomic, SumsAreTheNearestNumbers) {
  Random random(1);
  for (const Format& f : kFormats) {
    const std::uint64_t infinity = ((1U << f.exponent) - 1U) << f.mantissa;
    for (unsigned n = 0; n < 200000; ++n) {
      const std::uint64_t a = random_half(f, random), b = random_half(f, random);
      const std::uint64_t sum = apply_atomic(O::add, f.one, a, b, 0);
      const bool a_infinite = (a & 0x7FFFU) == infinity, b_infinite = (b & 0x7FFFU) == infinity;
      if (is_nan(f, a) || is_nan(f, b) || (a_infinite && b_infinite && a != b)) {
        ASSERT_EQ(sum, kNan) << a << " " << b;
      } else if (a_infinite || b_infinite) {
        ASSERT_EQ(sum, a_infinite ? a : b);
      } else if (value(f, a) + value(f, b) == 0) {
        ASSERT_EQ(sum, a == 0x8000U && b == 0x8000U ? 0x8000U : 0U) << a << " " << b;
      } else {
        ASSERT_TRUE(is_nearest(f, value(f, a), value(f, b), sum))
            << name_of(f.one) << std::hex << " " << a << " + " << b << " gave " << sum;
      }
    }
  }
}

TEST(HalfAtomic, SubnormalsAreKeptAndNumbersOverflow) {
  EXPECT_EQ(apply_atomic(O::add, T::f16, 1, 1, 0), 2U);
  EXPECT_EQ(apply_atomic(O::add, T::bf16, 0x8001, 0x8001, 0), 0x8002U);
  EXPECT_EQ(apply_atomic(O::add, T::f16, 0x7BFF, 0x7BFF, 0), 0x7C00U);
  EXPECT_EQ(apply_atomic(O::add, T::f16, 0x3C00, 0x1000, 0), 0x3C00U) << "1 + 2^-11 ties to even";
  EXPECT_EQ(apply_atomic(O::add, T::f16, 0x3C01, 0x1000, 0), 0x3C02U);
  EXPECT_EQ(apply_atomic(O::add, T::bf16, 0x4E80, 0x3F80, 0), 0x4E80U) << "2^30 + 1";
}

TEST(HalfAtomic, MinimumAndMaximum) {
  Random random(2);
  for (const Format& f : kFormats) {
    for (unsigned n = 0; n < 50000; ++n) {
      std::uint64_t a = random_half(f, random), b = random_half(f, random);
      if (random.below(8) == 0) b = a ^ 0x8000U;
      if (random.below(16) == 0) a = 0x8000, b = 0;
      std::uint64_t low = a, high = b;
      // Sign and magnitude order numbers as whole numbers, -0 below +0.
      const auto order = [](std::uint64_t x) {
        const auto magnitude = static_cast<int>(x & 0x7FFFU);
        return (x & 0x8000U) != 0 ? -magnitude - 1 : magnitude;
      };
      if (order(low) > order(high)) std::swap(low, high);
      if (is_nan(f, a))
        low = high = is_nan(f, b) ? kNan : b;
      else if (is_nan(f, b))
        low = high = a;
      ASSERT_EQ(apply_atomic(O::min, f.one, a, b, 0), low) << std::hex << a << " " << b;
      ASSERT_EQ(apply_atomic(O::max, f.one, a, b, 0), high) << std::hex << a << " " << b;
    }
  }
}

TEST(HalfAtomic, PairsAreTwoOfThem) {
  Random random(3);
  for (const Format& f : kFormats) {
    for (unsigned n = 0; n < 10000; ++n) {
      const std::uint64_t a[] = {random_half(f, random), random_half(f, random)};
      const std::uint64_t b[] = {random_half(f, random), random_half(f, random)};
      for (const O o : {O::add, O::min, O::max})
        ASSERT_EQ(apply_atomic(o, f.two, a[0] | a[1] << 16U, b[0] | b[1] << 16U, 0),
                  apply_atomic(o, f.one, a[0], b[0], 0) | apply_atomic(o, f.one, a[1], b[1], 0) << 16U);
    }
  }
}

TEST(WideAtomic, SixteenBytesAreExchangedOrComparedAtOnce) {
  using Bytes = std::array<std::uint8_t, 16>;
  Random random(4);
  for (unsigned n = 0; n < 1000; ++n) {
    Bytes memory, operand, second, old{};
    for (Bytes* bytes : {&memory, &operand, &second})
      for (std::uint8_t& b : *bytes) b = static_cast<std::uint8_t>(random.next());
    const std::size_t different = random.below(32);
    if (n % 2 == 0) {
      operand = memory;
      if (different < 16) ++operand[different];
    }
    const O operation = random.below(2) != 0 ? O::exchange : O::compare_and_swap;
    const Bytes before = memory;
    perform_atomic(operation, T::b128, 1, memory.data(), operand.data(), second.data(), old.data());
    EXPECT_EQ(old, before);
    EXPECT_EQ(memory, operation == O::exchange ? operand : before == operand ? second : before);
  }
}

TEST(WideAtomic, ElementsAreScalarOperationsSideBySide) {
  std::array<float, 4> memory = {1, 2, 3, 4}, operand = {10, 20, 30, 40}, old{};
  const auto bytes = [](std::array<float, 4>& a) { return reinterpret_cast<std::uint8_t*>(a.data()); };
  perform_atomic(O::add, T::f32, 4, bytes(memory), bytes(operand), nullptr, bytes(old));
  EXPECT_EQ(memory, (std::array<float, 4>{11, 22, 33, 44}));
  EXPECT_EQ(old, (std::array<float, 4>{1, 2, 3, 4}));
}

}  // namespace half_atomic_test
}  // namespace warpline
