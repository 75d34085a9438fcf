// The same software drives the device on a bare bus, timed and loosely timed, and behind PCI Express.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "platform/host/host_machine.h"
#include "platform/machine/pcie_system.h"
#include "rtl_models/base/random.h"
#include "tests/rtl_models/queue_device/systemc/bare_bus.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace {

constexpr unsigned kAreas = 8, kAreaBytes = 8192, kRings = 8192;
constexpr std::size_t kMemory = kRings + std::size_t{kAreas} * kAreaBytes;

/// What software sees of a run.
struct Ran {
  std::vector<std::pair<unsigned, std::uint64_t>> completions;  ///< status and result of each command
  std::vector<std::uint8_t> memory;
  std::uint64_t errors = 0, commands = 0;
};

/// A random command that works in one area of memory, and in a part of the device's own.
wl_peer_command draw(Random& random, unsigned area, std::uint64_t at) {
  wl_peer_command c{};
  c.cookie = area;
  c.opcode = static_cast<std::uint8_t>(random.below(8));
  c.length = 1 + static_cast<std::uint32_t>(random.below(random.below(2) == 0 ? 40 : 3000));
  c.operand = random.next();
  c.source = at + random.below(900);
  c.destination = at + 4096 + random.below(900);
  if (c.opcode == WL_PEER_OPCODE_READ) c.destination = area * 4096;
  if (c.opcode == WL_PEER_OPCODE_WRITE) c.source = area * 4096;
  if (c.opcode == WL_PEER_OPCODE_FETCH_ADD) {
    c.length = random.below(2) == 0 ? 4 : 8;
    c.destination = at + 4096 + 8 * random.below(100);
  }
  if (random.below(20) == 0) c.source = 0x123'4560'0000;  // where nobody is
  return c;
}

/// Rounds of commands, several at once. `memory`: kMemory bytes, whose address for the device is `bus`.
Ran drive(const wl_port& port, std::uint8_t* memory, unsigned rounds) {
  Ran ran;
  const std::uint64_t bus = port.dma_map(port.context, memory, kMemory, WL_DMA_BOTH);
  Random random(7);
  std::memset(memory, 0, kRings);
  for (std::size_t i = kRings; i < kMemory; ++i) memory[i] = static_cast<std::uint8_t>(random.next());
  wl_peer peer{};
  std::vector<wl_peer_slot> slots(16);
  wl_peer_queue_options options{};
  options.order = 4;
  options.submissions = memory;
  options.completions = memory + 4096;
  options.slots = slots.data();
  options.interrupt = 1;
  options.coalesce_count = 3;
  options.coalesce_ns = 2000;
  EXPECT_EQ(wl_peer_probe(&peer, &port), WL_OK);
  EXPECT_EQ(wl_peer_start(&peer), WL_OK);
  EXPECT_EQ(wl_peer_queue_create(&peer, 0, &options), WL_OK);
  for (unsigned round = 0; round < rounds; ++round) {
    std::map<std::uint64_t, wl_peer_completion> done;
    for (unsigned area = 0; area < kAreas; ++area) {
      const wl_peer_command c = draw(random, area, bus + kRings + std::uint64_t{area} * kAreaBytes);
      EXPECT_EQ(wl_peer_submit(&peer, 0, &c), WL_OK);
    }
    EXPECT_EQ(wl_peer_ring(&peer, 0), WL_OK);
    while (done.size() < kAreas) {
      wl_peer_completion c{};
      const wl_result r = wl_peer_wait(&peer, 0, 1000, &c);
      EXPECT_EQ(r, WL_OK);
      if (r != WL_OK) return ran;
      done[c.cookie] = c;
    }
    for (const auto& [area, c] : done) ran.completions.emplace_back(c.status, c.result);
  }
  ran.errors = port.read(port.context, 0, WL_PEER_ERROR_OFFSET, 4);
  ran.commands = port.read(port.context, 0, WL_PEER_COMMANDS_OFFSET, 8);
  ran.memory.assign(memory + kRings, memory + kMemory);
  wl_peer_teardown(&peer);
  return ran;
}

unsigned rounds() {
  return static_cast<unsigned>(from_environment("WARPLINE_BARE_COMMANDS", 800) / kAreas);
}

Ran behind_pcie() {
  PcieSystem system(PcieSystemParameters{}, 1000, 4U << 20U);
  HostMachine host(system);
  host.enumerate();
  return drive(host.port_of(0), static_cast<std::uint8_t*>(host.allocate(kMemory, 4096)), rounds());
}

void equals_pcie(bool loose, bool blocks, unsigned burst) {
  QueueDeviceModuleParameters parameters;
  parameters.burst_bytes = burst;
  Ran ran;
  BareBench bench(
      [&](BareBench& b) {
        b.memory.blocks = blocks;
        const wl_port port = b.port();
        ran = drive(port, b.allocate(kMemory), rounds());
      },
      parameters);
  bench.engine->set_loose(loose);
  bench.simulate();
  const Ran other = behind_pcie();
  EXPECT_EQ(ran.completions, other.completions);
  EXPECT_EQ(ran.errors, other.errors);
  EXPECT_EQ(ran.commands, other.commands);
  EXPECT_EQ(ran.commands, std::uint64_t{rounds()} * kAreas);
  EXPECT_TRUE(ran.memory == other.memory);
}

TEST(BareDriver, TimedAsBehindPciExpress) {
  equals_pcie(false, false, 512);
}
TEST(BareDriver, TimedInShortBurstsAsBehindPciExpress) {
  equals_pcie(false, false, 128);
}
TEST(BareDriver, TimedOnABusThatBlocksAsBehindPciExpress) {
  equals_pcie(false, true, 4096);
}
TEST(BareDriver, LooselyTimedAsBehindPciExpress) {
  equals_pcie(true, false, 512);
}
TEST(BareDriver, LooselyTimedOnABusThatBlocksAsBehindPciExpress) {
  equals_pcie(true, true, 512);
}

/// At rest, time may become loose and timed again. What a run leaves in the device's memory is the same each
/// time, so all but the first find the same there.
TEST(BareDriver, ChangesKindsOfTimeAtRest) {
  Ran first, timed, loose, again;
  BareBench bench([&](BareBench& b) {
    const wl_port port = b.port();
    std::uint8_t* const memory = b.allocate(kMemory);
    for (Ran* ran : {&first, &timed, &loose, &again}) {
      *ran = drive(port, memory, 10);
      b.pass(sc_core::sc_time(10, sc_core::SC_US));
      ASSERT_TRUE(b.engine->at_rest());
      b.engine->set_loose(ran == &timed);
    }
  });
  bench.simulate();
  EXPECT_EQ(timed.completions, loose.completions);
  EXPECT_EQ(timed.completions, again.completions);
  EXPECT_TRUE(timed.memory == loose.memory && timed.memory == again.memory);
}

}  // namespace
}  // namespace warpline::test
