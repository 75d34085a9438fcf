// Walks through page tables in a whole GPU: what they cost L2, and how long loads of many pages take.
#include <gtest/gtest.h>

#include "tests/platform/machine/harness.h"

namespace warpline::test {
namespace page_walks_test {

constexpr std::uint64_t kPage = 4096;

/// Pages of 4 KiB, of which a TPC's TLB has 4 and the second 8.
GpuConfig with_walks(unsigned reads) {
  GpuConfig config = preset("mini");
  config.crossbar.translation = {kPage, 4, 10, 8, 30, reads, 4};
  EXPECT_TRUE(config.problems().empty());
  return config;
}

struct Chase {
  double cycles = 0;       ///< of a load, once the caches are warm
  double walks = 0;        ///< for a load
  double l2_reads = 0;     ///< sectors that L2 is asked for, for a load
  double l2_fetches = 0;   ///< of these, from DRAM
  double table_reads = 0;  ///< of these, by walks
};

/// A load after the other, each `stride` bytes from all others, so far apart that L1 has none.
Chase chase(const GpuConfig& config, std::uint64_t nodes, std::uint64_t stride, bool loose = false) {
  RunOptions options;
  options.tags_only = true;
  options.max_cycles = 400'000'000;
  options.loose = loose;
  GpuPlatform platform(config, options);
  platform.map_everything();
  GeneratorParameters p;
  p.kind = "chase";
  p.base = 0x7F0000000000ULL;
  p.footprint = nodes * stride;
  p.stride = stride;
  p.accesses = nodes;
  p.block = {32, 1, 1};
  const std::unique_ptr<Kernel> once = make_generator(p);
  platform.launch(*once, true);
  const AllCounters before(platform);
  const Cycle cycles = platform.launch(*once, true).cycles;
  const AllCounters after(platform);
  EXPECT_EQ(platform.unreconciled(), std::vector<std::string>{});
  const auto more = [&](const char* counter) {
    return static_cast<double>(after.total(counter) - before.total(counter)) / static_cast<double>(nodes);
  };
  return {static_cast<double>(cycles) / static_cast<double>(nodes), more("crossbar.translation.walks"),
          more("l2.read_sectors"), more("l2.fetched_sectors"), more("crossbar.translation.walk_reads")};
}

TEST(PageWalks, ReadTheirTablesFromL2) {
  const Chase without = chase(with_walks(0), 64, kPage);
  EXPECT_NEAR(without.walks, 1, 0.1) << "each load is on a page that neither TLB has";
  EXPECT_EQ(without.table_reads, 0);
  double before = without.cycles;
  for (unsigned reads = 1; reads <= 3; ++reads) {
    const Chase with = chase(with_walks(reads), 64, kPage);
    EXPECT_EQ(with.walks, without.walks);
    EXPECT_EQ(with.table_reads, with.walks * reads);
    EXPECT_EQ(with.l2_reads, without.l2_reads + with.table_reads);
    EXPECT_EQ(with.l2_fetches, without.l2_fetches) << "L2 has the tables";
    EXPECT_NEAR(with.cycles, before + 4, 0.1) << "the way to the slice and back";
    before = with.cycles;
  }
}

// An entry in each line of the last level's tables: these and what is loaded are more than L2 holds.
TEST(PageWalks, TakeLongerWhereL2HasNotTheTables) {
  const auto cost = [](std::uint64_t nodes, std::uint64_t stride) {
    const Chase without = chase(with_walks(0), nodes, stride), with = chase(with_walks(1), nodes, stride);
    return std::pair(with.cycles - without.cycles, with.l2_fetches - without.l2_fetches);
  };
  const auto [found, no_fetches] = cost(64, kPage);
  const auto [missed, fetches] = cost(8192, 16 * kPage);
  EXPECT_EQ(no_fetches, 0);
  EXPECT_GT(fetches, 0.95);
  EXPECT_GT(missed, found + 20) << "DRAM's time";
}

TEST(PageWalks, AreWalkedLooselyTimedToo) {
  const Chase timed = chase(with_walks(2), 64, kPage), loose = chase(with_walks(2), 64, kPage, true);
  EXPECT_EQ(loose.walks, timed.walks);
  EXPECT_EQ(loose.table_reads, timed.table_reads);
  EXPECT_EQ(loose.l2_reads, timed.l2_reads);
  EXPECT_EQ(loose.l2_fetches, timed.l2_fetches);
  EXPECT_NEAR(loose.cycles, timed.cycles, 0.05 * timed.cycles);
  EXPECT_GT(loose.cycles, chase(with_walks(0), 64, kPage, true).cycles + 7);
}

}  // namespace page_walks_test
}  // namespace warpline::test
