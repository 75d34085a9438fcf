#include <algorithm>
#include <cstring>

#include "platform/cuda/abi/driver_calls.h"
#include "platform/cuda/abi/runtime.h"

namespace warpline::cuda::driver {
namespace {

using runtime::address_of;
using runtime::Kind;

int allocate(Kind kind, std::uint64_t* address, std::size_t bytes, unsigned flags) {
  return with_context([&](Machine& m, Context& context) {
    if (address == nullptr || bytes == 0) return Status::invalid_value;
    return m.allocate(kind, bytes, flags, context.device, *address);
  });
}

int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  return allocate(Kind::device, address, bytes, 0);
}

int cuMemAllocPitch_v2(std::uint64_t* address, std::size_t* pitch, std::size_t width, std::size_t height,
                       unsigned element_bytes) {
  constexpr std::size_t kPitch = 512;
  if (pitch == nullptr || width == 0 || height == 0 ||
      (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
    return result(Status::invalid_value);
  constexpr std::size_t kMost = std::size_t{1} << 40U;
  if (width > kMost || height > kMost / width) return result(Status::memory_allocation);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return allocate(Kind::device, address, *pitch * height, 0);
}

int cuMemAllocManaged(std::uint64_t* address, std::size_t bytes, unsigned flags) {
  if (flags != 1 && flags != 2) return result(Status::invalid_value);
  return allocate(Kind::managed, address, bytes, flags);
}

int cuMemFree_v2(std::uint64_t address) {
  return with_context([&](Machine& m, Context&) { return m.free(address, {Kind::device, Kind::managed}); });
}

int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown = 7;
  if (pointer == nullptr || (flags & ~kKnown) != 0) return result(Status::invalid_value);
  std::uint64_t address = 0;
  const int status = allocate(Kind::host, &address, bytes, flags);
  *pointer = reinterpret_cast<void*>(address);
  return status;
}

int cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}

int cuMemFreeHost(void* pointer) {
  return with_context([&](Machine& m, Context&) { return m.free(address_of(pointer), {Kind::host}); });
}

int cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
  return with_context(
      [&](Machine& m, Context& c) { return m.register_host(address_of(pointer), bytes, flags, c.device); });
}

int cuMemHostUnregister(void* pointer) {
  return with_context([&](Machine& m, Context&) { return m.unregister_host(address_of(pointer)); });
}

int cuMemHostGetDevicePointer_v2(std::uint64_t* address, void* pointer, unsigned flags) {
  return with_context([&](Machine& m, Context&) {
    if (address == nullptr || flags != 0) return Status::invalid_value;
    const std::optional<Allocation> a = m.allocation_of(address_of(pointer));
    if (!a || a->kind == Kind::device) return Status::invalid_value;
    *address = address_of(pointer);
    return Status::success;
  });
}

int cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return with_context([&](Machine& m, Context&) {
    if (flags == nullptr) return Status::invalid_value;
    const std::optional<Allocation> a = m.allocation_of(address_of(pointer));
    if (!a || a->kind != Kind::host) return Status::invalid_value;
    *flags = a->flags;
    return Status::success;
  });
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return with_context([&](Machine& m, Context& context) {
    if (free == nullptr || total == nullptr) return Status::invalid_value;
    std::uint64_t f = 0, t = 0;
    m.memory_info(context.device, f, t);
    *free = f;
    *total = t;
    return Status::success;
  });
}

int cuMemGetAddressRange_v2(std::uint64_t* base, std::size_t* bytes, std::uint64_t address) {
  return with_context([&](Machine& m, Context&) {
    const std::optional<Allocation> a = m.allocation_of(address);
    if (!a) return Status::symbol_not_found;
    if (base != nullptr) *base = a->address;
    if (bytes != nullptr) *bytes = a->bytes;
    return Status::success;
  });
}

// ---- What is known of a pointer

enum PointerAttribute : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kSynchronous = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kDevice = 9,
  kLegacyIpc = 10,
  kRangeStart = 11,
  kRangeBytes = 12,
  kMapped = 13,
  kHandleTypes = 14,
  kRdma = 15,
  kAccess = 16,
  kPool = 17,
  kMappingBytes = 18,
  kMappingBase = 19,
  kBlockId = 20,
};

/// Writes an attribute of memory, as a GPU has it, where the program wants it.
Status attribute_of(const Allocation& a, unsigned device, std::uint64_t address, int attribute, void* to) {
  const auto put = [to](auto value) {
    std::memcpy(to, &value, sizeof value);
    return Status::success;
  };
  const bool host = a.kind == Kind::host;
  switch (attribute) {
    case kContext: return put(static_cast<void*>(&Contexts::instance().primary(a.device)));
    case kMemoryType: return put(host ? MemoryType::host : MemoryType::device);
    case kDevicePointer:
      if (!a.is_reached_by(device)) return Status::invalid_value;
      return put(address);
    case kHostPointer:
      if (a.kind == Kind::device) return Status::invalid_value;
      return put(address);
    case kSynchronous: return put(std::uint32_t{0});
    case kBufferId: return put(std::uint64_t{a.address});  // no two lie at one address
    case kIsManaged: return put(std::uint32_t{a.kind == Kind::managed ? 1U : 0U});
    case kDevice: return put(static_cast<std::int32_t>(a.device));
    case kLegacyIpc: return put(std::uint32_t{0});
    case kRangeStart:
    case kMappingBase: return put(std::uint64_t{a.address});
    case kRangeBytes:
    case kMappingBytes: return put(std::uint64_t{a.bytes});
    case kMapped: return put(std::uint32_t{1});
    case kHandleTypes: return put(std::uint64_t{0});
    case kRdma: return put(std::uint32_t{0});
    case kAccess: return put(std::uint32_t{a.is_reached_by(device) ? 3U : 0U});  // to be read and written
    case kPool: return put(static_cast<void*>(a.pool.get()));
    case kBlockId: return put(std::uint64_t{a.address});
    default: return Status::invalid_value;
  }
}

