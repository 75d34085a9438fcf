#pragma once

#include <cstddef>
#include <string_view>

#include "platform/cuda/abi/runtime.h"

namespace warpline::cuda {

/// The function that stands for a name that libcuda.so.1 exports, such as "cuMemAlloc_v2" or, for the default
/// stream of each thread, "cuLaunchKernel_ptsz"; null: that is not modelled.
[[nodiscard]] Address driver_function(std::string_view name);
/// One that stands for name `number` of the library, which is not modelled: it says so once on stderr, by
/// name, and returns CUDA_ERROR_NOT_SUPPORTED. Pre: number < driver_names().
[[nodiscard]] Address driver_refusal(std::size_t number);
/// The names that the library exports (CUDA Driver API of 13.0, and interoperation with graphics), in order.
[[nodiscard]] std::size_t driver_names();
[[nodiscard]] std::string_view driver_name_at(std::size_t number);

/// What cuGetProcAddress tells of a name.
enum class EntryPoint : int { found = 0, not_found = 1, too_new = 2 };
/// The function that a name without version means to a program of CUDA `version` (12040 is 12.4): the newest
/// that is no newer. `function` is one that refuses where that is not modelled.
[[nodiscard]] EntryPoint driver_entry_point(std::string_view name, int version, Address& function);

}  // namespace warpline::cuda
