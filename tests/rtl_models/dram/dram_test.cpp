#include <gtest/gtest.h>

#include "rtl_models/base/random.h"
#include "rtl_models/dram/dram_channel.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace dram_test {

struct DramBench {
  DramBench(const DramParameters& parameters, const std::vector<std::vector<Item>>& items,
            ClockDomain domain = {}, TickMode mode = TickMode::lazy,
            ChannelParameters channel = {128, 1, 8, 1}, Cycle gap = 1)
      : engine(mode, 5), dram(engine, "dram", domain, parameters, static_cast<unsigned>(items.size())) {
    for (unsigned i = 0; i < items.size(); ++i) {
      l2.push_back(
          std::make_unique<Requester>(engine, "l2", ClockDomain{}, items[i], gap, std::uint64_t{i} << 32U));
      connect(l2[i]->out, dram.from_l2(i), channel);
      connect(dram.to_l2(i), l2[i]->in, channel);
    }
  }
  Engine engine;
  DramChannel dram;
  std::vector<std::unique_ptr<Requester>> l2;
};

PhysicalAddress line_at(std::uint64_t number) {
  return physical(Aperture::vidmem, number * kLineBytes);
}

DramParameters one_channel() {
  DramParameters p;
  p.channels = 1;
  return p;
}

TEST(Dram, AnIdleReadCostsItsStages) {
  for (unsigned sectors = 1; sectors <= 4; ++sectors) {
    DramBench bench(one_channel(),
                    {{read_item(50, line_at(0), static_cast<SectorMask>((1U << sectors) - 1))}});
    ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
    // One cycle on each channel.
    EXPECT_EQ(bench.l2[0]->answers[0].answered, 50U + 1 + bench.dram.core().idle_read_cycles(sectors) + 1);
  }
}

TEST(Dram, AChaseOfConflictsPaysForEachRow) {
  DramParameters p = one_channel();
  p.banks = 1;
  DramBench bench(
      p, {{read_item(0, line_at(0), 1), read_item(1000, line_at(16), 1), read_item(2000, line_at(17), 1)}});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(bench.l2[0]->answers[1].answered, 1000U + 2 + p.precharge + p.activate + p.column + 1);
  EXPECT_EQ(bench.l2[0]->answers[2].answered, 2000U + 2 + p.column + 1);
}

TEST(Dram, CyclesAreOfItsOwnClock) {
  // A clock of two thirds: edge k falls on cycle ceil(3k / 2).
  const ClockDomain slow(3, 2);
  DramBench bench(one_channel(), {{read_item(50, line_at(0), 0xF)}}, slow);
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const Cycle popped = slow.align(51);
  EXPECT_EQ(bench.l2[0]->answers[0].answered,
            slow.after(slow.after(popped, bench.dram.core().idle_read_cycles(4)), 1));
}

TEST(Dram, AStreamOfOpenRowsFillsTheBus) {
  std::vector<Item> items;
  for (unsigned i = 0; i < 2000; ++i) items.push_back(read_item(0, line_at(i), 0xF));
  DramBench bench(one_channel(), {items});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  const DramCounters& c = bench.dram.counters();
  EXPECT_EQ(c.bytes_read, 2000U * 128);
  EXPECT_EQ(c.busy_cycles, 8000U);
  EXPECT_LE(bench.engine.now(), 8000U + 40);
}

TEST(Dram, PortsTakeTurns) {
  std::vector<Item> items;
  for (unsigned i = 0; i < 30; ++i) items.push_back(read_item(0, line_at(i % 16), 1));
  DramBench bench(one_channel(), {items, items, items});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  for (unsigned i = 0; i < 30; ++i)
    EXPECT_LE(bench.l2[2]->answers[i].answered, bench.l2[0]->answers[i].answered + 2);
}

TEST(Dram, TakesNoMoreThanItsQueueHolds) {
  DramParameters p = one_channel();
  p.queue = 4;
  std::vector<Item> items;
  for (unsigned i = 0; i < 40; ++i) items.push_back(read_item(0, line_at(i), 1));
  // The requester takes an answer every 100 cycles, over a channel that holds two.
  DramBench bench(p, {items}, {}, TickMode::lazy, {128, 1, 2, 1}, 100);
  ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::cycle_limit);
  std::size_t answered = 0;
  for (const Answer& a : bench.l2[0]->answers) answered += a.answered != kNever;
  std::size_t sent = 0;
  for (const Answer& a : bench.l2[0]->answers) sent += a.sent != kNever;
  EXPECT_LE(sent, answered + 2 + 4 + 2);
  EXPECT_TRUE(bench.dram.busy());
  std::vector<Wait> waits;
  bench.dram.explain(waits);
  EXPECT_FALSE(waits.empty());
  EXPECT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
}

TEST(Dram, AllTickModesAgree) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed * 77);
    DramParameters p = one_channel();
    p.banks = static_cast<unsigned>(1 + random.below(8));
    p.queue = static_cast<unsigned>(1 + random.below(40));
    p.age_limit = static_cast<unsigned>(random.below(300));
    std::vector<std::vector<Item>> items(1 + random.below(5));
    for (auto& list : items) {
      Cycle at = 0;
      for (unsigned i = 0; i < 100; ++i) {
        at += random.below(12);
        const auto sectors = static_cast<SectorMask>(1 + random.below(15));
        list.push_back(random.below(3) == 0
                           ? write_item(at, line_at(random.below(200)), ByteMask::of_sectors(sectors))
                           : read_item(at, line_at(random.below(200)), sectors));
      }
    }
    const ClockDomain domain(3 + random.below(4), 3);
    const ChannelParameters channel{32, 1 + static_cast<unsigned>(random.below(5)),
                                    1 + static_cast<unsigned>(random.below(6)), 1};
    const Cycle gap = 1 + random.below(6);
    DramBench lazy(p, items, domain, TickMode::lazy, channel, gap);
    ASSERT_EQ(lazy.engine.run_until(1000000), RunOutcome::quiescent);
    std::uint64_t requests = 0;
    for (const auto& list : items) requests += list.size();
    EXPECT_EQ(lazy.dram.counters().reads + lazy.dram.counters().writes, requests);
    EXPECT_EQ(lazy.engine.pool().in_use(), 0U);
    for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      DramBench other(p, items, domain, mode, channel, gap);
      ASSERT_EQ(other.engine.run_until(1000000), RunOutcome::quiescent);
      for (std::size_t i = 0; i < items.size(); ++i)
        for (std::size_t k = 0; k < items[i].size(); ++k) {
          ASSERT_EQ(lazy.l2[i]->answers[k].sent, other.l2[i]->answers[k].sent) << "seed " << seed;
          ASSERT_EQ(lazy.l2[i]->answers[k].answered, other.l2[i]->answers[k].answered) << "seed " << seed;
        }
      EXPECT_EQ(lazy.dram.counters().turnarounds, other.dram.counters().turnarounds);
      EXPECT_EQ(lazy.dram.counters().row_hits, other.dram.counters().row_hits);
    }
  }
}

}  // namespace dram_test
}  // namespace warpline::test
