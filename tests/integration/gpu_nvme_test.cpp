// The example that has a kernel read and write a drive: what it does on machines of all kinds, and what its
// timeline shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "platform/config/load_gpu.h"
#include "platform/host/host_cpu_module.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/nvme/registers/nvme.h"
#include "rtl_models/registers/access_log.h"
#include "sw/examples/gpu_nvme/drive.h"
#include "sw/examples/gpu_nvme/host_traffic.h"
#include "sw/examples/gpu_nvme/run.h"
#include "tests/integration/workspace.h"
#include "tests/support/timeline_reader.h"

namespace warpline::test {
namespace gpu_nvme_test {

/// A drive whose media is quick, so that a run is.
Scenario scenario(const std::vector<std::string>& settings = {}) {
  Scenario s;
  s.kernel = in_source("sw/kernels/nvme_io.sm_80.ptx");
  s.settings = {"pcie_system.nvme.read_ns=3000", "pcie_system.nvme.write_ns=1000",
                "pcie_system.nvme.channel_mb_per_s=4000"};
  s.settings.insert(s.settings.end(), settings.begin(), settings.end());
  s.chunks = 12;
  s.host_pages = 12;
  return s;
}

Outcome expect_right(const Scenario& s) {
  Outcome o = run(s);
  EXPECT_EQ(o.failure, "");
  EXPECT_EQ(o.written, s.chunks);
  EXPECT_EQ(o.failed, 0U);
  EXPECT_EQ(o.failure_word, 0U);
  EXPECT_TRUE(o.sum_is_right);
  EXPECT_EQ(o.wrong_words, 0U);
  EXPECT_EQ(o.host_failed, 0U);
  EXPECT_EQ(o.host_wrong, 0U);
  return o;
}

TEST(GpuNvme, NothingIsLostAndAllDataIsRight) {
  const Outcome o = expect_right(scenario());
  EXPECT_GT(o.cycles, 0U);
}

TEST(GpuNvme, LooselyTimedItIsTheSame) {
  Scenario s = scenario();
  s.options.loose = true;
  expect_right(s);
}

TEST(GpuNvme, QueuesGoRoundAndOutliveALaunch) {
  // Queues of 5 entries are full with 4 commands, and each launch goes on where the one before has ended.
  Scenario s = scenario();
  s.entries = 5;
  s.buffers = 8;
  s.launches = 5;
  expect_right(s);
  s.entries = 2;
  expect_right(s);
}

TEST(GpuNvme, ChunksMayHaveAPageOrHundreds) {
  for (const unsigned blocks : {1U, 8U, 9U, 16U, 256U}) {
    SCOPED_TRACE(blocks);
    Scenario s = scenario();
    s.blocks = blocks;
    s.chunks = 6;
    s.buffers = 3;
    s.threads = blocks == 9 ? 1 : 512;
    expect_right(s);
  }
}

TEST(GpuNvme, WhatTheDriveCannotReadIsTold) {
  Scenario s = scenario({"pcie_system.nvme.read_errors=300000", "pcie_system.nvme.seed=3"});
  const Outcome o = run(s);
  EXPECT_EQ(o.failure, "");
  EXPECT_GT(o.failed, 0U);
  EXPECT_EQ(o.written + o.failed, s.chunks);
  EXPECT_EQ(o.failure_word >> 17U & 0x7FFU, 0x281U) << "Unrecovered Read Error";
  EXPECT_FALSE(o.sum_is_right);
  EXPECT_EQ(o.wrong_words, o.failed * s.blocks * 128) << "and all else is copied";
  EXPECT_GT(o.host_failed, 0U);
  EXPECT_EQ(o.host_wrong, 0U);
}

TEST(GpuNvme, WhatDoesNotComeInTimeIsGivenUp) {
  Scenario s = scenario();
  s.patience = 2;
  const Outcome o = run(s);
  EXPECT_EQ(o.failure, "");
  EXPECT_EQ(o.written, 0U);
  EXPECT_EQ(o.failed, s.chunks);
  EXPECT_EQ(o.failure_word, ~std::uint64_t{0});
  EXPECT_EQ(o.host_failed, 0U);
}

TEST(GpuNvme, ADriveThatDoesNotAnswerIsGivenUp) {
  EXPECT_EQ(run(scenario({"pcie_system.nvme.timeouts=1000000"})).failure, "the drive takes no data\n");
}

/// What a kernel may count on holds however long packets lie in queues; reads are never given up here.
TEST(GpuNvme, WhateverTheTimesOfQueuesAllDataIsRight) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    Scenario s = scenario({"pcie_system.device.completion_timeout=1000000000",
                           "pcie_system.gpu.completion_timeout=1000000000"});
    s.options.jitter = seed;
    s.chunks = 5;
    s.buffers = 3;
    s.launches = 2;
    s.host_pages = 4;
    expect_right(s);
  }
}

TEST(GpuNvme, WithoutPeerToPeerNothingComes) {
  Scenario s = scenario({"pcie_system.root.peer_to_peer=false"});
  s.patience = 50;
  const Outcome o = run(s);
  EXPECT_EQ(o.written, 0U);
  EXPECT_EQ(o.host_failed, 0U);
}

/// By every carrier of the GPU's hops and of the links beyond it.
void expect_law(HopTransport transport, const std::vector<std::string>& pins) {
  Scenario s = scenario();
  s.chunks = 3;
  s.host_pages = 4;
  s.buffers = 2;
  s.threads = 32;
  const Outcome plain = expect_right(s);
  const GpuConfig config = load_gpu("mini", {}).value();
  s.options.backend = std::make_shared<SystemCBackend>(config.clocks, transport, TickMode::lazy, 1, pins);
  const Outcome carried = expect_right(s);
  EXPECT_EQ(plain.cycles, carried.cycles);
}

