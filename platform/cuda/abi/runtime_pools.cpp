#include "platform/cuda/abi/runtime_calls.h"
#include "platform/cuda/shortcomings.h"

namespace warpline::cuda::runtime {
namespace {

/// Calls `f` with the machine and the pool.
template <class F>
int with_pool(void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    return m.is_pool(handle) ? f(m, *static_cast<Pool*>(handle)) : Status::invalid_value;
  });
}

int cudaMallocAsync(void** pointer, std::size_t bytes, void* stream) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (pointer == nullptr) return Status::invalid_value;
    std::uint64_t address = 0;
    const Status status = m.allocate_from(m.pool_of(s.device), bytes, s, address);
    *pointer = reinterpret_cast<void*>(address);
    return status;
  });
}

int cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, void* pool, void* stream) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (pointer == nullptr || !m.is_pool(pool)) return Status::invalid_value;
    std::uint64_t address = 0;
    const Status status = m.allocate_from(*static_cast<Pool*>(pool), bytes, s, address);
    *pointer = reinterpret_cast<void*>(address);
    return status;
  });
}

int cudaFreeAsync(void* pointer, void* stream) {
  return with_stream(stream, [&](Machine& m, Stream& s) { return m.free_in_order(address_of(pointer), s); });
}

int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return with_device(device, [&](Machine& m) {
    if (pool == nullptr) return Status::invalid_value;
    *pool = &m.default_pool(static_cast<unsigned>(device));
    return Status::success;
  });
}

int cudaDeviceGetMemPool(void** pool, int device) {
  return with_device(device, [&](Machine& m) {
    if (pool == nullptr) return Status::invalid_value;
    *pool = &m.pool_of(static_cast<unsigned>(device));
    return Status::success;
  });
}

int cudaDeviceSetMemPool(int device, void* pool) {
  return with_device(device, [&](Machine& m) {
    if (!m.is_pool(pool) || static_cast<Pool*>(pool)->device != static_cast<unsigned>(device))
      return Status::invalid_value;
    m.set_pool(static_cast<unsigned>(device), *static_cast<Pool*>(pool));
    return Status::success;
  });
}

int cudaMemPoolCreate(void** pool, const PoolProperties* properties) {
  if (pool == nullptr || properties == nullptr) return noted(Status::invalid_value);
  if (properties->location_type != kOfDevice) return noted(Status::not_supported);
  return with_device(properties->location, [&](Machine& m) {
    *pool = &m.add_pool(static_cast<unsigned>(properties->location));
    return Status::success;
  });
}

int cudaMemPoolDestroy(void* pool) {
  return with_pool(pool, [](Machine& m, Pool& p) { return m.remove_pool(p); });
}

// Attributes by number: 1 to 3 settings of 4 bytes, 4 the release threshold, then what is reserved and used,
// now and at most.
constexpr int kLastFlag = 3, kThreshold = 4, kReserved = 5, kMostReserved = 6, kUsed = 7, kMostUsed = 8;

int cudaMemPoolSetAttribute(void* pool, int attribute, const void* value) {
  return with_pool(pool, [&](Machine&, Pool& p) {
    if (value == nullptr || attribute < 1 || attribute > kMostUsed) return Status::invalid_value;
    std::uint64_t number = 0;
    std::memcpy(&number, value, attribute <= kLastFlag ? sizeof(int) : sizeof number);
    if (attribute <= kThreshold) {
      p.settings[static_cast<std::size_t>(attribute) - 1] = number;
      return Status::success;
    }
    // A mark of the most may be set back only.
    if ((attribute != kMostReserved && attribute != kMostUsed) || number != 0) return Status::invalid_value;
    p.most_used = p.used;
    return Status::success;
  });
}

int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return with_pool(pool, [&](Machine&, Pool& p) {
    if (value == nullptr || attribute < 1 || attribute > kMostUsed) return Status::invalid_value;
    std::uint64_t number = 0;
    if (attribute <= kThreshold) number = p.settings[static_cast<std::size_t>(attribute) - 1];
    if (attribute == kReserved || attribute == kUsed) number = p.used;
    if (attribute == kMostReserved || attribute == kMostUsed) number = p.most_used;
    std::memcpy(value, &number, attribute <= kLastFlag ? sizeof(int) : sizeof number);
    return Status::success;
  });
}

int cudaMemPoolTrimTo(void* pool, std::size_t) {
  return with_pool(pool, [](Machine&, Pool&) { return Status::success; });
}

