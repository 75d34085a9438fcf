#pragma once

#include <cstdint>

#include "platform/config/gpu_config.h"

namespace warpline::cuda {

/// What a block of a kernel takes of an SM.
struct BlockNeeds {
  unsigned threads = 1;
  std::uint64_t shared_bytes = 0;  ///< static and dynamic
  unsigned registers = 0;          ///< of each thread; 0: not known, and they limit nothing
};

/// How many such blocks an SM has at once, by its warp slots, CTA slots, shared memory and registers; 0: not
/// one.
[[nodiscard]] unsigned blocks_per_sm(const GpuConfig& config, const BlockNeeds& needs);
/// Bytes in whole multiples of which an SM hands out shared memory (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
[[nodiscard]] std::uint32_t shared_unit(const GpuConfig& config);
/// Shared memory that each of `blocks` blocks on one SM may have, bytes.
[[nodiscard]] std::uint64_t shared_per_block(const GpuConfig& config, unsigned blocks);
/// The registers of a thread with which an SM is full of threads: a kernel of which no number is known is
/// taken to need no more.
[[nodiscard]] unsigned unlimiting_registers(const GpuConfig& config);

}  // namespace warpline::cuda
