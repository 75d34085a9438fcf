#pragma once

#include <optional>

#include "platform/config/gpu_config.h"

namespace warpline::cuda {

/// What CUDA calls an attribute of a device (CUDA Runtime API, "cudaDeviceAttr"), by its number; nothing: it
/// has no such attribute. Sizes, clocks and counts are the configuration's; limits of grids and blocks are
/// those of its compute capability (CUDA C++ Programming Guide, "Compute Capabilities").
[[nodiscard]] std::optional<int> device_attribute(const GpuConfig& config, int attribute);
/// Likewise of one of several GPUs, which are alike but for where they are: each has a PCI bus of its own.
[[nodiscard]] std::optional<int> device_attribute(const GpuConfig& config, unsigned ordinal, int attribute);
/// Shared memory of a block without asking for more, bytes.
inline constexpr int kSharedPerBlock = 48 << 10;

}  // namespace warpline::cuda
