#include "platform/sweep/forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "rtl_models/base/random.h"

namespace warpline::sweep {
namespace forecast_test {

/// Nobody who hands out takes any time.
constexpr ManagerCosts kFree{0, 0, 0, 0, 0.5, 0};

TEST(Forecasts, EqualRunsGoInWaves) {
  for (const std::size_t workers : {1U, 3U, 7U, 100U, 1000U}) {
    const Forecast f = forecast(std::vector<double>(100, 2.5), workers, kFree);
    const std::size_t waves = (100 + workers - 1) / workers;
    EXPECT_DOUBLE_EQ(f.wall_s, 2.5 * static_cast<double>(waves)) << workers;
    EXPECT_DOUBLE_EQ(f.speed_up, 100.0 / static_cast<double>(waves));
    EXPECT_DOUBLE_EQ(f.efficiency, f.speed_up / static_cast<double>(workers));
    EXPECT_EQ(f.manager_busy, 0);
  }
}

TEST(Forecasts, OneWorkerWaitsForEachOfItsPoints) {
  ManagerCosts costs = kFree;
  costs.hand_out = 0.25;
  costs.answer = 0.5;  // while it has the next one
  const Forecast f = forecast(std::vector<double>(10, 2), 1, costs);
  EXPECT_DOUBLE_EQ(f.wall_s, 10 * (0.25 + 2) + 0.5);
  EXPECT_DOUBLE_EQ(f.manager_busy, 10 * 0.75 / f.wall_s);
  EXPECT_EQ(f.limit, Forecast::Limit::messages);
}

TEST(Forecasts, WhoHandsOutIsTheLimitOfManyWorkers) {
  ManagerCosts costs = kFree;
  costs.hand_out = 1e-3;
  costs.answer = 4e-3;
  const std::size_t points = 20'000;
  const Forecast f = forecast(std::vector<double>(points, 1), 5'000, costs);
  EXPECT_NEAR(f.wall_s, 5e-3 * points, 1.01);
  EXPECT_NEAR(f.speed_up, 200, 3);
  EXPECT_GT(f.manager_busy, 0.98);
  EXPECT_EQ(f.limit, Forecast::Limit::manager);
}

TEST(Forecasts, TransactionsAreCommittedInTime) {
  ManagerCosts costs = kFree;
  costs.commit = 0.1;
  // After every run of one second; the last of them keeps the study waiting.
  EXPECT_DOUBLE_EQ(forecast(std::vector<double>(10, 1), 1, costs).wall_s, 10.1);
  EXPECT_NEAR(forecast(std::vector<double>(10, 1), 1, costs).manager_busy, 1.0 / 10.1, 1e-9);
  costs.commit_every = 100;
  EXPECT_NEAR(forecast(std::vector<double>(10, 1), 1, costs).manager_busy, 0.1 / 10.1, 1e-9);
}

TEST(Forecasts, ALateLongRunKeepsAllOthersWaiting) {
  std::vector<double> runs(40, 1);
  runs.back() = 50;
  const Forecast f = forecast(runs, 4, kFree);
  EXPECT_DOUBLE_EQ(f.wall_s, 9 + 50);
  EXPECT_EQ(f.limit, Forecast::Limit::last_runs);
  EXPECT_EQ(forecast(runs, 1, kFree).limit, Forecast::Limit::none);
  EXPECT_EQ(forecast(runs, 64, kFree).limit, Forecast::Limit::points);
}

TEST(Forecasts, NoRunIsLostAndNobodyWorksTwiceAtATime) {
  Random random(3);
  for (unsigned n = 0; n < 50; ++n) {
    std::vector<double> runs(1 + random.below(300));
    for (double& seconds : runs) seconds = 1e-3 * static_cast<double>(random.below(1000));
    const std::size_t workers = 1 + random.below(40);
    const ManagerCosts costs;
    const Forecast f = forecast(runs, workers, costs);
    const double work = std::accumulate(runs.begin(), runs.end(), 0.0);
    const double handed = static_cast<double>(runs.size()) * (costs.hand_out + costs.answer);
    EXPECT_GE(f.wall_s, work / static_cast<double>(workers));
    EXPECT_GE(f.wall_s, *std::max_element(runs.begin(), runs.end()));
    EXPECT_GE(f.wall_s, handed);
    // List scheduling: at most twice the best, beside what handing out takes.
    EXPECT_LE(
        f.wall_s,
        work / static_cast<double>(workers) + *std::max_element(runs.begin(), runs.end()) + handed +
            2 * costs.look_every * (2 + static_cast<double>(runs.size()) / static_cast<double>(workers)) + 1);
  }
}

TEST(Forecasts, ProfilesTakeWhoHandsOutLonger) {
  Study study;
  const double plain = ManagerCosts::of(study).answer;
  EXPECT_EQ(plain, ManagerCosts().answer);
  study.sample = 100;
  const double sampled = ManagerCosts::of(study).answer;
  study.profile = true;
  const ManagerCosts both = ManagerCosts::of(study);
  EXPECT_GT(sampled, plain);
  EXPECT_GT(both.answer, 10 * plain);
  const std::vector<double> runs(2000, 1.0);
  EXPECT_LT(forecast(runs, 50).manager_busy, 0.2);
  EXPECT_EQ(forecast(runs, 200, both).limit, Forecast::Limit::manager);
}

}  // namespace forecast_test
}  // namespace warpline::sweep
