#include <gtest/gtest.h>

#include "platform/consistency/checker.h"
#include "tests/mutation/catch.h"
#include "tests/platform/consistency/bench.h"

namespace warpline::test {
namespace {

constexpr std::uint64_t kRuns = 10000;
constexpr std::uint64_t kRunsAtATime = 250;

/// Whether `runs` runs with seeds of their own, by `seed`, show the outcome in question. Checks that the
/// memory model forbids it.
bool shows(const std::string& text, std::uint64_t seed, std::uint64_t runs) {
  const litmus::Test test = litmus_test(text);
  EXPECT_FALSE(litmus::check(test).allowed) << text;
  const bool two = text.find("gpu 1") != std::string::npos;
  const bool clusters = text.find("cluster 0") != std::string::npos;
  GpuConfig config = load_gpu("mini", {{two ? "gpus=2" : "gpus=1"}}).value();
  config.sm_network.present = clusters;
  litmus::Machine machine(config);
  EXPECT_TRUE(machine.refusals(test).empty()) << text;
  for (std::uint64_t done = 0; done < runs; done += kRunsAtATime) {
    const litmus::RunReport report = litmus::run(machine, test, {kRunsAtATime, seed * runs + done});
    EXPECT_EQ(report.stuck + report.faulted, 0U) << text;
    if (report.in_question != 0) return true;
  }
  return false;
}

struct Row {
  Mutation mutation;
  const char* name;
  const char* text;
  std::uint64_t runs = kRuns;  ///< a try
};
/// Bugs that many runs show.
constexpr std::uint64_t kFewRuns = 500;

constexpr const char* kClusterMeeting = R"({ x=0; }
 P0@cta 0, cluster 0, gpu 0 | P1@cta 1, cluster 0, gpu 0 ;
 st.weak x, 1 | ld.weak r0, x ;
 barrier.cluster.arrive | barrier.cluster.arrive ;
 barrier.cluster.wait | barrier.cluster.wait ;
 | ld.weak r1, x ;
~exists (P1:r1 == 0))";

/// Bytes are expected, and a store tells of them, from another CTA.
constexpr const char* kStoredFromElsewhere = R"({ s @ shared of P1 = 0; b @ mbarrier of P1 = 1; }
 P0@cta 0, cluster 0, gpu 0 | P1@cta 1, cluster 0, gpu 0 ;
 mbarrier.arrive.expect_tx.release.cluster _, b, 4 | mbarrier.try_wait.parity.acquire.cluster p, b, 0 ;
 st.async s, 1, b | ld.weak r1, s ;
~exists (P1:p == 1 /\ P1:r1 == 0))";

constexpr const char* kMessagePassing = R"({ x=0; f=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1 | ld.acquire.gpu r0, f ;
 st.release.gpu f, 1 | ld.weak r1, x ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))";

constexpr const char* kMessagePassingByFences = R"({ x=0; f=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1 | ld.relaxed.gpu r0, f ;
 fence.acq_rel.gpu | fence.acq_rel.gpu ;
 st.relaxed.gpu f, 1 | ld.weak r1, x ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))";

constexpr const char* kStoreBuffer = R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1 | st.weak y, 1 ;
 fence.sc.gpu | fence.sc.gpu ;
 ld.weak r0, y | ld.weak r1, x ;
~exists (P0:r0 == 0 /\ P1:r1 == 0))";

constexpr const char* kOwnStore = R"({ x=0; }
 P0@cta 0,gpu 0 ;
 ld.weak r0, x ;
 st.weak x, 1 ;
 ld.weak r1, x ;
 ld.weak r2, x ;
~exists (P0:r1 == 0 \/ P0:r2 == 0))";

constexpr const char* kTexture = R"({ x=0; t @ texture aliases x; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 fence.proxy.texture ;
 tld.weak r0, t ;
~exists (P0:r0 == 0))";

