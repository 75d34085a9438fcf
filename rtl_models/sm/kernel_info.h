#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sm/sm_parameters.h"

namespace warpline {

/// The clusters of a grid.
struct WARPLINE_PUBLIC ClusterShape {
  Dim3 size;                  ///< CTAs of each; 1 x 1 x 1: there are none
  bool given = false;         ///< whether the launch or the kernel says so, even where it is 1 x 1 x 1
  bool non_portable = false;  ///< whether more CTAs may be in one than every GPU with clusters takes
};

/// What the hardware must know of a kernel to run its CTAs.
struct WARPLINE_PUBLIC KernelInfo {
  std::string name;
  Dim3 grid;
  Dim3 block;  ///< 1 to 1024 threads
  ClusterShape cluster;
  std::uint32_t registers = 0;     ///< register numbers lie in [0, registers)
  std::uint32_t shared_bytes = 0;  ///< per CTA, static and dynamic
  std::uint32_t local_bytes = 0;   ///< per thread, a multiple of 4
  bool cooperative = false;        ///< all CTAs of the grid are to be resident at once
  /// Hardware registers that each thread begins with, of a kernel that moves them between its warps
  /// (`setmaxnreg`); 0: it does not, and they limit nothing.
  std::uint32_t thread_registers = 0;
  /// The part of its most that shared memory is to take of L1's storage, percent, at least
  /// (cudaFuncAttributePreferredSharedMemoryCarveout); nothing: what does not lower occupancy.
  std::optional<unsigned> carveout;
  /// Hardware registers that each thread holds, of any kernel: they limit how many CTAs are resident, though
  /// one always is, as the number may be an estimate; 0: nothing is known of them.
  std::uint32_t held_registers = 0;
  bool calls = false;       ///< uses the call-return stack
  bool sees_stack = false;  ///< may access the stack's backing store, behind its local memory
  /// Bytes of its code, in which Instruction::pc counts; 0: no code lies in memory, and nothing is fetched.
  std::uint64_t code_bytes = 0;
  std::string code_name;                 ///< kernels whose code has equal names and sizes share it
  bool carries_data = true;              ///< false: addresses only, memory holds no bytes
  std::vector<std::uint8_t> parameters;  ///< the parameter block, as constant bank 0 gets it
  /// Local memory per thread, the backing store of the call-return stack included, bytes.
  [[nodiscard]] std::uint32_t local_window_bytes(const SmParameters& sm) const {
    return local_bytes + (calls ? sm.stack_bytes_per_thread() : 0);
  }
  [[nodiscard]] unsigned threads_per_cta() const { return static_cast<unsigned>(block.count()); }
  [[nodiscard]] unsigned warps_per_cta() const { return (threads_per_cta() + kWarpLanes - 1) / kWarpLanes; }
};

}  // namespace warpline
