// The modules of the examples with a checker of the base protocol on every socket: what users copy from must
// keep to it. One simulation per process.
#include <gtest/gtest.h>

#include "platform/config/load_gpu.h"
#include "platform/programs/generators/generator.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "sw/examples/custom_dram/my_dram.h"
#include "sw/examples/custom_l2/my_l2.h"
#include "sw/examples/embed/bus.h"
#include "sw/examples/embed/ram.h"
#include "sw/examples/embed/software.h"
#include "sw/examples/embed/traffic.h"
#include "sw/examples/lt_processor/dma.h"
#include "sw/examples/lt_processor/processor.h"
#include "sw/examples/shader_core/core.h"
#include "tests/support/checked_binding.h"
#include "tests/support/checked_hops.h"
#include "tests/support/kernel_run.h"

namespace warpline::test {
namespace checked_examples_test {

constexpr std::uint64_t kVideoMemory = 0x8000'0000;

MemorySubsystemOptions checked_subsystem() {
  MemorySubsystemOptions options{"mini", {"sms=1"}, 1};
  options.interpose = [](const HopSite&) -> HopSockets {
    ProtocolChecker& checker = lasting_checker();
    return {&checker.from_initiator, &checker.to_target};
  };
  return options;
}

Traffic::Parameters region(std::uint64_t base, unsigned pieces, unsigned rounds) {
  Traffic::Parameters p;
  p.base = base;
  p.pieces = pieces;
  p.rounds = rounds;
  return p;
}

TEST(CheckedExamples, TheBoardKeepsToTheBaseProtocol) {
  MemorySubsystemModule gpu("gpu", checked_subsystem());
  Bus bus("bus");
  Ram ram("ram", 1U << 20U);
  Software software("software", {512 * 1024, kVideoMemory + (2U << 20U), 64 * 1024});
  Traffic network("network", region(0, 256, 1)), dma("dma", region(kVideoMemory, 1024, 1)),
      shader("shader", region(1U << 20U, 256, 4));
  bus.map(0, 1U << 20U);
  bind_checked(bus.to_targets, ram.socket);
  bus.map(kVideoMemory, gpu.video_memory_bytes());
  bind_checked(bus.to_targets, gpu.from_device(0));
  bind_checked(software.socket, bus.from_initiators).let_address_change();
  bind_checked(network.socket, bus.from_initiators).let_address_change();
  bind_checked(dma.socket, bus.from_initiators).let_address_change();
  bind_checked(shader.socket, gpu.from_sm(0));
  gpu.set_loose(true);
  software.when_booted = [&] {
    gpu.set_loose(false);
    for (Traffic* t : {&network, &dma, &shader}) t->start();
  };
  sc_core::sc_start();
  EXPECT_GT(software.calls, 0U);
  EXPECT_EQ(software.wrong, 0U);
  for (const Traffic* t : {&network, &dma, &shader}) {
    EXPECT_TRUE(t->done()) << t->name();
    EXPECT_EQ(t->wrong + t->refused, 0U) << t->name();
  }
  EXPECT_TRUE(gpu.idle());
}

TEST(CheckedExamples, ATimedEngineKeepsToItBesideALooselyTimedProcessor) {
  MemorySubsystemOptions options = checked_subsystem();
  options.settings = {"sms=2"};
  options.devices = 2;
  MemorySubsystemModule gpu("gpu", options);
  Processor cpu("cpu", [](Processor& p) {
    Doorbell doorbell{4096, 8192, 1024, Doorbell::ring};
    std::array<std::uint8_t, 128> line{};
    line.fill(7);
    for (unsigned at = 0; at < 1024; at += 128) p.write(4096 + at, line.data(), 128);
    p.write(0, &doorbell, sizeof doorbell);
    for (; doorbell.state != Doorbell::idle; p.work(100)) p.read(0, &doorbell, sizeof doorbell);
    p.read(8192 + 896, line.data(), 128);
    EXPECT_EQ(line[127], 7);
    doorbell.state = Doorbell::stop;
    p.write(0, &doorbell, sizeof doorbell);
  });
  Dma dma("dma", 0);
  ShaderCore plain("plain", {1, 0x10000, 0x20000, 64}, {}),
      wide("wide", {1, 0x30000, 0x40000, 64}, {32, {}, {}});
  bind_checked(cpu.socket, gpu.from_device(0));
  bind_checked(dma.socket, gpu.from_device(1));
  bind_checked(plain.socket, gpu.from_sm(0));
  bind_checked(wide.socket, gpu.from_sm(1));
  sc_core::sc_start();
  EXPECT_TRUE(cpu.done && dma.stopped);
  EXPECT_EQ(dma.copied, 1024U);
  EXPECT_EQ(cpu.refused + dma.refused + plain.refused + wide.refused, 0U);
  EXPECT_EQ(plain.finished + wide.finished, 128U);
  EXPECT_TRUE(gpu.idle());
}

class CheckedSlices : public ::testing::TestWithParam<const char*> {};

TEST_P(CheckedSlices, OfOnesOwnKeepToTheBaseProtocol) {
  const GpuConfig config = load_gpu("mini", {}).value();
  std::vector<std::unique_ptr<MyL2>> slices;
  CheckedHops hops;
  const auto backend = checked_backend(config, hops);
  backend->replace_slices([&slices](const SliceSite& site) {
    MyL2::Parameters p;
    p.slices = site.slices;
    p.memory_channels = site.dram_channels;
    p.memory = site.vidmem;
    p.memory_bytes = site.vidmem_bytes;
    MyL2& slice = *slices.emplace_back(std::make_unique<MyL2>(site.name.c_str(), p));
    SliceSockets sockets;
    sockets.from_crossbar = &slice.from_crossbar;
    for (const auto& socket : slice.to_memory) sockets.to_dram.push_back(socket.get());
    return sockets;
  });
  const KernelRun run = run_kernel(GetParam(), config, backend);
  EXPECT_EQ(run.end.outcome, RunOutcome::quiescent);
  EXPECT_GT(run.end.checks, 0U);
  EXPECT_EQ(run.end.failed_checks, 0U);
  EXPECT_GT(hops.timed(), 100U);
  hops.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Kernels, CheckedSlices, ::testing::Values("vecadd", "histogram", "transpose"));

/// Channels of one's own below a GPU's L2: the only bytes that video memory has.
struct OwnDram {
  DramMaker maker() {
    return [this](const DramSite& site) {
      MyDram::Parameters p;
      p.inputs = site.inputs;
      MyDram& channel = *channels.emplace_back(std::make_unique<MyDram>(site.name.c_str(), p));
      DramSockets sockets;
      for (const auto& socket : channel.from_l2) sockets.from_l2.push_back(socket.get());
      sockets.keeps_bytes = true;
      return sockets;
    };
  }
  [[nodiscard]] MyDram::Counters counters() const {
    MyDram::Counters all;
    for (const auto& channel : channels) {
      all.reads += channel->counters().reads;
      all.writes += channel->counters().writes;
      all.looks += channel->counters().looks;
    }
    return all;
  }
  std::vector<std::unique_ptr<MyDram>> channels;
};

class CheckedDram : public ::testing::TestWithParam<const char*> {};

/// Whatever else a GPU may be, here its L2 is so small that it comes to memory for much more than once.
TEST_P(CheckedDram, OfOnesOwnKeepsKernelsRight) {
  const GpuConfig config = load_gpu("mini", {{"l2.sets=16"}}).value();
  OwnDram dram;
  CheckedHops hops;
  const auto backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct);
  backend->replace_dram(dram.maker());
  backend->interpose([checked = hops.interposer()](const HopSite& site) -> HopSockets {
    return site.matches("dram[*") ? checked(site) : HopSockets{};
  });
  const KernelRun run = run_kernel(GetParam(), config, backend);
  EXPECT_EQ(run.end.outcome, RunOutcome::quiescent);
  EXPECT_GT(run.end.checks, 0U);
  EXPECT_EQ(run.end.failed_checks, 0U);
  EXPECT_EQ(run.unreconciled, std::vector<std::string>{});
  const MyDram::Counters c = dram.counters();
  EXPECT_GT(c.reads, 0U);
  EXPECT_GT(c.looks, c.reads) << "bytes come from there, and from hosts";
  EXPECT_EQ(c.reads + c.writes, hops.timed());
  hops.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Kernels, CheckedDram,
                         ::testing::Values("vecadd", "matmul", "histogram", "reduce", "spmv", "stencil",
                                           "transpose", "hints", "pipeline", "texture"));

/// A second grid finds in L2 what the first has fetched: then no cycle of it is DRAM's.
TEST(OwnDramBelowL2, LeavesTheTimeOfTheRestAsItIs) {
  const GpuConfig config = load_gpu("mini", {}).value();
  OwnDram dram;
  const auto second_grid = [&config](std::shared_ptr<NetlistBackend> backend) {
    RunOptions options;
    options.backend = std::move(backend);
    options.tags_only = true;
    GpuPlatform gpu(config, options);
    GeneratorParameters stream;
    stream.kind = "stream";
    stream.footprint = 16384;
    stream.base = gpu.allocate("data", stream.footprint);
    stream.block = Dim3{128, 1, 1};
    stream.grid = Dim3{4, 1, 1};
    gpu.launch(*make_generator(stream));
    return gpu.launch(*make_generator(stream)).cycles;
  };
  const auto backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct);
  backend->replace_dram(dram.maker());
  const Cycle with_ours = second_grid(nullptr), with_own = second_grid(backend);
  EXPECT_GT(dram.counters().reads, 0U);
  EXPECT_EQ(with_own, with_ours);
}

}  // namespace checked_examples_test
}  // namespace warpline::test
