// Hardware of somebody else's in single hops of a GPU, on wires. One simulation per process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "platform/machine/netlist.h"
#include "platform/observe/watcher.h"
#include "platform/programs/generators/generator.h"
#include "platform/systemc/gpu_system_module.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/tlm/pins/pin_through.h"
#include "tests/platform/machine/harness.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/rtl_models/tlm/pins/pin_hardware.h"
#include "tests/support/kernel_run.h"
#include "tests/support/monitor.h"

namespace warpline::test {
namespace open_hops_test {

using test::preset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GpuConfig config() {
  return preset("mini", {{"sms=2"}, {"l2.slices=3"}, {"dram.channels=5"}, {"clocks.l2=1111"}});
}

std::shared_ptr<SystemCBackend> backend(const GpuConfig& gpu = config(), std::vector<std::string> pins = {}) {
  return std::make_shared<SystemCBackend>(gpu.clocks, HopTransport::direct, TickMode::lazy, 1,
                                          std::move(pins));
}

/// What stands in hops: as many registers in a row per direction as wanted; none: the wires go through.
struct Hardware {
  struct InHop {
    std::string name;
    std::deque<PinThrough> through;
    std::deque<SkidBuffer> registers;
  };
  [[nodiscard]] HardwareMaker pass() {
    return [this](const HopSite& site, PinWires& from, PinWires& to) {
      InHop& h = in_hop(site);
      h.through.emplace_back((site.module_name + "_down").c_str(), from.request, to.request);
      h.through.emplace_back((site.module_name + "_up").c_str(), to.response, from.response);
    };
  }
  [[nodiscard]] HardwareMaker slice(bool up = true) {
    return [this, up](const HopSite& site, PinWires& from, PinWires& to) {
      InHop& h = in_hop(site);
      h.registers.emplace_back((site.module_name + "_down").c_str(), from.request, to.request);
      if (up) {
        h.registers.emplace_back((site.module_name + "_up").c_str(), to.response, from.response);
      } else {
        h.through.emplace_back((site.module_name + "_up").c_str(), to.response, from.response);
      }
    };
  }
  InHop& in_hop(const HopSite& site) {
    InHop& h = hops.emplace_back();
    h.name = site.name;
    return h;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const InHop& h : hops) all.push_back(h.name);
    return all;
  }
  std::deque<InHop> hops;
};

TEST(OpenHops, WiresThatGoThroughHardwareInAnyHopChangeNoCycleAndNoCounter) {
  const KernelRun plain = run_kernel("reduce", config(), nullptr);
  Hardware hardware;
  const auto systemc = backend();
  systemc->open_hops("*", hardware.pass());
  const KernelRun opened = run_kernel("reduce", config(), systemc);
  EXPECT_EQ(opened.end.outcome, RunOutcome::quiescent);
  EXPECT_GT(opened.end.checks, 0U);
  EXPECT_EQ(opened.end.failed_checks, 0U);
  EXPECT_EQ(opened.cycles, plain.cycles);
  EXPECT_EQ(opened.counters, plain.counters);
  Engine engine;
  Netlist netlist(config(), engine, nullptr, nullptr);
  std::size_t hops = 0;
  netlist.for_each_hop([&hops](const Hop&) { ++hops; });
  EXPECT_EQ(hardware.hops.size(), hops);
}

TEST(OpenHops, OneHopIsOpenedAndNoOtherNotices) {
  const KernelRun plain = run_kernel("transpose", config(), nullptr);
  Hardware hardware;
  std::deque<Monitor> monitors;
  const auto systemc = backend(config(), {"dram[0].from_l2"});
  systemc->open_hops("crossbar.to_l2[1]", hardware.pass());
  systemc->interpose([&monitors](const HopSite& site) -> HopSockets {
    if (!site.matches("l2[2].from_crossbar")) return {};
    Monitor& m = monitors.emplace_back(site.module_name.c_str());
    return {&m.from_initiator, &m.to_target};
  });
  const KernelRun opened = run_kernel("transpose", config(), systemc);
  EXPECT_EQ(opened.cycles, plain.cycles);
  EXPECT_EQ(opened.counters, plain.counters);
  EXPECT_THAT(hardware.names(), ElementsAre("l2[1].from_crossbar"));
  std::vector<std::string> wires;
  for (const PinWires* p : systemc->module().pins().wires()) wires.push_back(p->hop());
  EXPECT_THAT(wires, ::testing::UnorderedElementsAre("dram[0].from_l2", "l2[1].from_crossbar.near",
                                                     "l2[1].from_crossbar.far"));
  EXPECT_GT(monitors.front().requests, 0U);
}

/// Cycles of a chain of dependent loads.
Cycle chase(const GpuConfig& config, const std::shared_ptr<SystemCBackend>& systemc, std::uint64_t accesses) {
  RunOptions options;
  options.backend = systemc;
  options.tags_only = true;
  GpuPlatform gpu(config, options);
  GeneratorParameters p;
  p.kind = "chase";
  p.footprint = 64 * 1024;
  p.stride = 128;
  p.accesses = accesses;
  p.base = gpu.allocate("chain", p.footprint);
  p.block = Dim3{32, 1, 1};
  p.grid = Dim3{1, 1, 1};
  const LaunchResult r = gpu.launch(*make_generator(p));
  EXPECT_EQ(r.outcome, RunOutcome::quiescent);
  EXPECT_THAT(gpu.unreconciled(), IsEmpty());
  return r.cycles;
}

class Slice : public ::testing::TestWithParam<std::tuple<bool, std::uint64_t>> {};
INSTANTIATE_TEST_SUITE_P(OpenHops, Slice, ::testing::Combine(::testing::Bool(), ::testing::Values(1, 300)));

TEST_P(Slice, OfRegistersCostsACycleADirectionOfEveryRoundTrip) {
  const auto [both_ways, accesses] = GetParam();
  const GpuConfig one_clock = preset("mini", {"sms=1"});
  const Cycle plain = chase(one_clock, nullptr, accesses);
  Hardware hardware;
  const auto systemc = backend(one_clock);
  systemc->open_hops("sm[0].l1_lg.from_sm", hardware.slice(both_ways));
  EXPECT_EQ(chase(one_clock, systemc, accesses), plain + (both_ways ? 2 : 1) * accesses);
}

TEST(OpenHops, KernelsAreRightWithRegistersInEveryHop) {
  const KernelRun plain = run_kernel("histogram", config(), nullptr);
  Hardware hardware;
  const auto systemc = backend();
  systemc->open_hops("*", hardware.slice());
  const KernelRun sliced = run_kernel("histogram", config(), systemc);
  EXPECT_EQ(sliced.end.outcome, RunOutcome::quiescent);
  EXPECT_GT(sliced.end.checks, 0U);
  EXPECT_EQ(sliced.end.failed_checks, 0U) << "atomics included";
  EXPECT_THAT(sliced.unreconciled, IsEmpty());
  EXPECT_NE(sliced.cycles.front(), plain.cycles.front()) << "the registers take time";
}

TEST(OpenHops, OfOneGpuOfTwo) {
  const GpuConfig two = preset("mini", {{"gpus=2"}, {"sms=1"}});
  const KernelRun plain = run_kernel("vecadd", two, nullptr);
  Hardware hardware;
  const auto systemc = backend(two);
  systemc->open_hops("gpu[1].l2[*].from_crossbar", hardware.pass());
  const KernelRun opened = run_kernel("vecadd", two, systemc);
  EXPECT_EQ(opened.cycles, plain.cycles);
  EXPECT_EQ(opened.counters, plain.counters);
  ASSERT_EQ(hardware.hops.size(), two.l2.slices);
  EXPECT_EQ(hardware.hops.front().name, "gpu[1].l2[0].from_crossbar");
}

TEST(OpenHops, WhatCannotBeIsRefusedByName) {
  Monitor monitor("monitor");
  Hardware hardware;
  const auto message = [&](std::vector<HopOpening> openings, bool monitored = false) -> std::string {
    const auto systemc = backend();
    for (HopOpening& o : openings) systemc->open_hops(o.pattern, std::move(o.make));
    if (monitored)
      systemc->interpose([&monitor](const HopSite& site) {
        return site.name == "l2[2].from_crossbar" ? HopSockets{&monitor.from_initiator, &monitor.to_target}
                                                  : HopSockets{};
      });
    RunOptions options;
    options.backend = systemc;
    GpuPlatform gpu(config(), options);
    try {
      gpu.build();
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  const std::string unknown = message({{"l2[3].from_crosbar", hardware.pass()}});
  EXPECT_THAT(unknown, HasSubstr("open_hops: error: \"l2[3].from_crosbar\" matches no hop of mini"));
  EXPECT_THAT(unknown, HasSubstr("from_crossbar\"?"));
  EXPECT_EQ(message({{"l2[2].from_crossbar", hardware.pass()}}, true),
            "l2[2].from_crossbar: a hop is opened as pins or has a module put into it, not both");
  EXPECT_EQ(message({{"l2[1].*", hardware.pass()}, {"crossbar.to_l2[?]", hardware.pass()}}),
            "l2[1].from_crossbar: a hop is opened for hardware once, and both \"l2[1].*\" and "
            "\"crossbar.to_l2[?]\" fit it");
  EXPECT_EQ(message({{"l2[1].from_crossbar", nullptr}}),
            "l2[1].from_crossbar: \"l2[1].from_crossbar\" opens this hop, and there is nothing that makes "
            "hardware for it");
}

TEST(OpenHops, LooseTimeIsRefusedByTheNameOfAHop) {
  Hardware hardware;
  const auto systemc = backend();
  systemc->open_hops("dram[1]*", hardware.pass());
  static std::vector<std::string> reports;
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions&) {
    if (r.get_severity() == sc_core::SC_ERROR) reports.emplace_back(r.get_msg());
  });
  const KernelRun refused = run_kernel("vecadd", config(), systemc, true);
  EXPECT_THAT(reports, ElementsAre("engine: set_loose(true), and hardware is on the wires of "
                                   "dram[1].from_l2, which takes timed requests only"));
  EXPECT_EQ(refused.end.failed_checks, 0U);
  EXPECT_EQ(refused.cycles, run_kernel("vecadd", config(), nullptr).cycles) << "it runs timed";
}

TEST(OpenHops, WavesShowTheWiresAtBothEnds) {
  const std::string file = ::testing::TempDir() + "open_hops." + std::to_string(::getpid()) + ".vcd";
  Hardware hardware;
  const auto systemc = backend();
  systemc->open_hops("l2[1].from_crossbar", hardware.slice());
  RunOptions options;
  options.backend = systemc;
  GpuPlatform gpu(config(), options);
  gpu.map_everything();
  WatchOptions wanted;
  wanted.wave = file;
  wanted.probes = {"l2[1].from_crossbar"};
  Watcher& watcher = gpu.attach(make_watcher(gpu, wanted));
  EXPECT_THAT(watcher.start(), IsEmpty());
  GeneratorParameters p;
  p.kind = "stream";
  p.footprint = 4096;
  p.base = 0x7F0000000000ULL;
  p.block = Dim3{32, 1, 1};
  p.grid = Dim3{1, 1, 1};
  EXPECT_EQ(gpu.launch(*make_generator(p)).outcome, RunOutcome::quiescent);
  EXPECT_THAT(watcher.finish(), IsEmpty());
  std::ifstream in(file);
  const std::string vcd{std::istreambuf_iterator<char>(in), {}};
  std::remove(file.c_str());
  EXPECT_THAT(vcd, HasSubstr(" near "));
  EXPECT_THAT(vcd, HasSubstr(" far "));
}

TEST(OpenHops, WithinAMemorySubsystem) {
  const auto accesses = [] {
    std::vector<Access> all;
    for (unsigned i = 0; i < 100; ++i) {
      Access a;
      a.address = std::uint64_t{i} * 37 % 50 * 128;
      a.command = i % 2 == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
      a.data.assign(32, static_cast<std::uint8_t>(i));
      all.push_back(a);
    }
    return all;
  };
  Hardware hardware;
  MemorySubsystemOptions options{"mini", {"sms=1", "l2.slices=2", "dram.channels=2"}};
  MemorySubsystemModule plain("plain", options);
  options.open_hops = {{"l2[*].from_crossbar", hardware.pass()}, {"dram[0].*", hardware.pass()}};
  MemorySubsystemModule opened("opened", options);
  ForeignInitiator one("one", accesses(), {}), other("other", accesses(), {});
  one.socket.bind(plain.from_sm(0));
  other.socket.bind(opened.from_sm(0));
  sc_core::sc_start(sc_core::sc_time(50, sc_core::SC_US));
  EXPECT_EQ(plain.counters(), opened.counters());
  EXPECT_THAT(opened.waits(), IsEmpty());
  for (std::size_t i = 0; i < one.accesses.size(); ++i) {
    EXPECT_TRUE(other.accesses[i].answered);
    EXPECT_EQ(one.accesses[i].data, other.accesses[i].data) << i;
  }
  EXPECT_THAT(hardware.names(),
              ElementsAre("l2[0].from_crossbar", "dram[0].from_l2[0]", "l2[1].from_crossbar"));
  EXPECT_TRUE(opened.idle());
}

TEST(OpenHops, AMemorySubsystemSaysWhichHopsThereAre) {
  MemorySubsystemOptions options{"mini", {"sms=1", "l2.slices=1", "dram.channels=1"}};
  options.open_hops = {{"l3*", Hardware{}.pass()}};
  try {
    MemorySubsystemModule gpu("gpu", options);
    ADD_FAILURE();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("open_hops: error: \"l3*\" matches no hop of mini"));
    EXPECT_THAT(e.what(), HasSubstr("hops are crossbar.from_client[0], l2[0].from_crossbar, pcie.from_l2[0], "
                                    "dram[0].from_l2[0]"));
  }
}

TEST(OpenHops, OfAGpuOnAHostsBus) {
  Hardware hardware;
  GpuSystemOptions options{"mini", {"sms=1"}};
  options.open_hops = {{"l2[0].from_crossbar", hardware.pass()}};
  GpuSystemModule card("card", options);
  EXPECT_THAT(hardware.names(), ElementsAre("l2[0].from_crossbar"));
  options.open_hops = {{"l4", hardware.pass()}};
  EXPECT_THROW(GpuSystemModule("other", options), std::invalid_argument);
}

}  // namespace open_hops_test
}  // namespace warpline::test
