#pragma once

#include <cstddef>
#include <string_view>

namespace warpline::cuda {

using Address = void (*)();

/// The function that stands for a name of CUDA's runtime library, such as "cudaMalloc" or, for the default
/// stream of each thread, "cudaMemcpyAsync_ptsz"; null: that is not modelled.
[[nodiscard]] Address runtime_function(std::string_view name);
/// One that stands for name `number` of the library, which is not modelled: it says so once on stderr, by
/// name, and returns cudaErrorNotSupported. Pre: number < runtime_names().
[[nodiscard]] Address refusal(std::size_t number);
/// The names that the library exports (CUDA Runtime API of 13.0), in order.
[[nodiscard]] std::size_t runtime_names();
[[nodiscard]] std::string_view runtime_name_at(std::size_t number);

}  // namespace warpline::cuda
