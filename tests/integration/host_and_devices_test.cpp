// Launch files with a host and devices, as their users run them.
#include "tests/integration/host_and_devices.h"

#include <array>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>

namespace warpline::test {
namespace host_and_devices_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(HostAndDevices, EveryTransportGivesTheExpectedResults) {
  for (const char* kernel : {"submit", "serve"}) {
    std::map<std::string, std::string> cycles;
    for (const char* transport : {"fast", "at", "lt"}) {
      const Finished run = this->run(in_source(std::string("sw/kernels/") + kernel + ".toml"),
                                     {"--transport", transport, "--stats", "s.json"});
      EXPECT_EQ(run.status, 0) << kernel << " " << transport << "\n" << run.out << run.err;
      cycles[transport] = json::parse(read_file(workspace_.path("s.json"))).at("cycles").dump();
    }
    EXPECT_EQ(cycles["fast"], cycles["at"]) << kernel;
  }
}

/// Statistics of a run without what may differ.
json statistics_of(const Workspace& workspace) {
  json all = json::parse(read_file(workspace.path("s.json")));
  for (const char* key : {"wall_s", "command", "options"}) all.erase(key);
  return all;
}

/// The hops of a GPU and of the links beyond it, group by group.
constexpr std::array kHops{"sm[*]*",
                           "crossbar.from_client*",
                           "l2*",
                           "crossbar*",
                           "pcie.from_l2*",
                           "pcie*",
                           "dram*",
                           "root.from_device[0]",
                           "root.to_device[*]*",
                           "*.completion",
                           "host*",
                           "*"};

TEST_F(HostAndDevices, HopsOpenedAsPinsChangeNoCycleAndNoCounter) {
  // The host lets time pass beyond the grid's end, and asks by the bus what is known when it has ended.
  workspace_.write("delay.toml", kOnesLaunch + std::string("[[host]]\ndelay = 3001\n"
                                                           "[[host]]\nread = \"out[7]\"\nvalue = 1\n"));
  workspace_.write("wait.toml",
                   kOnesLaunch + std::string("[[host]]\nwait = \"out[0]\"\nvalue = 1\n"
                                             "[[host]]\nwrite = \"peer[0].SCRATCH[0]\"\nvalue = 9\n"
                                             "[[host]]\nread = \"peer[0].SCRATCH[0]\"\nvalue = 9\n"));
  // The same buffer in the GPU's memory, which the host reaches by the GPU's BAR.
  workspace_.write("video.toml", replaced(kOnesLaunch, "aperture = \"sysmem\"\n", "") +
                                     "[[host]]\nwait = \"out[31]\"\nvalue = 1\n[[host]]\nwrite = \"out[3]\"\n"
                                     "value = 77\n[[host]]\nread = \"out[3]\"\nvalue = 77\n");
  for (const std::string& file :
       {in_source("sw/kernels/serve.toml"), in_source("sw/kernels/submit.toml"), std::string("delay.toml"),
        std::string("wait.toml"), std::string("video.toml")}) {
    // Clocks in odd ratios: what a device does before the run shifts none of them.
    const std::vector<std::string> common{"--stats",         "s.json",  "--max-cycles",
                                          "400000",          "--quiet", "--set",
                                          "clocks.link=700", "--set",   "clocks.dram=333"};
    const Finished plain = run(file, common);
    ASSERT_EQ(plain.status, 0) << file << plain.err;
    const json expected = statistics_of(workspace_);
    for (const char* hops : kHops) {
      std::vector<std::string> options = common;
      options.insert(options.end(), {"--pins", hops});
      const Finished wired = run(file, options);
      EXPECT_EQ(wired.status, 0) << file << " " << hops << "\n" << wired.err;
      EXPECT_EQ(statistics_of(workspace_), expected) << file << " " << hops;
    }
  }
}

TEST_F(HostAndDevices, WhatAGridWroteIsSeenByStepsAfterIt) {
  for (const char* transport : {"fast", "at", "lt"}) {
    workspace_.write("launch.toml", kOnesLaunch + std::string("[[host]]\ndelay = 100000\n"
                                                              "[[host]]\nread = \"out[7]\"\nvalue = 1\n"));
    const Finished run = this->run("launch.toml", {"--transport", transport, "--quiet"});
    EXPECT_EQ(run.status, 0) << transport << run.err;
  }
}

TEST_F(HostAndDevices, SeveralGpusHaveOneHost) {
  for (const char* transport : {"fast", "at", "lt"})
    EXPECT_EQ(run(in_source("sw/kernels/submit.toml"), {"--set=gpus=3", "--transport", transport, "--quiet"})
                  .status,
              0);
}

TEST_F(HostAndDevices, AFileThatNeedsDevicesSaysHowToHaveThem) {
  const std::string submit = in_source("sw/kernels/submit.toml");
  const Finished none = workspace_.warpline({"run", submit});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("the platform has no host with devices"),
                              HasSubstr("(--set pcie_system.peers=1)"), HasSubstr("^~~")));
  const Finished few = run(changed("submit", "peer[0].ERROR", "peer[2].ERROR"));
  EXPECT_EQ(few.status, 2);
  EXPECT_THAT(few.err, AllOf(HasSubstr("error: the platform has no peer[2]"),
                             HasSubstr("(--set pcie_system.peers=3)")));
  const Finished beyond = run(changed("submit", "peer[0].SQ_TAIL_DOORBELL[0]", "peer[0].bar[4]+0x100000"));
  EXPECT_EQ(beyond.status, 2);
  EXPECT_THAT(beyond.err, HasSubstr("lies beyond its BAR, which has 1048576 bytes"));
}

