#include "platform/cuda/abi/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include "platform/cuda/abi/runtime_types.h"
#include "platform/cuda/device_properties.h"
#include "platform/cuda/process.h"

// Functions as programs call them: names and parameters are those of the CUDA Runtime API, which documents
// them.
namespace warpline::cuda {
namespace runtime {

using Kind = Allocation::Kind;

/// What CUDA calls an error, noted for cudaGetLastError.
int noted(Status status) {
  if (status != Status::success && status != Status::not_ready) this_thread().last = status;
  return static_cast<int>(status);
}

Machine* machine() {
  return Process::instance().machine();
}

/// Calls `f` with the machine.
template <class F>
int with_machine(F&& f) {
  Machine* const m = machine();
  return noted(m == nullptr ? Status::no_device : f(*m));
}

/// A stream as programs name it: 0 and 1 are the legacy default stream, 2 that of the thread, which is taken
/// for the same.
Stream* stream_of(Machine& m, void* handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return &m.default_stream(this_thread().device);
  return m.is_stream(handle) ? static_cast<Stream*>(handle) : nullptr;
}

/// Calls `f` with the machine and the stream.
template <class F>
int with_stream(void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    Stream* const stream = stream_of(m, handle);
    return stream == nullptr ? Status::invalid_resource_handle : f(m, *stream);
  });
}

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

// ---- Errors

int cudaGetLastError() {
  const Status last = std::exchange(this_thread().last, Status::success);
  if (last != Status::success) return static_cast<int>(last);
  Machine* const m = machine();
  return static_cast<int>(m == nullptr ? Status::no_device : m->fault());
}

int cudaPeekAtLastError() {
  const Status last = this_thread().last;
  if (last != Status::success) return static_cast<int>(last);
  Machine* const m = machine();
  return static_cast<int>(m == nullptr ? Status::no_device : m->fault());
}

const char* cudaGetErrorString(int error) {
  const std::string_view text = description(static_cast<Status>(error));
  return text.empty() ? "unrecognized error code" : text.data();
}

const char* cudaGetErrorName(int error) {
  const std::string_view name = runtime_name(static_cast<Status>(error));
  return name.empty() ? "unrecognized error code" : name.data();
}

// ---- Devices

int cudaGetDeviceCount(int* count) {
  return with_machine([&](Machine& m) {
    *count = static_cast<int>(m.devices());
    return Status::success;
  });
}

int cudaSetDevice(int device) {
  return with_machine([&](Machine& m) {
    if (device < 0 || static_cast<unsigned>(device) >= m.devices()) return Status::invalid_device;
    this_thread().device = static_cast<unsigned>(device);
    return Status::success;
  });
}

int cudaGetDevice(int* device) {
  return with_machine([&](Machine&) {
    *device = static_cast<int>(this_thread().device);
    return Status::success;
  });
}

int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return with_machine([&](Machine& m) {
    if (device < 0 || static_cast<unsigned>(device) >= m.devices()) return Status::invalid_device;
    const std::optional<int> known = device_attribute(m.config(), attribute);
    if (!known) return Status::invalid_value;
    *value = *known;
    return Status::success;
  });
}

int cudaGetDeviceProperties(DeviceProperties* p, int device) {
  return with_machine([&](Machine& m) {
    if (p == nullptr) return Status::invalid_value;
    if (device < 0 || static_cast<unsigned>(device) >= m.devices()) return Status::invalid_device;
    *p = properties_of(m.config(), static_cast<unsigned>(device));
    return Status::success;
  });
}

int cudaDeviceSynchronize() {
  return with_machine([](Machine& m) { return m.synchronize(this_thread().device); });
}

int cudaDeviceReset() {
  return with_machine([](Machine& m) { return m.synchronize(this_thread().device); });
}

int cudaSetDeviceFlags(unsigned) {
  return noted(Status::success);
}

int cudaDriverGetVersion(int* version) {
  *version = 13000;
  return noted(Status::success);
}

int cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return noted(Status::success);
}

int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return with_machine([&](Machine& m) {
    std::uint64_t f = 0, t = 0;
    m.memory_info(this_thread().device, f, t);
    *free = f;
    *total = t;
    return Status::success;
  });
}

