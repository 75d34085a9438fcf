#pragma once

#include "platform/launch/loaded_file.h"

namespace warpline {

/// A program that says itself how it is to be launched (`.wls`), as a launch file with one launch.
[[nodiscard]] Result<LoadedFile> load_program(const std::string& path);

/// Parses a module's text: SASS-style if its path ends in `.wls`, else PTX.
[[nodiscard]] Result<std::unique_ptr<programs::Module>> parse_module(const std::string& text,
                                                                     const std::string& path);

}  // namespace warpline