TEST_F(HostAndDevices, AFileThatNeedsADriveSaysHowToHaveIt) {
  const std::string nvme_io = in_source("sw/kernels/nvme_io.toml");
  const Finished none = workspace_.warpline({"run", nvme_io});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("the platform has no host with devices"),
                              HasSubstr("(--set pcie_system.nvme.count=1)"), HasSubstr("^~~")));
  const Finished peers = run(nvme_io);
  EXPECT_EQ(peers.status, 2);
  EXPECT_THAT(peers.err, AllOf(HasSubstr("error: the platform has no nvme[0]"),
                               HasSubstr("its devices are as many as pcie_system.nvme.count says")));
  const std::string drive = "--set=pcie_system.nvme.count=1";
  const Finished both = run(changed("nvme_io", "nvme[0].CSTS", "nvme[1].CSTS"), {drive});
  EXPECT_THAT(both.err, AllOf(HasSubstr("error: the platform has no nvme[1]"),
                              HasSubstr("(--set pcie_system.nvme.count=2)")));
  const std::string buffer = "nvme[0].bar[4]", doorbell = "nvme[0].SQ_TAIL_DOORBELL[1]";
  const Finished absent = run(changed("nvme_io", doorbell, buffer), {drive});
  EXPECT_EQ(absent.status, 2);
  EXPECT_THAT(absent.err,
              AllOf(HasSubstr("nvme[0] has no BAR 4"), HasSubstr("pcie_system.nvme.buffer_bytes=")));
  const Finished beyond = run("launch.toml", {drive, "--set=pcie_system.nvme.buffer_bytes=4096"});
  EXPECT_THAT(beyond.err, Not(HasSubstr("has no BAR")));
  const Finished vector = run(changed("nvme_io", "write = \"nvme[0].CQ_HEAD_DOORBELL[2]\"\nvalue = 2\n",
                                      "interrupt = \"nvme[0].vector[17]\"\n"),
                              {drive});
  EXPECT_EQ(vector.status, 2);
  EXPECT_THAT(vector.err, HasSubstr("interrupt: nvme[0] has the vectors 0 to 16"));
}

/// Peers and a drive on one platform: each is what it is called.
TEST_F(HostAndDevices, ADriveStandsBesidePeers) {
  const std::string more =
      "[[register]]\nname = \"peer[1].SCRATCH[0]\"\ninit = 7\nexpect = 7\n[[register]]\nname = "
      "\"nvme[0].VS\"\nexpect = 0x00010400\n[[launch]]";
  const std::string file = changed("nvme_io", "[[launch]]", "[[LAUNCH]]");
  std::string text = read_file(workspace_.path(file));
  text.replace(text.find("[[LAUNCH]]"), 10, more);
  workspace_.write("launch.toml", replaced(text, "[[LAUNCH]]", "[[launch]]"));
  const std::vector<std::string> devices{"--set=pcie_system.peers=2", "--set=pcie_system.nvme.count=1"};
  std::map<std::string, std::string> cycles;
  for (const char* transport : {"fast", "at", "lt"}) {
    std::vector<std::string> options = devices;
    options.insert(options.end(), {"--transport", transport, "--stats", "s.json", "--access-log", "log.txt"});
    const Finished run = this->run("launch.toml", options);
    EXPECT_EQ(run.status, 0) << transport << "\n" << run.out << run.err;
    const json statistics = json::parse(read_file(workspace_.path("s.json")));
    cycles[transport] = statistics.at("cycles").dump();
    EXPECT_EQ(value(statistics, "nvme[0].reads"), 17U) << "16 of the kernel, one of the host";
    EXPECT_EQ(value(statistics, "nvme[0].writes"), 17U);
    EXPECT_EQ(value(statistics, "nvme[0].failed_commands"), 0U);
    EXPECT_THAT(read_file(workspace_.path("log.txt")), HasSubstr("SQ_TAIL_DOORBELL[2]"));
  }
  EXPECT_EQ(cycles["fast"], cycles["at"]);
}

