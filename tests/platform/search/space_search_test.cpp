#include "platform/search/space_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace warpline::search {
namespace space_search_test {

/// Searches of spaces that are small enough for every candidate to be known.
class SpaceSearches : public ::testing::Test {
 protected:
  using Values = std::function<std::vector<double>(const Candidate&)>;

  SpaceSearch make(const Values& values, std::size_t evaluations, std::size_t objectives = 1,
                   std::uint64_t seed = 1) {
    most_at_a_time_ = 0;
    asked_.clear();
    return SpaceSearch(
        space_, {objectives, evaluations, seed}, [this](const Candidate& c) { return exists_(c); },
        [this, values](const std::vector<Candidate>& candidates) {
          most_at_a_time_ = std::max(most_at_a_time_, candidates.size());
          std::vector<Rating> out;
          for (const Candidate& c : candidates) {
            EXPECT_TRUE(exists_(c));
            EXPECT_TRUE(asked_.insert(c).second) << "it was evaluated before";
            out.push_back(rating(c, values));
          }
          return out;
        });
  }
  Rating rating(const Candidate& c, const Values& values) const {
    Rating r;
    if (!exists_(c) || fails_(c)) {
      r.kind = exists_(c) ? Rating::Kind::failed : Rating::Kind::nothing;
      return r;
    }
    r.values = values(c);
    r.shortfall = shortfall_(c);
    r.kind = r.shortfall > 0 ? Rating::Kind::missed : Rating::Kind::met;
    return r;
  }
  [[nodiscard]] std::vector<Candidate> all() const {
    std::vector<Candidate> out = {{}};
    for (const std::size_t steps : space_.steps) {
      std::vector<Candidate> longer;
      for (const Candidate& c : out)
        for (std::size_t n = 0; n < steps; ++n) {
          longer.push_back(c);
          longer.back().push_back(n);
        }
      out = longer;
    }
    return out;
  }
  /// The values of the best, or of the front, of all candidates.
  std::vector<std::vector<double>> truth(const Values& values, std::size_t objectives) const {
    std::set<std::vector<double>> met, out;
    for (const Candidate& c : all())
      if (const Rating r = rating(c, values); r.kind == Rating::Kind::met) met.insert(r.values);
    for (const std::vector<double>& a : met)
      if (std::none_of(met.begin(), met.end(), [&](const std::vector<double>& b) {
            return b != a && b[0] <= a[0] && (objectives == 1 || b[1] <= a[1]);
          }))
        out.insert(a);
    return {out.begin(), out.end()};
  }
  static std::vector<std::vector<double>> found(const SpaceSearch& search) {
    std::vector<std::vector<double>> out;
    for (const Candidate& c : search.best()) out.push_back(search.rating_of(c).values);
    return out;
  }

