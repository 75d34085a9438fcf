// A peer device's memory as programs reach it: posted writes and their flush, and what is cached.
#include <gtest/gtest.h>

#include "rtl_models/pcie/packets/far_device.h"
#include "tests/platform/machine/two_gpus.h"

namespace warpline::test {
namespace peer_test {

using Kind = AccessKind;

/// Writes `datum` by `store`, then sets `flag` by `release`. Returns whether anybody who looks at the
/// memories themselves, in every cycle, ever finds the flag set and the datum not written.
bool flag_overtakes(Aperture of_datum, Aperture of_flag, const std::string& store, const std::string& release,
                    std::uint64_t* flushes = nullptr) {
  TwoGpus gpus;
  const std::uint64_t datum = gpus.zeros(of_datum), flag = gpus.zeros(of_flag);
  bool overtakes = false;
  gpus.platform().on_progress(1, [&](double) {
    overtakes = overtakes || (gpus.word(flag) == 1 && gpus.word(datum) == 0);
    return true;
  });
  gpus.run({store + release, {datum, flag}}, {"", {}});
  EXPECT_EQ(gpus.word(datum), 1U);
  EXPECT_EQ(gpus.word(flag), 1U);
  if (flushes != nullptr) *flushes = AllCounters(gpus.platform()).total("pcie.flushes");
  return overtakes;
}

TEST(Peer, AReleaseAtSystemScopeWaitsForPostedWritesToHaveArrived) {
  for (const char* store : {"st.global.u32 [%a0], 1;\n", "st.relaxed.sys.global.u32 [%a0], 1;\n",
                            "st.mmio.relaxed.sys.global.u32 [%a0], 1;\n", "st.global.wt.u32 [%a0], 1;\n"})
    for (const char* release : {"st.release.sys.global.u32 [%a1], 1;\n",
                                "fence.acq_rel.sys;\nst.relaxed.sys.global.u32 [%a1], 1;\n",
                                "membar.sys;\nst.mmio.relaxed.sys.global.u32 [%a1], 1;\n",
                                "red.add.release.sys.global.u32 [%a1], 1;\n"}) {
      EXPECT_FALSE(flag_overtakes(Aperture::peer, Aperture::sysmem, store, release)) << store << release;
      EXPECT_FALSE(flag_overtakes(Aperture::sysmem, Aperture::peer, store, release)) << store << release;
    }
}

TEST(Peer, WithoutAReleaseTheFlagOvertakes) {
  const std::string store = "st.relaxed.sys.global.u32 [%a0], 1;\n";
  EXPECT_TRUE(flag_overtakes(Aperture::peer, Aperture::sysmem, store,
                             "fence.acq_rel.gpu;\nst.relaxed.sys.global.u32 [%a1], 1;\n"));
}

TEST(Peer, EachMemoryWrittenIsFlushedOnce) {
  std::uint64_t flushes = 0;
  EXPECT_FALSE(flag_overtakes(Aperture::peer, Aperture::sysmem, "st.global.u32 [%a0], 1;\n",
                              "fence.sc.sys;\nfence.sc.sys;\nst.volatile.global.u32 [%a1], 1;\n", &flushes));
  // The datum by the first fence, nothing by the second, the flag by the end of the grid.
  EXPECT_EQ(flushes, 2U);
}

TEST(Peer, WhatOneGpuWritesTheOtherReads) {
  TwoGpus gpus;
  const std::uint64_t datum = gpus.zeros(Aperture::peer), flag = gpus.zeros(Aperture::peer);
  const std::uint64_t out = gpus.zeros(Aperture::vidmem, 1), sum = gpus.zeros(Aperture::peer);
  gpus.run({"st.global.u32 [%a0], 42;\nst.release.sys.global.u32 [%a1], 1;\n"
            "atom.add.sys.global.u32 %r0, [%a2], 1;\nred.max.sys.global.u32 [%a2+4], 7;\n",
            {datum, flag, sum},
            2,
            32},
           {spin("ld.acquire.sys.global.u32", "%a1") +
                "ld.global.u32 %r1, [%a0];\nst.global.u32 [%a3], %r1;\nred.add.sys.global.u32 [%a2], 1;\n",
            {datum, flag, sum, out}});
  EXPECT_EQ(gpus.word(out), 42U);
  EXPECT_EQ(gpus.word(sum), 65U);
  EXPECT_EQ(gpus.word(sum + 4), 7U);
}

TEST(Peer, NoL2KeepsItsLinesAndStrongLoadsPassL1) {
  TwoGpus gpus;
  const std::uint64_t line = gpus.zeros(Aperture::peer);
  unsigned reads = 0;
  gpus.platform().peer()->watch([&](const BusAccess& access) { reads += access.kind == Kind::read; });
  gpus.run({"ld.global.u32 %r0, [%a0];\nld.global.u32 %r1, [%a0];\n", {line}},
           {"ld.relaxed.gpu.global.u32 %r0, [%a0];\nld.global.cg.u32 %r1, [%a0];\n"
            "ld.volatile.global.u32 %r2, [%a0];\n",
            {line}});
  EXPECT_EQ(reads, 1U + 3U) << "the second weak load may hit L1, or wait for its fill";
}

TEST(Peer, StoresThatAreFarApartNeedNoFlushEach) {
  constexpr unsigned kApart = 4096, kThreads = 128, kRounds = 5;
  TwoGpus gpus;
  const std::uint64_t first = gpus.zeros(Aperture::peer, 0, std::uint64_t{kApart} * kThreads);
  gpus.run(
      {"mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, " + std::to_string(kApart) +
           ";\nadd.u64 %d0, %d0, %a0;\nmov.u32 %r1, " + std::to_string(kRounds) +
           ";\nL: st.global.u32 [%d0], %r1;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra L;\n",
       {first},
       1,
       kThreads},
      {"", {}});
  // One device: the end of a grid is a release, which each slice that was written to flushes for once.
  EXPECT_LE(AllCounters(gpus.platform()).total("pcie.flushes"), TwoGpus::config({}).l2.slices);
}

}  // namespace peer_test
}  // namespace warpline::test
