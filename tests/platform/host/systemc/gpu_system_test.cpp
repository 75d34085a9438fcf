// A whole GPU on the bus of somebody else's machine.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <stdexcept>

#include "platform/config/load_gpu.h"
#include "platform/host/host_cpu_module.h"
#include "platform/machine/pcie_system.h"
#include "platform/systemc/gpu_system_module.h"
#include "rtl_models/pcie/gpu_link/gpu_function.h"
#include "tests/platform/machine/body_kernel.h"
#include "tests/support/monitor.h"

namespace warpline {
namespace gpu_system_test {

struct Master final : sc_core::sc_module {
  explicit Master(const sc_core::sc_module_name& name) : sc_module(name) {}
  tlm_utils::simple_initiator_socket<Master, 64> out{"out"};
};

/// A card, a processor that boots it, and another master of the bus.
struct Machine {
  explicit Machine(bool loose = false, const GpuSystemOptions& options = {"mini", {}, 2})
      : card("card", options) {
    cpu.to_memory().bind(card.from_cpu(0));
    master.out.bind(card.from_cpu(1));
    card.to_interrupts().bind(cpu.from_interrupts());
    card.set_loose(loose);
  }
  /// Runs software, one function a thread, to its end or for 100 simulated milliseconds.
  void run(const std::vector<std::function<void(HostCpu&)>>& functions) {
    for (const auto& f : functions) cpu.add_thread(f);
    sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_MS));
    EXPECT_TRUE(card.host_bus().idle());
  }
  LaunchResult launch(const std::string& body, const std::vector<std::uint64_t>& parameters,
                      unsigned threads = 1) {
    modules.push_back(test::module_of_body(body, parameters.size()));
    const auto kernel =
        modules.back()->make_kernel("k", {1, 1, 1}, {threads, 1, 1}, 0, test::block_of(parameters));
    return card.platform().launch(*kernel);
  }
  /// Memory of the host, as its software and as kernels see it.
  std::uint32_t* share(std::uint64_t& address) {
    auto* const words = static_cast<std::uint32_t*>(cpu.allocate(4096, 4096));
    address = card.platform().map(Aperture::sysmem, *cpu.physical(words, 4096), 4096);
    return words;
  }
  [[nodiscard]] std::uint64_t video_bar() { return cpu.devices()[1].bars[GpuFunction::kMemoryBar].address; }

  GpuSystemModule card;
  HostCpu cpu{"cpu", card.host_bus()};
  Master master{"master"};
  std::vector<std::unique_ptr<ptx::Module>> modules;
};

/// A store loop over 32 words of video memory.
constexpr const char* kStores = R"(
    mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0;
    ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;)";

class GpuSystem : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Time, GpuSystem, testing::Bool(),
                         [](const auto& way) { return way.param ? "loose" : "timed"; });

TEST_P(GpuSystem, SoftwareFindsDeviceAndGpuAndExchangesDataWithAKernel) {
  Machine m(GetParam());
  m.run({[&](HostCpu& cpu) {
    ASSERT_EQ(cpu.devices().size(), 2U) << "a queue device, and the GPU";
    EXPECT_EQ(m.card.host_bus().is_loose(), GetParam());
    std::uint64_t there = 0;
    const std::uint32_t* const words = m.share(there);
    const std::uint64_t video = m.card.platform().allocate("video", 4096);
    const std::uint64_t bus = m.video_bar() + offset_in_aperture(*m.card.platform().physical_of(video));
    for (unsigned i = 0; i < 32; ++i) cpu.store(bus + 4 * i, 4, 100 + i);
    EXPECT_EQ(cpu.load(bus, 4), 100U);
    const LaunchResult r = m.launch(R"(
        mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0; add.u64 %d2, %a1, %d0;
        ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 7; st.global.u32 [%d2], %r1; st.global.u32 [%d1], %r1;)",
                                    {video, there}, 32);
    EXPECT_EQ(r.outcome, RunOutcome::quiescent);
    EXPECT_GT(r.cycles, 0U);
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(words[i], 107 + i);
    EXPECT_EQ(cpu.load(bus + 12, 4), 110U) << "by the GPU's BAR";
  }});
  EXPECT_TRUE(m.card.platform().faults().empty());
  EXPECT_TRUE(m.card.platform().unreconciled().empty());
}

