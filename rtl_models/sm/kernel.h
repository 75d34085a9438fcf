#pragma once

#include <cstdint>
#include <memory>
#include <optional>

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

/// How a grid is launched, beside its shape.
struct WARPLINE_PUBLIC LaunchAttributes {
  bool cooperative = false;          ///< all its CTAs are to be resident at once
  std::optional<unsigned> carveout;  ///< KernelInfo::carveout
  std::uint64_t grid_workspace = 0;  ///< of a cooperative grid: where its barrier lies, 8 bytes of zeros
  std::uint64_t grid_number = 1;     ///< `%gridid`
  std::uint32_t shared_unit = 4;     ///< bytes in whole multiples of which CTAs have shared memory
  /// KernelInfo::held_registers, as the assembler reports them; 0: what the program says, or an estimate.
  std::uint32_t registers = 0;
  std::uint32_t stack_bytes = 0;  ///< that a thread of a recursive program wants, if it is more than usual
};

/// One launch of one program: CTAs are numbered x first, then y, then z.
class WARPLINE_PUBLIC Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual const KernelInfo& info() const = 0;
  /// Says how it is launched. Programs that cannot tell take no notice. Pre: no source of it was made.
  virtual void set_attributes(const LaunchAttributes& /*attributes*/) {}
  /// The program as the SM `site` runs it. The kernel outlives it.
  [[nodiscard]] virtual std::unique_ptr<InstructionSource> make_source(const SmSite& site) = 0;
};

}  // namespace warpline
