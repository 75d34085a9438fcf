#include "rtl_models/sm/coalescer.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline {
namespace coalescer_test {

struct Expected {
  std::uint64_t line;
  SectorMask sectors = 0;
  LaneMask lanes = 0;
  unsigned word = 0;
};

/// By the definition: byte by byte, lines in the order of the word and the lowest lane.
std::vector<Expected> naive(const MemoryAccess& a, LaneMask lanes, unsigned bytes, bool local,
                            std::uint64_t base) {
  std::vector<Expected> out;
  const unsigned piece = local ? std::min(bytes, 4U) : bytes;
  for (unsigned word = 0; word * piece < bytes; ++word) {
    const std::size_t first = out.size();
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (((lanes >> lane) & 1U) == 0) continue;
      for (unsigned b = 0; b < piece; ++b) {
        const std::uint64_t offset = a.address_of(lane) + word * piece + b;
        const std::uint64_t at = local ? base + offset / 4 * 128 + lane * 4U + offset % 4 : offset;
        std::size_t k = first;
        while (k < out.size() && out[k].line != at / 128 * 128) ++k;
        if (k == out.size()) out.push_back({at / 128 * 128, 0, 0, word});
        out[k].sectors = static_cast<SectorMask>(out[k].sectors | (1U << (at % 128 / 32)));
        out[k].lanes |= LaneMask{1} << lane;
      }
    }
  }
  return out;
}

void compare(Coalescer& coalescer, const std::vector<Expected>& want) {
  for (const Expected& w : want) {
    ASSERT_FALSE(coalescer.done());
    const LineAccess got = coalescer.next();
    ASSERT_EQ(got.line.value, w.line);
    ASSERT_EQ(got.sectors, w.sectors) << "line " << std::hex << w.line;
    ASSERT_EQ(got.lanes, w.lanes) << "line " << std::hex << w.line;
    ASSERT_EQ(got.word, w.word);
  }
  ASSERT_TRUE(coalescer.done());
}

LaneMask some_lanes(Random& random) {
  const auto mask = random.below(3) == 0 ? ~LaneMask{0} : static_cast<LaneMask>(random.next());
  return mask == 0 ? 1 : mask;
}

TEST(Coalescer, RandomLanesGiveTheLinesAndSectorsOfTheDefinition) {
  for (std::uint64_t seed = 1; seed <= 3000 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    MemoryAccess a;
    const unsigned bytes = 1U << random.below(6);
    const LaneMask lanes = a.active = some_lanes(random);
    const std::uint64_t span = 1 + random.below(200);
    const std::uint64_t base =
        random.below(4) == 0 ? ~std::uint64_t{0} - 65535 : random.next() % (1ULL << 48U);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      a.address[lane] = (base & ~63ULL) + random.below(span) * bytes;
    Coalescer c;
    c.start({a, lanes}, bytes);
    EXPECT_EQ(c.piece(), bytes);
    compare(c, naive(a, lanes, bytes, false, 0));
  }
}

TEST(Coalescer, AStridedAccessIsWhatItsLanesAreOneByOne) {
  for (std::uint64_t seed = 1; seed <= 3000 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    MemoryAccess strided, lanes;
    const unsigned bytes = 1U << random.below(6);
    strided.form = AddressForm::strided;
    strided.active = lanes.active = some_lanes(random);
    strided.base = (1U << 20U) + random.below(100) * bytes;
    strided.stride = random.below(2) == 0 ? static_cast<std::int64_t>(bytes)
                                          : (static_cast<std::int64_t>(random.below(41)) - 20) *
                                                static_cast<std::int64_t>(bytes);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) lanes.address[lane] = strided.address_of(lane);
    Coalescer a, b;
    a.start({strided, strided.active}, bytes);
    b.start({lanes, lanes.active}, bytes);
    compare(a, naive(lanes, lanes.active, bytes, false, 0));
    compare(b, naive(lanes, lanes.active, bytes, false, 0));
  }
}

TEST(Coalescer, LocalMemoryIsInterleavedByLane) {
  for (std::uint64_t seed = 1; seed <= 2000 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    MemoryAccess a;
    const unsigned bytes = 1U << random.below(6);
    a.active = some_lanes(random);
    const bool same = random.below(2) != 0;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      a.address[lane] = (same ? 3 : random.below(16)) * bytes;
    const std::uint64_t base = random.below(64) * 4096;
    Coalescer c;
    c.start_local({a, a.active}, bytes, 0xFF, VirtualAddress{base});
    compare(c, naive(a, a.active, bytes, true, base));
  }
}

TEST(Coalescer, TheSameWordOfAllLanesIsOneLineOfLocalMemory) {
  MemoryAccess a;
  a.active = ~LaneMask{0};
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) a.address[lane] = 8;
  Coalescer c;
  c.start_local({a, a.active}, 8, 0xFF, VirtualAddress{0x1000});
  EXPECT_EQ(c.next().line.value, 0x1000U + 256);
  const LineAccess second = c.next();
  EXPECT_EQ(second.line.value, 0x1000U + 384);
  EXPECT_EQ(second.word, 1U);
  EXPECT_EQ(second.sectors, kAllSectors);
  EXPECT_TRUE(c.done());
}

}  // namespace coalescer_test
}  // namespace warpline
