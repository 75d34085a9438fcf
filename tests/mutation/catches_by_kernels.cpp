// Random kernels, judged as they ran.
#include "tests/mutation/catch.h"
#include "tests/platform/consistency/random_kernel.h"
#include "tests/platform/consistency/recorded_run.h"

namespace warpline::test {
namespace {

/// Whether one of some kernels does what the memory model forbids.
bool kernels_violate(std::uint64_t first) {
  constexpr std::uint64_t kKernels = 60, kRuns = 2;
  for (std::uint64_t n = 0; n < kKernels; ++n) {
    const std::uint64_t seed = first * kKernels + n;
    Random random(splitmix64(seed));
    const litmus::test::KernelText kernel = litmus::test::random_kernel(random);
    for (std::uint64_t run = 1; run <= kRuns; ++run) {
      RunOptions options;
      options.jitter = splitmix64(seed) + run;
      for (const ExecutionRecord& r : litmus::test::records_of(kernel.ptx, kernel.launch, options))
        if (litmus::judge(r).verdict == litmus::Judgement::Verdict::violates) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Catch> catches_by_kernels() {
  const auto by_kernels = [](Mutation m, const char* name) {
    return Catch{m, std::string(name) + "/judged_kernels", kernels_violate};
  };
  return {
      by_kernels(L1LgMutation::store_keeps_line, "store_keeps_line"),
      by_kernels(L1LgMutation::strong_load_keeps_line, "strong_load_keeps_line"),
      by_kernels(SmMutation::fence_skips_invalidation, "fence_skips_invalidation"),
      by_kernels(CacheMutation::dead_fill_installs, "dead_fill_installs"),
      by_kernels(L2Mutation::sys_access_ignores_dirty, "sys_access_ignores_dirty"),
      by_kernels(L2Mutation::sys_access_keeps_copy, "sys_access_keeps_copy"),
  };
}

}  // namespace warpline::test
