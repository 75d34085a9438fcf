#include "rtl_models/sm_network/sm_network.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <optional>

#include "rtl_models/base/random.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace sm_network_test {

PhysicalAddress shared_of(unsigned sm, std::uint32_t offset = 0) {
  ClusterAddress at;
  at.sm = sm;
  at.cluster = 5;
  at.rank = sm % 8;
  at.offset = offset;
  return at.packed();
}

/// SMs around a network: each asks, and answers what others ask.
struct NetworkBench {
  struct Shape {
    std::vector<std::vector<Item>> items;  ///< of each SM
    GpcShape gpcs;
    ChannelParameters channel{32, 1, 4, 1};
    Cycle delay = 1;  ///< of a shared memory's answer
    Cycle gap = 1;    ///< between requests that one takes
    TickMode mode = TickMode::lazy;
    std::uint64_t turns = 0;
  };
  explicit NetworkBench(const Shape& shape)
      : engine(shape.mode, 7),
        network(engine, "sm_network", {}, static_cast<unsigned>(shape.items.size()), shape.gpcs,
                {shape.channel.width, shape.channel.width}) {
    for (unsigned i = 0; i < shape.items.size(); ++i) {
      const std::string sm = "sm[" + std::to_string(i) + "]";
      askers.push_back(
          std::make_unique<Requester>(engine, sm, ClockDomain{}, shape.items[i], 1, std::uint64_t{i} << 32U));
      connect(askers[i]->out, network.from_sm(i), shape.channel);
      connect(network.to_sm(i), askers[i]->in, shape.channel);
      memories.push_back(
          std::make_unique<Target>(engine, sm + ".shared", ClockDomain{}, shape.delay, shape.gap));
      connect(network.to_shared(i), memories[i]->in, shape.channel);
      connect(memories[i]->out, network.from_shared(i), shape.channel);
    }
    Random random(shape.turns);
    if (shape.turns != 0) network.draw_turns(random);
  }
  Engine engine;
  SmNetwork network;
  std::vector<std::unique_ptr<Requester>> askers;
  std::vector<std::unique_ptr<Target>> memories;
};

TEST(SmNetwork, AReadTakesTheFourChannelsAndTheMemory) {
  const auto answered = [](const ChannelParameters& channel, Cycle delay, SectorMask sectors) {
    NetworkBench bench({{{}, {read_item(0, shared_of(2), sectors)}, {}}, {}, channel, delay});
    EXPECT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
    EXPECT_EQ(bench.memories[2]->seen.size(), 1U);
    return bench.askers[1]->answers[0].answered - bench.askers[1]->answers[0].sent;
  };
  // Request over two channels of 3 cycles, answer over two of 3 and one beat more on each.
  EXPECT_EQ(answered({32, 3, 8, 1}, 5, 1), 3 + 3 + 5 + 3 + 3);
  EXPECT_EQ(answered({32, 3, 8, 1}, 5, 3), 3 + 3 + 5 + 4 + 4);
}

TEST(SmNetwork, WhatLiesInAnotherGpcOrNowhereIsAnsweredWithAnError) {
  // Of 8 SMs in TPCs of two, GPC 0 has 0, 1, 4, 5.
  std::vector<std::vector<Item>> items(8);
  for (unsigned sm = 0; sm < 10; ++sm) items[1].push_back(read_item(0, shared_of(sm), 1));
  NetworkBench bench({items, {2, 2}});
  ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
  for (unsigned sm = 0; sm < 10; ++sm) {
    const bool near = sm == 0 || sm == 1 || sm == 4 || sm == 5;
    EXPECT_EQ(bench.askers[1]->answers[sm].status, near ? Status::ok : Status::address_error) << sm;
    if (sm < 8) {
      EXPECT_EQ(bench.memories[sm]->seen.size(), near ? 1U : 0U) << sm;
    }
  }
  EXPECT_EQ(bench.network.counters().refused, 6U);
  EXPECT_EQ(bench.network.counters().requests, 10U);
  EXPECT_EQ(bench.network.counters().responses, 10U);
}

