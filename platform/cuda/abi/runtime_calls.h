#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/cuda/abi/runtime.h"
#include "platform/cuda/abi/runtime_types.h"
#include "platform/cuda/device_properties.h"
#include "platform/cuda/process.h"

// What the functions of the runtime have in common. They are as programs call them: names and parameters are
// those of the CUDA Runtime API, which documents them. Each file has those of one chapter, and adds them to
// the table by which the library's names lead to them.
namespace warpline::cuda::runtime {

/// Functions by name, and by the toolkit that a program was made with: names have changed their meaning.
class Functions {
 public:
  /// `last`: the last toolkit for which it stands for that name.
  template <class F>
  void add(std::string_view name, F* function, unsigned last = kNewest) {
    by_name_[name][last] = reinterpret_cast<Address>(function);
  }
  /// Null: there is none.
  [[nodiscard]] Address find(std::string_view name, unsigned toolkit) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return nullptr;
    const auto fits = found->second.lower_bound(toolkit);
    return fits == found->second.end() ? nullptr : fits->second;
  }

 private:
  std::map<std::string_view, std::map<unsigned, Address>> by_name_;
};
#define WARPLINE_ADD(functions, name) (functions).add(#name, &(name))

void add_devices(Functions& functions);
void add_memory(Functions& functions);
void add_streams(Functions& functions);
void add_kernels(Functions& functions);
void add_pools(Functions& functions);
void add_graphs(Functions& functions);
void add_occupancy(Functions& functions);
void add_older(Functions& functions);
void add_driver(Functions& functions);
void add_arrays(Functions& functions);
void add_textures(Functions& functions);
void add_node_attributes(Functions& functions);
void add_managed(Functions& functions);
void add_batches(Functions& functions);
void add_libraries(Functions& functions);

using Kind = Allocation::Kind;

/// What CUDA calls an error, noted for cudaGetLastError.
inline int noted(Status status) {
  if (status != Status::success && status != Status::not_ready) this_thread().last = status;
  return static_cast<int>(status);
}

inline Machine* machine() {
  this_thread().uses_runtime = true;
  return Process::instance().machine();
}

/// Calls `f` with the machine.
template <class F>
int with_machine(F&& f) {
  Machine* const m = machine();
  return noted(m == nullptr ? Process::instance().why_no_machine() : f(*m));
}

/// Calls `f` with the machine, if it has that GPU.
template <class F>
int with_device(int device, F&& f) {
  return with_machine([&](Machine& m) {
    return device < 0 || static_cast<unsigned>(device) >= m.devices() ? Status::invalid_device : f(m);
  });
}

/// A stream as programs name it: 0 and 1 are the legacy default stream, 2 that of the thread, which is taken
/// for the same. Null: it is none.
inline Stream* stream_of(Machine& m, void* handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return &m.default_stream(this_thread().device);
  return m.is_stream(handle) ? static_cast<Stream*>(handle) : nullptr;
}

/// Calls `f` with the machine and the stream.
template <class F>
int with_stream(void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    Stream* const stream = stream_of(m, handle);
    return stream == nullptr ? Status::invalid_resource_handle : f(m, *stream);
  });
}

inline constexpr int kOfDevice = 1;  ///< type of a `cudaMemLocation`

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// The direction of a copy as programs name it; nothing: none.
inline std::optional<CopyKind> kind_of(int direction) {
  constexpr int kLast = 4;  // by address
  if (direction < 0 || direction > kLast) return std::nullopt;
  return static_cast<CopyKind>(direction);
}

}  // namespace warpline::cuda::runtime
