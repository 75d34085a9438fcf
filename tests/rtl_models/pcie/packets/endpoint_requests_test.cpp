#include <gtest/gtest.h>

#include <numeric>

#include "rtl_models/pcie/packets/tlp_rules.h"
#include "tests/rtl_models/pcie/packets/endpoint_bench.h"

namespace warpline {
namespace endpoint_requests_test {

using Bench = test::EndpointBench;
using K = TlpKind;

TEST(EndpointRequests, WhatABarClaimsIsHandedOver) {
  Bench bench;
  for (const K kind : {K::memory_read, K::memory_write, K::fetch_add, K::swap, K::compare_and_swap}) {
    ASSERT_TRUE(bench.receive(bench.request_for(kind, Bench::kWideBar + 0x48, 8)));
    EXPECT_EQ(bench.request.where.bar, 2U);
    EXPECT_EQ(bench.request.where.offset, 0x48U);
    EXPECT_EQ(bench.request.tlp->kind, kind);
    EXPECT_TRUE(bench.sent().empty()) << "the device answers";
    bench.pool.release(bench.request.tlp);
  }
  EXPECT_EQ(bench.core.counters().requests, 5U);
  EXPECT_EQ(bench.device_status(), 0U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(EndpointRequests, AReadIsAnsweredInAsManyPacketsAsItTakes) {
  Bench bench;  // payloads of 128 bytes, a boundary every 64
  Tlp read = bench.request_for(K::memory_read, Bench::kWideBar + 0x1030, 300);
  read.relaxed_ordering = true;
  ASSERT_TRUE(bench.receive(read));
  std::vector<std::uint8_t> data(300);
  std::iota(data.begin(), data.end(), std::uint8_t{7});
  bench.core.complete(bench.request.tlp, CompletionStatus::successful, data.data());
  std::vector<std::uint8_t> answered;
  std::uint32_t remaining = 300;
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 3U);
  for (const Tlp& tlp : sent) {
    EXPECT_EQ(malformation(tlp, 128, 0), "");
    EXPECT_EQ(tlp.kind, K::completion);
    EXPECT_EQ(tlp.requester, Bench::kHost);
    EXPECT_EQ(tlp.completer, Bench::kSelf);
    EXPECT_EQ(tlp.tag, 0x2A);
    EXPECT_TRUE(tlp.relaxed_ordering) << "as the request had it";
    EXPECT_EQ(tlp.address, read.address + answered.size());
    EXPECT_EQ(tlp.remaining, remaining);
    remaining -= tlp.bytes;
    answered.insert(answered.end(), tlp.data.begin(), tlp.data.end());
    EXPECT_TRUE(remaining == 0 || (tlp.address + tlp.bytes) % 64 == 0);
  }
  EXPECT_EQ(answered, data);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(EndpointRequests, AFlushIsAnsweredByOneCompletionWithoutData) {
  Bench bench;
  ASSERT_TRUE(bench.receive(bench.request_for(K::memory_read, Bench::kBar, 0)));
  bench.core.complete(bench.request.tlp, CompletionStatus::successful, nullptr);
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].status, CompletionStatus::successful);
  EXPECT_EQ(sent[0].payload(), 0U);
  EXPECT_EQ(sent[0].remaining, 0U);
}

TEST(EndpointRequests, AnAtomicIsAnsweredByWhatWasThere) {
  Bench bench;
  ASSERT_TRUE(bench.receive(bench.request_for(K::compare_and_swap, Bench::kBar + 32, 16)));
  const std::vector<std::uint8_t> old = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  bench.core.complete(bench.request.tlp, CompletionStatus::successful, old.data());
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].data, old);
  EXPECT_EQ(sent[0].remaining, 16U);
}

