#pragma once

#include <memory>

#include "rtl_models/sm/input_error.h"
#include "rtl_models/sm/kernel_info.h"

namespace warpline {

class InstructionSource;

/// One launch of one program: CTAs are numbered x first, then y, then z.
class Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual const KernelInfo& info() const = 0;
  /// The program as SM `sm` runs it, with `slots` warp slots. The kernel outlives it.
  [[nodiscard]] virtual std::unique_ptr<InstructionSource> make_source(unsigned sm, unsigned slots) = 0;
};

}  // namespace warpline
