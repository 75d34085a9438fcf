#include "platform/study/cuda_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "platform/study/measuring.h"
#include "platform/study/microbench_texts.h"

namespace warpline::study {
namespace {

// The driver API's types and numbers that are needed here (CUDA Driver API reference).
constexpr int kAttributeClockKhz = 13, kAttributeSms = 16, kAttributeThreadsPerSm = 39,
              kAttributeBusBits = 37, kAttributeL2Bytes = 38, kAttributeMajor = 75, kAttributeMinor = 76,
              kAttributeSharedPerSm = 81, kAttributePersistBytes = 108, kFunctionSharedBytes = 8,
              kFunctionCarveout = 9, kNoPreference = -1;

}  // namespace

struct TextureResource {  // CUDA_RESOURCE_DESC of linear memory
  int kind = 2;
  std::uint64_t pointer = 0;
  int format = 3;  // unsigned words of 32 bits
  unsigned channels = 1;
  std::uint64_t bytes = 0;
  int reserved[26] = {};
  unsigned flags = 0;
};
struct TextureReading {  // CUDA_TEXTURE_DESC
  int address[3] = {}, filter = 0;
  unsigned flags = 1;  // integers as they are
  unsigned anisotropy = 0;
  int mip_filter = 0;
  float bias = 0, least = 0, most = 0, border[4] = {};
  int reserved[12] = {};
};

/// The functions of the driver's library.
struct CudaDevice::Driver {
  void* library = nullptr;
  int (*init)(unsigned) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*total_memory)(std::size_t*, int) = nullptr;
  int (*retain)(void**, int) = nullptr;
  int (*set_current)(void*) = nullptr;
  int (*load)(void**, const void*) = nullptr;
  int (*function)(void**, void*, const char*) = nullptr;
  int (*global)(std::uint64_t*, std::size_t*, void*, const char*) = nullptr;
  int (*set_attribute)(void*, int, int) = nullptr;
  int (*allocate)(std::uint64_t*, std::size_t) = nullptr;
  int (*free)(std::uint64_t) = nullptr;
  int (*to_device)(std::uint64_t, const void*, std::size_t) = nullptr;
  int (*to_host)(void*, std::uint64_t, std::size_t) = nullptr;
  int (*to_device_later)(std::uint64_t, const void*, std::size_t, void*) = nullptr;
  int (*to_host_later)(void*, std::uint64_t, std::size_t, void*) = nullptr;
  int (*allocate_host)(void**, std::size_t, unsigned) = nullptr;
  int (*free_host)(void*) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**) = nullptr;
  int (*make_event)(void**, unsigned) = nullptr;
  int (*record)(void*, void*) = nullptr;
  int (*synchronize)(void*) = nullptr;
  int (*elapsed)(float*, void*, void*) = nullptr;
  int (*make_texture)(std::uint64_t*, const TextureResource*, const TextureReading*, const void*) = nullptr;
  int (*end_texture)(std::uint64_t) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
};

template <class Function, class... Arguments>
void CudaDevice::call(const char* name, Function* function, Arguments... arguments) {
  const int status = function(arguments...);
  if (status == 0) return;
  const char* said = nullptr;
  driver_->error_name(status, &said);
  throw BenchError{std::string(name) + ": " + (said != nullptr ? said : std::to_string(status))};
}

void CudaDevice::find_functions() {
  Driver& d = *driver_;
  d.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (d.library == nullptr) throw BenchError{std::string("there is no CUDA driver: ") + dlerror()};
  const auto find = [&](const char* name, auto& function) {
    void* const found = dlsym(d.library, name);
    if (found == nullptr) throw BenchError{std::string("the CUDA driver has no ") + name};
    std::memcpy(&function, &found, sizeof found);
  };
  find("cuInit", d.init);
  find("cuDeviceGet", d.get);
  find("cuDeviceGetName", d.device_name);
  find("cuDeviceGetAttribute", d.attribute);
  find("cuDeviceTotalMem_v2", d.total_memory);
  find("cuDevicePrimaryCtxRetain", d.retain);
  find("cuCtxSetCurrent", d.set_current);
  find("cuModuleLoadData", d.load);
  find("cuModuleGetFunction", d.function);
  find("cuModuleGetGlobal_v2", d.global);
  find("cuFuncSetAttribute", d.set_attribute);
  find("cuMemAlloc_v2", d.allocate);
  find("cuMemFree_v2", d.free);
  find("cuMemcpyHtoD_v2", d.to_device);
  find("cuMemcpyDtoH_v2", d.to_host);
  find("cuMemcpyHtoDAsync_v2", d.to_device_later);
  find("cuMemcpyDtoHAsync_v2", d.to_host_later);
  find("cuMemHostAlloc", d.allocate_host);
  find("cuMemFreeHost", d.free_host);
  find("cuLaunchKernel", d.launch);
  find("cuEventCreate", d.make_event);
  find("cuEventRecord", d.record);
  find("cuEventSynchronize", d.synchronize);
  find("cuEventElapsedTime", d.elapsed);
  find("cuTexObjectCreate", d.make_texture);
  find("cuTexObjectDestroy", d.end_texture);
  find("cuGetErrorName", d.error_name);
}