int cudaMemPoolSetAccess(void* pool, const PoolAccess* accesses, std::size_t count) {
  constexpr int kNone = 0, kReads = 1, kReadsAndWrites = 3, kOnDevice = 1;
  return with_pool(pool, [&](Machine& m, Pool& p) {
    if (accesses == nullptr && count != 0) return Status::invalid_value;
    // All or nothing.
    for (std::size_t n = 0; n < count; ++n) {
      const PoolAccess& a = accesses[n];
      if (a.location_type != kOnDevice ||
          (a.flags != kNone && a.flags != kReads && a.flags != kReadsAndWrites))
        return Status::invalid_value;
      if (a.location < 0 || static_cast<unsigned>(a.location) >= m.devices()) return Status::invalid_device;
      const auto device = static_cast<unsigned>(a.location);
      if (device == p.device && a.flags == kNone) return Status::invalid_device;
      if (device != p.device && a.flags != kNone && !m.can_reach(device, p.device))
        return Status::peer_access_unsupported;
    }
    for (std::size_t n = 0; n < count; ++n) {
      const auto device = static_cast<unsigned>(accesses[n].location);
      if (device == p.device) continue;
      const Status status = m.set_pool_access(p, device, static_cast<unsigned>(accesses[n].flags));
      if (status != Status::success) return status;
    }
    return Status::success;
  });
}

int cudaMemPoolGetAccess(int* flags, void* pool, const MemoryLocation* location) {
  return with_pool(pool, [&](Machine& m, Pool& p) {
    if (flags == nullptr || location == nullptr || location->type != kOfDevice) return Status::invalid_value;
    if (location->id < 0 || static_cast<unsigned>(location->id) >= m.devices()) return Status::invalid_device;
    *flags = static_cast<int>(m.pool_access(p, static_cast<unsigned>(location->id)));
    return Status::success;
  });
}

/// Calls `f` with the GPU that a place and a kind of memory mean: what pools there are is a GPU's own memory.
template <class F>
int with_place(const MemoryLocation* location, int type, F&& f) {
  constexpr int kPinned = 1, kManaged = 2;
  return with_machine([&](Machine& m) {
    if (location == nullptr || (type != kPinned && type != kManaged)) return Status::invalid_value;
    if (type == kManaged || location->type != kOfDevice) {
      const char* const what = "pools of managed memory, and of the host's";
      Shortcomings::instance().note(what, std::string(what) + ", are not modelled");
      return Status::not_supported;
    }
    if (location->id < 0 || static_cast<unsigned>(location->id) >= m.devices()) return Status::invalid_value;
    return f(m, static_cast<unsigned>(location->id));
  });
}

int cudaMemGetDefaultMemPool(void** pool, const MemoryLocation* location, int type) {
  return with_place(location, type, [&](Machine& m, unsigned device) {
    if (pool == nullptr) return Status::invalid_value;
    *pool = &m.default_pool(device);
    return Status::success;
  });
}

int cudaMemGetMemPool(void** pool, const MemoryLocation* location, int type) {
  return with_place(location, type, [&](Machine& m, unsigned device) {
    if (pool == nullptr) return Status::invalid_value;
    *pool = &m.pool_of(device);
    return Status::success;
  });
}

int cudaMemSetMemPool(const MemoryLocation* location, int type, void* pool) {
  return with_place(location, type, [&](Machine& m, unsigned device) {
    if (!m.is_pool(pool) || static_cast<Pool*>(pool)->device != device) return Status::invalid_value;
    m.set_pool(device, *static_cast<Pool*>(pool));
    return Status::success;
  });
}

}  // namespace

void add_pools(Functions& f) {
  WARPLINE_ADD(f, cudaMallocAsync);
  WARPLINE_ADD(f, cudaMallocFromPoolAsync);
  WARPLINE_ADD(f, cudaFreeAsync);
  WARPLINE_ADD(f, cudaDeviceGetDefaultMemPool);
  WARPLINE_ADD(f, cudaDeviceGetMemPool);
  WARPLINE_ADD(f, cudaDeviceSetMemPool);
  WARPLINE_ADD(f, cudaMemGetDefaultMemPool);
  WARPLINE_ADD(f, cudaMemGetMemPool);
  WARPLINE_ADD(f, cudaMemSetMemPool);
  WARPLINE_ADD(f, cudaMemPoolCreate);
  WARPLINE_ADD(f, cudaMemPoolDestroy);
  WARPLINE_ADD(f, cudaMemPoolSetAttribute);
  WARPLINE_ADD(f, cudaMemPoolGetAttribute);
  WARPLINE_ADD(f, cudaMemPoolTrimTo);
  WARPLINE_ADD(f, cudaMemPoolSetAccess);
  WARPLINE_ADD(f, cudaMemPoolGetAccess);
}

}  // namespace warpline::cuda::runtime
