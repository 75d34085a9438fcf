#pragma once

#include <string>
#include <vector>

#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// The published behaviour that an instruction is lowered to.
struct Lowering {
  std::vector<std::string>
      opcodes;                     ///< in order, modifiers as SASS traces write them; empty: nothing is left
  std::vector<std::string> notes;  ///< what of the PTX is lost or added by it
};

/// What ptxas 13.0 makes of `op` for sm_80 to sm_120, as far as memory is concerned (read off its output).
[[nodiscard]] Lowering lowering_of(const MemOp& op);

}  // namespace warpline