// ---- Memory

int allocate(Kind kind, void** pointer, std::size_t bytes, unsigned flags) {
  return with_machine([&](Machine& m) {
    if (pointer == nullptr) return Status::invalid_value;
    std::uint64_t address = 0;
    const Status s = m.allocate(kind, bytes, flags, this_thread().device, address);
    *pointer = reinterpret_cast<void*>(address);
    return s;
  });
}

int cudaMalloc(void** pointer, std::size_t bytes) {
  return allocate(Kind::device, pointer, bytes, 0);
}

int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  if (bytes == 0 || flags < 1 || flags > 2) return noted(Status::invalid_value);
  return allocate(Kind::managed, pointer, bytes, flags);
}

int cudaMallocHost(void** pointer, std::size_t bytes) {
  return allocate(Kind::host, pointer, bytes, 0);
}

int cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return allocate(Kind::host, pointer, bytes, flags);
}

int cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  constexpr std::size_t kPitch = 512;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return allocate(Kind::device, pointer, *pitch * height, 0);
}

int cudaFree(void* pointer) {
  return with_machine([&](Machine& m) { return m.free(address_of(pointer), {Kind::device, Kind::managed}); });
}

int cudaFreeHost(void* pointer) {
  return with_machine([&](Machine& m) { return m.free(address_of(pointer), {Kind::host}); });
}

int cudaHostGetDevicePointer(void** pointer, void* host, unsigned) {
  return with_machine([&](Machine& m) {
    const auto a = m.allocation_of(address_of(host));
    if (!a || a->kind != Kind::host) return Status::invalid_value;
    *pointer = host;
    return Status::success;
  });
}

int cudaHostGetFlags(unsigned* flags, void* host) {
  return with_machine([&](Machine& m) {
    const auto a = m.allocation_of(address_of(host));
    if (!a || a->kind != Kind::host) return Status::invalid_value;
    *flags = a->flags;
    return Status::success;
  });
}

int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return with_machine([&](Machine& m) {
    *attributes = {};
    const auto a = m.allocation_of(address_of(pointer));
    auto* const address = const_cast<void*>(pointer);
    if (!a) {
      attributes->device = -2;
      attributes->host_pointer = address;
      return Status::success;
    }
    attributes->type = a->kind == Kind::host ? 1 : a->kind == Kind::device ? 2 : 3;
    attributes->device = static_cast<int>(a->device);
    attributes->device_pointer = address;
    attributes->host_pointer = a->kind == Kind::device ? nullptr : address;
    return Status::success;
  });
}

/// The direction as programs name it; nothing: none.
std::optional<CopyKind> kind_of(int direction) {
  constexpr int kLast = 4;  // by address
  if (direction < 0 || direction > kLast) return std::nullopt;
  return static_cast<CopyKind>(direction);
}

int copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
         std::size_t height, int direction, void* stream, bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    const auto kind = kind_of(direction);
    if (!kind) return Status::invalid_memcpy_direction;
    return m.copy({address_of(to), address_of(from), width, height, to_pitch, from_pitch, *kind}, s,
                  asynchronous);
  });
}

int cudaMemcpy(void* to, const void* from, std::size_t bytes, int direction) {
  return copy(to, bytes, from, bytes, bytes, 1, direction, nullptr, false);
}

int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int direction, void* stream) {
  return copy(to, bytes, from, bytes, bytes, 1, direction, stream, true);
}

int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, int direction) {
  return copy(to, to_pitch, from, from_pitch, width, height, direction, nullptr, false);
}

int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, int direction, void* stream) {
  return copy(to, to_pitch, from, from_pitch, width, height, direction, stream, true);
}

int cudaMemset(void* to, int value, std::size_t bytes) {
  return with_stream(nullptr, [&](Machine& m, Stream& s) {
    return m.fill(address_of(to), static_cast<std::uint32_t>(value), 1, bytes, 1, bytes, s, false);
  });
}

int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.fill(address_of(to), static_cast<std::uint32_t>(value), 1, bytes, 1, bytes, s, true);
  });
}

int cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return with_stream(nullptr, [&](Machine& m, Stream& s) {
    return m.fill(address_of(to), static_cast<std::uint32_t>(value), 1, width, height, pitch, s, false);
  });
}

/// Calls `f` with the address of a variable's byte `offset`, if `bytes` from there on are its own.
template <class F>
int with_symbol(const void* symbol, std::size_t offset, std::size_t bytes, F&& f) {
  return with_machine([&](Machine& m) {
    ModuleOnDevice::Variable v;
    const Status s = Process::instance().variable_of(symbol, this_thread().device, v);
    if (s != Status::success) return s;
    if (offset > v.bytes || bytes > v.bytes - offset) return Status::invalid_value;
    return f(m, v);
  });
}

int copy_to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int direction,
                   void* stream, bool asynchronous) {
  if (direction != 1 && direction != 3 && direction != 4) return noted(Status::invalid_memcpy_direction);
  return with_symbol(symbol, offset, bytes, [&](Machine& m, const ModuleOnDevice::Variable& v) {
    Stream* const s = stream_of(m, stream);
    if (s == nullptr) return Status::invalid_resource_handle;
    return m.copy({v.address + offset, address_of(from), bytes, 1, bytes, bytes, *kind_of(direction)}, *s,
                  asynchronous);
  });
}

int copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, int direction,
                     void* stream, bool asynchronous) {
  if (direction != 2 && direction != 3 && direction != 4) return noted(Status::invalid_memcpy_direction);
  return with_symbol(symbol, offset, bytes, [&](Machine& m, const ModuleOnDevice::Variable& v) {
    Stream* const s = stream_of(m, stream);
    if (s == nullptr) return Status::invalid_resource_handle;
    return m.copy({address_of(to), v.address + offset, bytes, 1, bytes, bytes, *kind_of(direction)}, *s,
                  asynchronous);
  });
}

int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                       int direction) {
  return copy_to_symbol(symbol, from, bytes, offset, direction, nullptr, false);
}

int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                            int direction, void* stream) {
  return copy_to_symbol(symbol, from, bytes, offset, direction, stream, true);
}

int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, int direction) {
  return copy_from_symbol(to, symbol, bytes, offset, direction, nullptr, false);
}

int cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                              int direction, void* stream) {
  return copy_from_symbol(to, symbol, bytes, offset, direction, stream, true);
}

int cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return with_symbol(symbol, 0, 0, [&](Machine&, const ModuleOnDevice::Variable& v) {
    *pointer = reinterpret_cast<void*>(v.address);
    return Status::success;
  });
}

int cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return with_symbol(symbol, 0, 0, [&](Machine&, const ModuleOnDevice::Variable& v) {
    *bytes = v.bytes;
    return Status::success;
  });
}

// ---- Streams

int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return with_machine([&](Machine& m) {
    if (stream == nullptr || flags > 1) return Status::invalid_value;
    *stream = &m.add_stream(this_thread().device, flags == 0, priority);
    return Status::success;
  });
}

int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

int cudaStreamCreate(void** stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

int cudaStreamDestroy(void* stream) {
  return with_machine([&](Machine& m) {
    if (!m.is_stream(stream)) return Status::invalid_resource_handle;
    m.remove_stream(*static_cast<Stream*>(stream));
    return Status::success;
  });
}

int cudaStreamSynchronize(void* stream) {
  return with_stream(stream, [](Machine& m, Stream& s) { return m.synchronize(s); });
}

int cudaStreamQuery(void* stream) {
  return with_stream(stream, [](Machine& m, Stream& s) { return m.query(s); });
}

int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.is_event(event) ? m.wait_for(*static_cast<Event*>(event), s) : Status::invalid_resource_handle;
  });
}

int cudaStreamGetPriority(void* stream, int* priority) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    *priority = s.priority;
    return Status::success;
  });
}

int cudaStreamGetFlags(void* stream, unsigned* flags) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    *flags = s.blocking ? 0 : 1;
    return Status::success;
  });
}

int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return noted(Status::success);
}

using HostFunction = void (*)(void*);
int cudaLaunchHostFunc(void* stream, HostFunction function, void* data) {
  if (function == nullptr) return noted(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) { return m.call([=] { function(data); }, s); });
}

