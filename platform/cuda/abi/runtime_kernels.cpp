#include "platform/cuda/abi/runtime_calls.h"

namespace warpline::cuda::runtime {
namespace {

void** __cudaRegisterFatBinary(const void* wrapper) {
  return reinterpret_cast<void**>(Process::instance().add(static_cast<const FatBinaryWrapper*>(wrapper)));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  Process::instance().remove(reinterpret_cast<Process::Registered*>(handle));
}

char __cudaInitModule(void**) {
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
  Function* const f = Process::instance().function_of(stub);
  *kernel = f;
  return noted(f == nullptr ? Status::invalid_device_function : Status::success);
}

int launch(const void* kernel, AbiDim3 grid, AbiDim3 block, void** arguments, std::size_t shared_bytes,
           void* stream, bool cooperative, Dim3 cluster = {1, 1, 1}) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    Function* const f = Process::instance().function_of(kernel);
    if (f == nullptr) return Status::invalid_device_function;
    GridRequest request;
    request.function = f;
    request.grid = grid.dim3();
    request.block = block.dim3();
    request.cluster = cluster;
    request.shared_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(shared_bytes, ~0U));
    request.cooperative = cooperative;
    request.parameters = [arguments](const programs::Entry& entry) {
      std::vector<std::uint8_t> bytes(entry.parameter_bytes);
      for (std::size_t i = 0; i < entry.parameters.size(); ++i)
        std::memcpy(&bytes[entry.parameters[i].offset], arguments[i], entry.parameters[i].bytes);
      return bytes;
    };
    return m.launch(request, s);
  });
}

int cudaLaunchKernel(const void* kernel, AbiDim3 grid, AbiDim3 block, void** arguments,
                     std::size_t shared_bytes, void* stream) {
  return launch(kernel, grid, block, arguments, shared_bytes, stream, false);
}

int cudaLaunchCooperativeKernel(const void* kernel, AbiDim3 grid, AbiDim3 block, void** arguments,
                                std::size_t shared_bytes, void* stream) {
  return launch(kernel, grid, block, arguments, shared_bytes, stream, true);
}

int cudaFuncSetAttribute(const void* kernel, int attribute, int value) {
  constexpr int kMostDynamicShared = 8;
  return with_machine([&](Machine& m) {
    Function* const f = Process::instance().function_of(kernel);
    if (f == nullptr) return Status::invalid_device_function;
    if (attribute != kMostDynamicShared) return Status::success;
    const programs::Entry* entry = nullptr;
    if (const Status s = m.entry_of(*f, this_thread().device, entry); s != Status::success) return s;
    const int most = *device_attribute(m.config(), 97) - static_cast<int>(entry->static_shared_bytes);
    if (value < 0 || value > most) return Status::invalid_value;
    f->most_dynamic_shared = static_cast<std::uint32_t>(value);
    return Status::success;
  });
}

int cudaFuncSetCacheConfig(const void*, int) {
  return noted(Status::success);
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
  WARPLINE_ADD(f, cudaLaunchCooperativeKernel);
  WARPLINE_ADD(f, cudaFuncSetAttribute);
  WARPLINE_ADD(f, cudaFuncSetCacheConfig);
  f.add("__cudaLaunchKernel", &cudaLaunchKernel);
}

}  // namespace warpline::cuda::runtime
