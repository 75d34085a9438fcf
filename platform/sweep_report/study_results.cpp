#include "platform/sweep_report/study_results.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"
#include "platform/sweep/condition.h"
#include "platform/sweep/study.h"

namespace warpline::sweep {
namespace {

using nlohmann::json;

/// Texts by their numbers, in the order in which they come.
class Numbering {
 public:
  explicit Numbering(std::vector<std::string>& texts) : texts_(texts) {}
  unsigned operator()(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text, static_cast<unsigned>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return at->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, unsigned> numbers_;
};

/// Values of a key in the order in which people count: numbers by size, then texts.
bool comes_before(const std::string& a, const std::string& b) {
  const auto x = real_number(a), y = real_number(b);
  if (x && y) return *x < *y;
  return x.has_value() != y.has_value() ? x.has_value() : a < b;
}

std::string shown(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const json& word : json::parse(text, nullptr, false))
    if (word.is_string()) words.push_back(word.get<std::string>());
  return words;
}

/// Takes out of a run's command what the study has put into it.
CommandParts parts_of(const std::vector<std::string>& words) {
  CommandParts parts;
  bool behind = false;
  for (std::size_t n = 0; n < words.size(); ++n) {
    const std::string& word = words[n];
    if (word == "--") {
      parts.after.insert(parts.after.end(), words.begin() + static_cast<std::ptrdiff_t>(n), words.end());
      break;
    }
    const std::size_t equals = word.find('=');
    if (const OwnOption* const own = own_option(word.substr(0, equals))) {
      if (own->takes_value) behind = true;
      if (own->takes_value && equals == std::string::npos) ++n;
    } else {
      (behind ? parts.after : parts.before).push_back(n == 0 ? "warpline" : word);
    }
  }
  return parts;
}

class Reader {
 public:
  Reader(const ResultStore& store, StudyResults& out) : store_(store), out_(out) {}

  void read() {
    out_.name = store_.told("name");
    out_.text = store_.told("text");
    out_.warpline = store_.told("warpline");
    read_counters();
    read_runs();
    sort_values();
    read_configurations();
  }

