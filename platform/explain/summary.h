#pragma once

#include <string>

#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// One line: strength, kind, scope, size and space of an instruction.
[[nodiscard]] std::string summary_of(const MemOp& op);

}  // namespace warpline
