#include "platform/launch/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "platform/launch/element.h"
#include "platform/launch/loaded_file.h"
#include "platform/launch/parameter_block.h"
#include "platform/launch/result_check.h"

namespace warpline {
namespace workload_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Plans : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("warpline-plan-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name) << bytes;
    return (folder_ / name).string();
  }
  std::string faults(const std::vector<std::string>& inputs, bool tags_only = false) {
    const auto plan = read_workload(inputs, tags_only);
    std::string all;
    if (!plan.ok())
      for (const Diagnostic& d : plan.faults()) all += d.text();
    return all;
  }
  std::filesystem::path folder_;
};

const char* const kGenerator = "generator = \"stream\"\nfootprint = 4096\naccesses = 10\n";
/// Copies 8 bytes from one place to another; `table` and `total` are module variables.
const char* const kModule = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[12] = {1, 2, 3, 4};
.global .align 4 .u32 total;
.visible .entry copy(.param .u64 copy_param_0, .param .u32 copy_param_1)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [copy_param_0];
  ld.param.u32 %r1, [copy_param_1];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

TEST_F(Plans, InputsAreStepsInOrder) {
  const std::string a = write("a.toml", kGenerator);
  const std::string b =
      write("b.toml", std::string("[[launch]]\n") + kGenerator + "[[launch]]\n" + kGenerator);
  const auto plan = read_workload({a, b, a}, false);
  ASSERT_TRUE(plan.ok());
  ASSERT_THAT(plan.value().steps, SizeIs(4));
  EXPECT_EQ(plan.value().steps[2].input, b);
  EXPECT_EQ(plan.value().steps[2].launch, 1U);
  EXPECT_TRUE(plan.value().without_data);
}

TEST_F(Plans, EveryFaultOfEveryInput) {
  const std::string a = write("a.toml", "generator = \"stream\"\nfootprint = 4096\n");
  const std::string all = faults({a, "none.toml", "what.exe", "later.wls", "none.g", "none.traceg"});
  EXPECT_THAT(all, HasSubstr("lacks \"accesses\""));
  EXPECT_THAT(all, HasSubstr("none.toml: error: cannot be opened"));
  EXPECT_THAT(all, HasSubstr("what.exe: error: is no kind of input"));
  EXPECT_THAT(all, HasSubstr("later.wls"));
  EXPECT_THAT(all, HasSubstr("none.g"));
  EXPECT_THAT(all, HasSubstr("none.traceg"));
}

/// What is hashed, and compared by who goes on from a checkpoint, is what was read.
TEST_F(Plans, FilesThatBuffersStartWithAreNamedWithTheirBytes) {
  write("k.ptx", kModule);
  const std::string bytes = "sixteen bytes ab";
  write("in.bin", bytes);
  const std::string launch = write(
      "l.toml",
      "module = \"k.ptx\"\nkernel = \"copy\"\ngrid = [1]\nblock = [1]\n[[argument]]\nbuffer = \"a\"\n"
      "type = \"u32\"\ncount = 4\ninit = { file = \"in.bin\" }\n[[argument]]\ntype = \"u32\"\nscalar = 1\n");
  const auto plan = read_workload({launch}, false);
  ASSERT_TRUE(plan.ok()) << plan.faults().front().text();
  std::vector<WorkloadFile> files = files_of(plan.value());
  const auto is_it = [](const WorkloadFile& f) { return f.path.find("in.bin") != std::string::npos; };
  const auto found = std::find_if(files.begin(), files.end(), is_it);
  ASSERT_NE(found, files.end());
  EXPECT_EQ(found->contents, bytes);
}

TEST_F(Plans, WhatNeedsDataNeitherMixesWithGeneratorsNorRunsWithTagsOnly) {
  write("m.ptx", kModule);
  const std::string m = write(
      "m.toml",
      "module = \"m.ptx\"\nkernel = \"copy\"\ngrid = [1]\nblock = [1]\n"
      "[[argument]]\nbuffer = \"a\"\ntype = \"u32\"\ncount = 1\n[[argument]]\nscalar = 1\ntype = \"u32\"\n");
  const std::string g = write("g.toml", kGenerator);
  EXPECT_THAT(faults({m, g}), HasSubstr("generators carry no data"));
  EXPECT_THAT(faults({m, g}, true), HasSubstr("m.toml: error: its program needs data"));
  EXPECT_THAT(faults({m}, true), HasSubstr("leave --tags-only out"));
  EXPECT_THAT(faults({write("p.wls", "NOP;\n")}, true), HasSubstr("leave --tags-only out"));
  EXPECT_THAT(faults({m}), IsEmpty());
  EXPECT_THAT(faults({g}, true), IsEmpty());
}

