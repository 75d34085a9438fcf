#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/report/run_statistics.h"
#include "rtl_models/base/sha256.h"

namespace warpline {
namespace statistics_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TotalPath, StripsIndicesAndTheSmAroundItsCaches) {
  EXPECT_EQ(total_path("sm[3].l1_lg.sector_hits"), "l1_lg.sector_hits");
  EXPECT_EQ(total_path("sm[3].texture.sector_hits"), "texture.sector_hits");
  EXPECT_EQ(total_path("sm[3].constant.sector_hits"), "constant.sector_hits");
  EXPECT_EQ(total_path("sm[12].lsu.instructions"), "sm.lsu.instructions");
  EXPECT_EQ(total_path("sm[0].thread_instructions"), "sm.thread_instructions");
  EXPECT_EQ(total_path("l2[0].sector_misses"), "l2.sector_misses");
  EXPECT_EQ(total_path("crossbar.beats"), "crossbar.beats");
  EXPECT_EQ(total_path("gpu[1].sm[3].l1_lg.sector_hits"), "l1_lg.sector_hits") << "of all GPUs";
  EXPECT_EQ(total_path("gpu[0].pcie.reads"), "pcie.reads");
  EXPECT_EQ(total_path("buffer.a.l2.sector_hits"), "buffer.a.l2.sector_hits");
}

/// A netlist of two SMs, two slices and a crossbar.
struct FakeNetlist {
  std::uint64_t scale = 1;
  void operator()(CounterVisitor& v) const {
    v.counter("sm[0].l1_lg", "sector_hits", 1 * scale, "sectors", "found valid");
    v.counter("sm[1].l1_lg", "sector_hits", 2 * scale, "sectors", "found valid");
    v.counter("l2[0]", "sector_hits", 10 * scale, "sectors", "found \"valid\"");
    v.counter("l2[1]", "sector_hits", 20 * scale, "sectors", "found \"valid\"");
    v.counter("crossbar", "beats", 7 * scale, "beats", "sent");
    v.counter("buffer.a.l2", "sector_hits", 3 * scale, "sectors", "of this buffer");
    v.counter("buffer.a.l2", "sector_hits", 4 * scale, "sectors", "of this buffer");
  }
};

TEST(CounterTable, TotalsAreSumsOverIndicesAndComeFirst) {
  CounterTable table;
  const auto values = table.read(FakeNetlist{});
  std::vector<std::string> paths;
  for (const auto& e : table.entries()) paths.push_back(e.path);
  EXPECT_THAT(paths, ElementsAre("l1_lg.sector_hits", "l2.sector_hits", "crossbar.beats",
                                 "buffer.a.l2.sector_hits", "sm[0].l1_lg.sector_hits",
                                 "sm[1].l1_lg.sector_hits", "l2[0].sector_hits", "l2[1].sector_hits"));
  EXPECT_THAT(values, ElementsAre(3, 30, 7, 7, 1, 2, 10, 20));
  EXPECT_EQ(table.value(values, "l2.sector_hits"), 30U);
  EXPECT_EQ(table.value(values, "no.such.counter"), 0U);
}

TEST(CounterTable, DifferencesOfReadings) {
  CounterTable table;
  const auto first = table.read(FakeNetlist{2});
  const auto second = table.read(FakeNetlist{5});
  EXPECT_EQ(table.value(CounterTable::difference(second, first), "crossbar.beats"), 21U);
  EXPECT_EQ(CounterTable::difference(second, {}), second);
  const CounterTable::Changes changes = CounterTable::changes(second, first);
  EXPECT_EQ(table.value(changes, "crossbar.beats"), 21U);
  EXPECT_EQ(table.value(changes, "none"), 0U);
  EXPECT_EQ(table.whole(changes), CounterTable::difference(second, first));
  EXPECT_TRUE(CounterTable::changes(second, second).empty());
}

