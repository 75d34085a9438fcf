#include <cstdio>

#include "platform/cuda/abi/device_property_layout.h"
#include "platform/cuda/abi/runtime_calls.h"
#include "platform/cuda/contexts.h"

namespace warpline::cuda::runtime {
namespace {

int cudaGetLastError() {
  const Status last = std::exchange(this_thread().last, Status::success);
  if (last != Status::success) return static_cast<int>(last);
  Machine* const m = machine();
  return static_cast<int>(m == nullptr ? Process::instance().why_no_machine() : m->fault());
}

int cudaPeekAtLastError() {
  const Status last = this_thread().last;
  if (last != Status::success) return static_cast<int>(last);
  Machine* const m = machine();
  return static_cast<int>(m == nullptr ? Process::instance().why_no_machine() : m->fault());
}

const char* cudaGetErrorString(int error) {
  const std::string_view text = description(static_cast<Status>(error));
  return text.empty() ? "unrecognized error code" : text.data();
}

const char* cudaGetErrorName(int error) {
  const std::string_view name = runtime_name(static_cast<Status>(error));
  return name.empty() ? "unrecognized error code" : name.data();
}

int cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;
  return with_machine([&](Machine& m) {
    if (count == nullptr) return Status::invalid_value;
    *count = static_cast<int>(m.devices());
    return Status::success;
  });
}

int cudaSetDevice(int device) {
  return with_device(device, [&](Machine&) {
    Contexts::set_device(static_cast<unsigned>(device));
    return Status::success;
  });
}

int cudaGetDevice(int* device) {
  return with_machine([&](Machine&) {
    if (device == nullptr) return Status::invalid_value;
    *device = static_cast<int>(this_thread().device);
    return Status::success;
  });
}

int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return with_device(device, [&](Machine& m) {
    if (value == nullptr) return Status::invalid_value;
    const std::optional<int> known =
        device_attribute(m.config(), m.ordinal(static_cast<unsigned>(device)), attribute);
    if (!known) return Status::invalid_value;
    *value = *known;
    return Status::success;
  });
}

template <unsigned toolkit>
int properties(void* p, int device) {
  return with_device(device, [&](Machine& m) {
    if (p == nullptr) return Status::invalid_value;
    const std::vector<std::uint8_t> bytes =
        device_properties(m.config(), m.ordinal(static_cast<unsigned>(device)), toolkit);
    std::memcpy(p, bytes.data(), bytes.size());
    return Status::success;
  });
}

int cudaDeviceSynchronize() {
  return with_machine([](Machine& m) { return m.synchronize(this_thread().device); });
}

int cudaDeviceReset() {
  this_thread().last = Status::success;
  return with_machine([](Machine& m) { return m.reset(this_thread().device); });
}

int cudaSetDeviceFlags(unsigned flags) {
  this_thread().device_flags = flags;
  return noted(Status::success);
}

int cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return noted(Status::invalid_value);
  *flags = this_thread().device_flags;
  return noted(Status::success);
}

int cudaInitDevice(int device, unsigned, unsigned) {
  return with_device(device, [](Machine&) { return Status::success; });
}

int cudaSetValidDevices(int* devices, int count) {
  return with_machine([&](Machine& m) {
    if (devices == nullptr) return Status::invalid_value;
    for (int n = 0; n < count; ++n)
      if (devices[n] < 0 || static_cast<unsigned>(devices[n]) >= m.devices()) return Status::invalid_device;
    return Status::success;
  });
}

int cudaChooseDevice(int* device, const void* properties) {
  return with_machine([&](Machine&) {
    if (device == nullptr || properties == nullptr) return Status::invalid_value;
    *device = 0;  // all are alike
    return Status::success;
  });
}

unsigned pci_bus_of(const Machine& m, unsigned device) {
  constexpr int kAttribute = 33;
  return static_cast<unsigned>(device_attribute(m.config(), m.ordinal(device), kAttribute).value_or(0));
}

int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return with_device(device, [&](Machine& m) {
    constexpr int kLength = 13;
    if (text == nullptr || length < kLength) return Status::invalid_value;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0",
                  pci_bus_of(m, static_cast<unsigned>(device)));
    return Status::success;
  });
}

int cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return with_machine([&](Machine& m) {
    unsigned domain = 0, bus = 0, slot = 0;
    if (device == nullptr || text == nullptr) return Status::invalid_value;
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3 &&
        std::sscanf(text, "%x:%x", &bus, &slot) != 2)
      return Status::invalid_value;
    for (unsigned n = 0; n < m.devices() && domain == 0 && slot == 0; ++n)
      if (pci_bus_of(m, n) == bus) {
        *device = static_cast<int>(n);
        return Status::success;
      }
    return Status::invalid_value;
  });
}

int cudaDeviceSetLimit(int limit, std::size_t value) {
  return with_machine([&](Machine& m) { return m.set_limit(limit, value); });
}

int cudaDeviceGetLimit(std::size_t* value, int limit) {
  return with_machine([&](Machine& m) {
    if (value == nullptr) return Status::invalid_value;
    const std::optional<std::uint64_t> known = m.limit(limit);
    if (!known) return Status::unsupported_limit;
    *value = *known;
    return Status::success;
  });
}

// How L1 and shared memory share an SM's memory.
int cudaDeviceSetCacheConfig(int config) {
  return with_machine([config](Machine&) {
    if (config < 0 || config > 3) return Status::invalid_value;
    Contexts::instance().primary(this_thread().device).cache_preference = config;
    return Status::success;
  });
}

