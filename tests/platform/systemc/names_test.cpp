// Several of every whole machine in one simulation, with names of their user's or without: SystemC has
// nothing to complain about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/host/host_cpu_module.h"
#include "platform/systemc/gpu_system_module.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/tlm/width_adapter.h"
#include "tests/platform/machine/body_kernel.h"
#include "tests/platform/machine/harness.h"
#include "tests/rtl_models/tlm/foreign_modules.h"

namespace warpline::test {
namespace names_test {

std::vector<std::string>& reports() {
  static std::vector<std::string> all;
  return all;
}
void note(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() != sc_core::SC_INFO)
    reports().push_back(std::string(report.get_msg_type()) + ": " + report.get_msg());
  sc_core::sc_report_handler::default_handler(report, actions & ~sc_core::SC_THROW);
}

/// A GPU whose hops are opened as pins, or direct.
struct Gpu {
  explicit Gpu(const std::string& name, std::vector<std::string> pins = {}, unsigned gpus = 1)
      : config(preset("mini", {{"sms=1"}, {"gpus=" + std::to_string(gpus)}})),
        backend(std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct, TickMode::lazy, 1,
                                                 std::move(pins), name)),
        platform(config, options()) {
    platform.build();
  }
  [[nodiscard]] RunOptions options() const {
    RunOptions o;
    o.backend = backend;
    return o;
  }
  /// What a kernel has written.
  std::uint32_t run() {
    const std::uint64_t out = platform.allocate("out", 256);
    const auto module = module_of_body("mov.u32 %r0, 42;\nst.global.u32 [%a0], %r0;\n", 1);
    const auto kernel = module->make_kernel("k", {1, 1, 1}, {1, 1, 1}, 0, block_of({out}));
    EXPECT_EQ(platform.launch(*kernel).outcome, RunOutcome::quiescent);
    std::uint32_t word = 0;
    platform.read(out, &word, 4);
    return word;
  }
  GpuConfig config;
  std::shared_ptr<SystemCBackend> backend;
  GpuPlatform platform;
};

/// A module of the user's around one, as they are made in a hierarchy.
struct Board final : sc_core::sc_module {
  explicit Board(const sc_core::sc_module_name& name) : sc_module(name) {}
  Gpu first{{}}, second{{}};
};

struct Card {
  explicit Card(const char* name)
      : system(name), cpu((std::string(name) + "_cpu").c_str(), system.host_bus()) {
    cpu.to_memory().bind(system.from_cpu());
    system.to_interrupts().bind(cpu.from_interrupts());
  }
  GpuSystemModule system;
  HostCpu cpu;
};

struct Bus {
  explicit Bus(const char* name) : system(name), cpu((std::string(name) + "_cpu").c_str(), system) {
    cpu.to_memory().bind(system.from_cpu(0));
    system.to_interrupts().bind(cpu.from_interrupts());
  }
  PcieSystemModule system;
  HostCpu cpu;
};

struct Memory {
  explicit Memory(const char* name)
      : system(name, {"mini", {"sms=1"}, 0}), sm((std::string(name) + "_sm").c_str(), {}, {}) {
    sm.socket.bind(system.from_sm(0));
  }
  MemorySubsystemModule system;
  ForeignInitiator sm;
};

TEST(Names, SeveralOfEachInOneSimulationAreNoTwoOfAName) {
  sc_core::sc_report_handler::set_handler(note);
  // What its user has called as ours would be.
  ForeignInitiator idle("engine_0", {}, {});
  ForeignTarget target("target", Way::completed, sc_core::sc_time(1, sc_core::SC_NS));
  idle.socket.bind(target.socket);
  std::deque<Gpu> gpus;
  gpus.emplace_back("");
  gpus.emplace_back("");
  gpus.emplace_back("left", std::vector<std::string>{"*"});
  gpus.emplace_back("right", std::vector<std::string>{"dram*"});
  gpus.emplace_back("pair", std::vector<std::string>{}, 2);
  Board board("board");
  Card card("card"), other_card("other_card");
  Bus bus("bus"), other_bus("other_bus");
  Memory memory("memory"), other_memory("other_memory");
  const auto engine = make_engine("mine", 1000), other_engine = make_engine("mine_too", 1000);
  for (Gpu& gpu : gpus) EXPECT_EQ(gpu.run(), 42U);
  EXPECT_EQ(board.first.run(), 42U);
  EXPECT_EQ(board.second.run(), 42U);
  EXPECT_THAT(reports(), ::testing::IsEmpty());
  for (const char* name : {"engine", "gpu", "engine_1", "left", "left_engine", "left.l2_0", "right", "pair_0",
                           "pair_1", "pair_engine", "board.engine", "board.gpu", "card.gpu"})
    EXPECT_NE(sc_core::sc_find_object(name), nullptr) << name;
}

TEST(Names, ThatAUserGivesTwiceAreSystemCsToComplainAbout) {
  sc_core::sc_report_handler::set_handler(note);
  const Gpu gpu("mine"), twin("mine");
  EXPECT_THAT(reports(), ::testing::Contains(::testing::HasSubstr("mine_engine")));
}

}  // namespace names_test
}  // namespace warpline::test
