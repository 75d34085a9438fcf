// Every deliberate bug is seen by an experiment that sees nothing without it.
#include <gtest/gtest.h>

#include <set>

#include "catch.h"

namespace warpline {
namespace {

Mutation g_on = Mutation::none;
std::uint64_t g_reached = 0;

}  // namespace

inline namespace with_mutations {
bool mutated(Mutation which) {
  g_reached += which == g_on;
  return which == g_on;
}
}  // namespace with_mutations

namespace testing {
namespace {

std::vector<Catch> all_catches() {
  std::vector<Catch> all;
  for (const auto& some : {catches_by_litmus(), catches_by_scene(), catches_by_two_gpus(), catches_by_host(),
                           catches_by_kernels()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// Some bugs need tens of thousands of runs to show.
constexpr std::uint64_t kTries = 30;

class MutationsAreCaught : public ::testing::TestWithParam<Catch> {
 protected:
  void TearDown() override { g_on = Mutation::none; }
};

TEST_P(MutationsAreCaught, ByAnExperiment) {
  EXPECT_FALSE(GetParam().shows_broken(1)) << "no bug is on";
  g_on = GetParam().mutation;
  g_reached = 0;
  bool seen = false;
  for (std::uint64_t seed = 1; seed <= kTries && !seen; ++seed) seen = GetParam().shows_broken(seed);
  EXPECT_TRUE(seen) << "the bug is not seen";
  EXPECT_GT(g_reached, 0U) << "nobody asks for it, or its source is missing in this executable";
}

std::string test_name(const ::testing::TestParamInfo<Catch>& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (c == '/') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(, MutationsAreCaught, ::testing::ValuesIn(all_catches()), test_name);

TEST(MutationTable, HasARowForEachMutation) {
  std::set<Mutation> seen;
  for (const Catch& c : all_catches()) seen.insert(c.mutation);
  EXPECT_EQ(seen.count(Mutation::none), 0U);
  for (unsigned m = 1; m < static_cast<unsigned>(Mutation::end); ++m)
    EXPECT_EQ(seen.count(static_cast<Mutation>(m)), 1U) << "mutation " << m;
}

}  // namespace
}  // namespace testing
}  // namespace warpline
