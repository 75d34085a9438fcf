// What a set-aside for evict_last is for: a hot set stays in L2 while a stream half as large again as L2
// passes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace hot_set_test {

double hit_rate(const nlohmann::json& counters, const std::string& buffer) {
  const auto value = [&](const char* name) {
    return counters.at("buffer." + buffer + ".l2." + name).at("value").get<double>();
  };
  return value("sector_hits") / value("sector_accesses");
}

class HotSet : public testing::TestWithParam<const char*> {};

/// The counters of the launches of hot_set.toml, as `edit` changes it, on 128 KiB of L2 of this shape.
template <class Edit>
nlohmann::json counters_of(const char* shape, Edit&& edit) {
  const Workspace w;
  const std::string folder = in_source("sw/kernels/");
  w.write("launch.toml", edit(replaced(read_file(folder + "hot_set.toml"), "\"hot_set.sm_80.ptx\"",
                                       "\"" + folder + "hot_set.sm_80.ptx\"")));
  std::vector<std::string> arguments = {"run", "launch.toml", "--quiet", "--stats", "stats.json"};
  std::istringstream sets(shape);
  for (std::string set; sets >> set;) arguments.insert(arguments.end(), {"--set", set});
  const Finished run = w.warpline(arguments);
  EXPECT_EQ(run.status, 0) << run.err;
  return nlohmann::json::parse(read_file(w.path("stats.json"))).at("counters");
}

TEST_P(HotSet, StaysWithAPolicyAsFarAsTheSetAsideGoes) {
  const auto counters = counters_of(GetParam(), [](const std::string& text) { return text; });
  EXPECT_LT(hit_rate(counters, "plain"), 0.6) << "without policies";
  EXPECT_GT(hit_rate(counters, "kept"), 0.95) << "with a policy";
  EXPECT_LT(hit_rate(counters, "too_large"), 0.1) << "a hot set of twice the set-aside drives itself out";
  EXPECT_GT(hit_rate(counters, "half_kept"), 0.45) << "half of it stays where a policy asks for half";
}

TEST_P(HotSet, AsLargeAsTheSetAsideStays) {
  // 96 KiB: each thread reads 24 floats of it, so 24 + 48 * 2 in each of 40 rounds.
  const auto counters = counters_of(GetParam(), [](const std::string& text) {
    return replaced(replaced(text, "16384", "24576"), "4480", "4800");
  });
  EXPECT_GT(hit_rate(counters, "kept"), 0.95);
}

INSTANTIATE_TEST_SUITE_P(Shapes, HotSet,
                         testing::Values("l2.sets=32", "l2.slices=1 l2.sets=64 l2.ways=16",
                                         "l2.slices=2 l2.sets=32 l2.ways=16"));

}  // namespace hot_set_test
}  // namespace warpline::test
