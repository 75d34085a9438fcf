// When an engine with hops of pins comes to rest: not before a credit or a message on the wires has arrived,
// and not never.
#include <gtest/gtest.h>

#include <algorithm>

#include "rtl_models/tlm/pins/pins.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace pin_rest_test {

/// Takes requests and answers none.
class Silent final : public Component {
 public:
  explicit Silent(Engine& engine)
      : Component(engine, "silent"), in(*this, "from_requester"), out(*this, "to_requester") {}
  Cycle tick(Cycle now) override {
    if (!in.ready(now)) return kNever;
    in.pop(now);
    ++taken;
    return kNever;
  }
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>&) const override {}
  In<RequestMessage> in;
  Out<ResponseMessage> out;
  unsigned taken = 0;
};

struct Bench {
  Bench(const std::string& name, std::vector<Item> items, const HopParameters& hop, PinHop::Wiring wiring)
      : engine((name + "_engine").c_str(), 1000),
        requester(engine.engine(), "requester", {}, std::move(items)),
        target(engine.engine()),
        pins(name.c_str(), engine, name, {requester.out, target.in, target.out, requester.in, hop},
             PinHop::Data{}, wiring) {
    engine.on_idle([this](RunOutcome outcome) {
      rests.push_back(outcome);
      at = engine.cycle_of(sc_core::sc_time_stamp());
    });
  }
  EngineProcess engine;
  Requester requester;
  Silent target;
  PinHop pins;
  std::vector<RunOutcome> rests;
  Cycle at = 0;
};

std::vector<Item> reads(unsigned count) {
  return std::vector<Item>(count, read_item(0, PhysicalAddress{0}, 1));
}

TEST(PinRest, ComesWhenTheLastCreditIsBackAndNobodyAnswers) {
  // Each credit takes 50 cycles, in which nobody has a tick to come.
  Bench b("hop", reads(3), {{32, 1, 1, 50}, {}}, PinHop::Wiring::through);
  sc_core::sc_start();
  EXPECT_EQ(b.target.taken, 3U);
  EXPECT_EQ(b.requester.answers[2].sent, 102U);
  EXPECT_EQ(b.rests, std::vector<RunOutcome>{RunOutcome::deadlock});
  EXPECT_EQ(b.engine.outcome(), RunOutcome::deadlock);
  EXPECT_GE(b.at, 153U);
  EXPECT_LE(b.at, 155U);
  EXPECT_FALSE(sc_core::sc_pending_activity()) << "the clocks stand";
}

TEST(PinRest, IsTheCycleLimitWhereHardwareInTheMiddleLosesAMessage) {
  Bench b("hop", reads(1), {}, PinHop::Wiring::cut);
  b.engine.set_limit(400);
  b.pins.near().request.ready.write(true);
  sc_core::sc_start(sc_core::sc_time(2, sc_core::SC_US));
  EXPECT_EQ(b.rests, std::vector<RunOutcome>{RunOutcome::cycle_limit});
  EXPECT_EQ(b.at, 401U);
  EXPECT_EQ(b.requester.out.occupancy(), 1U) << "a message is on a channel";
  EXPECT_FALSE(b.engine.engine().quiescent());
}

TEST(PinRest, NamesTheHopWhoseReceiverIsNeverReady) {
  Bench b("hop", reads(1), {}, PinHop::Wiring::cut);
  b.engine.set_limit(400);
  sc_core::sc_start(sc_core::sc_time(2, sc_core::SC_US));
  const std::vector<Wait> waits = b.engine.explain();
  EXPECT_TRUE(std::any_of(waits.begin(), waits.end(), [](const Wait& w) {
    return w.who == "hop.near" && w.what.find("ready") != std::string::npos;
  }));
}

}  // namespace pin_rest_test
}  // namespace warpline::test
