#include <gtest/gtest.h>

#include <map>

#include "rtl_models/base/random.h"
#include "tests/rtl_models/crossbar/bench_of_crossbar.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace crossbar_traffic_test {

CrossbarBench::Shape random_shape(std::uint64_t seed) {
  Random random(seed * 1000);
  CrossbarBench::Shape shape;
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random.below(high - low + 1));
  };
  shape.slices = pick(1, 9);
  for (unsigned i = 0; i < pick(0, 4); ++i) shape.parameters.hash_masks.push_back(random.next());
  shape.items.resize(pick(1, 70));
  const unsigned spread = pick(0, 100);
  for (auto& list : shape.items) {
    Cycle at = 0;
    for (unsigned n = pick(0, 60); n != 0; --n) {
      at += pick(0, spread);
      const PhysicalAddress line = line_at(random.below(64));
      switch (pick(0, 9)) {
        case 0: list.push_back(maintain_item(at, maintenance::kDrain)); break;
        case 1:
        case 2:
        case 3:
          list.push_back(write_item(at, line, ByteMask::of_sectors(static_cast<SectorMask>(pick(1, 15)))));
          break;
        default: list.push_back(read_item(at, line, static_cast<SectorMask>(pick(1, 15))));
      }
    }
  }
  shape.channel = {1U << pick(3, 7), pick(1, 90), pick(1, 12), pick(1, 4)};
  shape.delay = pick(1, 30);
  shape.slice_gap = pick(1, 4);
  shape.client_gap = pick(1, 4);
  shape.turns = pick(0, 1) * seed;
  if (pick(0, 1) == 0) return shape;
  // With a network, some of whose clients are outside.
  NetworkParameters& n = shape.parameters.network;
  for (unsigned* level :
       {&n.tpc_request, &n.tpc_reply, &n.gpc_request, &n.gpc_reply, &n.slice_reply, &n.group_reply})
    *level = pick(0, 1) * pick(1, 200);
  n.queue = pick(1, 9);
  n.share_window = pick(0, 1) * pick(1, 90);
  n.groups = pick(1, shape.slices);
  n.slice_distance = {pick(0, 40), pick(0, 2000)};
  const unsigned gpcs = pick(1, 3);
  for (unsigned i = 0; i < shape.items.size(); ++i)
    shape.places.push_back(pick(0, 9) == 0 ? NetworkPlace{} : NetworkPlace{i / 2, i / 4, i / 4 % gpcs});
  if (pick(0, 1) == 0) return shape;
  // And TLBs.
  TranslationParameters& t = shape.parameters.translation;
  t = {4096,       pick(1, 3), pick(0, 1) * pick(1, 30), pick(0, 6), pick(0, 1) * pick(1, 300),
       pick(0, 3), pick(1, 3)};
  for (auto& list : shape.items)
    for (Item& item : list) item.request.virtual_line = VirtualAddress{t.page_bytes * pick(0, 9)};
  return shape;
}

/// Whether a line is one of page tables, behind all lines that are asked for.
bool is_table(PhysicalAddress line) {
  return offset_in_aperture(line) >= 1U << 19U;
}

