#include <algorithm>

#include "platform/cuda/abi/runtime_calls.h"
#include "platform/cuda/abi/runtime_launches.h"

namespace warpline::cuda::runtime {

namespace {

/// A block of a kernel's parameters as a program lays it out. Nothing: it is none, or not of all of them.
std::optional<std::vector<std::uint8_t>> block_of(void* const* extra, const programs::Entry& entry) {
  const void* block = nullptr;
  std::size_t bytes = 0;
  for (; address_of(*extra) != kBlockEnd; extra += 2) {
    const std::uint64_t what = address_of(*extra);
    if (extra[1] == nullptr || (what != kBlockPointer && what != kBlockSize)) return std::nullopt;
    if (what == kBlockPointer) block = extra[1];
    if (what == kBlockSize) bytes = *static_cast<const std::size_t*>(extra[1]);
  }
  // It may end with the last parameter, or with padding behind it.
  const std::uint32_t needed =
      entry.parameters.empty() ? 0 : entry.parameters.back().offset + entry.parameters.back().bytes;
  if (bytes > kMostParameterBytes || bytes < needed || (bytes != 0 && block == nullptr)) return std::nullopt;
  const auto* const first = static_cast<const std::uint8_t*>(block);
  std::vector<std::uint8_t> all(first, first + bytes);
  all.resize(entry.parameter_bytes);
  return all;
}

}  // namespace

Parameters laid_out(void** arguments) {
  return [arguments](const programs::Entry& entry) -> std::optional<std::vector<std::uint8_t>> {
    if (arguments == nullptr && !entry.parameters.empty()) return std::nullopt;
    std::vector<std::uint8_t> bytes(entry.parameter_bytes);
    for (std::size_t i = 0; i < entry.parameters.size(); ++i)
      std::memcpy(&bytes[entry.parameters[i].offset], arguments[i], entry.parameters[i].bytes);
    return bytes;
  };
}

Parameters laid_out_whole(void** extra) {
  return [extra](const programs::Entry& entry) { return block_of(extra, entry); };
}

GridShape shape_of(const AbiDim3& grid, const AbiDim3& block, std::size_t shared_bytes) {
  GridShape shape;
  shape.grid = grid.dim3();
  shape.block = block.dim3();
  shape.cluster = {1, 1, 1};
  shape.shared_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(shared_bytes, ~0U));
  return shape;
}

namespace {

void** __cudaRegisterFatBinary(const void* wrapper) {
  return reinterpret_cast<void**>(Process::instance().add(static_cast<const FatBinaryWrapper*>(wrapper)));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  Process::instance().remove(reinterpret_cast<Process::Registered*>(handle));
}

char __cudaInitModule(void** handle) {
  Process::instance().place_managed(reinterpret_cast<Process::Registered*>(handle));
  return 1;
}

void __cudaRegisterFunction(void** handle, const void* stub, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  Process::instance().add_function(reinterpret_cast<Process::Registered*>(handle), stub, name);
}

void __cudaRegisterVar(void** handle, const void* variable, char*, const char* name, int, std::size_t bytes,
                       int, int) {
  Process::instance().add_variable(reinterpret_cast<Process::Registered*>(handle), variable, name, bytes,
                                   nullptr);
}

void __cudaRegisterManagedVar(void** handle, void** variable, char*, const char* name, int, std::size_t bytes,
                              int, int) {
  Process::instance().add_variable(reinterpret_cast<Process::Registered*>(handle), variable, name, bytes,
                                   variable);
}

void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}

unsigned __cudaPushCallConfiguration(AbiDim3 grid, AbiDim3 block, std::size_t shared_bytes, void* stream) {
  this_thread().configurations.push_back({grid.dim3(), block.dim3(), shared_bytes, stream});
  return 0;
}

int __cudaPopCallConfiguration(AbiDim3* grid, AbiDim3* block, std::size_t* shared_bytes, void* stream) {
  auto& stack = this_thread().configurations;
  if (stack.empty()) return noted(Status::missing_configuration);
  const ThreadState::Configuration c = stack.back();
  stack.pop_back();
  *grid = AbiDim3(c.grid);
  *block = AbiDim3(c.block);
  *shared_bytes = c.shared_bytes;
  *static_cast<void**>(stream) = c.stream;
  return 0;
}

