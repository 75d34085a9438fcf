#pragma once

#include <optional>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline::ptx {

/// One memory instruction by itself.
struct SingleInstruction {
  std::optional<MemOp> op;  ///< nothing: it computes or waits, and asks no cache for anything
};

/// Reads `text` as one memory instruction of the latest PTX version and target; its semicolon may be missing.
/// Registers that it names without declaring them ("d", "a") are taken to be of the kind that fits. All
/// faults at once: what the assembler refuses, and what is not modelled.
[[nodiscard]] Result<SingleInstruction> read_single(std::string text);

}  // namespace warpline::ptx
