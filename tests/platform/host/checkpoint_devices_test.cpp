// Devices behind a root complex, saved and restored with the platform: a driver goes on with its rings,
// kernels with the device's memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "platform/machine/checkpoint.h"
#include "platform/machine/pcie_system.h"
#include "tests/platform/host/gpus_and_host.h"
#include "tests/sw/driver/bench_of_driver.h"
#include "wl_peer_regs.h"

namespace warpline::test {
namespace checkpoint_devices_test {

/// A GPU and a device, with a driver of it.
struct Scene : GpusAndHost, DriverBench {
  Scene()
      : GpusAndHost({}, {{"pcie_system.peer.completion_spread=200"}}), DriverBench(*host, *platform.pcie()) {
    DriverBench::start(3);
    memory = DriverBench::share(4096);
    shared = GpusAndHost::share(4096);
  }
  void command(std::uint64_t operand) {
    wl_peer_command c{};
    c.opcode = WL_PEER_OPCODE_FILL;
    c.destination = memory.bus;
    c.length = 256;
    c.operand = operand;
    wl_peer_completion completion{};
    ASSERT_EQ(DriverBench::run(c, completion), WL_OK);
    ASSERT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
  }
  /// A kernel that reads, writes and counts in the device's memory and the host's.
  void kernel() {
    GpusAndHost::run(
        "mov.u32 %r1, %tid.x;\n mul.wide.u32 %d1, %r1, 4;\n add.u64 %d2, %a0, %d1;\n add.u64 %d3, %a1, %d1;\n"
        "ld.relaxed.sys.global.u32 %r2, [%d2];\n add.u32 %r2, %r2, 5;\n st.relaxed.sys.global.u32 [%d2], "
        "%r2;\n"
        "atom.relaxed.sys.global.add.u32 %r3, [%a1+128], 1;\n st.global.u32 [%d3], %r2;\n",
        {buffer, shared.address}, 32);
  }
  /// What is due and moves nothing any more is over.
  void rest() {
    ASSERT_EQ(platform.pcie()->run_until(kNever), RunOutcome::quiescent);
    host->forget_time();
  }
  [[nodiscard]] std::string saved() {
    rest();
    std::ostringstream out;
    const Diagnostics faults = platform.save(out);
    EXPECT_TRUE(faults.empty()) << faults.front().text();
    return out.str();
  }
  void restore(const std::string& bytes) {
    rest();
    std::istringstream in(bytes);
    const auto checkpoint = Checkpoint::read(in);
    ASSERT_TRUE(checkpoint.ok());
    const Diagnostics faults = platform.restore(checkpoint.value());
    ASSERT_TRUE(faults.empty()) << faults.front().text();
    host->forget_time();
  }
  DriverBench::Shared memory;
  GpusAndHost::Shared shared;
};

/// Where two checkpoints differ first: the text before it.
std::string first_difference(const std::string& a, const std::string& b) {
  if (a == b) return {};
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  std::string before;
  for (auto i = std::max<std::ptrdiff_t>(at - 400, 0); i < at; ++i)
    before += std::isprint(static_cast<unsigned char>(a[static_cast<std::size_t>(i)])) != 0
                  ? a[static_cast<std::size_t>(i)]
                  : '.';
  return "byte " + std::to_string(at) + ", behind " + before;
}

void go_on(Scene& scene) {
  for (std::uint64_t n = 0; n < 5; ++n) {
    scene.command(100 + n);
    scene.kernel();
  }
}

TEST(CheckpointDevices, GoOnWithTheirDriverAsTheyDid) {
  Scene first, second;
  for (std::uint64_t n = 0; n < 3; ++n) first.command(n);
  first.kernel();
  const std::string bytes = first.saved();
  // The same software, so that both drivers stand alike; other data, and another time.
  for (std::uint64_t n = 0; n < 3; ++n) {
    second.host->pass(777);
    second.command(50 + n);
  }
  second.kernel();
  second.kernel();
  ASSERT_NE(second.saved(), bytes);
  second.restore(bytes);
  ASSERT_EQ(second.saved(), bytes);
  go_on(first);
  go_on(second);
  EXPECT_EQ(first_difference(second.saved(), first.saved()), "");
  EXPECT_EQ(second.platform.now(), first.platform.now());
  EXPECT_EQ(AllCounters(second.platform).values(), AllCounters(first.platform).values());
}

TEST(CheckpointDevices, AResetLeavesThemAsAtPowerOn) {
  Scene scene;
  scene.command(1);
  EXPECT_TRUE(scene.platform.pcie()->peer(0).core().queues()[0].enabled());
  scene.rest();
  ASSERT_TRUE(scene.platform.reset().empty());
  EXPECT_FALSE(scene.platform.pcie()->peer(0).endpoint().config().memory_enabled()) << "nobody has set it up";
  EXPECT_FALSE(scene.platform.pcie()->peer(0).core().queues()[0].enabled());
  scene.host->enumerate();
  EXPECT_TRUE(scene.platform.pcie()->peer(0).endpoint().config().memory_enabled());
}

}  // namespace checkpoint_devices_test
}  // namespace warpline::test
