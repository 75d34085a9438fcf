// A peer device's memory as programs reach it: posted writes and their flush, `.mmio`, and what is cached.
#include <gtest/gtest.h>

#include "two_gpus.h"

namespace warpline::test {
namespace {

using Kind = BusAccess::Kind;

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

/// What one thread asks of its window of registers: a random sequence, as the kernel below makes it.
struct MmioStream {
  static constexpr std::uint64_t kFactor = 6364136223846793005ULL, kStep = 1442695040888963407ULL;
  std::uint64_t x;
  struct Operation {
    bool store;
    unsigned bytes;
    std::uint64_t offset, value;
  };
  Operation next() {
    x = x * kFactor + kStep;
    const unsigned bytes = 1U << ((x >> 61U) & 3U);
    return {(x >> 63U) != 0, bytes, ((x >> 33U) & 0x3FFU) & ~std::uint64_t{bytes - 1}, x};
  }
};

constexpr unsigned kStreams = 4;
constexpr std::uint64_t kWindow = 1024;

/// Each CTA has one thread, which does `%a3` operations on its window, with loads and stores of video and
/// system memory between them.
std::string mmio_kernel() {
  std::string s =
      "mov.u32 %r0, %ctaid.x;\ncvt.u64.u32 %d0, %r0;\nmul.lo.u64 %a4, %d0, 1024;\n"
      "add.u64 %a0, %a0, %a4;\nadd.u64 %a1, %a1, %a4;\nadd.u64 %a2, %a2, %a4;\ncvt.u32.u64 %r1, %a3;\n"
      "mov.u64 %a5, 0;\nLOOP: mad.lo.u64 %d0, %d0, 6364136223846793005, 1442695040888963407;\n"
      "shr.u64 %d1, %d0, 61;\ncvt.u32.u64 %r2, %d1;\nand.b32 %r3, %r2, 3;\nmov.u64 %d2, 1;\n"
      "shl.b64 %d2, %d2, %r3;\nneg.s64 %d2, %d2;\nshr.u64 %d1, %d0, 33;\nand.b64 %d1, %d1, 1023;\n"
      "and.b64 %d1, %d1, %d2;\nadd.u64 %d2, %a0, %d1;\nand.b64 %d3, %d1, 1016;\nadd.u64 %a6, %a1, %d3;\n"
      "add.u64 %a7, %a2, %d3;\nst.global.u32 [%a6], %r2;\nld.global.u32 %r4, [%a7];\n"
      "st.global.u32 [%a7+4], %r2;\nst.global.u32 [%a6+4], %r4;\n";
  const char* types[] = {"u8", "u16", "u32", "u64"};
  for (unsigned n = 0; n < 4; ++n) {
    const std::string type = types[n];
    const std::string value = n == 0 ? "%r5" : n == 1 ? "%h0" : n == 2 ? "%r5" : "%d0";
    const std::string into = n == 0 ? "%r6" : n == 1 ? "%h1" : n == 2 ? "%r6" : "%d3";
    if (n == 0) s += "cvt.u32.u64 %r5, %d0;\ncvt.u16.u64 %h0, %d0;\n";
    s += "setp.eq.u32 %p, %r2, " + std::to_string(n) + ";\n@%p ld.mmio.relaxed.sys.global." + type + " " +
         into + ", [%d2];\n";
    s += "setp.eq.u32 %p, %r2, " + std::to_string(n + 4) + ";\n@%p st.mmio.relaxed.sys.global." + type +
         " [%d2], " + value + ";\n";
  }
  return s + "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra LOOP;\n";
}

void expect_each_operation_once(const RunOptions& options, std::uint64_t operations) {
  TwoGpus gpus({{"pcie.latency=5"}, {"pcie.peer_latency=3"}}, options);
  const std::uint64_t registers = gpus.zeros(Aperture::peer, 0, kStreams * kWindow);
  const std::uint64_t plain = gpus.zeros(Aperture::peer, 0, kStreams * kWindow);
  const std::uint64_t video = gpus.zeros(Aperture::vidmem, 0, kStreams * kWindow);
  const std::uint64_t host = gpus.zeros(Aperture::sysmem, 0, kStreams * kWindow);
  std::vector<std::vector<BusAccess>> seen(kStreams);
  gpus.platform().peer()->watch([&](const BusAccess& access) {
    EXPECT_EQ(access.exact, access.offset < kStreams * kWindow && access.kind != Kind::flush);
    if (access.exact) seen[access.offset / kWindow].push_back(access);
  });
  const TwoGpus::Grid grid{mmio_kernel(), {registers, video, host, operations}, kStreams, 1};
  const TwoGpus::Grid other{
      "mov.u32 %r1, 200;\nAGAIN: st.global.u32 [%a0], %r1;\nld.volatile.global.u32 %r2, [%a0+64];\n"
      "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra AGAIN;\n",
      {plain},
      2,
      1};
  gpus.run(grid, other);
  std::vector<std::uint8_t> memory(kStreams * kWindow);
  for (unsigned s = 0; s < kStreams; ++s) {
    MmioStream stream{s};
    ASSERT_EQ(seen[s].size(), operations);
    for (std::uint64_t i = 0; i < operations; ++i) {
      const MmioStream::Operation wanted = stream.next();
      const BusAccess& access = seen[s][i];
      std::uint8_t* at = &memory[s * kWindow + wanted.offset];
      if (wanted.store) __builtin_memcpy(at, &wanted.value, wanted.bytes);
      ASSERT_EQ(access.kind, wanted.store ? Kind::write : Kind::read) << s << " " << i;
      ASSERT_EQ(access.bytes, wanted.bytes) << s << " " << i;
      ASSERT_EQ(access.offset, s * kWindow + wanted.offset) << s << " " << i;
      ASSERT_EQ(__builtin_memcmp(access.data.data(), at, wanted.bytes), 0) << s << " " << i;
    }
  }
  EXPECT_TRUE(gpus.platform().unreconciled().empty());
}

TEST(Peer, MmioArrivesOnceInOrderAndInSize) {
  expect_each_operation_once({}, 100'000 / kStreams);
}

TEST(Peer, MmioArrivesOnceInOrderAndInSizeLooselyTimed) {
  RunOptions options;
  options.loose = true;
  expect_each_operation_once(options, 100'000 / kStreams);
}

TEST(Peer, MmioArrivesOnceInOrderAndInSizeInEveryDrawOfTime) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    RunOptions options;
    options.jitter = seed;
    expect_each_operation_once(options, 300);
  }
}

}  // namespace
}  // namespace warpline::test
