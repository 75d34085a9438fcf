#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/launch/launch_file.h"
#include "platform/programs/module.h"

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
  std::string trace;      ///< path of a trace; empty: a launch
  unsigned made_for = 0;  ///< of a trace: the compute capability that its code is for, times ten; 0: not said
};

}  // namespace warpline
