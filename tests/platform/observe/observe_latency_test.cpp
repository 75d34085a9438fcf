#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/platform/machine/random_machine.h"
#include "tests/platform/observe/observed_run.h"
#include "tests/support/environment.h"
#include "tests/support/timeline_reader.h"

namespace warpline::test {
namespace observe_latency_test {

using nlohmann::json;
using ::testing::ElementsAre;

/// Every cycle is charged to a place, and the histogram has all requests.
void expect_sums(const json& latencies, const std::string& what) {
  for (const json& group : latencies.at("groups")) {
    std::uint64_t spent = 0, requests = 0, least = 0;
    for (const auto& [place, cycles] : group.at("spent").items()) spent += cycles.get<std::uint64_t>();
    for (const json& c : group.at("histogram")) {
      requests += c.at(2).get<std::uint64_t>();
      least += c.at(0).get<std::uint64_t>() * c.at(2).get<std::uint64_t>();
    }
    EXPECT_EQ(spent, group.at("cycles")) << what << group.dump();
    EXPECT_EQ(requests, group.at("requests")) << what;
    EXPECT_LE(least, group.at("cycles")) << what;
  }
}

/// The timeline has it in another way: as slices from the first beat of a request to its answer.
void expect_as_in_the_timeline(const Watched& run, const std::string& what) {
  const json latencies = json::parse(run.latency);
  expect_sums(latencies, what);
  std::uint64_t requests = 0, cycles = 0, sent = 0, lasted = 0;
  for (const json& group : latencies.at("groups")) {
    requests += group.at("requests").get<std::uint64_t>();
    cycles += group.at("cycles").get<std::uint64_t>();
  }
  for (const TimelineSlice& s : parse_timeline(run.timeline).slices) {
    const std::size_t dot = s.block.rfind('.');
    const std::string kind = s.block.substr(dot == std::string::npos ? 0 : dot + 1);
    if (!s.sent() || kind.rfind("sm[", 0) != 0) continue;
    ++sent;
    lasted += s.end - s.begin;
  }
  EXPECT_GT(requests, 0U) << what;
  EXPECT_EQ(requests, sent) << what;
  EXPECT_EQ(cycles, lasted) << what;
  EXPECT_EQ(latencies.at("unfinished"), 0) << what;
}

TEST(Latency, IsThatOfTheTimelineWhateverRuns) {
  for (const char* kernel : {"histogram", "reduce"})
    expect_as_in_the_timeline(watch_kernel(preset("mini"), kernel, false, {}), kernel);
  // Random machines: WARPLINE_LATENCY_MACHINES, or a short slice.
  const std::uint64_t machines = from_environment("WARPLINE_LATENCY_MACHINES", 3);
  for (std::uint64_t seed = 1; seed <= machines; ++seed) {
    Random random(seed);
    const GpuConfig config = random_machine(random);
    expect_as_in_the_timeline(watch_generators(config, seed, {}), "seed " + std::to_string(seed));
  }
}

TEST(Latency, OfAHitIsTwoChannels) {
  const GpuConfig config = preset("mini");
  const auto latencies = nlohmann::ordered_json::parse(watch_kernel(config, "chase", false, {}).latency);
  for (const auto& group : latencies.at("groups")) {
    if (group.at("block") != "l1_lg" || group.at("command") != "read") continue;
    std::vector<std::string> places;
    for (const auto& [place, cycles] : group.at("spent").items()) places.push_back(place);
    if (group.at("answered_by") == "l1_lg") {
      EXPECT_EQ(group.at("requests"), 3584);
      EXPECT_THAT(places, ElementsAre("sm > l1_lg", "l1_lg > sm"));
    } else {
      EXPECT_THAT(places, ::testing::IsSupersetOf({"sm > l1_lg", "l1_lg > crossbar", "crossbar > l2",
                                                   "l2 > crossbar", "crossbar > l1_lg", "l1_lg > sm"}));
    }
    EXPECT_EQ(places.front(), "sm > l1_lg");
    EXPECT_EQ(places.back(), "l1_lg > sm");
    if (group.at("answered_by") == "dram") {
      EXPECT_THAT(places, ::testing::Contains("dram"));
      const auto at = [&](const char* place) { return std::find(places.begin(), places.end(), place); };
      EXPECT_LT(at("crossbar > l2"), at("dram"));
      EXPECT_LT(at("dram"), at("l2 > crossbar"));
    }
  }
}

TEST(Latency, OfWhatIsCutShortIsWhatHasBeenAnswered) {
  Watch how;
  how.max_cycles = 700;
  const json cut = json::parse(watch_kernel(preset("mini"), "spmv", false, how).latency);
  expect_sums(cut, "cut");
  EXPECT_GT(cut.at("unfinished"), 0);
}

}  // namespace observe_latency_test
}  // namespace warpline::test
