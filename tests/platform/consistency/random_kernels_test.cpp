// Random kernels on the platform: the checker judges what each run did.
#include <gtest/gtest.h>

#include "tests/platform/consistency/random_kernel.h"
#include "tests/platform/consistency/recorded_run.h"
#include "tests/support/environment.h"

namespace warpline::litmus::test {
namespace random_kernels_test {

/// WARPLINE_KERNEL_SEED, WARPLINE_KERNELS and WARPLINE_KERNEL_RUNS say which, how many and how often.
TEST(RandomKernels, DoWhatTheModelAllows) {
  const std::uint64_t first = from_environment("WARPLINE_KERNEL_SEED", 1);
  const std::uint64_t kernels = from_environment("WARPLINE_KERNELS", 30);
  const std::uint64_t runs = from_environment("WARPLINE_KERNEL_RUNS", 4);
  std::uint64_t events = 0, searched = 0;
  JudgeOptions drawn;
  drawn.draw = true;
  for (std::uint64_t seed = first; seed < first + kernels; ++seed) {
    Random random(splitmix64(seed));
    const KernelText kernel = random_kernel(random);
    for (std::uint64_t run = 0; run < runs; ++run) {
      RunOptions options;
      if (run != 0) options.jitter = splitmix64(seed) + run;
      const std::vector<ExecutionRecord> records = records_of(kernel.ptx, kernel.launch, options);
      ASSERT_EQ(records.size(), 1U);
      const Judgement j = judge(records.front(), drawn);
      ASSERT_EQ(j.verdict, Judgement::Verdict::obeys)
          << "WARPLINE_KERNEL_SEED=" << seed << " WARPLINE_KERNELS=1: " << text_of(j) << '\n'
          << kernel.ptx << kernel.launch << j.graph;
      events += j.events;
      searched += j.tries > 1;
    }
  }
  EXPECT_GT(events, kernels * runs * 10) << "there is little to judge";
  if (kernels >= 30) {
    EXPECT_GT(searched, 0U) << "values always tell what is read";
  }
}

}  // namespace random_kernels_test
}  // namespace warpline::litmus::test
