#include "platform/cuda/abi/runtime_calls.h"

namespace warpline::cuda::runtime {
namespace {

int cudaGetLastError() {
  const Status last = std::exchange(this_thread().last, Status::success);
  if (last != Status::success) return static_cast<int>(last);
  Machine* const m = machine();
  return static_cast<int>(m == nullptr ? Status::no_device : m->fault());
}

int cudaPeekAtLastError() {
  const Status last = this_thread().last;
  if (last != Status::success) return static_cast<int>(last);
  Machine* const m = machine();
  return static_cast<int>(m == nullptr ? Status::no_device : m->fault());
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
  return with_machine([&](Machine& m) {
    *count = static_cast<int>(m.devices());
    return Status::success;
  });
}

int cudaSetDevice(int device) {
  return with_device(device, [&](Machine&) {
    this_thread().device = static_cast<unsigned>(device);
    return Status::success;
  });
}

int cudaGetDevice(int* device) {
  return with_machine([&](Machine&) {
    *device = static_cast<int>(this_thread().device);
    return Status::success;
  });
}

int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return with_device(device, [&](Machine& m) {
    const std::optional<int> known = device_attribute(m.config(), attribute);
    if (!known) return Status::invalid_value;
    *value = *known;
    return Status::success;
  });
}

int cudaGetDeviceProperties(DeviceProperties* p, int device) {
  return with_machine([&](Machine& m) {
    if (p == nullptr) return Status::invalid_value;
    if (device < 0 || static_cast<unsigned>(device) >= m.devices()) return Status::invalid_device;
    *p = properties_of(m.config(), static_cast<unsigned>(device));
    return Status::success;
  });
}

int cudaDeviceSynchronize() {
  return with_machine([](Machine& m) { return m.synchronize(this_thread().device); });
}

int cudaDeviceReset() {
  return with_machine([](Machine& m) { return m.synchronize(this_thread().device); });
}

int cudaSetDeviceFlags(unsigned) {
  return noted(Status::success);
}

int cudaDriverGetVersion(int* version) {
  *version = 13000;
  return noted(Status::success);
}

int cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return noted(Status::success);
}

int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return with_machine([&](Machine& m) {
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
  WARPLINE_ADD(f, cudaGetDeviceProperties);
  WARPLINE_ADD(f, cudaDeviceSynchronize);
  WARPLINE_ADD(f, cudaDeviceReset);
  WARPLINE_ADD(f, cudaSetDeviceFlags);
  WARPLINE_ADD(f, cudaDriverGetVersion);
  WARPLINE_ADD(f, cudaRuntimeGetVersion);
  WARPLINE_ADD(f, cudaMemGetInfo);
}

}  // namespace warpline::cuda::runtime
