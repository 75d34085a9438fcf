#include <algorithm>
#include <cstring>

#include "platform/cuda/abi/driver_calls.h"
#include "platform/cuda/abi/runtime_launches.h"
#include "platform/cuda/occupancy.h"

namespace warpline::cuda::driver {
namespace {

/// Calls `f` with the machine, the GPU of the current context, the kernel and what it is there.
template <class F>
int with_kernel_on(int device, void* handle, F&& f) {
  return with_device(device, [&](Machine& m) {
    if (!m.is_function(handle)) return Status::invalid_resource_handle;
    auto& function = *static_cast<Function*>(handle);
    const programs::Entry* entry = nullptr;
    const Status status = m.entry_of(function, static_cast<unsigned>(device), entry);
    return status != Status::success ? status : f(m, function, *entry);
  });
}
template <class F>
int with_kernel(void* handle, F&& f) {
  return with_context([&](Machine&, Context& context) {
    return static_cast<Status>(with_kernel_on(static_cast<int>(context.device), handle, std::forward<F>(f)));
  });
}

// ---- Launches

using runtime::kMostParameterBytes;

int launch_kernel(void* handle, const GridShape& shape, void* stream_handle, void** parameters,
                  void** extra) {
  return with_kernel(handle, [&](Machine& m, Function& function, const programs::Entry& entry) {
    Stream* const stream = runtime::stream_of(m, stream_handle);
    if (stream == nullptr) return Status::invalid_resource_handle;
    if (parameters != nullptr && extra != nullptr) return Status::invalid_value;
    if (extra != nullptr) return m.launch({&function, shape, runtime::laid_out_whole(extra)}, *stream);
    if (parameters == nullptr && !entry.parameters.empty()) return Status::invalid_value;
    for (std::size_t i = 0; i < entry.parameters.size(); ++i)
      if (parameters[i] == nullptr) return Status::invalid_value;
    return m.launch({&function, shape, runtime::laid_out(parameters)}, *stream);
  });
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                   void** extra) {
  GridShape shape;
  shape.grid = {grid_x, grid_y, grid_z};
  shape.block = {block_x, block_y, block_z};
  shape.shared_bytes = shared_bytes;
  return launch_kernel(function, shape, stream, parameters, extra);
}

int cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                              void* stream, void** parameters) {
  GridShape shape;
  shape.grid = {grid_x, grid_y, grid_z};
  shape.block = {block_x, block_y, block_z};
  shape.shared_bytes = shared_bytes;
  shape.cooperative = true;
  return launch_kernel(function, shape, stream, parameters, nullptr);
}

/// What a launch's attributes ask for.
Status apply(const LaunchConfig& config, GridShape& shape) {
  enum Attribute : int {
    kCooperative = 2,
    kCluster = 4,
    kProgrammatic = 6,
    kEvent = 7,
    kCompletionEvent = 12,
    kUpdatable = 13,
    kPreferredCarveout = 14
  };
  constexpr int kLast = 16;
  if (config.attribute_count != 0 && config.attributes == nullptr) return Status::invalid_value;
  for (unsigned n = 0; n < config.attribute_count; ++n) {
    const LaunchAttribute& a = config.attributes[n];
    std::uint32_t words[3];
    std::memcpy(words, a.value, sizeof words);
    switch (a.id) {
      case kCooperative: shape.cooperative = words[0] != 0; break;
      case kCluster:
        shape.cluster = {words[0], words[1], words[2]};
        if (shape.cluster.count() == 0) return Status::invalid_cluster_size;
        break;
      case kProgrammatic: shape.dependent = words[0] != 0; break;
      case kEvent:
      case kCompletionEvent:
        return refuse("events that a kernel records while it runs (attributes 7 and 12) are not modelled");
      case kUpdatable: return refuse("kernels that update graphs (attribute 13) are not modelled");
      case kPreferredCarveout:
        if (words[0] <= 100) shape.carveout = words[0];
        break;
      default:
        // Others are hints, which change no result: priorities, policies of caches and of scheduling.
        if (a.id < 0 || a.id > kLast) return Status::invalid_value;
    }
  }
  return Status::success;
}

GridShape shape_of(const LaunchConfig& config) {
  GridShape shape;
  shape.grid = {config.grid[0], config.grid[1], config.grid[2]};
  shape.block = {config.block[0], config.block[1], config.block[2]};
  shape.shared_bytes = config.shared_bytes;
  return shape;
}

int cuLaunchKernelEx(const LaunchConfig* config, void* function, void** parameters, void** extra) {
  if (config == nullptr) return result(Status::invalid_value);
  GridShape shape = shape_of(*config);
  if (const Status s = apply(*config, shape); s != Status::success) return result(s);
  return launch_kernel(function, shape, config->stream, parameters, extra);
}

using HostFunction = void (*)(void*);
int cuLaunchHostFunc(void* stream, HostFunction function, void* data) {
  if (function == nullptr) return result(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) { return m.call([=] { function(data); }, s); });
}

