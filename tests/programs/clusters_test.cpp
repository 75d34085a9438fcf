// Random programs whose CTAs access each other's shared memory: memory as a sequential machine leaves it, in
// every tick mode, loosely timed, after a checkpoint and after a reset. And what single instructions of
// clusters do.
//
// WARPLINE_CLUSTER_PROGRAMS sets how many programs are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include <sstream>

#include "platform/launch/launch_runner.h"
#include "platform/machine/checkpoint.h"
#include "rtl_models/sm/input_error.h"
#include "tests/programs/cluster_program.h"
#include "tests/programs/machine.h"

namespace warpline::test {
namespace clusters_test {

/// What a run has left.
struct Left {
  Cycle cycles = 0;
  std::vector<std::uint32_t> left, shared;
  std::map<std::string, std::uint64_t> counters;
};

class ClusterBench : public Bench {
 public:
  ClusterBench(const ClusterProgram& program, const GpuConfig& config, TickMode mode = TickMode::lazy,
               std::optional<std::uint64_t> jitter = {})
      : Bench(config, program.text, std::make_shared<DirectBackend>(mode, 3), 100'000'000, jitter),
        p_(program) {
    left_ = put(std::vector<std::uint32_t>(p_.left.size()));
    shared_ = put(std::vector<std::uint32_t>(p_.shared.size()));
    given_ = put(p_.given);
  }
  Left run() {
    Left out;
    const LaunchResult r = launch("k", p_.ctas * p_.clusters, p_.threads, {left_, shared_, given_});
    EXPECT_EQ(r.outcome, RunOutcome::quiescent);
    for (const FaultRecord& f : platform().faults()) ADD_FAILURE() << f.kind << " at " << f.where;
    EXPECT_EQ(platform().unreconciled(), std::vector<std::string>{});
    out.cycles = r.cycles;
    out.left = get<std::uint32_t>(left_, p_.left.size());
    out.shared = get<std::uint32_t>(shared_, p_.shared.size());
    Observation seen;
    platform().visit(seen);
    out.counters = seen.values;
    return out;
  }

 private:
  const ClusterProgram& p_;
  std::uint64_t left_ = 0, shared_ = 0, given_ = 0;
};

void try_one(std::uint64_t seed) {
  Random random(splitmix64(seed));
  const GpuConfig config = random_machine_of_clusters(random);
  const ClusterProgram program = random_cluster_program(random, config);
  ClusterBench lazy(program, config);
  const Left twin = lazy.run();
  ASSERT_EQ(twin.left, program.left) << program.text;
  ASSERT_EQ(twin.shared, program.shared) << program.text;
  for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    ClusterBench other(program, config, mode);
    const Left left = other.run();
    ASSERT_EQ(left.cycles, twin.cycles);
    ASSERT_EQ(left.counters, twin.counters);
    ASSERT_EQ(left.left, program.left);
  }
  ClusterBench jittered(program, config, TickMode::lazy, seed);
  for (unsigned run = 0; run < 1 + seed % 2; ++run) {
    const Left left = jittered.run();
    ASSERT_EQ(left.left, program.left) << program.text;
    ASSERT_EQ(left.shared, program.shared) << program.text;
  }
  ClusterBench loose(program, config);
  loose.platform().set_loose(true);
  const Left loosely = loose.run();
  ASSERT_EQ(loosely.left, program.left) << program.text;
  ASSERT_EQ(loosely.shared, program.shared) << program.text;

  // A second grid goes on after a checkpoint as it would have without.
  const Left again = lazy.run();
  ClusterBench saved(program, config);
  static_cast<void>(saved.run());
  std::ostringstream out;
  ASSERT_TRUE(saved.platform().save(out).empty());
  ClusterBench restored(program, config);
  std::istringstream in(out.str());
  auto checkpoint = Checkpoint::read(in);
  ASSERT_TRUE(checkpoint.ok());
  const Diagnostics faults = restored.platform().restore(checkpoint.value());
  ASSERT_TRUE(faults.empty()) << faults.front().text();
  const Left after = restored.run();
  ASSERT_EQ(after.cycles, again.cycles);
  ASSERT_EQ(after.counters, again.counters);

