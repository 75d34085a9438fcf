#include "platform/sweep_report/factors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace warpline::sweep {
namespace factors_test {

/// Runs of one GPU with these settings: of each key a number.
StudyResults results_of(const std::vector<std::string>& keys,
                        const std::vector<std::vector<unsigned>>& runs) {
  StudyResults r;
  r.gpus = {"mini"};
  r.workloads = {"w"};
  r.outcomes = {"finished"};
  r.keys = keys;
  r.values.resize(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    unsigned most = 0;
    for (const auto& run : runs) most = std::max(most, run[k]);
    for (unsigned v = 0; v <= most; ++v) r.values[k].push_back(std::to_string(v + 1));
  }
  for (std::size_t n = 0; n < runs.size(); ++n) {
    StudyRun run;
    run.point = n;
    run.settings = runs[n];
    r.runs.push_back(run);
  }
  return r;
}

std::vector<std::size_t> all_of(const StudyResults& r) {
  std::vector<std::size_t> out;
  for (std::size_t n = 0; n < r.runs.size(); ++n) out.push_back(n);
  return out;
}

TEST(Factors, EffectsAreThoseOfOneKeyWithTheOthersTheSameWhateverPointsAreMissing) {
  // a doubles and b triples, and the grid lacks a corner: plain means would say otherwise.
  const StudyResults r = results_of({"a", "b"}, {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}});
  const std::vector<Factor> factors = factors_of(r);
  ASSERT_EQ(factors.size(), 2U);
  std::vector<double> metric;
  for (const StudyRun& run : r.runs)
    metric.push_back(100 * std::pow(2, run.settings[0]) * std::pow(3, run.settings[1]));
  const Effects e = effects_of(factors, all_of(r), metric);
  EXPECT_NEAR(e.ratio(0, 0, 1), 2, 1e-6);
  EXPECT_NEAR(e.ratio(1, 0, 1), 3, 1e-6);
  EXPECT_NEAR(e.ratio(1, 0, 2), 9, 1e-6);
  EXPECT_NEAR(e.explained, 1, 1e-9);
  EXPECT_EQ(e.order().front(), 1U);
  EXPECT_EQ(e.least(1), 0U);
  EXPECT_EQ(e.most(1), 2U);
}

TEST(Factors, WhatKeysDoOnlyTogetherIsAnInteraction) {
  const StudyResults r =
      results_of({"a", "b", "c"},
                 {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}});
  std::vector<double> metric;
  for (const StudyRun& run : r.runs)
    metric.push_back(run.settings[0] == 1 && run.settings[2] == 1 ? 100 : 400);
  const Effects e = effects_of(factors_of(r), all_of(r), metric);
  EXPECT_NEAR(e.span(1), 1, 1e-9);
  EXPECT_LT(e.explained, 0.7);
  ASSERT_FALSE(e.interactions.empty());
  EXPECT_EQ(e.interactions[0].first, 0U);
  EXPECT_EQ(e.interactions[0].second, 2U);
  EXPECT_NEAR(e.interactions[0].share, 1 - e.explained, 1e-9);
}

TEST(Factors, KeysThatChangeTogetherAreOneAndKeysThatDoNotChangeAreNone) {
  const StudyResults r = results_of({"a", "b", "c"}, {{0, 1, 0}, {1, 0, 0}, {0, 1, 0}});
  const std::vector<Factor> factors = factors_of(r);
  ASSERT_EQ(factors.size(), 1U);
  EXPECT_EQ(factors[0].name, "a & b");
  EXPECT_EQ(factors[0].levels[0].label, "1 & 2");
  EXPECT_EQ(factors[0].levels[1].label, "2 & 1");
}

TEST(Factors, AKeyWithVeryManyNumbersHasRangesOfThem) {
  std::vector<std::vector<unsigned>> runs;
  for (unsigned n = 0; n < 64; ++n) runs.push_back({n});
  const std::vector<Factor> factors = factors_of(results_of({"a"}, runs));
  ASSERT_EQ(factors.size(), 1U);
  ASSERT_EQ(factors[0].levels.size(), 8U);
  EXPECT_EQ(factors[0].levels[0].label, "1\u20138");
  EXPECT_EQ(factors[0].levels[7].label, "57\u201364");
  EXPECT_EQ(factors[0].level_of[63], 7U);
}

TEST(Factors, LevelsThatNoRunHasSayNothing) {
  StudyResults r = results_of({"a"}, {{0}, {1}, {2}});
  const Effects e = effects_of(factors_of(r), {0, 1}, {10, 20});
  EXPECT_TRUE(std::isnan(e.of[0][2]));
  EXPECT_EQ(e.most(0), 1U);
  EXPECT_NEAR(e.span(0), 2, 1e-9);
}

}  // namespace factors_test
}  // namespace warpline::sweep
