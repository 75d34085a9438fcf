// A processor of SystemC that maps a device's memory write-combining.
#include <gtest/gtest.h>

#include "rtl_models/queue_device/queue_device.h"
#include "tests/platform/host/systemc/cpu_bench.h"

namespace warpline {
namespace mappings_test {

using test::CpuBench;

class CpuMappings : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Timing, CpuMappings, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "LooselyTimed" : "Timed"; });

/// Sizes of the writes that have arrived at the device's memory.
std::vector<std::uint32_t> writes(CpuBench& bench) {
  std::vector<std::uint32_t> sizes;
  for (const BusAccess& access : bench.system.system().peer(0).core().log().entries())
    if (access.bar == QueueDeviceCore::kBufferBar && access.kind == AccessKind::write)
      sizes.push_back(access.bytes);
  return sizes;
}

TEST_P(CpuMappings, StoresGatherUntilTheirLineIsFullOrABarrierOrTheirTimeIsUp) {
  CpuBench bench({}, GetParam());
  bench.run({[&](HostCpu& cpu) {
    ASSERT_EQ(cpu.map(0, QueueDeviceCore::kBufferBar, 0, 4096, MemoryType::write_combining), "");
    EXPECT_NE(cpu.map(0, QueueDeviceCore::kRegisterBar, 0, 4096, MemoryType::write_combining), "");
    const wl_port& port = cpu.port_of(0);
    constexpr unsigned kBar = QueueDeviceCore::kBufferBar;
    for (unsigned i = 0; i < 17; ++i) port.write(port.context, kBar, 4 * i, 4, i);
    port.barrier(port.context);
    port.delay(port.context, 500);
    EXPECT_EQ(writes(bench), (std::vector<std::uint32_t>{64, 4}));
    port.write(port.context, kBar, 256, 2, 1);
    port.delay(port.context, 500);
    EXPECT_EQ(writes(bench).size(), 2U) << "it has a microsecond";
    port.delay(port.context, 1000);
    EXPECT_EQ(writes(bench), (std::vector<std::uint32_t>{64, 4, 2}));
    port.write(port.context, kBar, 320, 8, 77);
    EXPECT_EQ(port.read(port.context, kBar, 320, 8), 77U);
    EXPECT_EQ(writes(bench).size(), 4U);
  }});
}

}  // namespace mappings_test
}  // namespace warpline
