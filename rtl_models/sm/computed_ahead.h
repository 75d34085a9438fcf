#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/instruction.h"

namespace warpline {

/// What a warp has computed ahead and is yet to issue, in order: instructions of kind `alu` that do not read
/// the time.
struct ComputedAhead {
  struct Step {
    std::uint32_t number = 0;  ///< of the instruction among `instructions`
    LaneMask active = 0;       ///< lanes that executed it
  };
  const Instruction* instructions = nullptr;
  const Step* next = nullptr;
  const Step* end = nullptr;
  [[nodiscard]] bool any() const { return next != end; }
  /// Pre: any().
  [[nodiscard]] const Instruction& instruction() const { return instructions[next->number]; }
};

}  // namespace warpline
