#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/command.h"

namespace warpline::test {
namespace checkpoints_test {

/// A folder of launch files, which goes with it.
class CheckpointCommands : public testing::Test {
 protected:
  CheckpointCommands()
      : folder_(std::filesystem::temp_directory_path() / ("warpline-cli-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    const std::string pattern =
        "[[launch]]\ngenerator = \"stream\"\nfootprint = 65536\naccesses = 8\ngrid = [4, 1, 1]\nblock = [64, "
        "1, 1]\n";
    write("two.toml", pattern + pattern);
    write("one.toml", pattern);
  }
  ~CheckpointCommands() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  [[nodiscard]] std::string in(const std::string& name) const { return (folder_ / name).string(); }
  Ended run(std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    return command(words);
  }
  std::filesystem::path folder_;
};

TEST_F(CheckpointCommands, GoOnWhereTheyStopped) {
  const Ended whole = run({in("two.toml")});
  const Ended half = run({in("two.toml"), "--save", in("c"), "--save-after", "1"});
  EXPECT_EQ(half.status, 0);
  EXPECT_NE(half.out.find("saved to " + in("c") + " after 1 launch; --restore goes on from there"),
            std::string::npos);
  const Ended rest = run({in("two.toml"), "--restore", in("c")});
  EXPECT_EQ(rest.status, 0) << rest.err;
  const auto without_time = [](const std::string& text) { return text.substr(text.find('\n')); };
  EXPECT_EQ(without_time(rest.out), without_time(whole.out));
  // What has run to its end has nothing left to run.
  ASSERT_EQ(run({in("two.toml"), "--quiet", "--restore", in("c"), "--save", in("d")}).status, 0);
  EXPECT_EQ(without_time(run({in("two.toml"), "--restore", in("d")}).out), without_time(whole.out));
}

TEST_F(CheckpointCommands, WhatIsInFlightIsListedAsInOneRun) {
  const std::string pattern =
      "[[launch]]\ngenerator = \"random\"\nfootprint = 1048576\naccesses = 8\ngrid = [4, 1, 1]\nblock = "
      "[64, 1, 1]\n";
  write("misses.toml", pattern + "seed = 1\n" + pattern + "seed = 2\n");
  const Ended half = run({in("misses.toml"), "--save", in("c"), "--save-after", "1"});
  ASSERT_EQ(half.status, 0);
  const int first = std::stoi(half.out.substr(half.out.find(' ')));
  for (const int later : {100, 150, 200}) {
    const std::string limit = std::to_string(first + later);
    const Ended whole = run({in("misses.toml"), "--quiet", "--max-cycles", limit});
    ASSERT_EQ(whole.status, 3);
    EXPECT_NE(whole.err.find(" miss register "), std::string::npos) << whole.err;
    EXPECT_EQ(run({in("misses.toml"), "--quiet", "--max-cycles", limit, "--restore", in("c")}).err,
              whole.err);
  }
}

TEST_F(CheckpointCommands, CountEveryGridOfThoseThatRunTogether) {
  std::string text;
  for (int n = 0; n < 3; ++n)
    for (const char* gpu : {"gpu = 0\n", "gpu = 1\nconcurrent = true\n"})
      text +=
          "[[launch]]\ngenerator = \"stream\"\nfootprint = 65536\naccesses = 8\ngrid = [4, 1, 1]\nblock = "
          "[64, 1, 1]\n" +
          std::string(gpu);
  write("pairs.toml", text);
  const auto pairs = [this](std::vector<std::string> words) {
    words.insert(words.begin(), {in("pairs.toml"), "--quiet", "--set", "gpus=2", "--fast-forward", "4"});
    return run(std::move(words)).status;
  };
  const auto bytes_of = [this](const char* name) {
    std::ifstream file(folder_ / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  ASSERT_EQ(pairs({"--save", in("whole")}), 0);
  // The first grid of a pair ends the run, and the second has run, too.
  ASSERT_EQ(pairs({"--save", in("half"), "--save-after", "1"}), 0);
  ASSERT_EQ(pairs({"--restore", in("half"), "--save", in("rest")}), 0);
  EXPECT_TRUE(bytes_of("rest") == bytes_of("whole"));
}

TEST_F(CheckpointCommands, RefuseWhatDoesNotFit) {
  ASSERT_EQ(run({in("two.toml"), "--quiet", "--save", in("c"), "--save-after", "1"}).status, 0);
  const auto refused = [this](std::vector<std::string> words, const std::string& why) {
    const Ended ended = run(std::move(words));
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
  };
  refused({in("one.toml"), "--restore", in("c")},
          "a run of other inputs: one.toml is in the place of two.toml");
  refused({in("two.toml"), "--restore", in("c"), "--set", "sms=1"}, "gpu.sms is 1, and was ");
  refused({in("two.toml"), "--restore", in("c"), "--jitter", "3"}, "jitter is 3, and was none");
  refused({in("two.toml"), "--restore", in("c"), "--seed", "3"}, "--seed is 3, and was 1");
  refused({in("two.toml"), "--restore", in("c"), "--fast-forward", "1"}, "--fast-forward is 1, and was none");
  refused({in("two.toml"), "--restore", in("c"), "--transport", "lt"}, "--transport is lt, and was timed");
  refused({in("two.toml"), "--restore", in("two.toml")}, "is no checkpoint");
  refused({in("two.toml"), "--restore", in("nothing")}, "cannot be read: No such file");
  refused({in("two.toml"), "--restore", folder_.string()}, "is a folder");
  refused({in("two.toml"), "--restore", in("c"), "--save", in("c")}, "c");
  refused({in("two.toml"), "--save-after", "1"}, "--save FILE is not given");
  refused({in("two.toml"), "--save", in("d"), "--save-after", "3"}, "there are 2 grids to run");
  refused({in("two.toml"), "--save", in("d"), "--save-after", "0"}, "a run does not stop after 0");
  refused({in("two.toml"), "--save", in("d"), "--save-after", "nobody"}, "no kernel \"nobody\" is launched");
  refused({in("two.toml"), "--warm"}, "--restore FILE is not given");
  refused({in("two.toml"), "--save", in("d"), "--set", "pcie_system.peers=1", "--tags-only"}, "is not saved");
  EXPECT_FALSE(std::filesystem::exists(in("d")));
}

TEST_F(CheckpointCommands, RunOtherInputsOnAWarmMachine) {
  ASSERT_EQ(run({in("two.toml"), "--quiet", "--save", in("c")}).status, 0);
  const Ended warm = run({in("one.toml"), "--restore", in("c"), "--warm"});
  EXPECT_EQ(warm.status, 0) << warm.err;
  const Ended cold = run({in("one.toml")});
  const auto accesses = [](const std::string& text) {
    const std::size_t at = text.find("L1 local/global");
    return text.substr(at, 45);
  };
  EXPECT_EQ(accesses(warm.out), accesses(cold.out)) << "what the run before did is not counted";
}

TEST_F(CheckpointCommands, OnAWarmMachineCyclesCountFromTheNewRun) {
  ASSERT_EQ(run({in("two.toml"), "--quiet", "--save", in("c")}).status, 0);
  const Ended whole = run({in("two.toml")});
  const std::string cycles = whole.out.substr(6, whole.out.find(' ', 6) - 6);
  EXPECT_EQ(run({in("one.toml"), "--quiet", "--restore", in("c"), "--warm", "--max-cycles", cycles}).status,
            0);
  const Ended stuck = run({in("one.toml"), "--quiet", "--restore", in("c"), "--warm", "--max-cycles", "50"});
  EXPECT_EQ(stuck.status, 3);
  EXPECT_NE(stuck.err.find("is not done at the cycle limit of 50"), std::string::npos) << stuck.err;
  EXPECT_NE(stuck.err.find("in flight, oldest first"), std::string::npos) << stuck.err;
}

TEST_F(CheckpointCommands, OnAWarmMachineFaultsAreThoseOfTheNewRun) {
  write("bad.ptx",
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry bad(.param .u64 p)\n{\n"
        ".reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1+1];\n"
        "ret;\n}\n");
  // More than are kept.
  write("bad.toml",
        "module = \"bad.ptx\"\nkernel = \"bad\"\ngrid = [1100, 1, 1]\nblock = [32, 1, 1]\n[[argument]]\n"
        "buffer = \"a\"\ntype = \"u32\"\ncount = 64\n");
  ASSERT_EQ(run({in("bad.toml"), "--quiet", "--set", "sms=1", "--save", in("c")}).status, 1);
  const Ended warm = run({in("bad.toml"), "--quiet", "--set", "sms=1", "--restore", in("c"), "--warm"});
  EXPECT_EQ(warm.status, 1);
  EXPECT_NE(warm.err.find("of block (0, 0, 0)"), std::string::npos) << warm.err;
  EXPECT_NE(warm.err.find("1100 faults in all, 1090 more than these"), std::string::npos) << warm.err;
}

TEST_F(CheckpointCommands, OnAWarmMachineConstantsHaveTheNamesOfTheNewRun) {
  for (const std::string name : {"old", "young"}) {
    write(name + ".ptx",
          ".version 7.0\n.target sm_80\n.address_size 64\n.const .align 4 .u32 " + name +
              "[2] = {3, 5};\n.visible .entry bad()\n{\n.reg .b32 %r<2>;\nld.const.u32 %r1, [" + name +
              "+1];\nret;\n}\n");
    write(name + ".toml",
          "module = \"" + name + ".ptx\"\nkernel = \"bad\"\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\n");
  }
  ASSERT_EQ(run({in("old.toml"), "--quiet", "--save", in("c")}).status, 1);
  const Ended warm = run({in("young.toml"), "--quiet", "--restore", in("c"), "--warm"});
  EXPECT_NE(warm.err.find("1 byte into variable young"), std::string::npos) << warm.err;
}

TEST_F(CheckpointCommands, ARunDoesNotStopWhereItHasBeen) {
  ASSERT_EQ(run({in("two.toml"), "--quiet", "--save", in("c"), "--save-after", "1"}).status, 0);
  const auto stopped = [this](const std::string& after) {
    return run({in("two.toml"), "--quiet", "--restore", in("c"), "--save", in("d"), "--save-after", after});
  };
  for (const char* past : {"1", "stream"}) {
    const Ended ended = stopped(past);
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.err.find("--save-after: error: "), std::string::npos) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(in("d"))) << past;
  }
  EXPECT_EQ(stopped("2").status, 0);
}

}  // namespace checkpoints_test
}  // namespace warpline::test
