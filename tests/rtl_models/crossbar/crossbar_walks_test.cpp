// Walks through page tables in a crossbar: the network against a naive twin, and the rules one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>

#include "rtl_models/base/random.h"
#include "rtl_models/sim/gauge_visitor.h"
#include "tests/rtl_models/crossbar/bench_of_crossbar.h"

namespace warpline::test {
namespace crossbar_walks_test {

constexpr std::uint64_t kPage = 4096;

/// TLBs of 1 and 2 pages of 4 KiB; a walk of 20 cycles and `reads` reads.
TranslationParameters pages(unsigned reads, unsigned walkers = 16) {
  TranslationParameters p;
  p.page_bytes = kPage;
  p.first_pages = 1;
  p.first_miss = 5;
  p.second_pages = 2;
  p.walk = 20;
  p.walk_reads = reads;
  p.walkers = walkers;
  return p;
}

Item of_page(Item item, std::uint64_t page) {
  item.request.virtual_line = VirtualAddress{page * kPage};
  return item;
}

/// Whether the line is one of page tables, which tests put their own lines below.
bool is_table(PhysicalAddress line) {
  return offset_in_aperture(line) >= 1U << 19U;
}

// --- The network alone.

/// A fully associative level, the page used last in front.
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}
  bool use(std::uint64_t page) {
    const auto found = std::find(pages_.begin(), pages_.end(), page);
    const bool hit = found != pages_.end();
    if (hit) pages_.erase(found);
    pages_.push_front(page);
    if (pages_.size() > most_) pages_.pop_back();
    return hit;
  }

 private:
  std::size_t most_;
  std::list<std::uint64_t> pages_;
};

/// What the headers say, edge by edge.
class NaiveWalks {
 public:
  NaiveWalks(const TranslationParameters& p, unsigned tpcs)
      : p_(p), first_(tpcs, Recent(p.first_pages)), second_(p.second_pages) {}
  struct Entered {
    std::uint64_t earliest = 0;  ///< in its queue, would it wait for nothing
    std::uint64_t distance = 0;
    unsigned walk = 0;  ///< that it waits for; 0: none
    std::uint64_t due = kNever;
  };
  /// A request that has passed the levels at `passed`. Pairs are numbered. What is returned stays.
  const Entered* enter(std::uint64_t passed, unsigned tpc, std::uint64_t page, unsigned pair,
                       std::uint64_t distance) {
    const bool near = first_[tpc].use(page), found = near || second_.use(page);
    const std::uint64_t cycles = near ? 0 : p_.first_miss;
    const auto under_way =
        std::find_if(walks_.begin(), walks_.end(), [&](const auto& w) { return w.second.page == page; });
    unsigned walk = 0;
    if (under_way != walks_.end()) {
      walk = under_way->first;
      ++merges;
    } else if (!found) {
      walk = ++begun;
      walks_[walk] = {page, passed + cycles, p_.walk_reads, false, kNever};
    }
    return &pairs_[pair].emplace_back(Entered{passed + distance + cycles, distance, walk, kNever});
  }
  /// The entry that the walk for `page` read is there.
  void answer(std::uint64_t edge, std::uint64_t page) {
    for (auto w = walks_.begin(); w != walks_.end(); ++w) {
      if (w->second.page != page) continue;
      if (w->second.left == 0) {
        walks_.erase(w);
      } else {
        w->second.next_read = edge;
      }
      return;
    }
  }
  /// Once in each edge, when what enters and is answered then has: calls read(page, level) for what is read.
  template <class F>
  void step(std::uint64_t edge, F&& read) {
    for (auto& [pair, list] : pairs_) {
      std::uint64_t last = 0;  // of the pair
      for (Entered& e : list) {
        if (e.due == kNever && walks_.count(e.walk) != 0) break;
        if (e.due == kNever) e.due = std::max({e.earliest, edge + e.distance, last});
        last = e.due;
      }
    }
    for (;;) {
      Walk* first = nullptr;
      unsigned walking = 0;
      for (auto& [number, w] : walks_) {
        walking += w.walking;
        if (!w.walking && w.ready <= edge && (first == nullptr || w.ready < first->ready)) first = &w;
      }
      if (first == nullptr || walking == p_.walkers) break;
      first->walking = true;
      first->next_read = edge + p_.walk;
    }
    for (auto& [number, w] : walks_) {
      if (w.next_read > edge) continue;
      w.next_read = kNever;
      read(w.page, --w.left);
    }
  }
  unsigned merges = 0, begun = 0;

