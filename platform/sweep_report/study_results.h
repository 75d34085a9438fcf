#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/result_store.h"

namespace warpline::sweep {

/// The number of nothing, among values, levels and the like.
constexpr unsigned kNone = ~0U;

/// One point of a study, as its report sees it.
struct StudyRun {
  std::size_t point = 0;
  unsigned workload = 0, gpu = 0, outcome = 0;  ///< of StudyResults
  std::vector<unsigned> settings;               ///< of each key the number of its value; kNone: it is not set
  unsigned configuration = kNone;               ///< of StudyResults::configurations
  unsigned command = 0;                         ///< of StudyResults::commands
  double cycles = NAN, time_ns = NAN;           ///< NaN: it did not run
  double wall_s = 0, cpu_s = 0, peak_bytes = 0;
  std::string reason;  ///< unless it finished
};

/// A key of a GPU's configuration.
struct ConfigurationKey {
  std::string name;
  std::string meaning;              ///< empty: this version does not know it
  std::vector<std::string> by_gpu;  ///< its value in the first run of each GPU; empty: none ran
  bool varies = false;              ///< between runs of the same GPU
};

/// What a run is begun with, but for the GPU and its keys.
struct CommandParts {
  std::vector<std::string> before, after;
};

/// A counter of the file.
struct CounterName {
  std::string path, unit, meaning;
};

/// What is read of a file of results before anything is made of it. Memory goes with the number of runs, and
/// not with what they have counted.
struct StudyResults {
  std::string file, name, text, warpline;
  std::string first_finished, last_finished;  ///< UTC, as ISO 8601
  bool being_written = false;
  std::vector<std::string> workloads, gpus, outcomes;
  std::vector<std::string> keys;                 ///< that the study sets
  std::vector<std::vector<std::string>> values;  ///< of each key, in order
  std::vector<StudyRun> runs;
  std::vector<ConfigurationKey> configuration;
  /// Of keys with numbers, the value in each configuration; one where all have the same.
  std::map<std::string, std::vector<double>> numbers;
  std::vector<CommandParts> commands;                            ///< each once
  std::vector<std::pair<std::string, std::string>> input_files;  ///< paths and SHA-256
  std::map<std::string, CounterName> counters;                   ///< totals, by path

  [[nodiscard]] bool finished(const StudyRun& run) const { return outcomes[run.outcome] == "finished"; }
};

/// Reads the results in `store`, which is the file `path`. Throws StoreError.
[[nodiscard]] StudyResults read_results(const ResultStore& store, const std::string& path);

/// The command that repeats a run, for a shell.
[[nodiscard]] std::string command_of(const StudyResults& results, const StudyRun& run);
/// Words for a shell, quoted where it would take them for something else.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& words);
/// A key's value for people: a text without its quotes.
[[nodiscard]] std::string shown_value(const std::string& value);
/// "l2.slices = 4, dram.channels = 2", and the GPU before them where there are several.
[[nodiscard]] std::string settings_text(const StudyResults& results, const StudyRun& run);

}  // namespace warpline::sweep
