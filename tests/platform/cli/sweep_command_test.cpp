#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/cli/exit_status.h"
#include "rtl_models/base/text.h"
#include "tests/support/command.h"
#include "tests/support/scratch_folder.h"

namespace warpline {
namespace sweep_command_test {

using test::command;
using test::Ended;
using ::testing::HasSubstr;

/// A study of three points.
class SweepCommand : public ::testing::Test {
 protected:
  SweepCommand() {
    std::ofstream(path("g.toml")) << "[[launch]]\ngenerator = \"random\"\nfootprint = 65536\naccesses = 20\n"
                                     "grid = [2]\nblock = [64]\n";
    write_study("\"l2.slices\" = [2, 4, 8]");
  }
  void write_study(const std::string& keys) {
    std::ofstream(study()) << "gpus = \"mini\"\n[keys]\n" << keys << "\n[[workload]]\nrun = \"g.toml\"\n";
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] std::string study() const { return path("study.toml"); }
  void sweep(const std::string& results, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"sweep", study(), "--results", path(results), "--jobs", "1", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended e = command(words);
    EXPECT_EQ(e.status, kDone) << e.err;
  }
  /// Words of each line.
  static std::vector<std::vector<std::string>> rows_of(const std::string& text, char between) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      rows.emplace_back();
      for (const std::string_view word : split(line, between))
        if (between != ' ' || !word.empty()) rows.back().emplace_back(word);
    }
    return rows;
  }

  ScratchFolder folder_;
};

TEST_F(SweepCommand, RowsHaveWhatAPlainRunCounts) {
  sweep("r.sqlite");
  const Ended exported = command({"export", path("r.sqlite")});
  ASSERT_EQ(exported.status, kDone) << exported.err;
  const auto rows = rows_of(exported.out, ',');
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t p = 0; p < 3; ++p) {
    const std::string slices = std::to_string(2U << p);
    ASSERT_EQ(command({"run", path("g.toml"), "--quiet", "--gpu", "mini", "--set", "l2.slices=" + slices,
                       "--stats", path("s.json")})
                  .status,
              kDone);
    std::ifstream file(path("s.json"));
    const auto counters = nlohmann::json::parse(file).at("counters");
    std::size_t compared = 0, totals = 0;
    for (const auto& [name, of] : counters.items()) totals += name.find('[') == std::string::npos;
    for (std::size_t column = 0; column < rows[0].size(); ++column)
      if (const auto found = counters.find(rows[0][column]); found != counters.end()) {
        EXPECT_EQ(rows[p + 1].at(column), std::to_string(found->at("value").get<std::uint64_t>()))
            << rows[0][column];
        ++compared;
      }
    EXPECT_EQ(compared, totals);
  }
}

TEST_F(SweepCommand, APlanForetellsTheTimeOfMoreWorkers) {
  sweep("r.sqlite");
  for (const bool by_results : {true, false}) {
    std::vector<std::string> words = {"sweep", study(), "--plan", "--workers", "1,3,10000"};
    if (by_results) words.insert(words.end(), {"--results", path("r.sqlite")});
    const Ended e = command(words);
    ASSERT_EQ(e.status, kDone) << e.err;
    EXPECT_THAT(e.err, HasSubstr("3 runs of "));
    const auto rows = rows_of(e.out, ' ');
    ASSERT_EQ(rows.size(), 4U) << e.out;
    EXPECT_EQ(rows[1].front(), "1");
    EXPECT_EQ(rows[3].front(), "10000");
    EXPECT_EQ(rows[3].back(), "points");
  }
  EXPECT_THAT(command({"sweep", study(), "--workers", "3", "--results", path("r.sqlite")}).err,
              HasSubstr("--workers says for how many --plan foretells the time"));
  EXPECT_THAT(command({"sweep", study(), "--plan", "--results", path("r.sqlite")}).err,
              HasSubstr("no --results but for --workers"));
  EXPECT_THAT(command({"sweep", study(), "--plan", "--workers", "3", "--results", path("none.sqlite")}).err,
              HasSubstr("there is no such file"));
  write_study("\"l2.slices\" = [2, 4]");
  EXPECT_THAT(command({"sweep", study(), "--plan", "--workers", "3", "--results", path("r.sqlite")}).err,
              HasSubstr("a study of another text"));
}

TEST_F(SweepCommand, WhatTasksHaveDoneIsNotCollectedIntoAFileOfTheirs) {
  ASSERT_EQ(command({"sweep", study(), "--slurm", path("job"), "--tasks", "2"}).status, kDone);
  sweep("job/part.0.of.2.sqlite", {"--share", "0/2"});
  // One that is there, and one that its task has not begun.
  for (const char* part : {"job/part.0.of.2.sqlite", "job/part.1.of.2.sqlite"}) {
    const Ended e = command({"sweep", study(), "--results", path(part), "--collect", path("job")});
    EXPECT_EQ(e.status, kBadInput);
    EXPECT_THAT(e.err, HasSubstr("a task of the job writes this file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("job/part.1.of.2.sqlite")));
  EXPECT_EQ(command({"sweep", study(), "--results", path("all.sqlite"), "--collect", path("job")}).status,
            kCheckFailed)
      << "a task is missing";
}

TEST_F(SweepCommand, AnObjectiveThatIsATextIsRefusedBeforeAnythingRuns) {
  const Ended e =
      command({"optimise", study(), "--results", path("r.sqlite"), "--objective", "cycles * gpu"});
  EXPECT_EQ(e.status, kBadInput);
  EXPECT_THAT(e.err, HasSubstr("cycles * gpu: error: \"mini\" is no number"));
  EXPECT_FALSE(std::filesystem::exists(path("r.sqlite")));
}

}  // namespace sweep_command_test
}  // namespace warpline
