// How a run ended: what its statistics say of that, beside its exit status and what was printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "platform/cli/exit_status.h"
#include "tests/support/command.h"

namespace warpline {
namespace run_outcome_test {

using test::command;
using test::Ended;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunOutcomes : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("warpline-outcome-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(path("k.ptx"))
        << ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{\n.reg .b64 %rd<2>;\n"
           "ld.param.u64 %rd1, [a];\nst.global.u32 [%rd1], 7;\nret;\n}\n"
           ".entry spin(.param .u64 a)\n{\nl:\nbra l;\n}\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) { return (folder_ / name).string(); }

  /// The run of a kernel whose buffer is declared with this besides.
  std::string launch(const std::string& buffer, const std::string& kernel = "k") {
    std::ofstream(path("k.toml")) << "module = \"k.ptx\"\nkernel = \"" + kernel +
                                         "\"\ngrid = [1]\nblock = [1]\n[[argument]]\nbuffer = \"a\"\n"
                                         "type = \"u32\"\ncount = 1\n" +
                                         buffer + "\n";
    return path("k.toml");
  }
  static std::string sample(const std::string& name) {
    return WARPLINE_SOURCE_DIR "/sw/kernels/" + name + ".toml";
  }
  /// Every failure was printed, too.
  nlohmann::json statistics(const std::string& input, const std::vector<std::string>& more, int status) {
    std::vector<std::string> words = {"run", input, "--quiet", "--stats", path("s.json")};
    words.insert(words.end(), more.begin(), more.end());
    const Ended e = command(words);
    EXPECT_EQ(e.status, status) << e.err;
    std::ifstream file(path("s.json"));
    const auto json = nlohmann::json::parse(file);
    EXPECT_EQ(json["exit_status"], status);
    for (const auto& failure : json["failures"])
      EXPECT_THAT(e.err, HasSubstr("error: " + failure.get<std::string>()));
    return json;
  }
  std::filesystem::path folder_;
};

const char* const kGood = "expect = { value = 7 }";
const char* const kWrong = "expect = { value = 8 }";
const char* const kUnwritable = "\ndump = \"/dev/full\"";

TEST_F(RunOutcomes, WhatIsAsItShouldBeHasNoFailures) {
  const auto json = statistics(launch(kGood), {"--check-consistency"}, kDone);
  EXPECT_EQ(json["outcome"], "finished");
  EXPECT_THAT(json["failures"], IsEmpty());
}

TEST_F(RunOutcomes, AViolationIsAFailedCheckWithItsSentence) {
  const auto json = statistics(sample("stale"), {"--check-consistency"}, kCheckFailed);
  EXPECT_EQ(json["outcome"], "failed check");
  ASSERT_EQ(json["failures"].size(), 1U);
  EXPECT_THAT(json["failures"][0].get<std::string>(),
              HasSubstr("consistency: kernel \"look\" violates the PTX 9.0 model, coherence: "));
}

TEST_F(RunOutcomes, AGridThatIsNotJudgedLeavesTheRunIncomplete) {
  const auto json = statistics(sample("texture"), {"--check-consistency"}, kBadInput);
  EXPECT_EQ(json["outcome"], "incomplete");
  EXPECT_THAT(json["failures"].at(0).get<std::string>(), HasSubstr("not judged: texture accesses ("));
}

TEST_F(RunOutcomes, AFileThatIsNotWrittenLeavesTheRunIncomplete) {
  const auto dump = statistics(launch(std::string(kGood) + kUnwritable), {}, kBadInput);
  EXPECT_EQ(dump["outcome"], "incomplete");
  EXPECT_THAT(dump["failures"].at(0).get<std::string>(), HasSubstr("dump of buffer \"a\": "));
  const auto wave = statistics(launch(kGood), {"--wave", "/dev/full"}, kBadInput);
  EXPECT_EQ(wave["outcome"], "incomplete");
  EXPECT_THAT(wave["failures"].at(0).get<std::string>(), HasSubstr("--wave: "));
}

TEST_F(RunOutcomes, WhatIsWrongStaysWrongWhereAFileIsNotWritten) {
  const auto dump = statistics(launch(std::string(kWrong) + kUnwritable), {}, kBadInput);
  EXPECT_EQ(dump["outcome"], "failed check");
  EXPECT_EQ(dump["failures"].size(), 2U);
  const auto graph = statistics(sample("stale"), {"--check-consistency", "--dot", "/dev/full"}, kBadInput);
  EXPECT_EQ(graph["outcome"], "failed check");
  EXPECT_THAT(graph["failures"].at(1).get<std::string>(), HasSubstr("--dot: "));
}

TEST_F(RunOutcomes, ARunThatDoesNotEndHasItsSentence) {
  const auto json = statistics(launch("", "spin"), {"--max-cycles", "500"}, kStuck);
  EXPECT_EQ(json["outcome"], "limit");
  EXPECT_THAT(json["failures"].at(0).get<std::string>(),
              HasSubstr("\"spin\" is not done at the cycle limit"));
}

TEST_F(RunOutcomes, WhatWasForbiddenBeforeARunGotStuckIsSaidToo) {
  const Ended e = command({"run", sample("stale"), launch("", "spin"), "--quiet", "--check-consistency",
                           "--max-cycles", "20000", "--stats", path("s.json")});
  EXPECT_EQ(e.status, kStuck);
  EXPECT_THAT(e.err, HasSubstr("kernel \"look\" violates"));
  std::ifstream file(path("s.json"));
  const auto json = nlohmann::json::parse(file);
  EXPECT_EQ(json["outcome"], "limit");
  EXPECT_EQ(json["failures"].size(), 2U);
}

}  // namespace run_outcome_test
}  // namespace warpline