TEST(CounterTable, ReadingNothingLearnsNothing) {
  CounterTable table;
  EXPECT_TRUE(table.read([](CounterVisitor&) {}).empty());
  EXPECT_EQ(table.read(FakeNetlist{}).size(), 8U);
}

RunStatistics sample() {
  RunStatistics run;
  run.version = "1.2";
  run.gpu = "odd \"name\"\n";
  run.transport = "fast";
  run.inputs = {"a.toml", "b.g"};
  run.cycles = 1234567;
  run.time_ns = 1234567.5;
  run.wall_s = 0.25;
  run.values = run.table.read(FakeNetlist{3});
  for (std::uint64_t n = 0; n < 40; ++n) {
    LaunchStatistics l;
    l.kernel = "kernel_with_a_name_that_is_much_longer_than_any_table_has_room_for";
    l.input = "a.toml";
    l.outcome = "done";
    l.cycles = n;
    l.counted = CounterTable::changes(run.values, {});
    run.launches.push_back(l);
  }
  return run;
}

TEST(StatisticsJson, HasTheDocumentedShape) {
  const auto json = nlohmann::json::parse(to_json(sample()));
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["warpline"], "1.2");
  EXPECT_EQ(json["gpu"], "odd \"name\"\n");
  EXPECT_EQ(json["transport"], "fast");
  EXPECT_EQ(json["input"], (std::vector<std::string>{"a.toml", "b.g"}));
  EXPECT_EQ(json["cycles"], 1234567);
  EXPECT_EQ(json["time_ns"], 1234567.5);
  EXPECT_EQ(json["wall_s"], 0.25);
  const auto& counter = json["counters"]["l2.sector_hits"];
  EXPECT_EQ(counter["value"], 90);
  EXPECT_EQ(counter["unit"], "sectors");
  EXPECT_EQ(counter["description"], "found \"valid\"");
  EXPECT_EQ(json["launches"].size(), 40U);
  EXPECT_EQ(json["launches"][7]["cycles"], 7);
  EXPECT_EQ(json["launches"][7]["counters"], json["counters"]);
}

