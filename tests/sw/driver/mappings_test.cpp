// Device memory that the host maps write-combining, and registers that it cannot.
#include <gtest/gtest.h>

#include "platform/config/pcie_system_parameters.h"
#include "platform/host/wl_machine.h"
#include "rtl_models/base/random.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline::test {
namespace mappings_test {

constexpr unsigned kBuffer = QueueDeviceCore::kBufferBar, kRegisters = QueueDeviceCore::kRegisterBar;

class Mappings : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Times, Mappings, testing::Bool(),
                         [](const auto& p) { return p.param ? "Loose" : "Timed"; });

/// Accesses to a BAR that the device has logged since entry `first`.
std::vector<BusAccess> seen(const BenchOfDriver& bench, std::size_t first, unsigned bar) {
  std::vector<BusAccess> accesses;
  const auto& log = bench.device.core().log().entries();
  for (std::size_t i = first; i < log.size(); ++i)
    if (log[i].bar == bar) accesses.push_back(log[i]);
  return accesses;
}

TEST_P(Mappings, CombinedStoresArriveAsFewAndRegistersAsTheyWereMade) {
  BenchOfDriver bench({}, GetParam());
  bench.start();
  ASSERT_EQ(bench.host.map(0, kBuffer, 0, 4096, MemoryType::write_combining), "");
  const std::size_t first = bench.device.core().log().entries().size();
  const wl_port& port = *bench.port;
  for (unsigned i = 0; i < 32; ++i) port.write(port.context, kBuffer, 8 * i, 8, i);
  for (unsigned i = 0; i < 4; ++i) port.write(port.context, kBuffer, 4096 + 4 * i, 4, i);
  for (unsigned i = 0; i < 4; ++i) port.write(port.context, kRegisters, WL_PEER_SCRATCH_OFFSET(0), 4, i);
  EXPECT_EQ(port.read(port.context, kBuffer, 8 * 31, 8), 31U);
  const auto buffer = seen(bench, first, kBuffer), registers = seen(bench, first, kRegisters);
  ASSERT_EQ(buffer.size(), 4U + 4U + 1U);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(buffer[i].bytes, 64U);
  for (unsigned i = 4; i < 8; ++i) EXPECT_EQ(buffer[i].bytes, 4U);
  ASSERT_EQ(registers.size(), 4U);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(registers[i].value, i);
}

TEST_P(Mappings, ADoorbellPushesWhatWasStoredBeforeIt) {
  BenchOfDriver bench({}, GetParam());
  bench.start();
  ASSERT_EQ(bench.host.map(0, kBuffer, 0, 8192, MemoryType::write_combining), "");
  const auto memory = bench.share(4096);
  const wl_port& port = *bench.port;
  for (unsigned round = 1; round <= 50; ++round) {
    for (unsigned i = 0; i < 13; ++i) port.write(port.context, kBuffer, 512 + 4 * i, 4, 100 * round + i);
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_WRITE;
    command.source = 512;
    command.length = 52;
    command.destination = memory.bus;
    wl_peer_completion completion{};
    ASSERT_EQ(bench.run(command, completion), WL_OK);
    for (unsigned i = 0; i < 13; ++i) {
      std::uint32_t word = 0;
      std::memcpy(&word, memory.bytes + 4 * i, 4);
      ASSERT_EQ(word, 100 * round + i);
    }
  }
}

TEST_P(Mappings, WhatGathersLeavesInTimeWhenTheHostLooksElsewhere) {
  BenchOfDriver bench({}, GetParam());
  bench.start();
  ASSERT_EQ(bench.host.map(0, kBuffer, 0, 4096, MemoryType::write_combining), "");
  bench.port->write(bench.port->context, kBuffer, 16, 4, 4711);
  bench.host.pass(500);
  EXPECT_EQ(bench.device.core().buffer()[16], 0);
  bench.host.pass(2000);
  EXPECT_EQ(bench.device.core().buffer()[16], 4711 % 256);
}

