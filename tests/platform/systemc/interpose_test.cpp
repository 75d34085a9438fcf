// Modules of somebody else's in single hops of a GPU. One simulation per process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <set>

#include "platform/machine/netlist.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/tlm/sockets.h"
#include "tests/platform/machine/harness.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/kernel_run.h"
#include "tests/support/monitor.h"

namespace warpline::test {
namespace interpose_test {

using test::preset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GpuConfig config() {
  return preset("mini", {{"sms=2"}, {"l2.slices=3"}, {"dram.channels=5"}, {"clocks.l2=1111"}});
}

std::shared_ptr<SystemCBackend> backend(std::vector<std::string> pins = {}) {
  return std::make_shared<SystemCBackend>(config().clocks, HopTransport::direct, TickMode::lazy, 1,
                                          std::move(pins));
}

/// Puts a monitor into the hops that a pattern fits.
Interposer watch(const std::string& pattern, std::deque<Monitor>& monitors) {
  return [pattern, &monitors](const HopSite& site) -> HopSockets {
    if (!site.matches(pattern)) return {};
    Monitor& m = monitors.emplace_back(site.module_name.c_str());
    return {&m.from_initiator, &m.to_target};
  };
}

/// The sockets of ours that send requests over hops that are not direct.
std::vector<std::string> indirect(const std::vector<sc_core::sc_object*>& objects) {
  std::vector<std::string> names;
  for (sc_core::sc_object* object : objects) {
    const auto* socket = dynamic_cast<InitiatorSocket*>(object);
    if (socket != nullptr && !socket->is_direct()) names.emplace_back(socket->name());
    for (std::string& name : indirect(object->get_child_objects())) names.push_back(std::move(name));
  }
  return names;
}

TEST(Interpose, AMonitorOnOneHopChangesNoCycleAndNoCounter) {
  const KernelRun plain = run_kernel("reduce", config(), nullptr);
  std::deque<Monitor> monitors;
  const auto systemc = backend();
  systemc->interpose(watch("l2[1].from_crossbar", monitors));
  const KernelRun watched = run_kernel("reduce", config(), systemc);
  EXPECT_EQ(plain.end.outcome, RunOutcome::quiescent);
  EXPECT_EQ(watched.end.outcome, RunOutcome::quiescent);
  EXPECT_EQ(watched.end.failed_checks, 0U);
  EXPECT_EQ(watched.cycles, plain.cycles);
  EXPECT_EQ(watched.counters, plain.counters);
  EXPECT_GT(plain.counters.size(), 100U);
  ASSERT_EQ(monitors.size(), 1U);
  EXPECT_STREQ(monitors[0].name(), "gpu.l2_1_from_crossbar");
  EXPECT_GT(monitors[0].requests, 10U);
  EXPECT_THAT(indirect(sc_core::sc_get_top_level_objects()), ElementsAre("gpu.crossbar.to_l2_1"));
}

TEST(Interpose, LooselyTimedRequestsPassAMonitorToo) {
  std::deque<Monitor> monitors;
  const auto systemc = backend();
  systemc->interpose(watch("*.from_sm", monitors));
  const KernelRun watched = run_kernel("histogram", config(), systemc, true);
  EXPECT_EQ(watched.end.outcome, RunOutcome::quiescent);
  EXPECT_GT(watched.end.checks, 0U);
  EXPECT_EQ(watched.end.failed_checks, 0U);
  std::uint64_t calls = 0;
  for (const Monitor& m : monitors) calls += m.calls;
  EXPECT_GT(calls, 100U);
}

/// The same with convenience sockets.
struct Convenient final : sc_core::sc_module {
  explicit Convenient(const sc_core::sc_module_name& name) : sc_module(name) {
    from.register_nb_transport_fw(this, &Convenient::forward);
    to.register_nb_transport_bw(this, &Convenient::backward);
  }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) ++requests;
    return to->nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return from->nb_transport_bw(p, phase, delay);
  }
  tlm_utils::simple_target_socket<Convenient, 256> from{"from"};
  tlm_utils::simple_initiator_socket<Convenient, 256> to{"to"};
  std::uint64_t requests = 0;
};

TEST(Interpose, ConvenienceSocketsWillDo) {
  const KernelRun plain = run_kernel("transpose", config(), nullptr);
  std::deque<Convenient> monitors;
  const auto systemc = backend();
  systemc->interpose([&monitors](const HopSite& site) -> HopSockets {
    if (!site.matches("dram[*")) return {};
    Convenient& m = monitors.emplace_back(site.module_name.c_str());
    return {&m.from, &m.to};
  });
  const KernelRun watched = run_kernel("transpose", config(), systemc);
  EXPECT_EQ(watched.cycles, plain.cycles);
  EXPECT_EQ(watched.counters, plain.counters);
  std::uint64_t requests = 0;
  for (const Convenient& m : monitors) requests += m.requests;
  EXPECT_GT(requests, 10U);
}

TEST(Interpose, EveryHopIsOfferedOnceByNameAndPinsGoOnBesideIt) {
  const KernelRun plain = run_kernel("vecadd", config(), nullptr);
  std::multiset<std::string> names, senders;
  std::deque<Monitor> monitors;
  const auto systemc = backend({"dram[0].from_l2"});
  const Interposer watches = watch("pcie.from_l2[2]", monitors);
  systemc->interpose([&](const HopSite& site) {
    names.insert(site.name);
    senders.insert(site.sender);
    return watches(site);
  });
  const KernelRun watched = run_kernel("vecadd", config(), systemc);
  EXPECT_EQ(watched.cycles, plain.cycles);
  EXPECT_EQ(watched.counters, plain.counters);
  std::multiset<std::string> expected, expected_senders;
  Engine engine;
  Netlist netlist(config(), engine, nullptr, nullptr);
  netlist.for_each_hop([&](const Hop& h) {
    expected.insert(h.name());
    expected_senders.insert(h.request_out.path());
  });
  EXPECT_EQ(names, expected);
  EXPECT_EQ(senders, expected_senders);
  EXPECT_EQ(monitors.size(), 1U);
}

