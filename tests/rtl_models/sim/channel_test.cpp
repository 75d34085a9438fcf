#include "rtl_models/sim/channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "tests/support/mock_components.h"

namespace warpline {
namespace channel_test {

/// Owns ports that a test moves by hand.
class Hand final : public Component {
 public:
  using Component::Component;
  Cycle tick(Cycle) override { return kNever; }
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>&) const override {}
};

struct Hop {
  explicit Hop(const ChannelParameters& parameters, ClockDomain sender = {})
      : from(engine, "from", sender), to(engine, "to"), out(from, "out"), in(to, "in") {
    connect(out, in, parameters);
  }
  RequestMessage message(unsigned sectors) {
    Request& r = requests.emplace_back();
    r.command = Command::write;
    r.sectors = static_cast<SectorMask>((1U << sectors) - 1);
    return {&r};
  }
  Engine engine;
  Hand from, to;
  Out<RequestMessage> out;
  In<RequestMessage> in;
  std::deque<Request> requests;
};

TEST(Channel, AMessageArrivesALatencyAfterItsLastBeat) {
  for (unsigned sectors = 1; sectors <= 4; ++sectors) {
    for (unsigned latency : {1U, 2U, 17U}) {
      Hop hop({32, latency, 4, 1});
      ASSERT_TRUE(hop.out.ready(100));
      hop.out.send(100, hop.message(sectors));
      const Cycle arrival = 100 + sectors - 1 + latency;
      EXPECT_FALSE(hop.in.ready(arrival - 1));
      EXPECT_TRUE(hop.in.ready(arrival));
      EXPECT_TRUE(hop.in.ready(arrival + 1000));
    }
  }
}

TEST(Channel, TheWireCarriesOneMessageAtATime) {
  Hop hop({32, 5, 4, 1});
  hop.out.send(100, hop.message(3));
  EXPECT_FALSE(hop.out.ready(102));
  EXPECT_TRUE(hop.out.ready(103));
}

TEST(Channel, ACreditComesBackALatencyAfterThePop) {
  Hop hop({32, 1, 2, 7});
  hop.out.send(100, hop.message(1));
  EXPECT_TRUE(hop.out.ready(101));
  hop.out.send(101, hop.message(1));
  EXPECT_FALSE(hop.out.ready(100000)) << "no credit without a pop";
  hop.in.pop(200);
  EXPECT_FALSE(hop.out.ready(206));
  EXPECT_TRUE(hop.out.ready(207));
  hop.out.send(207, hop.message(1));
  EXPECT_FALSE(hop.out.ready(100000));
}

TEST(Channel, AnEarlyPopDoesNotFreeTheWire) {
  // Of a message of four beats that is popped in its first possible cycle, with latency 1.
  Hop hop({32, 1, 1, 1});
  hop.out.send(100, hop.message(4));
  hop.in.pop(104);
  EXPECT_FALSE(hop.out.ready(104));
  EXPECT_TRUE(hop.out.ready(105));
}

/// Holds messages of one line.
struct LineGate final : Gate<RequestMessage> {
  bool open = false;
  [[nodiscard]] bool holds(const RequestMessage& m) const override {
    return !open && m.request->line == PhysicalAddress{kLineBytes};
  }
};

TEST(Channel, APortIsMarkedWhileAMessageIsOnItsChannel) {
  Hop hop({32, 5, 4, 1});
  std::uint64_t ports = std::uint64_t{1} << 3U;  // another port's
  hop.in.mark_in(ports, 9);
  EXPECT_EQ(ports, 1U << 3U);
  hop.out.send(100, hop.message(1));
  hop.out.send(101, hop.message(1));
  EXPECT_EQ(ports, 1U << 3U | 1U << 9U);
  hop.in.pop(105);
  EXPECT_EQ(ports, 1U << 3U | 1U << 9U);
  hop.in.pop(106);
  EXPECT_EQ(ports, 1U << 3U);
}

TEST(Channel, AGateHoldsWhatItIsAboutAndWhatIsBehindIt) {
  Hop hop({32, 5, 4, 1});
  LineGate gate;
  hop.in.set_gate(&gate);
  for (const std::uint64_t line : {0U, kLineBytes, 0U}) {
    const RequestMessage m = hop.message(1);
    m.request->line = PhysicalAddress{line};
    const Cycle at = 100 + hop.requests.size();
    ASSERT_TRUE(hop.out.ready(at));
    hop.out.send(at, m);
  }
  ASSERT_TRUE(hop.in.ready(106));
  EXPECT_EQ(hop.in.pop(106).request, &hop.requests[0]);
  EXPECT_FALSE(hop.in.ready(5000));
  hop.in.let_go(5001);
  EXPECT_FALSE(hop.in.ready(6000)) << "it is still to be held";
  gate.open = true;
  hop.in.let_go(6001);
  EXPECT_FALSE(hop.in.ready(6000));
  ASSERT_TRUE(hop.in.ready(6001));
  EXPECT_EQ(hop.in.pop(6001).request, &hop.requests[1]);
  ASSERT_TRUE(hop.in.ready(6002));
  EXPECT_EQ(hop.in.pop(6002).request, &hop.requests[2]);
}

TEST(Channel, BeatsAndLatencyAreEdgesOfTheSender) {
  const ClockDomain slow(5, 2);  // edges at 0, 3, 5, 8, 10, 13, 15, 18, 20
  Hop hop({32, 2, 4, 1}, slow);
  hop.out.send(5, hop.message(3));  // beats at 5, 8, 10
  EXPECT_FALSE(hop.out.ready(12));
  EXPECT_TRUE(hop.out.ready(13));
  EXPECT_FALSE(hop.in.ready(14));
  EXPECT_TRUE(hop.in.ready(15));
}

TEST(Channel, ShallowAndUnboundChannelsAreReported) {
  Hop shallow({32, 5, 6, 2});
  Hop deep({32, 5, 7, 2});
  EXPECT_EQ(deep.engine.channel_problems().size(), 0U);
  ASSERT_EQ(shallow.engine.channel_problems().size(), 1U);
  EXPECT_NE(shallow.engine.channel_problems()[0].find("to.in"), std::string::npos);
  Engine engine;
  Hand owner(engine, "owner");
  Out<RequestMessage> out(owner, "out");
  In<RequestMessage> in(owner, "in");
  EXPECT_EQ(engine.channel_problems().size(), 2U);
}

TEST(Channel, ADeepChannelFillsItsWireAndAShallowerOneDoesNot) {
  for (unsigned depth : {7U, 8U}) {
    std::vector<test::Item> items(200, test::read_item(0, PhysicalAddress{}, 1));
    Engine engine;
    test::Requester requester(engine, "requester", {}, items);
    test::Target target(engine, "target", {});
    connect(requester.out, target.in, {32, 5, depth, 3});
    connect(target.out, requester.in, {32, 5, 8, 3});
    ASSERT_EQ(engine.run_until(10000), RunOutcome::quiescent);
    const bool full = target.seen.back().at == target.seen.front().at + 199;
    EXPECT_EQ(full, depth == 8);
    EXPECT_EQ(target.in.problem().empty(), depth == 8);
  }
}

TEST(ChannelDeath, RulesOfPorts) {
  Hop hop({32, 3, 1, 1});
  hop.out.send(0, hop.message(1));
  EXPECT_DEATH(hop.out.send(1, hop.message(1)), "free channel");
  EXPECT_DEATH(hop.in.pop(2), "arrived");
  Hop other({32, 1, 1, 1});
  EXPECT_DEATH(connect(hop.out, other.in, {32, 1, 1, 1}), "bound once");
}

TEST(ChannelParameters, EveryFaultAtOnce) {
  EXPECT_TRUE((ChannelParameters{1, 1, 1, 1}.problems("x").empty()));
  EXPECT_TRUE((ChannelParameters{128, 100000, 65536, 100000}.problems("x").empty()));
  EXPECT_EQ((ChannelParameters{0, 0, 0, 0}.problems("x").size()), 4U);
  EXPECT_EQ((ChannelParameters{129, 100001, 65537, 100001}.problems("x").size()), 4U);
  HopParameters hop;
  hop.request.width = 0;
  hop.response.depth = 0;
  const Problems problems = hop.problems("hops.a");
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].path, "hops.a.request.width");
  EXPECT_EQ(problems[1].path, "hops.a.response.depth");
}

