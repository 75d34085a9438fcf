// Functional runs: the results, the faults and the waits of timed ones, without their time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rtl_models/sm/lsu_counters.h"
#include "tests/programs/machine.h"

namespace warpline::test {
namespace functional_test {

GpuConfig machine() {
  Result<GpuConfig> loaded = load_gpu("mini", {});
  if (!loaded.ok()) throw std::runtime_error(loaded.faults().front().text());
  return loaded.value();
}

/// A kernel in which %r1 is the thread's number, %r2 the CTA's, and %d1, %d2 buffers.
std::string kernel(const std::string& body) {
  return ".version 8.6\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 a, .param .u64 b)\n"
         "{\n.reg .b32 %r<16>;\n.reg .b64 %d<16>;\n.reg .pred %p<4>;\n.shared .align 16 .b8 m[256];\n"
         ".local .align 16 .b8 own[64];\n"
         "ld.param.u64 %d1, [a];\nld.param.u64 %d2, [b];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n" +
         body + "\nret;\n}\n";
}

struct Left {
  RunOutcome outcome = RunOutcome::quiescent;
  Cycle cycles = 0;
  std::vector<std::uint32_t> a, b;
  std::vector<FaultRecord> faults;
  std::map<std::string, std::uint64_t> counters;
};

/// `a` of 1024 words that count from 0, and `b` of as many zeros, in system memory if `far`.
Left run(const std::string& body, bool functional, unsigned ctas = 4, unsigned threads = 64,
         bool far = false) {
  Bench bench(machine(), kernel(body), TickMode::lazy, 1, 100'000'000);
  bench.platform().set_functional(functional);
  bench.platform().set_loose(functional);
  std::vector<std::uint32_t> words(1024);
  for (std::uint32_t n = 0; n < words.size(); ++n) words[n] = n;
  const std::uint64_t a = bench.put(words), b = bench.put(std::vector<std::uint32_t>(words.size()),
                                                          far ? Aperture::sysmem : Aperture::vidmem);
  const LaunchResult r = bench.launch("k", ctas, threads, {a, b});
  Left left{r.outcome,
            r.cycles,
            bench.get<std::uint32_t>(a, words.size()),
            bench.get<std::uint32_t>(b, words.size()),
            bench.platform().faults(),
            {}};
  Observation seen;
  bench.platform().visit(seen);
  left.counters = seen.values;
  return left;
}

const std::string kElement =
    "mad.lo.u32 %r3, %r2, 64, %r1;\nmul.wide.u32 %d3, %r3, 4;\nadd.u64 %d4, %d1, %d3;\nadd.u64 %d5, %d2, "
    "%d3;\n";

TEST(Functional, LeavesTheMemoryOfTimedRuns) {
  struct Program {
    const char* name;
    std::string body;
  };
  const Program programs[] = {
      {"whole lines",
       kElement + "ld.global.u32 %r4, [%d4];\nadd.u32 %r4, %r4, 5;\nst.global.u32 [%d5], %r4;"},
      {"lanes apart", kElement +
                          "mul.lo.u32 %r4, %r3, 37;\nand.b32 %r4, %r4, 1023;\nmul.wide.u32 %d6, %r4, 4;\n"
                          "add.u64 %d6, %d1, %d6;\nld.global.nc.u32 %r5, [%d6];\nst.global.u32 [%d5], %r5;"},
      {"vectors, some of the lanes", kElement + "and.b32 %r4, %r3, 3;\nsetp.eq.u32 %p1, %r4, 0;\n"
                                                "@%p1 ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d4];\n"
                                                "@%p1 st.global.v4.u32 [%d5], {%r8, %r7, %r6, %r5};"},
      {"local memory and parameters",
       kElement + "st.local.u32 [own+4], %r3;\nld.param.u32 %r5, [a+4];\nld.local.u32 %r6, [own+4];\n"
                  "add.u32 %r5, %r5, %r6;\nst.global.u32 [%d5], %r5;"},
      {"shared memory and a barrier", kElement + "mov.u32 %r4, m;\nshl.b32 %r5, %r1, 2;\nadd.u32 %r6, %r4, "
                                                 "%r5;\nst.shared.u32 [%r6], %r3;\nbar.sync "
                                                 "0;\nxor.b32 %r5, %r5, 252;\nadd.u32 %r6, %r4, "
                                                 "%r5;\nld.shared.u32 %r7, [%r6];\nst.global.u32 [%d5], "
                                                 "%r7;"},
      {"generic addresses of several spaces",
       kElement +
           "mov.u64 %d6, m;\ncvta.shared.u64 %d6, %d6;\nmul.wide.u32 %d7, %r1, 4;\nadd.u64 %d6, %d6, %d7;\n"
           "and.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 0;\nselp.u64 %d8, %d6, %d4, %p1;\nst.u32 [%d8], "
           "%r3;\n"
           "ld.u32 %r5, [%d8];\nst.global.u32 [%d5], %r5;"},
      {"atomics and reductions", kElement + "and.b32 %r4, %r3, 7;\nmul.wide.u32 %d6, %r4, 4;\nadd.u64 %d6, "
                                            "%d2, %d6;\nred.global.add.u32 [%d6+512], "
                                            "%r3;\natom.global.max.u32 %r5, [%d6+1024], %r3;\nmov.b32 %r7, "
                                            "1006648320;\nred.global.add.noftz.f16x2 [%d6+2048], %r7;"},
      {"asynchronous copies",
       kElement +
           "mov.u32 %r4, m;\nshl.b32 %r5, %r1, 2;\nadd.u32 %r6, %r4, %r5;\ncp.async.ca.shared.global [%r6], "
           "[%d4], "
           "4;\ncp.async.commit_group;\nmul.lo.u32 %r8, %r3, 3;\ncp.async.wait_group 0;\nld.shared.u32 %r7, "
           "[%r6];\nadd.u32 %r7, %r7, %r8;\nst.global.u32 [%d5], %r7;"},
  };
  for (const Program& p : programs)
    for (const bool far : {false, true}) {
      SCOPED_TRACE(std::string(p.name) + (far ? ", to system memory" : ""));
      const Left timed = run(p.body, false, 4, 64, far), functional = run(p.body, true, 4, 64, far);
      EXPECT_EQ(functional.outcome, RunOutcome::quiescent);
      EXPECT_TRUE(functional.faults.empty());
      EXPECT_EQ(functional.a, timed.a);
      EXPECT_EQ(functional.b, timed.b);
      for (const char* same : {"sm[0].instructions", "sm[0].thread_instructions", "sm[0].lsu.instructions",
                               "sm[0].lsu.atomics", "sm[0].lsu.shared_accesses"})
        EXPECT_EQ(functional.counters.at(same), timed.counters.at(same)) << same;
      EXPECT_NE(functional.counters.at("sm[0].lsu.past_caches"), 0U);
    }
}

/// What others wait for is written by them, on whatever SM they run.
TEST(Functional, WarpsThatWaitForOthersGoOn) {
  const std::string before = "setp.ne.u32 %p1, %r1, 0;\n";
  const std::string barrier_of_all =  // the last of 8 CTAs releases the others, 8 times
      before +
      "mov.u32 %r5, 0;\nR: @%p1 bra S;\nmembar.gl;\natom.global.add.u32 %r3, [%d2], 1;\nadd.u32 %r6, %r5, "
      "1;\n"
      "shl.b32 %r6, %r6, 3;\nW: ld.volatile.global.u32 %r4, [%d2];\nsetp.lt.u32 %p2, %r4, %r6;\n@%p2 bra W;\n"
      "S: bar.sync 0;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 8;\n@%p3 bra R;";
  const Left all = run(barrier_of_all, true, 8);
  EXPECT_EQ(all.outcome, RunOutcome::quiescent);
  EXPECT_EQ(all.b[0], 64U);
  const std::string chain =  // CTA n waits for n, acquires, and releases n + 1
      before +
      "@%p1 ret;\nL: ld.acquire.gpu.global.u32 %r3, [%d2];\nsetp.ne.u32 %p2, %r3, %r2;\n@%p2 bra L;\nadd.u32 "
      "%r4, "
      "%r2, 1;\nst.release.gpu.global.u32 [%d2], %r4;";
  for (const bool far : {false, true}) {
    const Left chained = run(chain, true, 12, 32, far);
    EXPECT_EQ(chained.outcome, RunOutcome::quiescent);
    EXPECT_EQ(chained.b[0], 12U);
  }
  // Lanes of one warp, of which one has a lock that the others want.
  const std::string lock =
      "A: atom.global.cas.b32 %r3, [%d2], 0, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra "
      "A;\nld.volatile.global.u32 %r4, "
      "[%d2+64];\nadd.u32 %r4, %r4, 1;\nst.volatile.global.u32 [%d2+64], "
      "%r4;\nmembar.gl;\natom.global.exch.b32 %r3, "
      "[%d2], 0;";
  const Left locked = run(lock, true, 4, 64);
  EXPECT_EQ(locked.outcome, RunOutcome::quiescent);
  EXPECT_EQ(locked.b[16], 256U);
}

TEST(Functional, FaultsAreThoseOfTimedRuns) {
  const std::string bodies[] = {
      kElement + "add.u64 %d4, %d4, 2;\nld.global.u32 %r4, [%d4];",
      kElement + "setp.eq.u32 %p1, %r3, 37;\n@%p1 add.u64 %d5, %d5, 1048576;\nst.global.u32 [%d5], %r3;",
      "mov.u32 %r4, m;\nmad.lo.u32 %r4, %r1, 8, %r4;\nst.shared.u32 [%r4], %r1;",
      "mul.wide.u32 %d3, %r1, 4;\nmov.u64 %d4, own;\nadd.u64 %d4, %d4, %d3;\nst.local.u32 [%d4], %r1;",
      "setp.eq.u32 %p1, %r1, 40;\n@%p1 trap;\nst.global.u32 [%d2], %r1;",
      "mov.u32 %r3, 99;\nbar.sync %r3;",
      kElement + "ld.global.u32 %r4, [%d4];\nmov.u64 %d6, 12345;\natom.global.add.u32 %r5, [%d6], %r4;",
  };
  for (const std::string& body : bodies) {
    SCOPED_TRACE(body);
    const Left timed = run(body, false, 1), functional = run(body, true, 1);
    EXPECT_EQ(functional.outcome, timed.outcome);
    ASSERT_EQ(functional.faults.size(), timed.faults.size());
    EXPECT_FALSE(timed.faults.empty());
    const auto told = [](std::vector<FaultRecord> faults) {
      std::vector<std::string> lines;
      for (const FaultRecord& f : faults)
        lines.push_back(f.kind + " in " + f.where + " by thread " + std::to_string(f.thread.x) + ", " +
                        access_text(f) + ", " + distance_text(f) + " at " +
                        std::to_string(f.address.value_or(0)));
      std::sort(lines.begin(), lines.end());
      return lines;
    };
    EXPECT_EQ(told(functional.faults), told(timed.faults));
    EXPECT_EQ(functional.b, timed.b);
  }
}

/// Each instruction counts as a cycle of its SM, so that programs that wait for a clock go on.
TEST(Functional, ClocksGoOn) {
  const std::string body =
      "mov.u64 %d3, %clock64;\nadd.u64 %d4, %d3, 200000;\nL: mov.u64 %d5, %clock64;\nsetp.lt.u64 %p1, %d5, "
      "%d4;\n"
      "@%p1 bra L;\nsub.u64 %d5, %d5, %d3;\ncvt.u32.u64 %r3, %d5;\nst.global.u32 [%d2], %r3;";
  const Left left = run(body, true, 1, 32);
  EXPECT_EQ(left.outcome, RunOutcome::quiescent);
  EXPECT_GE(left.b[0], 200000U);
  EXPECT_LT(left.b[0], 201000U);
  EXPECT_LT(left.counters.at("sm[0].instructions"), 210000U);
}

/// What a timed grid has left of local memory in L1 is nobody's, when lines of system memory make it go.
TEST(Functional, LocalMemoryIsNotThatOfTimedGridsBefore) {
  // The word in front of the results says what is stored, the one before it how many lines are read.
  Bench bench(machine(),
              kernel("ld.global.u32 %r9, [%d2+4];\nld.global.u32 %r10, [%d2];\n"
                     "mad.lo.u32 %r3, %r1, 3, %r9;\nst.local.u32 [own], %r3;\nst.local.u32 [own+32], %r3;\n"
                     "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nbra C;\n"
                     "L: mul.wide.u32 %d3, %r4, 128;\nadd.u64 %d3, %d1, %d3;\nld.global.u32 %r7, [%d3];\n"
                     "add.u32 %r5, %r5, %r7;\nadd.u32 %r4, %r4, 1;\n"
                     "C: setp.lt.u32 %p1, %r4, %r10;\n@%p1 bra L;\n"
                     "ld.local.u32 %r8, [own];\nadd.u32 %r5, %r5, %r8;\nld.local.u32 %r8, [own+32];\n"
                     "add.u32 %r5, %r5, %r8;\nmul.wide.u32 %d4, %r1, 4;\nadd.u64 %d4, %d2, %d4;\n"
                     "st.global.u32 [%d4+8], %r5;"));
  const std::uint64_t far = bench.put(std::vector<std::uint32_t>(4096 * 32), Aperture::sysmem);
  for (std::uint32_t grid = 0; grid < 4; ++grid) {
    const bool functional = grid % 2 == 1;
    std::vector<std::uint32_t> words(66);
    words[0] = functional ? 4096 : 0;
    words[1] = 100 * grid;
    const std::uint64_t out = bench.put(words);
    bench.platform().set_functional(functional);
    bench.platform().set_loose(functional);
    EXPECT_EQ(bench.launch("k", 1, 64, {far, out}).outcome, RunOutcome::quiescent);
    const auto got = bench.get<std::uint32_t>(out + 8, 64);
    for (std::uint32_t n = 0; n < 64; ++n)
      EXPECT_EQ(got[n], 2 * (n * 3 + 100 * grid)) << n << ", grid " << grid;
  }
}

/// A warp that waits looks no more often than a look takes.
TEST(Functional, WarpsThatSpinLeaveTimeToThoseThatWork) {
  const std::string body =
      "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, "
      "%r4, "
      "50000;\n@%p2 bra L;\nst.volatile.global.u32 [%d2], %r4;\nret;\nW: ld.volatile.global.u32 %r3, [%d2];\n"
      "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra W;";
  const Left left = run(body, true, 32, 32);
  EXPECT_EQ(left.outcome, RunOutcome::quiescent);
  std::uint64_t instructions = 0;
  for (const auto& [name, value] : left.counters)
    if (name.find("].instructions") != std::string::npos && name.rfind("sm[", 0) == 0) instructions += value;
  EXPECT_GT(instructions, 150000U);
  EXPECT_LT(instructions, 250000U);
}

/// Counters of a run that has nothing but asynchronous copies are no mistake.
TEST(Functional, CountersThatDoNotAddUpAreNotComplainedAbout) {
  Bench bench(machine(),
              ".version 8.6\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
              ".reg .b64 %d<2>;\n.shared .align 16 .b8 m[16];\nld.param.u64 %d1, [a];\n"
              "cp.async.ca.shared.global [m], [%d1], 16;\ncp.async.wait_all;\nret;\n}\n");
  bench.platform().set_functional(true);
  bench.platform().set_loose(true);
  EXPECT_EQ(bench.launch("k", 1, 1, {bench.put(std::vector<std::uint32_t>(4))}).outcome,
            RunOutcome::quiescent);
  EXPECT_EQ(bench.platform().unreconciled(), std::vector<std::string>{});
}

/// Grids that run timed find what functional ones have written, and the other way round.
TEST(Functional, TimedGridsBetweenFindTheNewestBytes) {
  Bench bench(machine(), kernel(kElement + "ld.global.ca.u32 %r4, [%d5];\nmad.lo.u32 %r4, %r4, 3, %r3;\n"
                                           "st.global.u32 [%d5], %r4;"));
  const std::uint64_t a = bench.put(std::vector<std::uint32_t>(256)),
                      b = bench.put(std::vector<std::uint32_t>(256));
  std::vector<std::uint32_t> wanted(256);
  for (unsigned grid = 0; grid < 12; ++grid) {
    bench.platform().set_functional(grid % 3 != 0);
    bench.platform().set_loose(grid % 2 == 0);
    EXPECT_EQ(bench.launch("k", 4, 64, {a, b}).outcome, RunOutcome::quiescent);
    for (std::uint32_t n = 0; n < wanted.size(); ++n) wanted[n] = wanted[n] * 3 + n;
    EXPECT_EQ(bench.get<std::uint32_t>(b, wanted.size()), wanted) << "grid " << grid;
  }
}

}  // namespace functional_test
}  // namespace warpline::test
