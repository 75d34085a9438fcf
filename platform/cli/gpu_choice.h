#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "platform/config/load_gpu.h"

namespace warpline {

/// The GPU that a command is about.
struct GpuChoice {
  std::string name = "mini";      ///< a preset or a TOML file
  std::vector<std::string> sets;  ///< --set, as written

  void add_gpu(CLI::App& command) {
    command.add_option("--gpu", name, "preset or TOML file")->capture_default_str();
  }
  void add_set(CLI::App& command, const char* meaning = "key.path=value; may be repeated") {
    command.add_option("--set", sets, meaning)->allow_extra_args(false);
  }
  /// Both, where the GPU is to run something.
  void add_options(CLI::App& command) {
    add_gpu(command);
    add_set(command, "key.path=value changes the GPU; may be repeated");
  }
  [[nodiscard]] Result<GpuConfig> load() const { return load_gpu(name, overrides_of(sets)); }
};

}  // namespace warpline
