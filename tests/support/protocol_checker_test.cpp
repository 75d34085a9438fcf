// Every scenario has a bench of its own, all in the one elaboration that a process has, and one simulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "tests/support/protocol_bench.h"

namespace warpline::test {
namespace protocol_checker_test {

using ::testing::StartsWith;

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> kAll = [] {
    std::vector<Scenario> all = legal_scenarios();
    for (const auto& more : {faults_of_order(), faults_of_time(), faults_of_payloads()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kAll;
}

void report_again_and_again(Bench& b) {
  Payload& p = b.read();
  for (unsigned i = 0; i < 3 * ProtocolRules::kMostViolations; ++i) b.backward(p, tlm::END_REQ);
}

class Simulation : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!benches().empty()) return;
    for (const Scenario& s : scenarios())
      benches().push_back(std::make_unique<Bench>(s.name.c_str(), s.script));
    benches().push_back(std::make_unique<Bench>("again_and_again", report_again_and_again));
    sc_core::sc_start();
  }
  static std::vector<std::unique_ptr<Bench>>& benches() {
    static std::vector<std::unique_ptr<Bench>> all;
    return all;
  }
  static const ProtocolChecker& checker_of(std::string_view name) {
    for (const auto& bench : benches())
      if (bench->name() == name) return bench->checker;
    throw std::invalid_argument(std::string(name));
  }
};

class ProtocolScenario : public Simulation, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(ProtocolScenario, CausesItsViolationsAndNoOther) {
  const Scenario& scenario = scenarios()[GetParam()];
  ProtocolChecker& checker = benches()[GetParam()]->checker;
  if (scenario.violations.empty()) checker.finish();
  const std::vector<std::string>& violations = checker.violations();
  for (const std::string& v : violations) EXPECT_THAT(v, StartsWith(checker.name() + std::string(": ")));
  ASSERT_EQ(violations.size(), scenario.violations.size()) << ::testing::PrintToString(violations);
  for (std::size_t i = 0; i < violations.size(); ++i)
    EXPECT_THAT(violations[i], ::testing::HasSubstr(": " + scenario.violations[i]));
}

std::string name_of(const ::testing::TestParamInfo<std::size_t>& info) {
  return scenarios()[info.param].name;
}
INSTANTIATE_TEST_SUITE_P(All, ProtocolScenario, ::testing::Range(std::size_t{0}, scenarios().size()),
                         name_of);

using ProtocolChecking = Simulation;

TEST_F(ProtocolChecking, CountsPhasesHoweverTheyWereSent) {
  const ProtocolRules::Counts& calls = checker_of("four_phases").counts();
  EXPECT_EQ(calls.begin_req, 3U);
  EXPECT_EQ(calls.end_req, 3U);
  EXPECT_EQ(calls.begin_resp, 3U);
  EXPECT_EQ(calls.end_resp, 3U);
  EXPECT_EQ(calls.completed, 0U);
  const ProtocolRules::Counts& returned = checker_of("response_returned").counts();
  EXPECT_EQ(returned.begin_req, 2U);
  EXPECT_EQ(returned.end_req, 1U);
  EXPECT_EQ(returned.begin_resp, 2U);
  EXPECT_EQ(returned.end_resp, 1U);
  EXPECT_EQ(returned.completed, 1U);
  EXPECT_EQ(checker_of("completed_at_once").counts().completed, 2U);
}

TEST_F(ProtocolChecking, ListsTheFirstViolationsAndCountsAll) {
  const ProtocolChecker& checker = checker_of("again_and_again");
  EXPECT_EQ(checker.violations().size(), ProtocolRules::kMostViolations);
  EXPECT_EQ(checker.violation_count(), 3 * ProtocolRules::kMostViolations);
}

}  // namespace protocol_checker_test
}  // namespace warpline::test