TEST_P(Mappings, OnlyPrefetchableBarsCanBeCombined) {
  BenchOfDriver bench({}, GetParam());
  const auto as = MemoryType::write_combining;
  EXPECT_EQ(bench.host.map(0, kRegisters, 0, 4096, as),
            "BAR 0 is not prefetchable: its accesses have side effects, and none may be joined");
  EXPECT_EQ(bench.host.map(0, kRegisters, 0, 4096, MemoryType::uncached), "");
  EXPECT_EQ(bench.host.map(0, kBuffer, 100, 4096, as),
            "BAR 4: what is to be mapped is no whole pages of 4096 bytes");
  EXPECT_EQ(bench.host.map(0, kBuffer, 4096, 1U << 20U, as),
            "BAR 4 has 1048576 bytes and ends before what is to be mapped");
  EXPECT_EQ(bench.host.map(0, 5, 0, 4096, as), "there is no BAR 5");
  EXPECT_EQ(bench.host.map(1, kBuffer, 0, 4096, as), "there is no device 1");
  PcieSystemParameters parameters;
  parameters.peer.prefetchable = false;
  BenchOfDriver strict(parameters, GetParam());
  EXPECT_NE(strict.host.map(0, kBuffer, 0, 4096, as), "");
  // Enumeration forgets what was mapped, as BARs may have moved.
  ASSERT_EQ(bench.host.map(0, kBuffer, 0, 4096, as), "");
  bench.host.enumerate();
  const wl_port& port = bench.host.port_of(0);
  const std::size_t first = bench.device.core().log().entries().size();
  for (unsigned i = 0; i < 8; ++i) port.write(port.context, kBuffer, 4 * i, 4, i);
  static_cast<void>(port.read(port.context, kRegisters, WL_PEER_PRESENT_OFFSET, 4));
  EXPECT_EQ(seen(bench, first, kBuffer).size(), 8U);
}

/// Every load returns what was stored last, whatever is combined or read ahead; where nothing is, each access
/// arrives as it was made.
TEST_P(Mappings, RandomAccessesReadWhatWasStored) {
  for (std::uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    PcieSystemParameters parameters;
    parameters.bridge.combining_buffers = 1 + static_cast<unsigned>(random.below(6));
    parameters.bridge.combining_bytes = 16U << random.below(4);
    parameters.bridge.combining_cycles = 1 + static_cast<unsigned>(random.below(3000));
    parameters.bridge.read_ahead = random.below(2) == 0 ? 0 : 16U << random.below(9);
    BenchOfDriver bench(parameters, GetParam());
    bench.start();
    const wl_port& port = *bench.port;
    constexpr unsigned kPages = 3;
    std::array<bool, kPages> combining{};
    for (unsigned page = 0; page < kPages; ++page) {
      combining[page] = random.below(2) == 0;
      if (!combining[page]) continue;
      ASSERT_EQ(bench.host.map(0, kBuffer, 4096ULL * page, 4096, MemoryType::write_combining), "");
    }
    const std::size_t first = bench.device.core().log().entries().size();
    std::vector<std::uint8_t> memory(4096 * kPages);
    std::vector<std::pair<std::uint64_t, unsigned>> exact;  // stores to pages that are not combined
    for (unsigned i = 0; i < 600; ++i) {
      const unsigned bytes = 1U << random.below(4);
      const auto page = static_cast<unsigned>(random.below(kPages));
      const std::uint64_t offset = 4096ULL * page + bytes * random.below(512 / bytes);
      if (random.below(3) == 0) {
        std::uint64_t wanted = 0;
        std::memcpy(&wanted, &memory[offset], bytes);
        ASSERT_EQ(port.read(port.context, kBuffer, offset, bytes), wanted) << "access " << i;
      } else {
        const std::uint64_t value = random.next();
        std::memcpy(&memory[offset], &value, bytes);
        port.write(port.context, kBuffer, offset, bytes, value);
        if (!combining[page]) exact.emplace_back(offset, bytes);
      }
      if (random.below(30) == 0) port.barrier(port.context);
      if (random.below(30) == 0) port.delay(port.context, static_cast<std::uint32_t>(random.below(2000)));
    }
    static_cast<void>(port.read(port.context, kRegisters, WL_PEER_PRESENT_OFFSET, 4));
    EXPECT_TRUE(std::equal(memory.begin(), memory.end(), bench.device.core().buffer().begin()));
    std::vector<std::pair<std::uint64_t, unsigned>> arrived;
    for (const BusAccess& access : seen(bench, first, kBuffer))
      if (access.kind == AccessKind::write && !combining[access.offset / 4096])
        arrived.emplace_back(access.offset, access.bytes);
    EXPECT_EQ(arrived, exact);
  }
}

TEST(MachineMappings, AreAskedForInC) {
  wl_machine_options options{};
  wl_machine* const machine = wl_machine_create(&options);
  ASSERT_NE(machine, nullptr);
  EXPECT_EQ(wl_machine_map(machine, 0, 4, 0, 4096, WL_MAPPING_WRITE_COMBINING), 1);
  EXPECT_EQ(wl_machine_map(machine, 0, 4, 0, 4096, WL_MAPPING_UNCACHED), 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(wl_machine_map(machine, 0, 0, 0, 4096, WL_MAPPING_WRITE_COMBINING), 0);
  EXPECT_EQ(wl_machine_map(machine, 7, 4, 0, 4096, WL_MAPPING_WRITE_COMBINING), 0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("wl_machine: device 0: BAR 0 is not prefetchable"), std::string::npos) << said;
  EXPECT_NE(said.find("wl_machine: device 7: nobody answers"), std::string::npos) << said;
  wl_machine_destroy(machine);
}

}  // namespace mappings_test
}  // namespace warpline::test
