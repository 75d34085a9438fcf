// What a GPU does to a device behind a root complex, as it arrives there.
#include <gtest/gtest.h>

#include "platform/machine/pcie_system.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device.h"
#include "tests/platform/host/two_devices.h"
#include "tests/platform/machine/ways.h"
#include "wl_peer_regs.h"

namespace warpline::test {
namespace devices_test {

using Kind = AccessKind;

class Devices : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Devices, every_way(), name_of_way);

/// %d0 is then %a0 and 4 times the lane, %r0 the lane.
const char* const kPerLane = "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 4;\nadd.u64 %d0, %d0, %a0;\n";

TEST_P(Devices, BytesGetThereAndBack) {
  GpusAndHost bench(GetParam().options());
  for (std::size_t i = 0; i < bench.peer().buffer().size(); ++i)
    bench.peer().buffer()[i] = static_cast<std::uint8_t>(i * 7);
  const GpusAndHost::Shared out = bench.share(4096);
  bench.run(std::string(kPerLane) +
                "mul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d1, %a1;\nld.global.u32 %r1, [%d0+256];\n"
                "st.global.u32 [%d1], %r1;\nst.global.u32 [%d0+512], %r0;\nadd.u32 %r2, %r0, 7;\n"
                "st.global.u8 [%d0+1024], %r2;\n"
                "ld.volatile.global.u32 %r1, [%d0+256];\nst.global.u32 [%d1+128], %r1;\n"
                "ld.global.cg.u32 %r1, [%d0+256];\nst.global.u32 [%d1+256], %r1;\n",
            {bench.buffer, out.address}, kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(out.word(lane), bench.buffer_word(64 + lane));
    EXPECT_EQ(out.word(32 + lane), bench.buffer_word(64 + lane));
    EXPECT_EQ(out.word(64 + lane), bench.buffer_word(64 + lane));
    EXPECT_EQ(bench.buffer_word(128 + lane), lane);
    EXPECT_EQ(bench.peer().buffer()[1024 + 4 * lane], lane + 7);
    EXPECT_EQ(bench.peer().buffer()[1025 + 4 * lane], static_cast<std::uint8_t>((1025 + 4 * lane) * 7));
  }
  EXPECT_TRUE(bench.platform.unreconciled().empty());
}

TEST_P(Devices, NothingIsCombinedOrReadBesideWhereABarIsNotPrefetchable) {
  GpusAndHost bench(GetParam().options());
  bench.host->store(bench.host->devices()[0].bars[0].address + WL_PEER_SCRATCH_OFFSET(0), 4, 11);
  bench.host->store(bench.host->devices()[0].bars[0].address + WL_PEER_SCRATCH_OFFSET(1), 4, 22);
  bench.host->pass(5000);
  const GpusAndHost::Shared out = bench.share(4096);
  const std::uint64_t begun = bench.peer().log().total();
  // Two lanes beside each other, of each kind of access that is joined elsewhere.
  const char* const loads[] = {"ld.volatile.global.u32", "ld.global.ca.u32",          "ld.global.cg.u32",
                               "ld.global.nc.u32",       "ld.relaxed.sys.global.u32", "ld.global.u32"};
  std::string body = kPerLane;
  body += "mul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d1, %a1;\n";
  unsigned line = 0;
  for (const char* load : loads) {
    body +=
        std::string(load) + " %r1, [%d0];\nst.global.u32 [%d1+" + std::to_string(128 * line++) + "], %r1;\n";
  }
  body +=
      "add.u32 %r2, %r0, 5;\nst.volatile.global.u32 [%d0], %r2;\nadd.u32 %r2, %r0, 7;\nst.global.u32 [%d0], "
      "%r2;\n";
  bench.run(body, {bench.registers + WL_PEER_SCRATCH_OFFSET(0), out.address}, 2);
  for (unsigned n = 0; n < line; ++n)
    for (unsigned lane = 0; lane < 2; ++lane) EXPECT_EQ(out.word(32 * n + lane), 11 * (lane + 1)) << loads[n];
  const AccessLog& log = bench.peer().log();
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t n = begun; n < log.total(); ++n) {
    const BusAccess& access = log.entries()[n];
    if (access.kind == Kind::flush) continue;
    EXPECT_EQ(access.bytes, 4U);
    EXPECT_EQ(access.outcome, AccessOutcome::done);
    offsets.push_back(access.offset - WL_PEER_SCRATCH_OFFSET(0));
  }
  ASSERT_EQ(offsets.size(), 2 * (line + 2U)) << "one each, and nothing else";
  for (std::size_t n = 0; n < offsets.size(); ++n) EXPECT_EQ(offsets[n], 4 * (n % 2)) << "in order";
}

