#include <gtest/gtest.h>

#include "tests/rtl_models/pcie/root_complex/bench_of_root.h"

namespace warpline {
namespace host_bridge_test {

using test::BenchOfRoot;
using Outcome = TlpOutcome;

TEST(HostBridge, AnAnswerThatComesTwiceIsTakenOnce) {
  BenchOfRoot bench;
  bench.device(0).answers = false;
  const auto ticket = bench.host.load(BenchOfRoot::window(0) + 8, 4, 1);
  bench.run(1000);
  const Tlp request = bench.device(0).came.at(0).second;
  bench.device(0).answer(request);
  bench.device(0).answer(request);
  bench.device(0).wake(1001);
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  HostBridge::Answer answer;
  ASSERT_TRUE(bench.host.take(ticket, answer));
  EXPECT_EQ(answer.data, (std::vector<std::uint8_t>{8, 9, 10, 11}));
  EXPECT_FALSE(bench.host.busy());
  EXPECT_EQ(bench.host.counters().unexpected, 1U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(HostBridge, AnAnswerOfAnotherLengthIsNotTaken) {
  BenchOfRoot bench;
  bench.device(0).answers = false;
  const auto ticket = bench.host.load(BenchOfRoot::window(0), 4, 1);
  bench.run(1000);
  Tlp request = bench.device(0).came.at(0).second;
  request.bytes = 16;
  bench.device(0).answer(request);
  bench.device(0).wake(1001);
  bench.run();
  HostBridge::Answer answer;
  ASSERT_TRUE(bench.host.take(ticket, answer));
  EXPECT_EQ(answer.outcome, Outcome::timeout);
}

TEST(HostBridge, LostAnswersDoNotKeepItsTagsForGood) {
  BenchOfRoot bench;
  bench.root.inject([](unsigned port, const Tlp&) {
    return port == RootComplexCore::kHost ? Injection::lose : Injection::none;
  });
  std::vector<HostBridge::Ticket> tickets;
  const unsigned more = BenchOfRoot::host_link().tags + 3;
  for (unsigned i = 0; i < more; ++i)
    tickets.push_back(bench.host.load(BenchOfRoot::window(0) + 4 * i, 4, 1));
  bench.run();
  HostBridge::Answer answer;
  for (const auto ticket : tickets) {
    ASSERT_TRUE(bench.host.take(ticket, answer));
    EXPECT_EQ(answer.outcome, Outcome::timeout);
  }
  bench.root.inject(nullptr);
  const auto last = bench.host.load(BenchOfRoot::window(0), 4, bench.engine.now() + 1);
  bench.run();
  ASSERT_TRUE(bench.host.take(last, answer));
  EXPECT_EQ(answer.outcome, Outcome::done);
}

TEST(HostBridge, ALateAnswerIsNotTakenForThatOfALoadWithTheSameTag) {
  BenchOfRoot bench;
  bench.device(0).answers = false;
  const unsigned tags = BenchOfRoot::host_link().tags;
  HostBridge::Ticket last = 0;
  for (unsigned i = 0; i <= tags; ++i) last = bench.host.load(BenchOfRoot::window(0) + 4 * i, 4, 1);
  const Cycle lost = 1 + TagTable::kLostAfter * BenchOfRoot::host_link().completion_timeout;
  bench.run(lost);
  ASSERT_EQ(bench.device(0).came.size(), tags)
      << "no tag is used again before its answer must have been lost";
  bench.run(lost + 1000);
  ASSERT_EQ(bench.device(0).came.size(), tags + 1);
  const Tlp first = bench.device(0).came.front().second, again = bench.device(0).came.back().second;
  ASSERT_EQ(first.tag, again.tag);
  bench.device(0).answer(first);
  bench.device(0).answer(again);
  bench.device(0).wake(lost + 1001);
  bench.run(lost + 2000);
  HostBridge::Answer answer;
  ASSERT_TRUE(bench.host.take(last, answer));
  ASSERT_EQ(answer.outcome, Outcome::done);
  EXPECT_EQ(answer.data[0], static_cast<std::uint8_t>(4 * tags));
  EXPECT_EQ(bench.host.counters().unexpected, 1U);
}

TEST(RootComplex, AnswersToADeviceThatWentAwayAreForgotten) {
  struct Row {
    const char* what;
    std::uint64_t address;
    Cycle cut;
  };
  for (const Row& row : {Row{"memory", 0x1000, 150}, Row{"another device", BenchOfRoot::window(1), 335}}) {
    for (const bool goes : {false, true}) {
      BenchOfRoot bench;
      bench.device(0).send(1, TlpKind::memory_read, row.address, 64, 5);
      bench.run(row.cut);
      if (goes) bench.root.reset_link(0);
      EXPECT_EQ(bench.run(), RunOutcome::quiescent);
      EXPECT_EQ(bench.device(0).came.size(), goes ? 0U : 1U) << row.what;
      EXPECT_EQ(bench.pool.in_use(), 0U) << row.what;
    }
  }
}

TEST(RootComplex, NothingOnALinkSurvivesItsReset) {
  struct Row {
    const char* what;
    Cycle cut;
    bool written;
  };
  // The device's write is on the wire, or has arrived; the host's accesses are on the wire.
  for (const Row& row : {Row{"on the wire", 20, false}, Row{"arrived", 150, true}}) {
    BenchOfRoot bench;
    bench.device(0).send(1, TlpKind::memory_write, 0x1000, 4);
    bench.run(row.cut);
    const std::uint32_t word = 7;
    bench.host.store(BenchOfRoot::window(0), &word, 4, row.cut + 1);
    const auto ticket = bench.host.load(BenchOfRoot::window(0), 4, row.cut + 1);
    bench.run(row.cut + 60);
    EXPECT_EQ(bench.root.to_device(0).counters().packets_sent, 2U) << row.what;
    bench.root.reset_link(0);
    bench.device(0).send(row.cut + 61, TlpKind::memory_write, 0x2000, 4);
    EXPECT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.memory.at(0x1000)[0], row.written ? 1 : 0) << row.what;
    EXPECT_EQ(bench.memory.at(0x2000)[0], 1) << row.what;
    EXPECT_TRUE(bench.device(0).came.empty()) << row.what;
    HostBridge::Answer answer;
    ASSERT_TRUE(bench.host.take(ticket, answer));
    EXPECT_EQ(answer.outcome, Outcome::timeout);
    EXPECT_EQ(bench.pool.in_use(), 0U) << row.what;
  }
}

TEST(RootComplex, WhatWaitsForALinkThatGoesDownIsRefused) {
  std::vector<LinkParameters> links(2);
  links[1].bytes_per_cycle = 1;
  BenchOfRoot bench(links);
  for (unsigned i = 0; i < 40; ++i)
    bench.device(0).send(1, TlpKind::memory_write, BenchOfRoot::window(1) + 64 * i, 64);
  bench.device(0).send(1, TlpKind::memory_read, BenchOfRoot::window(1), 4, 9);
  bench.run(1000);
  bench.root.reset_link(1);
  const std::size_t before = bench.device(1).came.size();
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_GT(bench.device(1).came.size(), before) << "what was still on its way to the root complex";
  EXPECT_LT(bench.device(1).came.size(), 41U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

}  // namespace host_bridge_test
}  // namespace warpline
