// What a device and a driver make of links that are reset, and of answers that never come.
#include <gtest/gtest.h>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/base/random.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline::test {
namespace resets_test {

TEST(HotReset, NothingThatWasUnderWayTouchesMemoryAfterIt) {
  unsigned in_flight = 0;
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    PcieSystemParameters parameters;
    parameters.device.bytes_per_cycle = 1 + static_cast<unsigned>(random.below(16));
    BenchOfDriver bench(parameters);
    bench.start();
    const auto memory = bench.share(8192);
    std::memset(bench.device.core().buffer().data(), 0xAB, 4096);
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_WRITE;
    command.length = 4096;
    command.destination = memory.bus;
    ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &command), WL_OK);
    ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
    bench.host.pass(400 + random.below(3000));
    bench.system.hot_reset(0);
    // What has arrived at the root complex takes effect within its latency, and nothing else ever does.
    bench.host.pass(300);
    const std::vector<std::uint8_t> then(memory.bytes, memory.bytes + 4096);
    in_flight += then[0] == 0xAB && then[4095] != 0xAB;
    bench.host.enumerate();
    bench.start();
    bench.host.pass(5000);
    EXPECT_EQ(then, std::vector<std::uint8_t>(memory.bytes, memory.bytes + 4096));
    EXPECT_EQ(bench.device.endpoint().counters().unexpected, 0U) << "answers to the device as it was";
  }
  EXPECT_GT(in_flight, 5U);
}

TEST(HotReset, LeavesTheDevicesMemoryAsNew) {
  BenchOfDriver bench;
  bench.start();
  bench.device.core().buffer()[16] = 7;
  bench.system.hot_reset(0);
  EXPECT_EQ(bench.device.core().buffer()[16], 0);
}

/// Interrupts of before, whether they wait for somebody or are on their way.
TEST(Enumeration, ForgetsInterrupts) {
  for (const bool loose : {false, true}) {
    for (const Cycle passed : {0U, 300U, 600U, 20000U}) {
      SCOPED_TRACE(std::to_string(passed) + (loose ? " cycles, loosely timed" : " cycles, timed"));
      BenchOfDriver bench({}, loose);
      bench.start(4, true);
      const wl_peer_command nop{};
      ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &nop), WL_OK);
      ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
      bench.host.pass(passed);
      bench.system.set_present(0, false);
      bench.system.set_present(0, true);
      bench.host.enumerate();
      EXPECT_FALSE(bench.host.wait_interrupt(0, 0, 10));
      bench.start(4, true);
      wl_peer_completion completion{};
      EXPECT_EQ(bench.run(nop, completion), WL_OK) << "those that follow are heard";
    }
  }
}

TEST(LostAnswers, DoNotStopADeviceHoweverManyThereAre) {
  PcieSystemParameters parameters;
  parameters.device.tags = 4;
  parameters.device.completion_timeout = 2000;
  BenchOfDriver bench(parameters);
  bench.start();
  const auto memory = bench.share(4096);
  for (unsigned i = 0; i < 40; ++i) {
    const bool lose = i % 2 == 0;
    bool lost = false;
    if (lose) {
      bench.system.root().inject([&](unsigned port, const Tlp& tlp) {
        const bool hit = port == 0 && tlp.kind == TlpKind::completion && !lost;
        lost = lost || hit;
        return hit ? Injection::lose : Injection::none;
      });
    }
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_READ;
    command.length = 64;
    command.source = memory.bus;
    wl_peer_completion completion{};
    const wl_result r = bench.run(command, completion);
    bench.system.root().inject(nullptr);
    if (r != WL_OK) {
      ASSERT_TRUE(lose) << "command " << i << ": " << wl_result_text(r);
      ASSERT_EQ(wl_peer_recover(&bench.peer), WL_OK) << i;
      while (wl_peer_poll(&bench.peer, 0, &completion) == WL_OK) {
      }
    }
  }
  EXPECT_EQ(bench.device.endpoint().counters().timeouts, 20U);
}

TEST(Removal, OfALooselyTimedDeviceIsReportedAndItsReturnWorks) {
  PcieSystemParameters parameters;
  parameters.peers = 2;
  BenchOfDriver bench(parameters, true);
  bench.start();
  const auto memory = bench.share(4096);
  wl_peer_command command{};
  wl_peer_completion completion{};
  ASSERT_EQ(bench.run(command, completion), WL_OK);
  ASSERT_TRUE(bench.host.open_bar(0, 1, QueueDeviceCore::kBufferBar));
  const std::uint64_t other = bench.host.devices()[1].bars[QueueDeviceCore::kBufferBar].address;

  // The other device goes: a command that names it fails, and it alone.
  bench.system.set_present(1, false);
  command.opcode = WL_PEER_OPCODE_COPY;
  command.source = other;
  command.destination = memory.bus;
  command.length = 64;
  ASSERT_EQ(bench.run(command, completion), WL_OK);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_UNSUPPORTED_REQUEST);
  EXPECT_EQ(bench.host.load(other, 4), 0xFFFF'FFFFU);
  EXPECT_EQ(bench.host.outcome(), TlpOutcome::unsupported_request);

  // The device itself goes, with a command that it was not told of.
  command = {};
  ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &command), WL_OK);
  bench.system.set_present(0, false);
  EXPECT_EQ(wl_peer_check(&bench.peer, nullptr), WL_GONE);
  EXPECT_EQ(wl_peer_wait(&bench.peer, 0, 100, &completion), WL_GONE);
  EXPECT_EQ(wl_peer_recover(&bench.peer), WL_GONE);
  wl_peer_teardown(&bench.peer);

  bench.system.set_present(0, true);
  bench.system.set_present(1, true);
  EXPECT_EQ(bench.host.enumerate().size(), 2U);
  bench.start();
  EXPECT_EQ(bench.run(command, completion), WL_OK);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
}

TEST(NoSnoop, OfAPeerIsAParameterAndChangesNoByte) {
  for (const bool on : {false, true}) {
    PcieSystemParameters parameters;
    parameters.peer.no_snoop = on;
    BenchOfDriver bench(parameters);
    bench.start();
    wl_peer_command command{};
    wl_peer_completion completion{};
    EXPECT_EQ(bench.run(command, completion), WL_OK);
    EXPECT_EQ(bench.system.root().core().counters().no_snoop > 0, on);
  }
}

TEST(Hosts, ASystemHasOneAtATime) {
  BenchOfDriver bench;
  EXPECT_THROW(HostMachine second(bench.system), std::logic_error);
  PlainMachine other({}, 1U << 20U, TickMode::lazy, 1000);
  EXPECT_THROW(HostMachine(other.system, 0), std::logic_error);
}

}  // namespace resets_test
}  // namespace warpline::test
