#include "rtl_models/sim/engine.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "tests/support/mock_components.h"

namespace warpline {
namespace engine_test {

/// Notes its ticks and asks for the next as it is told.
class Sleeper final : public Component {
 public:
  Sleeper(Engine& engine, std::string name, std::vector<Cycle> alarms, ClockDomain domain = {})
      : Component(engine, std::move(name), domain), alarms_(std::move(alarms)) {
    if (!alarms_.empty()) wake(alarms_.front());
  }
  Cycle tick(Cycle now) override {
    ticks.push_back(now);
    while (next_ < alarms_.size() && alarms_[next_] <= now) ++next_;
    return next_ < alarms_.size() ? alarms_[next_] : kNever;
  }
  [[nodiscard]] bool busy() const override { return stuck; }
  void explain(std::vector<Wait>& waits) const override { waits.push_back({name(), "Godot"}); }
  std::vector<Cycle> ticks;
  bool stuck = false;

 private:
  std::vector<Cycle> alarms_;
  std::size_t next_ = 0;
};

TEST(Engine, TicksWhenAskedAndNotElse) {
  Engine engine;
  const std::vector<Cycle> alarms = {0, 1, 5, 1023, 1024, 1025, 2047, 2048, 100000, 100001, 10000000};
  Sleeper sleeper(engine, "sleeper", alarms);
  EXPECT_EQ(engine.run_until(kNever - 1), RunOutcome::quiescent);
  EXPECT_EQ(sleeper.ticks, alarms);
  EXPECT_EQ(engine.ticks(), alarms.size());
}

TEST(Engine, AlarmsFallOnEdgesOfTheDomain) {
  Engine engine;
  Sleeper sleeper(engine, "sleeper", {1, 4, 7, 2000}, ClockDomain(3, 1));
  EXPECT_EQ(engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(sleeper.ticks, (std::vector<Cycle>{3, 6, 9, 2001}));
}

TEST(Engine, ManyComponentsWithAlarmsSetWhileTheNetlistGrows) {
  Engine engine;
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  for (unsigned i = 0; i < 300; ++i)
    sleepers.push_back(std::make_unique<Sleeper>(engine, "s", std::vector<Cycle>{i % 7, 1000 + i, 5000 - i}));
  EXPECT_EQ(engine.run_until(10000), RunOutcome::quiescent);
  for (unsigned i = 0; i < 300; ++i)
    EXPECT_EQ(sleepers[i]->ticks, (std::vector<Cycle>{i % 7, 1000 + i, 5000 - i}));
}

TEST(Engine, StopsAtTheLimitAndGoesOn) {
  Engine engine;
  Sleeper sleeper(engine, "sleeper", {10, 5000});
  EXPECT_EQ(engine.run_until(9), RunOutcome::cycle_limit);
  EXPECT_TRUE(sleeper.ticks.empty());
  EXPECT_EQ(engine.run_until(10), RunOutcome::cycle_limit);
  EXPECT_EQ(sleeper.ticks.size(), 1U);
  EXPECT_EQ(engine.run_until(4999), RunOutcome::cycle_limit);
  EXPECT_EQ(engine.run_until(5000), RunOutcome::quiescent);
  EXPECT_EQ(sleeper.ticks.size(), 2U);
}

TEST(Engine, ADeadlockIsFoundAndExplained) {
  Engine engine;
  Sleeper sleeper(engine, "vladimir", {10});
  sleeper.stuck = true;
  EXPECT_EQ(engine.run_until(100), RunOutcome::deadlock);
  const std::vector<Wait> waits = engine.explain();
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].who, "vladimir");
  EXPECT_EQ(waits[0].what, "Godot");
}

TEST(Engine, AMessageThatNobodyTakesIsADeadlock) {
  Engine engine;
  Sleeper deaf(engine, "deaf", {});
  In<RequestMessage> in(deaf, "ear");
  test::Requester requester(engine, "requester", {}, {test::read_item(5, PhysicalAddress{}, 1)});
  test::Target target(engine, "target", {});
  connect(requester.out, in, {32, 3, 4, 1});
  connect(target.out, requester.in, {32, 3, 4, 1});
  EXPECT_EQ(engine.run_until(10000), RunOutcome::deadlock);
  EXPECT_EQ(deaf.ticks, std::vector<Cycle>{8});
  bool named = false;
  for (const InFlight& row : engine.in_flight()) named = named || row.at == "deaf.ear";
  EXPECT_TRUE(named);
}

TEST(Engine, ProgressIsReportedAndMayStop) {
  Engine engine;
  std::vector<Cycle> alarms;
  for (Cycle c = 0; c < 1000; c += 10) alarms.push_back(c);
  Sleeper sleeper(engine, "sleeper", alarms);
  std::vector<Cycle> reports;
  engine.on_progress(100, [&](Cycle now) {
    reports.push_back(now);
    return now < 500;
  });
  EXPECT_EQ(engine.run_until(10000), RunOutcome::stopped);
  EXPECT_EQ(reports, (std::vector<Cycle>{100, 200, 300, 400, 500}));
  EXPECT_EQ(sleeper.ticks.back(), 500U);
}

/// Spans of ten cycles.
struct Spans final : SpanListener {
  explicit Spans(const Sleeper& s) : sleeper(s) {}
  Cycle span_ended(Cycle last) override {
    ends.push_back(last);
    EXPECT_TRUE(sleeper.ticks.empty() || sleeper.ticks.back() <= last);
    return last + 10;
  }
  Cycle came_to_rest(Cycle now) override {
    rested = now;
    return now + 10;
  }
  const Sleeper& sleeper;
  std::vector<Cycle> ends;
  Cycle rested = kNever;
};

TEST(Engine, SpansEndBeforeWhatComesLater) {
  for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    Engine engine(mode);
    Sleeper sleeper(engine, "sleeper", {3, 10, 11, 20, 45});
    Spans spans(sleeper);
    engine.tell_spans(&spans, 10);
    engine.note_move(17);
    EXPECT_EQ(engine.run_until(1000), RunOutcome::quiescent);
    EXPECT_EQ(spans.ends, (std::vector<Cycle>{10, 20, 30, 40}));
    EXPECT_EQ(spans.rested, 17U);  // whatever was ticked after it
    spans.ends.clear();
    sleeper.ticks.clear();
    sleeper.wake(30);
    EXPECT_EQ(engine.run_until(1000), RunOutcome::quiescent);
    EXPECT_EQ(spans.ends, (std::vector<Cycle>{27}));
    engine.tell_spans(nullptr, 0);
    sleeper.wake(90);
    EXPECT_EQ(engine.run_until(1000), RunOutcome::quiescent);
    EXPECT_EQ(spans.ends, (std::vector<Cycle>{27}));
  }
}

