// Kernels of clusters.
#include "tests/mutation/catch.h"
#include "tests/programs/cluster_program.h"
#include "tests/programs/machine.h"

namespace warpline::test {
namespace {

/// CTA 0 stores to CTA 1, over a network that is slow, and releases a flag in global memory. CTA 1 acquires
/// it, and reads its own shared memory: whether it finds less than was stored before.
bool store_is_late(std::uint64_t seed) {
  Random random(seed);
  GpuConfig config = load_gpu("mini", {"sm_network.present=true"}).value();
  config.hops.network_sm.request.latency = static_cast<unsigned>(200 + random.below(200));
  const std::string ptx =
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 flag, .param .u64 out)\n"
      ".reqnctapercluster 2, 1, 1\n{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<3>;\n"
      ".shared .align 4 .u32 m;\nld.param.u64 %d1, [flag];\nld.param.u64 %d2, [out];\n"
      "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, m;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra READ;\n"
      "mapa.shared::cluster.u32 %r3, %r2, 1;\nst.shared::cluster.u32 [%r3], 1;\n"
      "st.release.cluster.global.u32 [%d1], 1;\nbra END;\n"
      "READ:\nld.acquire.cluster.global.u32 %r4, [%d1];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra READ;\n"
      "ld.shared.u32 %r5, [%r2];\nst.global.u32 [%d2], %r5;\n"
      "END:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n";
  Bench bench(config, ptx, TickMode::lazy, 1, 100'000);
  const std::uint64_t flag = bench.put(std::vector<std::uint32_t>(1)),
                      out = bench.put(std::vector<std::uint32_t>(1));
  static_cast<void>(bench.launch("k", 2, 1, {flag, out}));
  return bench.get<std::uint32_t>(out, 1)[0] != 1;
}

/// Whether one of some random programs is stuck, or leaves something else than one thread after the other
/// would.
bool programs_go_wrong(std::uint64_t first) {
  constexpr std::uint64_t kPrograms = 40;
  for (std::uint64_t n = 0; n < kPrograms; ++n) {
    Random random(splitmix64(first * kPrograms + n));
    const GpuConfig config = random_machine_of_clusters(random);
    const ClusterProgram p = random_cluster_program(random, config);
    Bench bench(config, p.text, TickMode::lazy, 1, 1'000'000);
    const std::uint64_t left = bench.put(std::vector<std::uint32_t>(p.left.size()));
    const std::uint64_t shared = bench.put(std::vector<std::uint32_t>(p.shared.size()));
    const std::uint64_t given = bench.put(p.given);
    const LaunchResult r = bench.launch("k", p.ctas * p.clusters, p.threads, {left, shared, given});
    if (r.outcome != RunOutcome::quiescent || bench.get<std::uint32_t>(left, p.left.size()) != p.left)
      return true;
  }
  return false;
}

}  // namespace

std::vector<Catch> catches_by_clusters() {
  return {{SmMutation::remote_store_not_awaited, "remote_store_not_awaited", store_is_late},
          {SmMutation::cluster_arrival_forgets_phase, "cluster_arrival_forgets_phase", programs_go_wrong}};
}

}  // namespace warpline::test
