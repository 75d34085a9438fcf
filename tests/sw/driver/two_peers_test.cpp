#include <gtest/gtest.h>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline {
namespace two_peers_test {

using test::BenchOfDriver;

/// Two devices on one root complex, each with a driver, that may touch each other's BARs.
class TwoPeers : public ::testing::TestWithParam<bool> {
 protected:
  static PcieSystemParameters parameters() {
    PcieSystemParameters p;
    p.peers = 2;
    return p;
  }
  void SetUp() override {
    Iommu& iommu = bench.system.root().core().iommu();
    for (unsigned d = 0; d < 2; ++d) {
      for (const unsigned bar : {0U, 2U, 4U}) {
        const HostDevice::Bar& b = bench.host.devices()[1 - d].bars[bar];
        ASSERT_TRUE(iommu.map(bench.host.devices()[d].domain, {b.address, b.bytes, b.address}));
      }
    }
  }
  /// A driver with so many queues, on device `d`.
  void start(unsigned d, unsigned order, unsigned queues) {
    const wl_port& port = bench.host.port_of(d);
    ASSERT_EQ(wl_peer_probe(&peers[d], &port), WL_OK);
    ASSERT_EQ(wl_peer_start(&peers[d]), WL_OK);
    for (unsigned q = 0; q < queues; ++q) create(d, order, q);
  }
  void create(unsigned d, unsigned order, unsigned queue) {
    const std::size_t entries = std::size_t{1} << order;
    slots.emplace_back(entries);
    wl_peer_queue_options options{};
    options.order = order;
    options.submissions = bench.host.allocate(entries * WL_PEER_COMMAND_BYTES);
    options.completions = bench.host.allocate(entries * WL_PEER_COMPLETION_BYTES);
    options.slots = slots.back().data();
    ASSERT_EQ(wl_peer_queue_create(&peers[d], queue, &options), WL_OK);
  }
  [[nodiscard]] std::uint64_t bar(unsigned d, unsigned number) const {
    return bench.host.devices()[d].bars[number].address;
  }
  std::uint64_t run(unsigned d, const wl_peer_command& command) {
    wl_peer_completion completion{};
    EXPECT_EQ(wl_peer_submit(&peers[d], 0, &command), WL_OK);
    EXPECT_EQ(wl_peer_ring(&peers[d], 0), WL_OK);
    EXPECT_EQ(wl_peer_wait(&peers[d], 0, 10000, &completion), WL_OK);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
    return completion.result;
  }
  EndpointMemory& buffer(unsigned d) { return bench.system.peer(d).core().buffer(); }

