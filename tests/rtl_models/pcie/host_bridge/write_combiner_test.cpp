#include "rtl_models/pcie/host_bridge/write_combiner.h"

#include <gtest/gtest.h>

#include <map>

#include "rtl_models/base/random.h"
#include "tests/support/environment.h"

namespace warpline {
namespace write_combiner_test {

using Writes = std::vector<WriteCombiner::Write>;

HostBridgeParameters small() {
  HostBridgeParameters p;
  p.combining_buffers = 2;
  p.combining_bytes = 32;
  p.combining_cycles = 100;
  return p;
}

void store(WriteCombiner& combiner, std::uint64_t address, unsigned bytes, Cycle now, Writes& out,
           std::uint8_t value = 1) {
  const std::vector<std::uint8_t> data(bytes, value);
  combiner.store(address, data.data(), bytes, now, out);
}

TEST(WriteCombiner, AFullLineLeavesAtOnceAsOneWrite) {
  WriteCombiner combiner(small());
  Writes out;
  for (unsigned i = 0; i < 3; ++i) store(combiner, 0x100 + 8 * i, 8, i, out);
  EXPECT_TRUE(out.empty());
  store(combiner, 0x118, 8, 3, out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].address, 0x100U);
  EXPECT_EQ(out[0].bytes, 32U);
  EXPECT_TRUE(combiner.empty());
}

TEST(WriteCombiner, ALineWithHolesLeavesAsOneWriteForEachRun) {
  WriteCombiner combiner(small());
  Writes out;
  store(combiner, 0x100, 2, 0, out);
  store(combiner, 0x102, 4, 0, out);
  store(combiner, 0x110, 1, 0, out);
  combiner.leave(out);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].bytes, 6U);
  EXPECT_EQ(out[1].address, 0x110U);
  EXPECT_EQ(out[1].bytes, 1U);
}

TEST(WriteCombiner, TheOldestLineMakesRoomForAThird) {
  WriteCombiner combiner(small());
  Writes out;
  store(combiner, 0x100, 4, 0, out);
  store(combiner, 0x200, 4, 1, out);
  store(combiner, 0x104, 4, 2, out);
  EXPECT_TRUE(out.empty());
  store(combiner, 0x300, 4, 3, out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].address, 0x100U);
  EXPECT_EQ(out[0].bytes, 8U);
  EXPECT_EQ(combiner.lines(), 2U);
}

TEST(WriteCombiner, ALineLeavesInExactlyTheCycleInWhichItsTimeIsUp) {
  WriteCombiner combiner(small());
  Writes out;
  store(combiner, 0x100, 4, 50, out);
  store(combiner, 0x200, 4, 60, out);
  store(combiner, 0x104, 4, 140, out);
  EXPECT_EQ(combiner.deadline(), 150U);
  combiner.expire(149, out);
  EXPECT_TRUE(out.empty());
  combiner.expire(150, out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].bytes, 8U);
  EXPECT_EQ(combiner.deadline(), 160U);
}

/// Memory is what the stores make of it one by one, and no byte is written that was not stored to.
TEST(WriteCombiner, RandomStoresArriveWithTheirBytesAndNoOthers) {
  for (std::uint64_t seed = 1; seed <= everyday(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    HostBridgeParameters p;
    p.combining_buffers = 1 + static_cast<unsigned>(random.below(6));
    p.combining_bytes = 16U << random.below(4);
    p.combining_cycles = 1 + static_cast<unsigned>(random.below(200));
    WriteCombiner combiner(p);
    std::map<std::uint64_t, std::uint8_t> stored, written;
    Writes out;
    Cycle now = 0;
    for (unsigned i = 0; i < 400; ++i, now += random.below(20)) {
      const unsigned bytes = 1 + static_cast<unsigned>(random.below(random.below(8) == 0 ? 300 : 16));
      const std::uint64_t address = random.below(600);
      std::vector<std::uint8_t> data;
      for (unsigned b = 0; b < bytes; ++b) {
        data.push_back(static_cast<std::uint8_t>(random.next()));
        stored[address + b] = data.back();
      }
      combiner.expire(now, out);
      combiner.store(address, data.data(), bytes, now, out);
      if (random.below(20) == 0) combiner.leave(out);
      ASSERT_LE(combiner.lines(), p.combining_buffers);
      ASSERT_TRUE(combiner.empty() || combiner.deadline() <= now + p.combining_cycles);
      for (const WriteCombiner::Write& w : out) {
        ASSERT_EQ(w.address / p.combining_bytes, (w.address + w.bytes - 1) / p.combining_bytes);
        for (unsigned b = 0; b < w.bytes; ++b) {
          ASSERT_EQ(stored.count(w.address + b), 1U) << "a byte of no store";
          written[w.address + b] = w.data[b];
        }
      }
      out.clear();
      if (combiner.empty()) {
        ASSERT_EQ(written, stored);
      }
    }
  }
}

}  // namespace write_combiner_test
}  // namespace warpline
