#include "platform/sweep/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "tests/support/scratch_folder.h"

namespace warpline::sweep {
namespace optimiser_test {

/// Searches of studies whose runs are of no GPU: a process writes what a function says.
class Optimisers : public ::testing::Test {
 protected:
  using Settings = std::map<std::string, double>;

  Optimisers() {
    for (const char* name : {"/a.toml", "/b.toml"}) std::ofstream(folder_ + name) << "module = \"k.ptx\"\n";
  }
  void read(const std::string& text) {
    std::ofstream(folder_ + "/study.toml") << text;
    const Result<Study> study = read_study(folder_ + "/study.toml");
    ASSERT_TRUE(study.ok()) << study.faults().front().text();
    study_ = study.value();
  }
  static Aim aim(const std::vector<std::string>& objectives,
                 const std::vector<std::string>& constraints = {}) {
    std::vector<std::pair<std::string, std::string>> named;
    for (const std::string& o : objectives) named.emplace_back("--objective", o);
    const Result<Aim> aim = Aim::of(named, constraints, {"cycles", "dram.reads"});
    EXPECT_TRUE(aim.ok()) << aim.faults().front().text();
    return aim.value();
  }
  /// What a run writes: `outcome` and figures of the keys that its words set and of its workload.
  static int write(const std::vector<std::string>& words,
                   const std::function<std::string(const std::string& workload, const Settings&)>& said) {
    Settings settings;
    for (std::size_t n = 0; n + 1 < words.size(); ++n)
      if (words[n] == "--set") {
        const std::size_t is = words[n + 1].find('=');
        settings[words[n + 1].substr(0, is)] = std::stod(words[n + 1].substr(is + 1));
      }
    const std::size_t name = words[2].rfind('/') + 1;
    std::ofstream(ChildRun::statistics_path()) << "{" << said(words[2].substr(name, 1), settings) << "}";
    return 0;
  }
  static std::string finished(double cycles, double reads) {
    return R"("outcome": "finished", "time_ns": 1, "cycles": )" + std::to_string(std::llround(cycles)) +
           R"(, "counters": {"dram.reads": {"value": )" + std::to_string(std::llround(reads)) + "}}";
  }
  /// Searches, and returns the settings of the best, or of the front.
  std::vector<std::string> search(const Aim& aim, const Command& command, std::size_t evaluations = 100,
                                  const std::function<bool()>& stop = {}) {
    const Result<Candidates> candidates = Candidates::of(study_);
    EXPECT_TRUE(candidates.ok());
    ResultStore store(folder_ + "/results.sqlite", ResultStore::Access::write);
    store.begin(study_, "1.2.3");
    const std::size_t before = store.done().size();
    Optimiser::Options options;
    options.evaluations = evaluations;
    options.runs.jobs = 3;
    options.runs.command = command;
    options.runs.stop_wanted = stop;
    Optimiser search(study_, candidates.value(), aim, store, options);
    whole_ = search.run();
    ran_ = store.done().size() - before;
    tried_.clear();
    why_.clear();
    std::vector<std::string> out;
    for (const Optimiser::Tried& t : search.tried()) {
      tried_.push_back(t.points.front().number);
      if (!t.why.empty()) why_.push_back(t.why);
    }
    for (const Optimiser::Tried* t : search.best()) {
      std::string line;
      for (const auto& [key, value] : t->points.front().settings) line += (line.empty() ? "" : " ") + value;
      for (std::size_t n = 0; n < aim.objectives.size(); ++n)
        line += " " + std::to_string(std::llround(Optimiser::value(*t, n)));
      out.push_back(line);
    }
    return out;
  }