CudaDevice::CudaDevice(unsigned number) : driver_(std::make_unique<Driver>()) {
  find_functions();
  int device = 0;
  call("cuInit", driver_->init, 0U);
  call("cuDeviceGet", driver_->get, &device, static_cast<int>(number));
  char name[256] = {};
  call("cuDeviceGetName", driver_->device_name, &name[0], 255, device);
  name_ = name;
  const auto attribute = [&](int which) {
    int value = 0;
    call("cuDeviceGetAttribute", driver_->attribute, &value, which, device);
    return static_cast<unsigned>(value);
  };
  shape_.sms = attribute(kAttributeSms);
  shape_.sm_mhz = attribute(kAttributeClockKhz) / 1000;
  shape_.l2_bytes = attribute(kAttributeL2Bytes);
  shape_.shared_bytes = attribute(kAttributeSharedPerSm);
  shape_.bus_bits = attribute(kAttributeBusBits);
  shape_.persist_bytes = attribute(kAttributePersistBytes);
  const unsigned capability = 10 * attribute(kAttributeMajor) + attribute(kAttributeMinor);
  std::size_t bytes = 0;
  call("cuDeviceTotalMem", driver_->total_memory, &bytes, device);
  shape_.memory_bytes = bytes;
  void* context = nullptr;
  call("cuDevicePrimaryCtxRetain", driver_->retain, &context, device);
  call("cuCtxSetCurrent", driver_->set_current, context);
  for (const MicrobenchText& text : microbench_texts()) {
    void* module = nullptr;
    const auto* const ptx = static_cast<const void*>(text.ptx);
    // What is for later GPUs may be refused: then only the rows that need it are not measured.
    if (text.target > capability && driver_->load(&module, ptx) != 0) continue;
    if (module == nullptr) call("cuModuleLoadData", driver_->load, &module, ptx);
    modules_.push_back(module);
  }
  for (void*& event : events_) call("cuEventCreate", driver_->make_event, &event, 0U);
  call("cuMemAlloc", driver_->allocate, &awake_, std::size_t{256});
  // An idle GPU has a low clock, and takes its time to raise it.
  const auto begin = std::chrono::steady_clock::now();
  do {
    record(0);
    keep_awake();
    record(1);
    elapsed();
  } while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
}

CudaDevice::~CudaDevice() {
  try {
    free_all();
    driver_->free(awake_);
  } catch (const BenchError&) {
    // The driver frees what is left at the end of the process.
  }
}

void CudaDevice::clear() {
  forget();
  free_all();
}

void CudaDevice::free_all() {
  for (const std::uint64_t texture : std::exchange(textures_, {}))
    call("cuTexObjectDestroy", driver_->end_texture, texture);
  for (const std::uint64_t buffer : std::exchange(buffers_, {})) call("cuMemFree", driver_->free, buffer);
}

/// L2 keeps what was read last: other lines take their places.
void CudaDevice::forget() {
  const std::uint64_t bytes = 2 * shape_.l2_bytes;
  KernelCall fill{"stream_write16", 2 * shape_.sms, 1024};
  run(fill.pointer(allocate(bytes)).word(bytes / 16));
}

std::uint64_t CudaDevice::allocate(std::uint64_t bytes) {
  std::uint64_t at = 0;
  call("cuMemAlloc", driver_->allocate, &at, static_cast<std::size_t>(bytes));
  buffers_.push_back(at);
  return at;
}

void CudaDevice::write(std::uint64_t address, const void* bytes, std::uint64_t count) {
  call("cuMemcpyHtoD", driver_->to_device, address, bytes, static_cast<std::size_t>(count));
}