  BenchOfDriver bench{parameters(), GetParam()};
  std::array<wl_peer, 2> peers{};
  std::deque<std::vector<wl_peer_slot>> slots;
};

TEST_P(TwoPeers, MoveDataFromBufferToBufferAndAddInTheOthers) {
  for (unsigned d = 0; d < 2; ++d) start(d, 4, 1);
  if (HasFatalFailure()) return;
  for (unsigned i = 0; i < 20000; ++i) buffer(0)[100 + i] = static_cast<std::uint8_t>(i * 3 + i / 256);
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_WRITE;
  command.source = 100;
  command.destination = bar(1, 4) + 5001;
  command.length = 20000;
  run(0, command);
  bench.host.pass(2000);
  EXPECT_EQ(std::memcmp(&buffer(0)[100], &buffer(1)[5001], 20000), 0);
  command.opcode = WL_PEER_OPCODE_READ;
  command.source = bar(0, 4) + 103;
  command.destination = 40000;
  command.length = 9999;
  run(1, command);
  EXPECT_EQ(std::memcmp(&buffer(0)[103], &buffer(1)[40000], 9999), 0);
  buffer(1)[8] = 200;
  command = {};
  command.opcode = WL_PEER_OPCODE_FETCH_ADD;
  command.destination = bar(1, 4) + 8;
  command.length = 4;
  command.operand = 100;
  EXPECT_EQ(run(0, command), 200U);
  EXPECT_EQ(run(0, command), 300U);
  EXPECT_EQ(buffer(1)[8] + 256 * buffer(1)[9], 400);
  bench.host.pass(2000);
  EXPECT_EQ(bench.system.root().core().pool().in_use(), 0U);
}

/// Each command rings the other device's doorbell, for its next.
/// Each packet for the other device's memory, as it leaves the root complex.
TEST_P(TwoPeers, WriteDataAndCompletionsRelaxedIfTheQueueIs) {
  if (GetParam()) return;  // what is loosely timed passes nothing
  for (const bool relaxed : {false, true}) {
    SCOPED_TRACE(relaxed);
    const wl_port& port = bench.host.port_of(0);
    ASSERT_EQ(wl_peer_probe(&peers[0], &port), WL_OK);
    ASSERT_EQ(wl_peer_start(&peers[0]), WL_OK);
    wl_peer_queue_options options{};
    options.order = 2;
    options.submissions = bench.host.allocate(4 * WL_PEER_COMMAND_BYTES);
    options.completions_at = {WL_SPACE_BUS, bar(1, 4), bar(1, 4)};
    options.slots = slots.emplace_back(4).data();
    options.relaxed = relaxed;
    ASSERT_EQ(wl_peer_queue_create(&peers[0], 0, &options), WL_OK);
    std::vector<bool> seen;
    bench.system.root().inject([&](unsigned to, const Tlp& tlp) {
      if (to == 1 && tlp.posted()) seen.push_back(tlp.relaxed_ordering);
      return Injection::none;
    });
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_WRITE;
    command.destination = bar(1, 4) + 4096;
    command.length = 8;
    run(0, command);
    EXPECT_EQ(seen, std::vector<bool>(2, relaxed));
    bench.system.root().inject(nullptr);
    wl_peer_teardown(&peers[0]);
  }
}

TEST_P(TwoPeers, FindNoRegisterThatTakesAnAtomic) {
  start(0, 3, 1);
  if (HasFatalFailure()) return;
  const QueueDeviceCore& other = bench.system.peer(1).core();
  for (const unsigned number : {QueueDeviceCore::kRegisterBar, QueueDeviceCore::kMsixBar}) {
    const std::uint64_t reads = other.counters().register_reads, bad = other.counters().bad_accesses;
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_FETCH_ADD;
    command.length = 4;
    command.destination = bar(1, number) + 16;
    command.operand = 4;
    EXPECT_EQ(run(0, command), 0U);
    EXPECT_EQ(other.log().entries().back().kind, AccessKind::atomic);
    EXPECT_EQ(other.log().entries().back().outcome, AccessOutcome::wrong_size) << "BAR " << number;
    EXPECT_EQ(other.counters().register_reads, reads);
    EXPECT_EQ(other.counters().bad_accesses, bad + 1);
  }
}

TEST_P(TwoPeers, RingEachOtherAsOftenAsTheyLike) {
  constexpr unsigned kOrder = 12, kCommands = 4095, kQueues = 8;
  for (unsigned d = 0; d < 2; ++d) start(d, kOrder, kQueues);
  if (HasFatalFailure()) return;
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_FILL;
  command.length = 4;
  for (unsigned i = 0; i < kQueues * kCommands; ++i) {
    for (unsigned d = 0; d < 2; ++d) {
      // Command i of device 0 rings for command i of device 1, that one for command i + 1 of device 0.
      const unsigned next = std::min(i + d, kQueues * kCommands - 1);
      command.destination = bar(1 - d, 0) + WL_PEER_SQ_TAIL_DOORBELL_OFFSET(next / kCommands);
      command.operand = next % kCommands + 1;
      command.cookie = i;
      ASSERT_EQ(wl_peer_submit(&peers[d], i / kCommands, &command), WL_OK);
    }
  }
  bench.host.store(bar(0, 0) + WL_PEER_SQ_TAIL_DOORBELL_OFFSET(0), 4, 1);
  bench.host.pass(kQueues * kCommands * 4000ULL);
  for (wl_peer& peer : peers) {
    for (unsigned i = 0; i < kQueues * kCommands; ++i) {
      wl_peer_completion completion{};
      ASSERT_EQ(wl_peer_poll(&peer, i / kCommands, &completion), WL_OK) << i;
      ASSERT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
      ASSERT_EQ(completion.cookie, i);
    }
    std::uint32_t errors = 0;
    EXPECT_EQ(wl_peer_check(&peer, &errors), WL_OK);
    EXPECT_EQ(errors, 0U);
  }
  EXPECT_EQ(bench.system.root().core().pool().in_use(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Timing, TwoPeers, ::testing::Values(false, true),
                         [](const auto& which) { return which.param ? "LooselyTimed" : "Timed"; });

}  // namespace two_peers_test
}  // namespace warpline