// ---- Launches whose pieces are given one by one

/// Calls `f` with the pieces of a kernel's next launch.
template <class F>
int with_pieces(void* handle, F&& f) {
  return with_context([&](Machine& m, Context&) {
    return m.is_function(handle) ? f(static_cast<Function*>(handle)->pieces)
                                 : Status::invalid_resource_handle;
  });
}

int cuFuncSetBlockShape(void* function, int x, int y, int z) {
  return with_pieces(function, [&](Function::Pieces& p) {
    if (x <= 0 || y <= 0 || z <= 0) return Status::invalid_value;
    p.block = Dim3{static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    return Status::success;
  });
}

int cuFuncSetSharedSize(void* function, unsigned bytes) {
  return with_pieces(function, [&](Function::Pieces& p) {
    p.shared_bytes = bytes;
    return Status::success;
  });
}

int cuParamSetSize(void* function, unsigned bytes) {
  return with_pieces(function, [&](Function::Pieces& p) {
    if (bytes > kMostParameterBytes) return Status::invalid_value;
    p.parameter_bytes = bytes;
    return Status::success;
  });
}

int cuParamSetv(void* function, int offset, const void* value, unsigned bytes) {
  return with_pieces(function, [&](Function::Pieces& p) {
    if (value == nullptr || offset < 0 || bytes > kMostParameterBytes ||
        static_cast<unsigned>(offset) > kMostParameterBytes - bytes)
      return Status::invalid_value;
    const std::size_t end = static_cast<std::size_t>(offset) + bytes;
    if (p.parameters.size() < end) p.parameters.resize(end);
    std::memcpy(p.parameters.data() + offset, value, bytes);
    return Status::success;
  });
}

int cuParamSeti(void* function, int offset, unsigned value) {
  return cuParamSetv(function, offset, &value, sizeof value);
}

int cuParamSetf(void* function, int offset, float value) {
  return cuParamSetv(function, offset, &value, sizeof value);
}

int cuLaunchGridAsync(void* function, int width, int height, void* stream) {
  return with_pieces(function, [&](Function::Pieces& p) {
    if (width <= 0 || height <= 0 || !p.block) return Status::invalid_value;
    GridShape shape;
    shape.grid = {static_cast<unsigned>(width), static_cast<unsigned>(height), 1};
    shape.block = *p.block;
    shape.shared_bytes = p.shared_bytes;
    std::vector<std::uint8_t> block = p.parameters;
    block.resize(p.parameter_bytes);
    std::size_t bytes = block.size();
    void* extra[] = {reinterpret_cast<void*>(runtime::kBlockPointer), block.data(),
                     reinterpret_cast<void*>(runtime::kBlockSize), &bytes,
                     reinterpret_cast<void*>(runtime::kBlockEnd)};
    // Without parameters there is no block.
    return static_cast<Status>(
        launch_kernel(function, shape, stream, nullptr, bytes == 0 ? extra + 4 : extra));
  });
}

int cuLaunchGrid(void* function, int width, int height) {
  return cuLaunchGridAsync(function, width, height, nullptr);
}

int cuLaunch(void* function) {
  return cuLaunchGrid(function, 1, 1);
}

// ---- Attributes

enum FunctionAttribute : int {
  kMostThreads,
  kSharedBytes,
  kConstantBytes,
  kLocalBytes,
  kRegisters,
  kPtxVersion,
  kBinaryVersion,
  kCacheMode,
  kMostDynamicShared,
  kCarveout,
  kClusterMustBeSet,
  kClusterWidth,
  kClusterHeight,
  kClusterDepth,
  kLargeClusters,
  kClusterPolicy,
};

Status attribute_of(Machine& m, Function& function, const programs::Entry& entry, int attribute, int& value) {
  const auto cluster = [&entry](std::uint32_t Dim3::*side) {
    return entry.required_cluster ? static_cast<int>((*entry.required_cluster).*side) : 0;
  };
  switch (attribute) {
    case kMostThreads: value = static_cast<int>(std::min<std::uint64_t>(entry.maximum_threads, 1024)); break;
    case kSharedBytes: value = static_cast<int>(entry.static_shared_bytes); break;
    case kConstantBytes: value = 0; break;
    case kLocalBytes: value = static_cast<int>(entry.local_bytes); break;
    case kRegisters: value = static_cast<int>(m.registers_of(function)); break;
    case kPtxVersion:
    case kBinaryVersion:
      value = *device_attribute(m.config(), 75) * 10 + *device_attribute(m.config(), 76);
      break;
    case kCacheMode: value = 0; break;
    case kMostDynamicShared: value = static_cast<int>(function.most_dynamic_shared(entry)); break;
    case kCarveout: value = function.carveout ? static_cast<int>(*function.carveout) : -1; break;
    case kClusterMustBeSet: value = entry.needs_cluster ? 1 : 0; break;
    case kClusterWidth: value = cluster(&Dim3::x); break;
    case kClusterHeight: value = cluster(&Dim3::y); break;
    case kClusterDepth: value = cluster(&Dim3::z); break;
    case kLargeClusters: value = function.odd_clusters ? 1 : 0; break;
    case kClusterPolicy: value = 0; break;
    default: return Status::invalid_value;
  }
  return Status::success;
}

Status set_attribute_of(Machine& m, Function& function, const programs::Entry& entry, int attribute,
                        int value) {
  switch (attribute) {
    case kMostDynamicShared: {
      const int most = *device_attribute(m.config(), 97) - static_cast<int>(entry.static_shared_bytes);
      if (value < 0 || value > most) return Status::invalid_value;
      function.set_dynamic_shared = static_cast<std::uint32_t>(value);
      return Status::success;
    }
    case kCarveout:
      if (value < -1 || value > 100) return Status::invalid_value;
      function.carveout = value < 0 ? std::nullopt : std::optional(static_cast<unsigned>(value));
      return Status::success;
    case kLargeClusters: function.odd_clusters = value != 0; return Status::success;
    case kClusterPolicy: return Status::success;
    case kClusterWidth:
    case kClusterHeight:
    case kClusterDepth:
    case kClusterMustBeSet:
      return refuse(
          "clusters that a kernel gets by its attributes are not modelled: give them at the launch");
    default: return Status::invalid_value;
  }
}

int cuFuncGetAttribute(int* value, int attribute, void* handle) {
  if (value == nullptr) return result(Status::invalid_value);
  return with_kernel(handle, [&](Machine& m, Function& function, const programs::Entry& entry) {
    return attribute_of(m, function, entry, attribute, *value);
  });
}

int cuFuncSetAttribute(void* handle, int attribute, int value) {
  return with_kernel(handle, [&](Machine& m, Function& function, const programs::Entry& entry) {
    return set_attribute_of(m, function, entry, attribute, value);
  });
}

int cuKernelGetAttribute(int* value, int attribute, void* handle, int device) {
  if (value == nullptr) return result(Status::invalid_value);
  return with_kernel_on(device, handle, [&](Machine& m, Function& function, const programs::Entry& entry) {
    return attribute_of(m, function, entry, attribute, *value);
  });
}

int cuKernelSetAttribute(int attribute, int value, void* handle, int device) {
  return with_kernel_on(device, handle, [&](Machine& m, Function& function, const programs::Entry& entry) {
    return set_attribute_of(m, function, entry, attribute, value);
  });
}

int cuFuncSetCacheConfig(void* handle, int preference) {
  if (preference < 0 || preference > 3) return result(Status::invalid_value);
  return with_kernel(handle, [preference](Machine&, Function& function, const programs::Entry&) {
    function.cache_preference = preference;
    return Status::success;
  });
}

int cuFuncSetSharedMemConfig(void* handle, int bank_size) {
  if (bank_size < 0 || bank_size > 2) return result(Status::invalid_value);
  return with_kernel(handle, [](Machine&, Function&, const programs::Entry&) { return Status::success; });
}

int cuKernelSetCacheConfig(void* handle, int preference, int device) {
  if (preference < 0 || preference > 3) return result(Status::invalid_value);
  return with_kernel_on(device, handle, [preference](Machine&, Function& function, const programs::Entry&) {
    function.cache_preference = preference;
    return Status::success;
  });
}

int cuFuncGetName(const char** name, void* handle) {
  return with_machine([&](Machine& m) {
    if (name == nullptr) return Status::invalid_value;
    if (!m.is_function(handle)) return Status::invalid_resource_handle;
    *name = static_cast<Function*>(handle)->name.c_str();
    return Status::success;
  });
}

int cuFuncGetParamInfo(void* handle, std::size_t number, std::size_t* offset, std::size_t* bytes) {
  return with_kernel(handle, [&](Machine&, Function&, const programs::Entry& entry) {
    if (offset == nullptr || number >= entry.parameters.size()) return Status::invalid_value;
    *offset = entry.parameters[number].offset;
    if (bytes != nullptr) *bytes = entry.parameters[number].bytes;
    return Status::success;
  });
}

int cuFuncIsLoaded(int* state, void* handle) {
  return with_kernel(handle, [&](Machine&, Function&, const programs::Entry&) {
    if (state == nullptr) return Status::invalid_value;
    *state = 1;
    return Status::success;
  });
}

int cuFuncLoad(void* handle) {
  return with_kernel(handle, [](Machine&, Function&, const programs::Entry&) { return Status::success; });
}

// ---- Occupancy

unsigned blocks_of(Machine& m, Function& function, const programs::Entry& entry, unsigned threads,
                   std::size_t dynamic) {
  return blocks_per_sm(m.config(), {threads, entry.static_shared_bytes + dynamic, m.registers_of(function)});
}

int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* handle, int threads,
                                                         std::size_t dynamic, unsigned flags) {
  return with_kernel(handle, [&](Machine& m, Function& f, const programs::Entry& entry) {
    if (blocks == nullptr || threads <= 0 || flags > 1) return Status::invalid_value;
    *blocks = static_cast<int>(blocks_of(m, f, entry, static_cast<unsigned>(threads), dynamic));
    return Status::success;
  });
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* handle, int threads, std::size_t dynamic) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle, threads, dynamic, 0);
}

