#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/cuda/abi/runtime_types.h"

// Structures of the driver API as programs lay them out (CUDA Driver API, "Data types used"). Those that the
// runtime has too are among its own.
namespace warpline::cuda {

/// `CUmemorytype`.
enum class MemoryType : std::int32_t { host = 1, device = 2, array = 3, unified = 4 };

/// One side of `CUDA_MEMCPY2D`.
struct CopySide2d {
  std::uint64_t x_bytes, y;
  MemoryType type;
  std::uint64_t host, device;
  void* array;
  std::uint64_t pitch;
};
/// `CUDA_MEMCPY2D`.
struct Copy2d {
  CopySide2d from, to;
  std::uint64_t width_bytes, height;
};
static_assert(sizeof(CopySide2d) == 56 && sizeof(Copy2d) == 128 && offsetof(Copy2d, to) == 56);

/// One side of `CUDA_MEMCPY3D` and of `CUDA_MEMCPY3D_PEER`.
struct CopySide3d {
  std::uint64_t x_bytes, y, z, level;
  MemoryType type;
  std::uint64_t host, device;
  void* array;
  void* context;
  std::uint64_t pitch, height;
};
/// `CUDA_MEMCPY3D`, `CUDA_MEMCPY3D_PEER`.
struct Copy3d {
  CopySide3d from, to;
  std::uint64_t width_bytes, height, depth;
};
static_assert(sizeof(CopySide3d) == 88 && sizeof(Copy3d) == 200 && offsetof(Copy3d, to) == 88);

/// `CUDA_KERNEL_NODE_PARAMS_v2`, `CUDA_KERNEL_NODE_PARAMS_v3`; its first version is `plain`.
struct DriverKernelNodeParameters {
  KernelNodeParameters plain;
  void* kernel = nullptr;   ///< `CUkernel`, if `plain` names no function
  void* context = nullptr;  ///< of that; null: the current one
};
static_assert(sizeof(DriverKernelNodeParameters) == 72 && offsetof(DriverKernelNodeParameters, kernel) == 56);

/// `CUgraphNodeParams`, as far as it is not `cudaGraphNodeParams`.
struct DriverNodeParameters {
  struct Copy {
    std::int32_t flags, reserved;
    void* context;
    Copy3d copy;
  };
  struct Fill {
    FillNodeParameters fill;
    void* context;
  };
  std::int32_t kind = 0;
  std::int32_t reserved[3] = {};
  union {
    std::int64_t words[29] = {};
    DriverKernelNodeParameters kernel;
    Copy copy;
    Fill fill;
  };
  std::int64_t reserved_too = 0;
};
static_assert(sizeof(DriverNodeParameters) == 256 && offsetof(DriverNodeParameters, words) == 16);

/// `CUdevprop`.
struct DriverDeviceProperties {
  std::int32_t threads_per_block, block[3], grid[3], shared_per_block, constant_bytes, warp_lanes,
      memory_pitch, registers_per_block, clock_khz, texture_alignment;
};
static_assert(sizeof(DriverDeviceProperties) == 56);

/// `CUlaunchConfig`.
struct LaunchConfig {
  std::uint32_t grid[3], block[3], shared_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  std::uint32_t attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);

/// `CUmemAllocationProp`.
struct AllocationProperties {
  std::int32_t type, handle_types;
  MemoryLocation location;
  void* windows_data;
  std::uint8_t compression, rdma;
  std::uint16_t usage;
  std::uint8_t reserved[4];
};
static_assert(sizeof(AllocationProperties) == 32 && offsetof(AllocationProperties, compression) == 24);

/// `CUmemAccessDesc`.
struct AccessDescription {
  MemoryLocation location;
  std::int32_t flags;
};
static_assert(sizeof(AccessDescription) == 12);

/// `CUstreamBatchMemOpParams`.
struct StreamMemoryOperation {
  std::int32_t operation;
  std::uint64_t address, value;
  std::uint32_t flags;
  std::uint64_t alias, pad;
};
static_assert(sizeof(StreamMemoryOperation) == 48 && offsetof(StreamMemoryOperation, flags) == 24);

}  // namespace warpline::cuda
