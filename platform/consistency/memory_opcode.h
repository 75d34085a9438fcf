#pragma once

#include <optional>

#include "platform/consistency/lexer.h"
#include "platform/consistency/test.h"

namespace warpline::litmus {

/// The access, fence or cache control that `opcode` says, its operands aside: a MemOp, and in `i` the kind of
/// instruction and whether an atomic subtracts. Nothing where PTX has no such operation, with a fault.
[[nodiscard]] std::optional<MemOp> operation_of(const Token& opcode, Instruction& i, FaultList& faults);

}  // namespace warpline::litmus