NetworkBench::Shape random_shape(std::uint64_t seed) {
  Random random(seed * 977);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random.below(high - low + 1));
  };
  NetworkBench::Shape shape;
  shape.items.resize(pick(1, 20));
  shape.gpcs = {pick(1, 3), pick(1, 2)};
  const auto sms = static_cast<unsigned>(shape.items.size());
  const unsigned spread = pick(0, 30);
  for (auto& list : shape.items) {
    Cycle at = 0;
    for (unsigned n = pick(0, 40); n != 0; --n) {
      at += pick(0, spread);
      const PhysicalAddress line = shared_of(pick(0, sms), pick(0, 63) * kLineBytes);
      const auto sectors = static_cast<SectorMask>(pick(1, 15));
      list.push_back(pick(0, 1) == 0 ? read_item(at, line, sectors)
                                     : write_item(at, line, ByteMask::of_sectors(sectors)));
    }
  }
  shape.channel = {1U << pick(3, 7), pick(1, 40), pick(1, 12), pick(1, 4)};
  shape.delay = pick(1, 30);
  shape.gap = pick(1, 4);
  shape.turns = pick(0, 1) * seed;
  return shape;
}

class SmNetworkTraffic : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SmNetworkTraffic, EveryRequestArrivesOnceInOrderAndAllTickModesAgree) {
  NetworkBench::Shape shape = random_shape(GetParam());
  NetworkBench bench(shape);
  ASSERT_EQ(bench.engine.run_until(1000000), RunOutcome::quiescent);
  std::map<std::uint64_t, unsigned> arrivals;
  for (unsigned s = 0; s < bench.memories.size(); ++s) {
    std::map<std::uint64_t, std::uint64_t> last;
    for (const Target::Seen& seen : bench.memories[s]->seen) {
      ++arrivals[seen.id];
      EXPECT_EQ(ClusterAddress::of(seen.line).sm, s);
      auto [it, first] = last.try_emplace(seen.id >> 32U, seen.id);
      if (!first) {
        EXPECT_LT(it->second, seen.id);
      }
      it->second = seen.id;
    }
  }
  std::uint64_t requests = 0, refused = 0;
  for (unsigned from = 0; from < shape.items.size(); ++from)
    for (std::size_t i = 0; i < shape.items[from].size(); ++i, ++requests) {
      const unsigned to = ClusterAddress::of(shape.items[from][i].request.line).sm;
      const bool near = to < shape.items.size() && shape.gpcs.gpc_of(to) == shape.gpcs.gpc_of(from);
      refused += !near;
      EXPECT_EQ(arrivals[(std::uint64_t{from} << 32U) + i], near ? 1U : 0U);
      EXPECT_EQ(bench.askers[from]->answers[i].status, near ? Status::ok : Status::address_error);
    }
  EXPECT_EQ(bench.network.counters().requests, requests);
  EXPECT_EQ(bench.network.counters().responses, requests);
  EXPECT_EQ(bench.network.counters().refused, refused);
  EXPECT_EQ(bench.engine.pool().in_use(), 0U);
  for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    shape.mode = mode;
    NetworkBench other(shape);
    ASSERT_EQ(other.engine.run_until(1000000), RunOutcome::quiescent);
    for (std::size_t s = 0; s < bench.memories.size(); ++s) {
      ASSERT_EQ(bench.memories[s]->seen, other.memories[s]->seen);
      ASSERT_EQ(bench.askers[s]->order, other.askers[s]->order);
      for (std::size_t i = 0; i < bench.askers[s]->answers.size(); ++i)
        ASSERT_EQ(bench.askers[s]->answers[i].answered, other.askers[s]->answers[i].answered);
    }
    EXPECT_EQ(bench.network.counters().conflicts, other.network.counters().conflicts);
    EXPECT_EQ(bench.network.counters().beats, other.network.counters().beats);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SmNetworkTraffic, ::testing::Range<std::uint64_t>(1, 25));

