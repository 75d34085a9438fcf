#include "tests/rtl_models/l2/core_bench.h"

namespace warpline::test {
namespace l2_core_test {

Request& random_request(CoreBench& bench, Random& random) {
  const auto line = static_cast<unsigned>(random.below(CoreBench::kLines));
  const bool sysmem = random.below(2) != 0;
  Request* r = nullptr;
  switch (random.below(6)) {
    case 5: {
      constexpr std::array<LineControl, 3> kHints = {LineControl::prefetch_l1, LineControl::prefetch_l2,
                                                     LineControl::apply_priority};
      r = &bench.control(line, sysmem, kHints[random.below(3)],
                         static_cast<SectorMask>(1 + random.below(15)));
      break;
    }
    case 0:
    case 1:
      r = &bench.read(line, sysmem, static_cast<SectorMask>(1 + random.below(15)));
      r->prefetch =
          random.below(4) == 0 ? static_cast<SectorMask>(random.below(16) & ~r->sectors) : SectorMask{0};
      break;
    case 2:
    case 3: {
      const auto offset = static_cast<unsigned>(random.below(kLineBytes));
      r = &bench.write(line, sysmem, offset, static_cast<unsigned>(1 + random.below(kLineBytes - offset)),
                       static_cast<std::uint8_t>(random.next()));
      break;
    }
    default: r = &bench.atomic(line, sysmem, random_atomic_block(random));
  }
  if (random.below(6) == 0) {
    constexpr std::array<CacheOperator, 2> kDirect = {CacheOperator::cv, CacheOperator::wt};
    if (random.below(2) != 0) {
      r->scope = Scope::sys;
    } else {
      r->cache_operator = kDirect[random.below(2)];
    }
  }
  r->exact = !sysmem && (r->command == Command::read || r->command == Command::write) && random.below(6) == 0;
  r->l2_priority = static_cast<EvictionPriority>(1 + random.below(5));
  return *r;
}

void fuzz(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  L2Parameters parameters;
  parameters.geometry = {static_cast<unsigned>(1 + random.below(3)),
                         static_cast<unsigned>(1 + random.below(4))};
  parameters.miss_registers = static_cast<unsigned>(1 + random.below(5));
  CoreBench bench(parameters, static_cast<unsigned>(1 + random.below(5)));
  for (unsigned step = 0; step < 1500 && !::testing::Test::HasFatalFailure(); ++step) {
    switch (random.below(6)) {
      case 0:
      case 1: bench.issue(random_request(bench, random)); break;
      case 2:
      case 3: bench.look(); break;
      case 4:
        if (random.below(8) == 0) bench.core.maintain_sysmem(random.below(2) != 0, bench);
        bench.memory_step();
        break;
      default:
        if (bench.answers() != 0) bench.answer(random.below(bench.answers()));
    }
  }
  bench.settle(&random);
  EXPECT_EQ(bench.unanswered(), 0U);
  EXPECT_EQ(bench.core.misses().in_use(), 0U);
  // What is dirty goes back: system memory on request, video memory by eviction, once all lines are of one
  // class.
  bench.core.maintain_sysmem(true, bench);
  for (unsigned line = 0; line < CoreBench::kLines + parameters.geometry.sets * parameters.geometry.ways;
       ++line) {
    Request& r = bench.read(line, false, kAllSectors);
    r.l2_priority = EvictionPriority::normal;
    bench.issue(r);
    bench.settle();
  }
  bench.check_memory();
  const L2Counters& c = bench.core.counters();
  EXPECT_EQ(c.sector_hits + c.sector_misses, c.sector_accesses);
  EXPECT_EQ(c.read_sectors + c.write_sectors + c.atomic_sectors, c.sector_accesses);
  EXPECT_EQ(c.fetched_sectors, bench.dram_sectors_read);
  EXPECT_EQ(c.sysmem_fetched_sectors, bench.sysmem_sectors_read);
  EXPECT_EQ(c.writebacks, bench.dram_lines_written);
  EXPECT_EQ(c.writeback_sectors, bench.dram_sectors_written);
}

TEST(L2Core, RandomRequestsAnswerAndLeaveWhatAFlatMemoryDoes) {
  for (std::uint64_t seed = 1; seed <= 200 && !HasFatalFailure(); ++seed) fuzz(seed);
}

TEST(L2Core, AFetchThatAWriteBackPassesDoesNotInstall) {
  CoreBench bench(one_line(), 1);
  bench.issue(bench.write(0, true, 0, 4, 0x10));
  bench.issue(bench.read(0, true, 1));
  bench.look();
  bench.look();
  bench.issue(bench.read(1, false, 1));  // takes the place of line 0 when it comes
  bench.look();
  bench.memory_step();
  bench.memory_step();
  bench.answer(1);
  bench.settle();
  bench.issue(bench.read(0, true, 1));
  bench.settle();
  EXPECT_EQ(bench.unanswered(), 0U);
}

TEST(L2Core, WritingDirtyBytesBackKillsTheFetchOfTheirSector) {
  CoreBench bench(one_line(), 1);
  bench.issue(bench.write(0, true, 0, 4, 0x10));
  bench.issue(bench.read(0, true, 1));
  bench.look();
  bench.look();
  bench.core.maintain_sysmem(false, bench);
  bench.settle();
  bench.issue(bench.read(0, true, 1));
  bench.settle();
  EXPECT_EQ(bench.unanswered(), 0U);
}

TEST(L2Core, AFillInFlightAtADiscardDoesNotInstall) {
  CoreBench bench(one_line(), 1);
  bench.issue(bench.read(0, true, 1));
  bench.look();
  bench.memory_step();  // the old bytes are on their way
  bench.core.maintain_sysmem(true, bench);
  bench.answer(0);
  EXPECT_EQ(bench.core.counters().dead_fills, 1U);
  bench.issue(bench.read(0, true, 1));
  bench.settle();
  EXPECT_EQ(bench.core.counters().sector_hits, 0U);
  EXPECT_EQ(bench.core.counters().sysmem_fetched_sectors, 2U);
}

TEST(L2Core, ACopyIsStaleUntilItIsDiscardedAndCvReadsTheMemory) {
  CoreBench bench(one_line(), 1);
  bench.issue(bench.read(0, true, 1));
  bench.settle();
  bench.host_write(0, 0x77);
  bench.issue(bench.read(0, true, 1));  // the oracle does not know the host: a hit is the old value
  bench.settle();
  EXPECT_EQ(bench.core.counters().sector_hits, 1U);
  Request volatile_read;
  volatile_read.line = bench.address(0, true);
  volatile_read.sectors = 1;
  volatile_read.cache_operator = CacheOperator::cv;
  EXPECT_EQ(bench.core.access(volatile_read, bench).kind, L2Outcome::Kind::pass_on);
  EXPECT_EQ(bench.core.counters().sysmem_discards, 1U);
  volatile_read.cache_operator = CacheOperator::none;
  EXPECT_EQ(bench.core.access(volatile_read, bench).kind, L2Outcome::Kind::wait) << "the copy is gone";
}

TEST(L2Core, AnEvictedCopyIsAnEvictionAndNoDiscard) {
  CoreBench bench(one_line(), 1);
  for (const unsigned line : {0U, 1U, 2U}) {
    bench.issue(bench.read(line, true, 1));
    bench.settle();
  }
  EXPECT_EQ(bench.core.counters().evictions, 2U);
  EXPECT_EQ(bench.core.counters().sysmem_discards, 0U);
  bench.core.maintain_sysmem(true, bench);
  EXPECT_EQ(bench.core.counters().sysmem_discards, 1U);
}

TEST(L2Core, AtomicsOfOneRequestArePerformedInLaneOrder) {
  CoreBench bench(one_line(), 1);
  AtomicBlock b;
  b.operation = AtomicOperation::add;
  b.type = DataType::u64;
  b.count = 3;
  for (unsigned i = 0; i < 3; ++i) {
    b.lanes[i].offset = 120;
    b.lanes[i].operand = i + 1;
  }
  Request& r = bench.start(Command::reduce, 0, false);
  r.sectors = 8;
  r.atomics = &b;
  bench.issue(r);
  bench.look();
  EXPECT_EQ(b.lanes[0].old_value, 0U);
  EXPECT_EQ(b.lanes[1].old_value, 1U);
  EXPECT_EQ(b.lanes[2].old_value, 3U);
  bench.settle();
  EXPECT_EQ(bench.core.counters().atomic_operations, 3U);
}

}  // namespace l2_core_test
}  // namespace warpline::test
