// Software on a HostCpu: the driver as on the plain host, to the cycle.
#include <gtest/gtest.h>

#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/queue_device/registers/peer.h"
#include "tests/platform/host/systemc/cpu_bench.h"
#include "tests/sw/driver/command_traffic.h"

namespace warpline {
namespace software_test {

using test::CommandTraffic;
using test::CpuBench;
using test::DriverBench;

PcieSystemOptions options_of(unsigned peers, unsigned spread) {
  PcieSystemOptions options;
  options.memory_bytes = 1U << 24U;
  options.parameters.peers = peers;
  options.parameters.peer.completion_spread = spread;
  return options;
}

/// Random commands by one driver: half by interrupt, half by polling, as `interrupt` says.
void run_commands(DriverBench& bench, std::uint64_t seed, unsigned count, bool interrupt) {
  bench.start(3, interrupt, 1);
  if (::testing::Test::HasFatalFailure()) return;
  CommandTraffic traffic(bench, 1, 6, seed);
  while (traffic.completed < count) {
    while (traffic.submit()) {
    }
    ASSERT_EQ(wl_peer_ring(&bench.peer, 1), WL_OK);
    wl_peer_completion completion{};
    ASSERT_EQ(wl_peer_wait(&bench.peer, 1, 10000, &completion), WL_OK) << traffic.completed;
    ASSERT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
    ASSERT_EQ(traffic.take(completion), "");
  }
  wl_peer_teardown(&bench.peer);
}

/// The log of the device after the same software on the plain host.
std::string plain_log(unsigned spread, std::uint64_t seed, unsigned count, bool interrupt) {
  test::BenchOfDriver bench(options_of(1, spread).parameters);
  run_commands(bench, seed, count, interrupt);
  return test::log_of(bench.system, 0);
}

class Software : public ::testing::TestWithParam<bool> {};

TEST_P(Software, FindsTheDeviceAndCopiesEveryByte) {
  CpuBench bench(options_of(1, 0), GetParam());
  bench.run({[&](HostCpu& cpu) {
    ASSERT_EQ(cpu.devices().size(), 1U);
    EXPECT_EQ(cpu.devices()[0].vectors, 16U);
    EXPECT_EQ(cpu.devices()[0].bars[0].bytes, 0x4000U);
    DriverBench driver(cpu, bench.system.system());
    driver.start(4, true);
    const auto from = driver.share(20000), to = driver.share(20000);
    for (unsigned i = 0; i < 20000; ++i) from.bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_COPY;
    command.source = from.bus + 3;
    command.destination = to.bus + 1001;
    command.length = 15000;
    wl_peer_completion completion{};
    ASSERT_EQ(driver.run(command, completion), WL_OK);
    EXPECT_EQ(std::memcmp(from.bytes + 3, to.bytes + 1001, 15000), 0);
  }});
}

TEST_P(Software, DoesRandomCommandsByInterrupt) {
  CpuBench bench(options_of(1, 700), GetParam());
  bench.run({[&](HostCpu& cpu) {
    DriverBench driver(cpu, bench.system.system());
    run_commands(driver, 11, 300, true);
  }});
  EXPECT_EQ(bench.system.system().peer(0).core().counters().commands >= 300, true);
}

TEST_P(Software, DoesRandomCommandsByPolling) {
  CpuBench bench(options_of(1, 700), GetParam());
  bench.run({[&](HostCpu& cpu) {
    DriverBench driver(cpu, bench.system.system());
    run_commands(driver, 12, 300, false);
  }});
  EXPECT_EQ(bench.system.system().root().core().iommu().fault_count(), 0U);
}

TEST_P(Software, OfTwoThreadsDrivesTwoPeers) {
  CpuBench bench(options_of(2, 300), GetParam());
  const auto drive = [&](unsigned number) {
    return [&bench, number](HostCpu& cpu) {
      DriverBench driver(cpu, bench.system.system(), number);
      run_commands(driver, 20 + number, 150, number == 0);
    };
  };
  bench.run({drive(0), drive(1)});
  for (unsigned i = 0; i < 2; ++i)
    EXPECT_GE(bench.system.system().peer(i).core().counters().commands, 150U) << i;
}

TEST_P(Software, AWaitWithoutAnInterruptTakesItsTime) {
  CpuBench bench(options_of(1, 0), GetParam());
  bench.run({[&](HostCpu& cpu) {
    const wl_port& port = cpu.port_of(0);
    const sc_core::sc_time before = cpu.local_time();
    EXPECT_EQ(port.wait_irq(port.context, 0, 3), 0);
    EXPECT_EQ(cpu.local_time() - before, sc_core::sc_time(3, sc_core::SC_US));
    port.delay(port.context, 250);
    EXPECT_EQ(cpu.local_time() - before, sc_core::sc_time(3250, sc_core::SC_NS));
  }});
}

INSTANTIATE_TEST_SUITE_P(Timing, Software, ::testing::Values(false, true),
                         [](const auto& which) { return which.param ? "LooselyTimed" : "Timed"; });

class SoftwareInTime : public ::testing::TestWithParam<bool> {};

TEST_P(SoftwareInTime, EveryAccessArrivesInTheCycleOfThePlainHost) {
  CpuBench bench(options_of(1, 500));
  bench.run({[&](HostCpu& cpu) {
    DriverBench driver(cpu, bench.system.system());
    run_commands(driver, 5, 200, GetParam());
  }});
  const std::string log = test::log_of(bench.system.system(), 0);
  EXPECT_GT(log.size(), 1000U);
  EXPECT_EQ(log, plain_log(500, 5, 200, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Notification, SoftwareInTime, ::testing::Values(false, true),
                         [](const auto& which) { return which.param ? "Interrupt" : "Polling"; });

}  // namespace software_test
}  // namespace warpline