TEST(StatisticsJson, HasWhatWasAskedForAndHowItEnded) {
  RunStatistics run = sample();
  run.command = {"warpline", "run", "a\xff.toml"};
  run.verdict = RunVerdict::failed_check;
  run.exit_status = 1;
  run.configuration = {
      {"name", "\"odd \\\"name\\\"\""}, {"sms", "4"}, {"l2.weights", "[1, 2]"}, {"l2.on", "true"}};
  run.files = {{"a.toml", 3, sha256_of("abc")}};
  run.comparisons = {{"buffer \"a\"", ""}, {"buffer \"b\"", "it differs"}};
  FaultRecord fault;
  fault.kind = "trap";
  run.faults = {fault};
  run.fault_count = 12;
  const auto json = nlohmann::json::parse(to_json(run));
  EXPECT_EQ(json["command"][2], "a\uFFFD.toml");
  EXPECT_EQ(json["outcome"], "failed check");
  EXPECT_EQ(json["configuration"]["name"], "odd \"name\"");
  EXPECT_EQ(json["configuration"]["sms"], 4);
  EXPECT_EQ(json["configuration"]["l2.weights"], (std::vector<int>{1, 2}));
  EXPECT_EQ(json["configuration"]["l2.on"], true);
  EXPECT_EQ(json["files"][0]["sha256"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(json["comparisons"][0]["as_expected"], true);
  EXPECT_EQ(json["comparisons"][1]["failure"], "it differs");
  EXPECT_TRUE(json["faults"][0]["address"].is_null());
  EXPECT_EQ(json["fault_count"], 12);
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  Sha256 pieces;
  for (int n = 0; n < 10'000; ++n) pieces.add("0123456789");
  std::string whole;
  for (int n = 0; n < 10'000; ++n) whole += "0123456789";
  EXPECT_EQ(pieces.digest(), sha256_of(whole));
}

TEST(StatisticsJson, HasFewerCountersWhereFewerAreWanted) {
  RunStatistics run = sample();
  const auto all = nlohmann::json::parse(to_json(run));
  const auto counted = nlohmann::json::parse(to_json(run, StatisticsCounters::counted));
  const auto totals = nlohmann::json::parse(to_json(run, StatisticsCounters::totals));
  EXPECT_EQ(all["stats_counters"], "all");
  EXPECT_EQ(counted["stats_counters"], "counted");
  EXPECT_EQ(totals["stats_counters"], "totals");
  std::size_t blocks = 0;
  for (const auto& [path, of] : all["counters"].items()) {
    const bool total = path.find('[') == std::string::npos;
    const bool kept = total || of["value"] != 0;
    blocks += !total && kept;
    ASSERT_EQ(counted["counters"].contains(path), kept) << path;
    EXPECT_EQ(totals["counters"].contains(path), total) << path;
    if (total) {
      EXPECT_EQ(counted["counters"][path], of);
      EXPECT_EQ(totals["counters"][path], of);
    } else if (kept) {
      EXPECT_EQ(counted["counters"][path], nlohmann::json({{"value", of["value"]}}));
    }
  }
  EXPECT_GT(blocks, 0U);
  // Launches: of several what each counted, of one nothing, as that is what the run did.
  run.launches.resize(1);
  EXPECT_TRUE(
      nlohmann::json::parse(to_json(run, StatisticsCounters::counted))["launches"][0]["counters"].empty());
  run.launches.push_back(run.launches[0]);
  const auto several =
      nlohmann::json::parse(to_json(run, StatisticsCounters::counted))["launches"][1]["counters"];
  std::size_t changed = 0;
  for (const auto& [path, of] : all["launches"][0]["counters"].items()) {
    changed += of["value"] != 0;
    EXPECT_EQ(several.contains(path), of["value"] != 0) << path;
    if (several.contains(path)) {
      EXPECT_EQ(several[path]["value"], of["value"]);
    }
  }
  EXPECT_EQ(several.size(), changed);
}

TEST(StatisticsJson, OfNothingIsStillAnObject) {
  const auto json = nlohmann::json::parse(to_json(RunStatistics{}));
  EXPECT_TRUE(json["counters"].empty());
  EXPECT_TRUE(json["launches"].empty());
}

TEST(Summary, FitsAHundredColumns) {
  RunStatistics run = sample();
  std::istringstream lines(summary(run, 900, false));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Summary, ColoursOnlyIfAsked) {
  EXPECT_THAT(summary(sample(), 900, false), Not(HasSubstr("\033[")));
  EXPECT_THAT(summary(sample(), 900, true), HasSubstr("\033["));
}

TEST(Summary, GroupsDigitsAndCountsTheRowsItLeavesOut) {
  const std::string text = summary(sample(), 900, false);
  EXPECT_THAT(text, HasSubstr("1,234,567 cycles"));
  EXPECT_THAT(text, HasSubstr("and 24 more"));
}

TEST(Summary, CountsMergesApartAndSaysWhatTheHitRateIs) {
  RunStatistics run;
  run.values = run.table.read([](CounterVisitor& v) {
    v.counter("l2[0]", "sector_accesses", 1000, "sectors", "");
    v.counter("l2[0]", "sector_hits", 250, "sectors", "");
    v.counter("l2[0]", "sector_misses", 750, "sectors", "");
    v.counter("l2[0]", "merged_sectors", 650, "sectors", "");
  });
  const std::string text = summary(run, 900, false);
  EXPECT_THAT(text, HasSubstr("a merge is a miss that joins a fetch under way; hit rate: hits / look-ups"));
  const std::size_t at = text.find("  L2 ");
  ASSERT_NE(at, std::string::npos) << text;
  std::istringstream row(text.substr(at, text.find('\n', at) - at));
  EXPECT_THAT((std::vector<std::string>{std::istream_iterator<std::string>(row), {}}),
              ElementsAre("L2", "1,000", "250", "650", "100", "25.0%"));
}

}  // namespace statistics_test
}  // namespace warpline
