#include "platform/cuda/abi/runtime_calls.h"

namespace warpline::cuda::runtime {
namespace {

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

int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return with_machine(
      [&](Machine& m) { return m.register_host(address_of(pointer), bytes, flags, this_thread().device); });
}

int cudaHostUnregister(void* pointer) {
  return with_machine([&](Machine& m) { return m.unregister_host(address_of(pointer)); });
}

/// Whether all of it is managed memory.
Status check_managed(Machine& m, const void* pointer, std::size_t bytes) {
  const auto a = m.allocation_of(address_of(pointer));
  if (!a || a->kind != Kind::managed || bytes == 0 || bytes > a->bytes - (address_of(pointer) - a->address))
    return Status::invalid_value;
  return Status::success;
}

int cudaStreamAttachMemAsync(void* stream, void* pointer, std::size_t, unsigned flags) {
  return with_stream(stream, [&](Machine& m, Stream&) {
    if (flags != 1 && flags != 2 && flags != 4) return Status::invalid_value;
    return check_managed(m, pointer, 1);
  });
}

int cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (pitch == nullptr) return noted(Status::invalid_value);
  constexpr std::size_t kPitch = 512, kMost = std::size_t{1} << 40U;
  if (pitch == nullptr) return noted(Status::invalid_value);
  if (width > kMost || height > kMost || (width != 0 && height > kMost / width))
    return noted(Status::memory_allocation);
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
    if (pointer == nullptr) return Status::invalid_value;
    const auto a = m.allocation_of(address_of(host));
    if (!a || a->kind != Kind::host) return Status::invalid_value;
    *pointer = host;
    return Status::success;
  });
}

int cudaHostGetFlags(unsigned* flags, void* host) {
  return with_machine([&](Machine& m) {
    if (flags == nullptr) return Status::invalid_value;
    const auto a = m.allocation_of(address_of(host));
    if (!a || a->kind != Kind::host) return Status::invalid_value;
    *flags = a->flags;
    return Status::success;
  });
}

int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return with_machine([&](Machine& m) {
    if (attributes == nullptr) return Status::invalid_value;
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
    attributes->device_pointer = a->is_reached_by(this_thread().device) ? address : nullptr;
    attributes->host_pointer = a->kind == Kind::device ? nullptr : address;
    return Status::success;
  });
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
    return m.fill({address_of(to), static_cast<std::uint32_t>(value), 1, bytes, 1, bytes}, s, false);
  });
}

int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.fill({address_of(to), static_cast<std::uint32_t>(value), 1, bytes, 1, bytes}, s, true);
  });
}

int cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return with_stream(nullptr, [&](Machine& m, Stream& s) {
    return m.fill({address_of(to), static_cast<std::uint32_t>(value), 1, width, height, pitch}, s, false);
  });
}

int cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                      void* stream) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.fill({address_of(to), static_cast<std::uint32_t>(value), 1, width, height, pitch}, s, true);
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
    if (pointer == nullptr) return Status::invalid_value;
    *pointer = reinterpret_cast<void*>(v.address);
    return Status::success;
  });
}

int cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return with_symbol(symbol, 0, 0, [&](Machine&, const ModuleOnDevice::Variable& v) {
    if (bytes == nullptr) return Status::invalid_value;
    *bytes = v.bytes;
    return Status::success;
  });
}

}  // namespace

void add_memory(Functions& f) {
  WARPLINE_ADD(f, cudaMalloc);
  WARPLINE_ADD(f, cudaMallocManaged);
  WARPLINE_ADD(f, cudaMallocHost);
  WARPLINE_ADD(f, cudaHostAlloc);
  WARPLINE_ADD(f, cudaHostRegister);
  WARPLINE_ADD(f, cudaHostUnregister);
  WARPLINE_ADD(f, cudaStreamAttachMemAsync);
  WARPLINE_ADD(f, cudaMallocPitch);
  WARPLINE_ADD(f, cudaFree);
  WARPLINE_ADD(f, cudaFreeHost);
  WARPLINE_ADD(f, cudaHostGetDevicePointer);
  WARPLINE_ADD(f, cudaHostGetFlags);
  WARPLINE_ADD(f, cudaPointerGetAttributes);
  WARPLINE_ADD(f, cudaMemcpy);
  WARPLINE_ADD(f, cudaMemcpyAsync);
  WARPLINE_ADD(f, cudaMemcpy2D);
  WARPLINE_ADD(f, cudaMemcpy2DAsync);
  WARPLINE_ADD(f, cudaMemset);
  WARPLINE_ADD(f, cudaMemsetAsync);
  WARPLINE_ADD(f, cudaMemset2D);
  WARPLINE_ADD(f, cudaMemset2DAsync);
  WARPLINE_ADD(f, cudaMemcpyToSymbol);
  WARPLINE_ADD(f, cudaMemcpyToSymbolAsync);
  WARPLINE_ADD(f, cudaMemcpyFromSymbol);
  WARPLINE_ADD(f, cudaMemcpyFromSymbolAsync);
  WARPLINE_ADD(f, cudaGetSymbolAddress);
  WARPLINE_ADD(f, cudaGetSymbolSize);
}

}  // namespace warpline::cuda::runtime
