#include "platform/sweep/plain_runs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "platform/sweep/beside_run.h"
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
  std::vector<std::string> inputs;  ///< paths, as the command has them
  std::string files;                ///< what they are and what they name, with hashes
  std::string choices;              ///< what else two runs must agree in: "transport fast, seed 1"
  std::string gpu;
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
  for (const json& input : read->at("input"))
    if (input.is_string()) run.inputs.push_back(input.get<std::string>());
  if (const auto gpu = read->find("gpu"); gpu != read->end() && gpu->is_string())
    run.gpu = gpu->get<std::string>();
  read_command(read->at("command"), run);
  for (const json& file : read->value("files", json::array()))
    if (file.is_object() &&
        file.value("path", json{}) != run.gpu)  // what GPUs are compared in is no workload
      run.files += file.value("path", json{}).dump() + file.value("sha256", json{}).dump();
  std::vector<std::string> choices;
  const auto choose = [&choices](const std::string& name, const json& value) {
    if (value.is_null() || value == false || (value.is_array() && value.empty())) return;
    std::string shown = name;
    std::replace(shown.begin(), shown.end(), '_', ' ');
    choices.push_back(
        value == true ? shown : shown + " " + (value.is_string() ? value.get<std::string>() : value.dump()));
  };
  choose("transport", read->value("transport", json{}));
  const json options = read->value("options", json::object());
  if (options.is_object())
    for (const auto& [name, value] : options.items()) choose(name, value);
  run.choices = joined(choices);
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

/// A name for the workload of each run. Runs of the same files, transport, seed and so on have the same one;
/// what tells others apart is part of theirs.
std::vector<std::string> workloads_of(const std::vector<PlainRun>& runs) {
  const auto inputs_of = [](const PlainRun& run, bool whole) {
    std::vector<std::string> texts;
    for (const std::string& path : run.inputs)
      texts.push_back(whole ? path : std::filesystem::path(path).filename().string());
    return joined(texts, " + ");
  };
  std::map<std::string, std::set<std::string>> paths, contents, choices;  // that go by the same name
  for (const PlainRun& run : runs) {
    const std::string name = inputs_of(run, false), path = inputs_of(run, true);
    paths[name].insert(path);
    contents[path].insert(run.files);
    choices[name].insert(run.choices);
  }
  std::vector<std::string> out;
  for (const PlainRun& run : runs) {
    const std::string name = inputs_of(run, false), path = inputs_of(run, true);
    std::string& own = out.emplace_back(paths[name].size() > 1 ? path : name);
    if (const auto& versions = contents[path]; versions.size() > 1)
      own += ", version " + std::to_string(1 + std::distance(versions.begin(), versions.find(run.files)));
    if (choices[name].size() > 1) own += " (" + run.choices + ")";
  }
  return out;
}

using Check = Diagnostics (*)(const std::string& path, const std::string& text, const json& run);

Diagnostics read_beside(const char* option, const std::vector<std::string>& paths,
                        std::vector<PlainRun>& runs, std::string PlainRun::*into, Check check) {
  if (paths.empty()) return {};
  if (paths.size() != runs.size())
    return {Diagnostic::about(option, counted(paths.size(), "file") + " for " + counted(runs.size(), "run"),
                              "one for each, in the order of the runs")};
  for (std::size_t n = 0; n < paths.size(); ++n) {
    const Result<std::string> text = read_file(paths[n], kMostRunBytes);
    if (!text.ok()) return text.faults();
    if (Diagnostics faults = check(paths[n], text.value(), *runs[n].statistics); !faults.empty())
      return faults;
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
  if (Diagnostics faults =
          read_beside("--profile", files.profiles, runs, &PlainRun::profile, faults_of_profile);
      !faults.empty())
    return faults;
  if (Diagnostics faults = read_beside("--series", files.series, runs, &PlainRun::series, faults_of_series);
      !faults.empty())
    return faults;
  Study study;
  study.name = joined(files.statistics);
  study.file = study.name;
  study.metrics = {"cycles"};
  std::vector<Point> points;
  const std::set<std::string> keys = keys_of(runs);
  const std::vector<std::string> workloads = workloads_of(runs);
  for (const PlainRun& run : runs) {
    const std::string& name = workloads[points.size()];
    Point& point = points.emplace_back();
    point.number = points.size() - 1;
    point.gpu = run.gpu;
    const auto same = [&name](const Workload& w) { return w.name == name; };
    const auto workload = std::find_if(study.workloads.begin(), study.workloads.end(), same);
    point.workload = static_cast<std::size_t>(workload - study.workloads.begin());
    if (workload == study.workloads.end()) study.workloads.push_back({name, false, {}, {}});
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
  if (!refused.empty()) return {Diagnostic::about(refused, "cannot be read")};
  return {};
}

}  // namespace warpline::sweep
