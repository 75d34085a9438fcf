#include "rtl_models/cache/read_only_cache.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/environment.h"
#include "tests/support/flat_memory.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace read_only_cache_test {

struct Bench {
  Bench(const ReadOnlyCacheParameters& p, const ChannelParameters& channel, const std::vector<Item>& items,
        FlatMemory::Delay delay, Cycle memory_gap = 1, Cycle answer_gap = 1, TickMode mode = TickMode::lazy)
      : engine(mode, 7),
        sm(engine, "sm", ClockDomain{}, items, answer_gap),
        cache(engine, "texture", ClockDomain{}, p, true),
        memory(engine, "l2", std::move(delay), memory_gap) {
    connect(sm.out, cache.from_sm, channel);
    connect(cache.to_sm, sm.in, channel);
    connect(cache.to_crossbar, memory.in, channel);
    connect(memory.out, cache.from_crossbar, channel);
    for (unsigned line = 0; line < 16; ++line)
      for (unsigned b = 0; b < kLineBytes; ++b)
        memory.lines[line * kLineBytes][b] = static_cast<std::uint8_t>(splitmix64(line * kLineBytes + b));
  }
  Engine engine;
  Requester sm;
  ReadOnlyCache cache;
  FlatMemory memory;
};

Item load(Cycle at, unsigned line, SectorMask sectors = 1) {
  Item item = read_item(at, PhysicalAddress{line * kLineBytes}, sectors);
  item.request.virtual_line = VirtualAddress{0x70000 + line * kLineBytes};
  return item;
}

TEST(ReadOnlyCache, RandomReadsUnderBackPressureAreExactInEveryTickMode) {
  for (std::uint64_t seed = 1; seed <= everyday(80) && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 19);
    ReadOnlyCacheParameters p;
    p.geometry = {static_cast<unsigned>(1 + random.below(5)), static_cast<unsigned>(1 + random.below(3))};
    p.miss_registers = static_cast<unsigned>(1 + random.below(6));
    const bool blocks = seed % 3 == 0;
    if (blocks) p.first_level = {256, seed % 2 == 0 ? 64U : 128U, static_cast<unsigned>(random.below(9))};
    const ChannelParameters channel{32, static_cast<unsigned>(1 + random.below(3)),
                                    static_cast<unsigned>(1 + random.below(4)), 1};
    const FlatMemory::Delay delay = FlatMemory::random_delay(seed, 1 + random.below(100));
    const Cycle memory_gap = 1 + random.below(6), answer_gap = 1 + random.below(6);
    std::vector<Item> items;
    Cycle at = 0;
    for (unsigned i = 0; i < 400; ++i) {
      at += random.below(3) == 0 ? random.below(20) : 0;
      items.push_back(
          load(at, static_cast<unsigned>(random.below(16)), static_cast<SectorMask>(1 + random.below(15))));
      items.back().request.l1_priority = static_cast<EvictionPriority>(random.below(6));
      if (random.below(3) == 0) items.back().request.prefetch = static_cast<SectorMask>(random.below(256));
    }
    Bench lazy(p, channel, items, delay, memory_gap, answer_gap);
    ASSERT_EQ(lazy.engine.run_until(10000000), RunOutcome::quiescent);
    std::uint64_t sectors = 0, fetched = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Answer& answer = lazy.sm.answers[i];
      ASSERT_NE(answer.answered, kNever);
      sectors += sector_count(items[i].request.sectors);
      for (unsigned b = 0; b < kLineBytes; ++b) {
        if (((items[i].request.sectors >> (b / kSectorBytes)) & 1U) != 0) {
          ASSERT_EQ(answer.data[b], lazy.memory.lines[items[i].request.line.value][b])
              << "item " << i << " byte " << b;
        }
      }
    }
    for (const FlatMemory::Seen& m : lazy.memory.seen) fetched += sector_count(m.sectors);
    const ReadOnlyCacheCounters& c = lazy.cache.counters();
    EXPECT_EQ(c.sector_accesses, sectors);
    EXPECT_EQ(c.sector_hits + c.sector_misses, c.sector_accesses);
    if (blocks)
      EXPECT_GE(c.fetched_sectors + c.merged_sectors, c.sector_misses);
    else
      EXPECT_EQ(c.fetched_sectors + c.merged_sectors, c.sector_misses);
    EXPECT_EQ(c.fetched_sectors, fetched);
    EXPECT_EQ(lazy.engine.pool().in_use(), 0U);
    for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      Bench other(p, channel, items, delay, memory_gap, answer_gap, mode);
      ASSERT_EQ(other.engine.run_until(10000000), RunOutcome::quiescent);
      ASSERT_EQ(other.memory.seen, lazy.memory.seen);
      for (std::size_t i = 0; i < items.size(); ++i)
        ASSERT_EQ(other.sm.answers[i].answered, lazy.sm.answers[i].answered);
    }
  }
}

