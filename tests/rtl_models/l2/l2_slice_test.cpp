#include <gtest/gtest.h>

#include "tests/rtl_models/l2/slice_bench.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace l2_slice_test {

constexpr unsigned kLines = 5;

std::vector<Item> random_items(Random& random, unsigned slices) {
  std::vector<Item> items;
  Cycle at = 0;
  for (unsigned i = 0; i < 400; ++i) {
    at += random.below(3) == 0 ? random.below(20) : 0;
    const PhysicalAddress line =
        line_at(static_cast<unsigned>(random.below(kLines)), random.below(3) != 0, slices);
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2: {
        items.push_back(read_item(at, line, static_cast<SectorMask>(1 + random.below(15))));
        Request& r = items.back().request;
        if (random.below(3) == 0) r.prefetch = static_cast<SectorMask>(random.below(16));
        if (random.below(3) == 0 && r.prefetch != 0 && aperture_of(line) == Aperture::vidmem) r.sectors = 0;
        r.l2_priority = static_cast<EvictionPriority>(1 + random.below(5));
        break;
      }
      case 3:
      case 4:
      case 5: items.push_back(random_write_item(random, at, line)); break;
      case 6: items.push_back(random_atomic_item(random, at, line)); break;
      default:
        items.push_back(maintain_item(
            at, random.below(2) != 0 ? maintenance::kWriteBackSysmem : maintenance::kDiscardSysmem));
        continue;
    }
    items.back().request.sm = static_cast<std::uint16_t>(random.below(4));
    if (random.below(8) == 0) items.back().request.scope = Scope::sys;
    if (random.below(8) == 0) items.back().request.cache_operator = CacheOperator::wt;
  }
  return items;
}

/// Nothing is dirty any more: what lies in memory is what a flat memory would hold.
void check_memory(const std::map<std::uint64_t, FlatMemory::Line>& memory, const Bench& bench) {
  for (const auto& [at, line] : memory) {
    if (aperture_of(PhysicalAddress{at}) == Aperture::vidmem) {
      ASSERT_EQ(
          std::memcmp(bench.vidmem.at(offset_in_aperture(PhysicalAddress{at})), line.data(), kLineBytes), 0);
    } else {
      // A copy may still be dirty: what was written back last is checked through a last discard.
      const auto found = bench.pcie.lines.find(at);
      ASSERT_TRUE(found != bench.pcie.lines.end() && found->second == line) << "line " << std::hex << at;
    }
  }
}

TEST(L2Slice, RandomRequestsUnderBackPressureAreExactInEveryTickMode) {
  for (std::uint64_t seed = 1; seed <= everyday(120) && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 131);
    Shape s;
    s.parameters.slices = static_cast<unsigned>(1 + random.below(5));
    s.parameters.geometry = {static_cast<unsigned>(1 + random.below(3)),
                             static_cast<unsigned>(1 + random.below(4))};
    s.parameters.miss_registers = static_cast<unsigned>(1 + random.below(6));
    s.dram_ports = static_cast<unsigned>(1 + random.below(3));
    s.channel = {32, static_cast<unsigned>(1 + random.below(3)), static_cast<unsigned>(1 + random.below(4)),
                 1};
    s.delay = FlatMemory::random_delay(seed, 1 + random.below(80));
    s.memory_gap = 1 + random.below(6);
    s.answer_gap = 1 + random.below(6);
    s.by_sm = random.below(4) != 0;
    if (s.parameters.slices > 1 && random.below(3) != 0)
      s.parameters.partitions = {2, static_cast<unsigned>(random.below(70)),
                                 static_cast<unsigned>(16 * random.below(3))};
    if (random.below(2) == 0)
      s.parameters.atomics = {
          static_cast<unsigned>(random.below(30)), static_cast<unsigned>(random.below(99)), 0,
          static_cast<unsigned>(random.below(9)),  static_cast<unsigned>(random.below(20)), 0};
    s.parameters.merge_cycles = static_cast<unsigned>(random.below(4));
    std::vector<Item> items = random_items(random, s.parameters.slices);
    items.push_back(maintain_item(30000, maintenance::kDiscardSysmem));
    Bench lazy(s, items);
    ASSERT_EQ(lazy.engine.run_until(10000000), RunOutcome::quiescent);
    std::map<std::uint64_t, FlatMemory::Line> memory;
    check_answers(items, lazy.crossbar.answers, memory);
    check_memory(memory, lazy);
    EXPECT_EQ(lazy.engine.pool().in_use(), 0U) << "no request is lost";
    const L2Counters& c = lazy.slice.counters();
    EXPECT_EQ(c.sector_hits + c.sector_misses, c.sector_accesses);
    EXPECT_LE(c.near_copy_sectors, c.sector_hits);
    EXPECT_EQ(lazy.slice.core().near() == nullptr ? 0 : lazy.slice.core().near()->transfers().in_use(), 0U);
    std::uint64_t read = 0, written = 0;
    for (const auto& d : lazy.dram)
      for (const FlatMemory::Seen& m : d->seen)
        (m.command == Command::read ? read : written) += sector_count(m.sectors);
    EXPECT_EQ(read, c.fetched_sectors);
    EXPECT_EQ(written, c.writeback_sectors);
    for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled, TickMode::lazy}) {
      Bench other(s, items, mode, mode != TickMode::lazy);  // without data: the same cycles
      ASSERT_EQ(other.engine.run_until(10000000), RunOutcome::quiescent);
      ASSERT_EQ(other.pcie.seen, lazy.pcie.seen);
      for (unsigned d = 0; d < s.dram_ports; ++d) ASSERT_EQ(other.dram[d]->seen, lazy.dram[d]->seen);
      for (std::size_t i = 0; i < items.size(); ++i)
        ASSERT_EQ(other.crossbar.answers[i].answered, lazy.crossbar.answers[i].answered);
    }
  }
}