TEST(EndpointRequests, WhatNobodyClaimsIsRefusedOrDropped) {
  Bench bench;
  EXPECT_FALSE(bench.receive(bench.request_for(K::memory_read, 0x1000, 4)));
  EXPECT_EQ(bench.device_status(), 9U) << "unsupported, correctable: the requester hears of it";
  EXPECT_FALSE(bench.receive(bench.request_for(K::swap, 0x1000, 4)));
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 2U);
  for (const Tlp& tlp : sent) {
    EXPECT_EQ(tlp.kind, K::completion);
    EXPECT_EQ(tlp.status, CompletionStatus::unsupported_request);
    EXPECT_EQ(tlp.payload(), 0U);
    EXPECT_EQ(tlp.tag, 0x2A);
  }
  EXPECT_FALSE(bench.receive(bench.request_for(K::memory_write, 0x1000, 4)));
  EXPECT_TRUE(bench.sent().empty());
  EXPECT_EQ(bench.device_status(), 11U) << "nobody hears of a lost write";
  EXPECT_EQ(bench.core.counters().unsupported, 3U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(EndpointRequests, ADeviceMayAbort) {
  Bench bench;
  ASSERT_TRUE(bench.receive(bench.request_for(K::memory_read, Bench::kBar, 64)));
  bench.core.complete(bench.request.tlp, CompletionStatus::completer_abort, nullptr);
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].status, CompletionStatus::completer_abort);
  EXPECT_EQ(sent[0].bytes, 0U);
  EXPECT_EQ(bench.status(), 1U << 11U);
}

TEST(EndpointRequests, ConfigurationIsReadAndWrittenByteByByte) {
  Bench bench;
  const auto read = [&](std::uint64_t at, std::uint32_t bytes) {
    EXPECT_FALSE(bench.receive(bench.request_for(K::config_read, at, bytes)));
    const std::vector<Tlp> sent = bench.sent();
    EXPECT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].status, CompletionStatus::successful);
    return sent[0].data;
  };
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(read(0, 4), (Bytes{0xF0, 0x1A, 0x01, 0x00}));
  EXPECT_EQ(read(1, 2), (Bytes{0x1A, 0x01}));
  EXPECT_EQ(read(0xFFF, 1), (Bytes{0}));
  Tlp write = bench.request_for(K::config_write, 0x3C, 1);
  write.data = {0x77};
  EXPECT_FALSE(bench.receive(write));
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 1U) << "a write of configuration is answered";
  EXPECT_EQ(sent[0].status, CompletionStatus::successful);
  EXPECT_EQ(sent[0].payload(), 0U);
  EXPECT_EQ(read(0x3C, 4), (Bytes{0x77, 0, 0, 0}));
  Tlp middle = bench.request_for(K::config_write, 0x11, 2);
  middle.data = {0xFF, 0xD0};
  EXPECT_FALSE(bench.receive(middle));
  EXPECT_EQ(bench.core.config().address_of(0), 0xE0D0F000U) << "bytes 1 and 2 only";
  EXPECT_EQ(bench.core.counters().configurations, 6U);
}

TEST(EndpointRequests, ConfigurationOfAnotherFunctionIsNoneOfItsOwn) {
  Bench bench;
  for (const K kind : {K::config_read, K::config_write}) {
    Tlp tlp = bench.request_for(kind, 0x3C, 4);
    tlp.completer = function_id(3, 0, 1);
    EXPECT_FALSE(bench.receive(tlp));
    const std::vector<Tlp> sent = bench.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].status, CompletionStatus::unsupported_request);
  }
  EXPECT_EQ(bench.core.config().read(0x3C), 0U);
  EXPECT_EQ(bench.core.counters().configurations, 0U);
  EXPECT_EQ(bench.core.counters().unsupported, 2U);
}

