#include "rtl_models/isa/cache_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <tuple>

#include "rtl_models/base/random.h"

namespace warpline {
namespace cache_policy_test {

using E = L2Eviction;
using Mode = CachePolicy::Mode;

auto fields(const CachePolicy& p) {
  return std::make_tuple(p.mode, p.primary, p.secondary, p.sixteenths, p.block_shift, p.start, p.count,
                         p.skips_l1, p.promotes);
}

CachePolicy random_policy(Random& random) {
  constexpr E kPrimaries[] = {E::unchanged, E::first, E::last, E::normal};
  CachePolicy p;
  p.mode = static_cast<Mode>(random.below(3));
  p.skips_l1 = random.below(2) != 0;
  p.promotes = random.below(2) != 0;
  if (p.mode == Mode::implicit) return p;
  p.primary = kPrimaries[random.below(4)];
  p.secondary = random.below(2) != 0 ? E::first : E::unchanged;
  if (p.mode == Mode::fractional) {
    p.sixteenths = static_cast<unsigned>(1 + random.below(16));
  } else {
    p.block_shift = static_cast<unsigned>(12 + random.below(16));
    p.start = static_cast<unsigned>(random.below(128));
    p.count = static_cast<unsigned>(random.below(128));
  }
  return p;
}

TEST(CachePolicy, WhatIsEncodedIsDecoded) {
  Random random(1);
  for (unsigned i = 0; i < 20000; ++i) {
    const CachePolicy p = random_policy(random);
    const auto back = decode_policy(encode_policy(p));
    ASSERT_TRUE(back) << std::hex << encode_policy(p);
    ASSERT_EQ(fields(*back), fields(p)) << std::hex << encode_policy(p);
  }
}

/// The layout, stated again: whether a pattern has a mode, and only bits that its mode has a place for.
bool well_formed(std::uint64_t d) {
  const auto only = [d](std::uint64_t places) { return (d & ~places) == 0; };
  switch (d >> 59U & 3U) {
    case 0: return only(0x6000000000000000U);
    case 2: return only(0x7FF0000000000000U);
    case 3: return only(0x7FF7FFE000000000U);
    default: return false;
  }
}

TEST(CachePolicy, APatternIsMalformedOrComesBackToTheBit) {
  Random random(2);
  unsigned good = 0;
  for (unsigned i = 0; i < 200000; ++i) {
    std::uint64_t bits = random.next();
    // Sparse patterns too: few random ones are well-formed.
    for (std::uint64_t n = random.below(4); n > 0; --n) bits &= random.next();
    if (random.below(2) != 0) bits &= 0x7FF7FFE000000000U;
    if (random.below(2) != 0) bits &= 0xFFF0000000000000U;
    const auto p = decode_policy(bits);
    ASSERT_EQ(p.has_value(), well_formed(bits)) << std::hex << bits;
    if (!p) continue;
    ++good;
    ASSERT_EQ(encode_policy(*p), bits) << std::hex << bits;
  }
  EXPECT_GT(good, 20000U);
}

TEST(CachePolicy, EachReservedBitIsMalformed) {
  const std::uint64_t fractional = 0x1470000000000000U;
  const std::uint64_t range = 0x1D10092000000000U;
  for (unsigned bit = 0; bit < 52; ++bit) EXPECT_FALSE(decode_policy(fractional | std::uint64_t{1} << bit));
  for (unsigned bit = 0; bit < 37; ++bit) EXPECT_FALSE(decode_policy(range | std::uint64_t{1} << bit));
  EXPECT_FALSE(decode_policy(range | std::uint64_t{1} << 51U));
  EXPECT_FALSE(decode_policy(fractional | std::uint64_t{1} << 63U));
  EXPECT_FALSE(decode_policy(0x0C70000000000000U)) << "mode 1";
  EXPECT_FALSE(decode_policy(1)) << "the implicit mode has no fields";
  ASSERT_TRUE(decode_policy(0));
  EXPECT_EQ(decode_policy(0)->applied_to(0x1234), E::none);
}

TEST(CachePolicy, StaticDescriptorsAreThoseOfTheHeaders) {
  EXPECT_EQ(static_policy(AccessProperty::global), 0x10F0000000000000U);
  EXPECT_EQ(static_policy(AccessProperty::normal), 0x16F0000000000000U);
  EXPECT_EQ(static_policy(AccessProperty::streaming), 0x12F0000000000000U);
  EXPECT_EQ(static_policy(AccessProperty::persisting), 0x14F0000000000000U);
}

TEST(CachePolicy, FractionsTruncateAsTheAssembler) {
  const auto sixteenths = [](float f) { return fractional_policy(E::last, E::unchanged, f) >> 52U & 15U; };
  EXPECT_EQ(fractional_policy(E::last, E::first, 0.5F), 0x1570000000000000U);
  EXPECT_EQ(fractional_policy(E::normal, E::unchanged, 1.0F), 0x16F0000000000000U);
  EXPECT_EQ(fractional_policy(E::unchanged, E::first, 0.3F), 0x1140000000000000U);
  EXPECT_EQ(sixteenths(1e-8F), 0U);
  EXPECT_EQ(sixteenths(0.5001F), 7U);
  EXPECT_EQ(library_sixteenths(0.5001F), 9U) << "the headers count it as more than half";
  EXPECT_EQ(library_sixteenths(1e-8F), 1U);
  // Both sides of the step from 7 to 8 sixteenths less one.
  EXPECT_EQ(sixteenths(8 / 15.99F - 1e-6F), 7U);
  EXPECT_EQ(sixteenths(8 / 15.99F + 1e-6F), 8U);
  for (unsigned k = 1; k <= 16; ++k) {
    const float f = static_cast<float>(k) / 16;
    EXPECT_EQ(sixteenths(f), k - 1);
    EXPECT_EQ(library_sixteenths(f), k);
  }
  // Where the instruction has no fraction in (0, 1], it does what the assembler's code does.
  EXPECT_EQ(sixteenths(0.0F), 0U);
  EXPECT_EQ(sixteenths(-3.0F), 0U);
  EXPECT_EQ(sixteenths(1.5F), 7U) << "23 modulo 16";
  EXPECT_EQ(sixteenths(1e30F), 15U) << "saturated";
  EXPECT_EQ(sixteenths(std::numeric_limits<float>::infinity()), 15U);
  EXPECT_EQ(sixteenths(std::numeric_limits<float>::quiet_NaN()), 0U);
}

TEST(CachePolicy, RangesRoundToBlocks) {
  EXPECT_EQ(range_policy(E::last, E::unchanged, 0x12345, 1, 1), 0x1C01202000000000U);
  EXPECT_EQ(range_policy(E::last, E::first, 0, 524288, 524288), 0x1D000FE000000000U) << "127 of 128 blocks";
  EXPECT_EQ(range_policy(E::last, E::first, 0, 524289, 524289), 0x1D10082000000000U) << "larger blocks";
  EXPECT_EQ(range_policy(E::last, E::unchanged, 0, 4294967295U, 4294967295U), 0x1CD00FE000000000U);
  EXPECT_EQ(range_policy(E::last, E::unchanged, 4096 * 127, 8192, 8192), 0x1C07F04000000000U) << "wraps";
  EXPECT_EQ(range_policy(E::last, E::unchanged, 0, 0, 100), 0x1C00000000000000U);
  EXPECT_EQ(range_policy(E::last, E::unchanged, 1, 0, 100), 0x1C00002000000000U) << "rounded out";
  EXPECT_EQ(range_policy(E::last, E::first, 0x12345, 0, 0), 0x1800000000000000U) << "nothing to say";
}

/// The rule with plain arithmetic: the smallest block of 4 KiB and more of which 128 hold the total.
std::uint64_t naive_range(std::uint64_t top, std::uint64_t address, std::uint64_t primary,
                          std::uint64_t total) {
  std::uint64_t block = 4096, exponent = 0;
  for (; block * 128 < total; block *= 2) ++exponent;
  std::uint64_t count = (address + primary) / block - address / block;
  if ((address + primary) % block != 0) ++count;
  if (count > 127) count = 127;
  return top + (exponent << 52U) + (address / block % 128 << 44U) + (count << 37U);
}

TEST(CachePolicy, RangesAgreeWithPlainArithmetic) {
  Random random(3);
  for (unsigned i = 0; i < 100000; ++i) {
    const std::uint64_t address = random.next() >> (8 + random.below(48));
    const auto total = static_cast<std::uint32_t>(std::max<std::uint64_t>(
        1, (random.below(2) != 0 ? random.next() : (1ULL << random.below(33)) + random.below(3) - 1) >> 32U |
               (random.next() & 0xFFFFFFFFU) >> random.below(32)));
    const auto primary = static_cast<std::uint32_t>(random.below(std::uint64_t{total} + 1));
    ASSERT_EQ(range_policy(E::normal, E::first, address, primary, total),
              naive_range(0x1F00000000000000U, address, primary, total))
        << address << " " << primary << " " << total;
  }
}

TEST(CachePolicy, ARangeAppliesToItsBlocksModulo128) {
  const auto p = decode_policy(range_policy(E::last, E::first, 126 * 4096, 3 * 4096, 4 * 4096));
  ASSERT_TRUE(p);
  for (std::uint64_t block = 0; block < 512; ++block) {
    const bool primary = block % 128 >= 126 || block % 128 == 0;
    EXPECT_EQ(p->applied_to(block * 4096), primary ? E::last : E::first) << block;
    EXPECT_EQ(p->applied_to(block * 4096 + 4095), primary ? E::last : E::first) << block;
  }
}

/// The remainder of a line number, as a polynomial over two elements, by x^4 + x + 1: long division.
unsigned naive_sixteenth(std::uint64_t line) {
  for (unsigned bit = 63; bit >= 4; --bit)
    if ((line >> bit & 1U) != 0) line ^= std::uint64_t{0x13} << (bit - 4);
  return static_cast<unsigned>(line);
}

TEST(CachePolicy, AFractionIsHashedByLine) {
  Random random(4);
  for (unsigned i = 0; i < 20000; ++i) {
    const std::uint64_t address = random.next() >> random.below(40);
    const auto sixteenths = static_cast<unsigned>(1 + random.below(16));
    CachePolicy p;
    p.mode = Mode::fractional;
    p.primary = E::last;
    p.secondary = E::first;
    p.sixteenths = sixteenths;
    ASSERT_EQ(p.applied_to(address), naive_sixteenth(address / 128) < sixteenths ? E::last : E::first)
        << address;
  }
}

TEST(CachePolicy, AFractionIsSpreadEvenlyOverSets) {
  // Lines that differ in four adjacent bits only: adjacent ones, and those of one set of any power of two.
  Random random(5);
  for (unsigned low = 0; low <= 40; ++low) {
    const std::uint64_t base = random.next() >> 8U & ~(std::uint64_t{15} << low);
    for (unsigned sixteenths = 1; sixteenths <= 16; ++sixteenths) {
      const auto p = decode_policy(fractional_policy(E::last, E::first, static_cast<float>(sixteenths) / 16));
      unsigned primary = 0;
      for (std::uint64_t n = 0; n < 16; ++n)
        primary += p->applied_to((base | n << low) * 128 + random.below(128)) == E::last ? 1 : 0;
      ASSERT_EQ(primary, sixteenths) << "bits from " << low;
    }
  }
}

/// A row of the oracle in our terms.
std::optional<std::uint64_t> judged(const std::string& kind, const std::string& primary,
                                    const std::string& secondary, const std::string& input) {
  static const std::map<std::string, E> kNames = {
      {"normal", E::normal},       {"streaming", E::first},          {"persisting", E::last},
      {"unchanged", E::unchanged}, {"evict_normal", E::normal},      {"evict_first", E::first},
      {"evict_last", E::last},     {"evict_unchanged", E::unchanged}};
  static const std::map<std::string, AccessProperty> kStatic = {{"global", AccessProperty::global},
                                                                {"default()", AccessProperty::global},
                                                                {"normal", AccessProperty::normal},
                                                                {"streaming", AccessProperty::streaming},
                                                                {"persisting", AccessProperty::persisting}};
  if (kind == "static") return static_policy(kStatic.at(primary));
  const E p = kNames.at(primary), s = kNames.at(secondary);
  if (kind == "fractional") return fractional_policy(p, s, std::stof(input));
  unsigned long long address = 0;
  unsigned first = 0, total = 0;
  if (std::sscanf(input.c_str(), "ptr=0x%llx;primary=%u;total=%u", &address, &first, &total) != 3)
    return std::nullopt;
  return range_policy(p, s, address, first, total);
}

TEST(CachePolicy, AgreesWithAssemblerAndHeaders) {
  std::ifstream file(WARPLINE_SOURCE_DIR "/../shared/oracles/policy/vectors.tsv");
  if (!file) GTEST_SKIP() << "../shared is absent";
  unsigned rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    std::string source, kind, primary, secondary, input, descriptor;
    for (std::string* column : {&source, &kind, &primary, &secondary, &input, &descriptor})
      std::getline(in, *column, '\t');
    const auto got = judged(kind, primary, secondary, input);
    ASSERT_TRUE(got) << line;
    EXPECT_EQ(*got, std::stoull(descriptor, nullptr, 16)) << line;
    ++rows;
  }
  EXPECT_GT(rows, 1000U);
}

}  // namespace cache_policy_test
}  // namespace warpline
