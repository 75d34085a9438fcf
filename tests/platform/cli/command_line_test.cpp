#include "platform/cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/cli/progress_bar.h"
#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"
#include "tests/support/command.h"

namespace warpline {
namespace command_line_test {

using test::command;
using test::Ended;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CommandLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("warpline-cli-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    input_ = path("g.toml");
    std::ofstream(input_) << "[[launch]]\ngenerator = \"stream\"\nfootprint = 65536\naccesses = 2000\ngrid = "
                             "[8]\nblock = [128]\n"
                             "[[launch]]\ngenerator = \"random\"\nfootprint = 65536\naccesses = 500\ngrid = "
                             "[3]\nblock = [64]\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) { return (folder_ / name).string(); }
  nlohmann::json stats(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run", input_, "--quiet", "--stats", path("s.json")};
    words.insert(words.end(), more.begin(), more.end());
    const Ended e = command(words);
    EXPECT_EQ(e.status, kDone) << e.err;
    std::ifstream file(path("s.json"));
    return nlohmann::json::parse(file);
  }
  std::filesystem::path folder_;
  std::string input_;
};

TEST_F(CommandLineTest, AHostAndItsDevicesGoWithTheirRun) {
  const Ended e = command({"run", WARPLINE_SOURCE_DIR "/sw/kernels/submit.toml", "--quiet", "--set",
                           "pcie_system.peers=1", "--set", "peer_bytes=0", "--access-log", path("log.json")});
  EXPECT_EQ(e.status, kDone) << e.err;
  std::ifstream log(path("log.json"));
  EXPECT_FALSE(nlohmann::json::parse(log).empty());
}

TEST_F(CommandLineTest, StatisticsSayWhatWasRunAndWhatDiffers) {
  const auto first = stats({});
  EXPECT_EQ(first["outcome"], "finished");
  EXPECT_EQ(first["exit_status"], 0);
  EXPECT_EQ(first["command"].back(), path("s.json"));
  EXPECT_EQ(first["options"]["seed"], 1);
  EXPECT_TRUE(first["options"]["jitter"].is_null());
  EXPECT_EQ(first["configuration"]["l2.slices"], 4);
  EXPECT_TRUE(first["configuration"]["crossbar.hash_masks"][0].is_string()) << "it is above 2^53";
  EXPECT_EQ(first["configuration"]["name"], "mini");
  ASSERT_EQ(first["files"].size(), 1U);
  EXPECT_EQ(first["files"][0]["path"], input_);
  EXPECT_EQ(first["files"][0]["bytes"], std::filesystem::file_size(input_));
  EXPECT_EQ(first["fault_count"], 0);
  const auto second = stats({"--set", "l2.slices=3", "--seed", "7", "--jitter", "4"});
  EXPECT_NE(second["configuration_sha256"], first["configuration_sha256"]);
  EXPECT_EQ(second["configuration"]["l2.slices"], 3);
  EXPECT_EQ(second["options"]["seed"], 7);
  EXPECT_EQ(second["options"]["jitter"], 4);
  EXPECT_EQ(second["files"], first["files"]);
  std::ofstream(input_, std::ios::app) << "# changed\n";
  EXPECT_NE(stats({})["files"], first["files"]);
}

TEST_F(CommandLineTest, ThreadsChangeNoStatisticsAndWhereTheyDoNothingThatIsSaid) {
  const auto compared = [this](const std::vector<std::string>& options) {
    auto all = stats(options);
    for (const char* const key : {"wall_s", "command"}) all.erase(key);
    return all;
  };
  EXPECT_EQ(compared({"--gpu", "v100"}), compared({"--gpu", "v100", "--threads", "3"}));
  const auto said = [this](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", input_, "--quiet", "--gpu", "v100", "--threads", "2"});
    const auto ended = command(options);
    EXPECT_EQ(ended.status, kDone);
    return ended.err;
  };
  const std::string note = "note: --threads 2: the run keeps to one, as ";
  EXPECT_EQ(said({}), "");
  EXPECT_EQ(said({"--wave", path("w.vcd")}),
            note + "what is watched is watched in the order in which it happens\n");
}

TEST_F(CommandLineTest, StatisticsAreUtf8WhateverTheirFilesAreCalled) {
  const std::string odd = path("we\xff.toml");
  std::filesystem::copy_file(input_, odd);
  ASSERT_EQ(command({"run", odd, "--quiet", "--stats", path("s.json")}).status, kDone);
  std::ifstream file(path("s.json"));
  EXPECT_EQ(nlohmann::json::parse(file)["input"][0], path("we\uFFFD.toml"));
}

/// What a kernel does to the buffer "a" of 16 words at %rd1, by 8 threads of 2 blocks.
class FaultyRun : public CommandLineTest {
 protected:
  Ended run(const std::string& code, const std::vector<std::string>& more = {}) {
    std::ofstream(path("k.ptx"))
        << ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{\n"
           ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.shared .b32 s[4];\n"
           "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
        << code << "\nret;\n}\n";
    std::ofstream(path("k.toml"))
        << "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [2, 1, 1]\nblock = [4, 2, 1]\n"
           "[[argument]]\nbuffer = \"a\"\ntype = \"u32\"\ncount = 16\n";
    std::vector<std::string> words = {"run", path("k.toml"), "--quiet", "--stats", path("s.json")};
    words.insert(words.end(), more.begin(), more.end());
    return command(words);
  }
  nlohmann::json written() {
    std::ifstream file(path("s.json"));
    return nlohmann::json::parse(file);
  }
};

TEST_F(FaultyRun, AFaultTellsTheThreadTheAccessAndHowFarBesideWhichBuffer) {
  // Thread (1, 1, 0) of block (1, 0, 0) alone.
  const std::string alone =
      "mov.u32 %r3, %tid.y;\nmul.lo.u32 %r4, %r1, %r3;\nmul.lo.u32 %r4, %r4, %r2;\nsetp.ne.u32 %p1, %r4, 1;\n"
      "@%p1 ret;\n";
  const Ended load = run(alone + "ld.global.u32 %r5, [%rd1+76];");
  EXPECT_EQ(load.status, kCheckFailed);
  EXPECT_THAT(load.err,
              HasSubstr(", a load of 4 bytes by thread (1, 1, 0) of block (1, 0, 0), 12 bytes past the "
                        "end of buffer a, "));
  const auto json = written();
  EXPECT_EQ(json["outcome"], "faulted");
  EXPECT_EQ(json["exit_status"], kCheckFailed);
  EXPECT_EQ(json["fault_count"], 1);
  const auto& fault = json["faults"][0];
  EXPECT_EQ(fault["kind"], "unmapped address");
  EXPECT_EQ(fault["access"], "load");
  EXPECT_EQ(fault["bytes"], 4);
  EXPECT_EQ(fault["thread"], (std::vector<int>{1, 1, 0}));
  EXPECT_EQ(fault["block"], (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(fault["memory"], "buffer a");
  EXPECT_EQ(fault["offset"], 76);
  EXPECT_EQ(fault["memory_bytes"], 64);
  EXPECT_THAT(
      run(alone + "st.global.v2.u32 [%rd1+-8], {%r1, %r1};").err,
      HasSubstr("a store of 8 bytes by thread (1, 1, 0) of block (1, 0, 0), 8 bytes before the start of "
                "buffer a"));
  EXPECT_THAT(
      run(alone + "red.global.add.u32 [%rd1+64], 1;").err,
      HasSubstr(
          "a reduction of 4 bytes by thread (1, 1, 0) of block (1, 0, 0), just past the end of buffer a"));
  EXPECT_THAT(run(alone + "ld.global.u32 %r5, [%rd1+6];").err, HasSubstr("6 bytes into buffer a"));
  EXPECT_THAT(run(alone + "mov.u32 %r6, s;\nst.shared.u32 [%r6+20], %r1;").err,
              HasSubstr("4 bytes past the end of the block's shared memory"));
}

TEST_F(FaultyRun, RecordsNameTheMemoryThatIsNoBuffer) {
  EXPECT_THAT(run("ld.shared.u32 %r5, [s+1];").err,
              HasSubstr("a load of 4 bytes by thread (0, 0, 0) of block (0, 0, 0), 1 byte into the block's "
                        "shared memory, "));
  const auto shared = written()["faults"][0];
  EXPECT_EQ(shared["memory"], "the block's shared memory");
  EXPECT_EQ(shared["memory_bytes"], 16);
  EXPECT_EQ(shared["offset"], 1);
  EXPECT_FALSE(shared.contains("coordinates"));
  run("discard.global.L2 [%rd1+128], 128;");
  EXPECT_EQ(written()["faults"][0]["bytes"], 128);
}

TEST_F(FaultyRun, RecordsOfImagesHaveCoordinates) {
  std::ofstream(path("i.ptx"))
      << ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{\n"
         ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, 12;\n"
         "mov.u32 %r2, 1;\nsust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r1};\nret;\n}\n";
  std::ofstream(path("i.toml"))
      << "module = \"i.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n[[argument]]\n"
         "surface = { buffer = \"a\", width = 2, height = 2, format = \"u32\", type = \"u32\", count = 4 }\n";
  const Ended e = command({"run", path("i.toml"), "--quiet", "--stats", path("s.json")});
  EXPECT_THAT(e.err, HasSubstr("at byte 12 of row 1 of the surface of 2 by 2 elements in buffer a"));
  const auto fault = written()["faults"][0];
  EXPECT_EQ(fault["coordinates"], (std::vector<int>{12, 1}));
  EXPECT_TRUE(fault["offset"].is_null());
  EXPECT_EQ(fault["memory_bytes"], 16);
}

TEST_F(FaultyRun, PastADevicesBarNamesTheBar) {
  std::ofstream(path("b.ptx"))
      << ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{\n"
         ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [a];\n"
         "ld.global.u32 %r1, [%rd1+1048576];\nret;\n}\n";
  std::ofstream(path("b.toml"))
      << "module = \"b.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n[[argument]]\n"
         "address = \"peer[0].bar[4]+0\"\n";
  const Ended e =
      command({"run", path("b.toml"), "--quiet", "--set", "pcie_system.peers=1", "--stats", path("s.json")});
  EXPECT_EQ(e.status, kCheckFailed);
  EXPECT_THAT(e.err, HasSubstr("just past the end of peer[0].bar[4]"));
  EXPECT_EQ(written()["faults"][0]["memory"], "peer[0].bar[4]");
}

TEST_F(FaultyRun, AFaultWithoutAnAddressPrintsNone) {
  for (const auto& [code, kind] : {std::pair("mov.u32 %r3, 16;\nbar.sync %r3;", "a barrier number above 15"),
                                   std::pair("trap;", "trap")}) {
    const Ended e = run(code);
    EXPECT_EQ(e.status, kCheckFailed);
    EXPECT_THAT(e.err, HasSubstr(std::string("fault: ") + kind + ", by thread (0, 0, 0) of block ("));
    EXPECT_THAT(e.err, Not(HasSubstr("0x0")));
    EXPECT_TRUE(written()["faults"][0]["address"].is_null());
  }
}

TEST_F(FaultyRun, ListsThatAreCutSayHowManyMoreThereAre) {
  const Ended few = run("ld.global.u32 %r5, [%rd1+64];", {"--set", "sms=1"});
  EXPECT_THAT(few.err, Not(HasSubstr("faults in all")));
  std::ofstream bad(path("k.ptx"), std::ios::trunc);
  bad << ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{\n";
  for (int n = 0; n < 30; ++n) bad << "frobnicate;\n";
  bad << "ret;\n}\n";
  bad.close();
  const Ended many = command({"run", path("k.toml"), "--quiet"});
  EXPECT_EQ(many.status, kBadInput);
  EXPECT_THAT(many.err,
              HasSubstr("k.ptx no more than 20 errors are listed: there may be others behind them"));
}

TEST_F(FaultyRun, AWarpThatSleepsSaysUntilWhen) {
  const Ended e = run("nanosleep.u32 60000;\nld.global.u32 %r5, [%rd1];", {"--max-cycles", "20000"});
  EXPECT_EQ(e.status, kStuck);
  EXPECT_THAT(e.err, HasSubstr(", until which it sleeps, or its schedule or its pipe holds it, before "));
  EXPECT_THAT(e.err, Not(HasSubstr("nothing but its turn")));
  EXPECT_EQ(written()["outcome"], "limit");
}

TEST_F(CommandLineTest, CheckJudgesModulesAndTables) {
  const std::string head =
      ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .b32 %r1;\n.reg .b64 %rd1;\n";
  std::ofstream(path("good.ptx")) << head << "ld.global.cg.u32 %r1, [%rd1];\nmembar.gl;\nret;\n}\n";
  std::ofstream(path("bad.ptx")) << head << "ld.gloal.u32 %r1, [%rd1];\nmembar.gl;\nret;\n}\n";
  std::ofstream(path("none.ptx")) << "int main() {}\n";
  const Ended good = command({"check", path("good.ptx")});
  EXPECT_EQ(good.status, kDone);
  EXPECT_EQ(good.out, path("good.ptx") + ": 2 memory instructions, accepted\n");
  EXPECT_THAT(good.err, IsEmpty());
  const Ended bad = command({"check", path("bad.ptx"), path("good.ptx")});
  EXPECT_EQ(bad.status, kCheckFailed);
  EXPECT_EQ(bad.out, path("bad.ptx") + ": 2 memory instructions, 1 rejected\n" + good.out);
  EXPECT_EQ(bad.err, path("bad.ptx") +
                         ":8:3: error: unknown qualifier '.gloal'\n"
                         "  8 | ld.gloal.u32 %r1, [%rd1];\n"
                         "    |   ^~~~~~\n"
                         "  hint: did you mean ld.global?\n");
  EXPECT_EQ(command({"check", path("none.ptx"), path("bad.ptx")}).status, kBadInput);

  std::ofstream(path("t.tsv")) << "# rows\n9.0\tsm_90\tmembar.gl;\n9.0\tsm_90\tmembar;\n";
  const Ended table = command({"check", "--table", path("t.tsv")});
  EXPECT_EQ(table.status, kDone);
  EXPECT_EQ(table.out, "accept\nreject\t'membar' needs '.cta', '.gl' or '.sys'\n");
  EXPECT_THAT(table.err, IsEmpty());
}

TEST_F(CommandLineTest, RunPrintsASummaryAndWritesStatistics) {
  const Ended e = command({"run", input_, "--stats", path("out.json")});
  EXPECT_EQ(e.status, kDone);
  EXPECT_THAT(e.err, IsEmpty());
  EXPECT_THAT(e.out, HasSubstr("mini: "));
  std::ifstream file(path("out.json"));
  const auto json = nlohmann::json::parse(file);
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["counters"]["sm.lsu.instructions"]["value"], 2500);
  EXPECT_EQ(json["launches"].size(), 2U);
}

TEST_F(CommandLineTest, StatisticsAreTheSameButForWallTime) {
  auto first = stats({});
  auto second = stats({});
  first.erase("wall_s");
  second.erase("wall_s");
  EXPECT_EQ(first.dump(), second.dump());
}

TEST_F(CommandLineTest, TotalsAreSumsOfInstancesAndOfLaunches) {
  const auto json = stats({"--set", "sms=3", "--set", "l2.slices=5"});
  std::uint64_t slices = 0, launches = 0;
  for (int n = 0; n < 5; ++n)
    slices += json["counters"]["l2[" + std::to_string(n) + "].sector_accesses"]["value"].get<std::uint64_t>();
  for (const auto& l : json["launches"])
    launches += l["counters"]["l2.sector_accesses"]["value"].get<std::uint64_t>();
  const auto total = json["counters"]["l2.sector_accesses"]["value"].get<std::uint64_t>();
  EXPECT_GT(total, 0U);
  EXPECT_EQ(slices, total);
  EXPECT_EQ(launches, total);
  EXPECT_TRUE(json["counters"].contains("sm[2].l1_lg.sector_hits"));
  EXPECT_FALSE(json["counters"].contains("sm[3].l1_lg.sector_hits"));
}

TEST_F(CommandLineTest, CycleLimitIsStuckAndStillWritesStatistics) {
  const Ended e = command({"run", input_, "--max-cycles", "50", "--stats", path("out.json")});
  EXPECT_EQ(e.status, kStuck);
  EXPECT_THAT(e.err, HasSubstr("cycle limit"));
  EXPECT_THAT(e.err, HasSubstr(" waits for "));
  std::ifstream file(path("out.json"));
  const auto json = nlohmann::json::parse(file);
  EXPECT_EQ(json["launches"][0]["outcome"], "cycle limit");
  EXPECT_EQ(json["outcome"], "limit");
  EXPECT_EQ(json["options"]["max_cycles"], 50);
}

TEST_F(CommandLineTest, MistakesExitTwoAndHelp) {
  struct Case {
    std::vector<std::string> words;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{}, "a command is missing"},
      {{"rnu"}, "did you mean \"run\"?"},
      {{"chekc"}, "did you mean \"check\"?"},
      {{"run"}, "INPUT is required"},
      {{"run", input_, "--sttas", "x"}, "did you mean \"--stats\"?"},
      {{"run", input_, "--gpu", "v10"}, "did you mean \"v100\"?"},
      {{"run", input_, "--set", "l2.slcies=3"}, "did you mean \"slices\"?"},
      {{"run", input_, "--set", "name=x"}, "written as in TOML"},
      {{"run", input_, "--transport", "lt", "--fast-forward", "3"}, "--fast-forward leads to timed grids"},
      {{"run", input_, "--transport", "fats"}, "did you mean \"fast\"?"},
      {{"run", input_, "--wave", "x.vcd", "--transport", "lt"}, "has no cycles that they could show"},
      {{"run", input_, "--probe", "x"}, "--probe bounds --wave and --timeline"},
      {{"run", input_, "--wave", input_ + "/x.vcd"}, "cannot be created: Not a directory"},
      {{"run", input_, "--pins", "l2[0].from_crossbra"}, "did you mean \"l2[0].from_crossbar\"?"},
      {{"run", input_, "--pins", "l2*", "--pins", "x"}, "\"x\" matches no hop of mini"},
      {{"run", input_, "--pins", "x"}, "hops are sm[*].l1_lg.from_sm, "},
      {{"run", input_, "--pins", "l2*", "--transport", "lt"}, "has no cycles that wires could show"},
      {{"run", input_, "--timeline", "x", "--window", "7"}, "is not FIRST:LAST"},
      {{"run", input_, "--transport", "functional", "--fast-forward", "1"},
       "--fast-forward leads to timed grids; --transport functional has none"},
      {{"run", input_, "--transport", "functional", "--tags-only"}, "a run with --tags-only has none"},
      {{"run", input_, "--transport", "functional", "--check-consistency"}, "functional goes past them"},
      {{"run", input_, "--transport", "functional", "--pins", "*"}, "functional has no cycles that wires"},
      {{"run", input_, "--transport", "functional", "--wave", "w.vcd"}, "functional has no cycles that they"},
      {{"run", input_, "--keep-warm"}, "--keep-warm says what --fast-forward leaves in the caches"},
      {{"exec", "--keep-warm", "--", "/bin/true"}, "--keep-warm says how grids run that are not timed"},
      {{"run", input_, "--fast-forward", "99"}, "nothing would be left after 99"},
      {{"run", input_, "--fast-forward", "nosuch"}, "no kernel \"nosuch\" is launched"},
      {{"run", input_, "--jitter", "x"}, "\"x\" is no whole number"},
      {{"run", input_, "--threads", "0"}, "\"0\" is no whole number from 1 to 64"},
      {{"run", input_, "--threads", "65"}, "\"65\" is no whole number from 1 to 64"},
      {{"exec", "--threads", "two", "--", "/bin/true"}, "\"two\" is no whole number from 1 to 64"},
      {{"run", input_, "--check-consistency", "--tags-only"}, "a run with --tags-only has none"},
      {{"run", input_, "--dot", "x.dot"}, "--dot draws what --check-consistency finds"},
      {{"run", input_, "--max-cycles", "0"}, "--max-cycles must be at least 1"},
      {{"run", input_, "--max-cycles", "-3"}, "--max-cycles"},
      {{"run", input_, "--max-cycles", "18446744073709551616"}, "is 2^64 or more"},
      {{"run", input_, "--seed", "x"}, "--seed"},
      {{"run", input_, "--stats", input_ + "/x.json"}, "cannot be created: Not a directory"},
      {{"run", input_, "--stats", ""}, "--stats: is given an empty text"},
      {{"run", input_, "--stats="}, "--stats"},
      {{"run", input_, "--wave", ""}, "--wave: is given an empty text"},
      {{"run", input_, "--fast-forward", ""}, "--fast-forward: is given an empty text"},
      {{"run", input_, "--gpu", ""}, "--gpu: error: names no GPU"},
      {{"run", ""}, "INPUT: is given an empty text"},
      {{"litmus", ""}, "TEST: is given an empty text"},
      {{"config", "show", ""}, "NAME: is given an empty text"},
      {{"config", "check", ""}, "FILE: is given an empty text"},
      {{"run", input_, "--stats", "--quiet"}, "--stats: is followed by --quiet, which reads as an option"},
      {{"run", input_, "--stats=--quiet"}, "a file that is called so is ./--quiet"},
      {{"run", input_, "--gpu", "-h"}, "--gpu: is followed by -h, which"},
      {{"litmus", "x.litmus", "--dot", "--json"}, "--dot: is followed by --json, which"},
      {{"litmus", "x.litmus", "--dot", ""}, "--dot: is given an empty text"},
      {{"run", "none.toml"}, "none.toml: error: cannot be opened"},
      {{"run", "traces/kernelslist"}, "is a raw trace, as the tracer writes it before post-processing"},
      {{"run", "kernel-1.trace.xz"}, "post-traces-processing makes kernelslist.g"},
      {{"check", "--runs"}, "a PTX file is missing"},
      {{"check", "--runs", "none.ptx"}, "none.ptx: error: cannot be opened"},
      {{"check", "--runs", "--table", "none.tsv"}, "--runs is about modules"},
      {{"check", "none.ptx"}, "none.ptx: error: cannot be opened"},
      {{"check"}, "a PTX file is missing"},
      {{"check", "--table", "none.tsv"}, "none.tsv: error: cannot be opened"},
      {{"check", "a.ptx", "--table", "none.tsv"}, "--table stands instead of PTX files"},
      {{"check", "--tabel", "none.tsv"}, "did you mean \"--table\"?"},
      {{"explain"}, "INSTRUCTION is required"},
      {{"explain", "ld.global.u32 d, [a];", "--gpu", "v10"}, "v100"},
      {{"policy"}, "A subcommand is required"},
      {{"cctl"}, "TEXT is required\n  hint: see warpline cctl --help"},
      {{"litmus", "x", "--runs", "abc"}, "is no whole number\n  hint: see warpline litmus --help"},
      {{"litmus", "x", "--wave", "y"}, "not expected: --wave\n  hint: see warpline litmus --help"},
      {{"config", "show"}, "NAME is required\n  hint: see warpline config show --help"},
      {{"cctl", "0x"}, "is no instruction word"},
      {{"cctl", "0x123456789012345678901234567890123"}, "is no instruction word"},
      {{"litmus", "none.litmus"}, "none.litmus: error: cannot be opened"},
      {{"config", "shwo"}, "did you mean \"show\"?"},
      {{"config", "show", "v10"}, "did you mean \"v100\"?"},
      {{"config", "kesy"}, "did you mean \"keys\"?"},
      {{"counters", "--gpu", "v10"}, "did you mean \"v100\"?"},
      {{"counters", "--gup", "v100"}, "did you mean \"--gpu\"?"},
      {{"config", "check", input_}, "gpu.launch: unknown key"},
  };
  for (const Case& c : cases) {
    const Ended e = command(c.words);
    std::string shown;
    for (const std::string& w : c.words) shown += w + " ";
    EXPECT_EQ(e.status, kBadInput) << shown << e.err;
    EXPECT_THAT(e.err, HasSubstr(c.says)) << shown;
    EXPECT_THAT(e.out, IsEmpty()) << shown;
  }
}

TEST_F(CommandLineTest, HelpAndVersionGoToStdout) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                {"run", "--help"},
                                                {"config", "--help"},
                                                {"config", "list", "--help"},
                                                {"config", "show", "--help"},
                                                {"config", "keys", "--help"},
                                                {"config", "check", "--help"},
                                                {"counters", "--help"}}) {
    const Ended e = command(words);
    EXPECT_EQ(e.status, kDone);
    EXPECT_THAT(e.out, HasSubstr("Example: warpline "));
    EXPECT_THAT(e.err, IsEmpty());
  }
  EXPECT_THAT(command({"--version"}).out, HasSubstr("warpline "));
}

/// A row of a key has its meaning, its value in each preset and the rules that any value breaks.
TEST_F(CommandLineTest, ConfigKeysAreListedWithTheirRules) {
  const Ended keys = command({"config", "keys"});
  EXPECT_EQ(keys.status, kDone);
  EXPECT_THAT(keys.out,
              HasSubstr("| `l2.slices` | number of L2 slices | 4 | 64 | 80 | 80 | must be 1 to 4096 |\n"));
  EXPECT_THAT(keys.out, HasSubstr("must be 0 where there are devices ("));
  for (const std::string& key : config_keys())
    EXPECT_THAT(keys.out, HasSubstr("\n| `" + key + "` | ")) << key;
}

/// Whatever a GPU counts is listed, whatever its configuration.
TEST_F(CommandLineTest, CountersAreListed) {
  const Ended run = command({"run", input_, "--gpu", "v100", "--quiet", "--stats", path("stats.json")});
  EXPECT_EQ(run.status, kDone) << run.err;
  const Ended counters = command({"counters", "--gpu", "v100"});
  EXPECT_EQ(counters.status, kDone);
  EXPECT_THAT(counters.out, HasSubstr("\n## l2\n\nThe sums over `l2[0]` to `l2[63]`."));
  std::ifstream file(path("stats.json"));
  const nlohmann::json stats = nlohmann::json::parse(file);
  for (const auto& [name, counter] : stats["counters"].items()) {
    if (name.find('[') != std::string::npos || name.rfind("buffer.", 0) == 0) continue;
    EXPECT_THAT(counters.out, HasSubstr("| `" + name + "` | " + std::string(counter["unit"]) + " | "))
        << name;
  }
}

TEST_F(CommandLineTest, ConfigListsShowsAndChecks) {
  EXPECT_THAT(command({"config", "list"}).out, HasSubstr("v100"));
  const Ended shown = command({"config", "show", "a100"});
  EXPECT_EQ(shown.status, kDone);
  std::ofstream(path("copy.toml")) << shown.out;
  EXPECT_EQ(command({"config", "check", path("copy.toml")}).status, kDone);
  const Ended changed = command({"config", "show", "a100", "--set", "sms=3"});
  EXPECT_THAT(changed.out, HasSubstr("sms = 3  # number of SMs"));
  const Ended shallow = command({"config", "check", "mini", "--set", "hops.l2_dram.request.depth=1"});
  EXPECT_EQ(shallow.status, kDone);
  EXPECT_THAT(shallow.err, HasSubstr("cannot fill the wire"));
}

TEST(Progress, TextFitsALine) {
  const std::string text = progress_text(0.5, 3'000'000, 2.0, std::string(100, 'k'));
  EXPECT_LE(text.size(), 78U);
  EXPECT_THAT(text, HasSubstr("############............]  50.0%  1.5 Mcycles/s, 2 s left"));
  EXPECT_THAT(progress_text(0, 0, 0, "k"), Not(HasSubstr("left")));
}

TEST_F(CommandLineTest, ChecksWhichKernelsCanBeRun) {
  const std::string module = path("two.ptx");
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func lost;\n";
  const std::string good = ".visible .entry good() { ret; }\n";
  std::ofstream(module) << head << good << ".visible .entry bad() { call lost; ret; }\n";
  const Ended some = command({"check", "--runs", module});
  EXPECT_EQ(some.status, kCheckFailed);
  EXPECT_EQ(some.out,
            module +
                ": 1 of 2 kernels can be run\n  good  can be run\n  bad   cannot: line 6, function 'lost' "
                "has no body in this module and cannot be called\n");
  EXPECT_NE(some.err.find("two.ptx:6:"), std::string::npos) << some.err;
  EXPECT_EQ(command({"check", module}).status, kDone) << "the assembler takes it";
  std::ofstream(module) << head << good;
  EXPECT_EQ(command({"check", "--runs", module}).status, kDone);
  std::ofstream(module) << head << good << ".visible .entry bad() { lad; ret; }\n";
  const Ended none = command({"check", "--runs", module});
  EXPECT_EQ(none.status, kCheckFailed);
  EXPECT_NE(none.out.find("0 of 2 kernels"), std::string::npos) << none.out;
  EXPECT_NE(none.out.find("good  cannot: the module is refused"), std::string::npos) << none.out;
  for (const char* text : {"no PTX at all", ".version 8.0\n.target sm_1\n", ""}) {
    std::ofstream(module) << text;
    EXPECT_EQ(command({"check", "--runs", module}).status, kBadInput) << text;
    EXPECT_EQ(command({"check", module}).status, kBadInput) << text;
  }
}

TEST_F(CommandLineTest, AKernelThatCannotBeRunLeavesItsNeighboursAlone) {
  std::ofstream(path("two.ptx")) << ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func lost;\n"
                                    ".visible .entry good() { ret; }\n"
                                    ".visible .entry bad() { call lost; ret; }\n";
  for (const std::string kernel : {"good", "bad"})
    std::ofstream(path(kernel + ".toml"))
        << "module = \"two.ptx\"\nkernel = \"" << kernel << "\"\ngrid = [1]\nblock = [32]\n";
  EXPECT_EQ(command({"run", path("good.toml"), "--quiet"}).status, kDone);
  const Ended bad = command({"run", path("bad.toml"), "--quiet"});
  EXPECT_EQ(bad.status, kBadInput);
  EXPECT_NE(bad.err.find("kernel \"bad\" cannot be run"), std::string::npos) << bad.err;
  EXPECT_NE(bad.err.find("two.ptx:6:"), std::string::npos) << bad.err;
}

}  // namespace command_line_test
}  // namespace warpline