TEST_F(HostAndDevices, OneFileOfARunInitialisesARegister) {
  const auto file = [this](const std::string& name, const std::string& registers) {
    workspace_.write(name, kOnesLaunch + registers);
  };
  const std::string scratch = "[[register]]\nname = \"peer[0].SCRATCH[1]\"\n";
  file("one.toml", scratch + "init = 1\n");
  file("two.toml", "[[register]]\nname = \"peer[0].SCRATCH[0]\"\ninit = 5\n" + scratch + "expect = 1\n");
  EXPECT_EQ(run("one.toml", {"two.toml", "--quiet"}).status, 0);
  file("two.toml", scratch + "init = 2\n");
  const Finished run = this->run("one.toml", {"two.toml", "--quiet"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(
      run.err,
      AllOf(HasSubstr("two.toml:11:8: error: init: one.toml writes register \"peer[0].SCRATCH[1]\", too"),
            HasSubstr("run the files one by one")));
}

TEST_F(HostAndDevices, WrongRegistersAndReadsFailTheRun) {
  const Finished registers = run(changed("submit", "expect = 30\n", "expect = 31\n"));
  EXPECT_EQ(registers.status, 1);
  EXPECT_THAT(registers.err,
              HasSubstr("register \"peer[0].COMMANDS\": got 0x000000000000001E, wanted 0x000000000000001F"));
  EXPECT_THAT(registers.out, HasSubstr("4 of 5 results as expected"));
  const Finished read = run(changed("serve", "value = 2080", "value = 2081"));
  EXPECT_EQ(read.status, 1);
  EXPECT_THAT(read.err, HasSubstr("read \"sums[0]\": got 2080, wanted 2081"));
}

TEST_F(HostAndDevices, AHostThatWaitsInVainIsExplained) {
  const auto stuck = [&](const std::string& step, const std::string& what, std::vector<std::string> options) {
    workspace_.write("launch.toml", kOnesLaunch + ("[[host]]\n" + step));
    options.insert(options.end(), {"--quiet", "--stats", "s.json", "--access-log", "log.txt"});
    const Finished run = this->run("launch.toml", options);
    EXPECT_EQ(run.status, 3) << step << run.err;
    EXPECT_THAT(run.err, HasSubstr("host waits for " + what + " (launch.toml:")) << step;
    EXPECT_EQ(json::parse(read_file(workspace_.path("s.json"))).at("waits").back().at("who"), "host");
    EXPECT_TRUE(std::filesystem::exists(workspace_.path("log.txt")));
    std::filesystem::remove(workspace_.path("log.txt"));
  };
  for (const char* transport : {"fast", "at", "lt"}) {
    const std::vector<std::string> by{"--transport", transport};
    stuck("wait = \"out[1]\"\nvalue = -5\n", "\"out[1]\" to be -5, which is 1", by);
    stuck("wait = \"peer[0].SCRATCH[0]\"\nat_least = 3\n",
          "\"peer[0].SCRATCH[0]\" to be at least 3, which is 0", by);
    stuck("interrupt = \"peer[0].vector[3]\"\n", "interrupt 3 of peer[0]", by);
  }
  stuck("delay = 100000\n", "90000 more cycles to pass", {"--max-cycles", "10000"});
}

/// Two launches, with steps of a host each.
std::string two_launches(const std::string& first, const std::string& second) {
  const std::string head = "[[launch]]\nmodule = \"ones.ptx\"\nkernel = \"ones\"\ngrid = [1]\nblock = [32]\n";
  const std::string out = "[[launch.argument]]\nbuffer = \"out\"\n";
  return head + out + "type = \"s32\"\ncount = 32\naperture = \"sysmem\"\n" + first + head + out + second;
}

TEST_F(HostAndDevices, ALaunchLastsUntilItsHostIsDone) {
  workspace_.write("launch.toml",
                   two_launches("[[launch.host]]\ndelay = 50000\n",
                                "[[launch.host]]\nwrite = \"peer[0].SCRATCH[0]\"\nvalue = 1\n"));
  for (const char* transport : {"fast", "at", "lt"}) {
    const Finished run = this->run("launch.toml", {"--transport", transport, "--stats", "s.json",
                                                   "--access-log", "log.json", "--quiet"});
    EXPECT_EQ(run.status, 0) << run.err;
    const json s = json::parse(read_file(workspace_.path("s.json")));
    const auto cycles_of = [&](int n) { return s.at("launches").at(n).at("cycles").get<std::uint64_t>(); };
    EXPECT_EQ(cycles_of(0), 50000U) << transport;
    EXPECT_EQ(s.at("cycles").get<std::uint64_t>(), 50000 + cycles_of(1)) << transport;
    const std::uint64_t written =
        json::parse(read_file(workspace_.path("log.json"))).at(0).at("cycle").get<std::uint64_t>();
    EXPECT_GT(written, 50000U) << transport;
    EXPECT_LE(written, 50000 + cycles_of(1)) << transport;
  }
}

TEST_F(HostAndDevices, AHostAtWorkWhenNothingMovesIsNoNews) {
  workspace_.write("launch.toml", kOnesLaunch + std::string("[[host]]\ndelay = 50000\n"));
  for (const char* transport : {"fast", "at", "lt"}) {
    const Finished run = this->run("launch.toml", {"--transport", transport, "--quiet"});
    EXPECT_EQ(run.out + run.err, "") << transport;
  }
}

TEST_F(HostAndDevices, NothingHappensBeyondTheCycleLimit) {
  // A grid that never rests, and a limit that is no multiple of what the host lets pass at once.
  const std::vector<std::string> limit{"--max-cycles", "9007", "--quiet", "--stats", "s.json"};
  workspace_.write("spin.ptx", replaced(replaced(kOnes, "ret;", "again: add.u32 %r1, %r1, 1;\nbra again;"),
                                        ".entry ones", ".entry spin"));
  const std::string spin = replaced(kOnesLaunch, "ones", "spin");
  for (const char* step :
       {"delay = 9008", "wait = \"out[0]\"\nvalue = 7", "interrupt = \"peer[0].vector[3]\""}) {
    workspace_.write("launch.toml", spin + "[[host]]\n" + step + "\n");
    const Finished run = this->run("launch.toml", limit);
    EXPECT_EQ(run.status, 3) << step;
    EXPECT_THAT(run.err, HasSubstr("kernel \"spin\" is not done at the cycle limit of 9007"));
    EXPECT_LE(json::parse(read_file(workspace_.path("s.json"))).at("cycles").get<std::uint64_t>(), 9007U)
        << step;
  }
  workspace_.write("launch.toml", two_launches("[[launch.host]]\ndelay = 9008\n", ""));
  EXPECT_THAT(this->run("launch.toml", limit).err,
              HasSubstr("kernel \"ones\" has ended, and the host is not done at the cycle limit of 9007\n"));
  workspace_.write("launch.toml", two_launches("[[launch.host]]\ndelay = 9007\n", ""));
  EXPECT_THAT(this->run("launch.toml", limit).err,
              HasSubstr("kernel \"ones\" is not done at the cycle limit of 9007\n"));
}

TEST_F(HostAndDevices, AKernelThatWaitsForTheHostIsExplained) {
  const Finished run = this->run(changed("serve", "value = 3", "value = 2"), {"--max-cycles", "50000"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("is not done at the cycle limit"), HasSubstr("sm[0] warp 0")));
}

TEST_F(HostAndDevices, WhatAGridHasWrittenIsSeenWhenItHasEnded) {
  workspace_.write("launch.toml", std::string(kOnesLaunch) +
                                      "[[host]]\nwait = \"out[0]\"\nvalue = 1\n"
                                      "[[host]]\nwrite = \"peer[0].SCRATCH[0]\"\nvalue = 9\n"
                                      "[[register]]\nname = \"peer[0].SCRATCH[0]\"\nexpect = 9\n");
  for (const char* transport : {"fast", "at", "lt"}) {
    const Finished run = this->run("launch.toml", {"--transport", transport, "--quiet"});
    EXPECT_EQ(run.status, 0) << run.err;
  }
}

TEST_F(HostAndDevices, TheHostSubmitsAndIsInterrupted) {
  // A command (FILL of 8 bytes) that the host builds in memory, for a queue of two entries with interrupts.
  const auto step = [](const std::string& what, const std::string& value) {
    return "[[host]]\n" + what + (value.empty() ? "" : "\nvalue = " + value) + "\n";
  };
  std::string text = replaced(kOnesLaunch, "type = \"s32\"\ncount = 32", "type = \"u64\"\ncount = 64");
  // out[32..39] is the submission ring's first entry, out[48..] the completion ring.
  text += "[[register]]\nname = \"peer[0].CONTROL\"\ninit = 1\n";
  text += "[[register]]\nname = \"peer[0].SQ_BASE[1]\"\ninit = { bus = \"out\", offset = 256 }\n";
  text += "[[register]]\nname = \"peer[0].CQ_BASE[1]\"\ninit = { bus = \"out\", offset = 384 }\n";
  text += "[[register]]\nname = \"peer[0].QUEUE_CONTROL[1]\"\ninit = 0x050103\nexpect = 0x050103\n";
  text += step("write = \"out[32]\"", "0x70002") + step("write = \"out[33]\"", "8");
  text += step("write = \"out[35]\"", "{ bus = \"out\", offset = 320, device = \"peer[0]\" }");
  text += step("write = \"out[36]\"", "0x1234") + step("write = \"peer[0].SQ_TAIL_DOORBELL[1]\"", "1");
  text += step("interrupt = \"peer[0].vector[5]\"", "");
  text += step("read = \"out[40]\"", "0x1234") + "[[host]]\nread = \"out[49]\"\nvalue = 7\nmask = 0xFFFF\n";
  workspace_.write("launch.toml", text);
  for (const char* transport : {"fast", "at", "lt"}) {
    const Finished run = this->run("launch.toml", {"--transport", transport});
    EXPECT_EQ(run.status, 0) << transport << run.err;
    EXPECT_THAT(run.out, HasSubstr("3 of 3 results as expected"));
    EXPECT_THAT(run.out, AllOf(HasSubstr("\nDevices\n"),
                               HasSubstr("  commands                               1  0 failed")));
  }
}

TEST_F(HostAndDevices, AnInterruptedRunKeepsWhatItDid) {
  workspace_.write("launch.toml", "module = \"" + in_source("tests/integration/data/misbehave.ptx") +
                                      "\"\nkernel = \"spin\"\ngrid = [1]\nblock = [32]\n"
                                      "[[host]]\nwrite = \"peer[0].SCRATCH[0]\"\nvalue = 1\n"
                                      "[[host]]\nwait = \"peer[0].SCRATCH[1]\"\nvalue = 1\n");
  const Finished run = workspace_.signalled({"run", "launch.toml", "--set=pcie_system.peers=1", "--quiet",
                                             "--stats", "s.json", "--access-log", "log.json"},
                                            {SIGUSR1, SIGINT}, "who waits for what");
  EXPECT_EQ(run.status, 130) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("interrupted"), HasSubstr("host")));
  EXPECT_GT(value(json::parse(read_file(workspace_.path("s.json"))), "peer.register_reads"), 0U);
  EXPECT_EQ(json::parse(read_file(workspace_.path("log.json"))).at(0).at("register"), "SCRATCH[0]");
}