TEST(Interpose, WhatCannotBeIsRefusedByTheNameOfTheHop) {
  Monitor monitor("monitor");
  const auto message = [](std::vector<std::string> pins, HopSockets sockets) -> std::string {
    const auto systemc = backend(std::move(pins));
    systemc->interpose([sockets](const HopSite& site) {
      return site.name == "l2[2].from_crossbar" ? sockets : HopSockets{};
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
  EXPECT_EQ(message({"crossbar.to_l2[*]"}, {&monitor.from_initiator, &monitor.to_target}),
            "l2[2].from_crossbar: a hop is opened as pins or has a module put into it, not both");
  EXPECT_EQ(message({}, {&monitor.from_initiator, nullptr}),
            "l2[2].from_crossbar: what stands in a hop needs both sockets, and lacks to_target");
  EXPECT_EQ(message({}, {nullptr, &monitor.to_target}),
            "l2[2].from_crossbar: what stands in a hop needs both sockets, and lacks from_initiator");
}

TEST(Interpose, ReachesTheHopsOfForeignSlices) {
  std::deque<ForeignTarget> slices;
  struct Asker final : sc_core::sc_module {
    explicit Asker(const sc_core::sc_module_name& name) : sc_module(name) {}
    IdleInitiatorSocket<256> socket{"socket"};
  };
  std::deque<Asker> askers;
  std::deque<Monitor> monitors;
  std::vector<std::string> names;
  const auto systemc = backend();
  systemc->replace_slices([&](const SliceSite& site) {
    SliceSockets sockets;
    sockets.from_crossbar =
        &slices.emplace_back(site.name.c_str(), Way::called, sc_core::sc_time(300, sc_core::SC_NS)).socket;
    if (site.index == 1) sockets.to_pcie = &askers.emplace_back((site.name + "_asker").c_str()).socket;
    return sockets;
  });
  const Interposer all = watch("*", monitors);
  systemc->interpose([&](const HopSite& site) {
    if (site.sender.rfind("crossbar", 0) == 0 || site.sender.rfind("l2", 0) == 0)
      names.push_back(site.sender + " > " + site.name);
    return all(site);
  });
  RunOptions options;
  options.tags_only = true;
  options.backend = systemc;
  GpuPlatform gpu(config(), options);
  gpu.map_everything();
  GeneratorParameters p;
  p.kind = "stream";
  p.footprint = 64 * 1024;
  p.accesses = 50;
  p.block = {64, 1, 1};
  p.base = 0x7F0000000000ULL;
  EXPECT_EQ(gpu.launch(*make_generator(p)).outcome, RunOutcome::quiescent);
  EXPECT_THAT(
      names, ElementsAre("crossbar.to_l2[0] > l2[0].from_crossbar", "crossbar.to_l2[1] > l2[1].from_crossbar",
                         "l2[1].to_pcie > pcie.from_l2[1]", "crossbar.to_l2[2] > l2[2].from_crossbar"))
      << "not those at which nobody asks";
  std::uint64_t to_slices = 0;
  for (const Monitor& m : monitors)
    if (std::string(m.name()).find("from_crossbar") != std::string::npos) to_slices += m.requests;
  EXPECT_GT(to_slices, 10U);
}

TEST(Interpose, ReachesTheHopsWithinAMemorySubsystem) {
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
  std::deque<Monitor> monitors;
  std::vector<std::string> names;
  MemorySubsystemOptions options{"mini", {"sms=1", "l2.slices=2", "dram.channels=2"}};
  MemorySubsystemModule plain("plain", options);
  options.interpose = [&, watches = watch("*", monitors)](const HopSite& site) {
    names.push_back(site.sender + " > " + site.name);
    return watches(site);
  };
  MemorySubsystemModule watched("watched", options);
  ForeignInitiator one("one", accesses(), {}), other("other", accesses(), {});
  one.socket.bind(plain.from_sm(0));
  other.socket.bind(watched.from_sm(0));
  sc_core::sc_start();
  EXPECT_EQ(plain.counters(), watched.counters());
  EXPECT_THAT(watched.waits(), IsEmpty());
  for (std::size_t i = 0; i < one.accesses.size(); ++i) {
    EXPECT_TRUE(other.accesses[i].answered);
    EXPECT_EQ(one.accesses[i].data, other.accesses[i].data) << i;
  }
  EXPECT_THAT(names,
              ElementsAre("l1_lg[0].to_crossbar > crossbar.from_client[0]",
                          "crossbar.to_l2[0] > l2[0].from_crossbar", "l2[0].to_pcie > pcie.from_l2[0]",
                          "l2[0].to_dram[0] > dram[0].from_l2[0]", "crossbar.to_l2[1] > l2[1].from_crossbar",
                          "l2[1].to_pcie > pcie.from_l2[1]", "l2[1].to_dram[0] > dram[1].from_l2[0]"));
  EXPECT_GT(monitors.front().requests, 50U);
  EXPECT_THAT(indirect(sc_core::sc_get_top_level_objects()), ::testing::Each(HasSubstr("watched.")));
}

}  // namespace interpose_test
}  // namespace warpline::test
