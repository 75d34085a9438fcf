// `warpline run --wave` and `--timeline` as users meet them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/integration/workspace.h"
#include "tests/support/timeline_reader.h"
#include "tests/support/vcd_reader.h"

namespace warpline::test {
namespace observe_test {

using testing::HasSubstr;

std::string kernel(const std::string& name) {
  return in_source("sw/kernels/" + name + ".toml");
}

TEST(Observed, FilesAreTheSameOverSockets) {
  const Workspace w;
  for (const char* name : {"reduce", "histogram"}) {
    for (const char* transport : {"fast", "at"}) {
      const std::string t = transport;
      const Finished run =
          w.warpline({"run", kernel(name), kernel("vecadd"), "--quiet", "--set", "clocks.dram=877",
                      "--transport", t, "--wave", t + ".vcd", "--timeline", t + ".json"});
      ASSERT_EQ(run.status, 0) << run.err;
    }
    EXPECT_TRUE(read_file(w.path("fast.vcd")) == read_file(w.path("at.vcd"))) << name;
    EXPECT_TRUE(read_file(w.path("fast.json")) == read_file(w.path("at.json"))) << name;
    EXPECT_GT(parse_vcd(read_file(w.path("at.vcd"))).signals.size(), 100U);
    EXPECT_GT(parse_timeline(read_file(w.path("at.json"))).slices.size(), 1000U);
  }
}

TEST(Observed, HopsOpenedAsPinsAddTheirWiresAndChangeNothing) {
  const Workspace w;
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", kernel("vecadd"), "--quiet"});
    return w.warpline(more).status;
  };
  ASSERT_EQ(run({"--wave", "w.vcd", "--timeline", "t.json"}), 0);
  ASSERT_EQ(run({"--wave", "w_pins.vcd", "--timeline", "t_pins.json", "--pins", "*"}), 0);
  EXPECT_TRUE(read_file(w.path("t.json")) == read_file(w.path("t_pins.json")));
  const Vcd plain = parse_vcd(read_file(w.path("w.vcd"))), wires = parse_vcd(read_file(w.path("w_pins.vcd")));
  EXPECT_GT(wires.signals.size(), plain.signals.size());
  for (const auto& [path, signal] : plain.signals) EXPECT_EQ(wires.of(path).changes, signal.changes) << path;
}

TEST(Observed, StatisticsAreThoseOfARunThatNobodyWatches) {
  const Workspace w;
  const auto statistics = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"run", kernel("spmv"), "--quiet", "--stats", "out.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(w.warpline(arguments).status, 0);
    nlohmann::json all = nlohmann::json::parse(read_file(w.path("out.json")));
    for (const char* const key : {"wall_s", "command"}) all.erase(key);
    return all;
  };
  EXPECT_EQ(statistics({}), statistics({"--wave", "w.vcd", "--timeline", "t.json", "--window", "100:900"}));
}