  Space space_{{8, 8, 8, 8}, {true, true, true, true}};
  std::function<bool(const Candidate&)> exists_ = [](const Candidate&) { return true; };
  std::function<bool(const Candidate&)> fails_ = [](const Candidate&) { return false; };
  std::function<double(const Candidate&)> shortfall_ = [](const Candidate&) { return 0.0; };
  std::set<Candidate> asked_;
  std::size_t most_at_a_time_ = 0;
};

double away(const Candidate& c, const std::vector<double>& from) {
  double sum = 0;
  for (std::size_t n = 0; n < c.size(); ++n)
    sum += (static_cast<double>(n) + 1) * std::abs(static_cast<double>(c[n]) - from[n]);
  return sum;
}

/// Values that say nothing of their neighbours.
double noise(const Candidate& c) {
  std::uint64_t h = 7;
  for (const std::size_t n : c) h = splitmix64(h ^ n);
  return static_cast<double>(h % 100'003);
}

TEST_F(SpaceSearches, WhatHasOneValleyIsFoundInAFractionOfTheSpace) {
  for (const std::size_t a : {0U, 3U, 7U})
    for (const std::size_t b : {0U, 5U, 7U}) {
      const auto values = [&](const Candidate& c) {
        return std::vector<double>{100 + away(c, {double(a), double(b), 2, 6})};
      };
      SpaceSearch search = make(values, 150);
      search.run();
      EXPECT_EQ(found(search), truth(values, 1)) << a << " " << b;
      EXPECT_LE(search.evaluated().size(), 150U) << "of 4096";
    }
  EXPECT_GT(most_at_a_time_, 4U) << "neighbours are evaluated beside each other";
}

TEST_F(SpaceSearches, AnAxisOfManyStepsIsGoneAlongInStrides) {
  space_ = {{1000, 200}, {true, true}};
  const auto values = [](const Candidate& c) { return std::vector<double>{away(c, {777, 31})}; };
  SpaceSearch search = make(values, 120);
  search.run();
  EXPECT_EQ(found(search), truth(values, 1));
}

TEST_F(SpaceSearches, AValleyAcrossTwoAxesIsGoneDown) {
  const auto values = [](const Candidate& c) {
    const double x = static_cast<double>(c[0]), y = static_cast<double>(c[1]);
    return std::vector<double>{10 * std::abs(x - y) + std::abs(x + y - 10) + away(c, {x, y, 1, 1})};
  };
  SpaceSearch search = make(values, 250);
  search.run();
  EXPECT_EQ(found(search), truth(values, 1));
}

TEST_F(SpaceSearches, StepsWithoutOrderAreAllNeighbours) {
  space_ = {{9, 6, 6}, {false, true, true}};
  const auto values = [](const Candidate& c) {
    return std::vector<double>{noise({c[0]}) + away(c, {double(c[0]), 4, 1})};
  };
  SpaceSearch search = make(values, 100);
  search.run();
  EXPECT_EQ(found(search), truth(values, 1));
}

TEST_F(SpaceSearches, ABudgetOfTheWholeSpaceFindsTheBestWhateverTheValuesAre) {
  space_ = {{3, 1, 7, 5}, {true, true, true, false}};
  const auto values = [](const Candidate& c) { return std::vector<double>{noise(c)}; };
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SpaceSearch search = make(values, 105, 1, seed);
    search.run();
    EXPECT_TRUE(search.exhausted());
    EXPECT_EQ(search.evaluated().size(), 105U);
    EXPECT_EQ(found(search), truth(values, 1));
  }
  SpaceSearch beyond = make(values, 100'000);
  beyond.run();
  EXPECT_EQ(beyond.evaluated().size(), 105U) << "it ends when all has been tried";
}

TEST_F(SpaceSearches, ABudgetOfTheWholeSpaceFindsTheWholeFront) {
  space_ = {{6, 5, 4}, {true, true, true}};
  const auto values = [](const Candidate& c) {
    return std::vector<double>{noise(c), noise({c[2], c[1], c[0], 1})};
  };
  SpaceSearch search = make(values, 120, 2);
  search.run();
  EXPECT_GT(truth(values, 2).size(), 2U);
  EXPECT_EQ(found(search), truth(values, 2));
}

TEST_F(SpaceSearches, AFrontOfCostAndGainIsFoundInAFractionOfTheSpace) {
  // Hollow as well as full: what costs more is faster by ever less, but for one step.
  space_ = {{8, 8, 8}, {true, true, true}};
  const auto values = [](const Candidate& c) {
    double time = 0, size = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      time += 100.0 * static_cast<double>(n + 1) / static_cast<double>(1 + c[n]);
      size += static_cast<double>(c[n]);
    }
    return std::vector<double>{time, size - (c[0] == 7 ? 3.0 : 0.0)};
  };
  SpaceSearch search = make(values, 200, 2);
  search.run();
  EXPECT_EQ(found(search), truth(values, 2)) << "of 512";
}

TEST_F(SpaceSearches, ConstraintsLeadToWhereTheyAreMet) {
  const auto values = [](const Candidate& c) { return std::vector<double>{away(c, {0, 0, 0, 0})}; };
  shortfall_ = [](const Candidate& c) { return std::max(0.0, 11.0 - static_cast<double>(c[0] + c[3])); };
  SpaceSearch search = make(values, 200);
  search.run();
  EXPECT_EQ(found(search), truth(values, 1));
}

TEST_F(SpaceSearches, WhereNothingMeetsTheConstraintsThereIsNoBestAndTheNearestIsRatedBest) {
  space_ = {{5, 5}, {true, true}};
  const auto values = [](const Candidate& c) { return std::vector<double>{noise(c)}; };
  shortfall_ = [](const Candidate& c) { return 1 + away(c, {3, 3}); };
  SpaceSearch search = make(values, 25);
  search.run();
  EXPECT_TRUE(search.best().empty());
  EXPECT_TRUE(SpaceSearch::better(search.rating_of({3, 3}), search.rating_of({3, 2})));
}

TEST_F(SpaceSearches, WhatIsNotThereAndWhatFailsIsNeverBest) {
  const auto values = [](const Candidate& c) { return std::vector<double>{away(c, {1, 1, 1, 1})}; };
  exists_ = [](const Candidate& c) { return (c[0] + c[1]) % 2 == 0; };
  fails_ = [](const Candidate& c) { return c[0] == 1; };
  SpaceSearch search = make(values, 400);
  search.run();
  EXPECT_EQ(found(search), truth(values, 1));
  exists_ = [](const Candidate&) { return false; };
  space_ = {{4, 4}, {true, true}};
  SpaceSearch none = make(values, 10);
  none.run();
  EXPECT_TRUE(none.evaluated().empty());
  EXPECT_TRUE(none.exhausted());
  EXPECT_TRUE(none.best().empty());
}

TEST_F(SpaceSearches, OneCandidateIsASpaceToo) {
  const auto values = [](const Candidate& c) { return std::vector<double>(2, 5.0 + away(c, {0})); };
  for (const std::size_t objectives : {1U, 2U})
    for (const Space& space : {Space{{}, {}}, Space{{1}, {true}}}) {
      space_ = space;
      SpaceSearch search = make(values, 10, objectives);
      search.run();
      EXPECT_EQ(search.evaluated().size(), 1U);
      EXPECT_EQ(search.best().size(), 1U);
    }
}

TEST_F(SpaceSearches, AskTheSameWheneverTheyAreRunAndKeepToTheirBudget) {
  const auto values = [](const Candidate& c) { return std::vector<double>{noise(c)}; };
  for (const std::size_t budget : {1U, 2U, 7U, 60U}) {
    SpaceSearch one = make(values, budget), other = make(values, budget);
    one.run();
    asked_.clear();
    other.run();
    EXPECT_EQ(one.evaluated(), other.evaluated());
    EXPECT_EQ(one.evaluated().size(), budget);
    EXPECT_EQ(one.evaluated().front(), (Candidate{0, 0, 0, 0})) << "the study's first";
  }
  SpaceSearch one = make(values, 60), other = make(values, 60, 1, 2);
  one.run();
  asked_.clear();
  other.run();
  EXPECT_NE(one.evaluated(), other.evaluated()) << "of another seed";
}

TEST_F(SpaceSearches, WhatAnEvaluationThrowsComesOut) {
  struct Stopped {};
  std::size_t left = 20;
  SpaceSearch search(
      space_, {1, 1000, 1}, [](const Candidate&) { return true; },
      [&](const std::vector<Candidate>& candidates) {
        if (left < candidates.size()) throw Stopped{};
        left -= candidates.size();
        return std::vector<Rating>(candidates.size(), Rating{Rating::Kind::met, 0, {1}});
      });
  EXPECT_THROW(search.run(), Stopped);
  EXPECT_EQ(search.evaluated().size(), 20 - left) << "what was rated before is known";
}

}  // namespace space_search_test
}  // namespace warpline::search
