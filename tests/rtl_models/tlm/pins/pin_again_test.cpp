// Several runs of one engine, whose time goes back over idle ticks in between while SystemC's does not: edges
// of slower clocks move against SystemC's time, and wires still carry every message in the cycles of direct
// hops.
#include <gtest/gtest.h>

#include <memory>

#include "rtl_models/tlm/pins/pins.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace pin_again_test {

/// Sends writes and reads when told, and notes the cycles.
class Caller final : public Component {
 public:
  Caller(Engine& engine, ClockDomain domain)
      : Component(engine, "caller", domain), out(*this, "to_target"), in(*this, "from_target") {}
  void call(unsigned count) {
    left_ = count;
    wake(engine().now() + 1);
  }
  Cycle tick(Cycle now) override {
    if (in.ready(now)) {
      Request* r = in.pop(now).request;
      cycles.push_back(now);
      engine().pool().release(r);
      --waiting_;
    }
    if (left_ != 0 && out.ready(now)) {
      Request* r = engine().pool().allocate();
      r->command = left_ % 2 == 1 ? Command::write : Command::read;
      r->sectors = 7;
      r->line = {};
      r->bytes = ByteMask::of_sectors(r->sectors);
      out.send(now, {r});
      cycles.push_back(now);
      ++waiting_;
      --left_;
    }
    if (left_ != 0) static_cast<void>(out.ready(now));
    return kNever;
  }
  [[nodiscard]] bool busy() const override { return left_ + waiting_ != 0; }
  void explain(std::vector<Wait>&) const override {}
  Out<RequestMessage> out;
  In<ResponseMessage> in;
  std::vector<Cycle> cycles;  ///< of sending and of receiving

 private:
  unsigned left_ = 0, waiting_ = 0;
};

/// Ticks for nothing, so that time goes on and back again.
class Idler final : public Component {
 public:
  explicit Idler(Engine& engine) : Component(engine, "idler") {}
  void idle(Cycle cycles) {
    until_ = engine().now() + cycles;
    wake(engine().now() + 1);
  }
  Cycle tick(Cycle now) override { return now < until_ ? now + 1 : kNever; }
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>&) const override {}

 private:
  Cycle until_ = 0;
};

struct Clocks {
  ClockDomain caller, target;
};
std::vector<Clocks> all_clocks() {
  return {{{}, {}},     {{5, 2}, {}},      {{7, 3}, {11, 4}}, {{}, {9, 2}},      {{13, 2}, {13, 2}},
          {{5, 2}, {}}, {{19, 2}, {3, 2}}, {{7, 3}, {11, 4}}, {{13, 2}, {13, 2}}};
}
/// Credits are back when a run ends, or on their way into the next.
constexpr HopParameters kQuick = {{32, 2, 2, 9}, {16, 1, 1, 7}}, kSlow = {{32, 2, 2, 60}, {16, 1, 1, 35}};
HopParameters hop(std::size_t i) {
  return i < 5 ? kQuick : kSlow;
}

/// Counts the rising edges of a clock that are not at the start of a cycle with an edge of its domain.
class EdgeCheck final : public sc_core::sc_module {
 public:
  EdgeCheck(const sc_core::sc_module_name& name, EngineProcess& engine, const PinClock& clock)
      : sc_module(name), engine_(engine), clock_(clock) {
    SC_HAS_PROCESS(EdgeCheck);
    SC_METHOD(edge);
    dont_initialize();
    sensitive << clock.signal.posedge_event();
  }
  unsigned edges = 0, astray = 0;

 private:
  void edge() {
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    const Cycle c = clock_.domain().align(engine_.cycle_of(now));
    ++edges;
    if (engine_.start_of(c) != now) ++astray;
  }
  EngineProcess& engine_;
  const PinClock& clock_;
};

struct Plain {
  Plain(const Clocks& c, const HopParameters& hop)
      : caller(engine, c.caller), target(engine, "target", c.target, 3, 2), idler(engine) {
    connect(caller.out, target.in, hop.request);
    connect(target.out, caller.in, hop.response);
  }
  Engine engine;
  Caller caller;
  Target target;
  Idler idler;
};
struct Wired {
  Wired(const std::string& name, const Clocks& c, const HopParameters& hop)
      : module((name + "_engine").c_str(), 1000),
        caller(module.engine(), c.caller),
        target(module.engine(), "target", c.target, 3, 2),
        idler(module.engine()),
        pins(name.c_str(), module, name, {caller.out, target.in, target.out, caller.in, hop}),
        requests((name + "_requests").c_str(), module, pins.near().request.domain),
        responses((name + "_responses").c_str(), module, pins.near().response.domain) {}
  EngineProcess module;
  Caller caller;
  Target target;
  Idler idler;
  PinHop pins;
  EdgeCheck requests, responses;
};

TEST(PinsAgain, CarryEveryMessageInItsCycleAfterTimeWentBack) {
  std::vector<std::unique_ptr<Wired>> wired;
  std::vector<std::unique_ptr<Plain>> plain;
  const std::vector<Clocks> clocks = all_clocks();
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    wired.push_back(std::make_unique<Wired>(sc_core::sc_gen_unique_name("hop"), clocks[i], hop(i)));
    plain.push_back(std::make_unique<Plain>(clocks[i], hop(i)));
  }
  for (std::size_t i = 0; i < wired.size(); ++i) {
    // Odd ones pause in the tick that was the last, with their clocks running.
    if (i % 2 == 1) wired[i]->module.on_idle([](RunOutcome) { sc_core::sc_pause(); });
    for (unsigned run = 0; run < 40; ++run) {
      const unsigned count = 1 + run % 3;
      const Cycle idle = (i < 5 ? 100 : 20) + run * 7 % 60;
      plain[i]->caller.call(count);
      plain[i]->idler.idle(idle);
      ASSERT_EQ(plain[i]->engine.run_until(kNever - 1), RunOutcome::quiescent);
      wired[i]->caller.call(count);
      wired[i]->idler.idle(idle);
      wired[i]->module.wake();
      sc_core::sc_start();
      SCOPED_TRACE("clocks " + std::to_string(i) + ", run " + std::to_string(run));
      ASSERT_EQ(wired[i]->module.outcome(), RunOutcome::quiescent);
      ASSERT_EQ(wired[i]->caller.cycles, plain[i]->caller.cycles);
      ASSERT_EQ(wired[i]->target.seen.size(), plain[i]->target.seen.size());
      for (std::size_t k = 0; k < plain[i]->target.seen.size(); ++k)
        ASSERT_EQ(wired[i]->target.seen[k].at, plain[i]->target.seen[k].at);
      ASSERT_EQ(wired[i]->module.engine().now(), plain[i]->engine.now());
    }
    EXPECT_GT(wired[i]->requests.edges, 100U);
    EXPECT_EQ(wired[i]->requests.astray + wired[i]->responses.astray, 0U) << "clocks " << i;
  }
}

}  // namespace pin_again_test
}  // namespace warpline::test
