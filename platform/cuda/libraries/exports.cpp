#include "platform/cuda/abi/runtime.h"

/// For the libraries that are called libcudart.so: fills a table with the functions that stand for the names
/// that they export, in order of the names.
extern "C" __attribute__((visibility("default"))) void warpline_cuda_runtime(void** table) {
  for (std::size_t n = 0; n < warpline::cuda::runtime_names(); ++n) {
    warpline::cuda::Address function = warpline::cuda::runtime_function(warpline::cuda::runtime_name_at(n));
    if (function == nullptr) function = warpline::cuda::refusal(n);
    table[n] = reinterpret_cast<void*>(function);
  }
}
