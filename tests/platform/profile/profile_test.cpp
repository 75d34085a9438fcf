// The file of a profile, and how it is shown.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "platform/profile/profile_file.h"
#include "platform/profile/profile_view.h"
#include "platform/profile/profiler.h"
#include "tests/support/scratch_folder.h"

namespace warpline::test {
namespace profile_test {

KernelProfile kernel_at(const std::string& file, std::initializer_list<unsigned> lines) {
  KernelProfile kernel;
  kernel.name = "k";
  for (const unsigned line : lines) {
    KernelProfile::Row& row = kernel.rows.emplace_back();
    row.pc = 16 * line;
    row.where = file + ":" + std::to_string(line);
    row.profile.issued = line;
    row.profile.lanes = 32 * line;
    row.profile.stalls[static_cast<std::size_t>(StallReason::selected)] = line;
    row.profile.stalls[static_cast<std::size_t>(StallReason::dram)] = 10 * line;
    kernel.warp_cycles += 11 * line;
  }
  kernel.warps = 1;
  return kernel;
}

Result<ProfileFile> read_back(const ScratchFolder& folder, KernelProfile kernel) {
  std::vector<KernelProfile> kernels;
  kernels.push_back(std::move(kernel));
  const std::string path = folder.path("profile.json");
  std::ofstream(path) << profile_text(kernels, "mini", "fast");
  return read_profile(path);
}

TEST(ProfileFile, HasLinesOfCudaByTheirLocations) {
  const ScratchFolder folder;
  std::ofstream(folder.path("k.cu")) << "first\nsecond\nthird\n";
  std::ofstream(folder.path("k.ptx")) << "{\n"
                                         "\t.loc\t1 2 5\n"
                                         "\tld.global.f32 %f1, [%rd1];\n"
                                         "\t.loc\t2 7 1, function_name $L__info_string0, inlined_at 1 3 9\n"
                                         "\tatom.add.u32 %r1, [%rd2], 1;\n"
                                         "\t.loc\t1 0 0\n"
                                         "\tret;\n"
                                         "}\n"
                                         "\t.file\t1 \"k.cu\"\n"
                                         "\t.file\t2 \"/usr/local/cuda/include/atomics.hpp\"\n";
  const auto read = read_back(folder, kernel_at(folder.path("k.ptx"), {3, 5, 7}));
  ASSERT_TRUE(read.ok());
  const std::vector<ProfileLine>& lines = read.value().kernels.at(0).lines;
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].text, "ld.global.f32 %f1, [%rd1];");
  EXPECT_EQ(lines[0].cuda, "k.cu:2");
  EXPECT_EQ(lines[0].cuda_text, "second");
  EXPECT_EQ(lines[1].cuda, "k.cu:3") << "what comes from CUDA's own headers counts for who uses it";
  EXPECT_EQ(lines[2].cuda, "");
  EXPECT_EQ(lines[2].stalls.at("dram"), 70U);
  EXPECT_EQ(lines[2].stalled(), 70U);
  const auto view = profile_view(read.value(), {"", 10, true, true});
  ASSERT_TRUE(view.ok());
  EXPECT_NE(view.value().find("of no line of CUDA"), std::string::npos);
}

TEST(ProfileFile, OthersAreRefused) {
  const ScratchFolder folder;
  const std::string path = folder.path("other.json");
  for (const char* text : {"", "{}", "[1]", R"({"warpline_profile": 1, "kernels": 3})",
                           R"({"warpline_profile": 2, "kernels": []})", "{\"warpline_profile\": 1"}) {
    std::ofstream(path) << text;
    EXPECT_FALSE(read_profile(path).ok()) << text;
  }
  // What is not as it should be further in is as if it were not there.
  std::ofstream(path)
      << R"({"warpline_profile": 1, "kernels": [7, {"name": 3, "lines": [1, {"pc": "x", "stalls": [],
      "memory": {"latency": 4, "answered": {"l2": -1}}}]}]})";
  const auto read = read_profile(path);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(profile_view(read.value(), {}).ok());
  EXPECT_FALSE(read_profile(folder.path("absent.json")).ok());
}

TEST(ProfileView, TheHottestLineIsFirst) {
  const ScratchFolder folder;
  const auto read = read_back(folder, kernel_at("a.ptx", {3, 9, 5}));
  ASSERT_TRUE(read.ok());
  const std::string hottest = profile_view(read.value(), {"", 1, false, false}).value();
  EXPECT_NE(hottest.find("a.ptx:9\n"), std::string::npos) << hottest;
  EXPECT_EQ(hottest.find("a.ptx:3"), std::string::npos) << hottest;
  EXPECT_NE(hottest.find("2 more lines"), std::string::npos) << hottest;
  const std::string all = profile_view(read.value(), {"k", 1, true, false}).value();
  EXPECT_LT(all.find("a.ptx:3"), all.find("a.ptx:9"));
  const auto unknown = profile_view(read.value(), {"kk", 1, false, false});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.faults().front().message, "no kernel is called \"kk\"");
  EXPECT_FALSE(profile_view(read.value(), {"", 1, false, true}).ok()) << "no line is of CUDA";
}

TEST(StallReasons, AreAllOnTheirPage) {
  std::ifstream in(WARPLINE_SOURCE_DIR "/docs/profiles.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const StallReasonText& t : kStallReasonTexts)
    EXPECT_NE(page.find(std::string("| `") + t.name + "` | " + t.description + " |\n"), std::string::npos)
        << t.name;
}

TEST(Profiler, SumsThatDoNotHoldAreTold) {
  KernelProfile kernel = kernel_at("a.ptx", {3, 9});
  EXPECT_EQ(unreconciled(kernel), std::vector<std::string>{});
  ++kernel.warp_cycles;
  ++kernel.rows[1].profile.issued;
  EXPECT_EQ(unreconciled(kernel).size(), 2U);
}

}  // namespace profile_test
}  // namespace warpline::test
