// SASS-style programs (.wls) as users run them: the examples in every transport, and by a launch file.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace wls_test {

using nlohmann::json;

const char* const kExamples[] = {"flush_stack", "hello", "lost_write", "restore_stack", "stale_line"};

std::string example(const std::string& name) {
  return in_source("sw/examples/wls/" + name + ".wls");
}

class WlsExample : public testing::TestWithParam<const char*> {};

TEST_P(WlsExample, GivesTheExpectedResultInEveryTransport) {
  const Workspace w;
  json statistics[2];
  for (const std::string transport : {"fast", "at", "lt"}) {
    const Finished run =
        w.warpline({"run", example(GetParam()), "--transport", transport, "--stats", "s.json"});
    EXPECT_EQ(run.status, 0) << transport << run.out << run.err;
    EXPECT_NE(run.out.find("results as expected"), std::string::npos) << run.out;
    json s = json::parse(read_file(w.path("s.json")));
    s.erase("transport");
    for (const char* const key : {"wall_s", "command"}) s.erase(key);
    if (transport != "lt") statistics[transport == "at" ? 1 : 0] = s;
  }
  EXPECT_EQ(statistics[0], statistics[1]);
}

TEST_P(WlsExample, RunsOnABigGpu) {
  const Workspace w;
  const Finished run = w.warpline({"run", example(GetParam()), "--gpu", "a100", "--quiet"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

INSTANTIATE_TEST_SUITE_P(All, WlsExample, testing::ValuesIn(kExamples),
                         [](const auto& p) { return std::string(p.param); });

TEST(WlsExamples, AreAllTested) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(in_source("sw/examples/wls")))
    if (entry.path().extension() == ".wls") found.insert(entry.path().stem().string());
  EXPECT_EQ(found, std::set<std::string>(std::begin(kExamples), std::end(kExamples)));
}

/// What each example is about is what its result hangs on: without that line, or with another operation, the
/// run says which value is wrong.
TEST(WlsExamples, FailWhereTheOperationIsAnother) {
  const Workspace w;
  const struct {
    const char *name, *from, *to, *says;
  } cases[] = {
      {"stale_line", "CCTL.E.D.IV [R2];", "NOP;", "seen[2]: got 0x00000001 (1), wanted 0x00000002 (2)"},
      {"lost_write", "CCTLL.WB [0x20];", "NOP;", "values differ; first R1[0]"},
      {"lost_write", "CCTLL.IV [0x20];", "CCTLL.RS [0x20];", "first R3[0]: got 0x00000007"},
      {"restore_stack", "STL [0x40], R6", "NOP", "trail[5]: got"},
      {"restore_stack", "SETCRSPTR 3;", "SETCRSPTR 2;", "trail[3]: got 0x00000002"},
      {"restore_stack", "CCTLL.CRS.WBALL;                    //", "NOP; //", "call-return stack"},
      {"flush_stack", "CCTLL.CRS.WBALL;", "NOP;", "R4[0]: got 0x00000000"},
      {"hello", "IADD R6, R6, 1 &req=0x01;", "IADD R6, R6, 1;", "data[0]: got 0x00000001"},
  };
  for (const auto& c : cases) {
    const std::string text = replaced(read_file(example(c.name)), c.from, c.to);
    ASSERT_NE(text, read_file(example(c.name))) << c.from;
    w.write("changed.wls", text);
    const Finished run = w.warpline({"run", "changed.wls"});
    EXPECT_EQ(run.status, 1) << c.name << run.err;
    if (std::string(c.says) != "call-return stack") {
      EXPECT_NE(run.err.find(c.says), std::string::npos) << c.name << run.err;
    }
  }
}

TEST(WlsPrograms, ShowWhatTheyAreAskedFor) {
  const Workspace w;
  w.write("show.wls",
          ".block 3\n.global data 16 = 5, 5, -1\n.show data\n.show data[2]\n.show R0..R1\n"
          "S2R R0, SR_LANEID; MOV R1, 9;\n");
  const Finished run = w.warpline({"run", "show.wls", "--quiet"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out,
            "data[0..1]  0x00000005   5\n"
            "data[2]     0xffffffff  -1\n"
            "data[3]     0x00000000   0\n"
            "data[2]  0xffffffff  -1\n"
            "R0[0]  0x00000000  0\n"
            "R0[1]  0x00000001  1\n"
            "R0[2]  0x00000002  2\n"
            "R1[0..2]  0x00000009  9\n");
}

TEST(WlsPrograms, FailedExpectationsNameLineIndexGotAndWanted) {
  const Workspace w;
  w.write("x.wls",
          ".block 3\n.global data 16 = 5\n.expect data[0..2] = 5\n.expect R0[40] = 0\n.expect R0[1] = 1\nS2R "
          "R0, SR_LANEID;\n");
  const Finished run = w.warpline({"run", "x.wls"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(
      run.err.find("x.wls:3: 2 of 3 values differ; first data[1]: got 0x00000000 (0), wanted 0x00000005 (5)"),
      std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find("x.wls:4: R0[40]: the CTA has 3 threads"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("1 of 3 results as expected"), std::string::npos) << run.out;
}

TEST(WlsPrograms, LaunchFilesGiveThemArguments) {
  const Workspace w;
  w.write("scale.wls", R"(.entry scale
.param buffer 8
.param factor
.global calls 4
    S2R R0, SR_CTAID.X; S2R R1, SR_NTID.X; S2R R2, SR_TID.X; IMAD R0, R0, R1, R2;
    LDC.64 R4, c[buffer]; LDC R6, c[factor];
    IMAD.WIDE R4, R0, 4, R4;
    LD.E R7, [R4] &wr=0;
    IMAD R7, R7, R6, RZ &req=0x01;
    ST.E [R4], R7;
    ISETP.NE P0, R0, 0; @P0 EXIT;
    MOV R8, calls.lo; MOV R9, calls.hi; LD.E R10, [R8]; IADD R10, R10, 1; ST.E [R8], R10;
)");
  w.write("launch.toml", R"(
[[launch]]
module = "scale.wls"
kernel = "scale"
grid = [2, 1, 1]
block = [64, 1, 1]
[[launch.argument]]
buffer = "b"
type = "u32"
count = 128
init = { iota = { start = 0, step = 1 } }
expect = { expression = "15 * i" }
[[launch.argument]]
scalar = 3
type = "u32"
[[launch]]
module = "scale.wls"
kernel = "scale"
grid = [4, 1, 1]
block = [32, 1, 1]
[[launch.argument]]
buffer = "b"
[[launch.argument]]
scalar = 5
type = "u32"
[[symbol]]
name = "calls"
init = { value = 40 }
expect = { value = 42 }
)");
  const Finished run = w.warpline({"run", "launch.toml"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("2 of 2 results as expected"), std::string::npos) << run.out;
  const Finished alone = w.warpline({"run", "scale.wls"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_NE(alone.err.find("takes 2 arguments"), std::string::npos) << alone.err;
}

TEST(WlsPrograms, CacheControlOfWhatIsNotMappedIsNoted) {
  const Workspace w;
  w.write("cctl.wls", ".global data 256\nMOV R3, data.lo; CCTL.D.PF1 [R3 + 4];\nCCTL.D.PF1 [4];\n");
  const Finished run = w.warpline({"run", "cctl.wls", "--quiet"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("note: cctl.wls:3: CCTL of address 0x4, where nothing is mapped, did nothing"),
            std::string::npos)
      << run.err;
}

TEST(WlsPrograms, WhatCannotRunIsRefused) {
  const Workspace w;
  EXPECT_EQ(w.warpline({"run", example("hello"), "--tags-only"}).status, 2);
  EXPECT_EQ(w.warpline({"run", "absent.wls"}).status, 2);
  w.write("wrong.wls", "NOP;\nMOVE R0, 1;\nBRA nowhere;\n");
  const Finished wrong = w.warpline({"run", "wrong.wls"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_NE(wrong.err.find("wrong.wls:2:1"), std::string::npos) << wrong.err;
  EXPECT_NE(wrong.err.find("wrong.wls:3:5"), std::string::npos) << wrong.err;
  w.write("big.wls", ".local 500000\nNOP;\n");
  const Finished big = w.warpline({"run", "big.wls", "--gpu", "a100"});
  EXPECT_EQ(big.status, 2);
  EXPECT_NE(big.err.find("does not fit video memory"), std::string::npos) << big.err;
}

TEST(WlsPrograms, OneThatNeverEndsIsExplained) {
  const Workspace w;
  w.write("loop.wls", "again: BRA again;\n");
  const Finished run = w.warpline({"run", "loop.wls", "--max-cycles", "1000"});
  EXPECT_EQ(run.status, 3);
  EXPECT_NE(run.err.find("loop.wls:1"), std::string::npos) << run.err;
}

}  // namespace wls_test
}  // namespace warpline::test