TEST_P(Devices, AtomicsAreDoneThereEachOnce) {
  GpusAndHost bench(GetParam().options(), {{"gpus=2"}});
  const GpusAndHost::Shared out = bench.share(4096);
  const std::string body =
      "atom.add.sys.global.u32 %r1, [%a0], 3;\natom.max.sys.global.u32 %r2, [%a0+4], 9;\n"
      "atom.add.sys.global.f32 %r3, [%a0+8], 0f3F800000;\natom.exch.sys.global.b64 %d1, [%a0+16], 77;\n"
      "atom.cas.sys.global.b32 %r4, [%a0+12], 0, 5;\nred.or.sys.global.b32 [%a0+24], 6;\n";
  const auto text = [](std::string s) {
    const std::size_t at = s.find("%r3");
    return s.replace(at, 3, "%f0");
  };
  const auto module = module_of_body(".reg .f32 %f<1>;\n" + text(body), 2);
  const GpusAndHost::Grid grid{module.get(), "k", block_of({bench.buffer, out.address}), 2, kWarpLanes};
  bench.start({grid, grid});
  bench.finish();
  float sum = 0;
  std::memcpy(&sum, &bench.peer().buffer()[8], sizeof sum);
  EXPECT_EQ(bench.buffer_word(0), 2 * 2 * 32 * 3U);
  EXPECT_EQ(bench.buffer_word(1), 9U);
  EXPECT_EQ(sum, 2 * 2 * 32.0F);
  EXPECT_EQ(bench.buffer_word(3), 5U);
  EXPECT_EQ(bench.buffer_word(4), 77U);
  EXPECT_EQ(bench.buffer_word(6), 6U);
}

TEST_P(Devices, MmioArrivesOnceInOrderAndInSize) {
  GpusAndHost bench(GetParam().options());
  const std::size_t before = bench.peer().log().entries().size();
  std::size_t watched = 0;
  bench.platform.peer(0)->watch([&](const BusAccess&) { ++watched; });
  EXPECT_EQ(bench.platform.peer(1), nullptr);
  bench.run(std::string(kPerLane) +
                "st.mmio.relaxed.sys.global.u32 [%d0], %r0;\nld.mmio.relaxed.sys.global.u16 %h0, [%d0+2];\n"
                "st.mmio.relaxed.sys.global.u8 [%d0+1], %r0;\n",
            {bench.buffer}, kWarpLanes);
  std::vector<BusAccess> seen;
  for (std::size_t i = before; i < bench.peer().log().entries().size(); ++i)
    if (bench.peer().log().entries()[i].kind != Kind::flush) seen.push_back(bench.peer().log().entries()[i]);
  ASSERT_EQ(seen.size(), 3U * kWarpLanes);
  EXPECT_EQ(watched, bench.peer().log().entries().size() - before);
  for (unsigned i = 0; i < seen.size(); ++i) {
    const unsigned lane = i % kWarpLanes, step = i / kWarpLanes;
    EXPECT_EQ(seen[i].kind, step == 1 ? Kind::read : Kind::write) << i;
    EXPECT_EQ(seen[i].bytes, step == 0 ? 4U : step == 1 ? 2U : 1U) << i;
    EXPECT_EQ(seen[i].offset, 4ULL * lane + (step == 0 ? 0 : step == 1 ? 2 : 1)) << i;
    EXPECT_EQ(seen[i].requester, RootComplexCore::id_of(1).value);
  }
}

TEST_P(Devices, RegistersAreReadAndWritten) {
  GpusAndHost bench(GetParam().options());
  const GpusAndHost::Shared out = bench.share(4096);
  bench.run(
      "ld.mmio.relaxed.sys.global.u32 %r0, [%a0];\nst.global.u32 [%a1], %r0;\n"
      "st.mmio.relaxed.sys.global.u32 [%a0+40], 4711;\nld.mmio.relaxed.sys.global.u32 %r1, [%a0+40];\n"
      "st.global.u32 [%a1+4], %r1;\n",
      {bench.registers, out.address});
  EXPECT_EQ(out.word(0), 0x574C5044U);
  EXPECT_EQ(out.word(1), 4711U);
  EXPECT_EQ(bench.host->load(bench.host->devices()[0].bars[0].address + 40, 4), 4711U);
}

