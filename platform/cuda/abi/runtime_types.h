#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/cuda/images.h"
#include "rtl_models/base/types.h"

// Structures as programs that were compiled with a toolkit lay them out.
namespace warpline::cuda {

/// `dim3`.
struct AbiDim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  AbiDim3() = default;
  explicit AbiDim3(const Dim3& d) : x(d.x), y(d.y), z(d.z) {}
  [[nodiscard]] Dim3 dim3() const { return {x, y, z}; }
};

/// `cudaLaunchAttribute`.
struct LaunchAttribute {
  std::int32_t id = 0;
  std::int32_t padding = 0;
  std::uint8_t value[64] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

/// `cudaLaunchConfig_t`.
struct LaunchConfiguration {
  AbiDim3 grid, block;
  std::size_t shared_bytes = 0;
  void* stream = nullptr;
  const LaunchAttribute* attributes = nullptr;
  std::uint32_t attribute_count = 0;
};
static_assert(sizeof(LaunchConfiguration) == 56);

/// `cudaMemPoolProps`.
struct PoolProperties {
  std::int32_t allocation_type = 0, handle_types = 0, location_type = 0, location = 0;
  void* security = nullptr;
  std::size_t most_bytes = 0;
  std::uint16_t usage = 0;
  std::uint8_t reserved[54] = {};
};
static_assert(sizeof(PoolProperties) == 88 && offsetof(PoolProperties, most_bytes) == 24);

/// `cudaMemAccessDesc`; it begins with a `cudaMemLocation`.
struct PoolAccess {
  std::int32_t location_type = 0, location = 0;
  std::int32_t flags = 0;
};

/// `cudaMemLocation`.
struct MemoryLocation {
  std::int32_t type = 0;  ///< 1: a GPU; 2 and others: the host
  std::int32_t id = 0;
};

/// `cudaFuncAttributes`.
struct FunctionAttributes {
  std::size_t shared_bytes = 0, constant_bytes = 0, local_bytes = 0;
  std::int32_t most_threads = 0, registers = 0, ptx_version = 0, binary_version = 0, cache_mode = 0,
               most_dynamic_shared = 0, carve_out = -1, needs_cluster = 0;
  std::int32_t required_cluster[3] = {};
  std::int32_t scheduling = 0, odd_clusters = 0;
  std::int32_t reserved[17] = {};
};
static_assert(sizeof(FunctionAttributes) == 144 && offsetof(FunctionAttributes, odd_clusters) == 72);

/// `cudaKernelNodeParams`.
struct KernelNodeParameters {
  void* function = nullptr;
  AbiDim3 grid, block;
  std::uint32_t shared_bytes = 0;
  void** arguments = nullptr;
  void** extra = nullptr;
};
static_assert(sizeof(KernelNodeParameters) == 56 && offsetof(KernelNodeParameters, arguments) == 40);

/// `cudaMemsetParams`.
struct FillNodeParameters {
  void* to = nullptr;
  std::size_t pitch = 0;
  std::uint32_t value = 0, element_bytes = 0;
  std::size_t width = 0, height = 0;
};
static_assert(sizeof(FillNodeParameters) == 40);

/// `cudaHostNodeParams`.
struct HostNodeParameters {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};

/// `cudaMemAllocNodeParams`.
struct AllocationNodeParameters {
  PoolProperties pool;
  const PoolAccess* accesses = nullptr;
  std::size_t access_count = 0;
  std::size_t bytes = 0;
  void* address = nullptr;
};
static_assert(sizeof(AllocationNodeParameters) == 120);

/// `cudaConditionalNodeParams`.
struct ConditionalNodeParameters {
  unsigned long long condition = 0;
  std::int32_t choice = 0;
  std::uint32_t bodies = 0;
  void** body_handles = nullptr;
};
static_assert(sizeof(ConditionalNodeParameters) == 24);

/// `cudaGraphNodeParams`.
struct NodeParameters {
  struct Copy {
    std::int32_t reserved[4];
    CopyParameters copy;
  };
  struct Child {
    void* graph;
    std::int32_t is_moved;
  };
  std::int32_t kind = 0;
  std::int32_t reserved[3] = {};
  union {
    std::int64_t words[29] = {};
    KernelNodeParameters kernel;
    Copy copy;
    FillNodeParameters fill;
    HostNodeParameters host;
    Child child;
    void* event;
    AllocationNodeParameters allocate;
    void* free;
    ConditionalNodeParameters conditional;
  };
  std::int64_t reserved_too = 0;
};
static_assert(sizeof(NodeParameters) == 256 && offsetof(NodeParameters, words) == 16);

/// `cudaPointerAttributes`.
struct PointerAttributes {
  std::int32_t type = 0;  ///< 0 not known, 1 host, 2 device, 3 managed
  std::int32_t device = 0;
  void* device_pointer = nullptr;
  void* host_pointer = nullptr;
  std::int64_t reserved[8] = {};
};

}  // namespace warpline::cuda
