// In which order what comes from outside is seen in a GPU's video memory: what is promised, and what is not.
#include <gtest/gtest.h>

#include "rtl_models/pcie/gpu_link/gpu_function.h"
#include "tests/platform/host/inbound_device_scene.h"
#include "tests/platform/host/inbound_scenes.h"
#include "tests/platform/machine/ways.h"
#include "tests/support/environment.h"
#include "wl_peer_regs.h"

namespace warpline::test {
namespace inbound_order_test {

std::uint64_t seeds() {
  return from_environment("WARPLINE_INBOUND_ORDER_SEEDS", 8);
}

TEST(InboundOrder, AFlagBehindItsDataIsNeverSeenBeforeItByAcquire) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed)
    EXPECT_EQ(stale_after_host(seed, "ld.acquire.sys.global.u32", "ld.global.u32"), 0U) << "seed " << seed;
}

TEST(InboundOrder, NorByVolatile) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed)
    EXPECT_EQ(stale_after_host(seed, "ld.acquire.sys.global.u32", "ld.volatile.global.u32"), 0U)
        << "seed " << seed;
}

TEST(InboundOrder, AReadOfTheHostFindsWhatItHasWrittenBefore) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed)
    EXPECT_EQ(writes_behind_a_read(seed), 0U) << "seed " << seed;
}

TEST(InboundOrder, AFlagOfTheHostIsNeverSeenBeforeWhatADeviceHasToldItOf) {
  DeviceAndFlag how;
  how.flag = DeviceAndFlag::Flag::in_video_memory;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed)
    EXPECT_EQ(stale_after_device(seed, how), 0U) << "seed " << seed;
}

/// A kernel reads of a device how many commands it has done, and then looks into its own memory, which the
/// device has filled. How often it found what was there before.
unsigned stale_after_register(std::uint64_t seed) {
  // A read that is given up, as queues are drawn long, says nothing.
  GpusAndHost bench(drawn_by(seed), {{"pcie_system.gpu.completion_timeout=16000000"}});
  FillingDevice device(bench);
  constexpr unsigned kBytes = 4096, kLast = 3840;
  const GpusAndHost::Video data = bench.video(kBytes), stale = bench.video(256);
  const std::string look = "setp.lt.u32 %p, %r1, %r0;\n@%p add.u32 %r2, %r2, 1;\n";
  const auto module = module_of_body(
      "mov.u32 %r2, 0;\nLOOP: ld.mmio.relaxed.sys.global.u64 %d0, [%a1];\ncvt.u32.u64 %r0, %d0;\n"
      "ld.volatile.global.u32 %r1, [%a0];\n" +
          look + "ld.volatile.global.u32 %r1, [%a0+" + std::to_string(kLast) + "];\n" + look +
          "setp.ne.u32 %p, %r0, " + std::to_string(kRounds) + ";\n@%p bra LOOP;\nst.global.u32 [%a2], %r2;\n",
      3);
  bench.start({{module.get(), "k",
                block_of({data.address, bench.registers + WL_PEER_COMMANDS_OFFSET, stale.address}), 1, 1}});
  for (unsigned round = 1; round <= kRounds; ++round) {
    device.begin(data.bus, kBytes, round);
    device.end();
  }
  bench.finish();
  return bench.word_at(stale.address);
}

TEST(InboundOrder, AKernelThatReadsOfADeviceThatItIsDoneFindsWhatItWrote) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed)
    EXPECT_EQ(stale_after_register(seed), 0U) << "seed " << seed;
}

TEST(InboundOrder, AFlagInHostMemorySaysNothingOfVideoMemory) {
  unsigned stale = 0;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) stale += stale_after_device(seed, {});
  EXPECT_GT(stale, 0U) << "the weakness is gone";
}