TEST_F(Plans, ModulesAreCheckedAgainstTheLaunchFile) {
  write("m.ptx", kModule);
  const std::string head = "module = \"m.ptx\"\ngrid = [1]\nblock = [1]\n";
  EXPECT_THAT(faults({write("a.toml", head + "kernel = \"cpoy\"\n")}), HasSubstr("did you mean \"copy\"?"));
  EXPECT_THAT(
      faults({write("b.toml", head + "kernel = \"copy\"\n[[argument]]\nscalar = 1\ntype = \"u32\"\n")}),
      AllOf(HasSubstr("takes 2 arguments; 1 is given"),
            HasSubstr("argument 1 is a scalar of 4 bytes; parameter \"copy_param_0\" has 8")));
  const std::string good = head +
                           "kernel = \"copy\"\n[[argument]]\nbuffer = \"a\"\ntype = \"u32\"\ncount = 1\n"
                           "[[argument]]\nscalar = 1\ntype = \"u32\"\n";
  EXPECT_THAT(faults({write("c.toml", good + "[[symbol]]\nname = \"totl\"\ninit = { value = 1 }\n")}),
              HasSubstr("did you mean \"total\"?"));
  EXPECT_THAT(faults({write("d.toml",
                            good + "[[symbol]]\nname = \"table\"\ntype = \"u64\"\ninit = { value = 1 }\n")}),
              HasSubstr("has 12 bytes"));
  const auto plan = read_workload(
      {write("e.toml", good + "[[symbol]]\nname = \"table\"\ntype = \"u32\"\nexpect = { value = 1 }\n")},
      false);
  ASSERT_TRUE(plan.ok()) << plan.faults().front().text();
  EXPECT_EQ(plan.value().files[0].symbols[0].count, 3U);
}

/// The launch file of the parameter tests: a buffer, a 32-bit scalar, a struct of 3 bytes.
LaunchFile three_arguments() {
  const auto parsed = parse_launch_file(
      "p.toml",
      "module = \"/dev/null\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n[[argument]]\nbuffer = \"a\"\ntype = "
      "\"u8\"\ncount = 1\n"
      "[[argument]]\nscalar = 0x01020304\ntype = \"u32\"\n[[argument]]\nbytes = \"AABBCC\"\n");
  return parsed.value();
}

TEST(PackParameters, FollowsTheOffsetsOfTheEntry) {
  const LaunchFile file = three_arguments();
  programs::Entry entry;
  entry.name = "k";
  entry.parameters = {{"p0", 0, 8}, {"p1", 12, 4}, {"p2", 17, 3}};
  entry.parameter_bytes = 20;
  ASSERT_TRUE(misfits(file, file.launches[0], entry).empty());
  const auto block = pack_parameters({file, {0x1122334455667788}, {}, {}, {}}, file.launches[0], entry);
  EXPECT_THAT(block, ElementsAre(0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, 0, 4, 3, 2, 1, 0,
                                 0xAA, 0xBB, 0xCC));
}

TEST(PackParameters, EveryMisfitAtOnce) {
  const LaunchFile file = three_arguments();
  programs::Entry entry;
  entry.name = "k";
  entry.parameters = {{"p0", 0, 4}, {"p1", 8, 8}};
  entry.parameter_bytes = 16;
  const Diagnostics faults = misfits(file, file.launches[0], entry);
  ASSERT_THAT(faults, SizeIs(3));
  EXPECT_THAT(faults[0].message, HasSubstr("takes 2 arguments; 3 are given"));
  EXPECT_THAT(faults[1].message,
              HasSubstr("argument 1 is a buffer's address of 8 bytes; parameter \"p0\" has 4"));
  EXPECT_EQ(faults[2].line, 9U);
}

std::string compare(DataType type, const std::vector<double>& got, double wanted, double absolute,
                    double relative) {
  const auto document = Document::parse("x", "").value();
  std::vector<std::uint8_t> bytes(got.size() * size_of(type));
  for (std::size_t n = 0; n < got.size(); ++n)
    store_element(type, float_bits(type, got[n]), &bytes[n * size_of(type)]);
  Expectation expect;
  expect.value = float_bits(type, wanted);
  expect.tolerant = absolute != 0 || relative != 0;
  expect.absolute = absolute;
  expect.relative = relative;
  const CheckedData data{"buffer \"x\"", type, got.size(),
                         [&](std::uint64_t first, std::uint64_t n, std::uint8_t* to) {
                           std::copy_n(&bytes[first * size_of(type)], n * size_of(type), to);
                         }};
  return check_data(data, expect, {}, document);
}

TEST(CheckData, ReportsCountFirstIndexGotAndWanted) {
  EXPECT_THAT(compare(DataType::f32, {1, 1, 1}, 1, 0, 0), IsEmpty());
  EXPECT_EQ(compare(DataType::f32, {1, 2.5, 3}, 1, 0, 0),
            "buffer \"x\": 2 of 3 elements differ; first [1]: got 2.5, wanted 1");
}

TEST(CheckData, ComparesBitsUnlessThereIsATolerance) {
  EXPECT_THAT(compare(DataType::f32, {-0.0}, 0.0, 0, 0), HasSubstr("got -0, wanted 0"));
  EXPECT_THAT(compare(DataType::f32, {std::nan("1")}, -std::nan(""), 0, 0), IsEmpty());
  EXPECT_THAT(compare(DataType::f64, {1.5}, 1.0, 0.5, 0), IsEmpty());
  EXPECT_THAT(compare(DataType::f64, {1.5000001}, 1.0, 0.5, 0), HasSubstr("differ"));
  EXPECT_THAT(compare(DataType::f64, {110}, 100, 0, 0.1), IsEmpty());
  EXPECT_THAT(compare(DataType::f64, {111}, 100, 0, 0.1), HasSubstr("differ"));
  EXPECT_THAT(compare(DataType::f64, {std::nan("")}, 1.0, 1e9, 0), HasSubstr("got nan"));
}

}  // namespace workload_test
}  // namespace warpline
