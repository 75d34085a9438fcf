// Prefetches into L2, priorities and discards of lines.
#include "tests/rtl_models/l2/core_bench.h"

namespace warpline::test {
namespace l2_control_test {

using P = EvictionPriority;

L2Parameters poisoned(unsigned ways = 1) {
  L2Parameters p = one_line();
  p.geometry.ways = ways;
  p.poison_discarded = true;
  return p;
}

TEST(L2Control, APrefetchFetchesWhatIsMissingAndCountsNoLookUp) {
  for (const bool sysmem : {false, true}) {
    CoreBench bench(one_line(), 1);
    bench.issue(bench.read(0, sysmem, 1));
    bench.settle();
    const L2Counters& c = bench.core.counters();
    const std::uint64_t before = c.sector_accesses;
    bench.issue(bench.control(0, sysmem, LineControl::prefetch_l2));
    bench.look();
    // Of system memory it is answered when the line is here.
    EXPECT_EQ(bench.unanswered(), sysmem ? 1U : 0U);
    bench.settle();
    EXPECT_EQ(bench.unanswered(), 0U);
    EXPECT_EQ(c.sector_accesses, before);
    EXPECT_EQ(sysmem ? c.sysmem_fetched_sectors : c.fetched_sectors, 4U);
    EXPECT_EQ(c.prefetched_sectors, sysmem ? 0U : 3U);
    bench.issue(bench.read(0, sysmem, kAllSectors));
    bench.settle();
    EXPECT_EQ(c.sector_hits, 4U);
  }
}

TEST(L2Control, APrefetchWithoutAMissRegisterOrMemoryIsDroppedWithoutAnError) {
  L2Parameters p = one_line();
  p.miss_registers = 1;
  CoreBench bench(p, 1);
  bench.issue(bench.read(0, false, 1));
  bench.issue(bench.control(1, false, LineControl::prefetch_l2));
  bench.issue(bench.control(1, true, LineControl::prefetch_l2));
  for (unsigned i = 0; i < 3; ++i) bench.look();
  EXPECT_EQ(bench.core.counters().dropped_prefetches, 2U);
  bench.settle();
  for (const PhysicalAddress line :
       {physical(Aperture::peer, 0), physical(Aperture::vidmem, CoreBench::kBytes)}) {
    for (const LineControl what :
         {LineControl::prefetch_l2, LineControl::apply_priority, LineControl::discard}) {
      Request r;
      r.command = Command::control;
      r.control = what;
      r.sectors = kAllSectors;
      r.line = line;
      const L2Outcome out = bench.core.control(r);
      EXPECT_EQ(out.kind, L2Outcome::Kind::done);
      EXPECT_EQ(out.fetch, 0U);
      EXPECT_EQ(r.status, Status::ok);
    }
  }
  EXPECT_EQ(bench.core.counters().dropped_prefetches, 4U);
}

/// Whether line 0, controlled by `what` with `priority`, outlives a newer line 1 when line 2 comes.
bool outlives(P first, LineControl what, P priority) {
  L2Parameters p;
  p.geometry = {1, 2, 50};
  CoreBench bench(p, 1);
  const auto read = [&bench](unsigned line, P with) {
    Request& r = bench.read(line, false, 1);
    r.l2_priority = with;
    bench.issue(r);
    bench.settle();
    return bench.core.counters().sector_hits;
  };
  read(0, first);
  read(1, P::none);
  Request& r = bench.control(0, false, what, 1);
  r.l2_priority = priority;
  bench.issue(r);
  bench.settle();
  const std::uint64_t before = read(2, P::none);
  return read(0, P::none) != before;
}

TEST(L2Control, PrioritiesAreOfPrefetchesAndOfThemselves) {
  EXPECT_TRUE(outlives(P::none, LineControl::prefetch_l2, P::none)) << "a prefetch is a use";
  EXPECT_TRUE(outlives(P::none, LineControl::prefetch_l2, P::last));
  EXPECT_TRUE(outlives(P::first, LineControl::prefetch_l2, P::normal));
  EXPECT_FALSE(outlives(P::first, LineControl::prefetch_l2, P::none)) << "it names no class";
  EXPECT_FALSE(outlives(P::none, LineControl::apply_priority, P::normal)) << "a change of class is no use";
  EXPECT_FALSE(outlives(P::last, LineControl::apply_priority, P::normal));
  EXPECT_TRUE(outlives(P::last, LineControl::apply_priority, P::none));
}

TEST(L2Control, APriorityGivenWhileTheLineIsFetchedIsTheLines) {
  L2Parameters p;
  p.geometry = {1, 2, 50};
  for (const bool demoted : {false, true}) {
    CoreBench bench(p, 1);
    Request& r = bench.read(0, false, 1);
    r.l2_priority = P::last;
    bench.issue(r);
    bench.look();
    if (demoted) {
      Request& priority = bench.control(0, false, LineControl::apply_priority);
      priority.l2_priority = P::normal;
      bench.issue(priority);
    }
    bench.settle();
    for (const unsigned line : {1U, 2U}) {
      bench.issue(bench.read(line, false, 1));
      bench.settle();
    }
    const std::uint64_t before = bench.core.counters().sector_hits;
    bench.issue(bench.read(0, false, 1));
    bench.settle();
    EXPECT_EQ(bench.core.counters().sector_hits - before, demoted ? 0U : 1U);
  }
}

TEST(L2Control, ADiscardSavesTheWriteBackAndItsBytesAreThePattern) {
  CoreBench bench(poisoned(), 1);
  bench.issue(bench.write(0, false, 0, kLineBytes, 0x10));
  bench.issue(bench.control(0, false, LineControl::discard));
  bench.issue(bench.read(0, false, kAllSectors));  // the bench expects the pattern
  bench.settle();
  const L2Counters& c = bench.core.counters();
  EXPECT_EQ(c.discarded_lines, 1U);
  EXPECT_EQ(c.sector_hits, 4U) << "the line stays";
  bench.issue(bench.read(1, false, 1));
  bench.settle();
  EXPECT_EQ(c.evictions, 1U);
  EXPECT_EQ(c.writebacks, 0U);
}

TEST(L2Control, AStoreAfterADiscardIsWrittenBackAndReadBesideThePattern) {
  CoreBench bench(poisoned(), 1);
  bench.issue(bench.write(0, false, 0, kLineBytes, 0x10));
  bench.issue(bench.control(0, false, LineControl::discard));
  bench.issue(bench.write(0, false, 8, 4, 0x70));
  bench.issue(bench.read(0, false, kAllSectors));
  bench.issue(bench.read(1, false, 1));
  bench.settle();
  EXPECT_EQ(bench.core.counters().writebacks, 1U);
  EXPECT_EQ(bench.core.counters().writeback_sectors, 1U);
}

TEST(L2Control, ADiscardOfSystemMemoryKeepsToItsTurnAndReachesTheCopyOnly) {
  CoreBench bench(poisoned(), 1);
  bench.issue(bench.write(0, true, 0, kLineBytes, 0x10));
  bench.issue(bench.control(0, true, LineControl::discard));
  bench.issue(bench.read(0, true, kAllSectors));
  bench.settle();
  bench.issue(bench.write(0, true, 4, 4, 0x30));
  bench.issue(bench.read(0, true, kAllSectors));
  bench.settle();
  EXPECT_EQ(bench.core.counters().discarded_lines, 1U);
  EXPECT_EQ(bench.core.counters().sysmem_writebacks, 0U);
  // Behind a fetch of the line: the read before it sees the bytes as they were.
  CoreBench behind(poisoned(), 1);
  behind.issue(behind.write(0, true, 0, 4, 0x10));
  behind.issue(behind.read(0, true, 1));
  behind.issue(behind.control(0, true, LineControl::discard));
  behind.issue(behind.read(0, true, kAllSectors));
  behind.settle();
  EXPECT_EQ(behind.unanswered(), 0U);
  EXPECT_EQ(behind.core.counters().discarded_lines, 1U);
}

TEST(L2Control, WithoutPoisonDiscardedVideoMemoryKeepsItsBytes) {
  MemoryImage vidmem(1U << 12U);
  L2Core core(one_line(), 1, &vidmem);
  *vidmem.at(5) = 0x55;
  Request r;
  r.command = Command::control;
  r.control = LineControl::discard;
  r.line = physical(Aperture::vidmem, 0);
  EXPECT_EQ(core.control(r).kind, L2Outcome::Kind::done);
  EXPECT_EQ(*vidmem.at(5), 0x55);
  EXPECT_EQ(core.counters().discarded_lines, 0U) << "nothing was dirty";
}

}  // namespace l2_control_test
}  // namespace warpline::test
