#pragma once

#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// What one memory instruction does, in words.
struct Explanation {
  /// What happens in one place, in the order in which the access meets them.
  struct Effect {
    std::string place;  ///< "SM", "L1 local/global", "texture/.nc", "constant", "L2", "memory", "order"
    std::string text;
  };
  std::string summary;  ///< "weak load of 4 x u32 (16 bytes) per lane from global memory"
  std::vector<Effect> effects;
  std::vector<std::string> sass;   ///< what NVIDIA's assembler makes of it, opcode by opcode, in order
  std::vector<std::string> notes;  ///< where the assembler drops or adds something against the PTX document,
                                   ///< which the model follows
};

/// What `op` does on `gpu`: the rules that the model follows, with the sizes of this GPU's caches.
[[nodiscard]] Explanation explain(const MemOp& op, const GpuConfig& gpu);

}  // namespace warpline
