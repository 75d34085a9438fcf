#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace trace_list_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string faults_of(const std::string& list) {
  const TemporaryFile file("kernelslist.g", list);
  std::vector<std::string> warnings;
  const auto result = sass::read_list(file.path(), warnings);
  std::string all;
  if (!result.ok())
    for (const Diagnostic& d : result.faults()) all += d.text();
  return all;
}

TEST(TraceList, NamesCopiesAndKernelsInOrder) {
  const TemporaryFile plain("kernel-1.traceg", ""), xz("kernel-2.traceg.xz", ""),
      gz("kernel-3.traceg.gz", "");
  const TemporaryFile list(
      "kernelslist.g",
      "MemcpyHtoD,0x7fb0fc400000,200000\r\nkernel-1.traceg\n\nkernel-2.traceg\nkernel-3.traceg\n");
  std::vector<std::string> warnings;
  const auto result = sass::read_list(list.path(), warnings);
  ASSERT_TRUE(result.ok()) << result.faults().front().text();
  const auto& entries = result.value();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_TRUE(entries[0].is_copy);
  EXPECT_EQ(entries[0].address, 0x7fb0fc400000U);
  EXPECT_EQ(entries[0].bytes, 200000U);
  EXPECT_EQ(entries[1].path, plain.path());
  EXPECT_EQ(entries[2].path, xz.path());
  EXPECT_EQ(entries[3].path, gz.path());
  EXPECT_TRUE(warnings.empty());
}

TEST(TraceList, UnknownKindsAreReportedOnceEach) {
  const TemporaryFile kernel("kernel-1.traceg", "");
  const TemporaryFile list("kernelslist.g",
                           "MemcpyDtoH,0x0,4\nkernel-1.traceg\nMemcpyDtoH,0x10,4\nnccl comm\n");
  std::vector<std::string> warnings;
  ASSERT_TRUE(sass::read_list(list.path(), warnings).ok());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("2 lines of unknown kind 'MemcpyDtoH' ignored"),
                                    HasSubstr("1 line of unknown kind 'nccl' ignored")));
}

TEST(TraceList, AllFaultsAtOnce) {
  const TemporaryFile kernel("kernel-10.traceg", "");
  const std::string faults =
      faults_of("MemcpyHtoD,0x7g,1\nMemcpyHtoD,0x70\nMemcpyHtoD,0x70,-1\nkernel-1O.traceg\n");
  EXPECT_THAT(faults, HasSubstr("kernelslist.g:1:12: error: the address of a copy must be a 64-bit number"));
  EXPECT_THAT(faults, HasSubstr("kernelslist.g:2:1: error: expected 'MemcpyHtoD,0xADDRESS,BYTES'"));
  EXPECT_THAT(faults, HasSubstr("kernelslist.g:3:17: error: the size of a copy must be a 64-bit number"));
  EXPECT_THAT(faults, HasSubstr("kernelslist.g:4:1: error: there is no file"));
  EXPECT_THAT(faults, HasSubstr("did you mean 'kernel-10.traceg'?"));
}

TEST(TraceList, AnEmptyListIsAFault) {
  EXPECT_THAT(faults_of("\n"), HasSubstr("the list names no kernel trace"));
  std::vector<std::string> warnings;
  EXPECT_FALSE(sass::read_list("/nonexistent/kernelslist.g", warnings).ok());
}

}  // namespace trace_list_test
}  // namespace warpline::test
