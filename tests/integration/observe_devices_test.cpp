// Waves and timelines of devices, against what the access log says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/integration/workspace.h"
#include "tests/support/timeline_reader.h"
#include "tests/support/vcd_reader.h"

namespace warpline::test {
namespace observe_devices_test {

using nlohmann::json;
using testing::SizeIs;

/// Cycles are nanoseconds on the preset mini, and a dump's times picoseconds.
constexpr std::uint64_t kCycle = 1000;
/// A drive, beside the device that there is always.
const char* const kDrive = "--set=pcie_system.nvme.count=1";

class ObservedDevices : public testing::Test {
 protected:
  void run(const std::string& file, std::vector<std::string> options) {
    options.insert(options.begin(), {"run", file, "--set=pcie_system.peers=1", "--quiet"});
    const Finished run = workspace_.warpline(options);
    ASSERT_EQ(run.status, 0) << run.err;
  }
  json log() { return json::parse(read_file(workspace_.path("log.json"))); }
  Vcd wave() { return parse_vcd(read_file(workspace_.path("w.vcd"))); }
  std::vector<TimelineDeviceEvent> events(const std::string& category) {
    std::vector<TimelineDeviceEvent> out;
    for (const TimelineDeviceEvent& e : parse_timeline(read_file(workspace_.path("t.json"))).devices)
      if (e.category == category) out.push_back(e);
    return out;
  }
  /// Beside a grid, a host that uses queue 1: its rings lie in the buffer "out" from elements 32 and 48 on,
  /// its vector is 5.
  std::string with_queue(const std::string& steps, unsigned control = 1) {
    const std::string registers =
        "[[register]]\nname = \"peer[0].CONTROL\"\ninit = " + std::to_string(control) +
        "\n[[register]]\nname = \"peer[0].SQ_BASE[1]\"\ninit = { bus = \"out\", offset = 256 }\n"
        "[[register]]\nname = \"peer[0].CQ_BASE[1]\"\ninit = { bus = \"out\", offset = 384 }\n"
        "[[register]]\nname = \"peer[0].QUEUE_CONTROL[1]\"\ninit = 0x050103\n";
    workspace_.write("launch.toml",
                     "module = \"" + in_source("sw/kernels/vecadd.sm_80.ptx") +
                         "\"\nkernel = \"vecadd\"\ngrid = [1]\nblock = [32]\nargument = [\n"
                         "{ buffer = \"a\", type = \"f32\", count = 32 },\n"
                         "{ buffer = \"b\", type = \"f32\", count = 32 },\n"
                         "{ buffer = \"out\", type = \"u64\", count = 64, aperture = \"sysmem\" },\n"
                         "{ scalar = 32, type = \"u32\" } ]\n" +
                         registers + steps);
    return "launch.toml";
  }
  static std::string step(const std::string& what, const std::string& value) {
    return "[[host]]\n" + what + "\nvalue = " + value + "\n";
  }
  /// Submits a command.
  static std::string ring() { return step("write = \"peer[0].SQ_TAIL_DOORBELL[1]\"", "1"); }
  Workspace workspace_;
};

TEST_F(ObservedDevices, TheTimelineHasEveryAccessAndEveryCommand) {
  run(in_source("sw/kernels/submit.toml"), {"--timeline", "t.json", "--access-log", "log.json"});
  const json log = this->log();
  const auto accesses = events("access");
  ASSERT_EQ(accesses.size(), log.size());
  std::vector<std::uint64_t> doorbells;
  for (std::size_t n = 0; n < log.size(); ++n) {
    EXPECT_EQ(accesses[n].begin, log[n].at("cycle"));
    EXPECT_EQ(accesses[n].block, "peer[0]");
    std::string name = log[n].at("kind").get<std::string>() + " " + log[n].at("register").get<std::string>();
    if (log[n].at("bytes") != 0) name += " = " + log[n].at("value").get<std::string>();
    EXPECT_EQ(accesses[n].name, name);
    if (log[n].at("kind") == "write" && log[n].at("register") == "SQ_TAIL_DOORBELL[0]")
      doorbells.push_back(log[n].at("cycle"));
  }
  const auto commands = events("command");
  ASSERT_EQ(commands.size(), 30U);
  for (std::size_t n = 0; n < commands.size(); ++n) {
    EXPECT_EQ(commands[n].name, "FILL");
    EXPECT_EQ(commands[n].begin, doorbells.at(n)) << "from the doorbell";
    EXPECT_GT(commands[n].end, commands[n].begin);
    EXPECT_FALSE(commands[n].unfinished || commands[n].lost);
  }
}

TEST_F(ObservedDevices, TheTimelineHasTheStepsOfTheHost) {
  run(with_queue(step("write = \"peer[0].SCRATCH[0]\"", "7") + step("wait = \"peer[0].SCRATCH[0]\"", "7") +
                 "[[host]]\ndelay = 300\n"),
      {"--timeline", "t.json"});
  const auto steps = events("host");
  ASSERT_THAT(steps, SizeIs(3));
  EXPECT_EQ(steps[0].name, "write peer[0].SCRATCH[0]");
  EXPECT_EQ(steps[1].name, "wait peer[0].SCRATCH[0]");
  EXPECT_EQ(steps[2].name, "delay");
  for (const TimelineDeviceEvent& step : steps) EXPECT_EQ(step.block, "host");
  EXPECT_EQ(steps[0].end, steps[0].begin) << "a store is posted";
  EXPECT_GT(steps[1].end, steps[1].begin + 100) << "a load is not";
  EXPECT_EQ(steps[2].end, steps[2].begin + 300);
  for (std::size_t n = 1; n < steps.size(); ++n) EXPECT_GE(steps[n].begin, steps[n - 1].end);
}

TEST_F(ObservedDevices, AKernelEndsBeforeItsHostDoes) {
  const auto cycles_of_kernel = [this](const std::string& steps) {
    run(with_queue(steps), {"--timeline", "t.json"});
    const json timeline = json::parse(read_file(workspace_.path("t.json")));
    for (const json& e : timeline.at("traceEvents"))
      if (e.value("cat", "") == "kernel") return e.at("dur").get<std::uint64_t>();
    return std::uint64_t{0};
  };
  const std::uint64_t alone = cycles_of_kernel("");
  EXPECT_GT(alone, 0U);
  EXPECT_LE(cycles_of_kernel("[[host]]\ndelay = 30000\n" + step("write = \"peer[0].SCRATCH[0]\"", "7")),
            alone);
}

TEST_F(ObservedDevices, TheWaveHasRegistersAndQueuesAsTheLogSays) {
  run(in_source("sw/kernels/submit.toml"),
      {"--wave", "w.vcd", "--probe", "peer*", "--access-log", "log.json"});
  const Vcd wave = this->wave();
  const VcdSignal& doorbell = wave.of("gpu.peer[0].registers.SQ_TAIL_DOORBELL[0]");
  const VcdSignal& tail = wave.of("gpu.peer[0].queue[0].sq_tail");
  unsigned rings = 0;
  for (const json& access : log()) {
    if (access.at("kind") != "write" || access.at("register") != "SQ_TAIL_DOORBELL[0]") continue;
    const std::uint64_t at = access.at("cycle").get<std::uint64_t>() * kCycle;
    const std::uint64_t wanted = ++rings % 8;
    EXPECT_EQ(doorbell.at(at), wanted);
    EXPECT_EQ(tail.at(at), wanted);
    if (rings > 1) {
      EXPECT_EQ(doorbell.at(at - kCycle), (wanted + 7) % 8) << "not before";
    }
  }
  EXPECT_EQ(rings, 30U);
  EXPECT_EQ(wave.of("gpu.peer[0].registers.COMMANDS").last(), 30U);
  EXPECT_EQ(wave.of("gpu.peer[0].registers.COMMANDS").bits, 64U);
  EXPECT_EQ(wave.of("gpu.peer[0].queue[0].cq_tail").last(), 30U % 8);
  EXPECT_EQ(wave.of("gpu.peer[0].queue[0].phase").last(), 1U - 30 / 8 % 2);
  EXPECT_EQ(wave.of("gpu.peer[0].registers.QUEUE_CONTROL[0]").last(), 0x301U);
  EXPECT_EQ(wave.signals.count("gpu.l2[0].miss_registers"), 0U);
}

TEST_F(ObservedDevices, SocketsShowTheSame) {
  for (const char* kernel : {"submit", "nvme_io"}) {
    const std::string file = in_source(std::string("sw/kernels/") + kernel + ".toml");
    run(file, {kDrive, "--probe", "peer*", "--probe", "nvme*", "--wave", "w.vcd", "--timeline", "t.json"});
    run(file, {kDrive, "--probe", "peer*", "--probe", "nvme*", "--wave", "at.vcd", "--timeline", "at.json",
               "--transport", "at"});
    EXPECT_TRUE(read_file(workspace_.path("w.vcd")) == read_file(workspace_.path("at.vcd"))) << kernel;
    EXPECT_TRUE(read_file(workspace_.path("t.json")) == read_file(workspace_.path("at.json"))) << kernel;
  }
}

TEST_F(ObservedDevices, AnInterruptIsPendingWhileItIsMasked) {
  const std::string control = "write = \"peer[0].bar[2]+92\"\ntype = \"u32\"";  // of vector 5
  run(with_queue(step(control, "1") + step("write = \"out[32]\"", "0x70000") + ring() +
                 step("wait = \"peer[0].COMMANDS\"", "1") + "[[host]]\ndelay = 2000\n" + step(control, "0") +
                 "[[host]]\ninterrupt = \"peer[0].vector[5]\"\n"),
      {"--wave", "w.vcd", "--timeline", "t.json", "--access-log", "log.json"});
  const Vcd wave = this->wave();
  const json log = this->log();
  const std::uint64_t unmasked = log.back().at("cycle").get<std::uint64_t>() * kCycle;
  EXPECT_EQ(log.back().at("bar"), 2);
  EXPECT_EQ(wave.of("gpu.peer[0].msix.masked").at(unmasked - kCycle), 1U << 5U);
  EXPECT_EQ(wave.of("gpu.peer[0].msix.masked").at(unmasked), 0U);
  EXPECT_EQ(wave.of("gpu.peer[0].msix.pending").at(unmasked - kCycle), 1U << 5U);
  EXPECT_EQ(wave.of("gpu.peer[0].msix.pending").last(), 0U);
  const auto interrupts = events("interrupt");
  ASSERT_THAT(interrupts, SizeIs(1));
  EXPECT_EQ(interrupts[0].name, "vector 5");
  const auto commands = events("command");
  ASSERT_THAT(commands, SizeIs(1));
  EXPECT_EQ(commands[0].name, "NOP");
  EXPECT_EQ(interrupts[0].begin, commands[0].end);
}

TEST_F(ObservedDevices, CommandsThatDoNotEndSayWhy) {
  // The device is not enabled: it fetches nothing, until a reset takes the queue away.
  run(with_queue(ring(), 0), {"--timeline", "t.json"});
  ASSERT_THAT(events("command"), SizeIs(1));
  EXPECT_TRUE(events("command")[0].unfinished);
  run(with_queue(ring() + step("write = \"peer[0].CONTROL\"", "2"), 0), {"--timeline", "t.json"});
  ASSERT_THAT(events("command"), SizeIs(1));
  EXPECT_TRUE(events("command")[0].lost);
}

TEST_F(ObservedDevices, TheWindowAndTheProbesHold) {
  const std::string submit = in_source("sw/kernels/submit.toml");
  run(submit, {"--timeline", "t.json", "--window", "4000:7000"});
  for (const char* category : {"access", "command"}) {
    EXPECT_FALSE(events(category).empty());
    for (const TimelineDeviceEvent& e : events(category)) {
      EXPECT_GE(e.begin, 4000U);
      EXPECT_LE(e.end, 7001U);
    }
  }
  run(submit, {"--timeline", "t.json", "--probe", "l2*"});
  EXPECT_TRUE(events("access").empty());
}

TEST_F(ObservedDevices, WatchingChangesNoCycleAndNoCounter) {
  for (const char* kernel : {"submit", "nvme_io"}) {
    const std::string file = in_source(std::string("sw/kernels/") + kernel + ".toml");
    run(file, {kDrive, "--stats", "without.json"});
    run(file, {kDrive, "--probe", "peer*", "--probe", "nvme*", "--stats", "with.json", "--wave", "w.vcd",
               "--timeline", "t.json"});
    const json without = json::parse(read_file(workspace_.path("without.json")));
    const json with = json::parse(read_file(workspace_.path("with.json")));
    EXPECT_EQ(without.at("cycles"), with.at("cycles")) << kernel;
    EXPECT_EQ(without.at("counters"), with.at("counters")) << kernel;
  }
}

TEST_F(ObservedDevices, ACommandOfADriveConsistsOfItsSteps) {
  run(in_source("sw/kernels/nvme_io.toml"),
      {kDrive, "--probe", "nvme*", "--timeline", "t.json", "--access-log", "log.json"});
  std::map<std::string, std::vector<TimelineDeviceEvent>> commands;
  std::map<unsigned, std::vector<TimelineDeviceEvent>> steps;  // by thread
  for (const TimelineDeviceEvent& e : events("command")) commands[e.track].push_back(e);
  for (const TimelineDeviceEvent& e : events("step")) steps[e.thread].push_back(e);
  unsigned of_queue = 0;
  for (const auto& [track, all] : commands)
    for (const TimelineDeviceEvent& command : all) {
      EXPECT_EQ(command.block, "nvme[0]");
      std::vector<std::string> names;
      std::uint64_t at = 0;
      for (const TimelineDeviceEvent& step : steps[command.thread]) {
        if (step.begin < command.begin || step.end > command.end) continue;
        if (at != 0) {
          EXPECT_EQ(step.begin, at) << "one follows the other";
        }
        at = step.end;
        names.push_back(step.name);
      }
      EXPECT_EQ(at, command.end) << "to the end";
      if (track != "nvme[0] queue 1") continue;
      ++of_queue;
      if (names.back() == "completion") names.pop_back();
      EXPECT_EQ(names, command.name == "READ" ? (std::vector<std::string>{"fetch", "media", "data"})
                                              : (std::vector<std::string>{"fetch", "data", "media"}))
          << command.name;
    }
  EXPECT_EQ(of_queue, 32U) << "two launches of 8 chunks, each read and written";
  std::vector<std::uint64_t> doorbells;
  for (const json& access : log())
    if (access.at("kind") == "write" && access.at("register") == "SQ_TAIL_DOORBELL[2]")
      doorbells.push_back(access.at("cycle"));
  const std::vector<TimelineDeviceEvent>& host = commands.at("nvme[0] queue 2");
  ASSERT_THAT(host, SizeIs(2));
  EXPECT_EQ(host[0].name, "WRITE");
  EXPECT_EQ(host[1].name, "READ");
  EXPECT_EQ(host[0].begin, doorbells.at(0));
  EXPECT_EQ(host[1].begin, doorbells.at(1));
}

TEST_F(ObservedDevices, WhatADriveHasNotDoneGoesWithAReset) {
  // An Asynchronous Event Request that waits, and Identify, in an admin queue in the buffer "out".
  const std::string admin = "write = \"nvme[0].SQ_TAIL_DOORBELL[0]\"";
  const auto set = [](const std::string& name, const std::string& value) {
    return "[[register]]\nname = \"nvme[0]." + name + "\"\ninit = " + value + "\n";
  };
  workspace_.write(
      "launch.toml",
      "module = \"" + in_source("sw/kernels/vecadd.sm_80.ptx") +
          "\"\nkernel = \"vecadd\"\ngrid = [1]\nblock = [32]\nargument = [\n"
          "{ buffer = \"out\", type = \"u64\", count = 1536, aperture = \"sysmem\" },\n"
          "{ buffer = \"b\", type = \"f32\", count = 32 },\n{ buffer = \"c\", type = \"f32\", count = 32 "
          "},\n{ scalar = 32, type = \"u32\" } ]\n" +
          set("AQA", "0x00070007") + set("ASQ", "{ bus = \"out\" }") +
          set("ACQ", "{ bus = \"out\", offset = 4096 }") + set("CC", "0x00460001") +
          step("write = \"out[0]\"", "0x1000C") + step(admin, "1") + "[[host]]\ndelay = 3000\n" +
          step("write = \"out[8]\"", "0x20006") +
          step("write = \"out[11]\"", "{ bus = \"out\", offset = 8192, device = \"nvme[0]\" }") +
          step("write = \"out[13]\"", "1") + step(admin, "2") +
          step("wait = \"out[513]\"", "0x0001000200000002") + step("write = \"nvme[0].CC\"", "0"));
  run("launch.toml", {kDrive, "--probe", "nvme*", "--timeline", "t.json"});
  const auto commands = events("command");
  ASSERT_THAT(commands, SizeIs(2));
  EXPECT_EQ(commands[0].name, "IDENTIFY");
  EXPECT_FALSE(commands[0].lost);
  EXPECT_TRUE(commands[1].lost);
  EXPECT_LE(commands[1].begin + 3000, commands[0].begin);
  const auto steps = events("step");
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.back().name, "parked");
  EXPECT_EQ(steps.back().end, commands[1].end);
}

}  // namespace observe_devices_test
}  // namespace warpline::test