TEST(L2Slice, AHitPassesAMissAndAMissOfAFetchUnderWayJoinsIt) {
  Shape s;
  s.delay = [](const Request&, std::size_t n) { return n == 0 ? Cycle{10} : Cycle{500}; };
  Bench bench(s, {read_item(0, line_at(0, false), 1), read_item(100, line_at(1, false), 1),
                  read_item(101, line_at(1, false), 1), read_item(102, line_at(0, false), 1)});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_EQ(bench.dram[0]->seen.size(), 2U);
  EXPECT_EQ(bench.crossbar.answers[3].answered - bench.crossbar.answers[3].sent, 2U);
  EXPECT_GT(bench.crossbar.answers[1].answered, 500U);
  EXPECT_EQ(bench.slice.counters().merged_sectors, 1U);
}

TEST(L2Slice, HitsWithoutEndDoNotKeepAFillOut) {
  for (const bool sysmem : {false, true}) {
    Shape s;
    s.answer_gap = 5;
    s.delay = FlatMemory::fixed(100);
    std::vector<Item> items = {read_item(0, line_at(0, false), 1), read_item(300, line_at(1, sysmem), 1)};
    for (Cycle at = 301; at < 601; ++at) items.push_back(read_item(at, line_at(0, false), 1));
    Bench bench(s, items);
    ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    EXPECT_GT(bench.crossbar.answers[60].answered, 400U) << "answers are in the way when the fill comes";
    EXPECT_LT(bench.crossbar.answers[1].answered, bench.crossbar.answers[150].answered);
  }
}

TEST(L2Slice, PartsOfSectorsAreMergedBeforeAnythingElseIsLookedUp) {
  ByteMask words, whole;
  words.set(0, 4);
  words.set(32, 4);
  whole.set(0, 64);
  Shape s;
  s.parameters.merge_cycles = 3;
  const PhysicalAddress line = line_at(0, false), other = line_at(1, false);
  Bench bench(s, {read_item(0, line, 3), read_item(1, other, 1), read_item(400, other, 1),
                  write_item(500, line, words, 1), read_item(501, other, 1), write_item(600, line, whole, 2),
                  read_item(601, other, 1)});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  const std::vector<Answer>& a = bench.crossbar.answers;
  const auto took = [&](std::size_t n) { return a[n].answered - a[n].sent; };
  EXPECT_EQ(took(3), took(2) + 2 * 3) << "two sectors";
  EXPECT_EQ(took(4), took(2) + 2 * 3) << "looked up when they are merged, and answered behind them";
  EXPECT_EQ(took(5), took(2)) << "nothing of these sectors is left to be read";
  EXPECT_EQ(took(6), took(2));
}

TEST(L2Slice, MaintenanceIsAnsweredWhenEarlierDirtyBytesAreOnTheLink) {
  Shape s;
  s.delay = FlatMemory::fixed(400);
  ByteMask some;
  some.set(0, 4);
  Bench bench(s, {write_item(0, line_at(0, true), some, 9), maintain_item(50, maintenance::kWriteBackSysmem),
                  read_item(60, line_at(0, true), 1), maintain_item(2000, maintenance::kWriteBackSysmem)});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  ASSERT_EQ(bench.pcie.seen.size(), 3U)
      << "a write-back, its flush, and the fetch of the sector's other bytes";
  EXPECT_EQ(bench.pcie.seen[0].command, Command::write);
  EXPECT_EQ(bench.pcie.seen[1].command, Command::read);
  EXPECT_EQ(bench.pcie.seen[1].sectors, 0U);
  EXPECT_GT(bench.crossbar.answers[1].answered, bench.pcie.seen[1].answered);
  EXPECT_EQ(bench.crossbar.answers[2].data[0], 9);
  EXPECT_LT(bench.crossbar.answers[3].answered, 2010U) << "nothing is dirty any more";
}

}  // namespace l2_slice_test
}  // namespace warpline::test
