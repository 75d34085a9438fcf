// A hop opened as pins: what its wires say in each cycle, against what the rules of a channel say. SystemC
// elaborates once, so one simulation runs all hops.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "rtl_models/tlm/pins/pins.h"
#include "tests/rtl_models/tlm/pins/pin_items.h"
#include "tests/rtl_models/tlm/pins/pin_log.h"

namespace warpline::test {
namespace pin_rules_test {

/// Two components of ours with a hop of wires in between, in clocks of their own, watched.
struct Watched {
  Watched(const std::string& name, std::uint64_t seed)
      : random(seed),
        hop{{8U << random.below(5), 1 + static_cast<unsigned>(random.below(4)),
             1 + static_cast<unsigned>(random.below(4)), 1 + static_cast<unsigned>(random.below(12))},
            {8U << random.below(5), 1 + static_cast<unsigned>(random.below(4)),
             1 + static_cast<unsigned>(random.below(4)), 1 + static_cast<unsigned>(random.below(12))}},
        engine((name + "_engine").c_str(), 1000),
        requester(engine.engine(), name + "_requester", domain(), random_items(random, 60),
                  1 + random.below(6), 1),
        target(engine.engine(), name + "_target", domain(), 1 + random.below(9), 1 + random.below(6)),
        pins((name + "_pins").c_str(), engine, name,
             {requester.out, target.in, target.out, requester.in, hop}),
        requests((name + "_requests").c_str(), engine, pins.near().request),
        responses((name + "_responses").c_str(), engine, pins.near().response) {}
  ClockDomain domain() {
    const std::uint64_t denominator = 1 + random.below(5);
    return random.below(2) == 0 ? ClockDomain{} : ClockDomain{denominator + random.below(8), denominator};
  }
  Random random;
  HopParameters hop;
  EngineProcess engine;
  Requester requester;
  Target target;
  PinHop pins;
  PinLog requests, responses;
};

struct Simulation {
  std::deque<Watched> watched;
  Simulation() {
    for (unsigned i = 0; i < 60; ++i) watched.emplace_back("watched" + std::to_string(i), i + 1);
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US));
  }
};
Simulation& simulation() {
  static Simulation s;
  return s;
}

/// What a channel's rules make of messages with so many beats, begun and popped in these cycles.
void expect_channel(const std::vector<PinLog::Entry>& log, const ChannelParameters& p,
                    const ClockDomain& sender, const std::vector<std::pair<Cycle, unsigned>>& begun,
                    std::vector<Cycle> popped) {
  std::sort(popped.begin(), popped.end());
  std::size_t message = 0;
  unsigned beat = 0;
  for (const PinLog::Entry& e : log) {
    SCOPED_TRACE("cycle " + std::to_string(e.cycle));
    const bool begins = beat == 0 && message < begun.size() && begun[message].first == e.cycle;
    ASSERT_EQ(e.valid, begins || beat != 0);
    const std::size_t credits_back = std::count_if(
        popped.begin(), popped.end(), [&](Cycle c) { return sender.align(c + p.credit_latency) <= e.cycle; });
    ASSERT_EQ(e.ready, beat != 0 || message < p.depth + credits_back);
    if (!e.valid) continue;
    ASSERT_EQ(e.beat, beat);
    ASSERT_EQ(e.last, beat + 1 == begun[message].second);
    ASSERT_TRUE(e.ready);
    if (++beat == begun[message].second) {
      ++message;
      beat = 0;
    }
  }
  EXPECT_EQ(message, begun.size());
}

TEST(PinRules, SayInEachCycleWhatTheRulesOfTheChannelSay) {
  for (Watched& w : simulation().watched) {
    SCOPED_TRACE(w.pins.near().hop());
    ASSERT_TRUE(w.engine.engine().quiescent());
    EXPECT_EQ(w.engine.outcome(), RunOutcome::quiescent);
    std::vector<std::pair<Cycle, unsigned>> requests;
    std::vector<Cycle> request_pops, response_pops;
    const auto beats = [](unsigned width, bool carries, SectorMask sectors) {
      return carries ? (sector_count(sectors) * kSectorBytes + width - 1) / width : 1;
    };
    std::map<std::uint64_t, const Item*> by_id;
    const std::vector<Item>& items = w.requester.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Request& r = items[i].request;
      requests.emplace_back(w.requester.answers[i].sent,
                            beats(w.hop.request.width, r.command == Command::write, r.sectors));
      by_id[i + 1] = &items[i];
      response_pops.push_back(w.requester.answers[i].answered);
    }
    for (const Target::Seen& s : w.target.seen) request_pops.push_back(s.at);
    expect_channel(w.requests.entries, w.hop.request, w.requester.domain(), requests, request_pops);
    // When responses begin the wires say; how long they are and what `ready` does follows.
    std::vector<std::pair<Cycle, unsigned>> responses;
    for (const PinLog::Entry& e : w.responses.entries)
      if (e.valid && e.beat == 0) {
        const Request& r = by_id.at(e.origin)->request;
        responses.emplace_back(e.cycle, beats(w.hop.response.width, r.command == Command::read, r.sectors));
      }
    EXPECT_EQ(responses.size(), items.size());
    expect_channel(w.responses.entries, w.hop.response, w.target.domain(), responses, response_pops);
  }
}

TEST(PinRules, ClocksOfOurOwnHopsStandWhenThereIsNothingToDo) {
  for (Watched& w : simulation().watched) {
    SCOPED_TRACE(w.pins.near().hop());
    const Cycle last = std::max(w.requester.domain().after(0, 2), w.target.domain().after(0, 2)) + 2 * 13;
    EXPECT_LT(w.requests.entries.back().cycle, w.engine.engine().now() + last);
    EXPECT_FALSE(w.pins.near().request.clock.read());
  }
}

}  // namespace pin_rules_test
}  // namespace warpline::test
