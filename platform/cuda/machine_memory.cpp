// What the driver API adds to memory: blocks that programs map themselves, and values that streams wait for.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "platform/cuda/machine.h"
#include "platform/machine/gpu_memories.h"
#include "rtl_models/base/text.h"

namespace warpline::cuda {
namespace {

bool is_aligned(std::uint64_t n) {
  return n != 0 && n % VirtualMemory::kGranularity == 0;
}

}  // namespace

Status Machine::advise(std::uint64_t address, std::uint64_t bytes,
                       const std::function<void(MemoryAdvice::Of&)>& advice) {
  const std::lock_guard lock(mutex_);
  if (!is_managed(address, bytes)) return Status::invalid_value;
  advice_.change(address, bytes, advice);
  return Status::success;
}

Status Machine::advice_of(std::uint64_t address, std::uint64_t bytes, MemoryAdvice::Of& advice) {
  const std::lock_guard lock(mutex_);
  if (!is_managed(address, bytes)) return Status::invalid_value;
  advice = advice_.common(address, bytes);
  return Status::success;
}

bool Machine::is_managed(std::uint64_t address, std::uint64_t bytes) const {
  const Allocation* const a = allocations_.find(address);
  return a != nullptr && a->kind == Allocation::Kind::managed && bytes != 0 &&
         bytes <= a->bytes - (address - a->address);
}

Status Machine::reserve_addresses(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted,
                                  std::uint64_t& address) {
  if (!is_aligned(bytes) || (alignment & (alignment - 1)) != 0) return Status::invalid_value;
  const std::lock_guard lock(mutex_);
  const std::uint64_t found = virtual_memory_.reserve(bytes, alignment, wanted);
  if (found == 0) return Status::memory_allocation;
  address = found;
  return Status::success;
}

Status Machine::release_addresses(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  return virtual_memory_.release(address, bytes) ? Status::success : Status::invalid_value;
}

Status Machine::create_block(std::uint64_t bytes, unsigned device, std::uint8_t compression,
                             std::uint64_t& handle) {
  if (!is_aligned(bytes)) return Status::invalid_value;
  MemoryBlock block;
  block.bytes = bytes;
  block.device = device;
  block.compression = compression;
  const Executor::Shared::Hold hold(platform_use_);
  const std::optional<PhysicalAddress> physical = platform_.allocate_unmapped(bytes, device);
  if (!physical) {
    tell(fmt::format("out of memory: {} of GPU memory are asked for; a GPU has {} (vidmem_bytes)",
                     counted(bytes, "byte"), config_.vidmem_bytes));
    return Status::memory_allocation;
  }
  block.physical = *physical;
  const std::lock_guard lock(mutex_);
  handle = VirtualMemory::handle_of(virtual_memory_.add_block(block));
  return Status::success;
}

Status Machine::release_block(std::uint64_t handle) {
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  MemoryBlock* const block = virtual_memory_.find_block(handle);
  if (block == nullptr) return Status::invalid_value;
  const MemoryBlock copy = *block;
  if (virtual_memory_.let_go(*block)) platform_.free_unmapped(copy.physical, copy.bytes, copy.device);
  return Status::success;
}

Status Machine::map_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  MemoryBlock* const block = virtual_memory_.find_block(handle);
  if (block == nullptr || bytes != block->bytes || !is_aligned(address)) return Status::invalid_value;
  return virtual_memory_.map(address, *block) ? Status::success : Status::invalid_value;
}

Status Machine::unmap_blocks(std::uint64_t address, std::uint64_t bytes) {
  // Nothing that was asked for may use it any more.
  const Status waited = wait_for_all();
  if (waited == Status::not_permitted) return waited;
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  const auto found = virtual_memory_.mappings_in(address, bytes);
  if (!found || found->empty()) return Status::invalid_value;
  for (const std::uint64_t at : *found) {
    const VirtualMemory::Mapped mapped = virtual_memory_.mapped_at(at);
    for (const auto& [device, access] : mapped.access) platform_.unmap(at, device);
    allocations_.remove(at);
    virtual_memory_.unmap(at);
    const MemoryBlock copy = *mapped.block;
    if (virtual_memory_.let_go(*mapped.block))
      platform_.free_unmapped(copy.physical, copy.bytes, copy.device);
  }
  return waited;
}

