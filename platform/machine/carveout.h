#pragma once

#include <cstdint>

#include "platform/config/gpu_config.h"
#include "rtl_models/sm/kernel_info.h"

namespace warpline {

/// What a kernel leaves of an SM's storage to L1 (CUDA C++ Programming Guide, "Shared Memory" of compute
/// capabilities 7.x to 9.0; CUDA Runtime API, cudaFuncAttributePreferredSharedMemoryCarveout). Where
/// L1LgParameters::carveouts names none, shared memory takes nothing of it.
struct Carveout {
  std::uint64_t shared_bytes = 0;  ///< of L1's storage, for shared memory
  unsigned ctas = 0;               ///< that an SM holds at once: no more than have room there
};

/// `ctas`: what an SM would hold of it, were there shared memory enough. A kernel that prefers nothing gets
/// the least with which as many run; one that does the least that is as much as it prefers, and holds a CTA.
/// Of compute capability 8.0 and on the system has 1 KiB of each CTA's.
[[nodiscard]] Carveout carveout_for(const GpuConfig& config, const KernelInfo& info, unsigned ctas);

}  // namespace warpline
