// Every deliberate bug is seen by an experiment that sees nothing without it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>

#include "tests/mutation/catch.h"

namespace warpline {
namespace {

std::optional<test::Mutation> g_on;
std::uint64_t g_reached = 0;

}  // namespace

inline namespace with_mutations {
template <class Mutation>
bool mutated(Mutation which) {
  const bool is_on = g_on == test::Mutation(which);
  g_reached += is_on;
  return is_on;
}
template bool mutated(CacheMutation);
template bool mutated(CrossbarMutation);
template bool mutated(GpuSwitchMutation);
template bool mutated(L1LgMutation);
template bool mutated(L2Mutation);
template bool mutated(PcieMutation);
template bool mutated(SmMutation);
}  // namespace with_mutations

namespace test {
namespace {

std::vector<Catch> all_catches() {
  std::vector<Catch> all;
  for (const auto& some : {catches_by_litmus(), catches_by_scene(), catches_by_two_gpus(), catches_by_host(),
                           catches_by_kernels(), catches_by_clusters()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

class MutationsAreCaught : public ::testing::TestWithParam<Catch> {
 protected:
  void TearDown() override { g_on.reset(); }
};

TEST_P(MutationsAreCaught, ByAnExperiment) {
  const std::uint64_t first = GetParam().first_seed;
  EXPECT_FALSE(GetParam().shows_broken(first)) << "no bug is on";
  g_on = GetParam().mutation;
  g_reached = 0;
  bool seen = false;
  for (std::uint64_t seed = first; seed < first + GetParam().tries && !seen; ++seed)
    seen = GetParam().shows_broken(seed);
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

/// The names of all bugs, out of the headers in which blocks declare them.
std::set<std::string> declared() {
  std::set<std::string> names;
  const std::regex enumerator("^  ([a-z0-9_]+),.*");
  for (const auto& file : std::filesystem::recursive_directory_iterator(WARPLINE_SOURCE_DIR "/rtl_models")) {
    const std::string name = file.path().filename().string();
    if (name.size() < 12 || name.compare(name.size() - 12, 12, "_mutations.h") != 0) continue;
    std::ifstream in(file.path());
    std::smatch match;
    for (std::string line; std::getline(in, line);)
      if (std::regex_match(line, match, enumerator)) names.insert(match[1]);
  }
  return names;
}

TEST(MutationTable, HasARowForEachMutation) {
  std::set<std::string> caught;
  for (const Catch& c : all_catches()) caught.insert(c.name.substr(0, c.name.find('/')));
  EXPECT_EQ(caught, declared());
  EXPECT_GT(caught.size(), 40U);
}

}  // namespace
}  // namespace test
}  // namespace warpline
