#include <cstdio>
#include <cstdlib>
#include <string>

#include "platform/cuda/abi/driver.h"
#include "platform/cuda/abi/runtime.h"
#include "platform/cuda/launcher.h"
#include "platform/cuda/libraries/static_runtime.h"

// By this table the names of this library itself lead to functions.
extern "C" void* warpline_driver_table[];

namespace {

/// Before constructors of the program, which may call.
__attribute__((constructor(101))) void fill_driver_table() {
  for (std::size_t n = 0; n < warpline::cuda::driver_names(); ++n) {
    warpline::cuda::Address function = warpline::cuda::driver_function(warpline::cuda::driver_name_at(n));
    if (function == nullptr) function = warpline::cuda::driver_refusal(n);
    warpline_driver_table[n] = reinterpret_cast<void*>(function);
  }
}

/// Gives a variable of the environment the value that it had before the launcher's, which is kept in another.
void restore(const char* name, const char* before) {
  const char* const value = std::getenv(before);
  if (value == nullptr) return;
  if (*value == '\0') {
    unsetenv(name);
  } else {
    setenv(name, std::string(value).c_str(), 1);
  }
  unsetenv(before);
}

/// Our libraries were meant for this program, and not for those that it starts.
void restore_environment() {
  namespace environment = warpline::cuda::environment;
  if (std::getenv(environment::kChildren) != nullptr) return;
  restore("LD_PRELOAD", environment::kPreloadBefore);
  restore("LD_LIBRARY_PATH", environment::kPathBefore);
}

/// Before constructors of the program register its kernels.
__attribute__((constructor(102))) void begin() {
  if (std::getenv(warpline::cuda::environment::kPreloadBefore) == nullptr) return;
  const warpline::cuda::StaticRuntime runtime = warpline::cuda::lead_static_runtime();
  if (runtime.led != runtime.found)
    std::fputs(
        "warpline: the CUDA runtime that is linked into this program cannot be led to ours: link it with "
        "`-cudart shared`\n",
        stderr);
  restore_environment();
}

}  // namespace

/// For the libraries that are called libcudart.so: fills a table with the functions that stand for the names
/// that the one of a toolkit exports, in order of the names.
extern "C" __attribute__((visibility("default"))) void warpline_cuda_runtime(void** table, unsigned toolkit) {
  namespace cuda = warpline::cuda;
  const std::size_t names = toolkit == cuda::kNewest ? cuda::newest_names() : cuda::runtime_names();
  for (std::size_t n = 0; n < names; ++n) {
    cuda::Address function = cuda::runtime_function(cuda::runtime_name_at(n), toolkit);
    if (function == nullptr) function = cuda::refusal(n);
    table[n] = reinterpret_cast<void*>(function);
  }
}