TEST_F(HostAndDevices, TheAccessLogTellsWhatArrived) {
  const std::string submit = in_source("sw/kernels/submit.toml");
  EXPECT_EQ(run(submit, {"--quiet", "--access-log", "log.txt", "--stats", "s.json"}).status, 0);
  EXPECT_EQ(run(submit, {"--quiet", "--access-log", "log.json"}).status, 0);
  const json log = json::parse(read_file(workspace_.path("log.json")));
  unsigned doorbells = 0, heads = 0;
  for (const json& access : log) {
    EXPECT_EQ(access.at("device"), "peer[0]");
    if (access.at("kind") != "write") continue;
    EXPECT_EQ(access.at("bytes"), 4);
    doorbells += access.at("register") == "SQ_TAIL_DOORBELL[0]";
    heads += access.at("register") == "CQ_HEAD_DOORBELL[0]";
  }
  EXPECT_EQ(doorbells, 30U);
  EXPECT_EQ(heads, 30U);
  const json s = json::parse(read_file(workspace_.path("s.json")));
  EXPECT_EQ(value(s, "peer.doorbells"), 60U) << "what firmware and [[register]] did is no part of the run";
  EXPECT_EQ(value(s, "peer.register_writes"), 60U);
  EXPECT_EQ(value(s, "peer.commands"), 30U);
  std::istringstream lines(read_file(workspace_.path("log.txt")));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_EQ(line.substr(0, 8), "peer[0] ");
  EXPECT_EQ(count, log.size());
}

