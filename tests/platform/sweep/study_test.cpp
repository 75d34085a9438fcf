#include "platform/sweep/study.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "platform/sweep/points.h"
#include "platform/sweep/sweep.h"
#include "tests/support/scratch_folder.h"

namespace warpline::sweep {
namespace study_test {

/// A study's text in a folder that has an input to run.
class Studies : public ::testing::Test {
 protected:
  Studies() { std::ofstream(folder_ + "/k.toml") << "module = \"k.ptx\"\n"; }
  Result<Study> read(const std::string& text) {
    std::ofstream(folder_ + "/study.toml") << text;
    return read_study(folder_ + "/study.toml");
  }
  /// Its points, as "gpu key=value ...", and those that are impossible with "!" before.
  std::vector<std::string> points(const std::string& text) {
    const Result<Study> study = read(text);
    EXPECT_TRUE(study.ok()) << (study.ok() ? "" : study.faults().front().text());
    if (!study.ok()) return {};
    const Result<Plan> plan = plan_of(study.value());
    EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.faults().front().text());
    std::vector<std::string> out;
    if (!plan.ok()) return out;
    left_out_ = plan.value().left_out;
    for (const Point& p : plan.value().points) {
      EXPECT_EQ(p.number, out.size());
      std::string line = (p.impossible.empty() ? "" : "!") + p.gpu;
      for (const auto& [key, value] : p.settings) line += " " + key + "=" + value;
      out.push_back(line);
    }
    return out;
  }
  /// What is wrong with a study, and which line it is in.
  std::string fault(const std::string& text, unsigned line) {
    const Result<Study> study = read(text);
    EXPECT_FALSE(study.ok());
    if (study.ok()) return {};
    EXPECT_EQ(study.faults().size(), 1U) << study.faults().back().text();
    EXPECT_EQ(study.faults().front().line, line) << study.faults().front().text();
    return study.faults().front().message;
  }
  ScratchFolder scratch_;
  std::string folder_ = scratch_.path();
  std::size_t left_out_ = 0;
};

constexpr const char* kRun = "\n[[workload]]\nrun = \"k.toml\"\n";

TEST_F(Studies, AGridHasEveryCombinationAndTheLastKeyTurnsFastest) {
  EXPECT_EQ(
      points(std::string("gpus = \"mini\"\n[keys]\n\"l2.slices\" = [2, 4]\n\"dram.channels\" = [1, 2]") +
             kRun),
      (std::vector<std::string>{"mini l2.slices=2 dram.channels=1", "mini l2.slices=2 dram.channels=2",
                                "mini l2.slices=4 dram.channels=1", "mini l2.slices=4 dram.channels=2"}));
  // The same keys, as TOML has tables.
  EXPECT_EQ(points(std::string("gpus = [\"mini\"]\n[keys]\nl2.slices = [2, 4]") + kRun),
            (std::vector<std::string>{"mini l2.slices=2", "mini l2.slices=4"}));
}

TEST_F(Studies, RangesGoByStepsAndByFactors) {
  EXPECT_EQ(
      points(std::string("gpus = \"mini\"\nkeys.\"l2.slices\" = {from = 2, to = 6, step = 2}") + kRun).size(),
      3U);
  EXPECT_EQ(
      points(std::string("gpus = \"mini\"\nkeys.\"dram.channels\" = {from = 1, to = 9, factor = 2}") + kRun),
      (std::vector<std::string>{"mini dram.channels=1", "mini dram.channels=2", "mini dram.channels=4",
                                "mini dram.channels=8"}));
}

TEST_F(Studies, KeysMayBeTexts) {
  EXPECT_EQ(points(std::string("gpus = \"mini\"\nkeys.\"l2.replacement\" = [\"lru\", \"random\", \"none\"]") +
                   kRun),
            (std::vector<std::string>{"mini l2.replacement=\"lru\"", "mini l2.replacement=\"random\"",
                                      "!mini l2.replacement=\"none\""}));
}

TEST_F(Studies, LinkedKeysChangeTogether) {
  EXPECT_EQ(
      points(std::string("gpus = \"mini\"\n[[linked]]\nkeys = [\"l2.slices\", \"dram.channels\"]\nvalues = "
                         "[[2, 1], [4, 2]]") +
             kRun),
      (std::vector<std::string>{"mini l2.slices=2 dram.channels=1", "mini l2.slices=4 dram.channels=2"}));
}

TEST_F(Studies, OneAtATimeLeavesTheOthersAtTheirFirst) {
  EXPECT_EQ(
      points(std::string("gpus = \"mini\"\ndesign = \"one-at-a-time\"\n[keys]\nl2.slices = [4, "
                         "2]\ndram.channels = [2, 1, 4]") +
             kRun),
      (std::vector<std::string>{"mini l2.slices=4 dram.channels=2", "mini l2.slices=2 dram.channels=2",
                                "mini l2.slices=4 dram.channels=1", "mini l2.slices=4 dram.channels=4"}));
}

TEST_F(Studies, ALatinHypercubeTakesEachStepOfAnAxisEquallyOften) {
  const std::string text =
      "gpus = \"mini\"\ndesign = \"latin\"\npoints = 12\nseed = 3\n[keys]\n"
      "l2.miss_registers = {from = 4, to = 26, step = 2}\ndram.channels = [1, 2, 4]";
  const std::vector<std::string> all = points(text + kRun);
  ASSERT_EQ(all.size(), 12U);
  EXPECT_EQ(all, points(text + kRun)) << "the same points whenever it is asked";
  std::map<std::string, int> of;
  for (const std::string& p : all)
    for (std::size_t at = 0; (at = p.find(' ', at)) != std::string::npos; ++at)
      ++of[p.substr(at + 1, p.find(' ', at + 1) - at - 1)];
  for (const auto& [step, times] : of) EXPECT_EQ(times, step.rfind("dram", 0) == 0 ? 4 : 1) << step;
}

TEST_F(Studies, ConditionsLeaveOutPointsAndMayAskForAnyKey) {
  const std::string keys = "gpus = [\"mini\", \"v100\"]\n";
  const std::string rest = std::string("\n[keys]\nl2.slices = [2, 4]") + kRun;
  EXPECT_EQ(points(keys + "exclude = [\"gpu == 'mini' and l2.slices * 2 > 4 + 1\"]" + rest),
            (std::vector<std::string>{"mini l2.slices=2", "v100 l2.slices=2", "v100 l2.slices=4"}));
  EXPECT_EQ(left_out_, 1U);
  EXPECT_EQ(points(keys + "require = [\"sms == 80 or (l2.slices == 4)\"]" + rest).size(), 3U);
  EXPECT_EQ(points(keys + "require = [\"workload == 'k'\", \"l2.slices / 2 - 1 == 0\"]" + rest).size(), 2U);
}

TEST_F(Studies, SharesHaveEachPointOnceWithItsNumber) {
  const Result<Study> study = read(
      std::string("gpus = \"mini\"\nexclude = \"l2.slices == 4 and dram.channels == 2\"\n[keys]\nl2.slices = "
                  "[2, 4, 8]\ndram.channels = [1, 2, 0]") +
      kRun);
  ASSERT_TRUE(study.ok());
  const Result<Plan> whole = plan_of(study.value());
  ASSERT_EQ(whole.value().points.size(), 8U);
  std::size_t points = 0;
  for (const std::size_t n : {0U, 1U, 2U}) {
    const Result<Plan> share = plan_of(study.value(), {n, 3});
    EXPECT_EQ(share.value().left_out, 1U);
    for (const Point& p : share.value().points) {
      EXPECT_EQ(p.number % 3, n);
      const Point& q = whole.value().points[p.number];
      EXPECT_EQ(std::tie(p.settings, p.impossible), std::tie(q.settings, q.impossible));
      ++points;
    }
  }
  EXPECT_EQ(points, 8U);
}

TEST_F(Studies, WhatIsNoGpuIsSaidBeforeAnythingRuns) {
  const std::vector<std::string> all =
      points(std::string("gpus = \"mini\"\nkeys.\"l2.slices\" = [4, 0]") + kRun);
  EXPECT_EQ(all, (std::vector<std::string>{"mini l2.slices=4", "!mini l2.slices=0"}));
}

TEST_F(Studies, MistakesAreSaidWhereTheyStand) {
  const std::string gpu = "gpus = \"mini\"\n";
  EXPECT_EQ(fault(std::string("design = \"grid\"") + kRun, 0), "the study lacks \"gpus\"");
  EXPECT_EQ(fault("gpus = \"v10\"" + std::string(kRun), 1),
            "gpus: there is neither a preset nor a file \"v10\"");
  EXPECT_EQ(fault(gpu + "keys.\"l2.slcies\" = [1]" + kRun, 2), "there is no key \"l2.slcies\"");
  EXPECT_EQ(fault(gpu + "keys.\"l2.slices\" = [1, 1]" + kRun, 2), "1 stands there twice");
  EXPECT_EQ(fault(gpu + "keys.\"l2.slices\" = {from = 4, to = 2, step = 1}" + kRun, 2),
            "l2.slices: a range goes up, from above 0 where it has a factor above 1");
  EXPECT_EQ(fault(gpu + "points = 3" + kRun, 2), "points: belongs to design = \"latin\"");
  EXPECT_EQ(fault(gpu + "exclude = \"l2.slices + 2\"" + kRun, 2),
            "condition: a comparison is expected: == != < <= > or >=");
  EXPECT_EQ(fault(gpu + "exclude = \"l2.slices == (2\"" + kRun, 2), "condition: a ) is expected here");
  EXPECT_EQ(fault(gpu + "exclude = \"slices == 2\"" + kRun, 2), "condition: there is no key \"slices\"");
  EXPECT_EQ(fault(gpu + "exclude = \"" + std::string(400, '(') + "\"" + kRun, 2),
            "condition: parentheses stand in each other at most 100 deep");
  EXPECT_EQ(fault(gpu + "[[workload]]\nrun = \"other.toml\"", 3),
            "there is no file " + folder_ + "/other.toml");
  EXPECT_EQ(fault(gpu + "[[workload]]\nrun = \"k.toml\"\noptions = [\"--set\", \"sms=1\"]", 4),
            "options: --set is said by the study");
  EXPECT_EQ(fault(gpu + "sample = 0" + kRun, 2), "sample: must be 1 to 9223372036854775807, not 0");
  EXPECT_EQ(fault(gpu + "figures = [\"ipc\"]" + kRun, 2),
            "figures: are kept of every so many cycles, and sample does not say of how many");
  const std::string children = "\n[[workload]]\nexec = \"k.toml\"\noptions = \"--children\"";
  EXPECT_EQ(fault(gpu + "sample = 10" + children, 2),
            "sample: is kept of one process, and k has the option --children");
  EXPECT_EQ(fault(gpu + "profile = true" + children, 2),
            "profile: is kept of one process, and k has the option --children");
  EXPECT_EQ(fault(gpu + "[[workload]]\nrun = \"k.toml\"\noptions = [\"--profile\", \"p\"]", 4),
            "options: --profile is said by the study");
  for (const char* const own : {"--stats-counters", "--live", "--paused", "--live=0"})
    EXPECT_EQ(fault(gpu + "[[workload]]\nrun = \"k.toml\"\noptions = [\"" + own + "\"]", 4),
              "options: " + std::string(own).substr(0, std::string(own).find('=')) + " is said by the study");
  EXPECT_EQ(fault(gpu, 0), "there is no [[workload]]");
}

TEST_F(Studies, ProgramsHaveFiguresOverTimeToo) {
  const Result<Study> study = read("gpus = \"mini\"\nsample = 10\n[[workload]]\nexec = [\"k.toml\", \"a\"]");
  ASSERT_TRUE(study.ok()) << study.faults().front().text();
  const Result<Plan> plan = plan_of(study.value());
  ASSERT_TRUE(plan.ok());
  const std::vector<std::string> words = Sweep::words_of(study.value(), plan.value().points[0], "s.json");
  const auto series = std::find(words.begin(), words.end(), "--series"),
             program = std::find(words.begin(), words.end(), "--");
  ASSERT_NE(program, words.end());
  EXPECT_LT(series, program);
  EXPECT_LT(std::find(words.begin(), words.end(), "--sample"), program);
}

TEST_F(Studies, AConditionThatSaysNothingOfAPointIsAFault) {
  const Result<Study> study = read(std::string("gpus = \"mini\"\nexclude = \"name * 2 == 1\"") + kRun);
  ASSERT_TRUE(study.ok());
  const Result<Plan> plan = plan_of(study.value());
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.faults().front().message.find("\"mini\" is no number"), std::string::npos)
      << plan.faults().front().message;
}

TEST_F(Studies, MorePointsThanAnybodyMeansAreRefused) {
  std::string text = "gpus = \"mini\"\n[keys]\n";
  for (const char* key : {"l2.slices", "dram.channels", "l2.miss_registers"})
    text += "\"" + std::string(key) + "\" = {from = 1, to = 1000, step = 1}\n";
  const Result<Study> study = read(text + kRun);
  ASSERT_TRUE(study.ok()) << study.faults().front().text();
  EXPECT_FALSE(plan_of(study.value()).ok());
}

}  // namespace study_test
}  // namespace warpline::sweep