TEST(InboundOrder, NorDoesAnInterrupt) {
  DeviceAndFlag how;
  how.interrupt = true;
  unsigned stale = 0;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) stale += stale_after_device(seed, how);
  EXPECT_GT(stale, 0U) << "the weakness is gone";
}

TEST(InboundOrder, AReadOfTheBarBeforeTheFlagCuresBoth) {
  DeviceAndFlag how;
  how.reads_bar = true;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed)
    for (const bool interrupt : {false, true}) {
      how.interrupt = interrupt;
      EXPECT_EQ(stale_after_device(seed, how), 0U) << "seed " << seed;
    }
}

/// How fast the device fills video memory, with a crossbar and slices as far away as on a large GPU: GB/s.
double rate_of_filling(bool relaxed) {
  std::vector<std::string> settings;
  const auto set = [&](const std::string& hop, unsigned latency) {
    for (const char* way : {".request", ".response"})
      for (const std::string& value :
           {"latency=" + std::to_string(latency), std::string("depth=96"), std::string("credit_latency=16")})
        settings.push_back({"hops." + hop + way + "." + value});
  };
  set("pcie_crossbar", 20);
  set("crossbar_l2", 33);
  GpusAndHost bench({}, settings);
  FillingDevice device(bench, {false, relaxed});
  constexpr std::uint32_t kBytes = 1U << 18U;
  const GpusAndHost::Video data = bench.video(kBytes);
  const Cycle begun = bench.platform.now();
  device.begin(data.bus, kBytes, 1);
  device.end();
  push_writes(bench, data.bus);
  return kBytes / bench.platform.time_ns(bench.platform.now() - begun);
}

TEST(InboundTime, AStreamInOrderIsAPacketPerRoundTripToL2AndARelaxedOneAsFastAsTheLink) {
  const double ordered = rate_of_filling(false), relaxed = rate_of_filling(true);
  EXPECT_NEAR(ordered, 2.2, 0.1);
  EXPECT_GT(relaxed, 12);
}

TEST(InboundTime, AllTickModesGiveTheSameRun) {
  expect_same_in_all_tick_modes([](TickMode mode) {
    // Few credits and a slow clock, so that senders are held up and edges matter.
    GpusAndHost bench(Way{"", mode}.options(), {{"gpus=2"},
                                                {"clocks.link=700"},
                                                {"pcie_system.gpu.posted_credits=2"},
                                                {"pcie_system.gpu.non_posted_credits=2"}});
    bench.open_video(bench.device_of(0), 1);
    bench.open_video(bench.device_of(1), 0);
    std::array<GpusAndHost::Video, 2> v = {bench.video(8192, 0), bench.video(8192, 1)};
    const auto module = module_of_body(
        "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 4;\nadd.u64 %d0, %d0, %a0;\nmov.u32 %r1, 4;\n"
        "LOOP: st.volatile.global.u32 [%d0+1024], %r1;\natom.add.sys.global.u32 %r2, [%a0], 1;\n"
        "ld.volatile.global.u32 %r3, [%d0+1024];\natom.add.sys.global.u32 %r2, [%a1], %r3;\n"
        "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra LOOP;\n",
        2);
    // Each works in the memory of the other one, and in its own.
    std::vector<GpusAndHost::Grid> grids;
    for (unsigned gpu = 0; gpu < 2; ++gpu) {
      const unsigned bar = bench.device_of(1 - gpu);
      const std::uint64_t base = bench.host->devices()[bar].bars[GpuFunction::kMemoryBar].address;
      const std::uint64_t far = bench.platform.map(Aperture::peer, base, 1U << 24U) + (v[1 - gpu].bus - base);
      grids.push_back({module.get(), "k", block_of({far, v[gpu].address + 4096}), 2, 64});
    }
    bench.start(grids);
    for (unsigned i = 0; i < 40; ++i) {
      bench.host->store(v[i % 2].bus + 6000 + 8 * i, 8, i);
      if (i % 4 == 0) static_cast<void>(bench.host->load(v[i % 2].bus + 6000 + 8 * i, 8));
    }
    const LaunchResult r = bench.finish();
    for (const GpusAndHost::Video& video : v) EXPECT_EQ(bench.word_at(video.address), 2U * 64 * 4);
    EXPECT_EQ(bench.platform.unreconciled(), std::vector<std::string>{});
    return std::pair(r.cycles, AllCounters(bench.platform).values());
  });
}