TEST_F(HostAndDevices, WhatTheBusRefusesADeviceIsARecord) {
  // A queue whose rings are where nothing is mapped for the device.
  const auto set = [](const std::string& name, const std::string& value) {
    return "[[register]]\nname = \"peer[0]." + name + "\"\ninit = " + value + "\n";
  };
  workspace_.write(
      "launch.toml",
      kOnesLaunch + set("CONTROL", "1") + set("SQ_BASE[0]", "0x123456000") +
          set("CQ_BASE[0]", "0x123458000") + set("QUEUE_CONTROL[0]", "0x301") +
          "[[host]]\nwrite = \"peer[0].SQ_TAIL_DOORBELL[0]\"\nvalue = 1\n[[host]]\ndelay = 5000\n");
  for (const char* transport : {"fast", "at", "lt"}) {
    const Finished run = this->run("launch.toml", {"--transport", transport, "--quiet", "--stats", "s.json"});
    EXPECT_EQ(run.status, 0) << transport << run.err;
    EXPECT_THAT(run.err,
                HasSubstr("refused: peer[0]: a read of 64 bytes at bus address 0x123456000: the IOMMU "
                          "forbids it, cycle "))
        << transport;
    const json refused = json::parse(read_file(workspace_.path("s.json"))).at("refused_accesses");
    EXPECT_GE(refused.at("count").get<unsigned>(), 1U);
    EXPECT_EQ(refused.at("count").get<std::size_t>(), refused.at("first").size());
  }
}