TEST(Engine, EveryCycleModeTicksEveryEdge) {
  Engine engine(TickMode::every_cycle);
  Sleeper fast(engine, "fast", {20});
  Sleeper slow(engine, "slow", {}, ClockDomain(4, 1));
  EXPECT_EQ(engine.run_until(100), RunOutcome::quiescent);
  EXPECT_EQ(fast.ticks.size(), 20U);
  EXPECT_EQ(slow.ticks, (std::vector<Cycle>{4, 8, 12, 16, 20}));
}

TEST(Engine, ShuffledModeKeepsAlarmsAndVariesWithItsSeed) {
  std::vector<std::vector<Cycle>> ticks;
  for (const std::uint64_t seed : {1, 1, 2}) {
    Engine engine(TickMode::spurious_and_shuffled, seed);
    Sleeper a(engine, "a", {10, 500, 3000});
    Sleeper b(engine, "b", {500});
    EXPECT_EQ(engine.run_until(10000), RunOutcome::quiescent);
    for (const Cycle c : {10, 500, 3000}) {
      EXPECT_EQ(std::count(a.ticks.begin(), a.ticks.end(), c), 1) << c;
    }
    EXPECT_GT(a.ticks.size(), 100U);
    EXPECT_LT(a.ticks.size(), 2000U);
    ticks.push_back(a.ticks);
  }
  EXPECT_EQ(ticks[0], ticks[1]);
  EXPECT_NE(ticks[0], ticks[2]);
}

