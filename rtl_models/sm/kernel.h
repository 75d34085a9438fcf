#pragma once

#include <memory>

#include "rtl_models/base/visibility.h"
#include "rtl_models/sm/input_error.h"
#include "rtl_models/sm/kernel_info.h"

namespace warpline {

class InstructionSource;

/// The SM on which a program runs.
struct WARPLINE_PUBLIC SmSite {
  unsigned number = 0;  ///< of the SM in its GPU
  unsigned slots = 1;   ///< warps that it holds at once
  unsigned mhz = 1000;  ///< of its clock, which is what Issue::clock counts
};

/// One launch of one program: CTAs are numbered x first, then y, then z.
class WARPLINE_PUBLIC Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual const KernelInfo& info() const = 0;
  /// The program as the SM `site` runs it. The kernel outlives it.
  [[nodiscard]] virtual std::unique_ptr<InstructionSource> make_source(const SmSite& site) = 0;
};

}  // namespace warpline