/// The kernel waits for the host's word and the host for the kernel's, each a hundred times.
TEST_P(GpuSystem, KernelAndSoftwareGoOnTogether) {
  Machine m(GetParam());
  std::uint64_t there = 0;
  std::uint32_t* words = nullptr;
  sc_core::sc_event shared;
  unsigned turns = 0;
  m.run({[&](HostCpu&) {
           words = m.share(there);
           shared.notify(sc_core::SC_ZERO_TIME);
           const LaunchResult r = m.launch(R"(
               mov.u32 %r0, 1;
             AGAIN:
               st.relaxed.sys.global.u32 [%a0], %r0;
             WAIT:
               ld.relaxed.sys.global.u32 %r1, [%a0+512];
               setp.ne.u32 %p, %r1, %r0;
               @%p bra WAIT;
               add.u32 %r0, %r0, 1;
               setp.le.u32 %p, %r0, 100;
               @%p bra AGAIN;)",
                                           {there});
           EXPECT_EQ(r.outcome, RunOutcome::quiescent);
         },
         [&](HostCpu& cpu) {
           sc_core::wait(shared);
           const std::uint64_t at = *cpu.physical(words, 4);
           for (unsigned turn = 1; turn <= 100; ++turn) {
             while (cpu.load(at, 4) != turn) {
             }
             cpu.store(at + 512, 4, turn);
             turns = turn;
           }
         }});
  EXPECT_EQ(turns, 100U);
}

TEST_P(GpuSystem, AnotherMasterOfTheBusReachesVideoMemory) {
  Machine m(GetParam());
  m.run({[&](HostCpu&) {
    const std::uint64_t video = m.card.platform().allocate("video", 4096);
    ASSERT_EQ(m.launch("mov.u32 %r0, 0x12345678; st.global.u32 [%a0], %r0;", {video}).outcome,
              RunOutcome::quiescent);
    std::uint32_t word = 0;
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(m.video_bar() + offset_in_aperture(*m.card.platform().physical_of(video)));
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_core::sc_time delay;
    m.master.out->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(word, 0x12345678U);
  }});
}

TEST(GpuSystemTime, IsThatOfThePlatformWithoutSystemC) {
  GpuPlatform plain(load_gpu("mini", {{"pcie_system.peers=1"}}).value(), {});
  const std::uint64_t there = plain.allocate("", 4096);
  const auto module = test::module_of_body(kStores, 1);
  const auto kernel = module->make_kernel("k", {1, 1, 1}, {32, 1, 1}, 0, test::block_of({there}));
  Machine m;
  m.run({[&](HostCpu&) {
    const std::uint64_t video = m.card.platform().allocate("", 4096);
    for (unsigned i = 0; i < 3; ++i)
      EXPECT_EQ(m.launch(kStores, {video}, 32).cycles, plain.launch(*kernel).cycles) << i;
  }});
}

/// Between launches the world goes on: an engine at rest must not pause a simulation that nobody asked to
/// stop.
TEST(GpuSystemTime, GoesOnBetweenLaunchesAndAfterThem) {
  Machine m;
  unsigned done = 0;
  m.run({[&](HostCpu& cpu) {
    const std::uint64_t video = m.card.platform().allocate("", 4096);
    for (unsigned i = 0; i < 3; ++i) {
      ASSERT_EQ(m.launch(kStores, {video}, 32).outcome, RunOutcome::quiescent);
      cpu.delay_ns(5000);
      ASSERT_NE(cpu.load_config(cpu.devices()[1].id, 0, 4), ~0U);
      ++done;
    }
  }});
  EXPECT_EQ(done, 3U);
}

