// What is observed while some clusters run ahead of a world outside that feeds others.
#include <gtest/gtest.h>

#include "rtl_models/sim/probe.h"
#include "tests/support/mock_components.h"

namespace warpline {
namespace probe_outside_test {

using test::Requester;

/// Answers each request from outside the engine, late, and takes no other until then.
struct LateAnswers final : Carrier<RequestMessage>, Upstream {
  explicit LateAnswers(Requester& r) : asks(r) {
    r.out.bind(static_cast<Carrier<RequestMessage>&>(*this));
    r.in.bind(static_cast<Upstream&>(*this), {}, ClockDomain{});
  }
  Cycle begin(Cycle t, const RequestMessage& message) override {
    due = t + 10;
    request = message.request;
    return kNever;
  }
  void end(Cycle /*c*/) override {}
  void pass(Cycle now) {
    if (due != now) return;
    static_cast<void>(asks.in.begin(now, {request}));
    asks.out.end(now + 1);
  }
  Requester& asks;
  Request* request = nullptr;
  Cycle due = kNever;
};

/// Insists on the order of what it hears, and counts the messages.
struct InOrder final : Observer {
  void start(Cycle first, const std::vector<Signal>&, const std::vector<std::uint64_t>&) override {
    changed = first;
  }
  void change(Cycle cycle, std::uint32_t, std::uint64_t) override {
    late += cycle < changed;
    changed = cycle;
  }
  void message(const MessageEvent& event) override {
    late += event.cycle < moved;
    moved = event.cycle;
    ++messages;
  }
  void finish(Cycle) override {}
  Cycle changed = 0, moved = 0;
  std::size_t messages = 0;
  unsigned late = 0;
};

TEST(ProbeOutside, WhatComesFromThereIsInOrderThoughOthersHaveRunAheadOfIt) {
  constexpr std::size_t kCount = 30'000;
  std::vector<test::Item> items;
  for (std::size_t i = 0; i < kCount; ++i) items.push_back(test::read_item(2 * i, PhysicalAddress{}, 1));
  Engine engine;
  InOrder observer;
  Recorder recorder(engine, {}, observer);
  Requester faces(engine, "faces", {}, {items.begin(), items.begin() + 5000});
  LateAnswers world(faces);
  engine.begin_cluster();
  Requester requester(engine, "requester", {}, items);
  test::Target target(engine, "target", {});
  connect(requester.out, target.in, {32, 1, 4, 1});
  connect(target.out, requester.in, {32, 1, 4, 1});
  std::uint32_t order = 0;
  const Probe at_faces(faces, false, {{&faces.in, true, true, true}}, recorder, order);
  const Probe at_target(target, false, {{&target.in, true, true, false}}, recorder, order);
  RunOutcome outcome = RunOutcome::cycle_limit;
  for (Cycle now = 0; now < 62'000; ++now) {
    world.pass(now);
    outcome = engine.run_in_step(now, now + 100);
  }
  ASSERT_EQ(outcome, RunOutcome::quiescent);
  EXPECT_GT(observer.messages, 10'000U) << "before the end";
  recorder.finish();
  EXPECT_EQ(observer.messages, 2 * (kCount + faces.answers.size()));
  EXPECT_EQ(observer.late, 0U);
}

}  // namespace probe_outside_test
}  // namespace warpline
