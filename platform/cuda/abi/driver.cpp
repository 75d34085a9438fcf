#include "platform/cuda/abi/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <utility>

#include "platform/cuda/abi/driver_calls.h"
#include "platform/cuda/shortcomings.h"

namespace warpline::cuda {
namespace driver {
namespace {

const Functions& functions_by_name() {
  static const Functions all = [] {
    Functions functions;
    for (const auto add :
         {add_devices, add_contexts, add_modules, add_kernels, add_memory, add_copies, add_virtual_memory,
          add_streams, add_tensor_maps, add_graphs, add_shared, add_arrays, add_entry_points})
      add(functions);
    return functions;
  }();
  return all;
}

constexpr std::string_view kNames[] = {
#include "driver_names.inc"
};
std::atomic<bool> initialised{false};

template <std::size_t number>
int refuse_name() {
  const std::string name(kNames[number]);
  Shortcomings::instance().note(name, name + " is not modelled: it returns CUDA_ERROR_NOT_SUPPORTED");
  return result(Status::not_supported);
}

template <std::size_t... numbers>
Address refusal_of(std::size_t number, std::index_sequence<numbers...>) {
  static constexpr int (*kRefusals[])() = {&refuse_name<numbers>...};
  return reinterpret_cast<Address>(kRefusals[number]);
}

/// A name that means another function from some version of CUDA on (CUDA Driver API, "cudaTypedefs.h").
struct Renamed {
  std::string_view name;
  int first;                ///< the version that brought it
  std::string_view suffix;  ///< of what it means from `version` on
  int version;
};
constexpr Renamed kRenamed[] = {
    {"cuArray3DCreate", 2000, "_v2", 3020},
    {"cuArray3DGetDescriptor", 2000, "_v2", 3020},
    {"cuArrayCreate", 2000, "_v2", 3020},
    {"cuArrayGetDescriptor", 2000, "_v2", 3020},
    {"cuCtxCreate", 2000, "_v2", 3020},
    {"cuCtxCreate", 2000, "_v3", 11040},
    {"cuCtxCreate", 2000, "_v4", 12050},
    {"cuCtxDestroy", 2000, "_v2", 4000},
    {"cuCtxPopCurrent", 2000, "_v2", 4000},
    {"cuCtxPushCurrent", 2000, "_v2", 4000},
    {"cuDeviceGetUuid", 9020, "_v2", 11040},
    {"cuDevicePrimaryCtxRelease", 7000, "_v2", 11000},
    {"cuDevicePrimaryCtxReset", 7000, "_v2", 11000},
    {"cuDevicePrimaryCtxSetFlags", 7000, "_v2", 11000},
    {"cuDeviceTotalMem", 2000, "_v2", 3020},
    {"cuEventDestroy", 2000, "_v2", 4000},
    {"cuEventElapsedTime", 2000, "_v2", 12080},
    {"cuGetProcAddress", 11030, "_v2", 12000},
    {"cuGraphAddDependencies", 10000, "_v2", 12030},
    {"cuGraphAddKernelNode", 10000, "_v2", 12000},
    {"cuGraphAddNode", 12020, "_v2", 12030},
    {"cuGraphExecKernelNodeSetParams", 10010, "_v2", 12000},
    {"cuGraphExecUpdate", 10020, "_v2", 12000},
    {"cuGraphGetEdges", 10000, "_v2", 12030},
    {"cuGraphInstantiate", 10000, "_v2", 11000},
    {"cuGraphKernelNodeGetParams", 10000, "_v2", 12000},
    {"cuGraphKernelNodeSetParams", 10000, "_v2", 12000},
    {"cuGraphNodeGetDependencies", 10000, "_v2", 12030},
    {"cuGraphNodeGetDependentNodes", 10000, "_v2", 12030},
    {"cuGraphRemoveDependencies", 10000, "_v2", 12030},
    {"cuGraphicsResourceGetMappedPointer", 3000, "_v2", 3020},
    {"cuGraphicsResourceSetMapFlags", 3000, "_v2", 6050},
    {"cuIpcOpenMemHandle", 4010, "_v2", 11000},
    {"cuLinkAddData", 5050, "_v2", 6050},
    {"cuLinkAddFile", 5050, "_v2", 6050},
    {"cuLinkCreate", 5050, "_v2", 6050},
    {"cuMemAdvise", 8000, "_v2", 12020},
    {"cuMemAlloc", 2000, "_v2", 3020},
    {"cuMemAllocHost", 2000, "_v2", 3020},
    {"cuMemAllocPitch", 2000, "_v2", 3020},
    {"cuMemFree", 2000, "_v2", 3020},
    {"cuMemGetAddressRange", 2000, "_v2", 3020},
    {"cuMemGetInfo", 2000, "_v2", 3020},
    {"cuMemHostGetDevicePointer", 2020, "_v2", 3020},
    {"cuMemHostRegister", 4000, "_v2", 6050},
    {"cuMemPrefetchAsync", 8000, "_v2", 12020},
    {"cuMemcpy2D", 2000, "_v2", 3020},
    {"cuMemcpy2DAsync", 2000, "_v2", 3020},
    {"cuMemcpy2DUnaligned", 2000, "_v2", 3020},
    {"cuMemcpy3D", 2000, "_v2", 3020},
    {"cuMemcpy3DAsync", 2000, "_v2", 3020},
    {"cuMemcpy3DBatchAsync", 12080, "_v2", 13000},
    {"cuMemcpyAtoA", 2000, "_v2", 3020},
    {"cuMemcpyAtoD", 2000, "_v2", 3020},
    {"cuMemcpyAtoH", 2000, "_v2", 3020},
    {"cuMemcpyAtoHAsync", 2000, "_v2", 3020},
    {"cuMemcpyBatchAsync", 12080, "_v2", 13000},
    {"cuMemcpyDtoA", 2000, "_v2", 3020},
    {"cuMemcpyDtoD", 2000, "_v2", 3020},
    {"cuMemcpyDtoDAsync", 3000, "_v2", 3020},
    {"cuMemcpyDtoH", 2000, "_v2", 3020},
    {"cuMemcpyDtoHAsync", 2000, "_v2", 3020},
    {"cuMemcpyHtoA", 2000, "_v2", 3020},
    {"cuMemcpyHtoAAsync", 2000, "_v2", 3020},
    {"cuMemcpyHtoD", 2000, "_v2", 3020},
    {"cuMemcpyHtoDAsync", 2000, "_v2", 3020},
    {"cuMemsetD16", 2000, "_v2", 3020},
    {"cuMemsetD2D16", 2000, "_v2", 3020},
    {"cuMemsetD2D32", 2000, "_v2", 3020},
    {"cuMemsetD2D8", 2000, "_v2", 3020},
    {"cuMemsetD32", 2000, "_v2", 3020},
    {"cuMemsetD8", 2000, "_v2", 3020},
    {"cuModuleGetGlobal", 2000, "_v2", 3020},
    {"cuStreamBatchMemOp", 8000, "_v2", 11070},
    {"cuStreamBeginCapture", 10000, "_v2", 10010},
    {"cuStreamDestroy", 2000, "_v2", 4000},
    {"cuStreamGetCaptureInfo", 10010, "_v2", 11030},
    {"cuStreamGetCaptureInfo", 10010, "_v3", 12030},
    {"cuStreamGetCtx", 9020, "_v2", 12050},
    {"cuStreamUpdateCaptureDependencies", 11030, "_v2", 12030},
    {"cuStreamWaitValue32", 8000, "_v2", 11070},
    {"cuStreamWaitValue64", 9000, "_v2", 11070},
    {"cuStreamWriteValue32", 8000, "_v2", 11070},
    {"cuStreamWriteValue64", 9000, "_v2", 11070},
    {"cuTexRefGetAddress", 2000, "_v2", 3020},
    {"cuTexRefSetAddress", 2000, "_v2", 3020},
    {"cuTexRefSetAddress2D", 2020, "_v2", 3020},
    {"cuTexRefSetAddress2D", 2020, "_v3", 4010},
};

int cuGetErrorString(int error, const char** text) {
  if (text == nullptr) return result(Status::invalid_value);
  const std::string_view found = description(static_cast<Status>(error));
  *text = found.empty() ? nullptr : found.data();
  return result(found.empty() ? Status::invalid_value : Status::success);
}

int cuGetErrorName(int error, const char** text) {
  if (text == nullptr) return result(Status::invalid_value);
  const std::string_view found = driver_name(static_cast<Status>(error));
  *text = found.empty() ? nullptr : found.data();
  return result(found.empty() ? Status::invalid_value : Status::success);
}

int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t, int* told) {
  if (name == nullptr || function == nullptr) return result(Status::invalid_value);
  Address found = nullptr;
  const EntryPoint entry = driver_entry_point(name, version, found);
  *function = reinterpret_cast<void*>(found);
  if (told != nullptr) *told = static_cast<int>(entry);
  return result(entry == EntryPoint::found ? Status::success : Status::symbol_not_found);
}

int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

/// Tables of functions that NVIDIA's own libraries have of its driver, such as a runtime that is linked into
/// something whose symbols were not there when the program began: none is here. Its run-time compiler asks,
/// too, and does without.
int cuGetExportTable(const void** table, const void*) {
  if (table != nullptr) *table = nullptr;
  Dl_info caller = {};
  const bool known = dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != nullptr;
  const std::string file = known ? caller.dli_fname : "the program";
  if (file.find("/libnvrtc.so") != std::string::npos) return result(Status::symbol_not_found);
  Shortcomings::instance().note(
      "NVIDIA's runtime in " + file,
      file +
          " has a CUDA runtime, or a library of NVIDIA's, inside that cannot be led "
          "to ours: if it is the runtime, link it with `-cudart shared`");
  return result(Status::symbol_not_found);
}

int cuProfilerStart() {
  return result(Status::success);
}

int cuProfilerStop() {
  return result(Status::success);
}

}  // namespace

void add_entry_points(Functions& f) {
  WARPLINE_ADD(f, cuGetErrorString);
  WARPLINE_ADD(f, cuGetErrorName);
  WARPLINE_ADD(f, cuGetProcAddress);
  WARPLINE_ADD(f, cuGetProcAddress_v2);
  WARPLINE_ADD(f, cuGetExportTable);
  WARPLINE_ADD(f, cuProfilerStart);
  WARPLINE_ADD(f, cuProfilerStop);
}

bool is_initialised() {
  return initialised.load();
}

void set_initialised() {
  initialised.store(true);
}

Status refuse(const std::string& what) {
  Shortcomings::instance().note(what, what + ": CUDA_ERROR_NOT_SUPPORTED");
  return Status::not_supported;
}

}  // namespace driver

Address driver_function(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
      name.remove_suffix(suffix.size());
  return driver::functions_by_name().find(name, kNewest);
}

Address driver_refusal(std::size_t number) {
  return driver::refusal_of(number, std::make_index_sequence<std::size(driver::kNames)>());
}

std::size_t driver_names() {
  return std::size(driver::kNames);
}

std::string_view driver_name_at(std::size_t number) {
  return driver::kNames[number];
}

EntryPoint driver_entry_point(std::string_view name, int version, Address& function) {
  function = nullptr;
  std::string exported(name);
  for (const driver::Renamed& r : driver::kRenamed) {
    if (r.name != name) continue;
    if (version < r.first) return EntryPoint::too_new;
    if (version >= r.version) exported = std::string(name) + std::string(r.suffix);
  }
  const auto* const found = std::lower_bound(std::begin(driver::kNames), std::end(driver::kNames), exported);
  if (found == std::end(driver::kNames) || *found != exported) return EntryPoint::not_found;
  function = driver_function(exported);
  if (function == nullptr)
    function = driver_refusal(static_cast<std::size_t>(found - std::begin(driver::kNames)));
  return EntryPoint::found;
}

}  // namespace warpline::cuda
