// Two GPUs on one system memory: what `.sys` means between them (R7).
#include <gtest/gtest.h>

#include "tests/platform/machine/two_gpus.h"

namespace warpline::test {
namespace system_test {

/// Message passing through system memory: GPU 1 reads the datum, so that its caches have it, and says so; GPU
/// 0 then writes it, releases the flag by `release`; GPU 1 waits by `acquire` and reads the datum again.
/// Returns what it reads.
std::uint32_t passed(const std::string& release, const std::string& acquire, const RunOptions& options = {}) {
  TwoGpus gpus({}, options);
  const std::uint64_t datum = gpus.zeros(Aperture::sysmem), flag = gpus.zeros(Aperture::sysmem);
  const std::uint64_t ready = gpus.zeros(Aperture::sysmem), out = gpus.zeros(Aperture::vidmem, 1);
  gpus.run({spin("ld.acquire.sys.global.u32", "%a2") + "st.global.u32 [%a0], 1;\n" + release,
            {datum, flag, ready}},
           {"ld.global.u32 %r0, [%a0];\nst.release.sys.global.u32 [%a2], 1;\n" + acquire +
                "ld.global.u32 %r1, [%a0];\nst.global.u32 [%a3], %r1;\nst.global.u32 [%a3+4], %r0;\n",
            {datum, flag, ready, out}});
  EXPECT_EQ(gpus.word(out + 4), 0U) << "the first read comes before the write";
  EXPECT_EQ(gpus.word(datum), 1U);
  EXPECT_TRUE(gpus.platform().unreconciled().empty());
  return gpus.word(out);
}

const char* const kReleases[] = {
    "st.release.sys.global.u32 [%a1], 1;\n",
    "fence.acq_rel.sys;\nst.relaxed.sys.global.u32 [%a1], 1;\n",
    "fence.sc.sys;\nst.volatile.global.u32 [%a1], 1;\n",
    "membar.sys;\nst.mmio.relaxed.sys.global.u32 [%a1], 1;\n",
    "atom.add.release.sys.global.u32 %r1, [%a1], 1;\n",
    "red.or.release.sys.global.b32 [%a1], 1;\n",
};

std::vector<std::string> acquires() {
  return {spin("ld.acquire.sys.global.u32", "%a1"),
          spin("ld.relaxed.sys.global.u32", "%a1") + "fence.acq_rel.sys;\n",
          spin("ld.volatile.global.u32", "%a1") + "fence.sc.sys;\n",
          spin("ld.mmio.relaxed.sys.global.u32", "%a1") + "membar.sys;\n",
          "mov.u32 %r8, 0;\nSPIN: atom.or.acquire.sys.global.b32 %r9, [%a1], %r8;\n"
          "setp.eq.u32 %p, %r9, 0;\n@%p bra SPIN;\n"};
}

TEST(System, WhatOneGpuReleasesTheOtherAcquires) {
  for (const char* release : kReleases)
    for (const std::string& acquire : acquires())
      EXPECT_EQ(passed(release, acquire), 1U) << release << acquire;
}

TEST(System, ItDoesSoInEveryDrawOfTime) {
  const std::vector<std::string> loads = acquires();
  for (unsigned seed = 0; seed < 60; ++seed) {
    RunOptions options;
    options.jitter = seed;
    EXPECT_EQ(passed(kReleases[seed % 6], loads[seed % 5], options), 1U) << seed;
  }
}

TEST(System, CopiesStayStaleWithoutAnAcquireAtSystemScope) {
  const std::string release = kReleases[0];
  EXPECT_EQ(passed(release, spin("ld.relaxed.sys.global.u32", "%a1")), 0U) << "in L1";
  EXPECT_EQ(passed(release, spin("ld.relaxed.sys.global.u32", "%a1") + "fence.acq_rel.gpu;\n"), 0U)
      << "in L2";
}

TEST(System, WritesStayInL2WithoutAReleaseAtSystemScope) {
  const std::string acquire = acquires()[0];
  EXPECT_EQ(passed("st.relaxed.sys.global.u32 [%a1], 1;\n", acquire), 0U);
  EXPECT_EQ(passed("fence.acq_rel.gpu;\nst.relaxed.sys.global.u32 [%a1], 1;\n", acquire), 0U);
}

/// GPU 1 has a copy of the line and a dirty word of its own in it; GPU 0 writes another word at system scope.
TEST(System, AccessesAtSystemScopeAreOfTheMemoryAndKeepDirtyBytesOfTheLine) {
  for (const char* load : {"ld.relaxed.sys.global.u32", "ld.volatile.global.u32", "ld.global.cv.u32",
                           "ld.mmio.relaxed.sys.global.u32"}) {
    TwoGpus gpus;
    const std::uint64_t line = gpus.zeros(Aperture::sysmem), flag = gpus.zeros(Aperture::sysmem);
    const std::uint64_t ready = gpus.zeros(Aperture::sysmem), out = gpus.zeros(Aperture::vidmem, 1);
    gpus.run(
        {spin("ld.relaxed.sys.global.u32", "%a2") + "st.relaxed.sys.global.u32 [%a0+4], 5;\n" + kReleases[0],
         {line, flag, ready}},
        {"ld.global.u32 %r0, [%a0+4];\nst.global.u32 [%a0], 7;\nst.relaxed.sys.global.u32 [%a2], 1;\n" +
             spin("ld.relaxed.sys.global.u32", "%a1") + load +
             " %r1, [%a0+4];\nst.global.u32 [%a3], %r1;\nld.relaxed.sys.global.u32 %r2, [%a0];\n"
             "st.global.u32 [%a3+4], %r2;\n",
         {line, flag, ready, out}});
    EXPECT_EQ(gpus.word(out), 5U) << load;
    EXPECT_EQ(gpus.word(out + 4), 7U) << load;
    EXPECT_EQ(gpus.word(line), 7U) << load;
    EXPECT_EQ(gpus.word(line + 4), 5U) << load;
  }
}

TEST(System, BothGpusWriteBytesOfOneLineAndBothAreKept) {
  TwoGpus gpus;
  const std::uint64_t line = gpus.zeros(Aperture::sysmem);
  const std::string body =
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 2;\nadd.u64 %d0, %d0, %a0;\nadd.u64 %d0, %d0, %a1;\n"
      "ld.global.u8 %r2, [%a0];\ncvt.u32.u64 %r1, %a2;\nst.global.u8 [%d0], %r1;\nfence.acq_rel.sys;\n";
  gpus.run({body, {line, 0, 0x11}, 1, 64}, {body, {line, 1, 0x22}, 1, 64});
  for (unsigned at = 0; at < 128; at += 4) EXPECT_EQ(gpus.word(line + at), 0x22112211U) << at;
}

TEST(System, AtomicsOfBothGpusAreAtomicWhereTheLinkCarriesAtomicOps) {
  TwoGpus gpus({"pcie.latency=40"});
  const std::uint64_t sum = gpus.zeros(Aperture::sysmem), wraps = gpus.zeros(Aperture::sysmem);
  // An addition is an AtomicOp; an increment that wraps, a compare-and-swap loop.
  const std::string body =
      "atom.add.sys.global.u32 %r0, [%a0], 1;\nred.inc.sys.global.u32 [%a1], 0xFFFFFF;\n";
  gpus.run({body, {sum, wraps}, 3, 64}, {body, {sum, wraps}, 2, 64});
  EXPECT_EQ(gpus.word(sum), 5U * 64);
  EXPECT_EQ(gpus.word(wraps), 5U * 64);
  EXPECT_GT(AllCounters(gpus.platform()).total("pcie.cas_retries"), 0U) << "the loops met each other";
}

TEST(System, WithoutAtomicOpsAtomicsAreAtomicAmongTheThreadsOfAGpu) {
  TwoGpus gpus({{"pcie.atomic_ops=false"}, {"pcie.latency=40"}});
  const std::uint64_t mine = gpus.zeros(Aperture::sysmem), yours = gpus.zeros(Aperture::sysmem);
  const std::uint64_t ours = gpus.zeros(Aperture::sysmem);
  const std::string body = "atom.add.sys.global.u32 %r0, [%a0], 1;\nred.add.sys.global.u32 [%a1], 1;\n";
  gpus.run({body, {mine, ours}, 3, 64}, {body, {yours, ours}, 2, 64});
  EXPECT_EQ(gpus.word(mine), 3U * 64);
  EXPECT_EQ(gpus.word(yours), 2U * 64);
  EXPECT_LT(gpus.word(ours), 5U * 64) << "updates of the other GPU are overwritten";
}

/// A spin lock in system memory that both GPUs take by compare-and-swap, around a plain counter.
TEST(System, ALockInSystemMemoryGuardsACounter) {
  TwoGpus gpus({"pcie.latency=40"});
  const std::uint64_t lock = gpus.zeros(Aperture::sysmem), counter = gpus.zeros(Aperture::sysmem);
  const std::string body =
      "mov.u32 %r5, 0;\nAGAIN: atom.acquire.sys.global.cas.b32 %r0, [%a0], 0, 1;\nsetp.ne.u32 %p, %r0, 0;\n"
      "@%p bra AGAIN;\nld.global.u32 %r1, [%a1];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%a1], %r1;\n"
      "st.release.sys.global.u32 [%a0], 0;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p, %r5, 10;\n@%p bra AGAIN;\n";
  gpus.run({body, {lock, counter}, 4, 1}, {body, {lock, counter}, 3, 1});
  EXPECT_EQ(gpus.word(counter), 70U);
}

TEST(System, GpusHaveVideoMemoryOfTheirOwn) {
  TwoGpus gpus;
  const std::uint64_t mine = gpus.zeros(Aperture::vidmem, 0), yours = gpus.zeros(Aperture::vidmem, 1);
  ASSERT_NE(mine, yours);
  gpus.run({"st.global.u32 [%a0], 1;\n", {mine}}, {"st.global.u32 [%a0], 2;\n", {yours}});
  EXPECT_EQ(gpus.word(mine), 1U);
  EXPECT_EQ(gpus.word(yours), 2U);
  EXPECT_THROW(gpus.run({"st.global.u32 [%a0], 1;\n", {yours}}, {"", {}}), std::runtime_error);
  ASSERT_EQ(gpus.platform().faults().size(), 1U);
  EXPECT_EQ(gpus.platform().faults()[0].kind, "unmapped address");
  EXPECT_EQ(gpus.platform().faults()[0].gpu, 0U);
}

TEST(System, TimeAndCountersAreTheSameInAllTickModes) {
  const std::string body =
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 4;\nadd.u64 %d0, %d0, %a0;\n"
      "atom.add.sys.global.u32 %r1, [%a1], 1;\nst.global.u32 [%d0], %r1;\nfence.sc.sys;\n"
      "ld.relaxed.sys.global.u32 %r2, [%d0];\nred.max.sys.global.u32 [%a1+4], %r2;\n";
  for (const char* atomic_ops : {"pcie.atomic_ops=true", "pcie.atomic_ops=false"}) {
    std::map<std::string, std::uint64_t> counters;
    Cycle cycles = 0;
    for (unsigned n = 0; n < 6; ++n) {
      RunOptions options;
      if (n == 1) options.tick_mode = TickMode::every_cycle;
      if (n > 1) options.tick_mode = TickMode::spurious_and_shuffled;
      options.seed = n;
      TwoGpus gpus({{atomic_ops}, {"clocks.link=700"}, {"pcie.latency=9"}}, options);
      const std::uint64_t data = gpus.zeros(Aperture::sysmem, 0, 1024), sum = gpus.zeros(Aperture::sysmem);
      const Cycle c = gpus.run({body, {data, sum}, 2, 64}, {body, {data, sum}, 2, 64}).cycles;
      const auto values = AllCounters(gpus.platform()).values();
      if (n == 0) {
        cycles = c;
        counters = values;
      }
      EXPECT_EQ(c, cycles) << n;
      EXPECT_EQ(values, counters) << n;
    }
    EXPECT_EQ(counters.count("gpu[1].sm[3].instructions"), 1U);
    EXPECT_EQ(counters.count("sm[3].instructions"), 0U);
  }
}

}  // namespace system_test
}  // namespace warpline::test
