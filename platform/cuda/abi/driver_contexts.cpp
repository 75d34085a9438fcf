#include "platform/cuda/abi/driver_calls.h"

namespace warpline::cuda::driver {
namespace {

/// Versions of contexts that make no difference any more (CUDA Driver API, cuCtxGetApiVersion).
constexpr unsigned kApiVersion = 3020;
/// How the host waits, of which one at most is asked for, and what else may be (CUctx_flags).
constexpr unsigned kWaits = 0x7, kKnownFlags = 0xFF;

bool are_flags(unsigned flags) {
  const unsigned waits = flags & kWaits;
  return (flags & ~kKnownFlags) == 0 && (waits & (waits - 1)) == 0;
}

int create(void** context, unsigned flags, int device) {
  return with_device(device, [&](Machine&) {
    if (context == nullptr || !are_flags(flags)) return Status::invalid_value;
    Context& made = Contexts::instance().create(static_cast<unsigned>(device), flags);
    Contexts::push(made);
    *context = &made;
    return Status::success;
  });
}

int cuCtxCreate_v2(void** context, unsigned flags, int device) {
  return create(context, flags, device);
}

int cuCtxCreate_v3(void** context, void* affinities, int count, unsigned flags, int device) {
  if (affinities != nullptr && count > 0)
    return result(refuse("a context on some of a GPU's SMs (cuCtxCreate_v3) is not modelled"));
  return create(context, flags, device);
}

/// `CUctxCreateParams`.
struct CreateParameters {
  void* affinities;
  std::int32_t affinity_count;
  void* graphics;
};

int cuCtxCreate_v4(void** context, const CreateParameters* parameters, unsigned flags, int device) {
  if (parameters != nullptr && (parameters->affinity_count > 0 || parameters->graphics != nullptr))
    return result(
        refuse("a context on some of a GPU's SMs or for graphics (cuCtxCreate_v4) is not modelled"));
  return create(context, flags, device);
}

int cuCtxDestroy_v2(void* handle) {
  return with_machine([&](Machine& m) {
    Context* const context = Contexts::instance().find(handle);
    if (context == nullptr || context->primary) return Status::device_uninitialized;
    // What a fault has left is of no use to anybody: as on a GPU, what comes next begins anew.
    const Status status =
        m.fault() == Status::success ? m.synchronize(context->device) : m.reset(context->device);
    if (Contexts::current() == context) Contexts::pop();
    Contexts::instance().destroy(handle);
    return status;
  });
}

int cuCtxPushCurrent_v2(void* handle) {
  return with_machine([&](Machine&) {
    Context* const context = Contexts::instance().find(handle);
    if (context == nullptr) return Status::device_uninitialized;
    Contexts::push(*context);
    return Status::success;
  });
}

int cuCtxPopCurrent_v2(void** handle) {
  return with_machine([&](Machine&) {
    Context* const context = Contexts::pop();
    if (context == nullptr) return Status::device_uninitialized;
    if (handle != nullptr) *handle = context;
    return Status::success;
  });
}

int cuCtxSetCurrent(void* handle) {
  return with_machine([&](Machine&) {
    Context* const context = handle == nullptr ? nullptr : Contexts::instance().find(handle);
    if (handle != nullptr && context == nullptr) return Status::device_uninitialized;
    Contexts::set_current(context);
    return Status::success;
  });
}

int cuCtxGetCurrent(void** handle) {
  return with_machine([&](Machine&) {
    if (handle == nullptr) return Status::invalid_value;
    *handle = Contexts::current();
    return Status::success;
  });
}

int cuCtxGetDevice(int* device) {
  return with_context([&](Machine&, Context& context) {
    if (device == nullptr) return Status::invalid_value;
    *device = static_cast<int>(context.device);
    return Status::success;
  });
}

/// Calls `f` with the context of a handle, or the current one for null.
template <class F>
int with_context_of(void* handle, F&& f) {
  if (handle == nullptr) return with_context(f);
  return with_machine([&](Machine& m) {
    Context* const context = Contexts::instance().find(handle);
    return context == nullptr ? Status::device_uninitialized : f(m, *context);
  });
}

int cuCtxGetDevice_v2(int* device, void* handle) {
  return with_context_of(handle, [&](Machine&, Context& context) {
    if (device == nullptr) return Status::invalid_value;
    *device = static_cast<int>(context.device);
    return Status::success;
  });
}

int cuCtxSynchronize() {
  return with_context([](Machine& m, Context& context) { return m.synchronize(context.device); });
}

int cuCtxSynchronize_v2(void* handle) {
  return with_context_of(handle, [](Machine& m, Context& context) { return m.synchronize(context.device); });
}

int cuCtxGetFlags(unsigned* flags) {
  return with_context([&](Machine&, Context& context) {
    if (flags == nullptr) return Status::invalid_value;
    *flags = context.flags;
    return Status::success;
  });
}

int cuCtxSetFlags(unsigned flags) {
  return with_context([&](Machine&, Context& context) {
    if (!are_flags(flags)) return Status::invalid_value;
    context.flags = flags;
    return Status::success;
  });
}

int cuCtxGetId(void* handle, std::uint64_t* id) {
  return with_context_of(handle, [&](Machine&, Context& context) {
    if (id == nullptr) return Status::invalid_value;
    *id = context.id;
    return Status::success;
  });
}

int cuCtxGetApiVersion(void* handle, unsigned* version) {
  return with_context_of(handle, [&](Machine&, Context&) {
    if (version == nullptr) return Status::invalid_value;
    *version = kApiVersion;
    return Status::success;
  });
}

int cuCtxGetCacheConfig(int* preference) {
  return with_context([&](Machine&, Context& context) {
    if (preference == nullptr) return Status::invalid_value;
    *preference = context.cache_preference;
    return Status::success;
  });
}

int cuCtxSetCacheConfig(int preference) {
  return with_context([&](Machine&, Context& context) {
    if (preference < 0 || preference > 3) return Status::invalid_value;
    context.cache_preference = preference;
    return Status::success;
  });
}

int cuCtxGetSharedMemConfig(int* bank_size) {
  return with_context([&](Machine&, Context& context) {
    if (bank_size == nullptr) return Status::invalid_value;
    *bank_size = context.bank_size;
    return Status::success;
  });
}

int cuCtxSetSharedMemConfig(int bank_size) {
  return with_context([&](Machine&, Context& context) {
    if (bank_size < 0 || bank_size > 2) return Status::invalid_value;
    context.bank_size = bank_size;  // of no effect since Kepler
    return Status::success;
  });
}

int cuCtxGetLimit(std::size_t* value, int limit) {
  return with_context([&](Machine& m, Context&) {
    if (value == nullptr) return Status::invalid_value;
    const std::optional<std::uint64_t> known = m.limit(limit);
    if (!known) return Status::unsupported_limit;
    *value = *known;
    return Status::success;
  });
}

int cuCtxSetLimit(int limit, std::size_t value) {
  return with_context([&](Machine& m, Context&) { return m.set_limit(limit, value); });
}

int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return with_context([&](Machine&, Context&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return Status::success;
  });
}

int cuCtxResetPersistingL2Cache() {
  return with_context([](Machine&, Context&) { return Status::success; });
}

int cuDevicePrimaryCtxRetain(void** handle, int device) {
  return with_device(device, [&](Machine&) {
    if (handle == nullptr) return Status::invalid_value;
    Context& context = Contexts::instance().primary(static_cast<unsigned>(device));
    ++context.retained;
    *handle = &context;
    return Status::success;
  });
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  return with_device(device, [&](Machine&) {
    Context& context = Contexts::instance().primary(static_cast<unsigned>(device));
    if (context.retained == 0) return Status::device_uninitialized;
    --context.retained;
    return Status::success;
  });
}

int cuDevicePrimaryCtxReset_v2(int device) {
  return with_device(device, [device](Machine& m) { return m.reset(static_cast<unsigned>(device)); });
}

int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  return with_device(device, [&](Machine&) {
    if (!are_flags(flags)) return Status::invalid_value;
    Contexts::instance().primary(static_cast<unsigned>(device)).flags = flags;
    return Status::success;
  });
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return with_device(device, [&](Machine&) {
    if (flags == nullptr || active == nullptr) return Status::invalid_value;
    const Context& context = Contexts::instance().primary(static_cast<unsigned>(device));
    *flags = context.flags;
    *active = context.retained != 0 || Contexts::current() == &context ? 1 : 0;
    return Status::success;
  });
}