TEST_P(Devices, LoadsThatNoCacheMayKeepReadNoMoreThanTheirBytes) {
  GpusAndHost bench(GetParam().options());
  const std::size_t before = bench.peer().log().entries().size();
  bench.run(std::string(kPerLane) +
                "setp.ne.u32 %p, %r0, 1;\n@%p ld.volatile.global.u32 %r1, [%d0];\n"
                "@%p ld.relaxed.sys.global.u32 %r2, [%d0];\n@%p ld.global.cg.u32 %r3, [%d0];\n"
                "@%p ld.global.cv.u16 %h0, [%d0];\n",
            {bench.buffer}, 3);
  const auto& log = bench.peer().log().entries();
  // Lanes 0 and 2: the bytes of lane 1 between theirs are not touched.
  ASSERT_EQ(log.size() - before, 8U);
  for (std::size_t i = before; i < log.size(); ++i) EXPECT_EQ(log[i].bytes, i - before < 6 ? 4U : 2U) << i;
}

TEST_P(Devices, WhatNobodyAnswersReadsAsAllOnes) {
  GpusAndHost bench(GetParam().options());
  const GpusAndHost::Shared out = bench.share(4096);
  // The MSI-X table's BAR is not opened to the GPU: the IOMMU refuses.
  const HostDevice::Bar& bar = bench.host->devices()[0].bars[QueueDeviceCore::kMsixBar];
  const std::uint64_t closed = bench.platform.map(Aperture::peer, bar.address, bar.bytes);
  bench.run(
      "ld.mmio.relaxed.sys.global.u32 %r0, [%a0];\nst.global.u32 [%a1], %r0;\nst.global.u32 [%a0+64], 5;\n"
      "ld.global.u32 %r1, [%a0+128];\nst.global.u32 [%a1+4], %r1;\n"
      "atom.add.sys.global.u32 %r2, [%a0+256], 1;\nst.global.u32 [%a1+8], %r2;\n"
      "atom.xor.sys.global.b32 %r3, [%a0+384], 1;\nst.global.u32 [%a1+12], %r3;\n",
      {closed, out.address});
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(out.word(i), 0xFFFF'FFFFU) << i;
  // The write is dropped, unseen; of the exclusive or, the read and the swap are refused.
  EXPECT_EQ(AllCounters(bench.platform).total("pcie.function.refused"), 6U);
  EXPECT_EQ(bench.platform.pcie()->root().core().iommu().fault_count(), 7U) << "with the flush of the write";
}

TEST_P(Devices, AFunctionThatMayMakeNoRequestsMakesNone) {
  GpusAndHost bench(GetParam().options());
  const GpusAndHost::Shared out = bench.share(4096);
  const std::uint64_t before = bench.peer().log().total();
  bench.host->store_config(bench.host->devices()[bench.device_of(0)].id, 4, 2, 2);
  bench.run(
      "st.mmio.relaxed.sys.global.u32 [%a0], 1;\nld.mmio.relaxed.sys.global.u32 %r0, [%a0];\n"
      "st.global.u32 [%a1], %r0;\n",
      {bench.buffer, out.address});
  EXPECT_EQ(out.word(0), 0xFFFF'FFFFU);
  EXPECT_EQ(bench.peer().log().total(), before);
}

TEST(DevicesRemoved, AGpuThatWaitsIsAnsweredInTime) {
  GpusAndHost bench({}, {{"pcie_system.gpu.completion_timeout=3000"}});
  const GpusAndHost::Shared out = bench.share(4096);
  const auto module = module_of_body(
      "LOOP: ld.mmio.relaxed.sys.global.u32 %r0, [%a0];\nadd.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r0, "
      "4294967295;\n@%p bra LOOP;\nst.global.u32 [%a1], %r1;\n",
      2);
  bench.start({{module.get(), "k", block_of({bench.registers, out.address})}});
  bench.host->pass(20'000);
  EXPECT_TRUE(bench.platform.running());
  bench.platform.pcie()->set_present(0, false);
  bench.finish();
  EXPECT_FALSE(bench.platform.running());
  EXPECT_GT(out.word(0), 2U);
}

TEST(DevicesOrder, AReleaseWaitsForWhatWentToTheDevice) {
  // The host looks in every cycle: the flag in its memory must not be set before the datum has arrived.
  for (const bool fence : {true, false}) {
    GpusAndHost bench({}, {{"pcie_system.gpu.latency=3000"}});
    const GpusAndHost::Shared flag = bench.share(4096);
    const auto module = module_of_body(std::string("st.global.u32 [%a0], 1;\n") +
                                           (fence ? "fence.acq_rel.sys;\n" : "fence.acq_rel.gpu;\n") +
                                           "st.relaxed.sys.global.u32 [%a1], 1;\n",
                                       2);
    bool overtaken = false;
    bench.platform.on_progress(1, [&](double) {
      overtaken = overtaken || (flag.word(0) == 1 && bench.buffer_word(0) == 0);
      return true;
    });
    bench.start({{module.get(), "k", block_of({bench.buffer, flag.address})}});
    bench.finish();
    EXPECT_EQ(bench.buffer_word(0), 1U);
    EXPECT_EQ(overtaken, !fence);
  }
}

TEST_P(Devices, AFenceWaitsForEachDevice) {
  for (const char* fence : {"fence.acq_rel.sys;\n", "fence.sc.sys;\n"}) {
    const ToTwoDevices seen = write_to_two_devices(fence, GetParam().options());
    EXPECT_FALSE(seen.overtaken);
    EXPECT_EQ(seen.flushes, (std::array<std::uint64_t, 2>{1, 1}));
  }
  const ToTwoDevices without = write_to_two_devices("fence.acq_rel.gpu;\n", GetParam().options());
  EXPECT_EQ(without.overtaken, !GetParam().loose);
}

TEST(DevicesOrder, AStoreStaysBehindAnEarlierLoadOfItsLine) {
  // Writes may overtake reads on the way; one credit for reads makes sure that they would.
  GpusAndHost bench({}, {{"pcie_system.gpu.non_posted_credits=1"}});
  const GpusAndHost::Shared out = bench.share(4096);
  std::string body;
  for (unsigned i = 0; i < 8; ++i)
    body += "ld.volatile.global.u32 %r" + std::to_string(i) + ", [%a0+" + std::to_string(128 * i) + "];\n";
  body += "st.volatile.global.u32 [%a0+896], 1;\nst.global.u32 [%a1], %r7;\n";
  bench.run(body, {bench.buffer, out.address});
  EXPECT_EQ(bench.buffer_word(224), 1U);
  EXPECT_EQ(out.word(0), 0U);
}

/// Time is drawn anew with nothing under way, and what a host or a device does there is.
TEST_P(Devices, ALaunchWithJitterMayBeginWhileTheHostStores) {
  RunOptions options = GetParam().options();
  options.jitter = 1;
  GpusAndHost bench(options);
  const GpusAndHost::Video v = bench.video(4096);
  const std::uint64_t device = bench.host->devices()[0].bars[QueueDeviceCore::kBufferBar].address;
  for (std::uint32_t round = 1; round <= 4; ++round) {
    bench.host->store(v.bus, 4, round);
    bench.host->store(device, 4, round);
    bench.run("st.global.u32 [%a0+4], " + std::to_string(round) + ";\n", {v.address});
    EXPECT_EQ(bench.word_at(v.address), round);
    EXPECT_EQ(bench.word_at(v.address + 4), round);
    EXPECT_EQ(bench.buffer_word(0), round);
  }
}

TEST(DevicesTime, AllTickModesGiveTheSameRun) {
  expect_same_in_all_tick_modes([](TickMode mode) {
    GpusAndHost bench(Way{"", mode}.options(), {{"gpus=2"}});
    const auto module = module_of_body(
        std::string(kPerLane) +
            "mov.u32 %r1, 5;\nLOOP: atom.add.sys.global.u32 %r2, [%a0+2048], %r0;\n"
            "st.global.u32 [%d0], %r2;\nld.volatile.global.u32 %r3, [%d0+128];\n"
            "atom.xor.sys.global.b32 %r4, [%a1], %r2;\nst.global.u32 [%a1+128], %r3;\nsub.u32 %r1, %r1, 1;\n"
            "setp.ne.u32 %p, %r1, 0;\n@%p bra LOOP;\nfence.sc.sys;\n",
        2);
    const GpusAndHost::Shared memory = bench.share(4096);
    const GpusAndHost::Grid grid{module.get(), "k", block_of({bench.buffer, memory.address}), 2, 64};
    bench.start({grid, grid});
    bench.host->pass(500);
    bench.host->store(bench.host->devices()[0].bars[QueueDeviceCore::kBufferBar].address + 4096, 4, 1);
    const LaunchResult r = bench.finish();
    return std::pair(r.cycles, AllCounters(bench.platform).values());
  });
}

}  // namespace devices_test
}  // namespace warpline::test