TEST(Observed, ProbesAndTheWindowBoundBothFiles) {
  const Workspace w;
  const Finished run =
      w.warpline({"run", kernel("reduce"), "--quiet", "--wave", "w.vcd", "--timeline", "t.json", "--probe",
                  "l2[0]", "--probe", "*.from_l2*", "--window", "500:800"});
  ASSERT_EQ(run.status, 0) << run.err;
  const Vcd vcd = parse_vcd(read_file(w.path("w.vcd")));
  EXPECT_EQ(vcd.begin, 500'000U);
  EXPECT_EQ(vcd.end, 801'000U);
  for (const auto& [path, signal] : vcd.signals)
    EXPECT_THAT(path, testing::AnyOf(HasSubstr("gpu.l2[0]."), HasSubstr(".from_l2")));
  EXPECT_EQ(vcd.signals.count("gpu.dram[1].from_l2[0].occupancy"), 1U);
  const Timeline t = parse_timeline(read_file(w.path("t.json")));
  EXPECT_THAT(t.blocks, testing::ElementsAre("crossbar", "l2[0]", "dram[0]", "dram[1]", "pcie"));
}

TEST(Observed, FilesAreCompleteHoweverTheRunEnds) {
  const Workspace w;
  // Wrong data: status 1.
  const std::string wrong =
      w.write("wrong.toml", replaced(replaced(read_file(kernel("vecadd")), "vecadd.sm_80.ptx",
                                              in_source("sw/kernels/vecadd.sm_80.ptx")),
                                     "a[i] + b[i]", "a[i] - b[i]"));
  EXPECT_EQ(w.warpline({"run", wrong, "--quiet", "--wave", "1.vcd", "--timeline", "1.json"}).status, 1);
  EXPECT_EQ(parse_vcd(read_file(w.path("1.vcd"))).of("gpu.sm[0].warps").last(), 0U);
  EXPECT_FALSE(parse_timeline(read_file(w.path("1.json"))).slices.empty());
  // The cycle limit: status 3.
  EXPECT_EQ(w.warpline({"run", kernel("matmul"), "--quiet", "--wave", "3.vcd", "--timeline", "3.json",
                        "--max-cycles", "800"})
                .status,
            3);
  EXPECT_GT(parse_vcd(read_file(w.path("3.vcd"))).of("gpu.sm[0].warps").last(), 0U);
  const Timeline cut = parse_timeline(read_file(w.path("3.json")));
  EXPECT_TRUE(std::any_of(cut.slices.begin(), cut.slices.end(), [](const auto& s) { return s.unfinished; }));
  // An input that turns out bad: no file, and none half written.
  EXPECT_EQ(w.warpline({"run", "nowhere.toml", "--wave", "2.vcd"}).status, 2);
  unsigned left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(w.path("")))
    left += entry.path().string().find(".part") != std::string::npos || entry.path().filename() == "2.vcd";
  EXPECT_EQ(left, 0U);
}

/// A run without end in a process of its own, that writes a wave and a timeline.
struct EndlessRun {
  EndlessRun() {
    const std::string launch =
        w.write("endless.toml",
                "generator = \"random\"\nfootprint = 1048576\naccesses = 1000000000\nseed = 1\n"
                "grid = [64, 1, 1]\nblock = [128, 1, 1]\n");
    child = fork();
    if (child == 0) {
      execl(WARPLINE_BINARY, "warpline", "run", launch.c_str(), "--quiet", "--wave", wave.c_str(),
            "--timeline", timeline.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
  }
  /// Whether a file that it has open in our folder, beside its input, has bytes on the disk.
  [[nodiscard]] bool writes() const {
    std::error_code gone;
    const std::filesystem::directory_iterator files("/proc/" + std::to_string(child) + "/fd", gone);
    return std::any_of(begin(files), end(files), [&](const auto& entry) {
      const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
      return !gone && target.rfind(w.path(""), 0) == 0 && target.find(".toml") == std::string::npos &&
             std::filesystem::file_size(entry.path(), gone) != 0 && !gone;
    });
  }
  /// Waits until a part of the wave is on the disk: the run is well under way.
  void get_under_way() const {
    while (!writes()) {
      ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it ended by itself";
      usleep(1000);
    }
  }
  /// The status with which it ends.
  [[nodiscard]] int wait() const {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
  const Workspace w;
  const std::string wave = w.path("i.vcd"), timeline = w.path("i.json");
  pid_t child = -1;
};

TEST(Observed, AnInterruptedRunLeavesCompleteFiles) {
  const EndlessRun run;
  ASSERT_GT(run.child, 0);
  ASSERT_NO_FATAL_FAILURE(run.get_under_way());
  kill(run.child, SIGINT);
  EXPECT_EQ(WEXITSTATUS(run.wait()), 130);
  EXPECT_GT(parse_vcd(read_file(run.wave)).of("gpu.sm[0].warps").last(), 0U);
  EXPECT_NO_THROW(static_cast<void>(parse_timeline(read_file(run.timeline))));
}

TEST(Observed, AKilledRunLeavesNothing) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    const EndlessRun run;
    ASSERT_GT(run.child, 0);
    ASSERT_NO_FATAL_FAILURE(run.get_under_way());
    kill(run.child, signal);
    EXPECT_EQ(WTERMSIG(run.wait()), signal);
    for (const auto& entry : std::filesystem::directory_iterator(run.w.path("")))
      EXPECT_EQ(entry.path().filename(), "endless.toml");
  }
}

TEST(Observed, MistakesAreExplainedBeforeTheRun) {
  const Workspace w;
  const auto fails = [&](std::vector<std::string> options, const std::vector<std::string>& expected) {
    options.insert(options.begin(), {"run", kernel("vecadd")});
    const Finished run = w.warpline(options);
    EXPECT_EQ(run.status, 2) << options.back();
    for (const std::string& e : expected) EXPECT_THAT(run.err, HasSubstr(e)) << options.back();
    EXPECT_THAT(run.out, testing::IsEmpty());
  };
  fails({"--probe", "l2[0]"}, {"--probe", "--wave", "--timeline"});
  fails({"--window", "1:2"}, {"--window", "--wave"});
  fails({"--wave", "w.vcd", "--probe", "l2[9]"}, {"\"l2[9]\" matches no block", "did you mean \"l2["});
  fails({"--wave", "w.vcd", "--probe", "gpc*"},
        {"matches no block", "sm[0].l1_lg", "crossbar", "l2[0].from_crossbar"});
  fails({"--timeline", "t.json", "--probe", "l2[0]", "--probe", "xyz", "--probe", "abc"},
        {"xyz", "abc", "2 errors"});
  fails({"--wave", "w.vcd", "--window", "5"}, {"FIRST:LAST", "1000:2000"});
  fails({"--wave", "w.vcd", "--window", "-1:5"}, {"FIRST:LAST"});
  fails({"--wave", "w.vcd", "--window", "9:5"}, {"before"});
  fails({"--wave", "w.vcd", "--window", "1:99999999999999999999"}, {"FIRST:LAST"});
  fails({"--wave", "same", "--timeline", "same"}, {"same is the file of --wave, too"});
  w.write("file", "");
  fails({"--wave", "file/w.vcd"}, {"--wave", "file/w.vcd", "Not a directory"});
  fails({"--timeline", "."}, {"--timeline", "folder"});
  EXPECT_FALSE(std::filesystem::exists(w.path("w.vcd")));
}

TEST(Observed, AWindowThatTheRunNeverReachesIsAnEmptyDump) {
  const Workspace w;
  const Finished run =
      w.warpline({"run", kernel("vecadd"), "--quiet", "--wave", "w.vcd", "--window", "10000000:"});
  EXPECT_EQ(run.status, 0);
  const Vcd vcd = parse_vcd(read_file(w.path("w.vcd")));
  for (const auto& [path, signal] : vcd.signals) EXPECT_EQ(signal.changes.size(), 1U) << path;
}

}  // namespace observe_test
}  // namespace warpline::test
