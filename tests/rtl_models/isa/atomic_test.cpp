#include "rtl_models/isa/atomic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline {
namespace atomic_test {

using O = AtomicOperation;
using T = DataType;
__extension__ using Wide = __int128;

constexpr O kOperations[] = {O::none,      O::add,      O::min,
                             O::max,       O::bit_and,  O::bit_or,
                             O::bit_xor,   O::exchange, O::compare_and_swap,
                             O::increment, O::decrement};
constexpr T kTypes[] = {T::none, T::pred, T::b8,    T::b16,  T::b32,    T::b64, T::b128,
                        T::u8,   T::u16,  T::u32,   T::u64,  T::s8,     T::s16, T::s32,
                        T::s64,  T::f16,  T::f16x2, T::bf16, T::bf16x2, T::f32, T::f64};

std::uint64_t mask_of(T type) {
  return size_of(type) == 8 ? ~0ULL : (1ULL << (8 * size_of(type))) - 1;
}

/// The value of the bits of an integer type, in a type wide enough for every sum and comparison.
Wide value_of(T type, std::uint64_t bits) {
  const unsigned width = 8 * size_of(type);
  const bool negative = is_signed(type) && (bits >> (width - 1) & 1U) != 0;
  return negative ? static_cast<Wide>(bits) - (static_cast<Wide>(1) << width) : static_cast<Wide>(bits);
}

std::uint64_t naive_integer(O operation, T type, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  const Wide x = value_of(type, old), y = value_of(type, b);
  switch (operation) {
    case O::add: return static_cast<std::uint64_t>(x + y) & mask_of(type);
    case O::min: return x < y ? old : b;
    case O::max: return x > y ? old : b;
    case O::bit_and: return old & b;
    case O::bit_or: return old | b;
    case O::bit_xor: return old ^ b;
    case O::exchange: return b;
    case O::compare_and_swap: return old == b ? c : old;
    case O::increment: return x >= y ? 0 : old + 1;
    case O::decrement: return x == 0 || x > y ? b : old - 1;
    case O::none: break;
  }
  ADD_FAILURE();
  return 0;
}

float float_of(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  float f;
  std::memcpy(&f, &low, 4);
  return f;
}
std::uint64_t bits_of(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}
std::uint64_t bits_of(double f) {
  std::uint64_t bits;
  std::memcpy(&bits, &f, 8);
  return bits;
}

/// The sum of two f32, by way of double, in which it is exact enough that rounding once more to
/// float is right; subnormals are zeros by their exponent field.
std::uint64_t naive_f32(std::uint64_t a, std::uint64_t b) {
  const auto flushed = [](std::uint64_t x) { return (x & 0x7F800000U) == 0 ? x & 0x80000000U : x; };
  const double sum = static_cast<double>(float_of(flushed(a))) + static_cast<double>(float_of(flushed(b)));
  if (std::isnan(sum)) return 0x7FFFFFFF;
  return flushed(bits_of(static_cast<float>(sum)));
}

TEST(Atomic, TheLegalPairsAreThoseOfPtx) {
  std::set<std::pair<O, T>> legal;
  for (const T t : {T::u32, T::u64, T::s32, T::f32, T::f64, T::f16, T::f16x2, T::bf16, T::bf16x2})
    legal.emplace(O::add, t);
  for (const O o : {O::min, O::max})
    for (const T t : {T::u32, T::u64, T::s32, T::s64}) legal.emplace(o, t);
  for (const O o : {O::bit_and, O::bit_or, O::bit_xor, O::exchange})
    for (const T t : {T::b32, T::b64}) legal.emplace(o, t);
  for (const T t : {T::b16, T::b32, T::b64, T::b128}) legal.emplace(O::compare_and_swap, t);
  legal.emplace(O::exchange, T::b128);
  legal.emplace(O::increment, T::u32);
  legal.emplace(O::decrement, T::u32);
  for (const O o : kOperations)
    for (const T t : kTypes)
      EXPECT_EQ(is_atomic_legal(o, t), legal.count({o, t}) != 0) << static_cast<int>(o) << " " << name_of(t);
}

TEST(Atomic, TheLegalVectorsAreThoseOfPtx) {
  std::set<std::tuple<O, T, unsigned>> legal;
  for (const O o : {O::add, O::min, O::max}) {
    for (const unsigned v : {2U, 4U, 8U})
      for (const T t : {T::f16, T::bf16}) legal.emplace(o, t, v);
    for (const unsigned v : {2U, 4U})
      for (const T t : {T::f16x2, T::bf16x2}) legal.emplace(o, t, v);
  }
  for (const unsigned v : {2U, 4U}) legal.emplace(O::add, T::f32, v);
  for (const O o : kOperations)
    for (const T t : kTypes)
      for (const unsigned v : {2U, 4U, 8U})
        EXPECT_EQ(is_atomic_legal(o, t, v), legal.count({o, t, v}) != 0)
            << static_cast<int>(o) << " " << name_of(t) << " v" << v;
}

TEST(Atomic, IntegersAgreeWithWideArithmetic) {
  Random random(1);
  for (const O operation : kOperations) {
    for (const T type : kTypes) {
      if (!is_atomic_legal(operation, type) || is_float(type) || type == T::b128) continue;
      const std::uint64_t all = mask_of(type);
      std::vector<std::uint64_t> values = {
          0, 1, 2, all, all - 1, all >> 1U, (all >> 1U) + 1, (all >> 1U) - 1};
      for (unsigned i = 0; i < 20; ++i) values.push_back(random.next() & all);
      for (const std::uint64_t old : values)
        for (const std::uint64_t b : values)
          for (const std::uint64_t c : {std::uint64_t{0}, all, values[8]})
            ASSERT_EQ(apply_atomic(operation, type, old, b, c), naive_integer(operation, type, old, b, c))
                << static_cast<int>(operation) << " " << name_of(type) << " " << old << " " << b << " " << c;
    }
  }
}

TEST(Atomic, SinglePrecisionSums) {
  Random random(2);
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<std::uint64_t> values = {bits_of(0.0F),
                                       bits_of(-0.0F),
                                       bits_of(1.0F),
                                       bits_of(-1.0F),
                                       bits_of(inf),
                                       bits_of(-inf),
                                       bits_of(std::numeric_limits<float>::max()),
                                       bits_of(-std::numeric_limits<float>::max()),
                                       bits_of(std::numeric_limits<float>::min()),
                                       bits_of(-std::numeric_limits<float>::min()),
                                       1,
                                       0x80000001U,
                                       0x007FFFFFU,
                                       0x00800001U,
                                       0x7F800001U,
                                       0xFFC00000U,
                                       bits_of(16777216.0F),
                                       bits_of(0.99999994F)};
  for (unsigned i = 0; i < 100; ++i) values.push_back(random.next() & 0xFFFFFFFFU);
  for (const std::uint64_t a : values)
    for (const std::uint64_t b : values)
      ASSERT_EQ(apply_atomic(O::add, T::f32, a, b, 0), naive_f32(a, b)) << std::hex << a << " + " << b;
}

TEST(Atomic, SinglePrecisionEdges) {
  EXPECT_EQ(apply_atomic(O::add, T::f32, 0x7F800000, 0xFF800000, 0), 0x7FFFFFFFU) << "inf - inf";
  EXPECT_EQ(apply_atomic(O::add, T::f32, 0x80000000, 0x80000000, 0), 0x80000000U) << "-0 + -0";
  EXPECT_EQ(apply_atomic(O::add, T::f32, 0x80000001, 0x80000001, 0), 0x80000000U)
      << "flushed inputs keep their sign";
  EXPECT_EQ(apply_atomic(O::add, T::f32, 0x00800001, 0x80800000, 0), 0U) << "a subnormal result is flushed";
  EXPECT_EQ(apply_atomic(O::add, T::f32, 0x4B800000, 0x3F800000, 0), 0x4B800000U) << "2^24 + 1 ties to even";
}

TEST(Atomic, SharedMemoryKeepsSubnormals) {
  const auto kept = [](std::uint64_t a, std::uint64_t b) {
    return apply_atomic(O::add, T::f32, a, b, 0, Subnormals::kept);
  };
  EXPECT_EQ(kept(1, 1), 2U);
  EXPECT_EQ(kept(0x00800001, 0x80800000), 1U);
  EXPECT_EQ(kept(0x80000001, 0x80000001), 0x80000002U);
  EXPECT_EQ(kept(0x7F800000, 0xFF800000), 0x7FFFFFFFU);
}

TEST(Atomic, DoublePrecisionSums) {
  EXPECT_EQ(apply_atomic(O::add, T::f64, bits_of(1.5), bits_of(2.25), 0), bits_of(3.75));
  EXPECT_EQ(apply_atomic(O::add, T::f64, 0x4340000000000000, bits_of(1.0), 0), 0x4340000000000000U)
      << "2^53 + 1 ties to even";
  EXPECT_EQ(apply_atomic(O::add, T::f64, 0x4340000000000001, bits_of(1.0), 0), 0x4340000000000002U);
  EXPECT_EQ(apply_atomic(O::add, T::f64, 1, 1, 0), 2U) << "subnormals are kept";
  EXPECT_EQ(apply_atomic(O::add, T::f64, 0x7FF0000000000000, 0xFFF0000000000000, 0), 0xFFF8000000000000U);
  // As an H200 does in global memory.
  EXPECT_EQ(apply_atomic(O::add, T::f64, bits_of(1.0), 0xFFF0000000000001, 0), 0xFFF0000000000001U);
  EXPECT_EQ(apply_atomic(O::add, T::f64, 0x7FF5555555555555, bits_of(1.0), 0), 0x7FF5555555555555U);
  EXPECT_EQ(apply_atomic(O::add, T::f64, 0x7FFFFFFFFFFFFFFF, 0x7FF8000000000000, 0), 0x7FF8000000000000U);
  EXPECT_EQ(apply_atomic(O::add, T::f64, 0x7FEFFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF, 0), 0x7FF0000000000000U);
  EXPECT_EQ(apply_atomic(O::add, T::f64, 0x8000000000000000, 0x8000000000000000, 0), 0x8000000000000000U);
}

TEST(AtomicDeath, NoOperationIsNoAtomic) {
  EXPECT_DEATH(static_cast<void>(apply_atomic(O::none, T::u32, 0, 0, 0)), "contract violated");
}

}  // namespace atomic_test
}  // namespace warpline
