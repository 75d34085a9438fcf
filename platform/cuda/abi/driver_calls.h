#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/cuda/abi/driver.h"
#include "platform/cuda/abi/driver_types.h"
#include "platform/cuda/abi/runtime_calls.h"
#include "platform/cuda/contexts.h"

// What the functions of the driver API have in common. They are as programs call them: names and parameters
// are those of the CUDA Driver API, which documents them. Each file has those of some chapters, and adds them
// to the table by which the library's names lead to them.
namespace warpline::cuda::driver {

using runtime::Functions;

void add_devices(Functions& functions);
void add_contexts(Functions& functions);
void add_modules(Functions& functions);
void add_kernels(Functions& functions);
void add_memory(Functions& functions);
void add_copies(Functions& functions);
void add_arrays(Functions& functions);
void add_virtual_memory(Functions& functions);
void add_streams(Functions& functions);
void add_tensor_maps(Functions& functions);
void add_graphs(Functions& functions);
void add_shared(Functions& functions);
void add_entry_points(Functions& functions);

/// Whether cuInit was called.
[[nodiscard]] bool is_initialised();
void set_initialised();
/// Says once on stderr that something is not modelled, and returns that.
Status refuse(const std::string& what);

/// What a copy of slices asks for.
Status request_of(Machine& m, const Copy3d& c, CopyRequest& request);

inline int result(Status status) {
  return static_cast<int>(status);
}

/// The machine; null: the API was not initialised, or there is none.
inline Machine* machine(Status& status) {
  status = Status::initialization_error;
  if (!is_initialised() && !this_thread().uses_runtime) return nullptr;
  Machine* const machine = Process::instance().machine();
  status = machine == nullptr ? Process::instance().why_no_machine() : Status::success;
  return machine;
}

/// Calls `f` with the machine.
template <class F>
int with_machine(F&& f) {
  Status status{};
  Machine* const m = machine(status);
  return result(m == nullptr ? status : f(*m));
}

/// Calls `f` with the machine, if it has that GPU.
template <class F>
int with_device(int device, F&& f) {
  return with_machine([&](Machine& m) {
    return device < 0 || static_cast<unsigned>(device) >= m.devices() ? Status::invalid_device : f(m);
  });
}

/// Calls `f` with the machine and the current context.
template <class F>
int with_context(F&& f) {
  return with_machine([&](Machine& m) {
    Context* const context = Contexts::current();
    if (context == nullptr) return Status::device_uninitialized;  // CUDA_ERROR_INVALID_CONTEXT
    if (Contexts::instance().find(context) == nullptr) return Status::context_is_destroyed;
    return f(m, *context);
  });
}

/// Calls `f` with the machine and a stream of the current context, or one of any.
template <class F>
int with_stream(void* handle, F&& f) {
  return with_context([&](Machine& m, Context&) {
    Stream* const stream = runtime::stream_of(m, handle);
    return stream == nullptr ? Status::invalid_resource_handle : f(m, *stream);
  });
}

}  // namespace warpline::cuda::driver
