#pragma once

#include <cstdint>
#include <vector>

#include "platform/config/gpu_config.h"

namespace warpline::cuda {

/// The bytes of `cudaDeviceProp` as programs of a toolkit lay them out: 1008 of version 13, 1032 of 12, 712
/// of 11. `ordinal`: what the GPU is called outside of the program. That of 13 was compared with the
/// toolkit's own header; those of 12 and 11 are after public descriptions.
[[nodiscard]] std::vector<std::uint8_t> device_properties(const GpuConfig& config, unsigned ordinal,
                                                          unsigned toolkit);

}  // namespace warpline::cuda