class CrossbarTraffic : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CrossbarTraffic, EveryRequestReachesItsSliceInOrderAndIsAnsweredOnce) {
  const CrossbarBench::Shape shape = random_shape(GetParam());
  CrossbarBench bench(shape);
  ASSERT_EQ(bench.engine.run_until(10000000), RunOutcome::quiescent) << "seed " << GetParam();
  std::map<std::uint64_t, unsigned> arrivals;
  std::vector<std::map<std::uint64_t, std::uint64_t>> last(bench.slices.size());
  std::uint64_t table_reads = 0;
  for (unsigned s = 0; s < bench.slices.size(); ++s) {
    for (const Target::Seen& seen : bench.slices[s]->seen) {
      if (is_table(seen.line)) {
        EXPECT_EQ(bench.crossbar.core().slice_of(seen.line), s);
        ++table_reads;
        continue;
      }
      ++arrivals[seen.id];
      if (seen.command != Command::maintain) {
        EXPECT_EQ(bench.crossbar.core().slice_of(seen.line), s);
      }
      // First in, first out per client and slice: ids of a client grow.
      auto [it, first] = last[s].try_emplace(seen.id >> 32U, seen.id);
      if (!first) {
        EXPECT_LT(it->second, seen.id) << "seed " << GetParam();
      }
      it->second = seen.id;
    }
  }
  std::uint64_t requests = 0, copies = 0, maintains = 0;
  for (std::size_t c = 0; c < shape.items.size(); ++c) {
    for (std::size_t i = 0; i < shape.items[c].size(); ++i) {
      const bool maintain = shape.items[c][i].request.command == Command::maintain;
      EXPECT_EQ(arrivals[(std::uint64_t{c} << 32U) + i], maintain ? shape.slices : 1U);
      EXPECT_NE(bench.clients[c]->answers[i].answered, kNever);
      maintains += maintain;
      copies += maintain ? shape.slices : 0;
      ++requests;
    }
  }
  const CrossbarCounters& counters = bench.crossbar.counters();
  EXPECT_EQ(counters.request_messages, requests);
  EXPECT_EQ(counters.response_messages, requests);
  EXPECT_EQ(counters.maintenance_requests, maintains);
  EXPECT_EQ(counters.maintenance_copies, copies);
  EXPECT_EQ(counters.response_sectors + table_reads, counters.read_sectors_requested);
  EXPECT_EQ(counters.network_replies, counters.network_requests);
  EXPECT_EQ(bench.engine.pool().in_use(), 0U);
  const Translation* const translation = bench.crossbar.translation();
  if (translation == nullptr) return;
  const TranslationCounters& t = translation->counters();
  EXPECT_EQ(t.walk_reads, table_reads);
  const TranslationParameters& p = shape.parameters.translation;
  EXPECT_EQ(table_reads, p.second_pages == 0 ? 0 : t.walks * p.walk_reads);
  EXPECT_EQ(t.first_hits + t.second_hits + t.walks + t.merges, counters.network_requests);
}

TEST_P(CrossbarTraffic, AllTickModesAgree) {
  CrossbarBench::Shape shape = random_shape(GetParam());
  CrossbarBench lazy(shape);
  ASSERT_EQ(lazy.engine.run_until(10000000), RunOutcome::quiescent);
  for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    shape.mode = mode;
    shape.seed = GetParam();
    CrossbarBench other(shape);
    ASSERT_EQ(other.engine.run_until(10000000), RunOutcome::quiescent);
    for (std::size_t s = 0; s < lazy.slices.size(); ++s)
      ASSERT_EQ(lazy.slices[s]->seen, other.slices[s]->seen) << "seed " << GetParam();
    for (std::size_t c = 0; c < lazy.clients.size(); ++c) {
      ASSERT_EQ(lazy.clients[c]->order, other.clients[c]->order);
      for (std::size_t i = 0; i < lazy.clients[c]->answers.size(); ++i) {
        ASSERT_EQ(lazy.clients[c]->answers[i].sent, other.clients[c]->answers[i].sent);
        ASSERT_EQ(lazy.clients[c]->answers[i].answered, other.clients[c]->answers[i].answered);
      }
    }
    EXPECT_EQ(lazy.crossbar.counters().conflicts, other.crossbar.counters().conflicts);
    EXPECT_EQ(lazy.crossbar.counters().network_waits, other.crossbar.counters().network_waits);
    EXPECT_EQ(lazy.crossbar.counters().beats, other.crossbar.counters().beats);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CrossbarTraffic, ::testing::Range<std::uint64_t>(1, 1 + everyday(48)));

TEST(CrossbarFairness, AWaitingHeadIsPassedOnceByEachOther) {
  // 70 clients want one slice all the time: between two grants of one lie one grant of each other.
  std::vector<std::vector<Item>> items(70);
  for (auto& list : items)
    for (unsigned i = 0; i < 20; ++i) list.push_back(read_item(0, line_at(i), 1));
  CrossbarBench bench({{}, items, 1, {32, 1, 4, 1}});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  const auto& seen = bench.slices[0]->seen;
  std::map<std::uint64_t, std::size_t> last;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::uint64_t client = seen[i].id >> 32U;
    if (auto it = last.find(client); it != last.end()) {
      EXPECT_LE(i - it->second, 70U);
    }
    last[client] = i;
  }
}

}  // namespace crossbar_traffic_test
}  // namespace warpline::test
