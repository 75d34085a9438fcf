#pragma once

#include <string_view>

#include "platform/programs/wls/lexer.h"
#include "platform/programs/wls/program.h"

namespace warpline::wls {

/// Reads one program. Faults go to the list, one for each statement at most; with any the program is not fit
/// to run.
[[nodiscard]] Program parse_program(std::string_view text, FaultList& faults);

}  // namespace warpline::wls
