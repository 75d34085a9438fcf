#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "rtl_models/base/text.h"

namespace warpline {

/// Of options with a number: the library reads "-3" as a huge unsigned number, and 2^64 as 2^64-1; we do not.
inline const CLI::Validator kWholeNumber(
    [](std::string& text) {
      std::uint64_t number = 0;
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, number);
      if (stop == end && error == std::errc{}) return std::string{};
      return "\"" + text +
             (error == std::errc::result_out_of_range ? "\" is 2^64 or more" : "\" is no whole number");
    },
    "");

inline void add_threads(CLI::App& command, unsigned& threads) {
  command
      .add_option("--threads", threads, "threads of the host that run what is timed; results are the same")
      ->check(CLI::Validator(
          [](std::string& text) {
            const auto number = number_from<unsigned>(text);
            if (number && *number != 0 && *number <= kMostThreads) return std::string{};
            return "\"" + text + "\" is no whole number from 1 to " + std::to_string(kMostThreads);
          },
          ""))
      ->capture_default_str();
}

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
  /// `text`: unless null, becomes what was read where the GPU is a file.
  [[nodiscard]] Result<GpuConfig> load(std::string* text = nullptr) const {
    return load_gpu(name, sets, text);
  }
};

}  // namespace warpline
