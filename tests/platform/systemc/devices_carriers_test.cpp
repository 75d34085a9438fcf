// A GPU, a host and a device, with the GPU's hops in SystemC: the same run as in plain C++.
#include <gtest/gtest.h>

#include <deque>

#include "platform/systemc/systemc_backend.h"
#include "rtl_models/pcie/gpu_link/gpu_function.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "tests/platform/host/two_devices.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/monitor.h"

namespace warpline::test {
namespace devices_carriers_test {

struct Outcome {
  Cycle cycles = 0;
  std::uint32_t sum = 0, seen = 0;
  std::map<std::string, std::uint64_t> counters;
};

/// The kernel counts in the device's memory until the host has set a flag, also there.
Outcome play(std::shared_ptr<NetlistBackend> backend) {
  RunOptions options;
  options.backend = std::move(backend);
  GpusAndHost bench(options, {{"clocks.link=700"}, {"pcie.latency=30"}});
  const GpusAndHost::Shared out = bench.share(4096);
  const auto module = module_of_body(
      "LOOP: atom.add.sys.global.u32 %r1, [%a0], 1;\nst.global.u32 [%a0+64], %r1;\nfence.sc.sys;\n"
      "ld.mmio.relaxed.sys.global.u32 %r0, [%a0+128];\nsetp.eq.u32 %p, %r0, 0;\n@%p bra LOOP;\n"
      "st.global.u32 [%a1], %r1;\n",
      2);
  bench.start({{module.get(), "k", block_of({bench.buffer, out.address})}});
  bench.host->pass(5000);
  bench.host->store(bench.host->devices()[0].bars[QueueDeviceCore::kBufferBar].address + 128, 4, 1);
  Outcome o;
  o.cycles = bench.finish().cycles;
  o.sum = bench.buffer_word(0);
  o.seen = out.word(0);
  o.counters = AllCounters(bench.platform).values();
  return o;
}

/// A kernel counts in its own memory while the host and the device write, read and count there.
Outcome play_inbound(std::shared_ptr<NetlistBackend> backend) {
  RunOptions options;
  options.backend = std::move(backend);
  GpusAndHost bench(options, {{"clocks.link=700"}, {"pcie.latency=30"}});
  const GpusAndHost::Video v = bench.video(8192);
  const auto module = module_of_body(
      "LOOP: atom.add.sys.global.u32 %r1, [%a0], 1;\nld.volatile.global.u32 %r0, [%a0+128];\n"
      "setp.eq.u32 %p, %r0, 0;\n@%p bra LOOP;\nst.global.u32 [%a0+4], %r1;\n",
      1);
  bench.start({{module.get(), "k", block_of({v.address})}});
  Outcome o;
  for (unsigned i = 0; i < 60; ++i) {
    bench.host->store(v.bus + 512 + 36 * i, 8, 0x0101010101010101 * i);
    o.seen += static_cast<std::uint32_t>(bench.host->load(v.bus + 512 + 36 * (i / 2), 4));
  }
  bench.host->store(v.bus + 128, 4, 1);
  o.cycles = bench.finish().cycles;
  o.sum = static_cast<std::uint32_t>(bench.host->load(v.bus + 4, 4)) + 1;
  EXPECT_EQ(bench.word_at(v.address), o.sum);
  o.counters = AllCounters(bench.platform).values();
  return o;
}

using Play = Outcome (*)(std::shared_ptr<NetlistBackend>);

void expect_law(std::shared_ptr<NetlistBackend> backend, Play how) {
  const Outcome plain = how(nullptr);
  EXPECT_GT(plain.sum, 3U);
  const Outcome carried = how(std::move(backend));
  EXPECT_EQ(plain.cycles, carried.cycles);
  EXPECT_EQ(plain.sum, carried.sum);
  EXPECT_EQ(plain.seen, carried.seen);
  EXPECT_EQ(plain.counters, carried.counters);
}

std::shared_ptr<NetlistBackend> in_systemc(HopTransport transport,
                                           const std::vector<std::string>& pins = {}) {
  const GpuConfig config = preset("mini", {{"clocks.link=700"}});
  return std::make_shared<SystemCBackend>(config.clocks, transport, TickMode::lazy, 1, pins);
}

TEST(DevicesInSystemC, AreReachedAsInPlainCpp) {
  expect_law(in_systemc(HopTransport::direct), play);
}

TEST(DevicesInSystemC, AreReachedTheSameOverSockets) {
  expect_law(in_systemc(HopTransport::socket), play);
}

TEST(DevicesInSystemC, ReachVideoMemoryAsInPlainCpp) {
  expect_law(in_systemc(HopTransport::direct), play_inbound);
}

TEST(DevicesInSystemC, ReachVideoMemoryTheSameOverSockets) {
  expect_law(in_systemc(HopTransport::socket), play_inbound);
}

TEST(DevicesInSystemC, ReachVideoMemoryTheSameOverPins) {
  expect_law(in_systemc(HopTransport::direct, {"pcie.to_crossbar"}), play_inbound);
}

TEST(DevicesInSystemC, AreReachedTheSameOverPinsOfEveryHop) {
  expect_law(in_systemc(HopTransport::direct, {"*"}), play);
}

TEST(DevicesInSystemC, ReachVideoMemoryTheSameOverPinsOfEveryHop) {
  expect_law(in_systemc(HopTransport::socket, {"*"}), play_inbound);
}

/// The host lets little time pass at once, while grids run and between them, and looks at what it can see.
Outcome play_in_steps(std::shared_ptr<NetlistBackend> backend) {
  RunOptions options;
  options.backend = std::move(backend);
  GpusAndHost bench(options, {{"clocks.link=700"}, {"pcie.latency=30"}});
  const GpusAndHost::Shared flags = bench.share(4096);
  const auto module = module_of_body(
      "LOOP: ld.relaxed.sys.global.u32 %r0, [%a0];\nsetp.eq.u32 %p, %r0, 0;\n@%p bra LOOP;\n"
      "atom.add.sys.global.u32 %r1, [%a0+128], 1;\nst.release.sys.global.u32 [%a0+256], %r0;\n",
      1);
  Outcome o;
  for (unsigned grid = 1; grid <= 3; ++grid) {
    bench.start({{module.get(), "k", block_of({flags.address})}});
    for (unsigned i = 0; i < 40; ++i) bench.host->pass(1 + 7 * i);
    o.seen += flags.word(32);
    const std::uint32_t value = grid;
    std::memcpy(flags.bytes, &value, sizeof value);
    while (flags.word(64) != grid && bench.host->now() < 200000) bench.host->pass(13);
    o.sum += static_cast<std::uint32_t>(bench.host->now());
    o.cycles += bench.finish().cycles;
    std::memset(flags.bytes, 0, 4);
    bench.host->pass(grid * 1000);
  }
  o.counters = AllCounters(bench.platform).values();
  return o;
}

TEST(DevicesInSystemC, SeeTheSameTimeOverPinsOfEveryHop) {
  expect_law(in_systemc(HopTransport::direct, {"*"}), play_in_steps);
}

TEST(DevicesInSystemC, SeeTheSameTimeWithAMonitorInEveryHop) {
  std::deque<Monitor> monitors;
  const auto backend =
      std::make_shared<SystemCBackend>(preset("mini", {{"clocks.link=700"}}).clocks, HopTransport::direct);
  backend->interpose([&monitors](const HopSite& site) -> HopSockets {
    Monitor& m = monitors.emplace_back(site.module_name.c_str());
    return {&m.from_initiator, &m.to_target};
  });
  expect_law(backend, play_in_steps);
}

TEST(DevicesInSystemC, WaitForForeignMemoryThatTakesItsTime) {
  // Nothing of ours has anything to do meanwhile.
  std::deque<ForeignTarget> channels;
  const auto backend = in_systemc(HopTransport::direct);
  static_cast<SystemCBackend&>(*backend).replace_dram([&channels](const DramSite& site) {
    DramSockets sockets;
    for (unsigned i = 0; i < site.inputs; ++i)
      sockets.from_l2.push_back(&channels
                                     .emplace_back((site.name + "_" + std::to_string(i)).c_str(), Way::called,
                                                   sc_core::sc_time(5, sc_core::SC_US))
                                     .socket);
    return sockets;
  });
  const Outcome slow = play_inbound(backend);
  EXPECT_GT(slow.cycles, 5000U);
  EXPECT_GT(slow.sum, 3U);
}

TEST(DevicesInSystemC, HearThatAForeignSliceRefuses) {
  std::deque<test::ForeignTarget> slices;
  const auto backend = std::make_shared<SystemCBackend>(preset("mini").clocks, HopTransport::socket);
  backend->replace_slices([&slices](const SliceSite& site) {
    SliceSockets sockets;
    sockets.from_crossbar =
        &slices
             .emplace_back(site.name.c_str(), test::Way::nothing_there, sc_core::sc_time(30, sc_core::SC_NS))
             .socket;
    return sockets;
  });
  RunOptions options;
  options.backend = backend;
  GpusAndHost bench(options);
  const HostDevice& gpu = bench.host->devices()[bench.device_of(0)];
  const std::uint64_t bus = gpu.bars[GpuFunction::kMemoryBar].address;
  constexpr unsigned kStatus = 6, kSentAbort = 1U << 11U;
  bench.host->store(bus, 4, 1);
  bench.host->pass(5000);
  EXPECT_NE(bench.host->load_config(gpu.id, kStatus, 2) & kSentAbort, 0U) << "nobody else hears of a write";
  EXPECT_EQ(bench.host->load(bus, 4), 0xFFFF'FFFFU);
  EXPECT_EQ(bench.host->outcome(), TlpOutcome::completer_abort);
  EXPECT_EQ(AllCounters(bench.platform).total("pcie.function.endpoint.aborted"), 2U);
}

/// As in plain C++, to the cycle.
void expect_flushes(HopTransport transport) {
  const GpuConfig config = preset("mini");
  const ToTwoDevices plain = write_to_two_devices("fence.acq_rel.sys;\n", {});
  RunOptions options;
  options.backend = std::make_shared<SystemCBackend>(config.clocks, transport);
  const ToTwoDevices carried = write_to_two_devices("fence.acq_rel.sys;\n", options);
  EXPECT_FALSE(carried.overtaken);
  EXPECT_EQ(carried.flushes, (std::array<std::uint64_t, 2>{1, 1}));
  EXPECT_EQ(carried.cycles, plain.cycles);
}

TEST(DevicesInSystemC, AFenceWaitsForEachDevice) {
  expect_flushes(HopTransport::direct);
}

TEST(DevicesInSystemC, AFenceWaitsForEachDeviceOverSockets) {
  expect_flushes(HopTransport::socket);
}

}  // namespace devices_carriers_test
}  // namespace warpline::test
