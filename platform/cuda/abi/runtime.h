#pragma once

#include <cstddef>
#include <string_view>

namespace warpline::cuda {

using Address = void (*)();

/// The newest toolkit whose runtime library is stood in for; the oldest is 11.
inline constexpr unsigned kNewest = 13;

/// The function that stands for a name of CUDA's runtime library, such as "cudaMalloc" or, for the default
/// stream of each thread, "cudaMemcpyAsync_ptsz", in a program of a toolkit; null: that is not modelled.
[[nodiscard]] Address runtime_function(std::string_view name, unsigned toolkit = kNewest);
/// One that stands for name `number` of the library, which is not modelled: it says so once on stderr, by
/// name, and returns cudaErrorNotSupported. Pre: number < runtime_names().
[[nodiscard]] Address refusal(std::size_t number);
/// The names that the libraries export: those of toolkit 13 as they are (newest_names() of them), in order,
/// then those that only older ones have, of which there may be more than any of them has.
[[nodiscard]] std::size_t runtime_names();
[[nodiscard]] std::size_t newest_names();
[[nodiscard]] std::string_view runtime_name_at(std::size_t number);

}  // namespace warpline::cuda
