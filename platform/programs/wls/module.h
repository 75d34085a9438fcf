#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "platform/programs/module.h"
#include "rtl_models/base/visibility.h"

namespace warpline::wls {

/// Where a program's text says how it is to be launched; a launch file says so itself.
struct WARPLINE_PUBLIC DirectLaunch {
  Dim3 grid{1, 1, 1};
  Dim3 block{32, 1, 1};
  unsigned grid_line = 0, block_line = 0;  ///< of the text; 0: not stated
};

/// A module read from a `.wls` text, and how to launch it without a launch file.
struct WARPLINE_PUBLIC ParsedModule {
  std::unique_ptr<programs::Module> module;
  DirectLaunch direct;
};

/// Parses a SASS-style memory program (its format: sw/examples/wls/README.md); `file` names it in
/// diagnostics. All faults at once.
WARPLINE_PUBLIC [[nodiscard]] Result<ParsedModule> parse(std::string_view text, const std::string& file);

}  // namespace warpline::wls