int cuPointerGetAttribute(void* to, int attribute, std::uint64_t address) {
  return with_context([&](Machine& m, Context& context) {
    if (to == nullptr) return Status::invalid_value;
    const std::optional<Allocation> a = m.allocation_of(address);
    return a ? attribute_of(*a, context.device, address, attribute, to) : Status::invalid_value;
  });
}

int cuPointerGetAttributes(unsigned count, const int* attributes, void** to, std::uint64_t address) {
  return with_context([&](Machine& m, Context& context) {
    if (attributes == nullptr || to == nullptr) return Status::invalid_value;
    const std::optional<Allocation> a = m.allocation_of(address);
    for (unsigned n = 0; n < count; ++n) {
      if (to[n] == nullptr || attributes[n] < kContext || attributes[n] > kBlockId)
        return Status::invalid_value;
      // What is not known of a pointer is zero, and of that which is nobody's all is.
      constexpr bool kWide[] = {false, true, false, true, true,  true,  false, true, false, false, false,
                                true,  true, false, true, false, false, true,  true, true,  true};
      std::memset(to[n], 0, kWide[attributes[n]] ? 8 : 4);
      if (a) attribute_of(*a, context.device, address, attributes[n], to[n]);
    }
    return Status::success;
  });
}

int cuPointerSetAttribute(const void* value, int attribute, std::uint64_t address) {
  return with_context([&](Machine& m, Context&) {
    // Copies of memory with CU_POINTER_ATTRIBUTE_SYNC_MEMOPS are synchronous, as those of its kind may be.
    if (value == nullptr || attribute != kSynchronous || !m.allocation_of(address))
      return Status::invalid_value;
    return Status::success;
  });
}

int cuStreamAttachMemAsync(void* stream, std::uint64_t address, std::size_t, unsigned flags) {
  return with_stream(stream, [&](Machine& m, Stream&) {
    const std::optional<Allocation> a = m.allocation_of(address);
    return !a || a->kind != Kind::managed || (flags != 1 && flags != 2 && flags != 4) ? Status::invalid_value
                                                                                      : Status::success;
  });
}

/// Calls the runtime's function of that name for a context, and leaves what the runtime knows of the thread.
template <class... P>
int call_runtime(std::string_view name, unsigned toolkit, P... parameters) {
  return with_context([&](Machine&, Context&) {
    ThreadState& thread = this_thread();
    const Status last = thread.last;
    const bool uses_runtime = thread.uses_runtime;
    const auto function = reinterpret_cast<int (*)(P...)>(runtime_function(name, toolkit));
    const int found = function(parameters...);
    thread.last = last;
    thread.uses_runtime = uses_runtime;
    return static_cast<Status>(found);
  });
}

int cuMemAdvise(std::uint64_t address, std::size_t bytes, int advice, int device) {
  return call_runtime("cudaMemAdvise", 12, address, bytes, advice, device);
}

int cuMemAdvise_v2(std::uint64_t address, std::size_t bytes, int advice, MemoryLocation location) {
  return call_runtime("cudaMemAdvise", kNewest, address, bytes, advice, location);
}

int cuMemPrefetchAsync(std::uint64_t address, std::size_t bytes, int device, void* stream) {
  return call_runtime("cudaMemPrefetchAsync", 12, address, bytes, device, stream);
}

int cuMemPrefetchAsync_v2(std::uint64_t address, std::size_t bytes, MemoryLocation location, unsigned flags,
                          void* stream) {
  return call_runtime("cudaMemPrefetchAsync", kNewest, address, bytes, location, flags, stream);
}

}  // namespace

void add_memory(Functions& f) {
  WARPLINE_ADD(f, cuMemAlloc_v2);
  WARPLINE_ADD(f, cuMemAllocPitch_v2);
  WARPLINE_ADD(f, cuMemAllocManaged);
  WARPLINE_ADD(f, cuMemFree_v2);
  WARPLINE_ADD(f, cuMemHostAlloc);
  WARPLINE_ADD(f, cuMemAllocHost_v2);
  f.add("cuMemAllocHost", &cuMemAllocHost_v2);
  WARPLINE_ADD(f, cuMemFreeHost);
  f.add("cuMemHostRegister", &cuMemHostRegister_v2);
  WARPLINE_ADD(f, cuMemHostRegister_v2);
  WARPLINE_ADD(f, cuMemHostUnregister);
  WARPLINE_ADD(f, cuMemHostGetDevicePointer_v2);
  WARPLINE_ADD(f, cuMemHostGetFlags);
  WARPLINE_ADD(f, cuMemGetInfo_v2);
  WARPLINE_ADD(f, cuMemGetAddressRange_v2);
  WARPLINE_ADD(f, cuPointerGetAttribute);
  WARPLINE_ADD(f, cuPointerGetAttributes);
  WARPLINE_ADD(f, cuPointerSetAttribute);
  WARPLINE_ADD(f, cuStreamAttachMemAsync);
  WARPLINE_ADD(f, cuMemAdvise);
  WARPLINE_ADD(f, cuMemAdvise_v2);
  WARPLINE_ADD(f, cuMemPrefetchAsync);
  WARPLINE_ADD(f, cuMemPrefetchAsync_v2);
}

}  // namespace warpline::cuda::driver
