// Random kernels, judged as they ran.
#include "tests/mutation/catch.h"
#include "tests/platform/consistency/random_kernel.h"
#include "tests/platform/consistency/recorded_run.h"

namespace warpline::test {
namespace {

/// Whether one of some kernels does what the memory model forbids.
bool kernels_violate(std::uint64_t first) {
  constexpr std::uint64_t kKernels = 12, kRuns = 2;
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

/// Whether a judged kernel, under some draws of the queues' times, does what the memory model forbids.
bool violates(const std::string& ptx, const std::string& launch, std::uint64_t first) {
  constexpr std::uint64_t kRuns = 20;
  for (std::uint64_t run = 1; run <= kRuns; ++run) {
    RunOptions options;
    options.jitter = splitmix64(first * kRuns + run);
    for (const ExecutionRecord& r :
         litmus::test::records_of(ptx, launch, options, 1000, {"sm_network.present=true"}))
      if (litmus::judge(r).verdict != litmus::Judgement::Verdict::obeys) return true;
  }
  return false;
}

/// Two CTAs of a cluster meet behind a store, which one of them has read before.
bool clusters_violate(std::uint64_t first) {
  std::string ptx = litmus::test::kernel(
      {{0, "st.global.u32 [%rd1], 7; barrier.cluster.arrive; barrier.cluster.wait;"},
       {64,
        "ld.global.u32 %r4, [%rd1]; barrier.cluster.arrive; barrier.cluster.wait; ld.global.u32 %r5, "
        "[%rd1];"}});
  ptx.insert(ptx.find("\n{\n") + 1, ".reqnctapercluster 2, 1, 1\n");
  return violates(ptx, litmus::test::launch(2), first);
}

/// A thread waits for a phase that another completes behind a store.
bool mbarriers_violate(std::uint64_t first) {
  return violates(
      litmus::test::kernel(
          {{0,
            "mbarrier.init.shared.b64 [%rd2], 1; st.release.cta.global.u32 [%rd1+128], 1;"
            "ld.volatile.global.u32 %r6, [%rd1+64]; add.u32 %r6, %r6, 7; st.global.u32 [%rd1], %r6;"
            "mbarrier.arrive.shared.b64 _, [%rd2];"},
           {32,
            "W: ld.acquire.cta.global.u32 %r4, [%rd1+128]; setp.eq.u32 %p2, %r4, 0; @%p2 bra W;"
            "mbarrier.try_wait.parity.shared.b64 %p3, [%rd2], 0; ld.global.u32 %r5, [%rd1];"}}),
      litmus::test::launch(1), first);
}

}  // namespace

std::vector<Catch> catches_by_kernels() {
  const auto by_kernels = [](Mutation m, const char* name, std::uint64_t first_seed = 1) {
    return Catch{m, std::string(name) + "/judged_kernels", kernels_violate, first_seed, 750};
  };
  return {
      by_kernels(L1LgMutation::store_keeps_line, "store_keeps_line"),
      by_kernels(L1LgMutation::strong_load_keeps_line, "strong_load_keeps_line", 29),
      by_kernels(SmMutation::fence_skips_invalidation, "fence_skips_invalidation", 47),
      by_kernels(CacheMutation::dead_fill_installs, "dead_fill_installs", 2),
      by_kernels(L2Mutation::sys_access_ignores_dirty, "sys_access_ignores_dirty", 2),
      by_kernels(L2Mutation::sys_access_keeps_copy, "sys_access_keeps_copy"),
      {SmMutation::cluster_fence_skips_invalidation, "cluster_fence_skips_invalidation/judged_kernels",
       clusters_violate},
      {SmMutation::cluster_wait_does_not_wait, "cluster_wait_does_not_wait/judged_kernels", clusters_violate},
      {SmMutation::mbarrier_wait_does_not_block, "mbarrier_wait_does_not_block/judged_kernels",
       mbarriers_violate},
  };
}

}  // namespace warpline::test
