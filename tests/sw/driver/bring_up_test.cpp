#include <gtest/gtest.h>

#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline {
namespace bring_up_test {

using test::BenchOfDriver;

class BringUp : public ::testing::TestWithParam<bool> {};

TEST_P(BringUp, FirmwareFindsTheDeviceAndPlacesItsBars) {
  BenchOfDriver bench({}, GetParam());
  ASSERT_EQ(bench.host.devices().size(), 1U);
  const HostDevice& d = bench.host.devices()[0];
  EXPECT_EQ(d.vectors, 16U);
  EXPECT_EQ(d.bars[0].bytes, 0x4000U);
  EXPECT_EQ(d.bars[2].bytes, 4096U);
  EXPECT_EQ(d.bars[4].bytes, 1U << 20U);
  EXPECT_FALSE(d.bars[0].prefetchable);
  EXPECT_TRUE(d.bars[4].prefetchable);
  for (const unsigned b : {0U, 2U, 4U}) EXPECT_EQ(d.bars[b].address % d.bars[b].bytes, 0U);
}

TEST_P(BringUp, ConfigurationSpaceIsReadAndWrittenInEverySize) {
  BenchOfDriver bench({}, GetParam());
  const wl_port& port = bench.host.port_of(0);
  const auto read = [&](std::uint64_t offset, unsigned bytes) {
    return port.read(port.context, WL_SPACE_CONFIG, offset, bytes);
  };
  const std::uint64_t low = read(0, 4), high = read(4, 4);
  EXPECT_EQ(read(0, 8), low | high << 32U);
  EXPECT_EQ(read(2, 2), low >> 16U);
  EXPECT_EQ(read(3, 1), low >> 24U);
  port.write(port.context, WL_SPACE_CONFIG, 0x10, 8, ~std::uint64_t{0});
  EXPECT_EQ(read(0x10, 8), 0xFFFF'FFFF'FFFF'C004U) << "a 64-bit BAR of 16 KiB";
  for (const std::uint64_t outside : {4096U, 0x10000U}) {
    EXPECT_EQ(read(outside, 4), 0xFFFF'FFFFU);
    port.write(port.context, WL_SPACE_CONFIG, outside, 4, 1);
  }
  EXPECT_EQ(read(2, 4), 0xFFFF'FFFFU) << "not aligned";
  EXPECT_EQ(bench.system.bridge().counters().timeouts, 0U);
}

TEST_P(BringUp, AnInterruptThatWaitsForCompanyTakesItsTime) {
  BenchOfDriver bench({}, GetParam());
  bench.start(3, true);
  const wl_port& port = *bench.port;
  // Ten completions, or a millisecond: there is one.
  port.write(port.context, 0, WL_PEER_COALESCE_OFFSET(0), 4,
             10U << WL_PEER_COALESCE_COMPLETIONS_SHIFT | 1'000'000U << WL_PEER_COALESCE_TIME_SHIFT);
  const Cycle begun = bench.host.now();
  wl_peer_command nop{};
  ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &nop), WL_OK);
  ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
  EXPECT_EQ(port.wait_irq(port.context, 0, 500), 0) << "it is not due";
  EXPECT_GE(bench.host.now(), begun + 500'000);
  EXPECT_EQ(port.wait_irq(port.context, 0, 2000), 1);
  EXPECT_GE(bench.host.now(), begun + 1'000'000);
  EXPECT_LT(bench.host.now(), begun + 1'010'000);
}

TEST_P(BringUp, TheDriverProbesAndStartsIt) {
  BenchOfDriver bench({}, GetParam());
  bench.start();
  EXPECT_EQ(bench.peer.queues, 16U);
  EXPECT_EQ(bench.peer.max_order, 12U);
  std::uint32_t errors = 1;
  EXPECT_EQ(wl_peer_check(&bench.peer, &errors), WL_OK);
  EXPECT_EQ(errors, 0U);
}

TEST_P(BringUp, ACopyMovesEveryByte) {
  BenchOfDriver bench({}, GetParam());
  bench.start();
  const auto from = bench.share(20000), to = bench.share(20000);
  for (unsigned i = 0; i < 20000; ++i) from.bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_COPY;
  command.source = from.bus + 3;
  command.destination = to.bus + 1001;
  command.length = 15000;
  command.cookie = 77;
  wl_peer_completion completion{};
  ASSERT_EQ(bench.run(command, completion), WL_OK);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(completion.cookie, 77U);
  EXPECT_EQ(std::memcmp(from.bytes + 3, to.bytes + 1001, 15000), 0);
  EXPECT_EQ(to.bytes[1000], 0);
  EXPECT_EQ(to.bytes[16001], 0);
}

TEST_P(BringUp, AThousandCommandsAreEachDoneOnceByPollingAndByInterrupt) {
  for (const bool interrupt : {false, true}) {
    BenchOfDriver bench({}, GetParam());
    bench.start(5, interrupt, 3);
    const auto counters = bench.share(4096);
    std::vector<unsigned> seen(1000);
    std::uint64_t submitted = 0, completed = 0;
    while (completed < 1000) {
      wl_peer_command command{};
      command.opcode = WL_PEER_OPCODE_FETCH_ADD;
      command.destination = counters.bus + 8 * (submitted % 100);
      command.length = 8;
      command.operand = 1;
      command.cookie = submitted;
      while (submitted < 1000 && wl_peer_submit(&bench.peer, 3, &command) == WL_OK) {
        command.cookie = ++submitted;
        command.destination = counters.bus + 8 * (submitted % 100);
      }
      ASSERT_EQ(wl_peer_ring(&bench.peer, 3), WL_OK);
      wl_peer_completion completion{};
      ASSERT_EQ(wl_peer_wait(&bench.peer, 3, 1000, &completion), WL_OK) << completed;
      ASSERT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
      ++seen.at(completion.cookie);
      ++completed;
    }
    EXPECT_EQ(seen, std::vector<unsigned>(1000, 1));
    for (unsigned i = 0; i < 100; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, counters.bytes + 8 * i, 8);
      EXPECT_EQ(value, 10U);
    }
    wl_peer_completion none{};
    EXPECT_EQ(wl_peer_poll(&bench.peer, 3, &none), WL_NONE);
  }
}

INSTANTIATE_TEST_SUITE_P(Timing, BringUp, ::testing::Values(false, true),
                         [](const auto& which) { return which.param ? "LooselyTimed" : "Timed"; });

}  // namespace bring_up_test
}  // namespace warpline
