#include "rtl_models/base/byte_mask.h"

#include <gtest/gtest.h>

#include <array>
#include <bitset>

#include "rtl_models/base/random.h"

namespace warpline {
namespace byte_mask_test {

using Bits = std::bitset<kLineBytes>;

Bits bits_of(const ByteMask& mask) {
  Bits bits;
  for (unsigned i = 0; i < kLineBytes; ++i) bits[i] = mask.test(i);
  return bits;
}

ByteMask random_mask(Random& random) {
  // Sparse, dense, and with whole sectors.
  ByteMask mask;
  for (std::uint64_t n = random.below(6); n != 0; --n) {
    const auto offset = static_cast<unsigned>(random.below(kLineBytes));
    mask.set(offset, static_cast<unsigned>(random.below(kLineBytes - offset + 1)));
  }
  if (random.below(2) == 0) mask = mask & ByteMask{random.next(), random.next()};
  return mask;
}

TEST(ByteMask, EveryRangeIsSetExactly) {
  for (unsigned offset = 0; offset <= kLineBytes; ++offset) {
    for (unsigned bytes = 0; offset + bytes <= kLineBytes; ++bytes) {
      ByteMask mask;
      mask.set(offset, bytes);
      Bits expected;
      for (unsigned i = 0; i < bytes; ++i) expected.set(offset + i);
      ASSERT_EQ(bits_of(mask), expected) << offset << " + " << bytes;
    }
  }
}

TEST(ByteMask, AgreesWithABitset) {
  Random random(1);
  for (unsigned n = 0; n < 2000; ++n) {
    const ByteMask a = random_mask(random), b = random_mask(random);
    const Bits x = bits_of(a), y = bits_of(b);
    ASSERT_EQ(bits_of(a | b), x | y);
    ASSERT_EQ(bits_of(a & b), x & y);
    ASSERT_EQ(bits_of(~a), ~x);
    ASSERT_EQ(a == b, x == y);
    ASSERT_EQ(a.any(), x.any());
    ASSERT_EQ(a.count(), x.count());
    SectorMask touched = 0, full = 0;
    for (unsigned s = 0; s < kSectorsPerLine; ++s) {
      const Bits sector = (x >> (s * kSectorBytes)) & Bits(0xFFFFFFFFU);
      ASSERT_EQ(a.sector(s), sector.to_ullong());
      if (sector.any()) touched = static_cast<SectorMask>(touched | 1U << s);
      if (sector.count() == kSectorBytes) full = static_cast<SectorMask>(full | 1U << s);
    }
    ASSERT_EQ(a.sectors(), touched);
    ASSERT_EQ(a.full_sectors(), full);
  }
}

TEST(ByteMask, WholeSectors) {
  for (unsigned m = 0; m < 16; ++m) {
    const ByteMask mask = ByteMask::of_sectors(static_cast<SectorMask>(m));
    EXPECT_EQ(mask.sectors(), m);
    EXPECT_EQ(mask.full_sectors(), m);
    EXPECT_EQ(mask.count(), kSectorBytes * sector_count(static_cast<SectorMask>(m)));
  }
}

TEST(ByteMask, CopiesTheMarkedBytesAndNoOthers) {
  Random random(2);
  for (unsigned n = 0; n < 500; ++n) {
    std::array<std::uint8_t, kLineBytes> from{}, to{}, expected{};
    for (unsigned i = 0; i < kLineBytes; ++i) {
      from[i] = static_cast<std::uint8_t>(random.next());
      to[i] = expected[i] = static_cast<std::uint8_t>(random.next());
    }
    const ByteMask mask = n == 0 ? ~ByteMask{} : random_mask(random);
    for (unsigned i = 0; i < kLineBytes; ++i)
      if (mask.test(i)) expected[i] = from[i];
    copy_masked(to.data(), from.data(), mask);
    ASSERT_EQ(to, expected);
    const auto sectors = static_cast<SectorMask>(random.below(16));
    for (unsigned i = 0; i < kLineBytes; ++i) {
      from[i] = static_cast<std::uint8_t>(random.next());
      if (((sectors >> (i / kSectorBytes)) & 1U) != 0) expected[i] = from[i];
    }
    copy_sectors(to.data(), from.data(), sectors);
    ASSERT_EQ(to, expected);
  }
}

}  // namespace byte_mask_test
}  // namespace warpline
