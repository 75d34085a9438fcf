#include <gtest/gtest.h>

#include "bench_of_root.h"

namespace warpline {
namespace {

using test::BenchOfRoot;
using Outcome = HostBridge::Outcome;
using Injection = RootComplex::Injection;

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
      if (goes) {
        bench.root.set_link(0, false);
        bench.root.set_link(0, true);
      }
      EXPECT_EQ(bench.run(), RunOutcome::quiescent);
      EXPECT_EQ(bench.device(0).came.size(), goes ? 0U : 1U) << row.what;
      EXPECT_EQ(bench.pool.in_use(), 0U) << row.what;
    }
  }
}

}  // namespace
}  // namespace warpline
