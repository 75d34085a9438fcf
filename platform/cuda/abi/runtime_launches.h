#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "platform/cuda/abi/runtime_types.h"
#include "platform/cuda/operation.h"

namespace warpline::cuda::runtime {

/// Lays out a kernel's parameters.
using Parameters = std::function<std::vector<std::uint8_t>(const programs::Entry&)>;
/// `arguments` lead to them one by one.
[[nodiscard]] Parameters laid_out(void** arguments);
/// `extra` leads to all of them as they are laid out (CUDA Driver API, "cuLaunchKernel").
[[nodiscard]] Parameters laid_out_whole(void** extra);
[[nodiscard]] GridShape shape_of(const AbiDim3& grid, const AbiDim3& block, std::size_t shared_bytes);

}  // namespace warpline::cuda::runtime
