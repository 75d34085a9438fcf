#include "platform/sweep/plain_runs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/document/files.h"

namespace warpline::sweep {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostRunBytes = std::uint64_t{1} << 30U;
constexpr int kStatisticsSchema = 2;  ///< of statistics

struct PlainRun {
  std::shared_ptr<const json> statistics;
  std::string inputs, gpu;
  std::set<std::string> set;  ///< keys that its command has set
  std::string profile, series;
};

/// The GPU and the keys that a command names.
void read_command(const json& command, PlainRun& run) {
  for (std::size_t n = 0; n < command.size(); ++n) {
    const std::string word = command[n].is_string() ? command[n].get<std::string>() : std::string{};
    if (word.rfind("--gpu", 0) != 0 && word.rfind("--set", 0) != 0) continue;
    const bool behind = word.size() == 5;
    if (!behind && word[5] != '=') continue;
    const std::string value = !behind ? word.substr(6)
                              : n + 1 < command.size() && command[n + 1].is_string()
                                  ? command[n + 1].get<std::string>()
                                  : std::string{};
    if (word[2] == 'g') {
      run.gpu = value;
    } else {
      run.set.insert(value.substr(0, value.find('=')));
    }
  }
}

Result<PlainRun> read_run(const std::string& path) {
  const Result<std::string> text = read_file(path, kMostRunBytes);
  if (!text.ok()) return text.faults();
  const auto read = std::make_shared<const json>(json::parse(text.value(), nullptr, false));
  const Diagnostic none =
      Diagnostic::about(path, "is neither a file of results nor one of statistics",
                        "`warpline sweep --results` and `warpline run --stats` write these");
  if (!read->is_object()) return none;
  const auto has = [&read](const char* key, bool (json::*is)() const noexcept) {
    const auto found = read->find(key);
    return found != read->end() && (*found.*is)();
  };
  if (!has("configuration", &json::is_object) || !has("counters", &json::is_object) ||
      !has("launches", &json::is_array) || !has("input", &json::is_array) || !has("command", &json::is_array))
    return none;
  if (read->value("schema", json{}) != kStatisticsSchema)
    return Diagnostic::about(path, "its schema is none that this version reads", "run it anew");
  PlainRun run;
  run.statistics = read;
  std::vector<std::string> inputs;
  for (const json& input : read->at("input"))
    if (input.is_string())
      inputs.push_back(std::filesystem::path(input.get<std::string>()).filename().string());
  run.inputs = joined(inputs, " + ");
  if (const auto gpu = read->find("gpu"); gpu != read->end() && gpu->is_string())
    run.gpu = gpu->get<std::string>();
  read_command(read->at("command"), run);
  return run;
}

/// Keys in which runs of one GPU differ, or that a command has set.
std::set<std::string> keys_of(const std::vector<PlainRun>& runs) {
  std::set<std::string> out;
  std::map<std::string, const json*> first;
  for (const PlainRun& run : runs) {
    out.insert(run.set.begin(), run.set.end());
    const json& own = run.statistics->at("configuration");
    const json& other = *first.try_emplace(run.gpu, &own).first->second;
    for (const auto& [key, value] : own.items())
      if (other.value(key, json{}) != value) out.insert(key);
    for (const auto& [key, value] : other.items())
      if (!own.contains(key)) out.insert(key);
  }
  return out;
}

Diagnostics read_beside(const char* option, const std::vector<std::string>& paths,
                        std::vector<PlainRun>& runs, std::string PlainRun::*into) {
  if (paths.empty()) return {};
  if (paths.size() != runs.size())
    return {Diagnostic::about(option, counted(paths.size(), "file") + " for " + counted(runs.size(), "run"),
                              "one for each, in the order of the runs")};
  for (std::size_t n = 0; n < paths.size(); ++n) {
    const Result<std::string> text = read_file(paths[n], kMostRunBytes);
    if (!text.ok()) return text.faults();
    runs[n].*into = text.value();
  }
  return {};
}

}  // namespace

Diagnostics store_runs(const PlainRuns& files, const std::string& results) {
  std::vector<PlainRun> runs;
  for (const std::string& path : files.statistics) {
    const Result<PlainRun> run = read_run(path);
    if (!run.ok()) return run.faults();
    runs.push_back(run.value());
  }
  if (Diagnostics faults = read_beside("--profile", files.profiles, runs, &PlainRun::profile);
      !faults.empty())
    return faults;
  if (Diagnostics faults = read_beside("--series", files.series, runs, &PlainRun::series); !faults.empty())
    return faults;
  Study study;
  study.name = joined(files.statistics);
  study.file = study.name;
  study.metrics = {"cycles"};
  std::vector<Point> points;
  const std::set<std::string> keys = keys_of(runs);
  for (const PlainRun& run : runs) {
    Point& point = points.emplace_back();
    point.number = points.size() - 1;
    point.gpu = run.gpu;
    const auto same = [&run](const Workload& w) { return w.name == run.inputs; };
    const auto workload = std::find_if(study.workloads.begin(), study.workloads.end(), same);
    point.workload = static_cast<std::size_t>(workload - study.workloads.begin());
    if (workload == study.workloads.end()) study.workloads.push_back({run.inputs, false, {}, {}});
    const json& configuration = run.statistics->at("configuration");
    for (const std::string& key : keys)
      if (const auto value = configuration.find(key); value != configuration.end())
        point.settings.emplace_back(key, value->dump());
  }
  ResultStore store(results, ResultStore::Access::write);
  store.begin(study, runs.front().statistics->value("warpline", std::string("an unknown version")));
  for (std::size_t n = 0; n < runs.size(); ++n) {
    PointResult result;
    result.statistics = runs[n].statistics;
    result.outcome = runs[n].statistics->value("outcome", std::string{});
    result.exit_status = runs[n].statistics->value("exit_status", 0);
    result.wall_s = runs[n].statistics->value("wall_s", 0.0);
    const json failures = runs[n].statistics->value("failures", json::array());
    if (!failures.empty() && failures.front().is_string())
      result.reason = failures.front().get<std::string>();
    result.profile = runs[n].profile;
    result.series = runs[n].series;
    store.add(study, points[n], result);
  }
  store.commit();
  std::string refused;
  store.ask("SELECT point, reason FROM runs WHERE outcome = 'refused' ORDER BY point DESC",
            [&](const ResultStore::Row& row) {
              refused = files.statistics[static_cast<std::size_t>(row.number(0))] + ": " + row.text(1);
            });
  if (!refused.empty()) return {Diagnostic::about(refused, "it, or what belongs to it, cannot be read")};
  return {};
}

}  // namespace warpline::sweep