TEST(ReadOnlyCache, AMissAsksL2ForTheOtherLineOfItsBlockAndInstallsNothingOfIt) {
  std::vector<Item> items = {load(0, 2), load(1, 8), load(300, 3), load(301, 2)};
  items[0].request.prefetch = 0xFF;
  Bench bench({}, {128, 1, 4, 1}, items, FlatMemory::fixed(100));
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  ASSERT_EQ(bench.memory.seen.size(), 4U);
  EXPECT_EQ(bench.memory.seen[0].prefetch, 0xE);
  EXPECT_EQ(bench.memory.seen[1].line, PhysicalAddress{3 * kLineBytes});
  EXPECT_EQ(bench.memory.seen[1].sectors, 0);
  EXPECT_EQ(bench.memory.seen[1].prefetch, kAllSectors);
  EXPECT_EQ(bench.cache.counters().prefetch_requests, 1U);
  EXPECT_EQ(bench.cache.counters().sector_hits, 1U);
}

TEST(ReadOnlyCache, AMissFetchesTheBlockOfTheFirstLevel) {
  ReadOnlyCacheParameters p;
  p.first_level = {256, 64, 10};
  // The other sector of its block, one that is on its way with it, and one of the other block.
  Bench bench(p, {128, 1, 4, 1},
              {load(0, 0, 2), load(300, 0, 1), load(500, 1, 4), load(501, 1, 8), load(700, 0, 4)},
              FlatMemory::fixed(100));
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  const ReadOnlyCacheCounters& c = bench.cache.counters();
  ASSERT_EQ(bench.memory.seen.size(), 3U);
  EXPECT_EQ(bench.memory.seen[0].sectors, 0x3);
  EXPECT_EQ(bench.memory.seen[1].sectors, 0xC);
  EXPECT_EQ(bench.memory.seen[2].sectors, 0xC);
  EXPECT_EQ(c.first_level_hits, 1U);
  EXPECT_EQ(c.fetched_sectors, 6U);
  EXPECT_EQ(c.merged_sectors, 1U);
  EXPECT_EQ(bench.sm.answers[1].answered - bench.sm.answers[1].sent, 2U);
}

TEST(ReadOnlyCache, HitsWithoutEndDoNotKeepAFillOut) {
  std::vector<Item> items = {load(0, 0), load(300, 1)};
  for (Cycle at = 301; at < 601; ++at) items.push_back(load(at, 0));
  Bench bench({}, {128, 1, 4, 1}, items, FlatMemory::fixed(30), 1, 5);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_GT(bench.sm.answers[40].answered, 330U) << "answers are in the way when the fill comes";
  EXPECT_LT(bench.sm.answers[1].answered, bench.sm.answers[120].answered);
}

TEST(ReadOnlyCache, WithoutAllocationAMissInstallsNothing) {
  for (const bool allocates : {true, false}) {
    std::vector<Item> items = {load(0, 0), load(300, 0)};
    if (!allocates) items[0].request.l1_priority = EvictionPriority::no_allocate;
    Bench bench({}, {128, 1, 4, 1}, items, FlatMemory::fixed(100));
    ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    EXPECT_EQ(bench.cache.counters().sector_hits, allocates ? 1U : 0U);
  }
}

TEST(ReadOnlyCache, LinesStayUntilTheyAreInvalidatedAndFillsUnderWayDie) {
  Bench bench({}, {128, 1, 4, 1}, {load(0, 0), load(300, 0), load(400, 1), load(2000, 0), load(2000, 1)},
              FlatMemory::fixed(100));
  static_cast<void>(bench.engine.run_until(450));  // line 1 is on its way
  bench.memory.lines[0].fill(0x55);
  bench.cache.invalidate();
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_EQ(bench.sm.answers[1].answered - bench.sm.answers[1].sent, 2U);
  EXPECT_EQ(bench.memory.seen.size(), 4U);
  EXPECT_EQ(bench.sm.answers[3].data[0], 0x55);
  EXPECT_EQ(bench.cache.counters().dead_fills, 1U);
}