 private:
  struct Walk {
    std::uint64_t page = 0, ready = 0;
    unsigned left = 0;  ///< reads
    bool walking = false;
    std::uint64_t next_read = kNever;
  };
  TranslationParameters p_;
  std::vector<Recent> first_;
  Recent second_;
  std::map<unsigned, Walk> walks_;  ///< in the order in which they were made
  std::map<unsigned, std::list<Entered>> pairs_;
};

class WalksTwin : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(WalksTwin, EveryRequestIsDueWhenTheNaiveOneIs) {
  Random random(GetParam());
  const auto pick = [&](unsigned low, unsigned high) {
    return static_cast<unsigned>(low + random.below(high - low + 1));
  };
  const unsigned sms = pick(1, 6), slices = pick(1, 4);
  TranslationParameters p = pages(pick(1, 3), pick(1, 3));
  p.first_pages = pick(1, 2);
  p.second_pages = pick(1, 5);
  p.first_miss = pick(0, 1) * pick(1, 30);
  p.walk = pick(0, 1) * pick(1, 60);
  NetworkParameters n;
  n.header = n.tpc_request = 8;  // an edge for each message of a TPC
  n.slice_distance = {pick(0, 9), pick(0, 1500)};
  std::vector<NetworkPlace> places;
  for (unsigned sm = 0; sm < sms; ++sm) places.push_back({sm, sm / 2, 0});
  CrossbarNetwork network(n, p, places, slices, slices);
  NaiveWalks naive(p, (sms + 1) / 2);
  std::vector<std::uint64_t> free(sms, 0);  // of TPCs
  std::vector<Request> requests(300);
  std::map<const Request*, const NaiveWalks::Entered*> expected;
  struct Answer {
    std::uint64_t at = 0, page = 0;
    unsigned walker = 0;
  };
  std::list<Answer> answers;
  std::size_t entered = 0, taken = 0;
  for (std::uint64_t edge = 1; taken < requests.size(); ++edge) {
    ASSERT_LT(edge, 1000000U);
    network.advance(edge);
    for (unsigned more = pick(0, 8) == 0 ? pick(1, 4) : 0; more != 0 && entered < requests.size(); --more) {
      Request& r = requests[entered++];
      const unsigned client = pick(0, sms - 1), slice = pick(0, slices - 1);
      const std::uint64_t page = random.below(9);
      r.virtual_line = VirtualAddress{page * kPage + random.below(32) * 128};
      const std::uint64_t passed = std::max(free[client / 2], edge);
      free[client / 2] = passed + 1;
      network.enter_request(edge, &r, client, slice);
      expected[&r] =
          naive.enter(passed, client / 2, page, client * slices + slice, network.distance(client, slice));
    }
    for (auto a = answers.begin(); a != answers.end();) {
      if (a->at != edge) {
        ++a;
        continue;
      }
      network.answer_walk(edge, a->walker);
      naive.answer(edge, a->page);
      a = answers.erase(a);
    }
    std::multimap<std::uint64_t, unsigned> read, wanted;
    network.walks()->advance(edge, [&](const PageWalks::Read& of) {
      read.emplace(of.page, of.level);
      answers.push_back({edge + pick(1, 90), of.page, of.walker});
    });
    naive.step(edge, [&](std::uint64_t page, unsigned level) { wanted.emplace(page, level); });
    ASSERT_EQ(read, wanted) << "edge " << edge;
    network.for_each_output([&](unsigned output) {
      while (network.waiting_at_output(output) != 0) {
        const CrossbarNetwork::Entry e = network.take_request(output);
        ASSERT_EQ(expected.at(e.request)->due, edge);
        ++taken;
      }
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(network.held(), 0U);
  EXPECT_EQ(network.untranslated(), 0U);
  const TranslationCounters& c = network.translation()->counters();
  EXPECT_EQ(c.walks, naive.begun);
  EXPECT_EQ(c.merges, naive.merges);
  EXPECT_EQ(c.first_hits + c.second_hits + c.walks + c.merges, requests.size());
}
INSTANTIATE_TEST_SUITE_P(Seeds, WalksTwin, ::testing::Range<std::uint64_t>(1, 81));

// --- In a crossbar.

/// Clients in TPCs of their own, a read each of line `n` of slice 0 on page `n` for each of `wanted`.
CrossbarBench::Shape shape_of(const TranslationParameters& p,
                              const std::vector<std::vector<std::uint64_t>>& wanted) {
  CrossbarBench::Shape shape;
  shape.parameters.translation = p;
  shape.delay = 10;
  for (unsigned c = 0; c < wanted.size(); ++c) {
    shape.places.push_back({c, c, 0});
    std::vector<Item> items;
    for (const std::uint64_t page : wanted[c]) items.push_back(of_page(read_item(0, line_at(page), 1), page));
    shape.items.push_back(items);
  }
  return shape;
}

Cycle took(const CrossbarBench& bench, unsigned client, unsigned item) {
  const Answer& a = bench.clients[client]->answers[item];
  return a.answered - a.sent;
}

std::vector<Target::Seen> table_reads(const CrossbarBench& bench) {
  std::vector<Target::Seen> reads;
  for (const auto& slice : bench.slices)
    for (const Target::Seen& s : slice->seen)
      if (is_table(s.line)) reads.push_back(s);
  return reads;
}

TEST(CrossbarWalks, ReadAnEntryAfterTheOtherAndThenTheRequestGoesOn) {
  std::vector<Cycle> times;
  for (unsigned reads = 0; reads < 4; ++reads) {
    CrossbarBench bench(shape_of(pages(reads), {{3}}));
    ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    times.push_back(took(bench, 0, 0));
    const std::vector<Target::Seen> seen = table_reads(bench);
    ASSERT_EQ(seen.size(), reads);
    for (unsigned n = 0; n < reads; ++n) {
      EXPECT_EQ(seen[n].line, line_of(PageTables(1U << 20U, kPage).entry(3, reads - 1 - n)));
      EXPECT_EQ(seen[n].command, Command::read);
      // There in 1 cycle, answered in 10, back in 1.
      if (n != 0) {
        EXPECT_EQ(seen[n].at, seen[n - 1].at + 12);
      }
    }
    EXPECT_EQ(bench.slices[0]->seen.back().at,
              seen.empty() ? bench.slices[0]->seen.back().at : seen.back().at + 12);
    const CrossbarCounters& c = bench.crossbar.counters();
    EXPECT_EQ(bench.crossbar.translation()->counters().walk_reads, reads);
    EXPECT_EQ(c.read_sectors_requested, 1U + reads);
    EXPECT_EQ(c.response_sectors, 1U);
    EXPECT_EQ(c.request_messages, 1U);
    EXPECT_EQ(c.response_messages, 1U);
    EXPECT_EQ(c.beats, 2U + reads);
    EXPECT_EQ(bench.engine.pool().in_use(), 0U);
  }
  for (unsigned reads = 1; reads < 4; ++reads) EXPECT_EQ(times[reads], times[0] + reads * 12);
}

TEST(CrossbarWalks, OneWalkServesAllWhoWantThePage) {
  CrossbarBench bench(shape_of(pages(2), {{3, 3}, {3}, {3}}));
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  const TranslationCounters& c = bench.crossbar.translation()->counters();
  EXPECT_EQ(c.walks, 1U);
  EXPECT_EQ(c.merges, 3U);
  EXPECT_EQ(c.walk_reads, 2U);
  const Cycle end = table_reads(bench).back().at + 12;
  for (const Target::Seen& s : bench.slices[0]->seen) EXPECT_TRUE(is_table(s.line) || s.at >= end);
  EXPECT_LE(took(bench, 2, 0), took(bench, 0, 0) + 3);
}

TEST(CrossbarWalks, NoneOfAClientOvertakesOneToTheSameSlice) {
  // Page 1 is known; then page 9 is walked for, behind which is one of page 1 to the same slice, and one to
  // another.
  CrossbarBench::Shape shape = shape_of(pages(2), {{}});
  shape.parameters.translation.first_pages = 2;
  shape.slices = 2;
  shape.items[0] = {of_page(read_item(0, line_at(2), 1), 1), of_page(read_item(500, line_at(4), 1), 9),
                    of_page(read_item(500, line_at(6), 1), 1), of_page(read_item(500, line_at(5), 1), 1)};
  CrossbarBench bench(shape);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  std::vector<std::uint64_t> order;
  for (const Target::Seen& s : bench.slices[0]->seen)
    if (!is_table(s.line)) order.push_back(s.id);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_GT(took(bench, 0, 2), 40U);
  EXPECT_LT(took(bench, 0, 3), 20U) << "to another slice, it does not wait";
}

TEST(CrossbarWalks, AreNoMoreThanWalkersAtOnce) {
  std::vector<std::vector<std::uint64_t>> wanted;
  for (std::uint64_t c = 0; c < 8; ++c) wanted.push_back({10 * c});
  const auto time_with = [&](unsigned walkers) {
    CrossbarBench bench(shape_of(pages(2, walkers), wanted));
    EXPECT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    EXPECT_EQ(bench.crossbar.translation()->counters().walks, 8U);
    Cycle last = 0;
    for (unsigned c = 0; c < 8; ++c) last = std::max(last, bench.clients[c]->answers[0].answered);
    return last;
  };
  constexpr Cycle kOne = 20 + 2 * 12;
  const Cycle all = time_with(8);
  EXPECT_LT(all, 2 * kOne);
  EXPECT_NEAR(static_cast<double>(time_with(4)), static_cast<double>(all + kOne), 12);
  EXPECT_NEAR(static_cast<double>(time_with(1)), static_cast<double>(all + 7 * kOne), 12);
}

TEST(CrossbarWalks, MaintenanceWaitsForThoseBeforeItThatAreWalkedFor) {
  CrossbarBench::Shape shape = shape_of(pages(2), {{3}});
  shape.items[0].push_back(maintain_item(0, maintenance::kDrain));
  CrossbarBench bench(shape);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_EQ(bench.slices[0]->seen.back().command, Command::maintain);
  EXPECT_EQ(bench.slices[0]->seen.size(), 4U);
}

class Gauges final : public GaugeVisitor {
 public:
  void gauge(std::string_view name, std::uint64_t value, std::uint64_t /*most*/,
             std::string_view /*description*/) override {
    values[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> values;
};

TEST(CrossbarWalks, UnderWayAreBusyExplainedAndCounted) {
  CrossbarBench::Shape shape = shape_of(pages(2, 1), {{3, 3}, {30}});
  shape.delay = 1000;
  CrossbarBench bench(shape);
  ASSERT_EQ(bench.engine.run_until(300), RunOutcome::cycle_limit);
  EXPECT_TRUE(bench.crossbar.busy());
  EXPECT_FALSE(bench.engine.quiescent()) << "so that nothing is saved, nor restarted, meanwhile";
  Gauges gauges;
  bench.crossbar.visit_gauges(gauges);
  EXPECT_EQ(gauges.values.at("untranslated"), 3U);
  EXPECT_EQ(gauges.values.at("walkers"), 1U);
  EXPECT_EQ(gauges.values.at("walks_waiting"), 1U);
  EXPECT_EQ(gauges.values.at("network"), 0U);
  std::vector<InFlight> rows;
  bench.crossbar.in_flight(rows);
  ASSERT_EQ(rows.size(), 3U);
  std::multimap<std::string, std::uint64_t> why;
  for (const InFlight& row : rows) {
    EXPECT_EQ(row.at, "crossbar translation");
    why.emplace(row.wait.what, row.id);
  }
  EXPECT_EQ(why.count("the walk for its page to end"), 2U);
  EXPECT_EQ(why.count("a walker"), 1U);
  std::vector<Wait> waits;
  bench.crossbar.explain(waits);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].what, "2 walks through page tables, for 3 requests");
  // The slice that has the read is who is waited for.
  const Standstill still = bench.engine.standstill();
  bool named = false;
  for (const InFlight& row : still.in_flight)
    named = named || (row.wait.what == "the walk for its page to end" &&
                      row.wait.on == std::vector<std::string>{"slice"});
  EXPECT_TRUE(named);
  EXPECT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_FALSE(bench.crossbar.busy());
}

TEST(CrossbarWalks, ARestartForgetsPagesAndACheckpointKeepsThem) {
  const CrossbarBench::Shape shape = shape_of(pages(2), {{3}});
  CrossbarBench bench(shape);
  const auto again = [&](CrossbarBench& of) {
    of.clients[0]->ask({of_page(read_item(0, line_at(3), 1), 3)});
    EXPECT_EQ(of.engine.run_until(1000000), RunOutcome::quiescent);
    return took(of, 0, static_cast<unsigned>(of.clients[0]->answers.size() - 1));
  };
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  const Cycle miss = took(bench, 0, 0), hit = again(bench);
  EXPECT_EQ(miss, hit + 5 + 20 + 2 * 12);
  std::string saved;
  StateArchive out(saved);
  bench.crossbar.archive(out);
  bench.crossbar.restart();
  EXPECT_EQ(again(bench), miss);
  CrossbarBench other(shape);
  ASSERT_EQ(other.engine.run_until(100000), RunOutcome::quiescent);
  other.crossbar.restart();
  StateArchive in{std::string_view(saved)};
  other.crossbar.archive(in);
  EXPECT_TRUE(in.ended());
  EXPECT_EQ(again(other), hit);
  EXPECT_EQ(other.crossbar.translation()->counters().walk_reads, 2U);
}

}  // namespace crossbar_walks_test
}  // namespace warpline::test