 private:
  void read_counters() {
    store_.ask("SELECT path, unit, description FROM counter_names WHERE total = 1", [&](const auto& row) {
      out_.counters[row.text(0)] = {row.text(0), row.text(1), row.text(2)};
    });
  }
  void read_runs() {
    Numbering workload(out_.workloads), gpu(out_.gpus), outcome(out_.outcomes), key(out_.keys);
    std::vector<std::unordered_map<std::string, unsigned>> known;
    store_.ask(
        "SELECT point, workload, gpu, settings, outcome, reason, cycles, time_ns, wall_s, cpu_s, peak_bytes, "
        "configuration, finished_at, command, files FROM runs ORDER BY point",
        [&](const ResultStore::Row& row) {
          StudyRun run;
          run.point = static_cast<std::size_t>(row.number(0));
          run.workload = workload(row.text(1));
          run.gpu = gpu(row.text(2));
          const json settings = json::parse(row.text(3));
          for (const auto& [name, value] : settings.items()) {
            const unsigned k = key(name);
            run.settings.resize(std::max<std::size_t>(run.settings.size(), k + 1), kNone);
            known.resize(out_.keys.size());
            out_.values.resize(out_.keys.size());
            const std::string text = shown(value);
            const auto [at, is_new] =
                known[k].try_emplace(text, static_cast<unsigned>(out_.values[k].size()));
            if (is_new) out_.values[k].push_back(text);
            run.settings[k] = at->second;
          }
          run.outcome = outcome(row.text(4));
          run.reason = row.text(5);
          if (!row.is_null(6)) run.cycles = row.real(6);
          if (!row.is_null(7)) run.time_ns = row.real(7);
          run.wall_s = row.real(8);
          run.cpu_s = row.real(9);
          run.peak_bytes = row.real(10);
          if (!row.is_null(11)) {
            const auto [at, is_new] =
                configuration_numbers_.try_emplace(row.number(11), configuration_numbers_.size());
            run.configuration = static_cast<unsigned>(at->second);
          }
          const std::string when = row.text(12);
          if (out_.first_finished.empty() || when < out_.first_finished) out_.first_finished = when;
          out_.last_finished = std::max(out_.last_finished, when);
          take_inputs(run, row);
          out_.runs.push_back(std::move(run));
        });
    for (StudyRun& run : out_.runs) run.settings.resize(out_.keys.size(), kNone);
  }
  /// How a run is begun, and of its workload's first runs, of what.
  void take_inputs(StudyRun& run, const ResultStore::Row& row) {
    CommandParts parts = parts_of(words_of(row.text(13)));
    const auto [command, is_new] =
        command_numbers_.try_emplace({parts.before, parts.after}, out_.commands.size());
    if (is_new) out_.commands.push_back(std::move(parts));
    run.command = static_cast<unsigned>(command->second);
    has_files_.resize(out_.workloads.size());
    if (has_files_[run.workload]) return;
    for (const json& file : json::parse(row.text(14), nullptr, false)) {
      if (!file.is_object()) continue;
      has_files_[run.workload] = true;
      const std::pair<std::string, std::string> one = {file.value("path", ""), file.value("sha256", "")};
      if (std::find(out_.input_files.begin(), out_.input_files.end(), one) == out_.input_files.end())
        out_.input_files.push_back(one);
    }
  }
  void sort_values() {
    std::vector<std::size_t> order(out_.keys.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      std::vector<std::string>& values = out_.values[k];
      std::vector<unsigned> old(values.size()), now(values.size());
      for (unsigned n = 0; n < old.size(); ++n) old[n] = n;
      std::sort(old.begin(), old.end(),
                [&](unsigned a, unsigned b) { return comes_before(values[a], values[b]); });
      std::vector<std::string> sorted;
      for (unsigned n = 0; n < old.size(); ++n) {
        sorted.push_back(values[old[n]]);
        now[old[n]] = n;
      }
      values = std::move(sorted);
      for (StudyRun& run : out_.runs)
        if (run.settings[k] != kNone) run.settings[k] = now[run.settings[k]];
    }
  }
  void read_configurations() {
    std::map<std::string, std::string> meanings;
    if (const Result<GpuConfig> mini = load_gpu("mini"); mini.ok())
      for (const ConfigEntry& e : config_entries(mini.value())) meanings[e.path()] = e.meaning;
    std::vector<std::vector<unsigned>> gpus_of(configuration_numbers_.size());
    for (const StudyRun& run : out_.runs)
      if (run.configuration != kNone) {
        std::vector<unsigned>& gpus = gpus_of[run.configuration];
        if (std::find(gpus.begin(), gpus.end(), run.gpu) == gpus.end()) gpus.push_back(run.gpu);
      }
    std::map<std::string, std::size_t> places;
    store_.ask("SELECT id, keys FROM configurations ORDER BY id", [&](const ResultStore::Row& row) {
      const auto number = configuration_numbers_.find(row.number(0));
      if (number == configuration_numbers_.end()) return;
      const json keys = json::parse(row.text(1), nullptr, false);
      if (!keys.is_object()) return;
      for (const auto& [name, value] : keys.items()) {
        const auto [at, is_new] = places.try_emplace(name, out_.configuration.size());
        if (is_new)
          out_.configuration.push_back(
              {name, meanings[name], std::vector<std::string>(out_.gpus.size()), false});
        ConfigurationKey& key = out_.configuration[at->second];
        const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        for (const unsigned gpu : gpus_of[number->second]) {
          if (key.by_gpu[gpu].empty()) key.by_gpu[gpu] = text;
          if (key.by_gpu[gpu] != text) key.varies = true;
        }
        if (!value.is_number()) continue;
        // One number where all configurations have it: most keys are never varied.
        std::vector<double>& numbers = out_.numbers[name];
        const auto number_here = value.get<double>();
        if (numbers.empty()) numbers.push_back(number_here);
        if (numbers.size() == 1 && numbers.front() != number_here)
          numbers.assign(configuration_numbers_.size(), numbers.front());
        if (numbers.size() > 1) numbers[number->second] = number_here;
      }
    });
  }

  const ResultStore& store_;
  StudyResults& out_;
  std::unordered_map<std::int64_t, std::size_t> configuration_numbers_;
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, std::size_t> command_numbers_;
  std::vector<bool> has_files_;
};

}  // namespace

StudyResults read_results(const ResultStore& store, const std::string& path) {
  StudyResults out;
  out.file = path;
  try {
    Reader(store, out).read();
  } catch (const json::exception& e) {
    throw StoreError{std::string("its rows are not those of `warpline sweep`: ") + e.what()};
  }
  return out;
}

std::string shell_text(const std::vector<std::string>& words) {
  const std::string plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += " ";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      out += word;
      continue;
    }
    out += "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += "'";
  }
  return out;
}

std::string command_of(const StudyResults& results, const StudyRun& run) {
  const CommandParts& parts = results.commands[run.command];
  std::vector<std::string> words = parts.before;
  words.insert(words.end(), {"--gpu", results.gpus[run.gpu]});
  for (std::size_t k = 0; k < results.keys.size(); ++k)
    if (run.settings[k] != kNone)
      words.insert(words.end(), {"--set", results.keys[k] + "=" + results.values[k][run.settings[k]]});
  words.insert(words.end(), parts.after.begin(), parts.after.end());
  return shell_text(words);
}

std::string shown_value(const std::string& value) {
  const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::string settings_text(const StudyResults& results, const StudyRun& run) {
  std::string out = results.gpus.size() > 1 ? results.gpus[run.gpu] : std::string{};
  for (std::size_t k = 0; k < results.keys.size(); ++k)
    if (results.values[k].size() > 1 && run.settings[k] != kNone)
      out += (out.empty() ? "" : ", ") + results.keys[k] + " = " +
             shown_value(results.values[k][run.settings[k]]);
  return out.empty() ? results.gpus[run.gpu] : out;
}

}  // namespace warpline::sweep
