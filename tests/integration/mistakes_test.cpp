// What a user sees when something is wrong: which exit status, and whether the message says where and what to
// do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace mistakes_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Mistakes : public testing::Test {
 protected:
  /// Runs a launch file made of these lines.
  Finished run(const std::string& launch, std::vector<std::string> options = {}) {
    workspace_.write("launch.toml", launch);
    std::vector<std::string> arguments{"run", "launch.toml"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return workspace_.warpline(arguments);
  }
  static std::string launch(const std::string& kernel, unsigned threads) {
    return "module = \"" + in_source("tests/integration/data/misbehave.ptx") + "\"\nkernel = \"" + kernel +
           "\"\ngrid = [1, 1, 1]\nblock = [" + std::to_string(threads) + ", 1, 1]\n";
  }
  static std::string buffer(const std::string& expect) {
    return "[[argument]]\nbuffer = \"out\"\ntype = \"u32\"\ncount = 64\n" + expect + "\n";
  }
  Workspace workspace_;
};

TEST_F(Mistakes, MisalignedLoadIsAFaultRecord) {
  // The faulting warp ends; the stores before the fault and the other warp's are done.
  const Finished run = this->run(launch("misaligned", 64) + buffer("expect = { expression = \"i\" }"),
                                 {"--stats", "stats.json"});
  EXPECT_EQ(run.status, 1);
  const std::string all = run.out + run.err;
  EXPECT_THAT(all, AllOf(HasSubstr("misaligned"), HasSubstr("lane 3"), HasSubstr("warp"),
                         HasSubstr("misbehave.ptx:20")));
  const auto statistics = nlohmann::json::parse(read_file(workspace_.path("stats.json")));
  EXPECT_EQ(statistics.at("counters").at("sm.lsu.faults").at("value"), 2);
}

TEST_F(Mistakes, UnmappedStoreIsAFaultRecord) {
  const Finished run = this->run(launch("unmapped", 64) + buffer("expect = { expression = \"i\" }"));
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out + run.err,
              AllOf(HasSubstr("unmapped"), HasSubstr("lane 5"), HasSubstr("misbehave.ptx:40")));
}

TEST_F(Mistakes, WrongResultSaysCountIndexGotAndWanted) {
  const std::string vecadd = replaced(read_file(in_source("sw/kernels/vecadd.toml")), "vecadd.sm_80.ptx",
                                      in_source("sw/kernels/vecadd.sm_80.ptx"));
  const Finished run = this->run(replaced(vecadd, "a[i] + b[i]", "a[i] + b[i] + (i == 77 || i == 900)"),
                                 {"--stats", "stats.json"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out + run.err,
              AllOf(HasSubstr("2"), HasSubstr("77"), HasSubstr("got"), HasSubstr("wanted")));
  EXPECT_TRUE(std::filesystem::exists(workspace_.path("stats.json")));
}

TEST_F(Mistakes, ABarrierThatCannotCompleteIsExplained) {
  const Finished run = this->run(launch("stuck", 64), {"--stats", "stats.json"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(
      run.err,
      AllOf(HasSubstr("circle: sm[0] warp 0 -> sm[0] warp 1 -> sm[0] warp 0"),
            HasSubstr("warp 0 waits for sm[0] warp 1: barrier 0, which 32 of 64 threads have not reached"),
            HasSubstr("no request is in flight")));
  const auto statistics = nlohmann::json::parse(read_file(workspace_.path("stats.json")));
  EXPECT_TRUE(statistics.at("in_flight").empty());
  EXPECT_EQ(statistics.at("circle"), (nlohmann::json{"sm[0] warp 0", "sm[0] warp 1"}));
  EXPECT_GE(statistics.at("waits").size(), 3U);
}

TEST_F(Mistakes, TheCycleLimitEndsARunThatWouldNot) {
  const Finished run = this->run(launch("spin", 32), {"--max-cycles", "5000"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.out + run.err, HasSubstr("5000"));
}

TEST_F(Mistakes, AHandleOfNoTextureIsAFaultRecord) {
  const std::string sizes =
      "[[argument]]\nscalar = 8\ntype = \"s32\"\n[[argument]]\nscalar = 8\ntype = \"s32\"\n";
  const std::string head = "module = \"" + in_source("sw/kernels/texture.sm_80.ptx") +
                           "\"\nkernel = \"box\"\ngrid = [1]\nblock = [8, 8]\n";
  const std::string out = "[[argument]]\nbuffer = \"out\"\ntype = \"f32\"\ncount = 64\n" + sizes;
  const std::string image = " = { buffer = \"out\", width = 8, height = 8, format = \"";
  const auto faults_of = [&](const std::string& argument) {
    const Finished run = this->run(head + "[[argument]]\n" + argument + out);
    EXPECT_EQ(run.status, 1) << argument;
    EXPECT_THAT(run.out + run.err, HasSubstr("texture.sm_80.ptx:")) << "the line of the access";
    return run.out + run.err;
  };
  EXPECT_THAT(faults_of("scalar = 5\ntype = \"u64\"\n"), HasSubstr("handle of no texture"));
  EXPECT_THAT(faults_of("surface" + image + "f32\" }\n"), HasSubstr("handle of no texture"));
  EXPECT_THAT(faults_of("texture" + image + "u32\" }\n"), HasSubstr("texture of another type"));
}

TEST_F(Mistakes, LaunchFileFaultsAreAllReportedWithTheirPlaces) {
  const Finished run = this->run("module = \"" + in_source("tests/integration/data/misbehave.ptx") +
                                 "\"\nkernel = \"stuk\"\ngrid = [1, 1, 1]\nblok = [64, 1, 1]\n"
                                 "[[argument]]\nbuffer = \"out\"\ntype = \"u23\"\ncount = 4\n");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("launch.toml:4:1"), HasSubstr("blok"), HasSubstr("did you mean"),
                    HasSubstr("block"), HasSubstr("launch.toml:7:"), HasSubstr("u32"), HasSubstr("^")));
}

TEST_F(Mistakes, AnUnknownKernelNamesTheNearest) {
  const Finished run = this->run(launch("misalined", 32) + buffer(""));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("launch.toml:2:"), HasSubstr("misaligned")));
}

