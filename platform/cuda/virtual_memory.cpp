#include "platform/cuda/virtual_memory.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "platform/machine/reserved_addresses.h"

namespace warpline::cuda {
namespace {

/// Between the addresses of video memory and those of the process's libraries, heap and stack.
constexpr std::uint64_t kFirst = 0x4800'0000'0000ULL;
/// 64 TiB, more than a process can address beside the rest.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46U;

std::uint64_t rounded_up(std::uint64_t n, std::uint64_t step) {
  return (n + step - 1) / step * step;
}

}  // namespace

VirtualMemory::VirtualMemory() : next_(kFirst) {}

VirtualMemory::~VirtualMemory() = default;

std::uint64_t VirtualMemory::reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted) {
  if (bytes > kMostBytes || alignment > kMostBytes) return 0;
  const std::uint64_t at = wanted != 0 && wanted % kGranularity == 0
                               ? wanted
                               : rounded_up(next_, std::max(alignment, kGranularity));
  try {
    Range range;
    range.bytes = bytes;
    range.addresses = std::make_unique<ReservedAddresses>(bytes, at);
    const std::uint64_t first = range.addresses->first();
    if (first == at && at != wanted) next_ = at + bytes;
    reserved_.emplace(first, std::move(range));
    return first;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

bool VirtualMemory::release(std::uint64_t address, std::uint64_t bytes) {
  const auto found = reserved_.find(address);
  if (found == reserved_.end() || found->second.bytes != bytes || !is_free(address, bytes)) return false;
  reserved_.erase(found);
  return true;
}

MemoryBlock& VirtualMemory::add_block(const MemoryBlock& block) {
  auto made = std::make_unique<MemoryBlock>(block);
  MemoryBlock& added = *made;
  blocks_.emplace(handle_of(added), std::move(made));
  return added;
}

MemoryBlock* VirtualMemory::find_block(std::uint64_t handle) {
  const auto found = blocks_.find(handle);
  return found == blocks_.end() ? nullptr : found->second.get();
}

bool VirtualMemory::let_go(MemoryBlock& block) {
  if (--block.held != 0) return false;
  blocks_.erase(handle_of(block));
  return true;
}

bool VirtualMemory::is_free(std::uint64_t address, std::uint64_t bytes) const {
  const auto after = mapped_.lower_bound(address + bytes);
  return after == mapped_.begin() ||
         std::prev(after)->first + std::prev(after)->second.block->bytes <= address;
}

bool VirtualMemory::map(std::uint64_t address, MemoryBlock& block) {
  const auto after = reserved_.upper_bound(address);
  if (after == reserved_.begin()) return false;
  const auto& [first, range] = *std::prev(after);
  if (address - first > range.bytes || block.bytes > range.bytes - (address - first) ||
      !is_free(address, block.bytes))
    return false;
  mapped_[address] = {&block, {}};
  ++block.held;
  return true;
}

std::optional<std::vector<std::uint64_t>> VirtualMemory::mappings_in(std::uint64_t address,
                                                                     std::uint64_t bytes) const {
  std::vector<std::uint64_t> found;
  const std::uint64_t end = address + bytes;
  while (address != end) {
    const auto here = mapped_.find(address);
    if (here == mapped_.end() || here->second.block->bytes > end - address) return std::nullopt;
    found.push_back(address);
    address += here->second.block->bytes;
  }
  return found;
}

const VirtualMemory::Mapped* VirtualMemory::find(std::uint64_t address) const {
  const auto after = mapped_.upper_bound(address);
  if (after == mapped_.begin()) return nullptr;
  const auto& [first, mapped] = *std::prev(after);
  return address - first < mapped.block->bytes ? &mapped : nullptr;
}

}  // namespace warpline::cuda