  Study study_;
  ScratchFolder scratch_;
  std::string folder_ = scratch_.path();
  bool whole_ = false;
  std::size_t ran_ = 0;             ///< rows written
  std::vector<std::size_t> tried_;  ///< first points
  std::vector<std::string> why_;
};

constexpr const char* kKeys =
    "gpus = \"mini\"\n[keys]\n\"l2.slices\" = [2, 4, 8]\n\"dram.channels\" = [1, 2, 4]\n"
    "\"l2.miss_registers\" = {from = 4, to = 26, step = 2}\n";
constexpr const char* kA = "[[workload]]\nrun = \"a.toml\"\n";
constexpr const char* kB = "[[workload]]\nrun = \"b.toml\"\n";

/// Least of cycles: 8 slices, 2 channels, 16 registers, of 108 candidates.
std::string one_valley(const std::string& workload, std::map<std::string, double> s) {
  const double cycles = 1000 + 80 - 10 * s["l2.slices"] + 50 * std::abs(s["dram.channels"] - 2) +
                        std::abs(s["l2.miss_registers"] - 16);
  return R"("outcome": "finished", "time_ns": 1, "cycles": )" +
         std::to_string(std::llround(workload == "b" ? 4 * cycles : cycles)) +
         R"(, "counters": {"dram.reads": {"value": )" + std::to_string(std::llround(100 * s["l2.slices"])) +
         "}}";
}

TEST_F(Optimisers, FindTheBestInAFractionOfTheRunsAndRunNothingTwice) {
  read(std::string(kKeys) + kA);
  const Command command = [](const auto& words) { return write(words, one_valley); };
  const std::vector<std::string> best = search(aim({"cycles"}), command, 40);
  ASSERT_FALSE(best.empty());
  EXPECT_EQ(best.front(), "8 2 16 1000");
  EXPECT_EQ(tried_.front(), 0U) << "the study's first";
  EXPECT_EQ(ran_, 40U);
  const std::vector<std::size_t> before = tried_;
  const Command never = [](const auto&) { return 7; };
  EXPECT_EQ(search(aim({"cycles"}), never, 40), best);
  EXPECT_EQ(ran_, 0U) << "its rows are there";
  EXPECT_EQ(tried_, before);
}

TEST_F(Optimisers, GoOnWhereTheyWereStopped) {
  read(std::string(kKeys) + kA);
  const Command command = [](const auto& words) { return write(words, one_valley); };
  int asked = 0;
  search(aim({"cycles"}), command, 40, [&asked] { return ++asked > 30; });
  EXPECT_FALSE(whole_);
  const std::size_t first = ran_;
  EXPECT_LT(first, 40U);
  EXPECT_EQ(search(aim({"cycles"}), command, 40).front(), "8 2 16 1000");
  EXPECT_TRUE(whole_);
  EXPECT_EQ(first + ran_, 40U);
}

TEST_F(Optimisers, SeveralWorkloadsCountByTheirGeometricMeanAndEachMeetsTheConstraints) {
  read("gpus = \"mini\"\n[keys]\n\"l2.slices\" = [2, 4, 8]\n" + std::string(kA) + kB);
  const auto said = [](const std::string& workload, const Settings& s) {
    const double slices = s.at("l2.slices");
    return workload == "a" ? finished(1000 / slices, 10 * slices) : finished(4000 / slices, 5 * slices);
  };
  const Command command = [&](const auto& words) { return write(words, said); };
  EXPECT_EQ(search(aim({"cycles"}), command), (std::vector<std::string>{"8 250", "4 500", "2 1000"}));
  EXPECT_EQ(ran_, 6U) << "all workloads of three candidates";
  EXPECT_EQ(search(aim({"cycles"}, {"dram.reads <= 40"}), command),
            (std::vector<std::string>{"4 500", "2 1000"}));
  EXPECT_EQ(why_, (std::vector<std::string>{"point 4 does not meet dram.reads <= 40"}));
  EXPECT_EQ(search(aim({"cycles", "l2.slices"}), command).size(), 3U) << "each has less of one";
  EXPECT_EQ(search(aim({"cycles", "dram.reads / dram.reads"}), command),
            (std::vector<std::string>{"8 250 1"}));
  EXPECT_TRUE(search(aim({"0 - cycles"}), command).empty()) << "of numbers below 0 there is no mean";
  Aim most = aim({"cycles * l2.slices * l2.slices"});
  most.maximise = true;
  EXPECT_EQ(search(most, command).front(), "8 16000");
}

TEST_F(Optimisers, WhatDoesNotFinishOrIsNoGpuIsNeverBest) {
  read("gpus = \"mini\"\n[keys]\n\"l2.slices\" = [0, 2, 4, 8]\n\"dram.channels\" = [1, 2]\n" +
       std::string(kA));
  const auto said = [](const std::string&, const Settings& s) -> std::string {
    if (s.at("l2.slices") == 8) return R"("outcome": "faulted", "cycles": 1, "failures": ["address 0"])";
    if (s.at("l2.slices") == 4 && s.at("dram.channels") == 2) return R"("outcome": "finished")";
    return finished(1000 / s.at("l2.slices"), 1);
  };
  EXPECT_EQ(search(aim({"cycles + dram.channels"}), [&](const auto& words) { return write(words, said); }),
            (std::vector<std::string>{"4 1 251", "2 1 501", "2 2 502"}));
  std::sort(why_.begin(), why_.end());
  EXPECT_EQ(why_, (std::vector<std::string>{"point 5 has no cycles", "point 6: faulted: address 0",
                                            "point 7: faulted: address 0"}));
  EXPECT_EQ(ran_, 6U) << "what is no GPU is not run";
  EXPECT_TRUE(search(aim({"dram.reads"}, {"cycles < 3"}), [](const auto&) { return 7; }).empty());
  EXPECT_EQ(search(aim({"cycles"}, {"l2.slices < 3"}), [](const auto&) { return 7; }).size(), 2U);
  EXPECT_EQ(tried_.size(), 2U) << "constraints on keys are looked at without a run";
}

TEST_F(Optimisers, CandidatesHaveThePointsOfTheSweep) {
  const std::string keys =
      "gpus = [\"mini\", \"v100\"]\n%\n[keys]\n\"l2.slices\" = [2, 4, 0]\n[[linked]]\nkeys = "
      "[\"dram.channels\", \"l2.miss_registers\"]\nvalues = [[1, 8], [2, 16], [4, 4]]\n";
  for (const std::string conditions :
       {"", "exclude = \"l2.slices == 4 and dram.channels == 2 or gpu == 'v100' and l2.slices < 3\"",
        "require = \"sms < 80 or l2.slices == 4 or workload == 'a'\""}) {
    std::string text = keys;
    read(text.replace(text.find('%'), 1, conditions) + kA + kB);
    const Result<Plan> plan = plan_of(study_);
    const Result<Candidates> all = Candidates::of(study_);
    ASSERT_TRUE(plan.ok() && all.ok());
    EXPECT_EQ(all.value().steps(), (std::vector<std::size_t>{2, 3, 3}));
    EXPECT_EQ(all.value().ordered(), (std::vector<bool>{false, false, false})) << "up and down is no order";
    std::size_t points = 0, candidates = 0;
    for (std::size_t gpu = 0; gpu < 2; ++gpu)
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) {
          const std::vector<Point> of = all.value().points_of({gpu, a, b});
          candidates += of.empty() ? 0 : 1;
          for (const Point& p : of) {
            ASSERT_LT(p.number, plan.value().points.size());
            const Point& q = plan.value().points[p.number];
            EXPECT_EQ(std::tie(p.gpu, p.workload, p.settings, p.impossible),
                      std::tie(q.gpu, q.workload, q.settings, q.impossible))
                << conditions;
            ++points;
          }
        }
    EXPECT_EQ(candidates, all.value().count());
    EXPECT_EQ(points, 2 * candidates);
    if (conditions.rfind("require", 0) != 0) {
      EXPECT_EQ(points, plan.value().points.size());
    }
  }
  read("gpus = \"mini\"\ndesign = \"one-at-a-time\"\n" + std::string(kA));
  EXPECT_FALSE(Candidates::of(study_).ok()) << "a search is of a grid";
}

TEST_F(Optimisers, ExpressionsAreFaultyWhereTheyStand) {
  const auto fault = [](const std::string& objective, const std::vector<std::string>& constraints = {}) {
    const Result<Aim> aim = Aim::of({{"--objective", objective}}, constraints, {"cycles", "dram.reads"});
    EXPECT_FALSE(aim.ok());
    return aim.ok() ? std::string{} : aim.faults().back().text();
  };
  EXPECT_EQ(
      fault("cycles * l2.slcies"),
      "--objective:1:10: error: there is no metric \"l2.slcies\"\n  1 | cycles * l2.slcies\n    |          "
      "^~~~~~~~~\n  hint: did you mean \"l2.slices\"?\n");
  EXPECT_EQ(fault("cycles < 3").substr(0, 64),
            "--objective:1:1: error: a number is expected, and this is none\n ");
  EXPECT_EQ(fault("cycles +").substr(0, 24), "--objective:1:9: error: ");
  EXPECT_EQ(fault("cycles", {"cycles + 1"}).substr(0, 53),
            "--subject-to:1:11: error: a comparison is expected: =");
  EXPECT_EQ(fault(std::string(1001, '1')).substr(0, 54),
            "--objective:1:1: error: is longer than 1000 characters");
}

TEST_F(Optimisers, TextsThatAreTakenForNumbersAreSaidBeforeAnythingRuns) {
  read(std::string(kKeys) + kA);
  const Result<Plan> plan = plan_of(study_);
  ASSERT_TRUE(plan.ok());
  const auto said = [&](const std::string& objective, const std::vector<std::string>& constraints = {}) {
    std::string out;
    for (const Diagnostic& d : aim({objective}, constraints).unfit(study_, plan.value().points[0]))
      out += d.text();
    return out;
  };
  EXPECT_EQ(said("cycles * l2.slices / (dram.channels - 1)", {"gpu == 'mini'", "l2.slices > 3"}), "");
  EXPECT_EQ(said("cycles * gpu"), "cycles * gpu: error: \"mini\" is no number\n");
  EXPECT_EQ(said("workload"), "workload: error: \"a\" is no number\n");
  EXPECT_EQ(said("cycles", {"gpu < 3 or cycles > 3"}),
            "gpu < 3 or cycles > 3: error: \"mini\" is no number\n");
}

TEST_F(Optimisers, ConditionsAreShortByHowFarTheyAreFromHolding) {
  const auto shortfall = [](const std::string& text) {
    const Aim a = aim({"cycles"}, {text});
    return a.constraints[0].shortfall([](const std::string& name) -> Operand {
      if (name == "gpu") return std::string("mini");
      return name == "cycles" ? 100.0 : 50.0;
    });
  };
  EXPECT_EQ(shortfall("cycles > 99"), 0);
  EXPECT_NEAR(shortfall("cycles < 80"), 0.2, 1e-6);
  EXPECT_NEAR(shortfall("cycles < 80 and dram.reads >= 100"), 0.7, 1e-6);
  EXPECT_NEAR(shortfall("cycles < 80 or dram.reads >= 100"), 0.2, 1e-6);
  EXPECT_NEAR(shortfall("gpu == 'v100'"), 1, 1e-6);
  EXPECT_GT(shortfall("cycles < 100"), 0) << "equal is not less";
  EXPECT_GT(shortfall("dram.reads - 50 != 0"), 0);
}

}  // namespace optimiser_test
}  // namespace warpline::sweep