using StreamCallback = void (*)(void*, int, void*);
int cudaStreamAddCallback(void* stream, StreamCallback callback, void* data, unsigned flags) {
  if (callback == nullptr || flags != 0) return noted(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.call([=, &m] { callback(stream, static_cast<int>(m.fault()), data); }, s);
  });
}

// ---- Events

int cudaEventCreateWithFlags(void** event, unsigned flags) {
  constexpr unsigned kUntimed = 2;
  return with_machine([&](Machine& m) {
    if (event == nullptr || flags > 7) return Status::invalid_value;
    *event = &m.add_event((flags & kUntimed) == 0);
    return Status::success;
  });
}

int cudaEventCreate(void** event) {
  return cudaEventCreateWithFlags(event, 0);
}

/// Calls `f` with the machine and the event.
template <class F>
int with_event(void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    return m.is_event(handle) ? f(m, *static_cast<Event*>(handle)) : Status::invalid_resource_handle;
  });
}

int cudaEventDestroy(void* event) {
  return with_event(event, [](Machine& m, Event& e) {
    m.remove_event(e);
    return Status::success;
  });
}

int cudaEventRecord(void* event, void* stream) {
  return with_event(event, [&](Machine& m, Event& e) {
    Stream* const s = stream_of(m, stream);
    return s == nullptr ? Status::invalid_resource_handle : m.record(e, *s);
  });
}

int cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
  return cudaEventRecord(event, stream);
}

int cudaEventQuery(void* event) {
  return with_event(event, [](Machine& m, Event& e) { return m.query(e); });
}

int cudaEventSynchronize(void* event) {
  return with_event(event, [](Machine& m, Event& e) { return m.synchronize(e); });
}

int cudaEventElapsedTime(float* ms, void* first, void* last) {
  return with_machine([&](Machine& m) {
    if (!m.is_event(first) || !m.is_event(last)) return Status::invalid_resource_handle;
    return m.elapsed_ms(*static_cast<Event*>(first), *static_cast<Event*>(last), *ms);
  });
}

// ---- Kernels

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

struct Row {
  std::string_view name;
  Address function;
};

template <class F>
Row row(std::string_view name, F* function) {
  return {name, reinterpret_cast<Address>(function)};
}