TEST(GpuNvmeInSystemC, IsTheSameDirectly) {
  expect_law(HopTransport::direct, {});
}

TEST(GpuNvmeInSystemC, IsTheSameOverSockets) {
  expect_law(HopTransport::socket, {});
}

TEST(GpuNvmeInSystemC, IsTheSameOverPins) {
  expect_law(HopTransport::direct, {"pcie.to_crossbar", "root.*"});
}

/// A drive behind a bus of SystemC, and a processor that uses it by two queues.
struct DriveInSystemC {
  DriveInSystemC(const std::string& name, const PcieSystemOptions& options, bool loose)
      : system((name + "_system").c_str(), options), cpu((name + "_cpu").c_str(), system) {
    cpu.to_memory().bind(system.from_cpu());
    system.to_interrupts().bind(cpu.from_interrupts());
    system.set_loose(loose);
    cpu.add_thread([this](HostCpu&) { use(); });
  }
  void use() {
    Drive drive(cpu, 0);
    ASSERT_TRUE(drive.start());
    DriveQueue first = drive.new_queue(1, 8), second = drive.new_queue(2, 16);
    ASSERT_TRUE(drive.create(first) && drive.create(second));
    HostTraffic traffic[] = {{drive, first, 0, 20}, {drive, second, 500, 20}};
    while (!(traffic[0].is_done() && traffic[1].is_done())) {
      for (HostTraffic& t : traffic) t.step();
      cpu.delay_ns(150);
    }
    failed = traffic[0].failed() + traffic[1].failed();
    wrong = traffic[0].wrong() + traffic[1].wrong();
    end = cpu.local_time();
  }
  [[nodiscard]] std::string log() {
    std::string text;
    for (const BusAccess& access : system.system().access_log(0).entries())
      text += to_text(access, &regs::nvme::kMap) + "\n";
    return text;
  }
  PcieSystemModule system;
  HostCpu cpu;
  unsigned failed = 99, wrong = 99;
  sc_core::sc_time end;
};

TEST(DriveInSystemC, TakesTheSameTimeOnEveryCarrier) {
  PcieSystemOptions plain;
  plain.parameters.peers = 0;
  plain.parameters.nvme.count = 1;
  plain.parameters.nvme.namespace_bytes = 1U << 20U;
  plain.parameters.nvme.read_ns = 3000;
  PcieSystemOptions sockets = plain, pins = plain;
  sockets.transport = HopTransport::socket;
  pins.pins = {"root.from_device[0]", "nvme[0].*"};
  DriveInSystemC a("plain", plain, false), b("sockets", sockets, false), c("pins", pins, false),
      d("loose", plain, true);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
  for (const DriveInSystemC* of : {&a, &b, &c, &d}) {
    EXPECT_EQ(of->failed, 0U);
    EXPECT_EQ(of->wrong, 0U);
    EXPECT_GT(of->end, sc_core::SC_ZERO_TIME);
  }
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.end, c.end);
  EXPECT_EQ(a.log(), b.log());
  EXPECT_EQ(a.log(), c.log());
}

TEST(GpuNvme, ItsTimelineShowsWhoDoesWhatAndWhen) {
  const Workspace workspace;
  Scenario s = scenario();
  s.timeline = workspace.path("t.json");
  s.probes = {"nvme*"};
  expect_right(s);
  const Timeline timeline = parse_timeline(read_file(s.timeline));
  EXPECT_EQ(timeline.kernels, std::vector<std::string>{"nvme_io"});
  std::map<unsigned, std::map<std::string, unsigned>> commands;  // by queue and name
  std::map<unsigned, std::vector<TimelineDeviceEvent>> of_queue;
  std::set<std::string> steps;
  for (const TimelineDeviceEvent& e : timeline.devices) {
    if (e.category == "step") steps.insert(e.name);
    if (e.category != "command") continue;
    EXPECT_EQ(e.block, "nvme[0]");
    EXPECT_FALSE(e.lost || e.unfinished);
    EXPECT_EQ(e.track.rfind("nvme[0] queue ", 0), 0U) << e.track;
    const auto queue =
        static_cast<unsigned>(std::stoul(e.track.substr(std::string("nvme[0] queue ").size())));
    ++commands[queue][e.name];
    of_queue[queue].push_back(e);
  }
  const unsigned fills = s.chunks, looks = s.chunks;  // by the host, before and after
  EXPECT_EQ(commands[0], (std::map<std::string, unsigned>{{"CREATE_CQ", 3}, {"CREATE_SQ", 3}}));
  EXPECT_EQ(commands[1], (std::map<std::string, unsigned>{{"READ", s.chunks}, {"WRITE", s.chunks}}));
  EXPECT_EQ(commands[2], (std::map<std::string, unsigned>{{"READ", s.host_pages + looks},
                                                          {"WRITE", s.host_pages + fills}}));
  EXPECT_EQ(commands[3], (std::map<std::string, unsigned>{{"READ", s.host_pages}, {"WRITE", s.host_pages}}));
  EXPECT_THAT(steps, testing::IsSupersetOf({"fetch", "data pointer", "media", "data"}));
  // All buffers are under way at once.
  unsigned most = 0;
  for (const TimelineDeviceEvent& at : of_queue[1])
    most = std::max(
        most, static_cast<unsigned>(std::count_if(of_queue[1].begin(), of_queue[1].end(), [&](const auto& e) {
          return e.begin <= at.begin && at.begin < e.end;
        })));
  EXPECT_EQ(most, s.buffers);
}

}  // namespace gpu_nvme_test
}  // namespace warpline::test