TEST_F(HostAndDevices, ALogThatForgotSaysSo) {
  const std::vector<std::string> few{"--quiet", "--set=pcie_system.peer.log_entries=10", "--access-log"};
  const auto logged = [&](const std::string& file) {
    std::vector<std::string> options = few;
    options.push_back(file);
    EXPECT_EQ(run(in_source("sw/kernels/submit.toml"), options).status, 0);
    return read_file(workspace_.path(file));
  };
  EXPECT_THAT(logged("log.txt"), HasSubstr("peer[0]  80 older accesses were forgotten"));
  EXPECT_EQ(json::parse(logged("log.json")).at(0).at("forgotten"), 80);
}

TEST_F(HostAndDevices, AccessLogsOfNothingAreRefused) {
  const std::string vecadd = in_source("sw/kernels/vecadd.toml");
  EXPECT_THAT(workspace_.warpline({"run", vecadd, "--access-log", "log.txt"}).err,
              HasSubstr("the platform has no devices"));
  EXPECT_THAT(run(vecadd, {"--access-log", "x", "--stats", "x"}).err,
              HasSubstr("--access-log: error: x is the file of --stats, too"));
}

TEST_F(HostAndDevices, ADeviceThatNobodyUsesChangesNothing) {
  const std::string vecadd = in_source("sw/kernels/vecadd.toml");
  EXPECT_EQ(workspace_.warpline({"run", vecadd, "--quiet", "--stats", "without.json"}).status, 0);
  EXPECT_EQ(run(vecadd, {"--quiet", "--stats", "with.json", "--access-log", "log.json"}).status, 0);
  const json without = json::parse(read_file(workspace_.path("without.json")));
  const json with = json::parse(read_file(workspace_.path("with.json")));
  EXPECT_EQ(without.at("cycles"), with.at("cycles"));
  for (const auto& [path, counter] : without.at("counters").items())
    EXPECT_EQ(counter, with.at("counters").at(path)) << path;
  EXPECT_TRUE(json::parse(read_file(workspace_.path("log.json"))).empty());
}

}  // namespace host_and_devices_test
}  // namespace warpline::test
