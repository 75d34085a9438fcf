// The search of `calibrate --fit`, on machines of formulas and on small models.
#include "platform/study/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "platform/config/load_gpu.h"
#include "platform/study/fit_report.h"
#include "platform/study/parallel_rows.h"

namespace warpline::study {
namespace fit_test {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Point = FitState::Point;
using Formula = std::function<double(const Point&)>;

/// A plan with rows that formulas answer.
struct Machine {
  std::vector<MeasuredRow> rows;
  std::vector<Formula> formulas;
  FitPlan plan;
  unsigned measured = 0;
  unsigned stop_after = 0;
  std::function<bool(const Point&)> is_gpu = [](const Point&) { return true; };
  FitState state{FitIdentity{}};

  /// The published value of each row is what its formula has at `at`.
  Machine(std::vector<FitKey> keys, std::vector<Formula> all, const Point& at) : formulas(std::move(all)) {
    plan.keys = std::move(keys);
    if (plan.keys.size() == 1) plan.search.local = FitSearch::Local::cobyla;
    rows.resize(formulas.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows[r].id = "row" + std::to_string(r);
      rows[r].value = formulas[r](at);
      rows[r].quantity = find_quantity("chase");
      plan.rows.push_back({&rows[r], 5, 1});
    }
    state = FitState(identity());
  }
  [[nodiscard]] FitIdentity identity() const { return identity_of(plan, load_gpu("mini").value(), "test"); }

