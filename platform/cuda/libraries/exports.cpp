#include <cstdio>
#include <cstdlib>
#include <cstring>
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

/// A variable in the environment that the loader hands over; null: it has none.
char** find(char** environment, const std::string& name) {
  for (; *environment != nullptr; ++environment)
    if (std::strncmp(*environment, (name + "=").c_str(), name.size() + 1) == 0) return environment;
  return nullptr;
}

void remove(char** entry) {
  for (; *entry != nullptr; ++entry) *entry = entry[1];
}

/// Gives a variable the value that it had before the launcher's, which is kept in another.
void restore(char** environment, const std::string& name, const std::string& before) {
  char** const kept = find(environment, before);
  if (kept == nullptr) return;
  const std::string value = *kept + before.size() + 1;
  if (char** const entry = find(environment, name); entry != nullptr) {
    if (value.empty()) {
      remove(entry);
    } else {
      *entry = strdup((name + "=" + value).c_str());  // as long as the process
    }
  }
  remove(find(environment, before));
}

/// Before constructors of the program and of its libraries register their kernels: the library is initialised
/// first of all (-z initfirst), before libc takes the environment over.
__attribute__((constructor(102))) void begin(int, char**, char** environment) {
  namespace names = warpline::cuda::environment;
  if (find(environment, names::kPreloadBefore) == nullptr) return;
  warpline::cuda::lead_static_runtimes();
  // Our libraries were meant for this program, and not for those that it starts.
  if (find(environment, names::kChildren) != nullptr) return;
  restore(environment, "LD_PRELOAD", names::kPreloadBefore);
  restore(environment, "LD_LIBRARY_PATH", names::kPathBefore);
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