  // Reset at any cycle.
  ClusterBench reset(program, config);
  reset.platform().on_progress(1 + random.below(twin.cycles), [](double) { return false; });
  const auto kernel = reset.module().make_kernel("k", {program.ctas * program.clusters, 1, 1},
                                                 {program.threads, 1, 1}, 0, std::vector<std::uint8_t>(24));
  static_cast<void>(reset.platform().launch(*kernel));
  ASSERT_TRUE(reset.platform().reset().empty());
  reset.platform().on_progress(kNever, nullptr);
  reset.platform().begin_run();
  const Left fresh = reset.run();
  ASSERT_EQ(fresh.left, program.left);
  ASSERT_EQ(fresh.shared, program.shared);
}

TEST(Clusters, ReachEachOthersSharedMemoryAsOneThreadAfterTheOtherWould) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_CLUSTER_PROGRAMS", 12);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("WARPLINE_CLUSTER_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
    try_one(seed);
    if (HasFatalFailure()) return;
  }
}

GpuConfig preset(const std::string& name, const std::vector<std::string>& settings = {}) {
  auto loaded = load_gpu(name, settings);
  if (!loaded.ok()) throw std::runtime_error(loaded.faults().front().text());
  return loaded.value();
}
GpuConfig mini() {
  return preset("mini", {"sm_network.present=true"});
}

/// A kernel of address `out`, whose clusters have `ctas` CTAs.
std::string kernel(const std::string& body, const std::string& cluster = "2, 1, 1") {
  return ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n"
         ".reqnctapercluster " +
         cluster +
         "\n{\n.reg .b32 %r<32>;\n.reg .b64 %d<16>;\n.reg .pred %p<8>;\n.shared .align 16 .b8 m[1024];\n"
         "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %cluster_ctarank;\n" +
         body + "\nret;\n}\n";
}

/// Its fault records, of clusters of two CTAs of 32 threads.
std::vector<FaultRecord> faults_of(const std::string& body, RunOutcome outcome = RunOutcome::quiescent) {
  Bench bench(mini(), kernel(body), TickMode::lazy, 1, 100'000);
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(64));
  EXPECT_EQ(bench.launch("k", 2, 32, {out}).outcome, outcome);
  return bench.platform().faults();
}

// published.tsv, H800.dsm.c2: 181 cycles from one SM to another.
TEST(Clusters, ALoadFromAnotherSmTakesWhatWasMeasured) {
  const auto cycles = [](unsigned loads) {
    std::string body =
        "mov.u32 %r3, m;\nxor.b32 %r4, %r2, 1;\nmapa.shared::cluster.u32 %r5, %r3, %r4;\n"
        "st.shared.u32 [%r3], %r3;\nmapa.shared::cluster.u32 %r6, %r3, %r2;\n"
        // Each CTA's word holds its own address, as the cluster sees it.
        "st.shared.u32 [%r3], %r6;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra END;\nmov.u64 %d2, %clock64;\n";
    for (unsigned n = 0; n < loads; ++n) body += "ld.shared::cluster.u32 %r5, [%r5];\n";
    body +=
        "add.u32 %r7, %r5, 0;\nmov.u64 %d3, %clock64;\nsub.u64 %d4, %d3, %d2;\nst.global.u64 [%d1], %d4;\n"
        "END:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;";
    Bench bench(preset("h800", {"sm.fetch_instructions=false"}), kernel(body));
    const std::uint64_t out = bench.put(std::vector<std::uint64_t>(1));
    EXPECT_EQ(bench.launch("k", 2, 1, {out}).outcome, RunOutcome::quiescent);
    EXPECT_TRUE(bench.platform().faults().empty());
    return bench.get<std::uint64_t>(out, 1)[0];
  };
  EXPECT_EQ(cycles(17) - cycles(1), 16U * 181U);
}