int __cudaGetKernel(void** kernel, const void* stub) {
  if (kernel == nullptr) return noted(Status::invalid_value);
  Function* const f = Process::instance().function_of(stub);
  *kernel = f;
  return noted(f == nullptr ? Status::invalid_device_function : Status::success);
}

int launch_grid(const void* kernel, const GridShape& shape, void** arguments, void* stream) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    Function* const f = Process::instance().function_of(kernel);
    if (f == nullptr) return Status::invalid_device_function;
    return m.launch({f, shape, laid_out(arguments)}, s);
  });
}

int cudaLaunchKernel(const void* kernel, AbiDim3 grid, AbiDim3 block, void** arguments,
                     std::size_t shared_bytes, void* stream) {
  return launch_grid(kernel, shape_of(grid, block, shared_bytes), arguments, stream);
}

int cudaLaunchCooperativeKernel(const void* kernel, AbiDim3 grid, AbiDim3 block, void** arguments,
                                std::size_t shared_bytes, void* stream) {
  GridShape shape = shape_of(grid, block, shared_bytes);
  shape.cooperative = true;
  return launch_grid(kernel, shape, arguments, stream);
}

/// What attributes of a launch say; false: one of them says what is not modelled.
bool take_attributes(const LaunchAttribute* attributes, std::size_t count, GridShape& shape) {
  enum : int {
    kCooperative = 2,
    kCluster = 4,
    kProgrammatic = 6,
    kProgrammaticEvent = 7,
    kLaunchEvent = 12,
    kCarveout = 14
  };
  for (std::size_t n = 0; n < count; ++n) {
    const LaunchAttribute& a = attributes[n];
    std::uint32_t words[3];
    std::memcpy(words, a.value, sizeof words);
    switch (a.id) {
      case kCooperative: shape.cooperative = words[0] != 0; break;
      case kCluster: shape.cluster = {words[0], words[1], words[2]}; break;
      case kProgrammatic: shape.dependent = words[0] != 0; break;
      case kProgrammaticEvent:
      case kLaunchEvent: return false;
      case kCarveout:
        if (words[0] <= 100) shape.carveout = words[0];
        break;
      default: break;  // hints
    }
  }
  return true;
}

int cudaLaunchKernelExC(const LaunchConfiguration* c, const void* kernel, void** arguments) {
  if (c == nullptr) return noted(Status::invalid_value);
  GridShape shape = shape_of(c->grid, c->block, c->shared_bytes);
  if (!take_attributes(c->attributes, c->attribute_count, shape)) return noted(Status::not_supported);
  return launch_grid(kernel, shape, arguments, c->stream);
}

/// Calls `f` with the machine, a kernel, and its signature on the current GPU.
template <class F>
int with_entry(const void* kernel, F&& f) {
  return with_machine([&](Machine& m) {
    Function* const function = Process::instance().function_of(kernel);
    if (function == nullptr) return Status::invalid_device_function;
    const programs::Entry* entry = nullptr;
    const Status s = m.entry_of(*function, this_thread().device, entry);
    return s == Status::success ? f(m, *function, *entry) : s;
  });
}

int cudaFuncSetAttribute(const void* kernel, int attribute, int value) {
  constexpr int kMostDynamicShared = 8, kCarveOut = 9, kOddClusters = 14, kEnd = 16;
  return with_entry(kernel, [&](Machine& m, Function& f, const programs::Entry& entry) {
    if (attribute < kMostDynamicShared || attribute >= kEnd) return Status::invalid_value;
    if (attribute == kOddClusters) f.odd_clusters = value != 0;
    if (attribute == kCarveOut) {
      if (value < -1 || value > 100) return Status::invalid_value;
      f.carveout = value < 0 ? std::nullopt : std::optional(static_cast<unsigned>(value));
    }
    if (attribute != kMostDynamicShared) return Status::success;
    const int most = *device_attribute(m.config(), 97) - static_cast<int>(entry.static_shared_bytes);
    if (value < 0 || value > most) return Status::invalid_value;
    f.set_dynamic_shared = static_cast<std::uint32_t>(value);
    return Status::success;
  });
}

