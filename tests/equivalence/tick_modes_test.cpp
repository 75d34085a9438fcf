#include <gtest/gtest.h>

#include "tests/equivalence/differences.h"
#include "tests/equivalence/netlist.h"

namespace warpline::test {
namespace tick_modes_test {

class TickModes : public ::testing::TestWithParam<std::uint64_t> {};

void expect_same(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  ASSERT_EQ(differences(a, b), std::vector<std::string>{});
}

TEST_P(TickModes, EveryMessageMovesInTheSameCycle) {
  const Shape shape(GetParam());
  Netlist lazy(shape, TickMode::lazy, 1);
  ASSERT_EQ(lazy.run(), RunOutcome::quiescent) << "seed " << GetParam();
  EXPECT_EQ(lazy.engine.pool().in_use(), 0U);
  const std::vector<std::string> trace = lazy.trace();
  {
    Netlist again(shape, TickMode::lazy, 2);
    ASSERT_EQ(again.run(), RunOutcome::quiescent);
    expect_same(trace, again.trace());
  }
  Netlist in_step(shape, TickMode::lazy, 1, Clusters::one);
  ASSERT_EQ(in_step.run(), RunOutcome::quiescent);
  expect_same(trace, in_step.trace());
  EXPECT_EQ(in_step.engine.now(), lazy.engine.now());
  EXPECT_EQ(in_step.engine.ticks(), lazy.engine.ticks());
  Netlist every(shape, TickMode::every_cycle, 1);
  ASSERT_EQ(every.run(), RunOutcome::quiescent);
  expect_same(trace, every.trace());
  EXPECT_LE(lazy.engine.ticks(), every.engine.ticks());
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    Netlist shuffled(shape, TickMode::spurious_and_shuffled, seed);
    ASSERT_EQ(shuffled.run(), RunOutcome::quiescent);
    expect_same(trace, shuffled.trace());
  }
}

TEST_P(TickModes, CountersReconcileFromBlockToBlock) {
  const Shape shape(GetParam());
  Netlist netlist(shape, TickMode::lazy, 1);
  ASSERT_EQ(netlist.run(), RunOutcome::quiescent);
  std::uint64_t vidmem_reads = 0, vidmem_writes = 0, sysmem = 0, requests = 0, read_bytes = 0,
                written_bytes = 0;
  for (const auto& list : shape.items) {
    for (const Item& item : list) {
      ++requests;
      const Request& r = item.request;
      if (r.command == Command::maintain || r.command == Command::control) continue;
      if (aperture_of(r.line) == Aperture::sysmem) {
        ++sysmem;
      } else if (r.command == Command::read) {
        ++vidmem_reads;
        read_bytes += kSectorBytes * sector_count(r.sectors);
      } else if (r.command == Command::write) {
        ++vidmem_writes;
        written_bytes += kSectorBytes * sector_count(r.sectors);
      }
    }
  }
  DramCounters dram;
  for (const auto& channel : netlist.channels) {
    const DramCounters& c = channel->counters();
    EXPECT_EQ(c.row_hits + c.row_misses + c.row_conflicts, c.reads + c.writes);
    dram.reads += c.reads;
    dram.writes += c.writes;
    dram.bytes_read += c.bytes_read;
    dram.bytes_written += c.bytes_written;
  }
  const Translation* const translation = netlist.crossbar->translation();
  const std::uint64_t walk_reads = translation == nullptr ? 0 : translation->counters().walk_reads;
  read_bytes += kSectorBytes * walk_reads;
  EXPECT_EQ(dram.reads, vidmem_reads + walk_reads);
  EXPECT_EQ(dram.writes, vidmem_writes);
  EXPECT_EQ(dram.bytes_read, read_bytes);
  EXPECT_EQ(dram.bytes_written, written_bytes);
  EXPECT_EQ(netlist.link->counters().requests, sysmem);
  const CrossbarCounters& c = netlist.crossbar->counters();
  EXPECT_EQ(c.request_messages, requests);
  EXPECT_EQ(c.response_messages, requests);
  EXPECT_EQ(c.response_sectors + walk_reads, c.read_sectors_requested);
  EXPECT_EQ(c.maintenance_copies, c.maintenance_requests * shape.slices);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TickModes, ::testing::Range<std::uint64_t>(1, 41));

}  // namespace tick_modes_test
}  // namespace warpline::test