#define WARPLINE_ROW(name) row(#name, &name)
const std::map<std::string_view, Address>& table() {
  static const std::map<std::string_view, Address> all = [] {
    const Row rows[] = {
        WARPLINE_ROW(cudaGetLastError),
        WARPLINE_ROW(cudaPeekAtLastError),
        WARPLINE_ROW(cudaGetErrorString),
        WARPLINE_ROW(cudaGetErrorName),
        WARPLINE_ROW(cudaGetDeviceCount),
        WARPLINE_ROW(cudaSetDevice),
        WARPLINE_ROW(cudaGetDevice),
        WARPLINE_ROW(cudaDeviceGetAttribute),
        WARPLINE_ROW(cudaGetDeviceProperties),
        WARPLINE_ROW(cudaDeviceSynchronize),
        WARPLINE_ROW(cudaDeviceReset),
        WARPLINE_ROW(cudaSetDeviceFlags),
        WARPLINE_ROW(cudaDriverGetVersion),
        WARPLINE_ROW(cudaRuntimeGetVersion),
        WARPLINE_ROW(cudaMemGetInfo),
        WARPLINE_ROW(cudaMalloc),
        WARPLINE_ROW(cudaMallocManaged),
        WARPLINE_ROW(cudaMallocHost),
        WARPLINE_ROW(cudaHostAlloc),
        WARPLINE_ROW(cudaMallocPitch),
        WARPLINE_ROW(cudaFree),
        WARPLINE_ROW(cudaFreeHost),
        WARPLINE_ROW(cudaHostGetDevicePointer),
        WARPLINE_ROW(cudaHostGetFlags),
        WARPLINE_ROW(cudaPointerGetAttributes),
        WARPLINE_ROW(cudaMemcpy),
        WARPLINE_ROW(cudaMemcpyAsync),
        WARPLINE_ROW(cudaMemcpy2D),
        WARPLINE_ROW(cudaMemcpy2DAsync),
        WARPLINE_ROW(cudaMemset),
        WARPLINE_ROW(cudaMemsetAsync),
        WARPLINE_ROW(cudaMemset2D),
        WARPLINE_ROW(cudaMemcpyToSymbol),
        WARPLINE_ROW(cudaMemcpyToSymbolAsync),
        WARPLINE_ROW(cudaMemcpyFromSymbol),
        WARPLINE_ROW(cudaMemcpyFromSymbolAsync),
        WARPLINE_ROW(cudaGetSymbolAddress),
        WARPLINE_ROW(cudaGetSymbolSize),
        WARPLINE_ROW(cudaStreamCreateWithPriority),
        WARPLINE_ROW(cudaStreamCreateWithFlags),
        WARPLINE_ROW(cudaStreamCreate),
        WARPLINE_ROW(cudaStreamDestroy),
        WARPLINE_ROW(cudaStreamSynchronize),
        WARPLINE_ROW(cudaStreamQuery),
        WARPLINE_ROW(cudaStreamWaitEvent),
        WARPLINE_ROW(cudaStreamGetPriority),
        WARPLINE_ROW(cudaStreamGetFlags),
        WARPLINE_ROW(cudaDeviceGetStreamPriorityRange),
        WARPLINE_ROW(cudaLaunchHostFunc),
        WARPLINE_ROW(cudaStreamAddCallback),
        WARPLINE_ROW(cudaEventCreateWithFlags),
        WARPLINE_ROW(cudaEventCreate),
        WARPLINE_ROW(cudaEventDestroy),
        WARPLINE_ROW(cudaEventRecord),
        WARPLINE_ROW(cudaEventRecordWithFlags),
        WARPLINE_ROW(cudaEventQuery),
        WARPLINE_ROW(cudaEventSynchronize),
        WARPLINE_ROW(cudaEventElapsedTime),
        WARPLINE_ROW(__cudaRegisterFatBinary),
        WARPLINE_ROW(__cudaRegisterFatBinaryEnd),
        WARPLINE_ROW(__cudaUnregisterFatBinary),
        WARPLINE_ROW(__cudaInitModule),
        WARPLINE_ROW(__cudaRegisterFunction),
        WARPLINE_ROW(__cudaRegisterVar),
        WARPLINE_ROW(__cudaPushCallConfiguration),
        WARPLINE_ROW(__cudaPopCallConfiguration),
        WARPLINE_ROW(__cudaGetKernel),
        row("__cudaLaunchKernel", &cudaLaunchKernel),
        WARPLINE_ROW(cudaLaunchKernel),
        WARPLINE_ROW(cudaLaunchCooperativeKernel),
        WARPLINE_ROW(cudaFuncSetAttribute),
        WARPLINE_ROW(cudaFuncSetCacheConfig),
    };
    std::map<std::string_view, Address> made;
    for (const Row& r : rows) made.emplace(r.name, r.function);
    return made;
  }();
  return all;
}
#undef WARPLINE_ROW

constexpr std::string_view kNames[] = {
#include "runtime_names.inc"
};
std::atomic<bool> refused[std::size(kNames)];

template <std::size_t number>
int refuse() {
  if (!refused[number].exchange(true))
    std::fputs(fmt::format("warpline: {} is not modelled: it returns cudaErrorNotSupported\n", kNames[number])
                   .c_str(),
               stderr);
  return noted(Status::not_supported);
}

template <std::size_t... numbers>
Address refusal_of(std::size_t number, std::index_sequence<numbers...>) {
  static constexpr int (*kRefusals[])() = {&refuse<numbers>...};
  return reinterpret_cast<Address>(kRefusals[number]);
}

}  // namespace runtime

Address runtime_function(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
      name.remove_suffix(suffix.size());
  const auto found = runtime::table().find(name);
  return found == runtime::table().end() ? nullptr : found->second;
}

Address refusal(std::size_t number) {
  return runtime::refusal_of(number, std::make_index_sequence<std::size(runtime::kNames)>());
}

std::size_t runtime_names() {
  return std::size(runtime::kNames);
}

std::string_view runtime_name_at(std::size_t number) {
  return runtime::kNames[number];
}

}  // namespace warpline::cuda