TEST(Clusters, SpecialRegistersSayWhereACtaIsInItsCluster) {
  const std::string body =
      "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ctaid.y;\nmov.u32 %r5, %nctaid.x;\nmad.lo.u32 %r6, %r4, %r5, "
      "%r3;\n"
      "mad.wide.u32 %d2, %r6, 32, %d1;\nmov.u32 %r7, %clusterid.x;\nmov.u32 %r8, %clusterid.y;\n"
      "mov.u32 %r9, %nclusterid.x;\nmov.u32 %r10, %cluster_ctaid.x;\nmov.u32 %r11, %cluster_ctaid.y;\n"
      "mov.u32 %r12, %cluster_nctaid.y;\nmov.u32 %r13, %cluster_nctarank;\n"
      "st.global.v4.u32 [%d2], {%r7, %r8, %r9, %r10};\nst.global.v4.u32 [%d2+16], {%r11, %r12, %r2, %r13};";
  Bench bench(mini(), kernel(body, "2, 2, 1"));
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(4 * 6 * 8));
  const auto launched = bench.module().make_kernel("k", {4, 6, 1}, {1, 1, 1}, 0, [&] {
    std::vector<std::uint8_t> block(8);
    __builtin_memcpy(block.data(), &out, 8);
    return block;
  }());
  ASSERT_EQ(bench.platform().launch(*launched).outcome, RunOutcome::quiescent);
  const auto got = bench.get<std::uint32_t>(out, 4 * 6 * 8);
  for (unsigned y = 0; y < 6; ++y)
    for (unsigned x = 0; x < 4; ++x) {
      const std::vector<std::uint32_t> want = {x / 2, y / 2, 2, x % 2, y % 2, 2, x % 2 + 2 * (y % 2), 4};
      const auto at = got.begin() + (y * 4 + x) * 8;
      EXPECT_EQ(std::vector<std::uint32_t>(at, at + 8), want) << x << "," << y;
    }
}

TEST(Clusters, AddressesOfOtherCtasGoThroughEveryConversion) {
  // Bit n of out[rank]: what n asks holds.
  const std::string body =
      "mov.u32 %r3, m;\nadd.u32 %r3, %r3, 8;\nxor.b32 %r4, %r2, 1;\nmov.u32 %r20, 0;\n"
      "mapa.shared::cluster.u32 %r5, %r3, %r4;\ncvt.u64.u32 %d2, %r5;\ncvta.shared::cluster.u64 %d3, %d2;\n"
      "cvta.to.shared::cluster.u64 %d4, %d3;\nsetp.eq.u64 %p1, %d2, %d4;\n@%p1 or.b32 %r20, %r20, 1;\n"
      "mov.u64 %d5, m;\ncvta.shared.u64 %d5, %d5;\nmapa.u64 %d6, %d5, %r4;\nadd.u64 %d6, %d6, 8;\n"
      "setp.eq.u64 %p1, %d6, %d3;\n@%p1 or.b32 %r20, %r20, 2;\n"
      "getctarank.u64 %r6, %d6;\nsetp.eq.u32 %p1, %r6, %r4;\n@%p1 or.b32 %r20, %r20, 4;\n"
      "getctarank.shared::cluster.u32 %r6, %r3;\nsetp.eq.u32 %p1, %r6, %r2;\n@%p1 or.b32 %r20, %r20, 8;\n"
      "isspacep.shared::cluster %p1, %d6;\n@%p1 or.b32 %r20, %r20, 16;\n"
      "isspacep.shared::cta %p1, %d6;\n@!%p1 or.b32 %r20, %r20, 32;\n"
      "isspacep.shared::cluster %p1, %d5;\n@%p1 or.b32 %r20, %r20, 64;\n"
      "mapa.u64 %d7, %d5, %r2;\nisspacep.shared %p1, %d7;\n@%p1 or.b32 %r20, %r20, 128;\n"
      // The own CTA by its rank is its own memory.
      "st.u32 [%d7], 77;\nld.shared.u32 %r8, [m];\nsetp.eq.u32 %p1, %r8, 77;\n@%p1 or.b32 %r20, %r20, 256;\n"
      "mul.wide.u32 %d8, %r2, 4;\nadd.u64 %d8, %d8, %d1;\nst.global.u32 [%d8], %r20;";
  Bench bench(mini(), kernel(body));
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(2));
  ASSERT_EQ(bench.launch("k", 2, 1, {out}).outcome, RunOutcome::quiescent);
  EXPECT_EQ(bench.get<std::uint32_t>(out, 2), (std::vector<std::uint32_t>{511, 511}));
}

