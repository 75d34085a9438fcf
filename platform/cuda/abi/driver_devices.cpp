#include <algorithm>
#include <array>
#include <cstring>

#include "platform/cuda/abi/device_property_layout.h"
#include "platform/cuda/abi/driver_calls.h"

namespace warpline::cuda::driver {
namespace {

/// What tells GPUs apart, as the runtime gives it.
struct Identity {
  std::string name;
  std::array<std::uint8_t, 16> uuid;
};
Identity identity_of(const Machine& m, int device) {
  constexpr std::size_t kNameBytes = 256;  // then comes the UUID
  const std::vector<std::uint8_t> all =
      device_properties(m.config(), m.ordinal(static_cast<unsigned>(device)), kNewest);
  Identity identity{reinterpret_cast<const char*>(all.data()), {}};
  std::memcpy(identity.uuid.data(), &all[kNameBytes], identity.uuid.size());
  return identity;
}

int cuInit(unsigned flags) {
  if (flags != 0) return result(Status::invalid_value);
  set_initialised();
  return with_machine([](Machine&) { return Status::success; });
}

int cuDriverGetVersion(int* version) {
  if (version == nullptr) return result(Status::invalid_value);
  *version = 13000;
  return result(Status::success);
}

int cuDeviceGetCount(int* count) {
  return with_machine([&](Machine& m) {
    if (count == nullptr) return Status::invalid_value;
    *count = static_cast<int>(m.devices());
    return Status::success;
  });
}

int cuDeviceGet(int* device, int ordinal) {
  return with_device(ordinal, [&](Machine&) {
    if (device == nullptr) return Status::invalid_value;
    *device = ordinal;
    return Status::success;
  });
}

int cuDeviceGetName(char* name, int length, int device) {
  return with_device(device, [&](Machine& m) {
    if (name == nullptr || length <= 0) return Status::invalid_value;
    const std::string known = identity_of(m, device).name;
    const std::size_t copied = std::min(static_cast<std::size_t>(length) - 1, known.size());
    std::copy_n(known.begin(), copied, name);
    name[copied] = '\0';
    return Status::success;
  });
}

int cuDeviceGetUuid_v2(char* uuid, int device) {
  return with_device(device, [&](Machine& m) {
    if (uuid == nullptr) return Status::invalid_value;
    const Identity known = identity_of(m, device);
    std::memcpy(uuid, known.uuid.data(), known.uuid.size());
    return Status::success;
  });
}

int cuDeviceGetLuid(char* luid, unsigned* node_mask, int device) {
  return with_device(device, [&](Machine&) {
    if (luid == nullptr || node_mask == nullptr) return Status::invalid_value;
    return Status::not_supported;  // as it is but on Windows
  });
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return with_device(device, [&](Machine& m) {
    if (bytes == nullptr) return Status::invalid_value;
    *bytes = m.config().vidmem_bytes;
    return Status::success;
  });
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return with_device(device, [&](Machine& m) {
    if (value == nullptr) return Status::invalid_value;
    const std::optional<int> known =
        device_attribute(m.config(), m.ordinal(static_cast<unsigned>(device)), attribute);
    if (!known) return Status::invalid_value;
    *value = *known;
    return Status::success;
  });
}

int cuDeviceComputeCapability(int* major, int* minor, int device) {
  if (major == nullptr || minor == nullptr) return result(Status::invalid_value);
  const int status = cuDeviceGetAttribute(major, 75, device);
  return status != 0 ? status : cuDeviceGetAttribute(minor, 76, device);
}

int cuDeviceGetProperties(DriverDeviceProperties* p, int device) {
  return with_device(device, [&](Machine& m) {
    if (p == nullptr) return Status::invalid_value;
    const auto a = [&m](int attribute) { return device_attribute(m.config(), attribute).value_or(0); };
    *p = {a(1), {a(2), a(3), a(4)}, {a(5), a(6), a(7)}, a(8), a(9), a(10), a(11), a(12), a(13), a(14)};
    return Status::success;
  });
}

}  // namespace

void add_devices(Functions& f) {
  WARPLINE_ADD(f, cuInit);
  WARPLINE_ADD(f, cuDriverGetVersion);
  WARPLINE_ADD(f, cuDeviceGetCount);
  WARPLINE_ADD(f, cuDeviceGet);
  WARPLINE_ADD(f, cuDeviceGetName);
  WARPLINE_ADD(f, cuDeviceGetUuid_v2);
  f.add("cuDeviceGetUuid", &cuDeviceGetUuid_v2);
  WARPLINE_ADD(f, cuDeviceGetLuid);
  WARPLINE_ADD(f, cuDeviceTotalMem_v2);
  WARPLINE_ADD(f, cuDeviceGetAttribute);
  WARPLINE_ADD(f, cuDeviceComputeCapability);
  WARPLINE_ADD(f, cuDeviceGetProperties);
}

}  // namespace warpline::cuda::driver
