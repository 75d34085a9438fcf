// What a driver finds when somebody switches parts of its device off while commands run, and on again.
#include <gtest/gtest.h>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "tests/sw/driver/command_traffic.h"

namespace warpline::test {
namespace switched_off_test {

constexpr unsigned kCommand = 4, kMemorySpace = 2, kBusMaster = 4;

/// A device with commands under way, and its configuration space.
class AtWork : public BenchOfDriver {
 public:
  AtWork(std::uint64_t seed, bool interrupt) : BenchOfDriver(slow()), random(seed) {
    start(4, interrupt);
    traffic.emplace(*this, 0, 6, seed);
    for (unsigned i = 0; i < 4; ++i) work();
    while (traffic->submit()) {
    }
    EXPECT_EQ(wl_peer_ring(&peer, 0), WL_OK);
    host.pass(random.below(4000));
  }
  /// Submits what may be submitted, and takes what there is.
  void work() {
    while (traffic->submit()) {
    }
    ASSERT_EQ(wl_peer_ring(&peer, 0), WL_OK);
    wl_peer_completion completion{};
    ASSERT_EQ(wl_peer_wait(&peer, 0, 1000, &completion), WL_OK);
    ASSERT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
    ASSERT_EQ(traffic->take(completion), "");
  }
  std::uint64_t read_config(unsigned offset, unsigned bytes) {
    return port->read(port->context, WL_SPACE_CONFIG, offset, bytes);
  }
  void write_config(unsigned offset, unsigned bytes, std::uint64_t value) {
    port->write(port->context, WL_SPACE_CONFIG, offset, bytes, value);
  }
  /// The device works again as one that was never used.
  void start_anew() {
    wl_peer_teardown(&peer);
    host.enumerate();
    traffic->forget();
    start(4, false);
    traffic.emplace(*this, 0, 6, random.next());
    for (unsigned i = 0; i < 10; ++i) work();
  }
  /// Brings it back, and drains what was under way.
  void recover() {
    ASSERT_EQ(wl_peer_recover(&peer), WL_OK);
    wl_peer_completion completion{};
    while (wl_peer_poll(&peer, 0, &completion) == WL_OK) static_cast<void>(traffic->take(completion));
    traffic->forget();
    traffic.emplace(*this, 0, 6, random.next());
    for (unsigned i = 0; i < 10; ++i) work();
  }

  Random random;
  std::optional<CommandTraffic> traffic;

 private:
  static PcieSystemParameters slow() {
    PcieSystemParameters p;
    p.device.bytes_per_cycle = 2;
    p.peer.completion_spread = 300;
    return p;
  }
};

class SwitchedOff : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Notification, SwitchedOff, testing::Bool(),
                         [](const auto& p) { return p.param ? "Interrupt" : "Polling"; });

TEST_P(SwitchedOff, ADeviceThatSleepsIsGoneAndNewWhenItWakes) {
  for (std::uint64_t seed = 1; seed <= 25 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AtWork bench(seed, GetParam());
    const unsigned power = bench.device.endpoint().config().power_capability() + 4;
    bench.write_config(power, 2, 3);
    bench.host.pass(5000);
    const std::uint64_t faults = bench.system.root().core().iommu().fault_count();
    EXPECT_EQ(wl_peer_check(&bench.peer, nullptr), WL_GONE);
    bench.write_config(power, 2, 0);
    bench.start_anew();
    EXPECT_EQ(bench.system.root().core().iommu().fault_count(), faults);
  }
}

TEST_P(SwitchedOff, ADeviceWhoseBarsAreOffIsGoneUntilTheyAreOn) {
  for (std::uint64_t seed = 1; seed <= 25 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AtWork bench(seed, GetParam());
    const std::uint64_t command = bench.read_config(kCommand, 2);
    bench.write_config(kCommand, 2, command & ~std::uint64_t{kMemorySpace});
    EXPECT_EQ(wl_peer_check(&bench.peer, nullptr), WL_GONE);
    bench.host.pass(bench.random.below(3000));
    bench.write_config(kCommand, 2, command);
    EXPECT_EQ(wl_peer_check(&bench.peer, nullptr), WL_OK);
    // Its commands went on meanwhile: each completes, once.
    wl_peer_completion completion{};
    for (unsigned i = 0; i < 6; ++i) {
      ASSERT_EQ(wl_peer_wait(&bench.peer, 0, 1000, &completion), WL_OK);
      EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
      EXPECT_EQ(bench.traffic->take(completion), "");
    }
    for (unsigned i = 0; i < 10; ++i) bench.work();
  }
}

TEST_P(SwitchedOff, ADeviceThatMayMakeNoRequestsTouchesNothingAndRecovers) {
  for (std::uint64_t seed = 1; seed <= 25 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AtWork bench(seed, GetParam());
    const std::uint64_t command = bench.read_config(kCommand, 2);
    bench.write_config(kCommand, 2, command & ~std::uint64_t{kBusMaster});
    bench.host.pass(1000);
    const std::uint64_t writes = bench.system.root().core().counters().memory_writes;
    const std::uint64_t reads = bench.system.root().core().counters().memory_reads;
    bench.host.pass(5000);
    EXPECT_EQ(bench.system.root().core().counters().memory_writes, writes);
    EXPECT_EQ(bench.system.root().core().counters().memory_reads, reads);
    bench.write_config(kCommand, 2, command);
    bench.recover();
  }
}

TEST(SwitchedOffVectors, InterruptsThatAreMaskedAreNotLost) {
  for (std::uint64_t seed = 1; seed <= 25 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AtWork bench(seed, true);
    const unsigned msix = bench.device.endpoint().config().msix_capability();
    const std::uint64_t control = bench.read_config(msix + 2, 2);
    bench.write_config(msix + 2, 2, control | 0x4000);
    bench.host.pass(1000);
    while (bench.host.wait_interrupt(0, 0, 0)) {
    }
    const bool before = bench.device.endpoint().counters().interrupts != 0;
    EXPECT_TRUE(before);
    bench.host.pass(40000);
    EXPECT_FALSE(bench.host.wait_interrupt(0, 0, 0)) << "all are masked";
    bench.write_config(msix + 2, 2, control);
    // What is in the ring is found by looking, or by the interrupt that was pending.
    wl_peer_completion completion{};
    for (unsigned i = 0; i < 6; ++i) {
      ASSERT_EQ(wl_peer_wait(&bench.peer, 0, 1000, &completion), WL_OK);
      EXPECT_EQ(bench.traffic->take(completion), "");
    }
    for (unsigned i = 0; i < 10; ++i) bench.work();
  }
}

TEST(SwitchedOffVectors, ItsPendingInterruptComesWhenItIsUnmasked) {
  BenchOfDriver bench;
  bench.start(4, true);
  const std::uint64_t mask = 12;  // of vector 0 in the MSI-X table
  bench.port->write(bench.port->context, QueueDeviceCore::kMsixBar, mask, 4, 1);
  wl_peer_command command{};
  ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &command), WL_OK);
  ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
  EXPECT_FALSE(bench.host.wait_interrupt(0, 0, 50));
  bench.port->write(bench.port->context, QueueDeviceCore::kMsixBar, mask, 4, 0);
  EXPECT_TRUE(bench.host.wait_interrupt(0, 0, 50));
  EXPECT_FALSE(bench.host.wait_interrupt(0, 0, 50)) << "once";
}

}  // namespace switched_off_test
}  // namespace warpline::test
