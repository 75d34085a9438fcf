// What prefetch sizes, eviction priorities and last use do in L2.
#include "tests/rtl_models/l2/core_bench.h"

namespace warpline::test {
namespace l2_hints_test {

TEST(L2Hints, APrefetchSizeFetchesMissingSectorsOnceAndHoldsNobodyUp) {
  CoreBench bench(one_line(), 1);
  Request& r = bench.read(0, false, 1);
  r.prefetch = 0xE;
  bench.issue(r);
  bench.settle();
  const L2Counters& c = bench.core.counters();
  EXPECT_EQ(c.fetched_sectors, 4U);
  EXPECT_EQ(c.prefetched_sectors, 3U);
  Request& hit = bench.read(0, false, kAllSectors);
  hit.prefetch = kAllSectors;
  bench.issue(hit);
  bench.settle();
  EXPECT_EQ(c.sector_hits, 4U);
  EXPECT_EQ(c.fetched_sectors, 4U);
}

TEST(L2Hints, AReadOfNoSectorFetchesWhatItPrefetchesAndIsAnsweredAtOnce) {
  CoreBench bench(one_line(), 1);
  Request& r = bench.read(0, false, 0);
  r.prefetch = kAllSectors;
  bench.issue(r);
  bench.look();
  EXPECT_EQ(bench.unanswered(), 0U);
  bench.settle();
  const L2Counters& c = bench.core.counters();
  EXPECT_EQ(c.prefetched_sectors, 4U);
  EXPECT_EQ(c.sector_accesses, 0U);
  bench.issue(bench.read(0, false, kAllSectors));
  bench.settle();
  EXPECT_EQ(c.sector_hits, 4U);
  EXPECT_EQ(c.fetched_sectors, 4U);
}

TEST(L2Hints, APrefetchOfAPresentLineIsNoUseOfIt) {
  L2Parameters p;
  p.geometry = {1, 2};
  CoreBench bench(p, 1);
  for (const unsigned line : {0U, 1U}) bench.issue(bench.read(line, false, kAllSectors));
  bench.settle();
  Request& prefetch = bench.read(0, false, 0);
  prefetch.prefetch = kAllSectors;
  bench.issue(prefetch);
  bench.issue(bench.read(2, false, 1));
  bench.settle();
  bench.issue(bench.read(1, false, 1));
  bench.settle();
  EXPECT_EQ(bench.core.counters().sector_hits, 1U) << "line 0 was still the oldest";
}

TEST(L2Hints, TheVictimIsOfTheLowestPriority) {
  struct Row {
    EvictionPriority priority;  ///< of line 0, which is older than line 1
    EvictionPriority hit;       ///< of a later read of line 0
    bool stays;
  };
  using P = EvictionPriority;
  for (const Row& row :
       {Row{P::none, P::none, true}, Row{P::none, P::unchanged, false}, Row{P::last, P::unchanged, true},
        Row{P::none, P::first, false}, Row{P::last, P::normal, true}}) {
    L2Parameters p;
    p.geometry = {1, 2, 50};
    CoreBench bench(p, 1);
    const auto read = [&bench](unsigned line, P priority) {
      Request& r = bench.read(line, false, 1);
      r.l2_priority = priority;
      bench.issue(r);
      bench.settle();
      return bench.core.counters().sector_hits;
    };
    read(0, row.priority);
    read(1, P::none);
    read(0, row.hit);
    const std::uint64_t before = read(2, P::none);
    EXPECT_EQ(read(0, P::none) - before, row.stays ? 1U : 0U)
        << static_cast<int>(row.priority) << " then " << static_cast<int>(row.hit);
  }
}

TEST(L2Hints, ALineOfLocalMemoryIsNotWrittenBackAfterItsLastUse) {
  for (const bool last_use : {false, true}) {
    CoreBench bench(one_line(), 1);
    bench.issue(bench.write(0, false, 0, kLineBytes, 0x40));
    Request& r = bench.read(0, false, 1);
    r.local = true;
    r.last_use = last_use;
    bench.issue(r);
    bench.issue(bench.read(1, false, 1));
    bench.settle();
    EXPECT_EQ(bench.core.counters().evictions, 1U);
    EXPECT_EQ(bench.core.counters().writebacks, last_use ? 0U : 1U);
    EXPECT_EQ(bench.core.counters().saved_writebacks, last_use ? 1U : 0U);
    bench.issue(bench.read(0, false, kAllSectors));  // the bench checks that the bytes are there
    bench.settle();
    EXPECT_EQ(bench.unanswered(), 0U);
  }
}

}  // namespace l2_hints_test
}  // namespace warpline::test