/// What the host has posted keeps its time when a grid starts, however long nothing has moved before.
TEST_P(GpuSystem, AGridStartsBesideAPostedStoreAfterIdling) {
  Machine m(GetParam());
  m.run({[&](HostCpu& cpu) {
    const std::uint64_t video = m.card.platform().allocate("", 4096);
    ASSERT_EQ(m.launch(kStores, {video}, 32).outcome, RunOutcome::quiescent);
    cpu.delay_ns(100'000);
    cpu.store(m.video_bar() + offset_in_aperture(*m.card.platform().physical_of(video)) + 2048, 4, 7);
    EXPECT_LT(m.launch(kStores, {video}, 32).cycles, 20'000U);
    std::uint32_t word = 0;
    m.card.platform().read(video + 2048, &word, sizeof word);
    EXPECT_EQ(word, 7U);
  }});
}

/// Grids that were only started run, too, as time passes.
TEST_P(GpuSystem, WhatIsStartedRunsWhileItsThreadDoesOtherThings) {
  Machine m(GetParam());
  m.run({[&](HostCpu& cpu) {
    const std::uint64_t video = m.card.platform().allocate("", 4096);
    const auto module = test::module_of_body(kStores, 1);
    const auto kernel = module->make_kernel("k", {1, 1, 1}, {32, 1, 1}, 0, test::block_of({video}));
    m.card.platform().start({{kernel.get(), 0, true}});
    for (unsigned i = 0; i < 100 && m.card.platform().running(); ++i) cpu.delay_ns(1000);
    EXPECT_FALSE(m.card.platform().running());
    EXPECT_EQ(m.card.platform().finish().outcome, RunOutcome::quiescent);
  }});
}

/// A foreign module in a hop of the GPU, while a processor looks at video memory and a kernel runs.
TEST(GpuSystemHops, TakeForeignModules) {
  std::deque<test::Monitor> monitors;
  GpuSystemOptions options;
  options.processors = 2;
  options.interpose = [&](const HopSite& hop) -> HopSockets {
    if (!hop.matches("l2[*].from_crossbar")) return {};
    test::Monitor& monitor = monitors.emplace_back(hop.module_name.c_str());
    return {&monitor.from_initiator, &monitor.to_target};
  };
  Machine m(false, options);
  m.run({[&](HostCpu& cpu) {
    const std::uint64_t video = m.card.platform().allocate("", 4096);
    const std::uint64_t bus = m.video_bar() + offset_in_aperture(*m.card.platform().physical_of(video));
    cpu.store(bus, 4, 41);
    EXPECT_EQ(cpu.load(bus, 4), 41U);
    ASSERT_EQ(m.launch(kStores, {video}, 32).outcome, RunOutcome::quiescent);
    EXPECT_EQ(cpu.load(bus, 4), 42U);
  }});
  std::uint64_t requests = 0;
  for (const test::Monitor& monitor : monitors) requests += monitor.requests;
  EXPECT_GT(requests, 0U);
}

TEST(GpuSystemTime, IsWhatWasAskedForLastBeforeTheStart) {
  Machine m(true);
  m.card.set_loose(false);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  EXPECT_FALSE(m.card.host_bus().is_loose());
}

TEST(GpuSystemOptions, SayHowManyDevicesThereAre) {
  EXPECT_EQ(GpuSystemModule("three", {"mini", {"pcie_system.peers=3"}}).host_bus().system().peers(), 3U);
}

TEST(GpuSystemOptions, AreRefusedWithTheirFaults) {
  const auto fault_of = [](const GpuSystemOptions& options) -> std::string {
    try {
      GpuSystemModule card("card", options);
    } catch (const std::invalid_argument& fault) {
      return fault.what();
    }
    return "";
  };
  EXPECT_NE(fault_of({"nonesuch", {}}).find("nonesuch"), std::string::npos);
  EXPECT_NE(fault_of({"mini", {"l2.slcies=2"}}).find("slices"), std::string::npos);
  EXPECT_NE(fault_of({"mini", {}, 0}).find("processors"), std::string::npos);
}

TEST(GpuSystemOptions, ASocketThatIsNotThereIsNamed) {
  GpuSystemModule card("card");
  EXPECT_THROW(static_cast<void>(card.from_cpu(1)), std::out_of_range);
}

}  // namespace gpu_system_test
}  // namespace warpline