// ---- Peers

int cuCtxEnablePeerAccess(void* handle, unsigned flags) {
  return with_context([&](Machine& m, Context& context) {
    if (flags != 0) return Status::invalid_value;
    const Context* const peer = Contexts::instance().find(handle);
    if (peer == nullptr || peer == &context) return Status::device_uninitialized;
    return m.enable_peer(context.device, peer->device);
  });
}

int cuCtxDisablePeerAccess(void* handle) {
  return with_context([&](Machine& m, Context& context) {
    const Context* const peer = Contexts::instance().find(handle);
    return peer == nullptr ? Status::device_uninitialized : m.disable_peer(context.device, peer->device);
  });
}

}  // namespace

void add_contexts(Functions& f) {
  f.add("cuCtxCreate", &cuCtxCreate_v2);
  WARPLINE_ADD(f, cuCtxCreate_v2);
  WARPLINE_ADD(f, cuCtxCreate_v3);
  WARPLINE_ADD(f, cuCtxCreate_v4);
  f.add("cuCtxDestroy", &cuCtxDestroy_v2);
  WARPLINE_ADD(f, cuCtxDestroy_v2);
  f.add("cuCtxPushCurrent", &cuCtxPushCurrent_v2);
  WARPLINE_ADD(f, cuCtxPushCurrent_v2);
  f.add("cuCtxPopCurrent", &cuCtxPopCurrent_v2);
  WARPLINE_ADD(f, cuCtxPopCurrent_v2);
  WARPLINE_ADD(f, cuCtxSetCurrent);
  WARPLINE_ADD(f, cuCtxGetCurrent);
  WARPLINE_ADD(f, cuCtxGetDevice);
  WARPLINE_ADD(f, cuCtxGetDevice_v2);
  WARPLINE_ADD(f, cuCtxSynchronize);
  WARPLINE_ADD(f, cuCtxSynchronize_v2);
  WARPLINE_ADD(f, cuCtxGetFlags);
  WARPLINE_ADD(f, cuCtxSetFlags);
  WARPLINE_ADD(f, cuCtxGetId);
  WARPLINE_ADD(f, cuCtxGetApiVersion);
  WARPLINE_ADD(f, cuCtxGetCacheConfig);
  WARPLINE_ADD(f, cuCtxSetCacheConfig);
  WARPLINE_ADD(f, cuCtxGetSharedMemConfig);
  WARPLINE_ADD(f, cuCtxSetSharedMemConfig);
  WARPLINE_ADD(f, cuCtxGetLimit);
  WARPLINE_ADD(f, cuCtxSetLimit);
  WARPLINE_ADD(f, cuCtxGetStreamPriorityRange);
  WARPLINE_ADD(f, cuCtxResetPersistingL2Cache);
  WARPLINE_ADD(f, cuDevicePrimaryCtxRetain);
  f.add("cuDevicePrimaryCtxRelease", &cuDevicePrimaryCtxRelease_v2);
  WARPLINE_ADD(f, cuDevicePrimaryCtxRelease_v2);
  f.add("cuDevicePrimaryCtxReset", &cuDevicePrimaryCtxReset_v2);
  WARPLINE_ADD(f, cuDevicePrimaryCtxReset_v2);
  f.add("cuDevicePrimaryCtxSetFlags", &cuDevicePrimaryCtxSetFlags_v2);
  WARPLINE_ADD(f, cuDevicePrimaryCtxSetFlags_v2);
  WARPLINE_ADD(f, cuDevicePrimaryCtxGetState);
  WARPLINE_ADD(f, cuCtxEnablePeerAccess);
  WARPLINE_ADD(f, cuCtxDisablePeerAccess);
}

}  // namespace warpline::cuda::driver
