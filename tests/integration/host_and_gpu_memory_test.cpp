// Launch files whose host and devices reach a GPU's memory by its BAR.
#include <map>

#include "tests/integration/host_and_devices.h"

namespace warpline::test {
namespace host_and_gpu_memory_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using HostAndGpuMemory = HostAndDevices;

TEST_F(HostAndGpuMemory, RingsFlagsAndDataMayLieInAGpusMemory) {
  for (const char* kernel : {"submit", "serve"}) {
    const std::string file = changed(kernel, "aperture = \"sysmem\"", "aperture = \"vidmem\"");
    std::map<std::string, std::string> cycles;
    for (const char* transport : {"fast", "at", "lt"}) {
      const Finished run = this->run(file, {"--transport", transport, "--stats", "s.json"});
      EXPECT_EQ(run.status, 0) << kernel << " " << transport << "\n" << run.out << run.err;
      const json statistics = json::parse(read_file(workspace_.path("s.json")));
      cycles[transport] = statistics.at("cycles").dump();
      EXPECT_GT(value(statistics, "pcie.inbound.writes"), 0U) << kernel << " " << transport;
      EXPECT_GT(value(statistics, "pcie.inbound.reads"), 0U) << kernel << " " << transport;
    }
    EXPECT_EQ(cycles["fast"], cycles["at"]) << kernel;
  }
}

TEST_F(HostAndGpuMemory, EveryGpusMemoryIsReachedByItsOwnBar) {
  changed("serve", "aperture = \"sysmem\"", "aperture = \"vidmem\"");
  workspace_.write("launch.toml", "gpu = 1\n" + read_file(workspace_.path("launch.toml")));
  const Finished run = this->run("launch.toml", {"--set=gpus=2", "--stats", "s.json"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  const json statistics = json::parse(read_file(workspace_.path("s.json")));
  EXPECT_GT(value(statistics, "pcie.inbound.writes"), 0U);
}

TEST_F(HostAndGpuMemory, MemoryBeyondTheBarOfAGpuIsNotReached) {
  for (const char* kernel : {"submit", "serve"}) {
    const std::string file = changed(kernel, "aperture = \"sysmem\"", "aperture = \"vidmem\"");
    const Finished none = run(file, {"--set", "pcie.bar_bytes=0"});
    EXPECT_EQ(none.status, 2) << kernel;
    EXPECT_THAT(none.err,
                AllOf(HasSubstr("reaches beyond the BAR of GPU 0, which has 0 bytes"), HasSubstr("^~~")));
    const std::string hint = "with --set pcie.bar_bytes=";
    const std::size_t at = none.err.rfind(hint);
    ASSERT_NE(at, std::string::npos) << none.err;
    const std::string enough = std::to_string(std::stoull(none.err.substr(at + hint.size())));
    EXPECT_EQ(run(file, {"--set", "pcie.bar_bytes=" + enough}).status, 0) << "what the last hint says";
  }
  // Each buffer is named once, wherever it is used first.
  const Finished serve = run("launch.toml", {"--set", "pcie.bar_bytes=4096"});
  EXPECT_THAT(serve.err, HasSubstr("4 errors"));
}

TEST_F(HostAndGpuMemory, DevicesThatMayNotReachEachOtherAreNoUse) {
  const std::vector<std::string> apart{"--set", "pcie_system.root.peer_to_peer=false"};
  const Finished submit = run(in_source("sw/kernels/submit.toml"), apart);
  EXPECT_EQ(submit.status, 2);
  EXPECT_THAT(submit.err, AllOf(HasSubstr("kernels reach \"peer[0].SQ_TAIL_DOORBELL[0]\" over their link"),
                                HasSubstr("peer_to_peer=true"), Not(HasSubstr(" errors"))));
  EXPECT_EQ(run(in_source("sw/kernels/serve.toml"), apart).status, 0) << "flags lie in system memory";
  const Finished rings = run(changed("submit", "aperture = \"sysmem\"", "aperture = \"vidmem\""), apart);
  EXPECT_THAT(rings.err, HasSubstr("buffer \"completions\" lies in the memory of a GPU"));
}

/// A device that is rung before the launch, with rings in video memory.
TEST_F(HostAndGpuMemory, ADoorbellAmongTheRegistersIsAnsweredBeforeTheLaunch) {
  const std::string name = "[[register]]\nname = \"peer[0].";
  workspace_.write(
      "launch.toml",
      kOnesLaunch +
          ("[[argument]]\nbus = \"commands\"\ndevice = \"peer[0]\"\ntype = \"u64\"\ncount = 64\n"
           "[[argument]]\nbus = \"answers\"\ndevice = \"peer[0]\"\ntype = \"u64\"\ncount = 16\n" +
           name + "CONTROL\"\ninit = 1\n" + name + "SQ_BASE[0]\"\ninit = { bus = \"commands\" }\n" + name +
           "CQ_BASE[0]\"\ninit = { bus = \"answers\" }\n" + name + "QUEUE_CONTROL[0]\"\ninit = 0x301\n" +
           name + "SQ_TAIL_DOORBELL[0]\"\ninit = 2\n" + name + "COMMANDS\"\nexpect = 2\n" +
           "[[host]]\nread = \"answers[3]\"\nvalue = 0x0001000200000000\n"));
  workspace_.write("ones.ptx", replaced(kOnes, "out)", "out, .param .u64 a, .param .u64 b)"));
  std::map<std::string, std::string> cycles;
  for (const std::string by : {"--transport=fast", "--transport=at", "--transport=lt", "--pins=*l2*"}) {
    const Finished run = this->run("launch.toml", {by, "--stats", "s.json"});
    EXPECT_EQ(run.status, 0) << by << "\n" << run.out << run.err;
    cycles[by] = json::parse(read_file(workspace_.path("s.json"))).at("cycles").dump();
  }
  EXPECT_EQ(cycles["--transport=fast"], cycles["--transport=at"]);
}

TEST_F(HostAndGpuMemory, ALoadThatIsNotAnsweredIsNoValue) {
  const auto impatient = [&](const std::string& step) {
    workspace_.write("launch.toml",
                     replaced(kOnesLaunch, "aperture = \"sysmem\"", "") + ("[[host]]\n" + step));
    return run("launch.toml", {"--set=pcie_system.host.completion_timeout=500", "--quiet"});
  };
  const Finished wait = impatient("wait = \"out[1]\"\nat_least = 1\n");
  EXPECT_EQ(wait.status, 3);
  EXPECT_THAT(wait.err, HasSubstr("\"out[1]\" to be at least 1, which was not answered in time"));
  for (const char* step : {"read = \"out[1]\"\nvalue = -1\n", "read = \"out[1]\"\n"}) {
    const Finished read = impatient(step);
    EXPECT_EQ(read.status, 1) << step;
    EXPECT_THAT(read.err, HasSubstr("read \"out[1]\": was not answered in time"));
  }
}

}  // namespace host_and_gpu_memory_test
}  // namespace warpline::test
