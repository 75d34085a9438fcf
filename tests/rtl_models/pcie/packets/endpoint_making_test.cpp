// What a function sends of its own accord: reads and how they end, writes, interrupts.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/rtl_models/pcie/packets/endpoint_bench.h"

namespace warpline {
namespace endpoint_making_test {

using Bench = test::EndpointBench;

TEST(EndpointMaking, WritesAreCutAtThePayloadThatSoftwareSet) {
  Bench bench;
  std::vector<std::uint8_t> data(600);
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  for (const unsigned code : {0U, 1U, 2U}) {  // 128, 256, and 512, which is more than the link carries
    bench.core.config().write(bench.control(), code << 5U | 1U << 4U, 3);
    bench.core.write(0x10FE0, data.data(), 600, true);
    std::vector<std::uint8_t> sent;
    for (const Tlp& tlp : bench.sent()) {
      EXPECT_LE(tlp.payload(), std::min(128U << code, 256U));
      EXPECT_TRUE(tlp.relaxed_ordering);
      EXPECT_EQ(tlp.requester, Bench::kSelf);
      EXPECT_EQ(tlp.address, 0x10FE0 + sent.size());
      sent.insert(sent.end(), tlp.data.begin(), tlp.data.end());
    }
    EXPECT_EQ(sent, data);
  }
  EXPECT_EQ(bench.core.counters().writes, 6U + 4 + 4);
}

TEST(EndpointMaking, RelaxedOrderingNeedsPermission) {
  Bench bench;
  const std::uint8_t byte = 1;
  bench.core.write(0, &byte, 1, true);
  bench.core.write(0, &byte, 1, false);
  bench.core.config().write(bench.control(), 0, 3);
  bench.core.write(0, &byte, 1, true);
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_TRUE(sent[0].relaxed_ordering);
  EXPECT_FALSE(sent[1].relaxed_ordering);
  EXPECT_FALSE(sent[2].relaxed_ordering);
}

TEST(EndpointMaking, NoSnoopIsCarriedWhereSoftwareLetsIt) {
  for (const bool asked : {false, true}) {
    Bench bench;
    bench.core.request_no_snoop(asked);
    for (const bool enabled : {true, false}) {
      if (!enabled) bench.core.config().write(bench.control(), 0, 3);
      const std::array<std::uint8_t, 4> data{};
      bench.core.read(1, 0x1000, 4, 0);
      bench.core.write(0x1000, data.data(), 4, false);
      for (const Tlp& tlp : bench.sent()) EXPECT_EQ(tlp.no_snoop, asked && enabled);
    }
    bench.core.config().write(bench.control(), 0x800, 3);
    bench.core.config().write(bench.core.config().msix_capability(), 0x80000000);
    bench.core.msix()->write(24, 8, 1);
    bench.core.msix()->raise(1);
    bench.core.send_interrupts();
    for (const Tlp& tlp : bench.sent()) EXPECT_FALSE(tlp.no_snoop) << "of an interrupt it must be clear";
  }
}

TEST(EndpointMaking, WithoutBusMasteringItMakesNothing) {
  Bench bench;
  bench.core.msix()->write(12, 4, 0);
  bench.core.config().write(bench.core.config().msix_capability(), 0x80000000);
  bench.core.config().write(Bench::kCommand, Bench::kMemory, 3);
  EXPECT_FALSE(bench.core.may_read());
  EXPECT_FALSE(bench.core.may_write());
  bench.core.msix()->raise(0);
  bench.core.send_interrupts();
  EXPECT_TRUE(bench.sent().empty()) << "messages are writes, too";
  EXPECT_TRUE(bench.core.msix()->pending(0));
  EXPECT_TRUE(bench.receive(bench.request_for(TlpKind::memory_read, Bench::kBar, 4)))
      << "it answers all the same";
  bench.core.config().write(Bench::kCommand, Bench::kMemory | Bench::kMaster, 3);
  bench.core.send_interrupts();
  EXPECT_EQ(bench.sent().size(), 1U);
}

TEST(EndpointMaking, InterruptsAreWritesOfTheirMessage) {
  Bench bench;
  bench.core.msix()->write(16, 8, 0x1234'5678'9ABC'DEF0ULL);
  bench.core.msix()->write(24, 8, 0x1122'3344);
  bench.core.msix()->raise(1);
  bench.core.msix()->raise(2);
  bench.core.send_interrupts();
  EXPECT_TRUE(bench.sent().empty()) << "MSI-X is off";
  bench.core.config().write(bench.core.config().msix_capability(), 0x80000000);
  bench.core.send_interrupts();
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 1U) << "vector 2 is masked";
  EXPECT_EQ(sent[0].kind, TlpKind::memory_write);
  EXPECT_EQ(sent[0].address, 0x1234'5678'9ABC'DEF0ULL);
  EXPECT_EQ(sent[0].data, (std::vector<std::uint8_t>{0x44, 0x33, 0x22, 0x11}));
  EXPECT_FALSE(sent[0].relaxed_ordering) << "it must not come before what it announces";
  EXPECT_EQ(bench.core.counters().interrupts, 1U);
}

TEST(EndpointMaking, ReadsComeBackInPartsUnderTheirCookie) {
  Bench bench;
  bench.core.read(77, 0x1000, 256, 0);
  bench.core.read(78, 0x2000, 0, 0);
  bench.core.fetch_add(79, 0x3000, 8, 0x0102, 0);
  EXPECT_EQ(bench.device_status(), 0x20U) << "transactions are pending";
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[2].data, (std::vector<std::uint8_t>{2, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(bench.core.reads_in_flight(), 3U);
  bench.receive(Bench::completion(sent[2], 0, 8));
  bench.receive(Bench::completion(sent[0], 0, 128));
  bench.receive(Bench::completion(sent[1], 0, 0));
  bench.receive(Bench::completion(sent[0], 128, 128));
  const std::vector<ReadPart> parts = bench.parts();
  ASSERT_EQ(parts.size(), 4U);
  const std::vector<std::uint32_t> cookies = {79, 77, 78, 77};
  const std::vector<bool> last = {true, false, true, true};
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(parts[i].cookie, cookies[i]);
    EXPECT_EQ(parts[i].last, last[i]);
    EXPECT_EQ(parts[i].outcome, TlpOutcome::done);
  }
  EXPECT_EQ(parts[3].address, 0x1080U);
  EXPECT_EQ(bench.core.reads_in_flight(), 0U);
  EXPECT_EQ(bench.device_status(), 0U);
}

TEST(EndpointMaking, FailedReadsSayWhyInPartsAndInStatus) {
  struct Case {
    CompletionStatus status;
    bool poisoned;
    TlpOutcome outcome;
    unsigned status_bits, device_status;
  };
  const Case cases[] = {
      {CompletionStatus::unsupported_request, false, TlpOutcome::unsupported_request, 1U << 13U, 0},
      {CompletionStatus::completer_abort, false, TlpOutcome::completer_abort, 1U << 12U, 0},
      {CompletionStatus::successful, true, TlpOutcome::poisoned, 1U << 15U | 1U << 8U, 2},
  };
  for (const Case& c : cases) {
    Bench bench;
    bench.core.config().write(Bench::kCommand, Bench::kMemory | Bench::kMaster | 1U << 6U, 3);
    bench.core.read(5, 0x1000, 64, 0);
    const Tlp read = bench.sent().at(0);
    Tlp answer = Bench::completion(read, 0, c.poisoned ? 64 : 0);
    answer.status = c.status;
    answer.poisoned = c.poisoned;
    bench.receive(answer);
    const std::vector<ReadPart> parts = bench.parts();
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].outcome, c.outcome);
    EXPECT_TRUE(parts[0].last);
    EXPECT_TRUE(parts[0].data.empty());
    EXPECT_EQ(bench.status(), c.status_bits);
    EXPECT_EQ(bench.device_status(), c.device_status);
    EXPECT_EQ(bench.core.tags_given_up(), 0U) << "its last completion has come";
  }
}

TEST(EndpointMaking, AReadIsGivenUpInExactlyTheCycleOfItsTimeout) {
  Bench bench;  // 50000 cycles
  EXPECT_EQ(bench.core.next_expiry(), kNever);
  bench.core.read(1, 0x1000, 64, 100);
  bench.core.read(2, 0x2000, 64, 300);
  const Tlp read = bench.sent().at(0);
  EXPECT_EQ(bench.core.next_expiry(), 50100U);
  bench.core.expire(50099);
  EXPECT_TRUE(bench.parts().empty());
  bench.core.expire(50100);
  const std::vector<ReadPart> parts = bench.parts();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].cookie, 1U);
  EXPECT_EQ(parts[0].outcome, TlpOutcome::timeout);
  EXPECT_EQ(bench.core.next_expiry(), 50300U);
  EXPECT_EQ(bench.device_status() & 2U, 2U);
  EXPECT_EQ(bench.core.tags_given_up(), 1U);
  bench.receive(Bench::completion(read, 0, 64));
  EXPECT_TRUE(bench.parts().empty()) << "too late";
  EXPECT_EQ(bench.core.counters().unexpected, 1U);
  EXPECT_EQ(bench.core.tags_given_up(), 0U);
}

TEST(EndpointMaking, TheTimeoutOfAReadBeginsOnTheWire) {
  Bench bench;
  bench.core.read(1, 0x1000, 64, 100);
  bench.core.expire(1'000'000);
  EXPECT_EQ(bench.core.next_expiry(), kNever);
  EXPECT_EQ(bench.core.reads_in_flight(), 1U) << "it waits behind writes, say";
  const Tlp first = bench.sent(2'000'000).at(0);
  bench.core.read(2, 0x2000, 64, 2'000'010);
  bench.sent(2'000'020);
  EXPECT_EQ(bench.core.next_expiry(), 2'050'000U);
  bench.receive(Bench::completion(first, 0, 64));
  EXPECT_EQ(bench.core.next_expiry(), 2'050'020U);
}

TEST(EndpointMaking, SoftwareMakesTimeoutsLongerOrEndsThem) {
  Bench bench;
  const unsigned control2 = bench.core.config().express_capability() + 0x28;
  bench.core.read(1, 0x1000, 64, 0);
  bench.sent();
  bench.core.config().write(control2, 2);
  EXPECT_EQ(bench.core.next_expiry(), 20U * 50000U);
  bench.core.config().write(control2, 0x10);
  EXPECT_EQ(bench.core.next_expiry(), kNever);
  bench.core.expire(kNever - 1);
  EXPECT_EQ(bench.core.reads_in_flight(), 1U);
}

TEST(EndpointMaking, TagsBoundWhatIsInFlight) {
  LinkParameters p;
  p.tags = 40;
  Bench bench(p);
  unsigned made = 0;
  for (; bench.core.may_read(); ++made) bench.core.read(made, 0x1000 * made, 4, 0);
  EXPECT_EQ(made, 40U);
  bench.core.reset();
  EXPECT_EQ(bench.pool.in_use(), 0U);
  EXPECT_EQ(bench.core.reads_in_flight(), 0U);
  bench.place();
  bench.core.config().write(bench.control(), 0, 3);
  for (made = 0; bench.core.may_read(); ++made) bench.core.read(made, 0x1000 * made, 4, 0);
  EXPECT_EQ(made, 32U) << "five bits, without extended tags";
  for (const Tlp& tlp : bench.sent()) EXPECT_LT(tlp.tag, 32U);
}

TEST(EndpointMaking, ASoftResetKeepsTagsUntilTheirCompletionsHaveCome) {
  Bench bench;
  bench.core.read(1, 0x1000, 64, 0);
  const Tlp read = bench.sent().at(0);
  for (const std::uint8_t state : {std::uint8_t{3}, std::uint8_t{0}}) {
    Tlp power = bench.request_for(TlpKind::config_write, bench.power(), 1);
    power.data = {state};
    EXPECT_FALSE(bench.receive(power));
  }
  EXPECT_EQ(bench.core.reads_in_flight(), 0U);
  EXPECT_EQ(bench.core.tags_given_up(), 1U);
  EXPECT_EQ(bench.core.next_expiry(), kNever);
  bench.receive(Bench::completion(read, 0, 64));
  EXPECT_TRUE(bench.parts().empty());
  EXPECT_EQ(bench.core.tags_given_up(), 0U);
}

TEST(EndpointMaking, ATagWhoseCompletionNeverComesIsUsedAgainWhenThereIsNoOther) {
  LinkParameters p;  // 50000 cycles
  p.tags = 2;
  Bench bench(p);
  bench.core.read(1, 0x1000, 64, 0);
  bench.core.read(2, 0x2010, 64, 10);
  const std::vector<Tlp> lost = bench.sent();
  bench.core.expire(50010);
  EXPECT_EQ(bench.core.tags_given_up(), 2U);
  EXPECT_EQ(bench.core.next_expiry(), 200000U);
  bench.core.expire(199999);
  EXPECT_FALSE(bench.core.may_read());
  bench.core.expire(200000);
  EXPECT_TRUE(bench.core.may_read());
  bench.core.expire(300000);
  EXPECT_EQ(bench.core.tags_given_up(), 1U) << "the other is not needed";
  EXPECT_EQ(bench.core.next_expiry(), kNever);
  static_cast<void>(bench.parts());
  bench.core.read(3, 0x3020, 64, 300000);
  EXPECT_EQ(bench.core.tags_given_up(), 0U) << "it has been lost for long enough";
  const Tlp read = bench.sent().at(0);
  EXPECT_EQ(read.tag, lost[0].tag);
  for (const Tlp& late : lost) bench.receive(Bench::completion(late, 0, 64));
  EXPECT_EQ(bench.core.counters().unexpected, 2U);
  EXPECT_TRUE(bench.parts().empty());
  bench.receive(Bench::completion(read, 0, 64));
  EXPECT_EQ(bench.parts().size(), 1U);
}

}  // namespace endpoint_making_test
}  // namespace warpline
