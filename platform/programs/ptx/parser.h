#pragma once

#include <string_view>

#include "warpline/programs/ptx/syntax.h"

namespace warpline::ptx {

/// Reads the declarations and statements of a module. Syntax faults go to `faults`; what could be
/// read in spite of them is returned, so that one run finds them all. Names inside statements
/// are resolved later.
[[nodiscard]] ModuleDecl parse_module(std::string_view text, FaultList& faults);

}  // namespace warpline::ptx
