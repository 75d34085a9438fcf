// Whole GPUs with a checker of the base protocol on every hop: it has nothing to say, and every cycle,
// counter and result is as in plain C++. One simulation per process.
#include "tests/support/checked_hops.h"

#include <gtest/gtest.h>

#include "platform/launch/fast_forward.h"
#include "tests/platform/machine/generator_runs.h"
#include "tests/platform/machine/random_machine.h"
#include "tests/support/kernel_run.h"

namespace warpline::test {
namespace checked_hops_test {

using test::preset;

/// Fails unless a run has ended and given what its launch file expects.
void expect_good(const KernelRun& run) {
  EXPECT_EQ(run.end.outcome, RunOutcome::quiescent);
  EXPECT_GT(run.end.checks, 0U);
  EXPECT_EQ(run.end.failed_checks, 0U);
  EXPECT_TRUE(run.unreconciled.empty());
}

class CheckedKernels : public ::testing::TestWithParam<const char*> {};

TEST_P(CheckedKernels, AreAsInPlainCpp) {
  const GpuConfig config = preset("mini", {{"clocks.l2=977"}, {"clocks.dram=333"}, {"l2.slices=3"}});
  const KernelRun plain = run_kernel(GetParam(), config, nullptr);
  CheckedHops hops;
  const KernelRun checked = run_kernel(GetParam(), config, checked_backend(config, hops));
  expect_good(checked);
  EXPECT_EQ(checked.cycles, plain.cycles);
  EXPECT_EQ(checked.counters, plain.counters);
  EXPECT_GT(hops.timed(), 100U);
  EXPECT_EQ(hops.loose(), 0U);
  hops.expect_clean();
}

TEST_P(CheckedKernels, LooselyTimedMakeNothingButCalls) {
  const GpuConfig config = preset("mini");
  CheckedHops hops;
  expect_good(run_kernel(GetParam(), config, checked_backend(config, hops), true));
  EXPECT_EQ(hops.timed(), 0U);
  EXPECT_GT(hops.loose(), 100U);
  hops.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Kernels, CheckedKernels,
                         ::testing::Values("chase", "hints", "histogram", "matmul", "pipeline", "reduce",
                                           "spmv", "stencil", "texture", "transpose", "vecadd"));

TEST(CheckedFastForward, GoesOverFromCallsToTimedRequests) {
  const GpuConfig config = preset("mini");
  FastForward to;
  to.launches = 1;
  to.warm = true;
  const KernelRun plain = run_kernel("chase", config, nullptr, false, to);
  CheckedHops hops;
  const KernelRun checked = run_kernel("chase", config, checked_backend(config, hops), false, to);
  expect_good(checked);
  EXPECT_EQ(checked.end.fast_forwarded, 1U);
  EXPECT_EQ(checked.cycles, plain.cycles);
  EXPECT_EQ(checked.counters, plain.counters);
  EXPECT_GT(hops.timed(), 100U);
  EXPECT_GT(hops.loose(), 100U);
  hops.expect_clean();
}

class CheckedMachines : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CheckedMachines, RunAsInPlainCppWhateverTheTicks) {
  const std::uint64_t seed = GetParam();
  Random random(seed);
  const GpuConfig config = test::random_machine(random);
  const test::Outcome plain = test::play(config, seed, TickMode::lazy);
  constexpr TickMode kModes[] = {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled};
  CheckedHops hops;
  const TickMode mode = kModes[seed % 3];
  const test::Outcome checked = test::play(config, seed, mode, checked_backend(config, hops, mode, seed));
  EXPECT_EQ(plain.cycles, checked.cycles);
  EXPECT_EQ(plain.counters, checked.counters);
  EXPECT_GT(hops.timed(), 100U);
  hops.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Seeds, CheckedMachines, ::testing::Range<std::uint64_t>(1, 31));

}  // namespace checked_hops_test
}  // namespace warpline::test