TEST(ReadOnlyCache, AnInvalidationBetweenAReadAndItsFillInstallsNothing) {
  for (const bool invalidates : {true, false}) {
    std::vector<Item> items = {load(0, 0), load(10, 1), load(200, 0), load(201, 1)};
    if (invalidates) items.insert(items.begin() + 2, maintain_item(20, maintenance::kInvalidate));
    Bench bench({}, {128, 1, 4, 1}, items, FlatMemory::fixed(100));
    ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    const ReadOnlyCacheCounters& c = bench.cache.counters();
    EXPECT_EQ(c.invalidations, invalidates ? 1U : 0U);
    EXPECT_EQ(c.dead_fills, invalidates ? 2U : 0U);
    EXPECT_EQ(c.sector_hits, invalidates ? 0U : 2U);
    EXPECT_EQ(c.sector_accesses, 4U);
    EXPECT_EQ(bench.sm.answers[0].data[31], bench.memory.lines[0][31]) << "it serves who waited";
    if (!invalidates) continue;
    EXPECT_EQ(bench.sm.answers[2].answered - bench.sm.answers[2].sent, 2U) << "it waits for no fill";
    EXPECT_EQ(bench.memory.seen.size(), 4U) << "and nothing of it goes below";
  }
}

TEST(ReadOnlyCache, ReadsAreServedByFetchesOfNoReadBeforeTheLastInvalidation) {
  std::uint64_t hits = 0, dead = 0;
  for (std::uint64_t seed = 1; seed <= 80 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 23);
    ReadOnlyCacheParameters p;
    p.geometry = {static_cast<unsigned>(1 + random.below(5)), static_cast<unsigned>(1 + random.below(3))};
    p.miss_registers = static_cast<unsigned>(1 + random.below(6));
    const ChannelParameters channel{32, static_cast<unsigned>(1 + random.below(3)),
                                    static_cast<unsigned>(1 + random.below(4)), 1};
    std::vector<Item> items;
    std::vector<std::size_t> invalidated_before;  // of each item: how many items go before its last one
    std::size_t last = 0;
    const std::uint64_t rarity = 3 + random.below(40);
    for (unsigned i = 0; i < 400; ++i) {
      const Cycle at = items.empty() ? 0 : items.back().at + (random.below(3) == 0 ? random.below(20) : 0);
      if (random.below(rarity) == 0) {
        items.push_back(maintain_item(at, maintenance::kInvalidate));
        last = i;
      } else {
        items.push_back(
            load(at, static_cast<unsigned>(random.below(8)), static_cast<SectorMask>(1 + random.below(15))));
      }
      invalidated_before.push_back(last);
    }
    // Every fetch of a line reads another value there, by which it is known.
    std::map<std::pair<std::uint64_t, std::uint8_t>, std::uint64_t> reader;
    Bench* built = nullptr;
    const FlatMemory::Delay delays = FlatMemory::random_delay(seed, 1 + random.below(100));
    const auto delay = [&](const Request& r, std::size_t n) {
      FlatMemory::Line& line = built->memory.lines[r.line.value];
      reader[{r.line.value, line[0]}] = r.id;
      line.fill(static_cast<std::uint8_t>(line[0] + 1));
      return delays(r, n);
    };
    for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      Bench bench(p, channel, items, delay, 1 + seed % 5, 1 + seed % 3, mode);
      built = &bench;
      reader.clear();
      for (auto& [at, line] : bench.memory.lines) line.fill(0);
      ASSERT_EQ(bench.engine.run_until(10000000), RunOutcome::quiescent);
      for (std::size_t i = 0; i < items.size(); ++i) {
        ASSERT_NE(bench.sm.answers[i].answered, kNever);
        const Request& r = items[i].request;
        for (unsigned s = 0; s < kSectorsPerLine && r.command == Command::read; ++s) {
          if ((r.sectors >> s & 1U) == 0) continue;
          const std::uint8_t value = bench.sm.answers[i].data[s * std::size_t{kSectorBytes}];
          ASSERT_GE(reader.at({r.line.value, value}), invalidated_before[i]) << "item " << i;
        }
      }
      hits += bench.cache.counters().sector_hits;
      dead += bench.cache.counters().dead_fills;
      EXPECT_EQ(bench.engine.pool().in_use(), 0U);
    }
  }
  EXPECT_GT(hits, 1000U);
  EXPECT_GT(dead, 1000U);
}

}  // namespace read_only_cache_test
}  // namespace warpline::test