Status Machine::set_access(std::uint64_t address, std::uint64_t bytes, unsigned device, unsigned access) {
  const Status waited = wait_for_all();
  if (waited != Status::success) return waited;
  const Executor::Shared::Hold hold(platform_use_);
  std::optional<std::vector<std::uint64_t>> found;
  {
    const std::lock_guard lock(mutex_);
    found = virtual_memory_.mappings_in(address, bytes);
    if (!found || found->empty()) return Status::invalid_value;
    for (const std::uint64_t at : *found)
      if (const unsigned owner = virtual_memory_.mapped_at(at).block->device;
          owner != device && !can_reach(device, owner))
        return Status::peer_access_unsupported;
  }
  if (access == 1) tell("memory that is mapped to be read only can be written, too");
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t at : *found) {
    VirtualMemory::Mapped& mapped = virtual_memory_.mapped_at(at);
    const MemoryBlock& block = *mapped.block;
    const bool had = mapped.access.count(device) != 0;
    if (access == 0)
      mapped.access.erase(device);
    else
      mapped.access[device] = access;
    if (!had && access != 0) {
      if (allocations_.find(at) == nullptr) {
        Allocation a;
        a.address = at;
        a.bytes = block.bytes;
        a.device = block.device;
        a.mapped = true;
        allocations_.add(a);
      }
      if (device == block.device) {
        platform_.map_at(at, block.bytes, block.physical, device);
      } else {
        platform_.map_bus_at(at, block.bytes, peer_links_.bus_address(block.device, block.physical), device);
        allocations_.find(at)->peers.insert(device);
      }
    }
    if (had && access == 0) {
      platform_.unmap(at, device);
      allocations_.find(at)->peers.erase(device);
      if (mapped.access.empty()) allocations_.remove(at);
    }
  }
  return Status::success;
}

Status Machine::access_of(std::uint64_t address, unsigned device, unsigned& access) {
  const std::lock_guard lock(mutex_);
  const VirtualMemory::Mapped* const mapped = virtual_memory_.find(address);
  if (mapped == nullptr) return Status::invalid_value;
  const auto found = mapped->access.find(device);
  access = found == mapped->access.end() ? 0 : found->second;
  return Status::success;
}

Status Machine::hold_block_at(std::uint64_t address, std::uint64_t& handle) {
  const std::lock_guard lock(mutex_);
  const VirtualMemory::Mapped* const mapped = virtual_memory_.find(address);
  if (mapped == nullptr) return Status::invalid_value;
  ++mapped->block->held;
  handle = VirtualMemory::handle_of(*mapped->block);
  return Status::success;
}

std::optional<MemoryBlock> Machine::block(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const MemoryBlock* const found = virtual_memory_.find_block(handle);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// ---- Values

bool Machine::is_place_of_value(std::uint64_t address, unsigned bytes) {
  const std::lock_guard lock(mutex_);
  return address % bytes == 0 && allocations_.holds(address, bytes);
}

Status Machine::write_value(std::uint64_t address, std::uint64_t value, unsigned bytes, Stream& stream) {
  if (!is_place_of_value(address, bytes)) return Status::invalid_value;
  const auto write = [this, address, value, bytes] {
    const Executor::Shared::Hold hold(platform_use_);
    if (!is_mapped(address, bytes)) return set_fault(Status::illegal_address);
    void* const place = platform_.memory().bytes_at(address, bytes, true);
    // At once, for those who spin on it.
    if (bytes == 4) {
      __atomic_store_n(static_cast<std::uint32_t*>(place), static_cast<std::uint32_t>(value),
                       __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(static_cast<std::uint64_t*>(place), value, __ATOMIC_RELEASE);
    }
  };
  return call(write, stream);
}

Status Machine::wait_for_value(std::uint64_t address, unsigned bytes,
                               std::function<bool(std::uint64_t)> holds, Stream& stream) {
  if (!is_place_of_value(address, bytes)) return Status::invalid_value;
  const auto wait = [this, address, bytes, holds = std::move(holds)] {
    constexpr auto kPatience = std::chrono::seconds(5);
    const auto begin = std::chrono::steady_clock::now();
    while (!executor_.stopping() && fault() == Status::success) {
      {
        const Executor::Shared::Hold hold(platform_use_);
        if (!is_mapped(address, bytes)) return set_fault(Status::illegal_address);
        std::uint64_t value = 0;
        std::memcpy(&value, platform_.memory().bytes_at(address, bytes, false), bytes);
        if (holds(value)) return;
      }
      if (std::chrono::steady_clock::now() - begin > kPatience)
        tell(fmt::format(
            "a stream waits for a value at {}, which no kernel can write while it does: those that "
            "other streams got later come after it",
            hexadecimal(address)));
      executor_.do_short();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  };
  return issue(HostCall{wait, true}, stream, true);
}

}  // namespace warpline::cuda