const std::string kPeer = "mov.u32 %r3, m;\nxor.b32 %r4, %r2, 1;\nmapa.shared::cluster.u32 %r5, %r3, %r4;\n";

TEST(Clusters, AccessesThatReachNobodyAreFaults) {
  struct Row {
    const char* body;
    const char* kind;
    const char* memory;
  };
  const Row rows[] = {
      {"setp.ne.u32 %p1, %r2, 0;\n@%p1 exit;\nnanosleep.u32 3000;\nst.shared::cluster.u32 [%r5], 1;",
       "address in the shared memory of a CTA that has ended", "the shared memory of block 1 of the cluster"},
      {"mapa.shared::cluster.u32 %r5, %r3, 2;\nld.shared::cluster.u32 %r6, [%r5];",
       "address in no CTA of the cluster", "the shared memory of block 2 of the cluster"},
      {"mapa.shared::cluster.u32 %r5, %r3, 99;\nld.shared::cluster.u32 %r6, [%r5];",
       "address in no CTA of the cluster", "the shared memory of block 30 of the cluster"},
      {"ld.shared::cluster.u32 %r6, [%r5+1024];", "address beyond shared memory",
       "the shared memory of block 1 of the cluster"},
      {"ld.shared::cluster.u32 %r6, [%r5+2];", "misaligned address",
       "the shared memory of block 1 of the cluster"},
      {"ld.shared.u32 %r6, [%r5];", "address beyond shared memory", "the block's shared memory"},
      {"barrier.cluster.wait;", "barrier.cluster.wait of a thread that has not arrived", ""},
      {"barrier.cluster.arrive;\nbarrier.cluster.arrive;",
       "barrier.cluster.arrive of a thread that has arrived and not waited", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.body);
    std::vector<FaultRecord> faults = faults_of(kPeer + row.body);
    ASSERT_FALSE(faults.empty());
    const auto first =
        std::find_if(faults.begin(), faults.end(), [](const FaultRecord& f) { return f.cta.x == 0; });
    ASSERT_NE(first, faults.end());
    EXPECT_EQ(first->kind, row.kind);
    EXPECT_EQ(first->memory, row.memory);
  }
}

