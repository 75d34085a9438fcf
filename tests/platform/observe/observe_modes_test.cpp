// What is observed does not depend on how it is simulated, and observing changes nothing.
#include <gtest/gtest.h>

#include "tests/platform/machine/random_machine.h"
#include "tests/platform/observe/observed_run.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace observe_modes_test {

void expect_alike(const std::function<Watched(const Watch&)>& play, const std::string& name) {
  Watch how;
  const Watched lazy = play(how);
  ASSERT_GT(lazy.wave.size(), 1000U);
  ASSERT_GT(lazy.timeline.size(), 1000U);
  for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    how.mode = mode;
    const Watched other = play(how);
    // The files are large: what differs is not printed.
    EXPECT_TRUE(lazy.wave == other.wave) << name;
    EXPECT_TRUE(lazy.timeline == other.timeline) << name;
    EXPECT_TRUE(lazy.latency == other.latency) << name;
    EXPECT_TRUE(lazy.reuse == other.reuse) << name;
  }
  how.mode = TickMode::lazy;
  how.off = true;
  const Watched unwatched = play(how);
  EXPECT_EQ(lazy.cycles, unwatched.cycles) << name;
  EXPECT_EQ(lazy.ticks, unwatched.ticks) << name;
  EXPECT_EQ(lazy.counters, unwatched.counters) << name;
}

TEST(ObservedModes, RandomMachinesGiveTheSameFilesInAllTickModes) {
  const std::uint64_t machines = from_environment("WARPLINE_OBSERVED_MACHINES", 4);
  for (std::uint64_t seed = 1; seed <= machines; ++seed) {
    Random random(seed);
    const GpuConfig config = random_machine(random);
    expect_alike([&](const Watch& how) { return watch_generators(config, seed, how); },
                 "seed " + std::to_string(seed));
  }
}

TEST(ObservedModes, AtomicsFencesAndSystemMemoryToo) {
  const GpuConfig config = preset("mini", {{"clocks.link=300"}, {"clocks.dram=877"}, {"l1_lg.outgoing=4"}});
  for (const char* kernel : {"histogram", "reduce", "vecadd"})
    for (const bool sysmem : {false, true})
      expect_alike([&](const Watch& how) { return watch_kernel(config, kernel, sysmem, how); },
                   std::string(kernel) + (sysmem ? " in system memory" : ""));
}

TEST(ObservedModes, LookaheadDoesNotDisturbTheOrder) {
  // One cluster runs 64 cycles ahead of the next: what is seen comes in late, and out of order.
  GpuConfig far = preset("mini");
  HopsParameters& h = far.hops;
  for (HopParameters* hop : {&h.l1_lg_crossbar, &h.texture_crossbar, &h.constant_crossbar,
                             &h.instruction_crossbar, &h.crossbar_l2, &h.l2_dram, &h.l2_pcie}) {
    hop->request = {32, 70, 150, 70};
    hop->response = {32, 70, 150, 70};
  }
  expect_alike([&](const Watch& how) { return watch_kernel(far, "matmul", false, how); }, "far apart");
}

}  // namespace observe_modes_test
}  // namespace warpline::test
