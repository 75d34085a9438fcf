#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/sweep/condition.h"
#include "rtl_models/base/problem.h"

namespace warpline::sweep {

/// Keys that a study varies together, and the steps that they take.
struct Axis {
  std::vector<std::string> keys;                ///< of the GPU's configuration
  std::vector<std::vector<std::string>> steps;  ///< of each, a value for every key, as --set takes it
};

/// What a study runs.
struct Workload {
  std::string name;
  bool program = false;              ///< for `warpline exec`; else for `warpline run`
  std::vector<std::string> words;    ///< inputs of a run, or a program with its arguments
  std::vector<std::string> options;  ///< of the command, but for what the study sets itself
};

/// Which points of the space a study looks at.
enum class Design : std::uint8_t {
  grid,           ///< all
  latin,          ///< so many, each axis evenly covered (a Latin hypercube)
  one_at_a_time,  ///< the first step of all axes, and every step of each with the others at their first
};

/// A design-space study, as a file of TOML describes it (docs/studies.md).
struct Study {
  std::string file, name;
  std::string text;  ///< the file's
  std::vector<std::string> gpus;
  std::vector<Axis> axes;
  std::vector<Condition> require, exclude;
  std::vector<Workload> workloads;
  std::vector<std::string> metrics;  ///< paths of counters, and names of columns of `runs`, for tables
  Design design = Design::grid;
  std::size_t points = 0;               ///< of Design::latin
  std::uint64_t seed = 1;               ///< of Design::latin
  std::optional<double> limit_s;        ///< a run that takes longer is ended
  bool instances = true;                ///< counters of each block are kept, and not the totals alone
  bool profile = false;                 ///< what warps do and wait for, line by line, is kept of each run
  std::optional<std::uint64_t> sample;  ///< figures over time are kept of each run, of every so many cycles
  std::vector<std::string> figures;     ///< of `sample`; empty: those that `--series` has unless told
};

/// An option of `warpline run` or `exec` that a study says itself to every run, or that only says where what
/// was counted goes.
struct OwnOption {
  const char* name;
  bool takes_value;  ///< in its own word, or behind "="
};
/// The one called `word`, without a value; null: it is none of them.
[[nodiscard]] const OwnOption* own_option(const std::string& word);

/// The names that conditions may use: keys of GPUs, `gpu` and `workload`.
[[nodiscard]] std::vector<std::string> condition_names();

/// Reads a study; every fault at once, where it stands. Paths in it are seen from its folder.
[[nodiscard]] Result<Study> read_study(const std::string& path);

}  // namespace warpline::sweep
