// What eviction priorities and last use do in L1.
#include "tests/rtl_models/l1_lg/core_bench.h"

namespace warpline::test {
namespace l1_lg_hints_test {

/// Loads a line and lets its fill come.
void load_whole(CoreBench& bench, unsigned line, bool local = false) {
  bench.load(line, 1, local);
  bench.perform_below();
  bench.answer_all();
}

TEST(L1LgHints, WithoutAllocationAHitIsServedAndAMissInstallsNothing) {
  CoreBench bench(one_line());
  load_whole(bench, 0);
  bench.priority = EvictionPriority::no_allocate;
  load_whole(bench, 0);
  EXPECT_EQ(bench.core.counters().load_sector_hits(), 1U);
  load_whole(bench, 1);
  EXPECT_EQ(bench.core.counters().evictions, 0U);
  EXPECT_EQ(bench.loads_answered, 3U);
  bench.priority = EvictionPriority::none;
  load_whole(bench, 0);
  EXPECT_EQ(bench.core.counters().load_sector_hits(), 2U) << "line 0 has stayed";
}

TEST(L1LgHints, AFillThatSomebodyWantsKeptIsKept) {
  for (const bool kept_first : {false, true}) {
    CoreBench bench(one_line());
    bench.priority = kept_first ? EvictionPriority::none : EvictionPriority::no_allocate;
    bench.load(0, 1, false);
    bench.priority = kept_first ? EvictionPriority::no_allocate : EvictionPriority::none;
    bench.load(0, 1, false);
    bench.perform_below();
    bench.answer_all();
    bench.load(0, 1, false);
    EXPECT_EQ(bench.core.counters().merged_sectors, 1U);
    EXPECT_EQ(bench.core.counters().load_sector_hits(), 1U);
  }
}

TEST(L1LgHints, ALoadThatJoinsAFetchGivesTheLineTheClassThatItNames) {
  using P = EvictionPriority;
  for (const P joining : {P::none, P::unchanged, P::last}) {
    L1LgParameters p = one_line();
    p.geometry = {1, 2, 50};
    CoreBench bench(p);
    bench.load(0, 1, false);
    bench.priority = joining;
    bench.load(0, 1, false);
    bench.perform_below();
    bench.answer_all();
    bench.priority = P::none;
    for (const unsigned line : {1U, 2U, 0U}) load_whole(bench, line);
    EXPECT_EQ(bench.core.counters().load_sector_hits(), joining == P::last ? 1U : 0U);
  }
}

TEST(L1LgHints, TheVictimIsOfTheLowestPriority) {
  using P = EvictionPriority;
  struct Row {
    P load, hit;
    bool store;  ///< the hit is a store
    bool stays;  ///< line 0 outlives line 1, which is younger until the hit
  };
  for (const Row& row : {Row{P::none, P::none, false, true}, Row{P::none, P::unchanged, false, false},
                         Row{P::none, P::first, false, false}, Row{P::last, P::unchanged, false, true},
                         Row{P::first, P::none, false, false}, Row{P::first, P::normal, false, true},
                         Row{P::none, P::none, true, false}, Row{P::none, P::last, true, true},
                         Row{P::last, P::first, true, false}}) {
    L1LgParameters p = one_line();
    p.geometry = {1, 2, 50};
    CoreBench bench(p);
    bench.priority = row.load;
    load_whole(bench, 0);
    bench.priority = P::none;
    load_whole(bench, 1);
    bench.priority = row.hit;
    if (row.store) {
      bench.store_global(0, 0, 4, 0);
    } else {
      load_whole(bench, 0);
    }
    bench.priority = P::none;
    load_whole(bench, 2);
    const std::uint64_t before = bench.core.counters().load_sector_hits();
    load_whole(bench, 0);
    EXPECT_EQ(bench.core.counters().load_sector_hits() - before, row.stays ? 1U : 0U)
        << static_cast<int>(row.load) << " then " << static_cast<int>(row.hit) << (row.store ? " store" : "");
  }
}

TEST(L1LgHints, ALocalLineIsNotWrittenBackAfterItsLastUseAndItsBytesAreNotLost) {
  for (const bool last_use : {false, true}) {
    CoreBench bench(one_line());
    bench.store_local(0, 0, kLineBytes, 0x11);
    bench.last_use = last_use;
    bench.load(0, 1, true);
    bench.last_use = false;
    load_whole(bench, 1, true);
    const L1LgCounters& c = bench.core.counters();
    EXPECT_EQ(c.evictions, 1U);
    EXPECT_EQ(c.writebacks, last_use ? 0U : 1U);
    EXPECT_EQ(c.saved_writebacks, last_use ? 1U : 0U);
    for (unsigned round = 0; round < 2; ++round) {  // once fetched, and once more after a clean eviction
      bench.load(0, kAllSectors, true);
      bench.perform_below();
      bench.answer_all();
      load_whole(bench, 1, true);
    }
    bench.check_local();
  }
}

TEST(L1LgHints, AStoreAfterTheLastUseIsWrittenBack) {
  CoreBench bench(one_line());
  bench.store_local(0, 0, kLineBytes, 0x11);
  bench.last_use = true;
  bench.load(0, 1, true);
  bench.last_use = false;
  bench.store_local(0, 64, 4, 0x77);
  load_whole(bench, 1, true);
  EXPECT_EQ(bench.core.counters().writeback_sectors, 4U);
  EXPECT_EQ(bench.core.counters().saved_writebacks, 0U);
  load_whole(bench, 0, true);
  bench.check_local();
}

TEST(L1LgHints, PoisonedBytesReadAsAPatternUntilTheyAreWrittenAgain) {
  L1LgParameters p = one_line();
  p.poison_last_use = true;
  L1LgCore core(p, true);
  Request store;
  store.command = Command::write;
  store.local = true;
  store.sectors = 1;
  store.bytes.set(0, 8);
  store.data.fill(0x11);
  static_cast<void>(core.store_local(store));
  Request load;
  load.local = true;
  load.sectors = 1;
  load.last_use = true;
  load.bytes.set(0, 8);
  static_cast<void>(core.read(load));  // waits for the other bytes of the sector
  Request other = store;
  other.virtual_line = VirtualAddress{kLineBytes};
  const Evicted evicted = core.store_local(other);
  EXPECT_TRUE(evicted.happened);
  EXPECT_FALSE(evicted.dirty.any());
  store.bytes = {};
  store.bytes.set(0, 4);
  static_cast<void>(core.store_local(store));
  Request again;
  again.local = true;
  again.sectors = 1;
  const ReadOutcome out = core.read(again);
  ASSERT_EQ(out.kind, ReadOutcome::Kind::wait);
  Request fetched = again;
  fetched.token = out.entry;
  fetched.sectors = out.fetch;
  fetched.data.fill(0);
  RequestList served;
  static_cast<void>(core.fill(fetched, served));
  EXPECT_EQ(again.data[3], 0x11);
  EXPECT_EQ(again.data[4], GivenUpBytes::kPoison);
  EXPECT_EQ(again.data[8], 0);
}

}  // namespace l1_lg_hints_test
}  // namespace warpline::test
