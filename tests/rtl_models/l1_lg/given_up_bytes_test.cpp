#include "rtl_models/l1_lg/given_up_bytes.h"

#include <gtest/gtest.h>

#include <map>

#include "rtl_models/base/random.h"

namespace warpline::test {
namespace given_up_bytes_test {

ByteMask of(unsigned first, unsigned bytes) {
  ByteMask mask;
  mask.set(first, bytes);
  return mask;
}

TEST(GivenUpBytes, OnlyWhatWasLastUsedIsPoisoned) {
  GivenUpBytes given_up(true);
  std::array<std::uint8_t, kLineBytes> line{}, got{};
  line.fill(0x11);
  given_up.use_last(7, of(8, 1));  // one byte of a lane's word
  given_up.keep(7, of(0, 16), line.data());
  EXPECT_EQ(given_up.lay_over(7, of(0, kLineBytes), got.data()), of(0, 16));
  for (unsigned b = 0; b < 16; ++b) EXPECT_EQ(got[b], b == 8 ? GivenUpBytes::kPoison : 0x11) << b;
}

TEST(GivenUpBytes, AStoreMakesANewByteOfIt) {
  GivenUpBytes given_up(true);
  std::array<std::uint8_t, kLineBytes> line{}, got{};
  given_up.use_last(7, of(0, 8));
  given_up.forget(7, of(4, 4));
  given_up.keep(7, of(0, 8), line.data());
  given_up.lay_over(7, of(0, 8), got.data());
  for (unsigned b = 0; b < 8; ++b) EXPECT_EQ(got[b], b < 4 ? GivenUpBytes::kPoison : 0) << b;
  given_up.forget(7, of(0, 8));
  EXPECT_TRUE(given_up.empty());
}

/// Random stores, last uses and evictions of one line against each byte by itself.
TEST(GivenUpBytes, AreThoseOfANaiveList) {
  struct Byte {
    std::uint8_t value = 0;
    bool dirty = false, used = false, kept = false, poisoned = false;
  };
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    GivenUpBytes given_up(true);
    std::array<Byte, kLineBytes> naive;
    std::array<std::uint8_t, kLineBytes> line{};
    for (unsigned step = 0; step < 60; ++step) {
      const auto first = static_cast<unsigned>(random.below(kLineBytes - 8));
      const auto bytes = static_cast<unsigned>(1 + random.below(8));
      const std::uint64_t kind = random.below(3);
      if (kind == 0) {
        given_up.forget(3, of(first, bytes));
        for (unsigned b = first; b < first + bytes; ++b) {
          naive[b] = {static_cast<std::uint8_t>(random.below(256)), true, false, false, false};
          line[b] = naive[b].value;
        }
      } else if (kind == 1) {
        given_up.use_last(3, of(first, bytes));
        for (unsigned b = first; b < first + bytes; ++b) naive[b].used = true;
      } else {
        ByteMask dirty;
        for (unsigned b = 0; b < kLineBytes; ++b)
          if (naive[b].dirty) dirty.set(b, 1);
        given_up.keep(3, dirty, line.data());
        for (Byte& b : naive) {
          if (b.dirty) b.kept = true, b.poisoned = b.used;
          b.dirty = b.used = false;
        }
      }
      std::array<std::uint8_t, kLineBytes> got{};
      const ByteMask laid = given_up.lay_over(3, of(0, kLineBytes), got.data());
      for (unsigned b = 0; b < kLineBytes; ++b) {
        ASSERT_EQ(laid.test(b), naive[b].kept) << "seed " << seed << " byte " << b;
        if (naive[b].kept) {
          ASSERT_EQ(got[b], naive[b].poisoned ? GivenUpBytes::kPoison : naive[b].value)
              << "seed " << seed << " byte " << b;
        }
      }
    }
  }
}

}  // namespace given_up_bytes_test
}  // namespace warpline::test
