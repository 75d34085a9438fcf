#include <gtest/gtest.h>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/registers/bus_access.h"
#include "rtl_models/sim/run_outcome.h"
#include "tests/sw/driver/command_traffic.h"

namespace warpline {
namespace tick_modes_test {

using test::BenchOfDriver;
using test::CommandTraffic;

/// Everything that arrived at the device and when, and in which order commands were completed.
std::string story(std::uint64_t seed, TickMode mode) {
  PcieSystemParameters parameters;
  parameters.peer.completion_spread = 700;
  parameters.peer.write_queue = 1 + seed % 4;
  parameters.device.tags = 3 + seed % 8;
  BenchOfDriver bench(parameters, false, 1U << 20U, mode);
  bench.start(3, seed % 2 == 0);
  if (::testing::Test::HasFatalFailure()) return "";
  CommandTraffic traffic(bench, 0, 6, seed);
  std::string text;
  while (traffic.completed < 40) {
    while (traffic.submit()) {
    }
    EXPECT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
    wl_peer_completion completion{};
    const wl_result result = wl_peer_wait(&bench.peer, 0, 1000, &completion);
    EXPECT_EQ(result, WL_OK);
    if (result != WL_OK) return text;
    EXPECT_EQ(traffic.take(completion), "");
    text += std::to_string(completion.cookie) + " at " + std::to_string(bench.host.now()) + "\n";
  }
  for (const BusAccess& access : bench.system.peer(0).core().log().entries())
    text += to_text(access, &regs::peer::kMap) + "\n";
  return text;
}

TEST(PeerTicks, TicksThatNobodyAskedForChangeNothing) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const std::string lazy = story(seed, TickMode::lazy);
    EXPECT_EQ(lazy, story(seed, TickMode::every_cycle)) << "seed " << seed;
    EXPECT_EQ(lazy, story(seed, TickMode::spurious_and_shuffled)) << "seed " << seed;
  }
}

}  // namespace tick_modes_test
}  // namespace warpline
