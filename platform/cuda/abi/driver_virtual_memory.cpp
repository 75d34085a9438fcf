#include "platform/cuda/abi/driver_calls.h"

namespace warpline::cuda::driver {
namespace {

enum LocationType : int { kNowhere, kOnDevice };
constexpr int kPinned = 1;

int cuMemAddressReserve(std::uint64_t* address, std::size_t bytes, std::size_t alignment,
                        std::uint64_t wanted, std::uint64_t flags) {
  return with_context([&](Machine& m, Context&) {
    if (address == nullptr || flags != 0) return Status::invalid_value;
    return m.reserve_addresses(bytes, alignment, wanted, *address);
  });
}

int cuMemAddressFree(std::uint64_t address, std::size_t bytes) {
  return with_context([&](Machine& m, Context&) { return m.release_addresses(address, bytes); });
}

/// Whether memory as a program describes it can be had, and of which GPU.
Status device_of(const Machine& m, const AllocationProperties* p, unsigned& device) {
  if (p == nullptr || p->type != kPinned) return Status::invalid_value;
  if (p->location.type != kOnDevice)
    return p->location.type > kOnDevice && p->location.type <= 4
               ? refuse("host memory that programs map themselves (cuMemCreate) is not modelled")
               : Status::invalid_value;
  if (p->location.id < 0 || static_cast<unsigned>(p->location.id) >= m.devices())
    return Status::invalid_device;
  if (p->usage != 0) return refuse("memory for sparse arrays and tiles (cuMemCreate) is not modelled");
  device = static_cast<unsigned>(p->location.id);
  return Status::success;
}

int cuMemGetAllocationGranularity(std::size_t* bytes, const AllocationProperties* properties, int option) {
  return with_machine([&](Machine& m) {
    if (bytes == nullptr || option < 0 || option > 1) return Status::invalid_value;
    unsigned device = 0;
    const Status status = device_of(m, properties, device);
    if (status == Status::success) *bytes = VirtualMemory::kGranularity;
    return status;
  });
}

int cuMemCreate(std::uint64_t* handle, std::size_t bytes, const AllocationProperties* properties,
                std::uint64_t flags) {
  return with_context([&](Machine& m, Context&) {
    if (handle == nullptr || flags != 0) return Status::invalid_value;
    unsigned device = 0;
    if (const Status status = device_of(m, properties, device); status != Status::success) return status;
    if (properties->handle_types != 0)
      return refuse("memory that processes share (cuMemCreate with a type of handles) is not modelled");
    if (properties->compression > 1) return Status::invalid_value;
    return m.create_block(bytes, device, properties->compression, *handle);
  });
}

int cuMemRelease(std::uint64_t handle) {
  return with_machine([&](Machine& m) { return m.release_block(handle); });
}

int cuMemMap(std::uint64_t address, std::size_t bytes, std::size_t offset, std::uint64_t handle,
             std::uint64_t flags) {
  return with_context([&](Machine& m, Context&) {
    if (offset != 0 || flags != 0) return Status::invalid_value;
    return m.map_block(address, bytes, handle);
  });
}

int cuMemUnmap(std::uint64_t address, std::size_t bytes) {
  return with_context([&](Machine& m, Context&) { return m.unmap_blocks(address, bytes); });
}

int cuMemSetAccess(std::uint64_t address, std::size_t bytes, const AccessDescription* descriptions,
                   std::size_t count) {
  return with_context([&](Machine& m, Context&) {
    if (descriptions == nullptr || count == 0) return Status::invalid_value;
    for (std::size_t n = 0; n < count; ++n) {
      const AccessDescription& d = descriptions[n];
      if (d.flags != 0 && d.flags != 1 && d.flags != 3) return Status::invalid_value;
      if (d.location.type != kOnDevice)
        return d.location.type > kOnDevice && d.location.type <= 4
                   ? refuse("access of the host to mapped GPU memory (cuMemSetAccess) is not modelled")
                   : Status::invalid_value;
      if (d.location.id < 0 || static_cast<unsigned>(d.location.id) >= m.devices())
        return Status::invalid_device;
      const Status status =
          m.set_access(address, bytes, static_cast<unsigned>(d.location.id), static_cast<unsigned>(d.flags));
      if (status != Status::success) return status;
    }
    return Status::success;
  });
}

int cuMemGetAccess(std::uint64_t* flags, const MemoryLocation* location, std::uint64_t address) {
  return with_machine([&](Machine& m) {
    if (flags == nullptr || location == nullptr || location->type != kOnDevice) return Status::invalid_value;
    unsigned access = 0;
    const Status status = m.access_of(address, static_cast<unsigned>(location->id), access);
    if (status == Status::success) *flags = access;
    return status;
  });
}

int cuMemRetainAllocationHandle(std::uint64_t* handle, const void* address) {
  return with_machine([&](Machine& m) {
    if (handle == nullptr) return Status::invalid_value;
    return m.hold_block_at(runtime::address_of(address), *handle);
  });
}

int cuMemGetAllocationPropertiesFromHandle(AllocationProperties* properties, std::uint64_t handle) {
  return with_machine([&](Machine& m) {
    const std::optional<MemoryBlock> block = m.block(handle);
    if (properties == nullptr || !block) return Status::invalid_value;
    *properties = {};
    properties->type = kPinned;
    properties->location = {kOnDevice, static_cast<std::int32_t>(block->device)};
    properties->compression = block->compression;
    return Status::success;
  });
}

}  // namespace

void add_virtual_memory(Functions& f) {
  WARPLINE_ADD(f, cuMemAddressReserve);
  WARPLINE_ADD(f, cuMemAddressFree);
  WARPLINE_ADD(f, cuMemGetAllocationGranularity);
  WARPLINE_ADD(f, cuMemCreate);
  WARPLINE_ADD(f, cuMemRelease);
  WARPLINE_ADD(f, cuMemMap);
  WARPLINE_ADD(f, cuMemUnmap);
  WARPLINE_ADD(f, cuMemSetAccess);
  WARPLINE_ADD(f, cuMemGetAccess);
  WARPLINE_ADD(f, cuMemRetainAllocationHandle);
  WARPLINE_ADD(f, cuMemGetAllocationPropertiesFromHandle);
}

}  // namespace warpline::cuda::driver
