#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace trace_header_test {

using ::testing::HasSubstr;

std::string faults_of(const std::string& name, const std::string& content) {
  const TemporaryFile file(name, content);
  const auto kernel = sass::open_trace(file.path());
  if (kernel.ok()) return {};
  std::string all;
  for (const Diagnostic& d : kernel.faults()) all += d.text();
  return all;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = TraceText{}.text();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TraceHeader, SaysWhatTheHardwareMustKnow) {
  TraceText t;
  t.grid = "(2,3,4)";
  t.block = "(8,16,1)";
  const TemporaryFile file("kernel-1.traceg", t.text());
  const auto kernel = sass::open_trace(file.path());
  ASSERT_TRUE(kernel.ok());
  const KernelInfo& info = kernel.value()->info();
  EXPECT_EQ(info.name, "k");
  EXPECT_EQ(info.grid, (Dim3{2, 3, 4}));
  EXPECT_EQ(info.block, (Dim3{8, 16, 1}));
  EXPECT_EQ(info.shared_bytes, 128U);
  EXPECT_GE(info.registers, 256U);
  EXPECT_FALSE(info.carries_data);
}

TEST(TraceHeader, HopperKeepsAKibibyteOfSharedMemoryForTheSystem) {
  const TemporaryFile file("kernel-1.traceg", changed("binary version = 80", "binary version = 90"));
  const auto kernel = sass::open_trace(file.path());
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(kernel.value()->info().shared_bytes, 128U + 1024);
}

TEST(TraceHeader, FaultsAreMessages) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"(1,1,1)", "(4000000000,4000000000,4000000000)", "grid dim is out of range"},
      {"(1,1,1)", "(0,1,1)", "grid dim is out of range"},
      {"(1,1,1)", "(1,1)", "grid dim must be three numbers: (x,y,z)"},
      {"(1,1,1)", "(1,1,1,1)", "grid dim must be three numbers: (x,y,z)"},
      {"(1,1,1)", "", "the line ends where a grid should stand"},
      {"(32,1,1)", "(1024,1024,1)", "block dim names more than 1024 threads"},
      {"-grid dim", "-grid dlm", "did you mean 'grid dim'?"},
      {"-block dim", "-block", "the header lacks '-block dim = '"},
      {"-shmem = 128", "-shmem = 1x8", "expected the shared bytes as a number, found '1x8'"},
      {"-shmem = 128", "-shmem = 99999999999", "the shared bytes is out of range"},
      {"version = 5", "version = 6", "tracer versions 1 to 5 can be read"},
      {"-nregs = 12", "-nregs = 12\n-nregs = 13", "'nregs' appears twice"},
      {"-nregs = 12", "nregs = 12", "expected a header line"},
      {"-nregs = 12", "-nregs", "must read '-key = value'"},
      {"lineinfo = 0", "lineinfo = 2", "the lineinfo flag is out of range"},
      {"-kernel name = k", "-kernel name = ", "the line ends where the kernel's name should stand"},
  };
  for (const auto& [from, to, message] : cases)
    EXPECT_THAT(faults_of("kernel-1.traceg", changed(from, to)), HasSubstr(message)) << to;
}

TEST(TraceHeader, AllFaultsAtOnce) {
  std::string text = changed("(1,1,1)", "(0,1,1)");
  text.replace(text.find("-shmem = 128"), 12, "-shmem = abc");
  const std::string faults = faults_of("kernel-1.traceg", text);
  EXPECT_THAT(faults, HasSubstr(":3:13: error: grid dim is out of range"));
  EXPECT_THAT(faults, HasSubstr(":5:10: error: expected the shared bytes as a number"));
}

TEST(TraceHeader, UnknownKeysAreReported) {
  std::vector<std::string> unknown;
  TraceText t;
  t.extra += "-cluster shape = (1,1,1)\n";
  t.body = block_of({});
  play(t.text(), &unknown);
  EXPECT_EQ(unknown, (std::vector<std::string>{"header key 'cluster shape': 1"}));
}

TEST(TraceHeader, WhatIsNoTraceIsAMessage) {
  EXPECT_THAT(faults_of("kernel-1.traceg", ""), HasSubstr("the header lacks '-kernel name = '"));
  EXPECT_THAT(faults_of("kernel-1.traceg.xz", "hello"), HasSubstr("is named .xz but is not xz data"));
  EXPECT_THAT(faults_of("kernel-1.traceg.gz", "hello"), HasSubstr("is named .gz but is not gzip data"));
  EXPECT_THAT(faults_of("kernel-1.traceg.xz", std::string("\xFD"
                                                          "7zXZ\0\0\4",
                                                          8)),
              HasSubstr("ends in the middle of its xz data"));
  EXPECT_THAT(faults_of("kernel-1.traceg.gz", "\x1F\x8B\x08garbage"), HasSubstr("gzip data"));
  const auto kernel = sass::open_trace("/nonexistent/kernel-1.traceg");
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(kernel.faults().front().text(), HasSubstr("cannot be opened: No such file"));
}

TEST(TraceHeader, PathsOfTraces) {
  EXPECT_TRUE(sass::is_trace_path("a/kernel-1.traceg"));
  EXPECT_TRUE(sass::is_trace_path("kernel-1.traceg.xz"));
  EXPECT_TRUE(sass::is_trace_path("kernel-1.traceg.gz"));
  EXPECT_FALSE(sass::is_trace_path("kernelslist.g"));
  EXPECT_FALSE(sass::is_trace_path("kernel.toml"));
}

}  // namespace trace_header_test
}  // namespace warpline::test