TEST(Engine, TheOrderWithinACycleHasNoEffectOnChannels) {
  // Two pairs that differ in who is built, and so ticked, first.
  const std::vector<test::Item> items(50, test::read_item(3, PhysicalAddress{}, 0xF));
  Engine engine;
  test::Target early(engine, "early", {}, 4, 3);
  test::Requester one(engine, "one", {}, items);
  test::Requester two(engine, "two", {}, items);
  test::Target late(engine, "late", {}, 4, 3);
  const ChannelParameters p{64, 1, 2, 1};
  connect(one.out, early.in, p);
  connect(early.out, one.in, p);
  connect(two.out, late.in, p);
  connect(late.out, two.in, p);
  ASSERT_EQ(engine.run_until(10000), RunOutcome::quiescent);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(one.answers[i].sent, two.answers[i].sent);
    EXPECT_EQ(one.answers[i].answered, two.answers[i].answered);
  }
}

TEST(Engine, TheLookaheadIsTheShortestWayBetweenClusters) {
  Engine engine;
  test::Requester requester(engine, "requester", ClockDomain(3, 2), {});
  Sleeper near(engine, "near", {});
  Out<RequestMessage> out(near, "out");
  In<RequestMessage> in(requester, "in");
  connect(out, in, {32, 1, 4, 1});  // within a cluster
  EXPECT_GT(engine.lookahead(), 20U);
  engine.begin_cluster();
  test::Target target(engine, "target", {});
  connect(requester.out, target.in, {32, 7, 40, 20});
  EXPECT_EQ(engine.lookahead(), 10U);  // seven edges of the sender
  connect(target.out, requester.in, {32, 30, 40, 9});
  EXPECT_EQ(engine.lookahead(), 9U);  // the credit
}

TEST(Engine, AClusterRunsAheadAndNoMessageMovesInAnotherCycle) {
  std::vector<test::Item> items;
  for (Cycle at = 0; at < 200; at += 2) items.push_back(test::read_item(at, PhysicalAddress{}, 0xF));
  std::vector<std::vector<Cycle>> answered;
  for (const bool clusters : {false, true}) {
    Engine engine;
    test::Requester requester(engine, "requester", {}, items);
    if (clusters) engine.begin_cluster();
    test::Target target(engine, "target", {}, 4, 3);
    connect(requester.out, target.in, {32, 12, 5, 10});
    connect(target.out, requester.in, {32, 10, 7, 12});
    EXPECT_EQ(engine.lookahead() == 10, clusters);
    ASSERT_EQ(engine.run_until(100000), RunOutcome::quiescent);
    answered.emplace_back();
    for (const auto& a : requester.answers) answered.back().push_back(a.answered);
    answered.back().push_back(engine.now());
  }
  EXPECT_EQ(answered[0], answered[1]);
}

TEST(Engine, TimeGoesOnAfterQuiescence) {
  Engine engine;
  test::Requester requester(engine, "requester", {}, {test::read_item(5, PhysicalAddress{}, 1)});
  test::Target target(engine, "target", {});
  connect(requester.out, target.in, {32, 3, 4, 1});
  connect(target.out, requester.in, {32, 3, 4, 1});
  ASSERT_EQ(engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(engine.now(), 5U + 3 + 1 + 3);
  ASSERT_EQ(engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(engine.now(), 12U);
}

}  // namespace engine_test
}  // namespace warpline
