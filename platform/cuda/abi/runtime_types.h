#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/config/gpu_config.h"

// Structures as programs that were compiled with a toolkit lay them out.
namespace warpline::cuda {

/// `dim3`.
struct AbiDim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  AbiDim3() = default;
  explicit AbiDim3(const Dim3& d) : x(d.x), y(d.y), z(d.z) {}
  [[nodiscard]] Dim3 dim3() const { return {x, y, z}; }
};

/// `cudaPointerAttributes`.
struct PointerAttributes {
  std::int32_t type = 0;  ///< 0 not known, 1 host, 2 device, 3 managed
  std::int32_t device = 0;
  void* device_pointer = nullptr;
  void* host_pointer = nullptr;
  std::int64_t reserved[8] = {};
};

/// `cudaDeviceProp` of toolkit 13.
struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  std::uint32_t luid_node_mask;
  std::uint64_t global_bytes, shared_per_block;
  std::int32_t registers_per_block, warp_lanes;
  std::uint64_t memory_pitch;
  std::int32_t threads_per_block, block[3], grid[3];
  std::uint64_t constant_bytes;
  std::int32_t major, minor;
  std::uint64_t texture_alignment, texture_pitch_alignment;
  std::int32_t sms, integrated, maps_host_memory;
  std::int32_t texture_1d, texture_1d_mipmap, texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3],
      texture_2d_gather[2], texture_3d[3], texture_3d_other[3], texture_cube, texture_1d_layered[2],
      texture_2d_layered[3], texture_cube_layered[2];
  std::int32_t surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3],
      surface_cube, surface_cube_layered[2];
  std::uint64_t surface_alignment;
  std::int32_t concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, copy_engines,
      unified_addressing, memory_bus_bits, l2_bytes, persisting_l2_bytes, threads_per_sm, stream_priorities,
      global_l1, local_l1;
  std::uint64_t shared_per_sm;
  std::int32_t registers_per_sm, managed_memory, multi_gpu_board, multi_gpu_board_group, host_native_atomics,
      pageable_memory_access, concurrent_managed_access, compute_preemption, registered_host_pointer,
      cooperative_launch;
  std::uint64_t shared_per_block_optin;
  std::int32_t pageable_by_host_tables, direct_managed_access, blocks_per_sm, access_policy_window;
  std::uint64_t reserved_shared_per_block;
  std::int32_t host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools, rdma;
  std::uint32_t rdma_flush;
  std::int32_t rdma_ordering;
  std::uint32_t pool_handle_types;
  std::int32_t deferred_mapping_arrays, ipc_events, cluster_launch, unified_function_pointers, numa_config,
      numa_id, mps, host_numa_id;
  std::uint32_t pci_device_id, pci_subsystem_id;
  std::int32_t host_numa_multinode_ipc;
  std::int32_t reserved[56];
};
static_assert(sizeof(DeviceProperties) == 1008 && offsetof(DeviceProperties, sms) == 384 &&
              offsetof(DeviceProperties, shared_per_sm) == 624 &&
              offsetof(DeviceProperties, reserved) == 784);

[[nodiscard]] DeviceProperties properties_of(const GpuConfig& config, unsigned device);

}  // namespace warpline::cuda
