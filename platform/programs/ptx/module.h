#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "platform/programs/module.h"
#include "rtl_models/base/problem.h"

namespace warpline::ptx {

using programs::Module;  // what users hold of a parsed text

/// Parses PTX; `file` names it in diagnostics. Everything that cannot run is found here, before the run:
/// syntax, unknown opcodes, qualifiers that are not modelled (`refusal`), undefined names, operand types. All
/// faults at once.
[[nodiscard]] Result<std::unique_ptr<programs::Module>> parse(std::string_view text, const std::string& file);

}  // namespace warpline::ptx
