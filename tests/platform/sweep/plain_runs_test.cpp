#include "platform/sweep/plain_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/scratch_folder.h"

namespace warpline::sweep {
namespace plain_runs_test {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// Statistics of runs that are made up, in a folder of their own.
class PlainRunsStored : public ::testing::Test {
 protected:
  static json run_of(const std::string& input, const std::string& sha256) {
    return {{"schema", 2},
            {"outcome", "finished"},
            {"gpu", "mini"},
            {"transport", "fast"},
            {"command", {"warpline", "run", input, "--gpu", "mini"}},
            {"input", {input}},
            {"files", {{{"path", input}, {"sha256", sha256}}}},
            {"options", {{"seed", 1}, {"fast_forward", nullptr}}},
            {"configuration", {{"sms", 4}}},
            {"configuration_sha256", "c"},
            {"cycles", 700},
            {"counters", {{"sm.instructions", {{"value", 20}}}}},
            {"launches", {{{"kernel", "k"}, {"outcome", "done"}, {"cycles", 700}}}}};
  }
  static json profile_of() {
    return {{"warpline_profile", 1},
            {"gpu", "mini"},
            {"transport", "fast"},
            {"kernels",
             {{{"name", "k"},
               {"warps", 2},
               {"warp_cycles", 50},
               {"lines", {{{"where", "k:1"}, {"issued", 20}, {"lanes", 1}, {"stalls", {{"dram", 50}}}}}}}}}};
  }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  std::vector<std::string> workloads(const std::vector<json>& runs) {
    PlainRuns files;
    for (const json& run : runs)
      files.statistics.push_back(write(std::to_string(files.statistics.size()) + ".json", run.dump()));
    const std::string results = folder_.path() + "/results" + std::to_string(made_++);
    const Diagnostics faults = store_runs(files, results);
    EXPECT_TRUE(faults.empty());
    std::vector<std::string> out;
    ResultStore(results, ResultStore::Access::read)
        .ask("SELECT workload FROM runs ORDER BY point",
             [&out](const ResultStore::Row& row) { out.push_back(row.text(0)); });
    return out;
  }
  /// What is said of a profile and a series beside a run; nothing: they are taken.
  std::string said(const std::string& profile, const std::string& series) {
    PlainRuns files;
    files.statistics = {write("r.json", run_of("a.toml", "1").dump())};
    files.profiles = {write("r.profile", profile)};
    files.series = {write("r.csv", series)};
    const Diagnostics faults = store_runs(files, folder_.path() + "/beside" + std::to_string(made_++));
    return faults.empty() ? "" : faults.front().text();
  }
  ScratchFolder folder_;
  unsigned made_ = 0;
  const std::string series_ = "launch,kernel,first,last,ipc\n1,k,1,500,2\n1,k,501,700,\n";
};

TEST_F(PlainRunsStored, AreOfOneWorkloadIfTheirFilesAndChoicesAre) {
  EXPECT_THAT(workloads({run_of("x/a.toml", "1"), run_of("x/a.toml", "1")}), ElementsAre("a.toml", "a.toml"));
  EXPECT_THAT(workloads({run_of("x/a.toml", "1"), run_of("y/a.toml", "1")}),
              ElementsAre("x/a.toml", "y/a.toml"));
  EXPECT_THAT(workloads({run_of("a.toml", "1"), run_of("a.toml", "2")}),
              ElementsAre("a.toml, version 1", "a.toml, version 2"));
  json other = run_of("a.toml", "1");
  other["transport"] = "lt";
  other["options"]["seed"] = 7;
  EXPECT_THAT(workloads({run_of("a.toml", "1"), other}),
              ElementsAre("a.toml (transport fast, seed 1)", "a.toml (transport lt, seed 7)"));
}

/// What GPUs are compared in is no part of the workload.
TEST_F(PlainRunsStored, OfGpusInFilesAreOfOneWorkload) {
  std::vector<json> runs;
  for (const char* const gpu : {"one.toml", "two.toml"}) {
    json& run = runs.emplace_back(run_of("a.toml", "1"));
    run["command"][4] = gpu;
    run["files"].push_back({{"path", gpu}, {"sha256", gpu}});
  }
  EXPECT_THAT(workloads(runs), ElementsAre("a.toml", "a.toml"));
}

TEST_F(PlainRunsStored, TakeTheirOwnProfilesAndNoOthers) {
  EXPECT_EQ(said(profile_of().dump(), series_), "");
  const auto with = [this](const std::string& at, const json& value) {
    json profile = profile_of();
    profile[json::json_pointer(at)] = value;
    return said(profile.dump(), series_);
  };
  EXPECT_THAT(with("/gpu", "h200"), HasSubstr("r.profile: error: is of another run"));
  EXPECT_THAT(with("/transport", "at"), HasSubstr("its transport is \"at\", and not \"fast\""));
  EXPECT_THAT(with("/kernels/0/name", "other"), HasSubstr("that did not launch other"));
  EXPECT_THAT(with("/kernels/0/lines/0/issued", 21),
              HasSubstr("its lines issued 21 instructions, and that 20"));
  EXPECT_THAT(with("/kernels/0/warp_cycles", -1), HasSubstr("r.profile: error: kernel k: has numbers that"));
  EXPECT_THAT(with("/kernels/0/lines/0/stalls/dram", std::uint64_t{1} << 63U), HasSubstr("no counts"));
  EXPECT_THAT(with("/kernels/0/lines/0/stalls", 3), HasSubstr("r.profile: error: is no profile that"));
  EXPECT_THAT(said(run_of("a", "1").dump(), series_), HasSubstr("r.profile: error: is no profile"));
}

TEST_F(PlainRunsStored, TakeTheirOwnSeriesAndNoOthers) {
  const auto with = [this](const std::string& series) { return said(profile_of().dump(), series); };
  const std::string head = "launch,kernel,first,last,ipc\n";
  EXPECT_THAT(with(""), HasSubstr("r.csv:1: error: has no figures over time"));
  EXPECT_THAT(with(head), HasSubstr("has no spans"));
  EXPECT_THAT(with(head + "1,other,1,700,2\n"), HasSubstr("that did not launch other"));
  EXPECT_THAT(with(head + "1,k,1,699,2\n"), HasSubstr("its last cycle is 699, and not 700"));
  for (const char* const row : {"1,k,1,abc,2", "1,k,-5,700,2", "1,k,1,1e300,2", "1,k,9,3,2", "1,k,1,nan,2"})
    EXPECT_THAT(with(head + row + "\n"), HasSubstr("r.csv:2: error: from ")) << row;
  for (const char* const value : {"nan", "inf", "-1", "1e300", "x"})
    EXPECT_THAT(with(head + "1,k,1,700," + value + "\n"), HasSubstr("is nothing that a span can have"))
        << value;
  EXPECT_THAT(with(head + "1,k,1,700\n"), HasSubstr("has not as many fields as the head"));
}

}  // namespace plain_runs_test
}  // namespace warpline::sweep