TEST(EndpointRequests, MalformedPacketsAreDroppedAndReported) {
  Bench bench;
  Tlp torn = bench.request_for(K::memory_write, Bench::kBar, 8);
  torn.data.pop_back();
  Tlp crossing = bench.request_for(K::memory_read, Bench::kBar + 0xFFC, 8);
  Tlp large = bench.request_for(K::memory_write, Bench::kWideBar, 512);  // the link carries 256
  Tlp config = bench.request_for(K::config_read, 2, 4);
  for (const Tlp& tlp : {torn, crossing, large, config}) EXPECT_FALSE(bench.receive(tlp));
  EXPECT_TRUE(bench.sent().empty()) << "they are not answered";
  EXPECT_EQ(bench.core.counters().malformed, 4U);
  EXPECT_EQ(bench.device_status(), 4U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(EndpointRequests, PoisonedRequestsHaveNoEffect) {
  Bench bench;
  Tlp write = bench.request_for(K::memory_write, Bench::kBar, 4);
  Tlp swap = bench.request_for(K::swap, Bench::kBar, 4);
  Tlp config = bench.request_for(K::config_write, 0x3C, 1);
  Tlp read = bench.request_for(K::memory_read, Bench::kBar, 4);
  for (Tlp* tlp : {&write, &swap, &config, &read}) tlp->poisoned = true;
  EXPECT_FALSE(bench.receive(write));
  EXPECT_TRUE(bench.sent().empty());
  EXPECT_EQ(bench.device_status(), 2U);
  EXPECT_EQ(bench.status(), 1U << 15U);
  EXPECT_FALSE(bench.receive(swap));
  EXPECT_FALSE(bench.receive(config));
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 2U);
  for (const Tlp& tlp : sent) EXPECT_EQ(tlp.status, CompletionStatus::unsupported_request);
  EXPECT_EQ(bench.core.config().read(0x3C), 0U);
  EXPECT_EQ(bench.core.counters().poisoned, 3U);
  ASSERT_TRUE(bench.receive(read)) << "what carries nothing is not damaged";
  bench.pool.release(bench.request.tlp);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(EndpointRequests, AsleepItAnswersConfigurationOnly) {
  Bench bench;
  Tlp sleep = bench.request_for(K::config_write, bench.power(), 1);
  sleep.data = {3};
  EXPECT_FALSE(bench.receive(sleep));
  EXPECT_FALSE(bench.receive(bench.request_for(K::memory_read, Bench::kBar, 4)));
  std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].status, CompletionStatus::successful);
  EXPECT_EQ(sent[1].status, CompletionStatus::unsupported_request);
  EXPECT_FALSE(bench.core.may_read());
  EXPECT_FALSE(bench.core.may_write());
  EXPECT_FALSE(bench.core.config().take_soft_reset());
  bench.core.msix()->raise(1);
  Tlp wake = sleep;
  wake.data = {0};
  EXPECT_FALSE(bench.receive(wake));
  sent = bench.sent();
  ASSERT_EQ(sent.size(), 1U) << "the write that wakes it is answered";
  EXPECT_EQ(sent[0].status, CompletionStatus::successful);
  EXPECT_TRUE(bench.core.config().take_soft_reset());
  EXPECT_FALSE(bench.core.msix()->any_pending());
  EXPECT_FALSE(bench.receive(bench.request_for(K::memory_write, Bench::kBar, 4)))
      << "it has to be placed again";
}

TEST(EndpointRequests, AFunctionLevelResetForgetsReadsAndVectors) {
  Bench bench;
  bench.core.read(7, 0x1000, 64, 0);
  ASSERT_EQ(bench.sent().size(), 1U);
  bench.core.msix()->write(0x4, 8, 5);
  bench.core.msix()->raise(1);
  const unsigned control = bench.core.config().express_capability() + 8;
  Tlp reset = bench.request_for(K::config_write, control + 1, 1);
  reset.data = {0x80};
  EXPECT_FALSE(bench.receive(reset));
  const std::vector<Tlp> sent = bench.sent();
  ASSERT_EQ(sent.size(), 1U) << "the write that asks for it is answered";
  EXPECT_EQ(sent[0].status, CompletionStatus::successful);
  EXPECT_TRUE(bench.core.config().take_soft_reset());
  EXPECT_EQ(bench.core.reads_in_flight(), 0U);
  EXPECT_FALSE(bench.core.msix()->any_pending());
  EXPECT_EQ(bench.core.msix()->read(0x8, 4), 0U) << "the table is as it was built";
  EXPECT_FALSE(bench.core.may_write());
  EXPECT_FALSE(bench.receive(bench.request_for(K::memory_write, Bench::kBar, 4)))
      << "it has to be placed again";
}

}  // namespace endpoint_requests_test
}  // namespace warpline