void CudaDevice::read(std::uint64_t address, void* bytes, std::uint64_t count) {
  call("cuMemcpyDtoH", driver_->to_host, bytes, address, static_cast<std::size_t>(count));
}

void CudaDevice::write_constant(const std::string& variable, const void* bytes, std::uint64_t count) {
  std::uint64_t at = 0;
  std::size_t size = 0;
  for (void* const module : modules_)
    if (driver_->global(&at, &size, module, variable.c_str()) == 0) return write(at, bytes, count);
  throw BenchError{"no module has a variable " + variable};
}

std::uint64_t CudaDevice::texture(std::uint64_t address, std::uint64_t words) {
  TextureResource resource;
  resource.pointer = address;
  resource.bytes = words * 4;
  const TextureReading reading;
  std::uint64_t made = 0;
  call("cuTexObjectCreate", driver_->make_texture, &made, static_cast<const TextureResource*>(&resource),
       static_cast<const TextureReading*>(&reading), static_cast<const void*>(nullptr));
  textures_.push_back(made);
  return made;
}

void CudaDevice::launch(const KernelCall& kernel) {
  void*& function = functions_[kernel.kernel];
  for (void* const module : modules_)
    if (function == nullptr) driver_->function(&function, module, kernel.kernel.c_str());
  if (function == nullptr) throw BenchError{"no kernel " + kernel.kernel + " runs on this GPU"};
  call("cuFuncSetAttribute", driver_->set_attribute, function, kFunctionSharedBytes,
       static_cast<int>(kernel.shared_bytes));
  call("cuFuncSetAttribute", driver_->set_attribute, function, kFunctionCarveout,
       kernel.carveout ? static_cast<int>(*kernel.carveout) : kNoPreference);
  // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
  std::vector<std::uint8_t> block = kernel.parameters;
  std::size_t size = block.size();
  void* extra[] = {reinterpret_cast<void*>(std::uintptr_t{1}), block.data(),
                   reinterpret_cast<void*>(std::uintptr_t{2}), &size, nullptr};
  call("cuLaunchKernel", driver_->launch, function, kernel.ctas, 1U, 1U, kernel.threads, 1U, 1U,
       kernel.shared_bytes, static_cast<void*>(nullptr), static_cast<void**>(nullptr), &extra[0]);
}

/// Work of about 0.1 ms that leaves the caches alone.
void CudaDevice::keep_awake() {
  KernelCall spin{"barrier_block", 1, 32};
  launch(spin.word(4096).pointer(awake_));
}

void CudaDevice::record(unsigned event) {
  call("cuEventRecord", driver_->record, events_[event], static_cast<void*>(nullptr));
}

double CudaDevice::elapsed() {
  call("cuEventSynchronize", driver_->synchronize, events_[1]);
  float milliseconds = 0;
  call("cuEventElapsedTime", driver_->elapsed, &milliseconds, events_[0], events_[1]);
  return milliseconds * 1e-3;
}

double CudaDevice::run(const KernelCall& kernel) {
  keep_awake();
  record(0);
  launch(kernel);
  record(1);
  return elapsed();
}

double CudaDevice::host_copy(std::uint64_t bytes, bool to_device, bool page_locked, bool by_host) {
  const std::uint64_t at = allocate(bytes);
  std::vector<std::uint8_t> pageable(page_locked ? 0 : bytes, 1);
  void* here = pageable.data();
  if (page_locked) call("cuMemHostAlloc", driver_->allocate_host, &here, static_cast<std::size_t>(bytes), 0U);
  const auto free_host = [this](void* memory) { driver_->free_host(memory); };
  const std::unique_ptr<void, decltype(free_host)> locked(page_locked ? here : nullptr, free_host);
  const auto size = static_cast<std::size_t>(bytes);
  void* const stream = nullptr;
  const auto once = [&] {
    const auto begin = std::chrono::steady_clock::now();
    record(0);
    if (to_device)
      call("cuMemcpyHtoDAsync", driver_->to_device_later, at, static_cast<const void*>(here), size, stream);
    else
      call("cuMemcpyDtoHAsync", driver_->to_host_later, here, at, size, stream);
    record(1);
    const double between_events = elapsed();
    return by_host ? std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()
                   : between_events;
  };
  constexpr unsigned kTimes = 15;
  std::vector<double> took(kTimes);
  for (double& t : took) t = once();
  return median_of(std::move(took));
}

}  // namespace warpline::study