  FitOutcome run() {
    const auto outcome = run_fit(plan, state,
                                 {[this](const Point& at) {
                                    if (stop_after != 0 && measured == stop_after) throw FitStopped{"so"};
                                    ++measured;
                                    FitEvaluation out;
                                    if (!is_gpu(at)) out.no_gpu = "no";
                                    for (const Formula& f : formulas) out.rows.push_back({true, f(at), {}});
                                    return out;
                                  },
                                  [](const FitState&, unsigned, double) {}});
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? outcome.value() : FitOutcome{};
  }
};

FitKey key(const char* path, std::uint64_t lowest, std::uint64_t highest, std::uint64_t start,
           std::uint64_t step = 1) {
  return {path, {}, lowest, highest, step, start};
}

double real(std::uint64_t n) {
  return static_cast<double>(n);
}

Machine two_latencies() {
  return Machine({key("a", 1, 100, 90), key("b", 1, 400, 15)},
                 {[](const Point& p) { return 20 + real(p[0]); },
                  [](const Point& p) { return 60 + real(p[0]) + 2 * real(p[1]); },
                  [](const Point& p) { return 5000 / (real(p[1]) + 10); }},
                 {37, 222});
}

TEST(Fit, FindsKeysByEveryMethod) {
  using S = FitSearch;
  for (const S::Local local : {S::Local::bobyqa, S::Local::cobyla, S::Local::sbplx}) {
    for (const S::Global global : {S::Global::none, S::Global::direct, S::Global::crs}) {
      Machine m = two_latencies();
      m.plan.search.local = local;
      m.plan.search.global = global;
      if (global != S::Global::none) m.plan.search.global_evaluations = 60;
      const FitOutcome o = m.run();
      EXPECT_EQ(o.found, (Point{37, 222})) << static_cast<int>(local) << static_cast<int>(global);
      EXPECT_EQ(o.cost_after, 0);
      EXPECT_GT(o.cost_before, 1);
      EXPECT_FALSE(o.spent);
      EXPECT_EQ(o.points, m.measured) << "nothing is measured twice";
      EXPECT_THAT(o.undetermined, IsEmpty());
      if (global != S::Global::none) {
        EXPECT_GE(o.points, 60U) << "the global stage has its share";
      }
    }
  }
}

TEST(Fit, KeepsToStepsAndBounds) {
  Machine m({key("a", 3, 100, 20, 7)}, {[](const Point& p) {
              EXPECT_GE(p[0], 3U);
              EXPECT_LE(p[0], 100U);
              EXPECT_EQ(p[0] % 7, 20 % 7U) << "what lies between steps is not asked for";
              return real(p[0]) + 1000;
            }},
            {62});
  EXPECT_EQ(m.run().found, Point{62});
  Machine beyond({key("a", 3, 100, 20)}, {[](const Point& p) { return real(p[0]) + 100; }}, {150});
  const FitOutcome o = beyond.run();
  EXPECT_EQ(o.found, Point{100});
  EXPECT_TRUE(o.keys[0].at_highest);
  EXPECT_THAT(fit_text(beyond.plan, o), HasSubstr("a is at its highest, 100: the rows may ask"));
  Machine below({key("a", 3, 100, 20)}, {[](const Point& p) { return real(p[0]) + 100; }}, {1});
  EXPECT_TRUE(below.run().keys[0].at_lowest);
}

TEST(Fit, TellsHowEachRowMoves) {
  Machine m = two_latencies();
  const FitOutcome o = m.run();
  const double second = 60 + 37 + 444;
  EXPECT_THAT(o.keys[0].changes,
              ElementsAre(DoubleNear(100 / 57.0, 1e-9), DoubleNear(100 / second, 1e-9), 0));
  EXPECT_NEAR(o.keys[1].changes[1], 200 / second, 1e-9);
  EXPECT_NEAR(o.keys[1].changes[2], -100 / 232.0, 1e-3);
  // Changes of 1.754% and 0.185% a step, by tolerances of 5%.
  EXPECT_NEAR(o.keys[0].play, 5 / std::sqrt(std::pow(100 / 57.0, 2) + std::pow(100 / second, 2)), 1e-9);
  EXPECT_THAT(o.keys[0].rows, ElementsAre("row0", "row1"));
  EXPECT_THAT(o.keys[1].rows, ElementsAre("row1", "row2"));
  ASSERT_EQ(o.singular_values.size(), 2U);
  EXPECT_GE(o.singular_values[0], o.singular_values[1]);
  EXPECT_NEAR(std::pow(o.singular_values[0], 2) + std::pow(o.singular_values[1], 2), 2, 1e-9);
}

TEST(Fit, NamesKeysThatNoRowMoves) {
  Machine m({key("a", 1, 100, 50), key("idle", 1, 9, 5), key("far", 0, 1000, 500), key("weak", 0, 10, 5)},
            {[](const Point& p) { return 100 + real(p[0]) + (p[2] > 700 ? 90 : 0) + 0.001 * real(p[3]); }},
            {70, 5, 500, 5});
  const FitOutcome o = m.run();
  EXPECT_EQ(o.found[0], 70U);
  EXPECT_EQ(o.found[1], 5U) << "what is of no consequence stays";
  EXPECT_EQ(o.found[2], 500U);
  ASSERT_EQ(o.undetermined.size(), 3U);
  EXPECT_THAT(o.undetermined[0].keys, ElementsAre("idle"));
  EXPECT_EQ(o.undetermined[0].why, "idle: no row moves from 1 to 9, which is all that is allowed");
  EXPECT_THAT(o.undetermined[1].why, HasSubstr("far: no row moves from 0 to 6")) << "found by doubling";
  EXPECT_THAT(o.undetermined[2].why, HasSubstr("weak: from 0 to 10 the rows move by 0.001"));
  const std::string toml = fit_toml(m.plan, o, "", {});
  EXPECT_THAT(toml, HasSubstr("a = { value = 70, fit = [\"row0\"] }"));
  EXPECT_THAT(toml, HasSubstr("\n# idle = 5\n"));
}

TEST(Fit, NamesKeysThatMoveTheRowsAlike) {
  Machine m({key("a", 1, 100, 50), key("b", 1, 100, 40)},
            {[](const Point& p) { return 100 + real(p[0]) + 2 * real(p[1]); },
             [](const Point& p) { return 300 + 3 * real(p[0]) + 6 * real(p[1]); }},
            {70, 30});
  const FitOutcome o = m.run();
  EXPECT_EQ(o.cost_after, 0);
  ASSERT_EQ(o.undetermined.size(), 1U);
  EXPECT_THAT(o.undetermined[0].keys, ElementsAre("a", "b"));
  EXPECT_THAT(o.undetermined[0].why, HasSubstr("(correlation +1.000): 1 more of b is as 2 more of a"));

  // Three keys, of which each pair is told apart, and all three are not.
  Machine three({key("a", 1, 100, 50), key("b", 1, 100, 40), key("c", 1, 100, 40)},
                {[](const Point& p) { return 100 + real(p[0]) + real(p[2]); },
                 [](const Point& p) { return 100 + real(p[1]) + real(p[2]); }},
                {50, 40, 60});
  const FitOutcome all = three.run();
  ASSERT_EQ(all.undetermined.size(), 1U);
  EXPECT_THAT(all.undetermined[0].keys, ElementsAre("a", "b", "c"));
  EXPECT_THAT(all.undetermined[0].why, HasSubstr("do not tell them one by one"));
}

/// A valley that no single step of a key leads along.
TEST(Fit, GoesAlongValleys) {
  Machine m({key("a", 0, 200, 100), key("b", 0, 200, 10)},
            {[](const Point& p) { return 1000 + 50 * (real(p[0]) + real(p[1])); },
             [](const Point& p) { return 1000 + real(p[0]) - real(p[1]); }},
            {30, 80});
  m.plan.rows[1].tolerance = 0.1;
  m.plan.search.evaluations = 400;
  EXPECT_EQ(m.run().found, (Point{30, 80}));
}

TEST(Fit, IsNotLedAwayByOneRow) {
  Machine m({key("a", 1, 400, 200)},
            {[](const Point& p) { return real(p[0]); }, [](const Point& p) { return real(p[0]); },
             [](const Point& p) { return real(p[0]); }},
            {100});
  m.rows[2].value = 350;  // by another suite
  EXPECT_NEAR(real(m.run().found[0]), 100, 6);
  m.state = FitState(m.identity());
  m.plan.rows[2].weight = 100;
  EXPECT_NEAR(real(m.run().found[0]), 350, 6) << "unless it is asked for";
}

TEST(Fit, GoesAroundWhatIsNoGpu) {
  Machine m = two_latencies();
  m.is_gpu = [](const Point& p) { return p[0] < 20 || p[0] > 30; };
  m.plan.keys[0].start = 90;
  const FitOutcome o = m.run();
  EXPECT_EQ(o.found, (Point{37, 222}));
  Machine none = two_latencies();
  none.is_gpu = [](const Point&) { return false; };
  const auto refused = run_fit(none.plan, none.state,
                               {[](const Point&) {
                                  FitEvaluation out;
                                  out.no_gpu = "sm.x: must be so";
                                  return out;
                                },
                                [](const FitState&, unsigned, double) {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.faults().front().text(), HasSubstr("the keys' start is no good: sm.x: must be so"));
}

TEST(Fit, EndsAtItsEvaluations) {
  Machine m = two_latencies();
  m.plan.search.evaluations = 6;
  const FitOutcome o = m.run();
  EXPECT_TRUE(o.spent);
  EXPECT_TRUE(o.stopped.empty());
  EXPECT_GE(o.points, 6U);
  EXPECT_LE(o.points, 6 + 4U) << "and two neighbours of each key";
  EXPECT_LT(o.cost_after, o.cost_before);
  EXPECT_THAT(fit_text(m.plan, o), HasSubstr("has used up its evaluations"));
}

TEST(Fit, GoesOnWhereItWasStopped) {
  Machine whole = two_latencies();
  const FitOutcome at_once = whole.run();
  for (const unsigned piece : {1U, 5U, 11U}) {
    Machine m = two_latencies();
    FitOutcome o;
    unsigned runs = 0, all = 0;
    do {
      m.stop_after = piece;
      all += m.measured;
      m.measured = 0;
      o = m.run();
      // Kept in a file between runs.
      const auto read = FitState::read("s.json", m.state.json(), m.identity());
      ASSERT_TRUE(read.ok());
      EXPECT_EQ(read.value().json(), m.state.json());
      m.state = read.value();
    } while (!o.stopped.empty() && ++runs < 1000);
    all += m.measured;
    EXPECT_EQ(all, whole.measured) << "nothing is measured again";
    EXPECT_GT(runs, 0U);
    EXPECT_EQ(fit_json("mini", m.plan, o), fit_json("mini", whole.plan, at_once));
  }
}

TEST(Fit, AStoppedOneTellsTheBest) {
  Machine m = two_latencies();
  m.stop_after = 8;
  const FitOutcome o = m.run();
  EXPECT_EQ(o.stopped, "so");
  EXPECT_TRUE(o.keys.empty());
  EXPECT_LT(o.cost_after, o.cost_before);
  EXPECT_THAT(fit_text(m.plan, o), AllOf(HasSubstr("stopped: so"), HasSubstr("row2")));
  Machine none = two_latencies();
  none.stop_after = 1;
  none.measured = 1;
  EXPECT_THAT(fit_text(none.plan, none.run()), HasSubstr("stopped before the start was measured"));
}

TEST(Fit, ARowWithoutAnAnswerCosts) {
  Machine m = two_latencies();
  FitEvaluation e;
  e.rows = {{true, m.rows[0].value, {}}, {true, m.rows[1].value * 1.1, {}}, {false, 0, "why"}};
  // 0, 2 x 2 - 1 for an error of two tolerances, and 2 x 100 - 1.
  EXPECT_NEAR(fit_cost(m.plan, e), (0 + 3 + 199) / 3.0, 1e-9);
  e.no_gpu = "so";
  EXPECT_NEAR(fit_cost(m.plan, e), 199, 1e-9);
  m.plan.rows[2].weight = 0.5;
  e.no_gpu.clear();
  EXPECT_NEAR(fit_cost(m.plan, e), (3 + 0.5 * 199) / 2.5, 1e-9);
}

TEST(FitState, BelongsToItsFit) {
  const Machine m = two_latencies();
  const auto refusal = [&](const std::string& text, const FitIdentity& here) {
    const auto read = FitState::read("s.json", text, here);
    return read.ok() ? std::string() : read.faults().front().text();
  };
  const std::string text = m.state.json();
  EXPECT_EQ(refusal(text, m.identity()), "");
  FitIdentity other = m.identity();
  other.build = "next";
  EXPECT_THAT(refusal(text, other), HasSubstr("the state of another fit: of another build of warpline"));
  other = m.identity();
  other.gpu = "";
  other.keys.pop_back();
  EXPECT_THAT(refusal(text, other), HasSubstr("of other keys (a, b) and another GPU"));
  other = m.identity();
  other.rows.pop_back();
  EXPECT_THAT(refusal(text, other), HasSubstr("of other rows (3, and here 2)"));
  EXPECT_THAT(refusal("{}", m.identity()), HasSubstr("is no state of a fit"));
  EXPECT_THAT(refusal("[", m.identity()), HasSubstr("is no state of a fit"));
  std::string damaged = text;
  damaged.replace(damaged.find("\"evaluations\": ["), 16, "\"evaluations\": [{\"at\":[1],\"rows\":[]}");
  EXPECT_THAT(refusal(damaged, m.identity()), HasSubstr("is damaged"));
  std::string newer = text;
  newer.replace(newer.find("fit\": 1"), 7, "fit\": 2");
  EXPECT_THAT(refusal(newer, m.identity()), HasSubstr("another version"));
  // What rows are to come to is no part of what was measured.
  Machine revalued = two_latencies();
  revalued.rows[0].value += 1;
  revalued.plan.rows[1].weight = 3;
  EXPECT_EQ(refusal(text, revalued.identity()), "");
}

// Keys from files.

const std::string kRows = R"([[row]]
id = "m.l1"
gpu = "mini"
class = "latency"
value = 5
unit = "cycles"
tolerance = 1
source = "test"
quantity = "chase"
bytes = 4096
[[row]]
id = "m.l2"
gpu = "mini"
class = "latency"
value = 40
unit = "cycles"
tolerance = 1
source = "test"
quantity = "chase"
bytes = 65536
[[row]]
id = "m.open"
gpu = "mini"
class = "latency"
value = 40
unit = "cycles"
source = "test"
quantity = "chase"
bytes = 65536
[[row]]
id = "m.none"
gpu = "mini"
class = "latency"
value = 40
unit = "cycles"
tolerance = 1
source = "test"
refused = "nobody measures it"
[[row]]
id = "v.l1"
gpu = "v100"
class = "latency"
value = 40
unit = "cycles"
tolerance = 1
source = "test"
quantity = "chase"
bytes = 65536
)";

const std::string kKey = "[[key]]\npath = \"sm.issue_latency\"\nlowest = 1\nhighest = 10\n";
const std::string kMatch = "[[rows]]\nmatch = \"m.l1\"\n";

const std::vector<MeasuredRow>& all_rows() {
  static const std::vector<MeasuredRow> rows = read_rows("rows.toml", kRows).value();
  return rows;
}

Result<FitPlan> plan_of(const std::string& text, const std::string& gpu = "mini") {
  return read_fit("k.toml", text, gpu, load_gpu(gpu).value(), all_rows());
}

std::vector<std::string> faults_of(const std::string& text) {
  const auto plan = plan_of(text);
  std::vector<std::string> out;
  if (!plan.ok())
    for (const Diagnostic& d : plan.faults()) out.push_back(d.text());
  return out;
}

TEST(FitPlan, HasWhatTheFileSays) {
  const auto plan = plan_of(
      "gpu = \"mini\"\n" + kKey +
      "start = 4\n[[key]]\npath = \"hops.crossbar_l2.request.latency\"\nlowest = 2\nhighest = 50\nstep = 4\n"
      "also = [\"hops.crossbar_l2.response.latency\", { path = \"hops.crossbar_l2.request.depth\", plus = 16 "
      "}]\n"
      "[[rows]]\nmatch = \"m.*\"\nweight = 0.5\n[[rows]]\nmatch = [\"m.l2\", \"m.open\"]\ntolerance = 3\n"
      "[search]\nmethod = \"sbplx\"\nglobal = \"crs\"\nevaluations = 50\nseconds = 2.5\ntolerance = 0.01\n"
      "seed = 7\n");
  ASSERT_TRUE(plan.ok()) << plan.faults().front().text();
  const FitPlan& p = plan.value();
  ASSERT_EQ(p.keys.size(), 2U);
  EXPECT_EQ(p.keys[0].start, 4U);
  EXPECT_EQ(p.keys[1].start, load_gpu("mini").value().hops.crossbar_l2.request.latency);
  EXPECT_THAT(p.values_of({5, 10}), ElementsAre(testing::Pair("sm.issue_latency", 5),
                                                testing::Pair("hops.crossbar_l2.request.latency", 10),
                                                testing::Pair("hops.crossbar_l2.response.latency", 10),
                                                testing::Pair("hops.crossbar_l2.request.depth", 26)));
  ASSERT_EQ(p.rows.size(), 3U);
  EXPECT_EQ(p.rows[0].row->id, "m.l1");
  EXPECT_EQ(p.rows[0].weight, 0.5);
  EXPECT_EQ(p.rows[0].tolerance, 1);
  EXPECT_EQ(p.rows[1].row->id, "m.l2");
  EXPECT_EQ(p.rows[1].weight, 1) << "of the last that names it";
  EXPECT_EQ(p.rows[1].tolerance, 3);
  EXPECT_EQ(p.rows[2].row->id, "m.open");
  EXPECT_EQ(p.search.local, FitSearch::Local::sbplx);
  EXPECT_EQ(p.search.global, FitSearch::Global::crs);
  EXPECT_EQ(p.search.evaluations, 50U);
  EXPECT_EQ(p.search.global_evaluations, 25U);
  EXPECT_EQ(p.search.seconds, 2.5);
  EXPECT_EQ(p.search.seed, 7U);
  const auto few = plan_of(kKey + kMatch);
  ASSERT_TRUE(few.ok());
  EXPECT_EQ(few.value().search.local, FitSearch::Local::cobyla) << "bobyqa is not for one key";
  EXPECT_EQ(fit_gpu("k", "gpu = \"t4\"\n").value(), "t4");
  EXPECT_EQ(fit_gpu("k", "").value(), "");
  EXPECT_FALSE(fit_gpu("k", "gpu = 3\n").ok());
}

TEST(FitPlan, TellsEachFaultWhereItStands) {
  const auto key = [](const std::string& path, const std::string& more = "lowest = 1\nhighest = 10\n") {
    return faults_of(kMatch + "[[key]]\npath = " + path + "\n" + more);
  };
  EXPECT_THAT(key("\"sm.isue_latency\""),
              ElementsAre(AllOf(HasSubstr("k.toml:4:8: error: path: there is no key"),
                                HasSubstr("did you mean \"sm.issue_latency\""))));
  EXPECT_THAT(key("\"sm\""), ElementsAre(HasSubstr("sm is a table, and no key")));
  EXPECT_THAT(key("\"sm.unified_l1\""), ElementsAre(HasSubstr("sm.unified_l1 is no number, but false")));
  EXPECT_THAT(key("\"l1_lg.replacement\""), ElementsAre(HasSubstr("is no number, but \"")));
  EXPECT_THAT(key("3"), ElementsAre(HasSubstr("k.toml:4:8: error: path: must be a string")));
  const std::string issue = "\"sm.issue_latency\"";
  EXPECT_THAT(key(issue, "lowest = 9\nhighest = 9\n"),
              ElementsAre(AllOf(HasSubstr("k.toml:6:11"), HasSubstr("9 is not above lowest, 9"))));
  EXPECT_THAT(key(issue, "lowest = 1.5\nhighest = 9\n"), ElementsAre(HasSubstr("must be an integer")));
  EXPECT_THAT(key(issue, "lowest = -1\nhighest = 9\n"), ElementsAre(HasSubstr("k.toml:5:10")));
  EXPECT_THAT(key(issue, "lowest = 1\n"), ElementsAre(HasSubstr("[[key]] lacks \"highest\"")));
  EXPECT_THAT(key(issue, "lowest = 100\nhighest = 120\n"),
              ElementsAre(AllOf(HasSubstr("k.toml:4:8"), HasSubstr("sm.issue_latency of mini:"),
                                HasSubstr("is not within 100 to 120"))));
  EXPECT_THAT(key(issue, "lowest = 1\nhighest = 9\nstart = 10\n"),
              ElementsAre(AllOf(HasSubstr("k.toml:7:9"), HasSubstr("start: 10 is not within 1 to 9"))));
  EXPECT_THAT(key(issue, "lowest = 1\nhighest = 9\nstart = 4\nstep = 9\n"),
              ElementsAre(HasSubstr("k.toml:8:8")));
  EXPECT_THAT(key(issue, "lowest = 1\nhighest = 9\nstep = 0\n"),
              ElementsAre(HasSubstr("step: must be 1 to")));
  EXPECT_THAT(key(issue, "lowest = 1\nhighest = 9000000000000\n"),
              ElementsAre(HasSubstr("thousand million")));
  EXPECT_THAT(key(issue, "lowest = 1\nhighest = 9\nhigh = 9\n"),
              ElementsAre(AllOf(HasSubstr("k.toml:7:1"), HasSubstr("unknown key \"high\""))));
  EXPECT_THAT(faults_of(kMatch + kKey + kKey), ElementsAre(HasSubstr("sm.issue_latency stands here twice")));
  const std::string also = "lowest = 1\nhighest = 9\nalso = ";
  EXPECT_THAT(key(issue, also + "3\n"), ElementsAre(HasSubstr("also: must be an array")));
  EXPECT_THAT(key(issue, also + "[3]\n"), ElementsAre(HasSubstr("also: must be a key, or")));
  EXPECT_THAT(key(issue, also + "[" + issue + "]\n"), ElementsAre(HasSubstr("k.toml:7:9")));
  EXPECT_THAT(key(issue, also + "[{ path = \"x\", plus = 1 }]\n"),
              ElementsAre(HasSubstr("there is no key \"x\"")));
  EXPECT_THAT(key(issue, also + "[{ plus = -1 }]\n"), testing::SizeIs(2));

  const auto match = [](const std::string& what) {
    return faults_of(kKey + "[[rows]]\nmatch = " + what + "\n");
  };
  EXPECT_THAT(match("\"m.l3\""),
              ElementsAre(AllOf(HasSubstr("k.toml:6:9"), HasSubstr("\"m.l3\" fits none of mini's 4 rows"),
                                HasSubstr("did you mean \"m.l"))));
  EXPECT_THAT(match("\"m.none\""), ElementsAre(HasSubstr("the row is not answered: nobody measures it")));
  EXPECT_THAT(match("\"m.open\""), ElementsAre(HasSubstr("the row has no tolerance")));
  EXPECT_THAT(match("\"v.*\""),
              ElementsAre(HasSubstr("a row that this fits is of v100, and the GPU is mini")));
  EXPECT_THAT(match("[\"m.l1\", 3, \"\"]"), testing::SizeIs(2));
  EXPECT_THAT(match("\"m.l1\"\nweight = 0"),
              ElementsAre(HasSubstr("weight: must be from 0.000001 to 1000000")));
  EXPECT_THAT(match("\"m.l1\"\ntolerance = 0"),
              ElementsAre(HasSubstr("tolerance: must be from 0.000001 to 1000000")));
  EXPECT_THAT(match("\"m.l1\"\nweight = 1e308"),
              ElementsAre(HasSubstr("weight: must be from 0.000001 to 1000000")));
  EXPECT_THAT(faults_of(kKey), ElementsAre(HasSubstr("there are no [[rows]]")));
  EXPECT_THAT(faults_of(kMatch), ElementsAre(HasSubstr("there is no [[key]]")));
  EXPECT_THAT(faults_of("key = 3\nrows = [3]\nother = 1\n"), testing::SizeIs(3));
  EXPECT_THAT(faults_of("gpu = \"v100\"\n" + kKey + kMatch),
              ElementsAre(HasSubstr("k.toml:1:7: error: gpu: these keys are of v100, and the GPU is mini")));
  EXPECT_THAT(faults_of("key = [\n"), testing::SizeIs(1));

  const auto search = [](const std::string& what) {
    return faults_of(kKey + kMatch + "[search]\n" + what + "\n");
  };
  EXPECT_THAT(search("method = \"newton\""),
              ElementsAre(AllOf(HasSubstr("k.toml:8:10"), HasSubstr("must be bobyqa, cobyla or sbplx"))));
  EXPECT_THAT(search("method = \"bobyqa\""), ElementsAre(HasSubstr("bobyqa needs two keys")));
  EXPECT_THAT(search("global = \"all\""), ElementsAre(HasSubstr("must be none, direct or crs")));
  EXPECT_THAT(search("evaluations = 0"), ElementsAre(HasSubstr("evaluations: must be 1 to")));
  EXPECT_THAT(search("global_evaluations = 5"), ElementsAre(HasSubstr("there is no global stage")));
  EXPECT_THAT(search("global = \"direct\"\nevaluations = 5\nglobal_evaluations = 6"),
              ElementsAre(HasSubstr("more than evaluations, 5")));
  EXPECT_THAT(search("seconds = 0"), ElementsAre(HasSubstr("seconds: must be above 0")));
  EXPECT_THAT(search("tolerance = 1"), ElementsAre(HasSubstr("tolerance: must be below 1")));
  EXPECT_THAT(search("seed = 1"), ElementsAre(HasSubstr("nothing here depends on chance")));
  EXPECT_THAT(search("sed = 1"), ElementsAre(HasSubstr("unknown key \"sed\"")));
  EXPECT_THAT(faults_of("search = 1\n" + kKey + kMatch), ElementsAre(HasSubstr("search: must be a table")));
}

TEST(ParallelRows, AreMeasuredAsOneByOne) {
  const std::vector<const MeasuredRow*> rows = {&all_rows()[0], &all_rows()[1], &all_rows()[3]};
  const GpuConfig mini = load_gpu("mini").value();
  unsigned calls = 0;
  const auto alone = measure_rows(mini, rows, 1, [&] { return ++calls < 100; });
  const auto together = measure_rows(mini, rows, 3, [] { return true; });
  EXPECT_EQ(calls, 3U);
  ASSERT_EQ(alone.size(), 3U);
  ASSERT_EQ(together.size(), 3U);
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(alone[n].row, rows[n]);
    EXPECT_EQ(alone[n].measured, together[n].measured);
    EXPECT_EQ(alone[n].answered, n != 2);
  }
  EXPECT_TRUE(measure_rows(mini, rows, 1, [] { return false; }).empty());
}

}  // namespace fit_test
}  // namespace warpline::study
