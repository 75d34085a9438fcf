// `warpline run --profile` and `warpline profile show`, as a user types them: each of the lessons has its
// slow line first, and mended it takes fewer cycles.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace profiles_test {

/// The first line of `text` that has `part`, or nothing.
std::string line_with(const std::string& text, const std::string& part) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find(part) != std::string::npos) return line;
  return {};
}

/// Of "kernel hot: 128 warps, 2,109,776 warp-cycles"; 0: there is no such line.
std::uint64_t cycles_of(const std::string& text, const std::string& kernel) {
  const std::string line = line_with(text, "kernel " + kernel + ": ");
  if (line.empty()) return 0;
  std::uint64_t cycles = 0;
  for (const char c : line.substr(line.find("warps, ") + 7))
    if (c >= '0' && c <= '9') cycles = cycles * 10 + static_cast<std::uint64_t>(c - '0');
  return cycles;
}

struct Named {
  const char *file, *slow, *mended, *mark;
};
const Named kLessons[] = {{"coalescing", "scattered", "coalesced", "// slow: coalescing"},
                          {"banks", "conflicting", "padded", "// slow: banks"},
                          {"tiling", "untiled", "tiled", "// slow: tiling"},
                          {"sharing", "sharing", "apart", "// slow: sharing"},
                          {"slice", "hot", "kept", "// slow: slice"},
                          {"l1", "thrashing", "blocked", "// slow: L1"}};

TEST(Lessons, TheProfileNamesTheSlowLineFirst) {
  for (const Named& lesson : kLessons) {
    SCOPED_TRACE(lesson.file);
    const Workspace at;
    const Finished ran =
        at.warpline({"run", in_source(std::string("sw/kernels/lessons/") + lesson.file + ".toml"), "--gpu",
                     "mini", "--quiet", "--profile", "p.json"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const Finished slow =
        at.warpline({"profile", "show", "p.json", "--cuda", "--lines", "1", "--kernel", lesson.slow});
    ASSERT_EQ(slow.status, 0) << slow.err;
    EXPECT_NE(line_with(slow.out, "lessons.cu:").find(lesson.mark), std::string::npos) << slow.out;
    const Finished both = at.warpline({"profile", "show", "p.json"});
    EXPECT_GT(cycles_of(both.out, lesson.slow), cycles_of(both.out, lesson.mended) * 11 / 10) << both.out;
  }
}

TEST(Profile, OfARunThatIsCutShortIsUpToThere) {
  const Workspace at;
  const std::string lesson = in_source("sw/kernels/lessons/coalescing.toml");
  std::uint64_t before = 0;
  for (const char* cycles : {"10000", "20000"}) {
    const Finished ran = at.warpline(
        {"run", lesson, "--gpu", "mini", "--quiet", "--max-cycles", cycles, "--profile", "p.json"});
    ASSERT_EQ(ran.status, 3) << ran.err;
    const Finished shown = at.warpline({"profile", "show", "p.json", "--cuda", "--lines", "1"});
    EXPECT_NE(line_with(shown.out, "lessons.cu:").find("// slow: coalescing"), std::string::npos)
        << shown.out;
    EXPECT_GT(cycles_of(shown.out, "scattered"), before + 10000) << shown.out;
    before = cycles_of(shown.out, "scattered");
  }
}

TEST(Profile, IsOfWhatIsMeasuredAlone) {
  const Workspace at;
  const std::string lesson = in_source("sw/kernels/lessons/sharing.toml");
  for (const bool warm : {false, true}) {
    std::vector<std::string> words = {"run",   lesson,      "--gpu", "mini", "--quiet", "--fast-forward",
                                      "apart", "--profile", "p.json"};
    if (warm) words.emplace_back("--keep-warm");
    ASSERT_EQ(at.warpline(words).status, 0);
    const Finished shown = at.warpline({"profile", "show", "p.json"});
    EXPECT_EQ(line_with(shown.out, "kernel sharing"), "") << shown.out;
    EXPECT_GT(cycles_of(shown.out, "apart"), 0U) << shown.out;
  }
}

/// A wait for a phase is no affair of order, though it acquires; nor is a load that does.
TEST(Profile, AWaitForAPhaseIsTheBarriers) {
  const Workspace at;
  ASSERT_EQ(at.warpline({"run", in_source("sw/kernels/gemm_tma.toml"), "--gpu", "h100", "--quiet",
                         "--profile", "p.json"})
                .status,
            0);
  const Finished shown = at.warpline({"profile", "show", "p.json", "--lines", "1"});
  EXPECT_NE(line_with(shown.out, "mbarrier.try_wait").find("mbarrier "), std::string::npos) << shown.out;
}

TEST(Profile, WhatCannotBeIsRefused) {
  const Workspace at;
  const std::string kernel = in_source("sw/kernels/vecadd.toml");
  const Finished functional =
      at.warpline({"run", kernel, "--gpu", "mini", "--transport", "functional", "--profile", "p.json"});
  EXPECT_EQ(functional.status, 2);
  EXPECT_NE(functional.err.find("has no time"), std::string::npos) << functional.err;
  EXPECT_EQ(at.warpline({"run", kernel, "--gpu", "mini", "--profile", "/proc/p.json"}).status, 2);
  EXPECT_EQ(at.warpline({"profile", "show", "absent.json"}).status, 2);
  EXPECT_EQ(at.warpline({"profile"}).status, 2);
}

}  // namespace profiles_test
}  // namespace warpline::test
