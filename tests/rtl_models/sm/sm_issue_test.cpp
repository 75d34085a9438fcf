#include <gtest/gtest.h>

#include <set>

#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_issue_test {

const DataType kU32 = DataType::u32;

TEST(SmIssue, AResultIsBlockedUntilItsLatencyHasPassed) {
  for (const unsigned latency : {1U, 2U, 7U, 63U, 64U, 65U, 130U, 255U}) {
    const Step make = alu(static_cast<std::uint8_t>(latency), {}, {5});
    SmBench bench({{make, alu(1, {5}), make, alu(1, {6}), alu(1, {}, {5})}});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    const std::uint64_t t = bench.log.edge_of(0, 0);
    EXPECT_EQ(bench.log.edge_of(0, 1), t + latency) << "read after write";
    EXPECT_EQ(bench.log.edge_of(0, 3), bench.log.edge_of(0, 2) + 1) << "nothing to wait for";
    EXPECT_EQ(bench.log.edge_of(0, 4), bench.log.edge_of(0, 2) + std::max(latency, 2U))
        << "write after write";
  }
}

TEST(SmIssue, ASleepHoldsTheWarpForItsCycles) {
  for (const std::uint64_t cycles : {0U, 1U, 63U, 64U, 1000U}) {
    Step nap = alu(1);
    nap.instruction.kind = InstructionKind::sleep;
    nap.sleep = cycles;
    SmBench bench({{nap, alu(1)}});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.log.edge_of(0, 1), bench.log.edge_of(0, 0) + std::max<std::uint64_t>(1, cycles));
  }
}

TEST(SmIssue, EachPartitionIssuesOneInstructionPerCycleRoundRobin) {
  for (const unsigned partitions : {1U, 3U, 4U, 16U}) {
    SmParameters p;
    p.partitions = partitions;
    SmBench bench(std::vector<std::vector<Step>>(13, std::vector<Step>(20, alu(1))), SmBench::fixed(1), p);
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    std::set<std::pair<std::uint64_t, unsigned>> used;
    for (const Log::Issued& i : bench.log.issued)
      ASSERT_TRUE(used.insert({i.edge, i.slot % partitions}).second) << "two in one cycle, slot " << i.slot;
    // Warps always ready: every partition with warps left issues in every cycle, in turn.
    const std::uint64_t first = bench.log.issued.front().edge, last = bench.log.issued.back().edge;
    const unsigned most = (13 + partitions - 1) / partitions;
    EXPECT_EQ(last - first + 1, 20U * most);
    const std::uint64_t slack = 1;
    for (unsigned s = 0; s < 13; s += partitions)
      EXPECT_LE(bench.log.edge_of(s, 0), first + s / partitions + slack) << "no warp is passed over";
  }
}

TEST(SmIssue, SeveralLoadsAreInFlightAndTheirDestinationsWait) {
  std::vector<Step> steps;
  for (std::uint16_t k = 0; k < 6; ++k)
    steps.push_back(memory(MemKind::load, Space::global, kU32, strided(0x1000 + 128U * k, 4), {k}));
  steps.push_back(alu(1, {5}));
  steps.push_back(alu(1, {}, {0}));
  SmBench bench({steps}, SmBench::fixed(500));
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.l1.seen.size(), 6U);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_LT(bench.l1.seen[k].at, bench.l1.seen[0].answered);
  // Answer, a cycle on the channel, then the register file.
  EXPECT_EQ(bench.log.edge_of(0, 6), bench.l1.seen[5].answered + 1 + bench.parameters.writeback_latency);
}

TEST(SmIssue, AFullLoadStoreUnitHoldsMemoryInstructionsOnly) {
  SmParameters p;
  p.lsu_entries = p.lsu_queue = 2;
  const std::vector<Step> loads(6, memory(MemKind::load, Space::global, kU32, strided(0x1000, 4)));
  SmBench bench({loads, std::vector<Step>(20, alu(1))}, SmBench::fixed(100), p);
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(bench.log.edge_of(1, 19), bench.log.edge_of(1, 0) + 19);
  EXPECT_GT(bench.log.edge_of(0, 2), bench.l1.seen[0].answered);
  EXPECT_EQ(bench.l1.seen.size(), 6U);
}

TEST(SmIssue, AnInactiveAccessSendsNothingAndOwesNothing) {
  SmBench bench({{memory(MemKind::load, Space::global, kU32, strided(0x1000, 4, 0), {1}), alu(1, {1})}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(bench.log.edge_of(0, 1), bench.log.edge_of(0, 0) + 1);
  EXPECT_TRUE(bench.l1.seen.empty());
}

TEST(WorkDistributor, EveryCtaRunsOnceAndNoMoreThanFit) {
  for (const unsigned resident : {1U, 3U}) {
    SmBench bench({std::vector<Step>(5, alu(9))});
    ASSERT_EQ(bench.run(10, 0, resident), RunOutcome::quiescent);
    EXPECT_EQ(bench.sm.counters().ctas, 10U);
    EXPECT_EQ(bench.distributor.done(), 10U);
    std::set<unsigned> slots;
    for (const Log::Issued& i : bench.log.issued) slots.insert(i.slot);
    EXPECT_EQ(slots.size(), resident);
  }
}

}  // namespace sm_issue_test
}  // namespace warpline::test