using SharedOfBlock = std::size_t (*)(int threads);
int cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, void* handle, SharedOfBlock shared_of,
                                              std::size_t dynamic, int limit, unsigned flags) {
  return with_kernel(handle, [&](Machine& m, Function& f, const programs::Entry& entry) {
    if (grid == nullptr || block == nullptr || limit < 0 || flags > 1) return Status::invalid_value;
    std::uint64_t most = std::min<std::uint64_t>(entry.maximum_threads, 1024);
    if (limit != 0) most = std::min<std::uint64_t>(most, static_cast<unsigned>(limit));
    // The largest block of those by which an SM has the most threads.
    unsigned best = 0, best_blocks = 0;
    const auto consider = [&](unsigned threads) {
      const unsigned blocks = blocks_of(
          m, f, entry, threads, shared_of != nullptr ? shared_of(static_cast<int>(threads)) : dynamic);
      if (blocks * threads <= best_blocks * best) return;
      best = threads;
      best_blocks = blocks;
    };
    for (auto threads = static_cast<unsigned>(most / kWarpLanes * kWarpLanes); threads != 0;
         threads -= kWarpLanes)
      consider(threads);
    if (most < kWarpLanes) consider(static_cast<unsigned>(most));
    if (best == 0) return Status::invalid_value;
    *block = static_cast<int>(best);
    *grid = static_cast<int>(best_blocks * m.config().sms);
    return Status::success;
  });
}

int cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void* handle, SharedOfBlock shared_of,
                                     std::size_t dynamic, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, handle, shared_of, dynamic, limit, 0);
}

/// By the runtime's function of how many clusters fit, or how large they may be.
int of_clusters(std::string_view runtime_name, int* out, void* kernel, const LaunchConfig* config) {
  if (config == nullptr) return result(Status::invalid_value);
  LaunchConfiguration c;
  c.grid = AbiDim3({config->grid[0], config->grid[1], config->grid[2]});
  c.block = AbiDim3({config->block[0], config->block[1], config->block[2]});
  c.shared_bytes = config->shared_bytes;
  c.attributes = config->attributes;
  c.attribute_count = config->attribute_count;
  using F = int(int*, const void*, const LaunchConfiguration*);
  return with_kernel(kernel, [&](Machine&, Function&, const programs::Entry&) {
    return static_cast<Status>(reinterpret_cast<F*>(runtime_function(runtime_name))(out, kernel, &c));
  });
}

int cuOccupancyMaxActiveClusters(int* clusters, void* kernel, const LaunchConfig* config) {
  return of_clusters("cudaOccupancyMaxActiveClusters", clusters, kernel, config);
}

int cuOccupancyMaxPotentialClusterSize(int* size, void* kernel, const LaunchConfig* config) {
  return of_clusters("cudaOccupancyMaxPotentialClusterSize", size, kernel, config);
}

int cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, void* handle, int blocks, int threads) {
  return with_kernel(handle, [&](Machine& m, Function& f, const programs::Entry& entry) {
    if (bytes == nullptr || blocks <= 0 || threads <= 0) return Status::invalid_value;
    if (blocks_of(m, f, entry, static_cast<unsigned>(threads), 0) < static_cast<unsigned>(blocks))
      return Status::invalid_value;
    const std::uint64_t all = shared_per_block(m.config(), static_cast<unsigned>(blocks));
    *bytes = all - std::min<std::uint64_t>(all, entry.static_shared_bytes);
    return Status::success;
  });
}

}  // namespace

void add_kernels(Functions& f) {
  WARPLINE_ADD(f, cuLaunchKernel);
  WARPLINE_ADD(f, cuLaunchKernelEx);
  WARPLINE_ADD(f, cuLaunchCooperativeKernel);
  WARPLINE_ADD(f, cuLaunchHostFunc);
  WARPLINE_ADD(f, cuFuncSetBlockShape);
  WARPLINE_ADD(f, cuFuncSetSharedSize);
  WARPLINE_ADD(f, cuParamSetSize);
  WARPLINE_ADD(f, cuParamSetv);
  WARPLINE_ADD(f, cuParamSeti);
  WARPLINE_ADD(f, cuParamSetf);
  WARPLINE_ADD(f, cuLaunchGridAsync);
  WARPLINE_ADD(f, cuLaunchGrid);
  WARPLINE_ADD(f, cuLaunch);
  WARPLINE_ADD(f, cuFuncGetAttribute);
  WARPLINE_ADD(f, cuFuncSetAttribute);
  WARPLINE_ADD(f, cuKernelGetAttribute);
  WARPLINE_ADD(f, cuKernelSetAttribute);
  WARPLINE_ADD(f, cuFuncSetCacheConfig);
  WARPLINE_ADD(f, cuFuncSetSharedMemConfig);
  WARPLINE_ADD(f, cuKernelSetCacheConfig);
  WARPLINE_ADD(f, cuFuncGetName);
  f.add("cuKernelGetName", &cuFuncGetName);
  WARPLINE_ADD(f, cuFuncGetParamInfo);
  f.add("cuKernelGetParamInfo", &cuFuncGetParamInfo);
  WARPLINE_ADD(f, cuFuncIsLoaded);
  WARPLINE_ADD(f, cuFuncLoad);
  WARPLINE_ADD(f, cuOccupancyMaxActiveBlocksPerMultiprocessor);
  WARPLINE_ADD(f, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
  WARPLINE_ADD(f, cuOccupancyMaxPotentialBlockSize);
  WARPLINE_ADD(f, cuOccupancyMaxPotentialBlockSizeWithFlags);
  WARPLINE_ADD(f, cuOccupancyMaxActiveClusters);
  WARPLINE_ADD(f, cuOccupancyMaxPotentialClusterSize);
  WARPLINE_ADD(f, cuOccupancyAvailableDynamicSMemPerBlock);
}

}  // namespace warpline::cuda::driver
