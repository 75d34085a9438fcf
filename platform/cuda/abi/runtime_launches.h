#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "platform/cuda/abi/runtime_types.h"
#include "platform/cuda/operation.h"

namespace warpline::cuda::runtime {

/// Lays out a kernel's parameters; nothing: they are none for it.
using Parameters = std::function<std::optional<std::vector<std::uint8_t>>(const programs::Entry&)>;
constexpr std::size_t kMostParameterBytes = 32764;  // of a kernel
/// What values of `extra` are, by the numbers before them.
enum : std::uintptr_t { kBlockEnd = 0, kBlockPointer = 1, kBlockSize = 2 };
/// `arguments` lead to them one by one.
[[nodiscard]] Parameters laid_out(void** arguments);
/// `extra` leads to all of them as they are laid out (CUDA Driver API, "cuLaunchKernel"):
/// pairs of a number that says what a value is, and the value.
[[nodiscard]] Parameters laid_out_whole(void** extra);
[[nodiscard]] GridShape shape_of(const AbiDim3& grid, const AbiDim3& block, std::size_t shared_bytes);

}  // namespace warpline::cuda::runtime
