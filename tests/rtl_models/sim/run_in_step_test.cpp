// An engine that somebody outside feeds as time passes, and who may run ahead of that.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "rtl_models/sim/channel.h"
#include "tests/support/mock_components.h"

namespace warpline {
namespace run_in_step_test {

/// Notes when it is ticked, and wants to be at multiples of its period.
class Ticker final : public Component {
 public:
  explicit Ticker(Engine& engine, Cycle period = kNever) : Component(engine, "ticker"), period_(period) {
    if (period != kNever) wake(0);
  }
  Cycle tick(Cycle now) override {
    ticks.push_back(now);
    return period_ == kNever ? kNever : now + period_;
  }
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>& /*waits*/) const override {}
  std::vector<Cycle> ticks;

 private:
  Cycle period_;
};

/// Answers requests after three cycles, in a time of its own.
class World final : public Carrier<RequestMessage>, public Upstream {
 public:
  explicit World(test::Requester& r) : r_(r) {
    r.out.bind(static_cast<Carrier<RequestMessage>&>(*this));
    r.in.bind(static_cast<Upstream&>(*this), {32, 1, 200, 1}, ClockDomain{});
  }
  Cycle begin(Cycle t, const RequestMessage& message) override {
    due_.emplace_back(t + 3, message.request);
    return t + 1;
  }
  void end(Cycle) override { ADD_FAILURE() << "there is always room"; }
  void pass(Cycle now) {
    for (; !due_.empty() && due_.front().first == now; due_.pop_front())
      static_cast<void>(r_.in.begin(now, {due_.front().second}));
  }