/// The law of a channel, kept as a history: nothing but the sentences of the architecture.
class NaiveChannel {
 public:
  NaiveChannel(const ChannelParameters& p, std::uint64_t numerator, std::uint64_t denominator) : p_(p) {
    for (std::uint64_t k = 0; k < 20000; ++k)
      edges_.push_back((k * numerator + denominator - 1) / denominator);
  }
  [[nodiscard]] bool can_send(Cycle t) const {
    if (t < wire_free_) return false;
    std::size_t back = 0;
    for (const Cycle pop : pops_) back += pop + p_.credit_latency <= t;
    return arrivals_.size() - back < p_.depth;
  }
  void send(Cycle t, unsigned beats) {
    const auto edge =
        static_cast<std::size_t>(std::lower_bound(edges_.begin(), edges_.end(), t) - edges_.begin());
    wire_free_ = edges_[edge + beats];
    arrivals_.push_back(edges_[edge + beats - 1 + p_.latency]);
  }
  [[nodiscard]] bool can_pop(Cycle t) const {
    return pops_.size() < arrivals_.size() && arrivals_[pops_.size()] <= t;
  }
  void pop(Cycle t) { pops_.push_back(t); }
  [[nodiscard]] bool is_edge(Cycle t) const { return std::binary_search(edges_.begin(), edges_.end(), t); }