TEST(InboundProgress, WhatIsNotDoneIsExplained) {
  GpusAndHost bench;
  const GpusAndHost::Video v = bench.video(4096);
  bench.host->store(v.bus, 4, 1);
  bench.host->store(v.bus + 512, 4, 2);
  const auto explained = [&] {
    for (const Wait& w : bench.platform.standstill().waits)
      if (w.what.find("for video memory to be performed") != std::string::npos) return true;
    return false;
  };
  bool seen = false;
  for (unsigned i = 0; i < 2000 && !seen; ++i) {
    bench.host->pass(1);
    seen = explained();
  }
  EXPECT_TRUE(seen);
  bench.host->pass(2000);
  EXPECT_FALSE(explained());
}

TEST(InboundProgress, WritesFromOutsideDoNotWaitForWhatTheGpuAsksOfDevices) {
  // Every thread wants the same line of the device, which answers behind what it writes to video memory.
  for (const char* credits : {"1", "4", "32"}) {
    std::vector<std::string> settings = {{"pcie.tags=8"}};
    for (const char* key : {"gpu.posted", "gpu.non_posted", "device.posted", "device.non_posted"})
      settings.push_back({std::string("pcie_system.") + key + "_credits=" + credits});
    GpusAndHost bench({}, settings);
    bench.open_video(0);
    const GpusAndHost::Video data = bench.video(1U << 16U);
    const wl_port* const port = &bench.host->port_of(0);
    wl_peer peer{};
    std::array<wl_peer_slot, 8> slots{};
    wl_peer_queue_options queue{};
    queue.order = 3;
    queue.submissions = bench.host->allocate(WL_PEER_COMMAND_BYTES << 3U);
    queue.completions = bench.host->allocate(WL_PEER_COMPLETION_BYTES << 3U);
    queue.slots = slots.data();
    ASSERT_EQ(wl_peer_probe(&peer, port), WL_OK);
    ASSERT_EQ(wl_peer_start(&peer), WL_OK);
    ASSERT_EQ(wl_peer_queue_create(&peer, 0, &queue), WL_OK);
    const auto module = module_of_body(
        "mov.u32 %r0, 6;\nLOOP: atom.add.sys.global.u32 %r1, [%a0], 1;\nst.volatile.global.u32 [%a0+4], "
        "%r1;\n"
        "ld.volatile.global.u32 %r2, [%a0+8];\nred.xor.sys.global.b32 [%a0+12], %r1;\nsub.u32 %r0, %r0, 1;\n"
        "setp.ne.u32 %p, %r0, 0;\n@%p bra LOOP;\n",
        1);
    bench.start({{module.get(), "k", block_of({bench.buffer}), 4, 128}});
    wl_peer_command c{};
    c.opcode = WL_PEER_OPCODE_FILL;
    c.destination = data.bus;
    c.length = 1U << 16U;
    c.operand = 0x0101010101010101;
    for (unsigned i = 0; i < 4; ++i) {
      ASSERT_EQ(wl_peer_submit(&peer, 0, &c), WL_OK);
    }
    ASSERT_EQ(wl_peer_ring(&peer, 0), WL_OK);
    bench.finish();
    EXPECT_EQ(bench.buffer_word(0), 6U * 4 * 128) << credits;
    for (unsigned i = 0; i < (1U << 16U); i += 4096) EXPECT_EQ(bench.word_at(data.address + i), 0x01010101U);
  }
}

}  // namespace inbound_order_test
}  // namespace warpline::test