 private:
  test::Requester& r_;
  std::deque<std::pair<Cycle, Request*>> due_;
};

TEST(RunInStep, OnlyWhoCannotFeelTheWorldOutsideRunsAheadOfIt) {
  std::vector<test::Item> items;
  for (Cycle at = 0; at < 200; at += 2) items.push_back(test::read_item(at, PhysicalAddress{}, 0xF));
  std::vector<std::vector<Cycle>> answered;
  for (const Cycle ahead : {0, 5, 100}) {
    Engine engine;
    test::Requester faces(engine, "faces", {}, items);
    World world(faces);
    engine.begin_cluster();
    test::Requester inner(engine, "inner", {}, items);
    engine.begin_cluster();
    test::Target target(engine, "target", {}, 4, 3);
    connect(inner.out, target.in, {32, 12, 5, 10});
    connect(target.out, inner.in, {32, 10, 7, 12});
    Cycle farthest = 0;
    RunOutcome outcome = RunOutcome::cycle_limit;
    for (Cycle now = 0; now < 2000; ++now) {
      world.pass(now);
      outcome = engine.run_in_step(now, now + ahead);
      const auto sent = [](const test::Requester& r) {
        return std::count_if(r.answers.begin(), r.answers.end(),
                             [](const auto& a) { return a.sent != kNever; });
      };
      EXPECT_LE(sent(faces), static_cast<long>(now / 2 + 1));
      for (const auto& a : inner.answers)
        if (a.sent != kNever && a.sent > now) farthest = std::max(farthest, a.sent - now);
    }
    EXPECT_EQ(outcome, RunOutcome::quiescent);
    // The window of the inner clusters is what the shorter of their channels allows.
    EXPECT_EQ(farthest, std::min(ahead, Cycle{9}));
    answered.emplace_back();
    for (const test::Requester* r : {&faces, &inner})
      for (const auto& a : r->answers) answered.back().push_back(a.answered);
    answered.back().push_back(engine.now());
  }
  EXPECT_EQ(answered[0], answered[1]);
  EXPECT_EQ(answered[0], answered[2]);
}

/// A cluster that the world outside can reach, and one that it cannot.
struct Divided {
  explicit Divided(const std::vector<test::Item>& inner_items = {}, Cycle period = kNever)
      : faces(engine, "faces", {}, {}), world(faces), outer(engine) {
    engine.begin_cluster();
    requester = std::make_unique<test::Requester>(engine, "requester", ClockDomain{}, inner_items);
    target = std::make_unique<test::Target>(engine, "target", ClockDomain{});
    connect(requester->out, target->in, {32, 20, 40, 20});
    connect(target->out, requester->in, {32, 20, 40, 20});
    inner = std::make_unique<Ticker>(engine, period);
  }
  Engine engine;
  test::Requester faces;
  World world;
  Ticker outer;
  std::unique_ptr<test::Requester> requester;
  std::unique_ptr<test::Target> target;
  std::unique_ptr<Ticker> inner;
};

TEST(RunInStep, NobodyIsAheadWhenProgressIsReported) {
  Divided d({}, 7);
  std::vector<Cycle> reports;
  d.engine.on_progress(25, [&](Cycle now) {
    reports.push_back(now);
    EXPECT_EQ(d.inner->ticks.back(), now);
    return now < 200;
  });
  RunOutcome outcome = RunOutcome::cycle_limit;
  for (Cycle now = 0; outcome == RunOutcome::cycle_limit; ++now)
    outcome = d.engine.run_in_step(now, now + 100);
  EXPECT_EQ(outcome, RunOutcome::stopped);
  EXPECT_EQ(reports.front(), 28U);
  EXPECT_EQ(reports.back(), d.engine.now());
}

TEST(RunInStep, NobodyIsAheadWhenASpanEnds) {
  Divided d({}, 7);
  struct Listener final : SpanListener {
    explicit Listener(const Ticker& t) : ticker(t) {}
    Cycle span_ended(Cycle last) override {
      ends.push_back(last);
      ticked_last.push_back(ticker.ticks.back());
      return last + 25;
    }
    Cycle came_to_rest(Cycle now) override { return now + 25; }
    const Ticker& ticker;
    std::vector<Cycle> ends, ticked_last;
  } listener(*d.inner);
  d.engine.tell_spans(&listener, 25);
  for (Cycle now = 0; now < 100; ++now) static_cast<void>(d.engine.run_in_step(now, now + 100));
  EXPECT_EQ(listener.ends, (std::vector<Cycle>{25, 50, 75}));
  EXPECT_EQ(listener.ticked_last, (std::vector<Cycle>{21, 49, 70}));
}

TEST(RunInStep, WhoIsWokenFromOutsideIsTickedThenEvenIfItsLikeHaveRunAhead) {
  Divided d({}, 50);
  EXPECT_EQ(d.engine.run_in_step(3, 103), RunOutcome::cycle_limit);
  EXPECT_EQ(d.inner->ticks, (std::vector<Cycle>{0, 50}));
  d.requester->wake(60);
  d.target->wake(5);
  d.outer.wake(6);
  EXPECT_EQ(d.engine.run_in_step(10, 110), RunOutcome::cycle_limit);
  EXPECT_EQ(d.outer.ticks, (std::vector<Cycle>{6}));
  EXPECT_GT(d.engine.next_tick(), 10U);
}

TEST(RunInStep, AClusterWithoutPortsThatComesLateRunsToo) {
  Divided d;
  EXPECT_EQ(d.engine.run_in_step(0, 100), RunOutcome::quiescent);
  d.engine.begin_cluster();
  Ticker late(d.engine);
  late.wake(5);
  EXPECT_EQ(d.engine.run_in_step(10, 110), RunOutcome::quiescent);
  EXPECT_EQ(late.ticks, (std::vector<Cycle>{5}));
}

TEST(RunInStep, AtRestAheadOfTheWorldItStillHearsItInTime) {
  Divided d({test::read_item(0, PhysicalAddress{}, 0xF)});
  EXPECT_EQ(d.engine.run_in_step(0, 100), RunOutcome::quiescent);
  const Cycle rest = d.engine.now();
  ASSERT_GT(rest, 40U);
  // One lies in the near future of the cycle of rest, but not in that of the other.
  d.outer.wake(rest + 120);
  d.outer.wake(10);
  for (Cycle now = 1; now < rest + 200; ++now) static_cast<void>(d.engine.run_in_step(now, now + 100));
  EXPECT_EQ(d.outer.ticks, (std::vector<Cycle>{10, rest + 120}));
}

}  // namespace run_in_step_test
}  // namespace warpline
