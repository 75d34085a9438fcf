#include "rtl_models/sim/probe.h"

#include <gtest/gtest.h>

#include <memory>

#include "rtl_models/base/random.h"
#include "tests/support/mock_components.h"

namespace warpline {
namespace probe_test {

using test::Requester;
using test::Target;

/// Keeps what it hears, and insists on its order.
class Listener final : public Observer {
 public:
  void start(Cycle first, const std::vector<Signal>& signals,
             const std::vector<std::uint64_t>& values) override {
    EXPECT_TRUE(names.empty());
    now_ = first;
    for (const Signal& s : signals) names.push_back(s.path);
    most = signals;
    initial = now = values;
  }
  void change(Cycle cycle, std::uint32_t signal, std::uint64_t value) override {
    EXPECT_GE(cycle, now_);
    EXPECT_NE(value, now.at(signal));
    now_ = cycle;
    now[signal] = value;
    changes.push_back({cycle, names.at(signal), value});
  }
  void message(const MessageEvent& event) override {
    EXPECT_FALSE(names.empty());
    if (!messages.empty()) {
      EXPECT_GE(event.cycle, messages.back().cycle);
    }
    messages.push_back(event);
  }
  void finish(Cycle last) override { end = last; }

  struct Change {
    Cycle cycle;
    std::string signal;
    std::uint64_t value;
    friend bool operator==(const Change& a, const Change& b) {
      return a.cycle == b.cycle && a.signal == b.signal && a.value == b.value;
    }
    friend std::ostream& operator<<(std::ostream& out, const Change& c) {
      return out << c.cycle << ' ' << c.signal << ' ' << c.value;
    }
  };
  std::vector<std::string> names;
  std::vector<Signal> most;
  std::vector<std::uint64_t> initial, now;
  std::vector<Change> changes;
  std::vector<MessageEvent> messages;
  Cycle end = kNever;

