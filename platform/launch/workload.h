#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/launch/launch_file.h"
#include "platform/programs/module.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// A [[symbol]] and the module variable that it means.
struct ResolvedSymbol {
  std::size_t module = 0;
  const programs::Variable* variable = nullptr;
  DataType type = DataType::none;
  std::uint64_t count = 0;
  std::optional<InitialContent> initial;
  std::optional<Expectation> expect;
};

/// A launch file with its modules parsed.
struct LoadedFile {
  LaunchFile file;
  std::vector<std::unique_ptr<programs::Module>> modules;  ///< as LaunchFile::modules
  std::vector<ResolvedSymbol> symbols;                     ///< as LaunchFile::symbols
};

/// One grid to run, in order: a launch of a file, or a trace.
struct Step {
  std::string input;     ///< the INPUT it came from
  std::size_t file = 0;  ///< of a launch
  std::size_t launch = 0;
  std::string trace;  ///< path of a trace; empty: a launch
};

/// Everything that a run will do, read and checked as far as it can be without a GPU. All inputs
/// run on one GPU, one after the other, as dependent grids.
struct Workload {
  std::vector<std::string> inputs;
  std::vector<LoadedFile> files;
  std::vector<Step> steps;
  bool without_data = false;  ///< traces and generators carry none
  std::vector<std::string> warnings;
};

/// Reads launch files (.toml), programs (.wls), trace lists (.g) and kernel traces. Every fault of every
/// input at once. Programs with data and programs without do not mix, unless `tags_only` gives up all data.
[[nodiscard]] Result<Workload> read_workload(const std::vector<std::string>& inputs, bool tags_only);

}  // namespace warpline
