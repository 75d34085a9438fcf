#include "platform/cuda/abi/runtime_calls.h"

// Names that mean something else in toolkits 11 and 12, or are there only. What they lead to is what the
// newest toolkit has.
namespace warpline::cuda::runtime {
namespace {

/// The newest toolkit's function of that name.
template <class F>
F* newest(std::string_view name) {
  return reinterpret_cast<F*>(runtime_function(name));
}

constexpr unsigned kLast = 12;  // toolkit in which they have that meaning
constexpr int kOfHost = 2, kCpu = -1;

MemoryLocation location_of(int device) {
  return {device == kCpu ? kOfHost : kOfDevice, device == kCpu ? 0 : device};
}

int prefetch(const void* pointer, std::size_t bytes, int device, void* stream) {
  using F = int(const void*, std::size_t, MemoryLocation, unsigned, void*);
  return newest<F>("cudaMemPrefetchAsync")(pointer, bytes, location_of(device), 0, stream);
}

int advise(const void* pointer, std::size_t bytes, int advice, int device) {
  using F = int(const void*, std::size_t, int, MemoryLocation);
  return newest<F>("cudaMemAdvise")(pointer, bytes, advice, location_of(device));
}

int edges(void* graph, void** from, void** to, std::size_t* count) {
  using F = int(void*, void**, void**, void*, std::size_t*);
  return newest<F>("cudaGraphGetEdges")(graph, from, to, nullptr, count);
}

int dependencies(void* node, void** nodes, std::size_t* count) {
  using F = int(void*, void**, void*, std::size_t*);
  return newest<F>("cudaGraphNodeGetDependencies")(node, nodes, nullptr, count);
}

int dependents(void* node, void** nodes, std::size_t* count) {
  using F = int(void*, void**, void*, std::size_t*);
  return newest<F>("cudaGraphNodeGetDependentNodes")(node, nodes, nullptr, count);
}

int add_dependencies(void* graph, void* const* from, void* const* to, std::size_t count) {
  using F = int(void*, void* const*, void* const*, const void*, std::size_t);
  return newest<F>("cudaGraphAddDependencies")(graph, from, to, nullptr, count);
}

int add_any_node(void** node, void* graph, void* const* after, std::size_t count, void* parameters) {
  using F = int(void**, void*, void* const*, const void*, std::size_t, void*);
  return newest<F>("cudaGraphAddNode")(node, graph, after, nullptr, count, parameters);
}

int add_any_node_2(void** node, void* graph, void* const* after, const void* edges, std::size_t count,
                   void* parameters) {
  using F = int(void**, void*, void* const*, const void*, std::size_t, void*);
  return newest<F>("cudaGraphAddNode")(node, graph, after, edges, count, parameters);
}

int remove_dependencies(void* graph, void* const* from, void* const* to, std::size_t count) {
  using F = int(void*, void* const*, void* const*, const void*, std::size_t);
  return newest<F>("cudaGraphRemoveDependencies")(graph, from, to, nullptr, count);
}

using CaptureInfo = int(void*, int*, unsigned long long*, void**, void* const**, const void**, std::size_t*);

int capture_info(void* stream, int* status, unsigned long long* id) {
  return newest<CaptureInfo>("cudaStreamGetCaptureInfo")(stream, status, id, nullptr, nullptr, nullptr,
                                                         nullptr);
}

int capture_info_2(void* stream, int* status, unsigned long long* id, void** graph, void* const** nodes,
                   std::size_t* count) {
  return newest<CaptureInfo>("cudaStreamGetCaptureInfo")(stream, status, id, graph, nodes, nullptr, count);
}

int capture_info_3(void* stream, int* status, unsigned long long* id, void** graph, void* const** nodes,
                   const void** data, std::size_t* count) {
  return newest<CaptureInfo>("cudaStreamGetCaptureInfo")(stream, status, id, graph, nodes, data, count);
}

int update_capture(void* stream, void** nodes, std::size_t count, unsigned flags) {
  using F = int(void*, void**, const void*, std::size_t, unsigned);
  return newest<F>("cudaStreamUpdateCaptureDependencies")(stream, nodes, nullptr, count, flags);
}

int instantiate_11(void** exec, void* graph, void** node, char* log, std::size_t bytes) {
  using F = int(void**, void*, unsigned long long);
  if (node != nullptr) *node = nullptr;
  if (log != nullptr && bytes != 0) *log = '\0';
  return newest<F>("cudaGraphInstantiate")(exec, graph, 0);
}

int update_exec_11(void* exec, void* graph, void** node, std::int32_t* result) {
  struct Result {
    std::int32_t result = 0;
    void* node = nullptr;
    void* from = nullptr;
  } info;
  using F = int(void*, void*, Result*);
  const int status = newest<F>("cudaGraphExecUpdate")(exec, graph, &info);
  if (node != nullptr) *node = info.node;
  if (result != nullptr) *result = info.result;
  return status;
}

// Structures that have grown are filled as far as they went then.
int pointer_attributes(void* attributes, const void* pointer) {
  PointerAttributes all;
  const int status = newest<int(PointerAttributes*, const void*)>("cudaPointerGetAttributes")(
      attributes == nullptr ? nullptr : &all, pointer);
  if (status == 0) std::memcpy(attributes, &all, offsetof(PointerAttributes, reserved));
  return status;
}

int function_attributes_11(void* attributes, const void* kernel) {
  FunctionAttributes all;
  const int status = newest<int(FunctionAttributes*, const void*)>("cudaFuncGetAttributes")(
      attributes == nullptr ? nullptr : &all, kernel);
  if (status == 0) std::memcpy(attributes, &all, offsetof(FunctionAttributes, needs_cluster));
  return status;
}

int stream_attribute_11(void* stream, int attribute, void* value) {
  constexpr std::size_t kBytes = 32;
  std::uint8_t all[64];
  const int status = newest<int(void*, int, void*)>("cudaStreamGetAttribute")(
      stream, attribute, value == nullptr ? nullptr : all);
  if (status == 0) std::memcpy(value, all, kBytes);
  return status;
}

using ByVersion = int(const char*, void**, unsigned, std::uint64_t, int*);

int entry_point_11(const char* name, void** function, std::uint64_t flags) {
  return newest<ByVersion>("cudaGetDriverEntryPointByVersion")(name, function, 11080, flags, nullptr);
}

int entry_point_12(const char* name, void** function, std::uint64_t flags, int* told) {
  return newest<ByVersion>("cudaGetDriverEntryPointByVersion")(name, function, 12000, flags, told);
}

int synchronize() {
  return newest<int()>("cudaDeviceSynchronize")();
}

int reset_all() {
  return newest<int()>("cudaDeviceReset")();
}

}  // namespace

void add_older(Functions& f) {
  f.add("cudaMemPrefetchAsync", &prefetch, kLast);
  f.add("cudaMemAdvise", &advise, kLast);
  f.add("cudaGraphGetEdges", &edges, kLast);
  f.add("cudaGraphNodeGetDependencies", &dependencies, kLast);
  f.add("cudaGraphNodeGetDependentNodes", &dependents, kLast);
  f.add("cudaGraphAddDependencies", &add_dependencies, kLast);
  f.add("cudaGraphAddNode", &add_any_node, kLast);
  f.add("cudaGraphAddNode_v2", &add_any_node_2, kLast);
  f.add("cudaGraphRemoveDependencies", &remove_dependencies, kLast);
  f.add("cudaStreamGetCaptureInfo", &capture_info, kLast);
  f.add("cudaStreamGetCaptureInfo_v2", &capture_info_2, kLast);
  f.add("cudaStreamGetCaptureInfo_v3", &capture_info_3, kLast);
  f.add("cudaStreamUpdateCaptureDependencies", &update_capture, kLast);
  f.add("cudaGraphInstantiate", &instantiate_11, 11);
  f.add("cudaGraphExecUpdate", &update_exec_11, 11);
  f.add("cudaPointerGetAttributes", &pointer_attributes, kLast);
  f.add("cudaFuncGetAttributes", &function_attributes_11, 11);
  f.add("cudaStreamGetAttribute", &stream_attribute_11, 11);
  f.add("cudaGetDriverEntryPoint", &entry_point_12, kLast);
  f.add("cudaGetDriverEntryPoint", &entry_point_11, 11);
  f.add("cudaThreadSynchronize", &synchronize, kLast);
  f.add("cudaThreadExit", &reset_all, kLast);
}

}  // namespace warpline::cuda::runtime
