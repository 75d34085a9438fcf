#pragma once

#include <memory>
#include <vector>

#include "platform/programs/wls/program.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::wls {

/// One launch of a program, as all SMs share it.
struct LaunchedProgram {
  const Program* program = nullptr;
  KernelInfo info;
  std::vector<Op> ops;               ///< the program's, addresses filled in
  Inspection* inspection = nullptr;  ///< gets the registers that the first CTA leaves
};

/// What runs the warps of a program that are resident on one SM. Pre: `launch` outlives it.
[[nodiscard]] std::unique_ptr<InstructionSource> make_source(const LaunchedProgram& launch, unsigned sm,
                                                             unsigned slots);

}  // namespace warpline::wls
