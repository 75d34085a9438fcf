// Queues that keep messages longer, and turns that begin elsewhere: other cycles, the same results.
#include <gtest/gtest.h>

#include <set>

#include "platform/config/load_gpu.h"
#include "tests/support/kernel_run.h"

namespace warpline::test {
namespace jitter_test {

KernelRun run_with(std::optional<std::uint64_t> jitter, bool loose = false) {
  const auto config = load_gpu("mini", {}).value();
  RunOptions options;
  options.jitter = jitter;
  options.loose = loose;
  return run_kernel("histogram", config, options);
}

TEST(Jitter, TakesItsTimeFromItsSeedAlone) {
  const KernelRun first = run_with(7);
  const KernelRun again = run_with(7);
  EXPECT_EQ(first.cycles, again.cycles);
  EXPECT_EQ(first.counters, again.counters);
}

TEST(Jitter, ChangesCyclesAndNoResult) {
  std::set<std::vector<Cycle>> seen;
  const KernelRun without = run_with(std::nullopt);
  seen.insert(without.cycles);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const KernelRun run = run_with(seed);
    EXPECT_EQ(run.end.outcome, RunOutcome::quiescent);
    EXPECT_GT(run.end.checks, 0U);
    EXPECT_EQ(run.end.failed_checks, 0U) << "seed " << seed;
    EXPECT_EQ(run.unreconciled, std::vector<std::string>{});
    EXPECT_GT(run.cycles.front(), without.cycles.front());
    seen.insert(run.cycles);
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Jitter, IsDrawnAnewForEveryLaunch) {
  const auto config = load_gpu("mini", {}).value();
  RunOptions options;
  options.jitter = 3;
  // Two launches of one kernel, the second with warm L2: without jitter it is the faster one for every seed.
  std::set<bool> second_is_faster;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    options.jitter = seed * 100;
    const KernelRun run = run_kernel("hints", config, options);
    ASSERT_GE(run.cycles.size(), 2U);
    second_is_faster.insert(run.cycles[1] < run.cycles[0]);
  }
  EXPECT_EQ(second_is_faster.size(), 2U);
}

TEST(Jitter, LooselyTimedAccessesTakeLongerToo) {
  EXPECT_GT(run_with(1, true).cycles.front(), run_with(std::nullopt, true).cycles.front());
}

}  // namespace jitter_test
}  // namespace warpline::test