TEST(Clusters, ExitedCtasCountAsArrivedAndThoseThatNeverComeAreNamed) {
  // CTA 1 exits, CTA 0 meets nobody twice.
  EXPECT_TRUE(
      faults_of("setp.ne.u32 %p1, %r2, 0;\n@%p1 exit;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                "barrier.cluster.arrive;\nbarrier.cluster.wait;")
          .empty());
  // CTA 1 waits at a barrier of its own for more threads than it has.
  Bench bench(mini(), kernel("setp.ne.u32 %p1, %r2, 0;\n@%p1 bar.sync 1, 64;\nbarrier.cluster.arrive;\n"
                             "barrier.cluster.wait;"));
  const LaunchResult r = bench.launch("k", 2, 32, {bench.put(std::vector<std::uint32_t>(1))});
  ASSERT_EQ(r.outcome, RunOutcome::deadlock);
  const auto named = std::find_if(r.standstill.waits.begin(), r.standstill.waits.end(), [](const Wait& w) {
    return w.what ==
           "the barrier of its cluster, at which not all threads of CTA 1 of the cluster have arrived "
           "(CTA 0,0,0)";
  });
  EXPECT_NE(named, r.standstill.waits.end());
}

TEST(Clusters, WhatDoesNotFitIsRefusedByName) {
  const auto refusal = [](const GpuConfig& config, const std::string& cluster, Dim3 grid, unsigned threads,
                          bool non_portable = false) {
    Bench bench(config, kernel("", cluster));
    std::vector<std::uint8_t> block(8);
    ClusterShape shape;
    shape.non_portable = non_portable;
    const auto k = bench.module().make_kernel("k", grid, {threads, 1, 1}, 0, block, shape);
    const auto all = bench.platform().refusals(k->info());
    return all.empty() ? std::string() : all.front();
  };
  EXPECT_EQ(refusal(preset("a100"), "2, 1, 1", {2, 1, 1}, 32),
            "a cluster of 2 CTAs (2 x 1 x 1) needs a network between SMs, which a100 has not "
            "(sm_network.present); h100 has one");
  EXPECT_EQ(refusal(mini(), "3, 1, 1", {4, 1, 1}, 32),
            "the grid of 4 x 1 x 1 CTAs is no multiple of its clusters of 3 x 1 x 1");
  EXPECT_EQ(
      refusal(mini(), "16, 1, 1", {16, 1, 1}, 32),
      "a cluster of 16 CTAs (16 x 1 x 1) is larger than 8, the most that this GPU takes; more, up to 16, "
      "with non_portable_cluster = true");
  EXPECT_EQ(refusal(mini(), "16, 1, 1", {16, 1, 1}, 32, true), "");
  EXPECT_EQ(refusal(mini(), "4, 8, 1", {4, 8, 1}, 32, true),
            "a cluster of 32 CTAs (4 x 8 x 1) is larger than 16, the most that this GPU takes");
  // An SM of 64 warp slots holds two CTAs of 1024 threads, and a GPC of h100 has 18 SMs at most.
  EXPECT_EQ(refusal(preset("mini", {"sm_network.present=true", "gpcs=4"}), "4, 1, 1", {4, 1, 1}, 1024),
            "a cluster of 4 CTAs (4 x 1 x 1) does not fit a GPC, whose SMs hold 2 of these CTAs at once");
  EXPECT_EQ(refusal(preset("h100"), "16, 1, 1", {32, 1, 1}, 1024, true), "");
  // What the kernel says itself.
  const auto complaint = [](const std::string& directive, const ClusterShape& shape) -> std::string {
    std::string text = kernel("");
    text.replace(text.find(".reqnctapercluster 2, 1, 1"), 26, directive);
    Bench bench(mini(), text);
    try {
      static_cast<void>(
          bench.module().make_kernel("k", {8, 1, 1}, {32, 1, 1}, 0, std::vector<std::uint8_t>(8), shape));
    } catch (const InputError& e) {
      return e.diagnostic.message;
    }
    return {};
  };
  const ClusterShape four{{4, 1, 1}, true, false};
  EXPECT_EQ(complaint(".reqnctapercluster 2", four),
            "kernel 'k' must be launched with clusters of 2 x 1 x 1, not 4 x 1 x 1");
  EXPECT_EQ(complaint(".maxclusterrank 2", four), "kernel 'k' takes at most 2 blocks per cluster, not 4");
  EXPECT_EQ(complaint(".explicitcluster", {}),
            "kernel 'k' must be launched with clusters, as its '.explicitcluster' says");
  EXPECT_EQ(complaint(".explicitcluster", four), "");
}

TEST(Clusters, AKernelAsCompiledFromCudaIsRight) {
  auto plan = read_workload({WARPLINE_SOURCE_DIR "/tests/programs/kernels/cluster.toml"}, false);
  ASSERT_TRUE(plan.ok());
  GpuPlatform gpu(preset("h100"), {});
  LaunchRunner runner(plan.value(), gpu, false);
  ASSERT_TRUE(runner.prepare().empty());
  CounterTable table;
  std::vector<LaunchStatistics> launches;
  const RunEnd end = runner.run(table, launches);
  EXPECT_EQ(end.outcome, RunOutcome::quiescent);
  EXPECT_EQ(end.checks, 1U);
  EXPECT_EQ(end.failed_checks, 0U);
}

}  // namespace clusters_test
}  // namespace warpline::test
