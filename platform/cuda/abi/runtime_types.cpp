#include "platform/cuda/abi/runtime_types.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "platform/cuda/device_properties.h"

namespace warpline::cuda {

DeviceProperties properties_of(const GpuConfig& config, unsigned device) {
  DeviceProperties p{};
  const auto a = [&config](int attribute) { return device_attribute(config, attribute).value_or(0); };
  const std::string name = "Warpline " + config.name;
  std::copy_n(name.begin(), std::min(name.size(), sizeof p.name - 1), p.name);
  std::memcpy(p.uuid, "Warpline GPU", 12);
  p.uuid[15] = static_cast<char>(device);
  p.global_bytes = config.vidmem_bytes;
  p.shared_per_block = a(8);
  p.registers_per_block = a(12);
  p.warp_lanes = a(10);
  p.memory_pitch = a(11);
  p.threads_per_block = a(1);
  for (int i = 0; i < 3; ++i) {
    p.block[i] = a(2 + i);
    p.grid[i] = a(5 + i);
    p.texture_3d[i] = a(24 + i);
    p.texture_3d_other[i] = a(47 + i);
    p.surface_3d[i] = a(58 + i);
    p.texture_2d_layered[i] = a(27 + i);
    p.surface_2d_layered[i] = a(63 + i);
    p.texture_2d_linear[i] = a(70 + i);
  }
  for (int i = 0; i < 2; ++i) {
    p.texture_2d[i] = a(22 + i);
    p.texture_2d_mipmap[i] = a(73 + i);
    p.texture_2d_gather[i] = a(45 + i);
    p.texture_1d_layered[i] = a(42 + i);
    p.texture_cube_layered[i] = a(53 + i);
    p.surface_2d[i] = a(56 + i);
    p.surface_1d_layered[i] = a(61 + i);
    p.surface_cube_layered[i] = a(67 + i);
  }
  p.constant_bytes = a(9);
  p.major = a(75);
  p.minor = a(76);
  p.texture_alignment = a(14);
  p.texture_pitch_alignment = a(51);
  p.sms = a(16);
  p.maps_host_memory = a(19);
  p.texture_1d = a(21);
  p.texture_1d_mipmap = a(77);
  p.texture_cube = a(52);
  p.surface_1d = a(55);
  p.surface_cube = a(66);
  p.surface_alignment = a(30);
  p.concurrent_kernels = a(31);
  p.ecc = a(32);
  p.pci_bus = a(33) + static_cast<int>(device);
  p.pci_device = a(34);
  p.pci_domain = a(50);
  p.copy_engines = a(40);
  p.unified_addressing = a(41);
  p.memory_bus_bits = a(37);
  p.l2_bytes = a(38);
  p.persisting_l2_bytes = a(108);
  p.threads_per_sm = a(39);
  p.stream_priorities = a(78);
  p.global_l1 = a(79);
  p.local_l1 = a(80);
  p.shared_per_sm = a(81);
  p.registers_per_sm = a(82);
  p.managed_memory = a(83);
  p.concurrent_managed_access = a(89);
  p.compute_preemption = a(90);
  p.registered_host_pointer = a(91);
  p.cooperative_launch = a(95);
  p.shared_per_block_optin = a(97);
  p.blocks_per_sm = a(106);
  p.access_policy_window = a(109);
  p.reserved_shared_per_block = a(111);
  p.host_register = a(99);
  p.memory_pools = a(115);
  p.cluster_launch = a(120);
  return p;
}

}  // namespace warpline::cuda