/// The second GPU may have a copy of x.
constexpr const char* kBetweenGpus = R"({ x @ sysmem = 0; f @ sysmem = 0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 1 ;
 st.weak x, 1 | ld.acquire.sys r0, f ;
 st.release.sys f, 1 | ld.weak r1, x ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))";

const Row kRows[] = {
    {L2Mutation::sys_acquire_keeps_copies, "sys_acquire_keeps_copies/litmus", kBetweenGpus},
    {L2Mutation::sys_release_skips_write_back, "sys_release_skips_write_back/litmus", kBetweenGpus},
    {L2Mutation::clean_bytes_written_back, "clean_bytes_written_back/litmus", R"({ x @ sysmem = 0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 1 ;
 st.weak.b8 x, 1 | st.weak.b8 x+1, 1 ;
 fence.sc.sys | fence.sc.sys ;
~exists (x != 257))"},
    {PcieMutation::link_swap_loses_update, "link_swap_loses_update/litmus", R"({ x @ sysmem = 0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 1 ;
 red.relaxed.sys.or x, 1 | red.relaxed.sys.or x, 2 ;
~exists (x != 3))"},
    {L1LgMutation::store_keeps_line, "store_keeps_line", R"({ x=0; }
 P0@cta 0,gpu 0 ;
 ld.weak r0, x ;
 add r0, r0, 0 ;
 st.weak x, 1 ;
 ld.weak r1, x ;
~exists (P0:r1 == 0))"},
    {L1LgMutation::store_spares_fill, "store_spares_fill", kOwnStore},
    {CacheMutation::dead_fill_installs, "dead_fill_installs", kOwnStore},
    {L1LgMutation::strong_load_keeps_line, "strong_load_keeps_line", R"({ x=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, x ;
 | ld.weak r1, x ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))"},
    {L1LgMutation::strong_load_spares_fill, "strong_load_spares_fill", R"({ x=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.relaxed.gpu x, 1 | ld.weak r2, x ;
 | ld.relaxed.gpu r0, x ;
 | ld.weak r1, x ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))"},
    {L1LgMutation::atomic_keeps_line, "atomic_keeps_line", R"({ x=0; }
 P0@cta 0,gpu 0 ;
 atom.relaxed.gpu.add r0, x, 1 ;
 ld.weak r1, x ;
~exists (P0:r1 == 0))"},
    {L1LgMutation::reduction_keeps_line, "reduction_keeps_line", R"({ x=0; }
 P0@cta 0,gpu 0 ;
 red.relaxed.gpu.add x, 1 ;
 ld.weak r1, x ;
~exists (P0:r1 == 0))"},
    {CacheMutation::invalidation_spares_fills, "invalidation_spares_fills/proxy_fence",
     R"({ x=0; f=0; t @ texture aliases x; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 1,gpu 0 ;
 st.weak x, 1 | ld.acquire.gpu r0, f | tld.weak r2, t ;
 st.release.gpu f, 1 | fence.proxy.texture | ;
 | tld.weak r1, t | ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))"},
    {SmMutation::release_ignores_loads, "release_ignores_loads", R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 ld.weak r0, x | ld.acquire.gpu r1, y ;
 st.release.gpu y, 1 | st.weak x, 1 ;
~exists (P0:r0 == 1 /\ P1:r1 == 1))"},
    {SmMutation::fence_ignores_loads, "fence_ignores_loads", R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 ld.weak r0, x | ld.relaxed.gpu r1, y ;
 fence.acq_rel.gpu | fence.acq_rel.gpu ;
 st.relaxed.gpu y, 1 | st.weak x, 1 ;
~exists (P0:r0 == 1 /\ P1:r1 == 1))"},
    {SmMutation::release_skips_drain, "release_skips_drain", kMessagePassing},
    {SmMutation::release_drains_own_thread, "release_drains_own_thread", R"({ x=0; f=0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 1,gpu 0 ;
 st.weak x, 1 | fence.acq_rel.gpu | ld.acquire.gpu r0, f ;
 bar.cta.sync 0 | bar.cta.sync 0 | ld.weak r1, x ;
 | st.release.gpu f, 1 | ;
~exists (P2:r0 == 1 /\ P2:r1 == 0))"},
    {SmMutation::fence_skips_drain, "fence_skips_drain/acq_rel", kMessagePassingByFences},
    {SmMutation::fence_skips_drain, "fence_skips_drain/sc", kStoreBuffer},
    {L1LgMutation::reduction_unacknowledged, "reduction_unacknowledged", R"({ x=0; f=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 red.relaxed.gpu.add x, 1 | ld.acquire.gpu r0, f ;
 st.release.gpu f, 1 | ld.weak r1, x ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))"},
    {SmMutation::barrier_ignores_loads, "barrier_ignores_loads", R"({ x=0; f=0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 1,gpu 0 ;
 ld.weak r0, x | bar.cta.sync 0 | ld.acquire.gpu r1, f ;
 bar.cta.sync 0 | st.release.gpu f, 1 | st.weak x, 1 ;
~exists (P0:r0 == 1 /\ P2:r1 == 1))"},
    {PcieMutation::link_atomic_overtaken, "link_atomic_overtaken", R"({ x @ sysmem = 5; }
 P0@cta 0,gpu 0 ;
 red.relaxed.sys.min x, 1 ;
 ld.relaxed.sys r0, x ;
~exists (P0:r0 == 5))"},
    {SmMutation::acquire_does_not_block, "acquire_does_not_block", kMessagePassing},
    {SmMutation::acquire_skips_invalidation, "acquire_skips_invalidation", kMessagePassing},
    {SmMutation::acquire_ignores_invalidation, "acquire_ignores_invalidation", R"({ x=0; f=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1 | ld.acquire.sys r0, f ;
 st.release.sys f, 1 | ld.weak r1, x ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))"},
    {SmMutation::fence_skips_invalidation, "fence_skips_invalidation", kMessagePassingByFences},
    {L2Mutation::sys_access_ignores_dirty, "sys_access_ignores_dirty", R"({ x @ sysmem = 0; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 ld.relaxed.sys r0, x ;
~exists (P0:r0 == 0))"},
    {L2Mutation::sys_access_keeps_copy, "sys_access_keeps_copy", R"({ x @ sysmem = 0; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 st.relaxed.sys x, 2 ;
 ld.weak.cg r0, x ;
~exists (P0:r0 == 1))"},
    {L2Mutation::fetch_overwrites_dirty, "fetch_overwrites_dirty", R"({ x @ sysmem = 0; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 ld.weak.cg r0, x ;
 ld.weak.cg r1, x ;
~exists (P0:r1 == 0))"},
    {SmMutation::proxy_fence_does_nothing, "proxy_fence_does_nothing", kTexture},
    {SmMutation::proxy_fence_skips_drain, "proxy_fence_skips_drain/own", kTexture},
    {SmMutation::proxy_fence_skips_drain, "proxy_fence_skips_drain/sibling",
     R"({ x=0; t @ texture aliases x; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
 st.weak x, 1 | bar.cta.sync 0 ;
 bar.cta.sync 0 | fence.proxy.texture ;
 | tld.weak r0, t ;
~exists (P1:r0 == 0))"},
    {SmMutation::proxy_fence_ignores_surfaces, "proxy_fence_ignores_surfaces",
     R"({ x=0; f=0; s @ surface aliases x; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 sust.weak s, 1 | ld.acquire.gpu r0, f ;
 fence.proxy.surface | fence.proxy.surface ;
 st.release.gpu f, 1 | ld.weak r1, x ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))"},
    {SmMutation::surface_fence_keeps_l1, "surface_fence_keeps_l1", R"({ x=0; s @ surface aliases x; }
 P0@cta 0,gpu 0 ;
 sust.weak s, 1 ;
 fence.proxy.surface ;
 ld.weak r0, x ;
~exists (P0:r0 == 0))"},
    {SmMutation::surface_fence_keeps_surfaces, "surface_fence_keeps_surfaces",
     R"({ x=0; s @ surface aliases x; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 fence.proxy.surface ;
 suld.weak r0, s ;
~exists (P0:r0 == 0))"},
    {SmMutation::alias_fence_keeps_l1, "alias_fence_keeps_l1", R"({ x=0; y @ generic aliases x; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 fence.proxy.alias ;
 ld.weak r0, y ;
~exists (P0:r0 == 0))"},
    {SmMutation::proxy_fence_keeps_lines, "proxy_fence_keeps_lines/texture", kTexture},
    {SmMutation::proxy_fence_keeps_lines, "proxy_fence_keeps_lines/constant",
     R"({ x=0; c @ constant aliases x; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 fence.proxy.constant ;
 cold.weak r0, c ;
~exists (P0:r0 == 0))"},
    {SmMutation::proxy_fence_ignores_loads, "proxy_fence_ignores_loads", R"({ x=0; t @ texture aliases x; }
 P0@cta 0,gpu 0 ;
 tld.weak r0, t ;
 fence.proxy.texture ;
 st.weak x, 1 ;
~exists (P0:r0 == 1))"},
    {SmMutation::sc_fence_skips_invalidation, "sc_fence_skips_invalidation", kStoreBuffer},
    {SmMutation::cluster_wait_does_not_wait, "cluster_wait_does_not_wait", kClusterMeeting, kFewRuns},
    {SmMutation::cluster_fence_skips_drain, "cluster_fence_skips_drain", kClusterMeeting, kFewRuns},
    {SmMutation::cluster_fence_skips_invalidation, "cluster_fence_skips_invalidation", kClusterMeeting,
     kFewRuns},
    {SmMutation::mbarrier_arrival_ignores_loads, "mbarrier_arrival_ignores_loads",
     R"({ x=0; f=0; b @ mbarrier = 1; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 1,gpu 0 ;
 ld.weak r0, x | mbarrier.try_wait.parity p, b, 0 | ld.acquire.gpu r1, f ;
 mbarrier.arrive _, b | st.release.gpu f, 1 | st.weak x, 1 ;
~exists (P0:r0 == 1 /\ P1:p == 1 /\ P2:r1 == 1))"},
    {SmMutation::mbarrier_wait_does_not_block, "mbarrier_wait_does_not_block", R"({ x=0; b @ mbarrier = 1; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
 st.weak x, 1 | mbarrier.try_wait.parity p, b, 0 ;
 mbarrier.arrive _, b | ld.weak r1, x ;
~exists (P1:p == 1 /\ P1:r1 == 0))",
     kFewRuns},
    {SmMutation::bulk_told_before_data, "bulk_told_before_data",
     R"({ x=5; s @ shared = 0; b @ mbarrier = 1; }
 P0@cta 0,gpu 0 ;
 mbarrier.arrive.expect_tx r, b, 16 ;
 cp.async.bulk s, x, 16, b ;
 mbarrier.try_wait p, b, r ;
 ld.weak r1, s ;
~exists (P0:p == 1 /\ P0:r1 == 0))",
     kFewRuns},
    {SmMutation::bulk_read_told_early, "bulk_read_told_early", R"({ x=0; s @ shared = 0; }
 P0@cta 0,gpu 0 ;
 st.weak s, 7 ;
 fence.proxy.async.shared::cta ;
 cp.async.bulk x, s, 16 ;
 cp.async.bulk.commit_group ;
 cp.async.bulk.wait_group.read 0 ;
 st.weak s, 9 ;
 cp.async.bulk.wait_group 0 ;
 ld.weak r1, x ;
~exists (P0:r1 == 9))",
     kFewRuns},
    {SmMutation::bulk_wait_ignores_writes, "bulk_wait_ignores_writes", R"({ x=0; f=0; s @ shared = 7; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 cp.async.bulk x, s, 16 | ld.acquire.gpu r0, f ;
 cp.async.bulk.commit_group | ld.weak r1, x ;
 cp.async.bulk.wait_group 0 | ;
 st.release.gpu f, 1 | ;
~exists (P1:r0 == 1 /\ P1:r1 == 0))"},
    {SmMutation::bulk_wait_keeps_lines, "bulk_wait_keeps_lines", R"({ x=0; s @ shared = 7; }
 P0@cta 0,gpu 0 ;
 ld.weak r0, x ;
 cp.async.bulk x, s, 16 ;
 cp.async.bulk.commit_group ;
 cp.async.bulk.wait_group 0 ;
 ld.weak r1, x ;
~exists (P0:r1 == 0))",
     kFewRuns},
    {SmMutation::async_fence_does_nothing, "async_fence_does_nothing",
     R"({ x=0; s @ shared = 0; b @ mbarrier = 1; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 fence.proxy.async.global ;
 mbarrier.arrive.expect_tx r, b, 16 ;
 cp.async.bulk s, x, 16, b ;
 mbarrier.try_wait p, b, r ;
 ld.weak r1, s ;
~exists (P0:p == 1 /\ P0:r1 == 0))"},
    {SmMutation::mbarrier_arrives_before_expecting, "mbarrier_arrives_before_expecting", kStoredFromElsewhere,
     kFewRuns},
    {SmMutation::async_store_told_before_data, "async_store_told_before_data/store", kStoredFromElsewhere},
    {SmMutation::async_store_told_before_data, "async_store_told_before_data/reduction",
     R"({ s @ shared of P1 = 0; b @ mbarrier of P1 = 1; }
 P0@cta 0, cluster 0, gpu 0 | P1@cta 1, cluster 0, gpu 0 ;
 red.async.add.u32 s, 1, b | mbarrier.arrive.expect_tx.release.cluster r, b, 4 ;
 | mbarrier.try_wait.acquire.cluster p, b, r ;
 | ld.weak r1, s ;
~exists (P1:p == 1 /\ P1:r1 == 0))"},
    {SmMutation::bulk_told_elsewhere_early, "bulk_told_elsewhere_early",
     R"({ x=5; s @ shared of P1 = 0; b @ mbarrier of P1 = 1; }
 P0@cta 0, cluster 0, gpu 0 | P1@cta 1, cluster 0, gpu 0 ;
 cp.async.bulk s, x, 16, b | mbarrier.arrive.expect_tx.release.cluster r, b, 16 ;
 | mbarrier.try_wait.acquire.cluster p, b, r ;
 | ld.weak r1, s ;
~exists (P1:p == 1 /\ P1:r1 == 0))",
     kFewRuns},
    {SmMutation::remote_arrival_skips_drain, "remote_arrival_skips_drain", R"({ x=0; b @ mbarrier of P1 = 1; }
 P0@cta 0, cluster 0, gpu 0 | P1@cta 1, cluster 0, gpu 0 ;
 st.weak x, 1 | mbarrier.try_wait.parity.acquire.cluster p, b, 0 ;
 mbarrier.arrive.release.cluster _, b | ld.weak r1, x ;
~exists (P1:p == 1 /\ P1:r1 == 0))"},
    {SmMutation::remote_arrival_not_awaited, "remote_arrival_not_awaited", R"({ f=0; b @ mbarrier of P1 = 1; }
 P0@cta 0, cluster 0, gpu 0 | P1@cta 1, cluster 0, gpu 0 ;
 mbarrier.arrive.relaxed.cluster _, b | ld.acquire.cluster r0, f ;
 st.release.cluster f, 1 | mbarrier.test_wait.parity p, b, 0 ;
~exists (P1:r0 == 1 /\ P1:p == 0))"},
};

}  // namespace

std::vector<Catch> catches_by_litmus() {
  std::vector<Catch> catches;
  for (const Row& row : kRows)
    catches.push_back({row.mutation, row.name, [text = row.text, runs = row.runs](std::uint64_t seed) {
                         return shows(text, seed, runs);
                       }});
  return catches;
}

}  // namespace warpline::test
