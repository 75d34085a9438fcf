// Prefetches into L1, and what L1 does with prefetches for L2, priorities and discards.
#include "rtl_models/l1_lg/l1_lg.h"
#include "tests/rtl_models/l1_lg/core_bench.h"
#include "tests/support/flat_check.h"

namespace warpline::test {
namespace l1_lg_control_test {

TEST(L1LgControl, APrefetchInstallsItsSectorsAndCountsNoLookUp) {
  for (const bool local : {false, true}) {
    CoreBench bench(one_line());
    bench.prefetch(0, kAllSectors, local);
    bench.perform_below();
    bench.answer_all();
    const L1LgCounters& c = bench.core.counters();
    EXPECT_EQ(c.sector_accesses, 0U);
    EXPECT_EQ(c.prefetched_sectors, 4U);
    bench.load(0, kAllSectors, local);
    EXPECT_EQ(c.load_sector_hits(), 4U);
    EXPECT_EQ(c.fetched_sectors, 4U);
  }
}

TEST(L1LgControl, APrefetchFetchesOnlyWhatIsMissingAndNotOnItsWay) {
  CoreBench bench(one_line());
  bench.load(0, 1, false);
  bench.perform_below();
  bench.answer_all();
  bench.load(0, 2, false);
  bench.prefetch(0, 7, false);
  EXPECT_EQ(bench.core.counters().prefetched_sectors, 1U);
  bench.load(0, 4, false);
  EXPECT_EQ(bench.core.counters().merged_sectors, 1U) << "a load joins the prefetch";
  bench.perform_below();
  bench.answer_all();
  EXPECT_EQ(bench.loads_answered, 3U);
}

/// What an ordering rule kills, it kills in prefetches too (R1).
TEST(L1LgControl, APrefetchUnderWayIsKilledAsAnyFill) {
  const std::vector<void (*)(CoreBench&)> killers = {[](CoreBench& b) { b.store_global(0, 64, 4, 0); },
                                                     [](CoreBench& b) { b.core.invalidate_global(); },
                                                     [](CoreBench& b) { b.discard(0); },
                                                     [](CoreBench& b) {
                                                       Request r;
                                                       r.scope = Scope::gpu;
                                                       EXPECT_FALSE(b.core.serves(r));
                                                     },
                                                     [](CoreBench& b) {
                                                       Request r;
                                                       r.command = Command::atomic;
                                                       b.core.pass_atomic(r);
                                                     }};
  for (std::size_t i = 0; i < killers.size(); ++i) {
    CoreBench bench(one_line());
    bench.prefetch(0, kAllSectors, false);
    killers[i](bench);
    bench.perform_below();
    bench.answer_all();
    EXPECT_EQ(bench.core.counters().dead_fills, 1U) << i;
    EXPECT_EQ(bench.core.misses().in_use(), 0U);
    bench.load(0, 1, false);
    EXPECT_EQ(bench.core.counters().load_sector_hits(), 0U) << i;
  }
}

TEST(L1LgControl, ADiscardDropsTheLineAndOtherControlDoesNot) {
  for (const LineControl control :
       {LineControl::prefetch_l2, LineControl::apply_priority, LineControl::discard}) {
    CoreBench bench(one_line());
    bench.load(0, 1, false);
    bench.perform_below();
    bench.answer_all();
    Request r;
    r.command = Command::control;
    r.control = control;
    bench.core.pass_control(r);
    bench.load(0, 1, false);
    EXPECT_EQ(bench.core.counters().load_sector_hits(), control == LineControl::discard ? 0U : 1U);
  }
}

TEST(L1LgControl, APrefetchWithoutAMissRegisterOrOfAPeerIsDropped) {
  L1LgParameters p = one_line();
  p.miss_registers = 1;
  CoreBench bench(p);
  bench.load(1, 1, false);
  bench.prefetch(0, kAllSectors, false);
  EXPECT_EQ(bench.core.counters().dropped_prefetches, 1U);
  EXPECT_EQ(bench.core.counters().prefetched_sectors, 0U);
  Request r;
  r.command = Command::control;
  r.control = LineControl::prefetch_l1;
  r.sectors = kAllSectors;
  r.line = physical(Aperture::peer, 0);
  EXPECT_EQ(bench.core.prefetch(r).fetch, 0U);
  EXPECT_EQ(bench.core.counters().dropped_prefetches, 2U);
}

/// One SM's requests, an L1, and a memory that answers after 30 cycles.
struct Bench {
  explicit Bench(const std::vector<Item>& items)
      : sm(engine, "sm", ClockDomain{}, items),
        l1(engine, "l1_lg", ClockDomain{}, {}, true),
        memory(engine, "l2", FlatMemory::fixed(30)) {
    connect(sm.out, l1.from_sm, {128, 1, 4, 1});
    connect(l1.to_sm, sm.in, {128, 1, 4, 1});
    connect(l1.to_crossbar, memory.in, {128, 1, 4, 1});
    connect(memory.out, l1.from_crossbar, {128, 1, 4, 1});
  }
  Engine engine;
  Requester sm;
  L1Lg l1;
  FlatMemory memory;
};

TEST(L1LgControl, AllControlIsAnsweredAtOnceAndTravelsAsWhatL2Has) {
  for (const auto control : {LineControl::prefetch_l1, LineControl::prefetch_l2, LineControl::apply_priority,
                             LineControl::discard}) {
    Bench bench({control_item(0, physical(Aperture::vidmem, 0), control)});
    ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
    EXPECT_LT(bench.sm.answers[0].answered, 6U);
    ASSERT_EQ(bench.memory.seen.size(), 1U);
    const FlatMemory::Seen& seen = bench.memory.seen[0];
    EXPECT_EQ(seen.command, control == LineControl::prefetch_l1 ? Command::read : Command::control);
    EXPECT_EQ(seen.sectors, kAllSectors);
    if (seen.command == Command::control) {
      EXPECT_EQ(seen.control, control);
    }
  }
}

TEST(L1LgControl, ADrainWaitsForDiscardsAndForNoHint) {
  for (const auto control : {LineControl::prefetch_l1, LineControl::prefetch_l2, LineControl::apply_priority,
                             LineControl::discard}) {
    Bench bench(
        {control_item(0, physical(Aperture::vidmem, 0), control), maintain_item(0, maintenance::kDrain)});
    ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
    EXPECT_EQ(bench.sm.answers[1].answered > bench.memory.seen[0].answered, control == LineControl::discard);
  }
}

}  // namespace l1_lg_control_test
}  // namespace warpline::test
