// A GPU's video memory behind its BAR: what the host, a device and other GPUs read and write there.
#include "rtl_models/pcie/gpu_link/inbound.h"

#include <gtest/gtest.h>

#include "platform/machine/pcie_system.h"
#include "platform/machine/system.h"
#include "rtl_models/base/random.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "sw/driver/wl_peer.h"
#include "tests/platform/host/gpus_and_host.h"
#include "tests/platform/machine/ways.h"

namespace warpline::test {
namespace inbound_test {

class Inbound : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Inbound, every_way(), name_of_way);

const HostDevice::Bar& bar_of(GpusAndHost& bench, unsigned gpu = 0) {
  return bench.host->devices()[bench.device_of(gpu)].bars[GpuFunction::kMemoryBar];
}

TEST(InboundBar, IsPlacedLikeAnyOther) {
  GpusAndHost bench({}, {{"gpus=2"}, {"pcie.bar_bytes=67108864"}});
  for (unsigned gpu = 0; gpu < 2; ++gpu) {
    EXPECT_EQ(bar_of(bench, gpu).bytes, 67108864U);
    EXPECT_TRUE(bar_of(bench, gpu).prefetchable);
    EXPECT_GE(bar_of(bench, gpu).address, std::uint64_t{1} << 32U) << "it is 64-bit";
    EXPECT_EQ(bar_of(bench, gpu).address % 67108864, 0U);
  }
}

TEST(InboundBar, IsNotThereWithoutBytes) {
  GpusAndHost bench({}, {{"pcie.bar_bytes=0"}});
  EXPECT_EQ(bar_of(bench).bytes, 0U);
  EXPECT_FALSE(bench.host->open_bar(0, bench.device_of(0), GpuFunction::kMemoryBar));
}

TEST(InboundBar, HasRulesForItsSize) {
  for (const char* bad : {"pcie.bar_bytes=5000", "pcie.bar_bytes=2048", "pcie.bar_bytes=2199023255552"})
    EXPECT_FALSE(load_gpu("mini", {{bad}}).ok()) << bad;
}

/// Accesses of any size and place by the host, against a copy.
TEST_P(Inbound, TheHostReadsAndWritesEveryByte) {
  GpusAndHost bench(GetParam().options());
  constexpr std::size_t kBytes = 3 * 4096;
  const GpusAndHost::Video v = bench.video(kBytes);
  std::vector<std::uint8_t> copy(kBytes);
  Random random(7);
  HostBridge& bridge = bench.platform.pcie()->bridge();
  for (unsigned i = 0; i < 300; ++i) {
    const auto page = 4096 * random.below(3);
    const bool writes = random.below(2) == 0;
    const auto most = random.below(2) == 0 ? 16 : 4096;
    const auto bytes = static_cast<std::uint32_t>(1 + random.below(most));
    const std::uint64_t at = page + random.below(4096 - bytes + 1);
    if (writes) {
      for (unsigned b = 0; b < bytes; ++b) copy[at + b] = static_cast<std::uint8_t>(random.next());
      bridge.store(v.bus + at, &copy[at], bytes, bench.platform.now() + 1);
      continue;
    }
    const auto ticket = bridge.load(v.bus + at, bytes, bench.platform.now() + 1);
    HostBridge::Answer answer;
    const Cycle late = bench.platform.now() + 20'000;
    while (!bridge.take(ticket, answer)) {
      ASSERT_LT(bench.platform.now(), late);
      bench.host->pass(100);
    }
    ASSERT_EQ(answer.outcome, TlpOutcome::done);
    ASSERT_EQ(answer.data, std::vector<std::uint8_t>(copy.begin() + static_cast<std::ptrdiff_t>(at),
                                                     copy.begin() + static_cast<std::ptrdiff_t>(at + bytes)));
  }
  bench.host->pass(50'000);
  std::vector<std::uint8_t> there(kBytes);
  bench.platform.read(v.address, there.data(), kBytes);
  EXPECT_EQ(there, copy);
  const AllCounters counters(bench.platform);
  EXPECT_GT(counters.total("pcie.inbound.reads"), 100U);
  EXPECT_GT(counters.total("pcie.inbound.writes"), 100U);
  EXPECT_GT(counters.total("l2.write_sectors"), 400U);
  EXPECT_EQ(bench.platform.unreconciled(), std::vector<std::string>{});
}

TEST_P(Inbound, AKernelSeesWhatTheHostWroteAndTheOtherWayRound) {
  GpusAndHost bench(GetParam().options());
  const GpusAndHost::Video v = bench.video(4096), out = bench.video(4096);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) bench.host->store(v.bus + 4 * lane, 4, 100 + lane);
  static_cast<void>(bench.host->load(v.bus, 4));
  bench.run(
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 4;\nadd.u64 %d1, %d0, %a0;\nadd.u64 %d2, %d0, %a1;\n"
      "ld.global.u32 %r1, [%d1];\nadd.u32 %r1, %r1, 7;\nst.global.u32 [%d2], %r1;\n",
      {v.address, out.address}, kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    EXPECT_EQ(bench.host->load(out.bus + 4 * lane, 4), 107 + lane);
}

TEST_P(Inbound, TheHostStopsAKernelThatLooksIntoItsOwnMemory) {
  GpusAndHost bench(GetParam().options());
  const GpusAndHost::Video flag = bench.video(4096), out = bench.video(4096);
  const auto module = module_of_body(
      "LOOP: ld.volatile.global.u32 %r0, [%a0];\nadd.u32 %r1, %r1, 1;\nst.volatile.global.u32 [%a1], %r1;\n"
      "setp.eq.u32 %p, %r0, 0;\n@%p bra LOOP;\nst.global.u32 [%a1+4], %r0;\n",
      2);
  bench.start({{module.get(), "k", block_of({flag.address, out.address})}});
  bench.host->pass(3000);
  const std::uint64_t before = bench.host->load(out.bus, 4);
  bench.host->pass(3000);
  EXPECT_LT(before, bench.host->load(out.bus, 4)) << "the host watches it work";
  EXPECT_TRUE(bench.platform.running());
  bench.host->store(flag.bus, 4, 77);
  bench.finish();
  EXPECT_EQ(bench.host->load(out.bus + 4, 4), 77U);
}

TEST_P(Inbound, WhatLiesBeyondTheEndOfVideoMemoryIsUnsupported) {
  GpusAndHost bench(GetParam().options(), {{"vidmem_bytes=402653312"}, {"pcie.bar_bytes=536870912"}});
  const std::uint64_t end = bar_of(bench).address + 402653312;
  bench.host->store(end - 8, 8, 0x1122334455667788);
  bench.host->store(end, 8, 1);
  EXPECT_EQ(bench.host->load(end - 8, 8), 0x1122334455667788U);
  EXPECT_EQ(bench.host->load(end, 8), ~std::uint64_t{0});
  EXPECT_EQ(bench.host->outcome(), TlpOutcome::unsupported_request);
  EXPECT_EQ(bench.host->load(end - 4, 8), ~std::uint64_t{0}) << "and what reaches over the end";
  HostBridge& bridge = bench.platform.pcie()->bridge();
  const auto flush = bridge.load(end, 0, bench.platform.now() + 1);
  bench.host->pass(20'000);
  HostBridge::Answer answer;
  ASSERT_TRUE(bridge.take(flush, answer));
  EXPECT_EQ(answer.outcome, TlpOutcome::unsupported_request) << "and a read of no byte behind it";
  EXPECT_EQ(AllCounters(bench.platform).total("pcie.function.endpoint.unsupported"), 4U);
  EXPECT_EQ(AllCounters(bench.platform).total("pcie.inbound.writes"), 1U);
}

TEST_P(Inbound, NobodyIsThereWhileMemoryIsNotDecoded) {
  GpusAndHost bench(GetParam().options());
  const GpusAndHost::Video v = bench.video(4096);
  const FunctionId id = bench.host->devices()[bench.device_of(0)].id;
  bench.host->store(v.bus, 4, 5);
  EXPECT_EQ(bench.host->load(v.bus, 4), 5U);
  bench.host->store_config(id, 4, 2, 4);  // bus master, no memory
  bench.host->store(v.bus, 4, 6);
  EXPECT_EQ(bench.host->load(v.bus, 4), 0xFFFF'FFFFU);
  bench.host->store_config(id, 4, 2, 6);
  EXPECT_EQ(bench.host->load(v.bus, 4), 5U);
  const std::uint64_t power = bench.host->load_config(id, 0x34, 1);
  ASSERT_EQ(bench.host->load_config(id, power, 1), 1U) << "the power management capability";
  bench.host->store_config(id, power + 4, 2, 3);  // D3hot
  bench.host->store(v.bus, 4, 7);
  EXPECT_EQ(bench.host->load(v.bus, 4), 0xFFFF'FFFFU);
  EXPECT_EQ(bench.word_at(v.address), 5U);
}

TEST(InboundBar, ConfigurationDoesNotWaitForReadsOfVideoMemory) {
  constexpr Cycle kFar = 3000;
  GpusAndHost bench({}, {{"hops.crossbar_l2.request.latency=" + std::to_string(kFar)}});
  const GpusAndHost::Video v = bench.video(8192);
  HostBridge& bridge = bench.platform.pcie()->bridge();
  std::vector<HostBridge::Ticket> loads;
  for (unsigned i = 0; i < warpline::Inbound::kPackets; ++i)
    loads.push_back(bridge.load(v.bus + 128 * i, 4, bench.platform.now() + 1));
  bench.host->pass(kFar / 2);
  const Cycle before = bench.platform.now();
  static_cast<void>(bench.host->load_config(bench.host->devices()[bench.device_of(0)].id, 0, 4));
  EXPECT_LT(bench.platform.now() - before, kFar / 2);
  bench.host->pass(4 * kFar);
  HostBridge::Answer answer;
  for (const HostBridge::Ticket ticket : loads) EXPECT_TRUE(bridge.take(ticket, answer));
}

TEST(InboundFaults, ADamagedWriteIsDroppedAndReported) {
  GpusAndHost bench;
  const GpusAndHost::Video v = bench.video(4096);
  const unsigned port = bench.platform.pcie()->port_of_gpu(0);
  bool damage = true;
  bench.platform.pcie()->root().inject([&](unsigned to, const Tlp& tlp) {
    return damage && to == port && tlp.posted() ? Injection::damage : Injection::none;
  });
  bench.host->store(v.bus, 4, 5);
  bench.host->pass(2000);
  damage = false;
  bench.host->store(v.bus + 4, 4, 6);
  EXPECT_EQ(bench.host->load(v.bus, 8), std::uint64_t{6} << 32U);
  EXPECT_EQ(AllCounters(bench.platform).total("pcie.function.endpoint.poisoned"), 1U);
  const FunctionId id = bench.host->devices()[bench.device_of(0)].id;
  EXPECT_NE(bench.host->load_config(id, 6, 2) & 0x8000U, 0U) << "detected parity error";
}

/// The peer device with a queue, whose data lies in video memory.
class InboundDma : public Inbound {
 protected:
  void SetUp() override {
    bench_.emplace(GetParam().options());
    bench_->open_video(0);
    const wl_port* const port = &bench_->host->port_of(0);
    ASSERT_EQ(wl_peer_probe(&peer_, port), WL_OK);
    ASSERT_EQ(wl_peer_start(&peer_), WL_OK);
    wl_peer_queue_options options{};
    options.order = 3;
    options.submissions = bench_->host->allocate(WL_PEER_COMMAND_BYTES << 3U);
    options.completions = bench_->host->allocate(WL_PEER_COMPLETION_BYTES << 3U);
    options.slots = slots_.data();
    ASSERT_EQ(wl_peer_queue_create(&peer_, 0, &options), WL_OK);
  }
  std::uint64_t run(const wl_peer_command& command) {
    EXPECT_EQ(wl_peer_submit(&peer_, 0, &command), WL_OK);
    EXPECT_EQ(wl_peer_ring(&peer_, 0), WL_OK);
    wl_peer_completion completion{};
    EXPECT_EQ(wl_peer_wait(&peer_, 0, 1000, &completion), WL_OK);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
    return completion.result;
  }
  std::optional<GpusAndHost> bench_;
  wl_peer peer_{};
  std::array<wl_peer_slot, 8> slots_{};
};
INSTANTIATE_TEST_SUITE_P(Ways, InboundDma, every_way(), name_of_way);

TEST_P(InboundDma, ADeviceCopiesIntoVideoMemoryAndBack) {
  const GpusAndHost::Video a = bench_->video(8192), b = bench_->video(8192);
  std::vector<std::uint8_t> bytes(8192);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  bench_->platform.write(a.address, bytes.data(), bytes.size());
  wl_peer_command c{};
  c.opcode = WL_PEER_OPCODE_COPY;
  c.source = a.bus + 13;
  c.destination = b.bus + 200;
  c.length = 7000;
  run(c);
  // The completion lies in host memory: reading through the BAR pushes the data.
  EXPECT_EQ(bench_->host->load(b.bus + 200 + 6999, 1), bytes[13 + 6999]);
  std::vector<std::uint8_t> there(8192), expected(8192);
  std::copy_n(bytes.begin() + 13, 7000, expected.begin() + 200);
  bench_->platform.read(b.address, there.data(), there.size());
  EXPECT_EQ(there, expected);
  EXPECT_EQ(bench_->platform.pcie()->root().core().iommu().fault_count(), 0U);
  EXPECT_EQ(bench_->platform.unreconciled(), std::vector<std::string>{});
}

TEST_P(InboundDma, ADeviceAddsToAWordThatAKernelAddsToAtTheSameTime) {
  const GpusAndHost::Video word = bench_->video(256);
  const auto module = module_of_body(
      "mov.u32 %r0, 20;\nLOOP: atom.add.sys.global.u64 %d1, [%a0], 3;\nsub.u32 %r0, %r0, 1;\n"
      "setp.ne.u32 %p, %r0, 0;\n@%p bra LOOP;\n",
      1);
  bench_->start({{module.get(), "k", block_of({word.address}), 2, 64}});
  wl_peer_command c{};
  c.opcode = WL_PEER_OPCODE_FETCH_ADD;
  c.destination = word.bus;
  c.length = 8;
  c.operand = 1'000'000;
  std::uint64_t last = 0;
  for (unsigned i = 0; i < 20; ++i) {
    const std::uint64_t seen = run(c);
    EXPECT_EQ(seen / 1'000'000, i);
    EXPECT_GE(seen, last);
    last = seen;
  }
  bench_->finish();
  EXPECT_EQ(bench_->host->load(word.bus, 8), 20'000'000 + 3 * 20 * 128U);
  EXPECT_EQ(AllCounters(bench_->platform).total("pcie.inbound.atomics"), 20U);
}

/// How GPU 0 reaches the memory of GPU 1 under test: by a window onto its BAR, or by the addresses that
/// buffers have there, with relaxed writes, as CUDA's peers do.
void write_and_count_in_anothers_memory(const Way& way, bool as_peers) {
  GpusAndHost bench(way.options(), {{"gpus=2"}});
  bench.open_video(bench.device_of(0), 1);
  const GpusAndHost::Video v = bench.video(8192, 1), out = bench.video(256, 1);
  const HostDevice::Bar& bar = bar_of(bench, 1);
  std::uint64_t far = v.address;
  if (as_peers) {
    bench.platform.map_bus_at(v.address, 8192, v.bus, 0);
    bench.platform.system().gpu(0).link().relax_writes();
  } else {
    far = bench.platform.map(Aperture::peer, bar.address, bar.bytes) + (v.bus - bar.address);
  }
  const auto writer = module_of_body(
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 4;\nadd.u64 %d0, %d0, %a0;\n"
      "add.u32 %r1, %r0, 1000;\nst.global.u32 [%d0], %r1;\natom.add.sys.global.u32 %r2, [%a0+4096], 1;\n"
      "atom.max.sys.global.u32 %r3, [%a0+4224], %r0;\nfence.acq_rel.sys;\n"
      "atom.cas.sys.global.b32 %r2, [%a0+4100], 0, 9;\nred.release.sys.global.add.u32 [%a0+4352], 1;\n",
      1);
  const auto reader = module_of_body(
      "LOOP: ld.acquire.sys.global.u32 %r0, [%a0+4352];\nsetp.ne.u32 %p, %r0, 64;\n@%p bra LOOP;\n"
      "mov.u32 %r3, 0;\nmov.u32 %r1, 0;\nmov.u64 %d0, %a0;\nSUM: ld.global.u32 %r2, [%d0];\n"
      "add.u32 %r3, %r3, %r2;\nadd.u64 %d0, %d0, 4;\nadd.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 64;\n"
      "@%p bra SUM;\nst.global.u32 [%a1], %r3;\n",
      2);
  bench.start({{writer.get(), "k", block_of({far}), 1, 64},
               {reader.get(), "k", block_of({v.address, out.address}), 1, 1}});
  bench.finish();
  EXPECT_EQ(bench.word_at(out.address), 64U * 1000 + 63 * 64 / 2);
  EXPECT_EQ(bench.word_at(v.address + 4096), 64U);
  EXPECT_EQ(bench.word_at(v.address + 4100), 9U);
  EXPECT_EQ(bench.word_at(v.address + 4224), 63U);
  EXPECT_EQ(bench.platform.unreconciled(), std::vector<std::string>{});
}

TEST_P(Inbound, AGpuWritesAndCountsInAnothersMemory) {
  write_and_count_in_anothers_memory(GetParam(), false);
}

TEST_P(Inbound, AGpuWritesAndCountsInAnothersMemoryAtItsOwnAddresses) {
  write_and_count_in_anothers_memory(GetParam(), true);
}

TEST(InboundPeers, RelaxedWritesDoNotWaitForEachOther) {
  constexpr unsigned kThreads = 1024;
  const auto cycles = [](bool relaxed) {
    GpusAndHost bench({}, {{"gpus=2"}});
    bench.open_video(bench.device_of(0), 1);
    const GpusAndHost::Video v = bench.video(16 * kThreads, 1);
    bench.platform.map_bus_at(v.address, 16 * kThreads, v.bus, 0);
    if (relaxed) bench.platform.system().gpu(0).link().relax_writes();
    const LaunchResult r = bench.run(
        "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 16;\nadd.u64 %d0, %d0, %a0;\n"
        "st.global.u32 [%d0], %r0;\nst.global.u32 [%d0], 7;\nst.global.u32 [%d0], %r0;\n",
        {v.address}, kThreads);
    for (unsigned i = 0; i < kThreads; ++i) EXPECT_EQ(bench.word_at(v.address + 16 * i), i);
    const AllCounters counters(bench.platform);
    EXPECT_EQ(counters.total("pcie.inbound.held_writes") == 0, relaxed);
    EXPECT_EQ(bench.platform.unreconciled(), std::vector<std::string>{});
    // Its owner gives it back: it is gone for both.
    EXPECT_TRUE(bench.platform.free(v.address));
    EXPECT_FALSE(bench.platform.physical_of(v.address, 0) || bench.platform.physical_of(v.address, 1));
    EXPECT_EQ(bench.platform.allocate("", 256, Aperture::vidmem, 1), v.address);
    return r.cycles;
  };
  EXPECT_LT(cycles(true), cycles(false));
}

/// What the host has under way behind the GPU keeps no L1 from being invalidated for the next grid.
TEST_P(Inbound, AGridThatStartsBehindPostedWritesReadsNoStaleLine) {
  GpusAndHost bench(GetParam().options());
  const GpusAndHost::Video v = bench.video(8192), out = bench.video(256);
  const auto read = [&] {
    bench.run("ld.global.ca.u32 %r0, [%a0];\nst.global.u32 [%a1], %r0;\n", {v.address, out.address});
    return bench.word_at(out.address);
  };
  EXPECT_EQ(read(), 0U);
  bench.host->store(v.bus, 4, 41);
  EXPECT_EQ(bench.host->load(v.bus, 4), 41U) << "it has arrived";
  for (unsigned i = 0; i < 64; ++i) bench.host->store(v.bus + 4096 + 4 * i, 4, i);
  EXPECT_EQ(read(), 41U);
}

}  // namespace inbound_test
}  // namespace warpline::test