 private:
  ChannelParameters p_;
  std::vector<Cycle> edges_, arrivals_, pops_;
  Cycle wire_free_ = 0;
};

TEST(Channel, AgreesWithItsLawOnRandomTraffic) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed * 99);
    const auto pick = [&](std::uint64_t low, std::uint64_t high) {
      return static_cast<unsigned>(low + random.below(high - low + 1));
    };
    const ChannelParameters p{16U << pick(0, 3), pick(1, 9), pick(1, 9), pick(1, 9)};
    const unsigned denominator = pick(1, 5), numerator = denominator + pick(0, 7);
    Hop hop(p, ClockDomain(numerator, denominator));
    NaiveChannel naive(p, numerator, denominator);
    const unsigned send_rate = pick(1, 4), pop_rate = pick(1, 4);
    std::deque<Request*> in_flight;
    for (Cycle t = 1; t < 600; ++t) {
      const auto try_send = [&] {
        if (!naive.is_edge(t)) return;
        ASSERT_EQ(hop.out.ready(t), naive.can_send(t)) << "seed " << seed << " cycle " << t;
        if (!naive.can_send(t) || random.below(send_rate) != 0) return;
        const RequestMessage m = hop.message(pick(1, 4));
        in_flight.push_back(m.request);
        naive.send(t, m.beats(p.width));
        hop.out.send(t, m);
      };
      const auto try_pop = [&] {
        ASSERT_EQ(hop.in.ready(t), naive.can_pop(t)) << "seed " << seed << " cycle " << t;
        if (!naive.can_pop(t) || random.below(pop_rate) != 0) return;
        ASSERT_EQ(hop.in.front().request, in_flight.front());
        ASSERT_EQ(hop.in.pop(t).request, in_flight.front());
        in_flight.pop_front();
        naive.pop(t);
      };
      // The order within a cycle has no effect.
      if (random.below(2) == 0) {
        ASSERT_NO_FATAL_FAILURE(try_send());
        ASSERT_NO_FATAL_FAILURE(try_pop());
      } else {
        ASSERT_NO_FATAL_FAILURE(try_pop());
        ASSERT_NO_FATAL_FAILURE(try_send());
      }
      ASSERT_EQ(hop.in.occupancy(), in_flight.size());
    }
  }
}

}  // namespace channel_test
}  // namespace warpline
