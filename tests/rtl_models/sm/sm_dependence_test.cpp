// Scoreboards that a program names itself, and its schedule.
#include <gtest/gtest.h>

#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_dependence_test {

constexpr std::uint64_t kBuffer = 0x10000000;

Step load(std::uint8_t counter, std::uint64_t at = kBuffer) {
  Step s = memory(MemKind::load, Space::global, DataType::b32, strided(at, 4));
  s.instruction.write_counter = counter;
  return s;
}
Step store(std::uint8_t counter) {
  Step s = memory(MemKind::store, Space::global, DataType::b32, strided(kBuffer, 4));
  s.instruction.read_counter = counter;
  return s;
}
Step needs(unsigned mask) {
  Step s = alu(4);
  s.instruction.required = static_cast<std::uint8_t>(mask);
  return s;
}
Step waits(unsigned cycles) {
  Step s = alu(4);
  s.instruction.wait = static_cast<std::uint8_t>(cycles);
  return s;
}

TEST(DependenceCounters, AreFreeWhenTheLastHolderHasReleasedThem) {
  DependenceCounters c;
  EXPECT_EQ(c.free(0x3F), 0U);
  c.hold(2);
  c.hold(2);
  c.release(2, 70);
  EXPECT_EQ(c.free(4), kNever);
  EXPECT_EQ(c.free(0x3B), 0U);
  c.release(2, 50);
  EXPECT_EQ(c.free(4), 70U);
  c.hold_until(0, 90);
  EXPECT_EQ(c.free(5), 90U);
  c.clear();
  EXPECT_EQ(c.free(0x3F), 0U);
}

TEST(SmDependence, ARequirementWaitsForTheDataAndForNothingElse) {
  // A load whose data takes 100 cycles; what needs its counter waits, what needs another does not.
  for (const unsigned mask : {1U, 2U, 3U}) {
    SmBench b({{load(0), needs(mask), alu(4)}}, SmBench::fixed(100));
    ASSERT_EQ(b.run(), RunOutcome::quiescent);
    const std::uint64_t gap = b.log.edge_of(0, 1) - b.log.edge_of(0, 0);
    if (mask == 2) {
      EXPECT_EQ(gap, 1U);
    } else {
      EXPECT_GT(gap, 100U);
      EXPECT_LT(gap, 130U);
    }
    EXPECT_EQ(b.log.edge_of(0, 2) - b.log.edge_of(0, 1), 1U);
  }
}

TEST(SmDependence, ItIssuesInTheVeryCycleInWhichARegisterWouldBeThere) {
  SmBench counted({{load(3), needs(8)}}, SmBench::fixed(40));
  SmBench tracked(
      {{memory(MemKind::load, Space::global, DataType::b32, strided(kBuffer, 4), {5}), alu(4, {5}, {6})}},
      SmBench::fixed(40));
  ASSERT_EQ(counted.run(), RunOutcome::quiescent);
  ASSERT_EQ(tracked.run(), RunOutcome::quiescent);
  EXPECT_EQ(counted.log.edge_of(0, 1), tracked.log.edge_of(0, 1));
}

TEST(SmDependence, SeveralLoadsHoldOneCounter) {
  // The first comes back after 10 cycles, the second after 200.
  const SmBench::Delay delay = [](const Request& r, std::size_t) {
    return r.virtual_line.value == kBuffer ? Cycle{10} : Cycle{200};
  };
  SmBench b({{load(1), load(1, kBuffer + 4096), needs(2)}}, delay);
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  EXPECT_EQ(b.log.edge_of(0, 1) - b.log.edge_of(0, 0), 1U) << "the second does not wait for the first";
  EXPECT_GT(b.log.edge_of(0, 2) - b.log.edge_of(0, 1), 200U);
}

TEST(SmDependence, OperandsAreReadWhenTheLoadStoreUnitHasTheInstruction) {
  SmParameters p;
  p.issue_latency = 7;
  SmBench b({{store(4), needs(0x10), needs(0x20)}}, SmBench::fixed(500), p);
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  EXPECT_EQ(b.log.edge_of(0, 1) - b.log.edge_of(0, 0), 7U);
  EXPECT_EQ(b.log.edge_of(0, 2) - b.log.edge_of(0, 1), 1U);
}

TEST(SmDependence, AScheduleMovesTheNextIssueByExactlySoManyCycles) {
  for (unsigned cycles = 1; cycles <= 15; ++cycles) {
    Step memory_step = load(0);
    memory_step.instruction.wait = static_cast<std::uint8_t>(cycles);
    SmBench b({{waits(cycles), alu(4), memory_step, alu(4)}});
    ASSERT_EQ(b.run(), RunOutcome::quiescent);
    EXPECT_EQ(b.log.edge_of(0, 1) - b.log.edge_of(0, 0), cycles);
    EXPECT_EQ(b.log.edge_of(0, 2) - b.log.edge_of(0, 1), 1U);
    EXPECT_EQ(b.log.edge_of(0, 3) - b.log.edge_of(0, 2), cycles);
  }
}

TEST(SmDependence, OtherWarpsIssueMeanwhile) {
  SmParameters p;
  p.partitions = 1;
  SmBench b({{waits(15), alu(4)}, {alu(4), alu(4), alu(4)}}, SmBench::fixed(20), p);
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  EXPECT_EQ(b.log.edge_of(0, 1) - b.log.edge_of(0, 0), 15U);
  EXPECT_LT(b.log.edge_of(1, 2) - b.log.edge_of(1, 0), 5U);
}

}  // namespace sm_dependence_test
}  // namespace warpline::test
