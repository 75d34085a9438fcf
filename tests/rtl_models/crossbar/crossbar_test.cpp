#include <gtest/gtest.h>

#include <map>

#include "tests/rtl_models/crossbar/bench_of_crossbar.h"

namespace warpline::test {
namespace crossbar_test {

unsigned client_of(std::uint64_t id) {
  return static_cast<unsigned>(id >> 32U);
}

TEST(Crossbar, AddsNothingToItsChannelsWhenIdle) {
  CrossbarBench bench({{}, {{read_item(10, line_at(0), 0xF)}}, 1, {32, 3, 8, 1}});
  ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
  const Answer& a = bench.clients[0]->answers[0];
  EXPECT_EQ(a.sent, 10U);
  // One request beat and 3 cycles, twice.
  ASSERT_EQ(bench.slices[0]->seen.size(), 1U);
  EXPECT_EQ(bench.slices[0]->seen[0].at, 10U + 3 + 3);
  // The slice answers in the next cycle; four response beats and 3 cycles, twice.
  EXPECT_EQ(a.answered, 10U + 6 + 1 + 2 * (4 - 1 + 3));
}

TEST(Crossbar, AHeadTravelsNoEarlierThanItArrives) {
  CrossbarBench bench({{}, {{write_item(10, line_at(0), ByteMask::of_sectors(0xF))}}, 1, {32, 3, 8, 1}});
  ASSERT_EQ(bench.engine.run_until(10 + 5), RunOutcome::cycle_limit);
  EXPECT_EQ(bench.crossbar.counters().request_messages, 0U);
  ASSERT_EQ(bench.engine.run_until(10 + 6), RunOutcome::cycle_limit);
  EXPECT_EQ(bench.crossbar.counters().request_messages, 1U);
}

TEST(Crossbar, OneOutputTakesItsClientsInTurn) {
  std::vector<std::vector<Item>> items(3);
  for (auto& list : items)
    for (unsigned i = 0; i < 10; ++i) list.push_back(read_item(0, line_at(i), 1));
  CrossbarBench bench({{}, items, 1});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const auto& seen = bench.slices[0]->seen;
  ASSERT_EQ(seen.size(), 30U);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(client_of(seen[i].id), i % 3) << i;
  for (std::size_t i = 1; i < seen.size(); ++i)
    EXPECT_EQ(seen[i].at, seen[i - 1].at + 1) << "an output uses every cycle";
  // At each grant both others wait, but for the last two.
  EXPECT_EQ(bench.crossbar.counters().conflicts, 28U * 2 + 1);
}

TEST(Crossbar, TheTurnPassesOnGrantsOnly) {
  // Client 0 alone first; long after, 0 and 1 together: 1 is next in turn.
  CrossbarBench bench(
      {{},
       {{read_item(0, line_at(0), 1), read_item(100, line_at(1), 1)}, {read_item(100, line_at(2), 1)}},
       1});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const auto& seen = bench.slices[0]->seen;
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(client_of(seen[1].id), 1U);
  EXPECT_EQ(client_of(seen[2].id), 0U);
}

TEST(Crossbar, OutputsWorkAtOnce) {
  std::vector<std::vector<Item>> items(4);
  for (unsigned c = 0; c < 4; ++c)
    for (unsigned i = 0; i < 8; ++i) items[c].push_back(read_item(0, line_at(c), 1));
  CrossbarBench bench({{}, items, 4});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(bench.crossbar.counters().conflicts, 0U);
  for (unsigned s = 0; s < 4; ++s) {
    ASSERT_EQ(bench.slices[s]->seen.size(), 8U);
    EXPECT_EQ(bench.slices[s]->seen.back().at, bench.slices[0]->seen.back().at);
  }
}

TEST(Crossbar, ABlockedHeadHoldsUpItsQueueAndNobodyElse) {
  // Slices take a request every 50 cycles. Client 0 fills slice 0, then wants slice 1; client 1
  // wants slice 1 meanwhile.
  std::vector<Item> blocked;
  for (unsigned i = 0; i < 8; ++i) blocked.push_back(read_item(0, line_at(0), 1));
  blocked.push_back(read_item(0, line_at(1), 1));
  CrossbarBench bench({{}, {blocked, {read_item(20, line_at(1), 1)}}, 2, {32, 1, 4, 1}, 1, 50});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const auto& seen = bench.slices[1]->seen;
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(client_of(seen[0].id), 1U);
  EXPECT_EQ(seen[0].at, 22U);
  // Slice 0 holds 4 requests in its channel, so the eighth leaves after it took the fourth, and a
  // credit later: its own takes are 50 cycles apart from cycle 2 on.
  EXPECT_EQ(seen[1].at, 2U + 3 * 50 + 1 + 1 + 1);
}

TEST(Crossbar, MaintenanceReachesEverySliceInOrderAndIsAnsweredAfterTheLast) {
  std::vector<Item> items;
  for (unsigned i = 0; i < 3; ++i) items.push_back(write_item(0, line_at(i), ByteMask::of_sectors(1)));
  items.push_back(maintain_item(0, maintenance::kDrain));
  for (unsigned i = 0; i < 3; ++i) items.push_back(read_item(0, line_at(i), 1));
  for (Cycle delay : {1, 40}) {
    CrossbarBench bench({{}, {items, items}, 3, {32, 2, 8, 1}, delay});
    ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
    Cycle last_copy[2] = {0, 0};
    for (const auto& slice : bench.slices) {
      for (unsigned client = 0; client < 2; ++client) {
        std::vector<Command> commands;
        for (const Target::Seen& s : slice->seen) {
          if (client_of(s.id) != client) continue;
          commands.push_back(s.command);
          if (s.command == Command::maintain) last_copy[client] = std::max(last_copy[client], s.at);
        }
        EXPECT_EQ(commands, (std::vector<Command>{Command::write, Command::maintain, Command::read}));
      }
    }
    for (unsigned client = 0; client < 2; ++client)
      EXPECT_GE(bench.clients[client]->answers[3].answered, last_copy[client] + delay + 2 * 2);
    const CrossbarCounters& c = bench.crossbar.counters();
    EXPECT_EQ(c.maintenance_requests, 2U);
    EXPECT_EQ(c.maintenance_copies, 6U);
    EXPECT_EQ(c.request_messages, 14U);
    EXPECT_EQ(c.response_messages, 14U);
    EXPECT_EQ(bench.engine.pool().in_use(), 0U);
  }
}

TEST(Crossbar, DrawnResidenceLetsRequestsToDifferentSlicesPassEachOther) {
  // Of one client: a write to each slice, and maintenance behind them, which passes nobody.
  unsigned passed = 0;
  for (std::uint64_t turns = 1; turns <= 50; ++turns) {
    CrossbarBench::Shape shape;
    shape.items = {{write_item(0, line_at(0), ByteMask::of_sectors(1)),
                    write_item(1, line_at(1), ByteMask::of_sectors(1)),
                    maintain_item(2, maintenance::kDrain)}};
    shape.slices = 2;
    shape.turns = turns;
    CrossbarBench bench(shape);
    ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
    const auto &first = bench.slices[0]->seen, &second = bench.slices[1]->seen;
    ASSERT_EQ(first.size(), 2U);
    ASSERT_EQ(second.size(), 2U);
    passed += second[0].at < first[0].at;
    const Cycle written = std::max(first[0].at, second[0].at);
    EXPECT_TRUE(first[1].command == Command::maintain && first[1].at > written) << "turns " << turns;
    EXPECT_TRUE(second[1].command == Command::maintain && second[1].at > written) << "turns " << turns;
  }
  EXPECT_GT(passed, 10U);
  EXPECT_LT(passed, 40U);
}

/// Requests of one proxy to one sector arrive in their order (R5); those of two proxies in any.
TEST(Crossbar, DrawnResidenceLetsTheTwoProxiesPassEachOther) {
  unsigned passed = 0;
  for (std::uint64_t turns = 1; turns <= 50; ++turns) {
    CrossbarBench::Shape shape;
    for (Cycle at = 0; at < 4; ++at) {
      Item item = write_item(at, line_at(0), ByteMask::of_sectors(1));
      item.request.surface = at % 2 != 0;
      shape.items.resize(1);
      shape.items[0].push_back(item);
    }
    shape.slices = 1;
    shape.turns = turns;
    CrossbarBench bench(shape);
    ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    std::map<std::uint64_t, std::size_t> place;
    for (const auto& seen : bench.slices[0]->seen) place.emplace(seen.id, place.size());
    ASSERT_EQ(place.size(), 4U);
    std::vector<std::size_t> order;
    for (const auto& [id, n] : place) order.push_back(n);
    EXPECT_LT(order[0], order[2]) << "turns " << turns;
    EXPECT_LT(order[1], order[3]) << "turns " << turns;
    passed += order[1] < order[0];
  }
  EXPECT_GT(passed, 10U);
  EXPECT_LT(passed, 40U);
}

TEST(Crossbar, MaintenanceOfOneSliceTakesAsLongAsARead) {
  CrossbarBench bench({{}, {{maintain_item(10, maintenance::kDrain)}, {}}, 1, {32, 3, 8, 1}});
  CrossbarBench read({{}, {{read_item(10, line_at(0), 1)}, {}}, 1, {32, 3, 8, 1}});
  ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
  ASSERT_EQ(read.engine.run_until(1000), RunOutcome::quiescent);
  EXPECT_EQ(bench.clients[0]->answers[0].answered, read.clients[0]->answers[0].answered);
}

TEST(Crossbar, CountsBeatsAndSectors) {
  CrossbarBench bench(
      {{},
       {{read_item(0, line_at(0), 0x7), write_item(0, line_at(1), ByteMask::of_sectors(0x3))}},
       2,
       {32, 1, 4, 1}});
  ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
  const CrossbarCounters& c = bench.crossbar.counters();
  EXPECT_EQ(c.beats, 1U + 3 + 2 + 1);
  EXPECT_EQ(c.request_sectors, 2U);
  EXPECT_EQ(c.response_sectors, 3U);
  EXPECT_EQ(c.read_sectors_requested, 3U);
}

TEST(Crossbar, UnderWayIsBusyAndExplained) {
  CrossbarBench bench({{}, {{maintain_item(0, maintenance::kDrain)}}, 2, {32, 1, 4, 1}, 500});
  ASSERT_EQ(bench.engine.run_until(100), RunOutcome::cycle_limit);
  EXPECT_TRUE(bench.crossbar.busy());
  std::vector<Wait> waits;
  bench.crossbar.explain(waits);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].who, "crossbar");
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_FALSE(bench.crossbar.busy());
}

}  // namespace crossbar_test
}  // namespace warpline::test