TEST_F(Mistakes, PtxFaultsAreFoundBeforeTheRun) {
  workspace_.write(
      "bad.ptx",
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %r<3>;\n"
      "\tad.s32 %r1, %r2, 1;\n\tmov.u32 %r9, %tid.x;\n\tret;\n}\n");
  const Finished run =
      this->run("module = \"bad.ptx\"\nkernel = \"k\"\ngrid = [1, 1, 1]\nblock = [1, 1, 1]\n");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("bad.ptx:7:2"), HasSubstr("bad.ptx:8:"), HasSubstr("%r9"), HasSubstr("^")));
}

TEST_F(Mistakes, OrdersOfInstructionsHaveNames) {
  const std::string vecadd = in_source("sw/kernels/vecadd.toml");
  const Finished unknown = workspace_.warpline({"run", vecadd, "--schedule", "ptxas"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--schedule: \"ptxas\" is none of ptx, assembler"));
  const Finished none =
      workspace_.warpline({"run", in_source("sw/examples/wls/hello.wls"), "--schedule", "ptx"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--schedule is about modules in PTX, and there is none"));
  EXPECT_THAT(workspace_.warpline({"exec", "--schedule", "text", "--", "/bin/true"}).err,
              HasSubstr("--schedule: \"text\" is none of ptx, assembler"));
}

TEST_F(Mistakes, CodeForALaterGpuIsRemarkedOrRefused) {
  const std::string vecadd = in_source("sw/kernels/vecadd.toml");
  const Finished remarked = workspace_.warpline({"run", vecadd, "--gpu", "v100", "--quiet"});
  EXPECT_EQ(remarked.status, 0);
  EXPECT_THAT(
      remarked.err,
      HasSubstr("vecadd.sm_80.ptx: its target, sm_80, is not for v100, whose compute capability is 7.0"));
  const Finished refused =
      workspace_.warpline({"run", vecadd, "--gpu", "v100", "--quiet", "--strict-target"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("compile it for sm_70 or older"));
  EXPECT_EQ(workspace_.warpline({"run", vecadd, "--gpu", "a100", "--quiet", "--strict-target"}).err, "");
}

TEST_F(Mistakes, OptionsAreCheckedAndNearMissesNamed) {
  const std::string good = in_source("sw/kernels/vecadd.toml");
  const auto fails = [&](std::vector<std::string> arguments, const std::string& expected) {
    const Finished run = workspace_.warpline(arguments);
    EXPECT_EQ(run.status, 2) << arguments.back();
    EXPECT_THAT(run.err, HasSubstr(expected));
    EXPECT_THAT(run.out, IsEmpty());
  };
  fails({"run", good, "--fast-forward", "1"}, "nothing would be left");
  fails({"run", good, "--check-consistency", "--tags-only"}, "judges values");
  const std::string peers = "--set=pcie_system.peers=1";
  fails({"run", good, peers, "--set=peer_bytes=1048576"},
        "gpu.peer_bytes: must be 0 where there are devices (");
  for (const char* const kernel : {"vecadd", "matmul"})
    fails({"run", in_source(std::string("sw/kernels/") + kernel + ".toml"), "--tags-only"},
          std::string(kernel) + ".toml: error: its program needs data");
  fails({"run", good, peers, "--tags-only"}, "a host and its devices need data");
  fails({"run", good, peers, "--check-consistency"}, "is not recorded");
  fails({"litmus", in_source("tests/litmus/MP+cg.litmus"), peers}, "no devices");
  fails({"run", good, "--stat", "x.json"}, "--stats");
  fails({"rum", good}, "run");
  fails({"run", good, "--gpu", "v10"}, "v100");
  fails({"run", good, "--set", "l2.slice=4"}, "did you mean \"slices\"");
  fails({"run", good, "--set", "l2.slices=0"}, "l2.slices");
  fails({"run", "nowhere.toml"}, "nowhere.toml");
}

TEST_F(Mistakes, HelpAndVersionGoToStandardOutput) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"run", "--help"}, {"config", "--help"}}) {
    const Finished run = workspace_.warpline(arguments);
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.out, HasSubstr("xample"));
    EXPECT_THAT(run.err, IsEmpty());
  }
}

TEST_F(Mistakes, AFailedRunLeavesNoHalfWrittenFile) {
  const Finished run = this->run(launch("stuk", 32), {"--stats", "stats.json"});
  EXPECT_EQ(run.status, 2);
  EXPECT_FALSE(std::filesystem::exists(workspace_.path("stats.json")));
}

}  // namespace mistakes_test
}  // namespace warpline::test