 private:
  Cycle now_ = 0;
};

/// A requester and a target, in clusters of their own, and a probe on each.
struct Bench {
  explicit Bench(std::vector<test::Item> items, ChannelParameters channel = {}, Window window = {},
                 TickMode mode = TickMode::lazy)
      : engine(mode, 3), recorder(engine, window, listener) {
    requester = std::make_unique<Requester>(engine, "requester", ClockDomain{}, std::move(items));
    engine.begin_cluster();
    target = std::make_unique<Target>(engine, "target", ClockDomain{}, 1, 3);
    connect(requester->out, target->in, channel);
    connect(target->out, requester->in, channel);
    std::uint32_t order = 0;
    at_target = std::make_unique<Probe>(
        *target, true, std::vector<PortProbe>{{&target->in, true, true, false}}, recorder, order);
    at_requester = std::make_unique<Probe>(
        *requester, false, std::vector<PortProbe>{{&requester->in, false, true, true}}, recorder, order);
  }
  void run(Cycle limit = kNever - 1) {
    outcome = engine.run_until(limit);
    if (outcome == RunOutcome::quiescent) recorder.settle();
    recorder.finish();
  }
  Engine engine;
  Listener listener;
  Recorder recorder;
  std::unique_ptr<Requester> requester;
  std::unique_ptr<Target> target;
  std::unique_ptr<Probe> at_target, at_requester;
  RunOutcome outcome = RunOutcome::deadlock;
};

std::vector<test::Item> reads(std::size_t count, Cycle every) {
  std::vector<test::Item> items;
  for (std::size_t i = 0; i < count; ++i)
    items.push_back(test::read_item(10 + i * every, PhysicalAddress{i * 128}, 0b1111));
  return items;
}

TEST(Probe, SaysWhenAMessageBeganWasOnTheWireAndWasTaken) {
  // A write of two sectors takes 2 beats of 32 bytes: 10 and 11. The latency of 2 brings it in 13.
  std::vector<test::Item> items;
  ByteMask bytes;
  bytes.set(0, 64);
  items.push_back(test::write_item(10, PhysicalAddress{0x1280}, bytes));
  Bench b(items, {32, 2, 4, 2});
  b.run();
  ASSERT_EQ(b.target->seen.at(0).at, 13U);
  const std::vector<Listener::Change> expected = {{10, "target.from_requester.occupancy", 1},
                                                  {10, "target.from_requester.busy", 1},
                                                  {12, "target.from_requester.busy", 0},
                                                  {13, "target.from_requester.occupancy", 0}};
  EXPECT_EQ(b.listener.changes, expected);
  EXPECT_EQ(b.listener.most[0].most, 4U) << "the depth, known once the port is bound";
  EXPECT_EQ(b.listener.end, b.engine.now());
  ASSERT_EQ(b.listener.messages.size(), 4U);
  const Cycle answer = b.requester->answers[0].answered;
  const Cycle cycles[] = {10, 13, answer - 2, answer};
  for (unsigned i = 0; i < 4; ++i) {
    const MessageEvent& e = b.listener.messages[i];
    EXPECT_EQ(e.cycle, cycles[i]);
    EXPECT_EQ(e.taken, i % 2 == 1);
    EXPECT_EQ(e.response, i >= 2);
    EXPECT_EQ(e.line, PhysicalAddress{0x1280});
    EXPECT_EQ(e.command, Command::write);
    EXPECT_EQ(e.sectors, 0b0011);
    EXPECT_EQ(e.maker, static_cast<const void*>(b.requester.get()));
  }
}

TEST(Probe, LargeRunsAreHandedOnInOrderWhileTheyRun) {
  // Far apart, so that the clusters run ahead of each other, and more than is kept before it is handed on.
  constexpr std::size_t kCount = 30'000;
  for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    Bench b(reads(kCount, 2), {32, 50, 120, 60}, {}, mode);
    ASSERT_EQ(b.engine.run_until(40'000), RunOutcome::cycle_limit);
    EXPECT_GT(b.listener.messages.size(), 10'000U) << "before the end";
    b.run();
    ASSERT_EQ(b.outcome, RunOutcome::quiescent);
    ASSERT_EQ(b.listener.messages.size(), 4 * kCount);
    std::vector<Cycle> begun, taken;
    for (const MessageEvent& e : b.listener.messages)
      if (!e.response) (e.taken ? taken : begun).push_back(e.cycle);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(begun[i], b.requester->answers[i].sent);
      ASSERT_EQ(taken[i], b.target->seen[i].at);
    }
  }
}

TEST(Probe, AWindowBoundsWhatIsHeardAndItsStartIsTheStateThen) {
  Bench whole(reads(200, 1));
  whole.run();
  const auto at = [&](const std::string& signal, Cycle cycle) {
    std::uint64_t value = 0;
    for (const Listener::Change& c : whole.listener.changes)
      if (c.signal == signal && c.cycle < cycle) value = c.value;
    return value;
  };
  Random random(5);
  unsigned full = 0;
  for (unsigned n = 0; n < 50; ++n) {
    const Cycle first = random.below(600), last = first + random.below(100);
    Bench b(reads(200, 1), {}, {first, last});
    b.run();
    std::vector<Listener::Change> expected;
    for (const Listener::Change& c : whole.listener.changes)
      if (c.cycle >= first && c.cycle <= last) expected.push_back(c);
    EXPECT_EQ(b.listener.changes, expected) << first << ':' << last;
    for (std::size_t i = 0; i < b.listener.names.size(); ++i)
      EXPECT_EQ(b.listener.initial[i], at(b.listener.names[i], first)) << b.listener.names[i];
    full += b.listener.initial[0] == 4;
    for (const MessageEvent& e : b.listener.messages) EXPECT_LE(e.cycle, last);
    EXPECT_EQ(b.listener.end, std::max(first, std::min(last, b.engine.now())));
  }
  EXPECT_GT(full, 5U);
}

/// Holds something until an alarm that moves no message.
class Slow final : public Component {
 public:
  Slow(Engine& engine, Cycle at, Cycle until) : Component(engine, "slow"), at_(at), until_(until) {
    wake(at);
  }
  void again(Cycle at, Cycle until) {
    at_ = at;
    until_ = until;
    wake(at);
  }
  Cycle tick(Cycle now) override {
    held_ = now >= at_ && now < until_ ? 1 : 0;
    if (now < at_) return at_;
    return now < until_ ? until_ : kNever;
  }
  [[nodiscard]] bool busy() const override { return held_ != 0; }
  void explain(std::vector<Wait>&) const override {}
  void visit_gauges(GaugeVisitor& visitor) const override { visitor.gauge("held", held_, 1, "held"); }

 private:
  Cycle at_, until_;
  std::uint64_t held_ = 0;
};

TEST(Probe, TimeThatGoesBackOverIdleTicksLeavesTheSignalsInOrder) {
  Engine engine;
  Listener listener;
  Recorder recorder(engine, {}, listener);
  Slow slow(engine, 100, 500);
  std::uint32_t order = 0;
  const Probe probe(slow, true, {}, recorder, order);
  ASSERT_EQ(engine.run_until(10'000), RunOutcome::quiescent);
  ASSERT_EQ(engine.now(), 0U) << "no message moved";
  recorder.settle();
  slow.again(200, 300);
  ASSERT_EQ(engine.run_until(250), RunOutcome::cycle_limit);
  recorder.finish();
  EXPECT_EQ(listener.changes, (std::vector<Listener::Change>{{200, "slow.held", 1}}));
}

TEST(Probe, WhatIsNoLongerObservedTicksAsBefore) {
  Bench b(reads(20, 3));
  b.engine.run_until(20);
  b.recorder.finish();
  const std::size_t heard = b.listener.messages.size();
  b.at_target.reset();
  b.at_requester.reset();
  EXPECT_EQ(b.engine.run_until(1000), RunOutcome::quiescent);
  EXPECT_EQ(b.target->seen.size(), 20U);
  EXPECT_EQ(b.listener.messages.size(), heard);
}

}  // namespace probe_test
}  // namespace warpline