int cudaDeviceGetCacheConfig(int* config) {
  return with_machine([config](Machine&) {
    if (config == nullptr) return Status::invalid_value;
    *config = Contexts::instance().primary(this_thread().device).cache_preference;
    return Status::success;
  });
}

int cudaDeviceSetSharedMemConfig(int config) {
  return noted(config >= 0 && config <= 2 ? Status::success : Status::invalid_value);
}

int cudaDeviceGetSharedMemConfig(int* config) {
  if (config == nullptr) return noted(Status::invalid_value);
  *config = 1;  // banks of four bytes
  return noted(Status::success);
}

int cudaCtxResetPersistingL2Cache() {
  return noted(Status::success);
}

int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return with_device(device, [&](Machine& m) {
    if (peer < 0 || static_cast<unsigned>(peer) >= m.devices()) return Status::invalid_device;
    if (can == nullptr) return Status::invalid_value;
    *can = m.can_reach(static_cast<unsigned>(device), static_cast<unsigned>(peer)) ? 1 : 0;
    return Status::success;
  });
}

int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return with_device(peer, [&](Machine& m) {
    if (flags != 0) return Status::invalid_value;
    const unsigned device = this_thread().device;
    return static_cast<unsigned>(peer) == device ? Status::invalid_device
                                                 : m.enable_peer(device, static_cast<unsigned>(peer));
  });
}

int cudaDeviceDisablePeerAccess(int peer) {
  return with_device(
      peer, [&](Machine& m) { return m.disable_peer(this_thread().device, static_cast<unsigned>(peer)); });
}

int cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return with_device(device, [&](Machine& m) {
    if (peer < 0 || static_cast<unsigned>(peer) >= m.devices() || peer == device)
      return Status::invalid_device;
    const std::optional<int> known =
        m.peer_attribute(attribute, static_cast<unsigned>(device), static_cast<unsigned>(peer));
    if (value == nullptr || !known) return Status::invalid_value;
    *value = *known;
    return Status::success;
  });
}

int cudaProfilerStart() {
  return noted(Status::success);
}

int cudaProfilerStop() {
  return noted(Status::success);
}

int cudaDriverGetVersion(int* version) {
  if (version == nullptr) return noted(Status::invalid_value);
  *version = 13000;
  return noted(Status::success);
}

template <int toolkit>
int runtime_version(int* version) {
  if (version == nullptr) return noted(Status::invalid_value);
  *version = toolkit * 1000;
  return noted(Status::success);
}

int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return with_machine([&](Machine& m) {
    if (free == nullptr || total == nullptr) return Status::invalid_value;
    std::uint64_t f = 0, t = 0;
    m.memory_info(this_thread().device, f, t);
    *free = f;
    *total = t;
    return Status::success;
  });
}

}  // namespace

void add_devices(Functions& f) {
  WARPLINE_ADD(f, cudaGetLastError);
  WARPLINE_ADD(f, cudaPeekAtLastError);
  WARPLINE_ADD(f, cudaGetErrorString);
  WARPLINE_ADD(f, cudaGetErrorName);
  WARPLINE_ADD(f, cudaGetDeviceCount);
  WARPLINE_ADD(f, cudaSetDevice);
  WARPLINE_ADD(f, cudaGetDevice);
  WARPLINE_ADD(f, cudaDeviceGetAttribute);
  f.add("cudaGetDeviceProperties", &properties<13>);
  f.add("cudaGetDeviceProperties", &properties<11>, 12);
  f.add("cudaGetDeviceProperties_v2", &properties<12>);
  WARPLINE_ADD(f, cudaDeviceSynchronize);
  WARPLINE_ADD(f, cudaDeviceReset);
  WARPLINE_ADD(f, cudaSetDeviceFlags);
  WARPLINE_ADD(f, cudaDriverGetVersion);
  f.add("cudaRuntimeGetVersion", &runtime_version<13>);
  f.add("cudaRuntimeGetVersion", &runtime_version<12>, 12);
  f.add("cudaRuntimeGetVersion", &runtime_version<11>, 11);
  WARPLINE_ADD(f, cudaMemGetInfo);
  WARPLINE_ADD(f, cudaGetDeviceFlags);
  WARPLINE_ADD(f, cudaInitDevice);
  WARPLINE_ADD(f, cudaSetValidDevices);
  WARPLINE_ADD(f, cudaChooseDevice);
  WARPLINE_ADD(f, cudaDeviceGetPCIBusId);
  WARPLINE_ADD(f, cudaDeviceGetByPCIBusId);
  WARPLINE_ADD(f, cudaDeviceSetLimit);
  WARPLINE_ADD(f, cudaDeviceGetLimit);
  WARPLINE_ADD(f, cudaDeviceSetCacheConfig);
  WARPLINE_ADD(f, cudaDeviceGetCacheConfig);
  WARPLINE_ADD(f, cudaDeviceSetSharedMemConfig);
  WARPLINE_ADD(f, cudaDeviceGetSharedMemConfig);
  WARPLINE_ADD(f, cudaCtxResetPersistingL2Cache);
  WARPLINE_ADD(f, cudaDeviceCanAccessPeer);
  WARPLINE_ADD(f, cudaDeviceEnablePeerAccess);
  WARPLINE_ADD(f, cudaDeviceDisablePeerAccess);
  WARPLINE_ADD(f, cudaDeviceGetP2PAttribute);
  WARPLINE_ADD(f, cudaProfilerStart);
  WARPLINE_ADD(f, cudaProfilerStop);
}

}  // namespace warpline::cuda::runtime
