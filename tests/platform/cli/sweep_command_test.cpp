#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

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
  void write_study(const std::string& keys, const std::string& head = {}) {
    std::ofstream(study()) << head << "gpus = \"mini\"\n[keys]\n"
                           << keys << "\n[[workload]]\nrun = \"g.toml\"\n";
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

TEST_F(SweepCommand, NumbersAreReadOneByOne) {
  sweep("r.sqlite");
  for (const char* list : {"1,,2", "1,", ",", "0", "-1", "1.5"}) {
    const Ended e = command({"sweep", study(), "--plan", "--results", path("r.sqlite"), "--workers", list});
    EXPECT_EQ(e.status, kBadInput) << list << e.out;
    EXPECT_THAT(e.err, HasSubstr("is no number from 1 to 1000000")) << list;
  }
  for (const char* list : {"0,,1", "-1", "0,x"}) {
    const Ended e = command({"report", path("r.sqlite"), "-o", path("r.html"), "--points", list});
    EXPECT_EQ(e.status, kBadInput) << list;
    EXPECT_THAT(e.err, HasSubstr("is no number from 0 on")) << list;
  }
}

/// A run that was ended at its limit takes as long as that in another sweep.
TEST_F(SweepCommand, AForecastKnowsRunsThatDidNotFinish) {
  write_study("\"l2.slices\" = [2, 4, 8]", "time_limit_s = 1000\n");
  sweep("r.sqlite");
  {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path("r.sqlite").c_str(), &db), SQLITE_OK);
    for (const char* sql : {"UPDATE runs SET outcome = 'too long', cycles = NULL, wall_s = 7 WHERE point = 1",
                            "UPDATE runs SET outcome = 'lost', cycles = NULL, wall_s = 500 WHERE point = 2",
                            "UPDATE runs SET wall_s = 0 WHERE point = 0"})
      ASSERT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
  }
  const Ended e = command({"sweep", study(), "--plan", "--workers", "1", "--results", path("r.sqlite")});
  ASSERT_EQ(e.status, kDone) << e.err;
  EXPECT_THAT(e.err, HasSubstr("3 runs of 8 min on average, the longest 17 min"));
}

TEST_F(SweepCommand, NamesOfNothingAreSaidBeforeAnythingRuns) {
  const auto plan_of = [this](const std::string& head) {
    write_study("\"l2.slices\" = [2, 4, 8]", head);
    return command({"sweep", study(), "--plan"});
  };
  const Ended metric = plan_of("metrics = [\"wall_s\", \"cyclse\", \"l2.raeds\"]\n");
  EXPECT_EQ(metric.status, kBadInput);
  EXPECT_THAT(metric.err, HasSubstr("study.toml:1:22: error: metrics: nothing is called \"cyclse\""));
  EXPECT_THAT(metric.err, HasSubstr("did you mean \"cycles\""));
  EXPECT_THAT(metric.err, HasSubstr("nothing is called \"l2.raeds\""));
  const Ended figure = plan_of("sample = 10\nfigures = \"nonsense\"\n");
  EXPECT_EQ(figure.status, kBadInput);
  EXPECT_THAT(figure.err, HasSubstr("study.toml:2:11: error: figures: nothing is called \"nonsense\""));
  const Ended all = plan_of(
      "metrics = [\"cycles\", \"l2.sector_hits\", \"buffer.a.l2.sector_hits\"]\n"
      "sample = 10\nfigures = [\"ipc\", \"l2[*].sector_hits\"]\n");
  EXPECT_EQ(all.status, kDone) << all.err;
}

/// Without waiting, no roof of bandwidth holds.
TEST_F(SweepCommand, RooflinesAreOfTimedRuns) {
  EXPECT_THAT(command({"run", path("g.toml"), "--quiet", "--transport", "lt", "--roofline"}).err,
              HasSubstr("of which --transport lt has an estimate without waiting"));
  // SystemC, by which such runs go, is begun once in a process.
  ASSERT_EQ(command({"run", path("g.toml"), "--quiet", "--stats", path("fast.json")}).status, kDone);
  EXPECT_EQ(command({"metrics", path("fast.json"), "--roofline"}).status, kDone);
  std::ifstream fast(path("fast.json"));
  nlohmann::json run = nlohmann::json::parse(fast);
  run["transport"] = "lt";
  std::ofstream(path("lt.json")) << run;
  const Ended file = command({"metrics", path("lt.json"), "--roofline"});
  EXPECT_EQ(file.status, kBadInput) << file.out;
  EXPECT_THAT(file.err, HasSubstr("--transport lt"));
  EXPECT_EQ(command({"metrics", path("lt.json"), "--energy"}).status, kDone);
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