int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* kernel) {
  return with_entry(kernel, [&](Machine& m, Function& f, const programs::Entry& entry) {
    if (attributes == nullptr) return Status::invalid_value;
    FunctionAttributes a;
    a.shared_bytes = entry.static_shared_bytes;
    a.local_bytes = entry.local_bytes;
    a.most_threads = static_cast<std::int32_t>(std::min<std::uint64_t>(entry.maximum_threads, 1024));
    a.ptx_version = a.binary_version =
        *device_attribute(m.config(), 75) * 10 + *device_attribute(m.config(), 76);
    a.registers = static_cast<std::int32_t>(m.registers_of(f));
    a.most_dynamic_shared = static_cast<std::int32_t>(f.most_dynamic_shared(entry));
    a.carve_out = f.carveout ? static_cast<std::int32_t>(*f.carveout) : -1;
    a.needs_cluster = entry.needs_cluster ? 1 : 0;
    a.odd_clusters = f.odd_clusters ? 1 : 0;
    if (entry.required_cluster) {
      a.required_cluster[0] = static_cast<std::int32_t>(entry.required_cluster->x);
      a.required_cluster[1] = static_cast<std::int32_t>(entry.required_cluster->y);
      a.required_cluster[2] = static_cast<std::int32_t>(entry.required_cluster->z);
    }
    *attributes = a;
    return Status::success;
  });
}

int cudaFuncGetName(const char** name, const void* kernel) {
  return with_machine([&](Machine&) {
    const Function* const f = Process::instance().function_of(kernel);
    if (f == nullptr || name == nullptr) return Status::invalid_device_function;
    *name = f->name.c_str();
    return Status::success;
  });
}

int cudaFuncGetParamInfo(const void* kernel, std::size_t number, std::size_t* offset, std::size_t* bytes) {
  return with_entry(kernel, [&](Machine&, Function&, const programs::Entry& entry) {
    if (number >= entry.parameters.size() || offset == nullptr) return Status::invalid_value;
    *offset = entry.parameters[number].offset;
    if (bytes != nullptr) *bytes = entry.parameters[number].bytes;
    return Status::success;
  });
}

int cudaGetFuncBySymbol(void** function, const void* stub) {
  return __cudaGetKernel(function, stub);
}

int cudaGetKernel(void** kernel, const void* stub) {
  return __cudaGetKernel(kernel, stub);
}

int cudaFuncSetSharedMemConfig(const void*, int config) {
  return noted(config >= 0 && config <= 2 ? Status::success : Status::invalid_value);
}

int cudaFuncSetCacheConfig(const void* kernel, int preference) {
  return with_entry(kernel, [preference](Machine&, Function& f, const programs::Entry&) {
    if (preference < 0 || preference > 3) return Status::invalid_value;
    f.cache_preference = preference;
    return Status::success;
  });
}

}  // namespace

void add_kernels(Functions& f) {
  WARPLINE_ADD(f, __cudaRegisterFatBinary);
  WARPLINE_ADD(f, __cudaRegisterFatBinaryEnd);
  WARPLINE_ADD(f, __cudaUnregisterFatBinary);
  WARPLINE_ADD(f, __cudaInitModule);
  WARPLINE_ADD(f, __cudaRegisterFunction);
  WARPLINE_ADD(f, __cudaRegisterVar);
  WARPLINE_ADD(f, __cudaPushCallConfiguration);
  WARPLINE_ADD(f, __cudaPopCallConfiguration);
  WARPLINE_ADD(f, __cudaGetKernel);
  WARPLINE_ADD(f, cudaLaunchKernel);
  WARPLINE_ADD(f, cudaLaunchKernelExC);
  WARPLINE_ADD(f, __cudaRegisterManagedVar);
  WARPLINE_ADD(f, __cudaRegisterHostVar);
  WARPLINE_ADD(f, cudaLaunchCooperativeKernel);
  WARPLINE_ADD(f, cudaFuncSetAttribute);
  WARPLINE_ADD(f, cudaFuncSetCacheConfig);
  f.add("__cudaLaunchKernel", &cudaLaunchKernel);
  WARPLINE_ADD(f, cudaFuncGetAttributes);
  WARPLINE_ADD(f, cudaFuncGetName);
  WARPLINE_ADD(f, cudaFuncGetParamInfo);
  WARPLINE_ADD(f, cudaGetFuncBySymbol);
  WARPLINE_ADD(f, cudaGetKernel);
  WARPLINE_ADD(f, cudaFuncSetSharedMemConfig);
}

}  // namespace warpline::cuda::runtime