/// Whose turn it is, from the sentence alone: of those that ask, the first at or after the turn; the turn
/// passes to the one behind whoever is granted.
class NaiveTurns {
 public:
  NaiveTurns(unsigned outputs, unsigned inputs) : asks_(outputs, std::vector<bool>(inputs)), turn_(outputs) {}
  void ask(unsigned output, unsigned input) { asks_[output][input] = true; }
  [[nodiscard]] unsigned asking(unsigned output) const {
    unsigned n = 0;
    for (const bool asks : asks_[output]) n += asks;
    return n;
  }
  unsigned grant(unsigned output) {
    std::vector<bool>& asks = asks_[output];
    unsigned input = turn_[output];
    while (!asks[input]) input = static_cast<unsigned>((input + 1) % asks.size());
    asks[input] = false;
    turn_[output] = static_cast<unsigned>((input + 1) % asks.size());
    return input;
  }

 private:
  std::vector<std::vector<bool>> asks_;
  std::vector<unsigned> turn_;
};

TEST(SmNetworkCore, GrantsAndCountsAsANaiveTwinDoes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto sms = static_cast<unsigned>(1 + random.below(70));
    const GpcShape gpcs{static_cast<unsigned>(1 + random.below(4)),
                        static_cast<unsigned>(1 + random.below(2))};
    SmNetworkCore core(sms, gpcs, {16, 32});
    NaiveTurns requests(sms, sms), responses(sms, sms + 1);
    std::uint64_t conflicts = 0;
    for (unsigned n = 0; n < 500; ++n) {
      const auto output = static_cast<unsigned>(random.below(sms));
      const bool down = random.below(2) == 0;
      NaiveTurns& twin = down ? requests : responses;
      Arbiter& arbiter = down ? core.requests() : core.responses();
      if (random.below(3) == 0 && twin.asking(output) != 0) {
        ASSERT_EQ(down ? core.grant_request(output) : core.grant_response(output), twin.grant(output));
        conflicts += twin.asking(output);
      } else {
        const auto input = static_cast<unsigned>(random.below(down ? sms : sms + 1));
        const unsigned before = twin.asking(output);
        twin.ask(output, input);
        if (twin.asking(output) != before) arbiter.ask(output, input);
      }
      ASSERT_EQ(arbiter.asking(output), twin.asking(output));
      Request r;
      const auto to = static_cast<unsigned>(random.below(sms + 3));
      r.line = shared_of(to);
      const std::optional<unsigned> want =
          to < sms && to / gpcs.sms_per_tpc % gpcs.gpcs == output / gpcs.sms_per_tpc % gpcs.gpcs
              ? std::optional<unsigned>(to)
              : std::nullopt;
      ASSERT_EQ(core.destination(r, output), want);
    }
    EXPECT_EQ(core.counters().conflicts, conflicts);
  }
}

TEST(ClusterAddress, ComesBackAsItWasPacked) {
  Random random(9);
  for (unsigned n = 0; n < 1000; ++n) {
    ClusterAddress a;
    a.sm = static_cast<unsigned>(random.below(2047));
    a.cluster = static_cast<std::uint32_t>(random.below(1U << 20U));
    a.rank = static_cast<unsigned>(random.below(16));
    a.signal = static_cast<ClusterAddress::Signal>(random.below(3));
    if (a.signal == ClusterAddress::Signal::none) {
      a.offset = static_cast<std::uint32_t>(random.below(1U << 24U));
    } else {
      a.from = static_cast<unsigned>(random.below(16));
      a.odd = random.below(2) == 0;
    }
    const PhysicalAddress packed = a.packed();
    EXPECT_TRUE(ClusterAddress::is(packed));
    const ClusterAddress b = ClusterAddress::of(packed);
    EXPECT_EQ(std::make_tuple(a.sm, a.cluster, a.rank, a.offset, a.signal, a.from, a.odd),
              std::make_tuple(b.sm, b.cluster, b.rank, b.offset, b.signal, b.from, b.odd));
    if (a.signal != ClusterAddress::Signal::none) {
      EXPECT_EQ(offset_in_line(packed), 0U);
    }
  }
}

}  // namespace sm_network_test
}  // namespace warpline::test
