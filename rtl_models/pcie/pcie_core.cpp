#include "warpline/pcie/pcie_core.h"

#include <algorithm>
#include <cstring>

#include "warpline/isa/atomic.h"

namespace warpline {
namespace {

/// Applies one lane to the line at `bytes`; returns the old value. Hosts are little-endian, as GPUs are.
std::uint64_t apply_lane(std::uint8_t* bytes, const AtomicBlock& block, const LaneAtomic& lane) {
  const unsigned size = size_of(block.type);
  std::uint64_t old = 0;
  std::memcpy(&old, bytes + lane.offset, size);
  const std::uint64_t made = apply_atomic(block.operation, block.type, old, lane.operand, lane.second);
  std::memcpy(bytes + lane.offset, &made, size);
  return old;
}

}  // namespace

bool PcieCore::reaches(PhysicalAddress line) const {
  if (aperture_of(line) != Aperture::sysmem) return false;
  if (sysmem_ == nullptr) return true;
  const std::uint64_t offset = offset_in_aperture(line);
  return offset < sysmem_->size() && sysmem_->size() - offset >= kLineBytes;
}

PcieAtomicWay PcieCore::way_of(const AtomicBlock& atomics) const {
  if (!parameters_.atomic_ops) return PcieAtomicWay::read_and_write;
  const bool integer = !is_float(atomics.type) && size_of(atomics.type) >= 4;
  switch (atomics.operation) {
    case AtomicOperation::add:
    case AtomicOperation::exchange:
    case AtomicOperation::compare_and_swap:
      return integer ? PcieAtomicWay::atomic_op : PcieAtomicWay::compare_and_swap;
    case AtomicOperation::none:
    case AtomicOperation::min:
    case AtomicOperation::max:
    case AtomicOperation::bit_and:
    case AtomicOperation::bit_or:
    case AtomicOperation::bit_xor:
    case AtomicOperation::increment:
    case AtomicOperation::decrement: return PcieAtomicWay::compare_and_swap;
  }
  return PcieAtomicWay::compare_and_swap;
}

unsigned PcieCore::packet_cycles(unsigned payload) const {
  const unsigned bytes = parameters_.tlp_overhead + payload;
  return std::max(1U, (bytes + parameters_.bytes_per_cycle - 1) / parameters_.bytes_per_cycle);
}

void PcieCore::add_split(PcieTrain& train, unsigned payload) const {
  train.payload += payload;
  while (payload != 0) {
    const unsigned part = std::min(payload, parameters_.max_payload);
    ++train.packets;
    train.cycles += packet_cycles(part);
    payload -= part;
  }
}

PcieTrain PcieCore::read_completion(SectorMask sectors) const {
  PcieTrain train;
  add_split(train, kSectorBytes * sector_count(sectors));
  return train;
}

PcieTrain PcieCore::write(const ByteMask& bytes) const {
  PcieTrain train;
  unsigned run = 0;
  for (unsigned at = 0; at < kLineBytes; at += 4) {
    const std::uint64_t half = at < 64 ? bytes.low : bytes.high;
    if (((half >> (at % 64)) & 0xFU) != 0) {
      run += 4;
    } else {
      add_split(train, run);
      run = 0;
    }
  }
  add_split(train, run);
  if (train.packets == 0) train = uniform(1, 0);  // a write of no byte is still a packet
  return train;
}

PcieTrain PcieCore::atomic_request(const AtomicBlock& atomics) const {
  const unsigned operands = atomics.operation == AtomicOperation::compare_and_swap ? 2 : 1;
  return uniform(atomics.count, operands * size_of(atomics.type));
}

PcieTrain PcieCore::atomic_completion(const AtomicBlock& atomics) const {
  return uniform(atomics.count, size_of(atomics.type));
}

void PcieCore::perform_read(Request& request) const {
  if (sysmem_ == nullptr) return;
  const std::uint8_t* line = sysmem_->at(offset_in_aperture(request.line));
  if (request.exact) {
    copy_masked(request.data.data(), line, request.bytes);
  } else {
    copy_sectors(request.data.data(), line, request.sectors);
  }
}

void PcieCore::perform_write(PhysicalAddress line, const std::uint8_t* data, const ByteMask& bytes) {
  if (sysmem_ == nullptr) return;
  copy_masked(sysmem_->at(offset_in_aperture(line)), data, bytes);
}

void PcieCore::perform_atomic(Request& request) {
  if (sysmem_ == nullptr) return;
  AtomicBlock& block = *request.atomics;
  std::uint8_t* bytes = sysmem_->at(offset_in_aperture(request.line));
  for (unsigned i = 0; i < block.count; ++i)
    block.lanes[i].old_value = apply_lane(bytes, block, block.lanes[i]);
}

PcieSwap PcieCore::begin_swap(const Request& request) {
  const AtomicBlock& block = *request.atomics;
  PcieSwap swap;
  swap.word_bytes = std::max(4U, size_of(block.type));
  for (unsigned i = 0; i < block.count; ++i) swap.words |= 1U << (block.lanes[i].offset / swap.word_bytes);
  return swap;
}

void PcieCore::see(PhysicalAddress line, PcieSwap& swap) const {
  if (sysmem_ == nullptr) return;
  const std::uint8_t* bytes = sysmem_->at(offset_in_aperture(line));
  for (std::uint32_t left = swap.words; left != 0; left &= left - 1) {
    const unsigned at = static_cast<unsigned>(__builtin_ctz(left)) * swap.word_bytes;
    std::memcpy(&swap.seen[at], bytes + at, swap.word_bytes);
  }
}

void PcieCore::want(Request& request, PcieSwap& swap) {
  swap.wanted = swap.seen;
  AtomicBlock& block = *request.atomics;
  for (unsigned i = 0; i < block.count; ++i) {
    LaneAtomic& lane = block.lanes[i];
    if ((swap.words >> (lane.offset / swap.word_bytes) & 1U) == 0) continue;
    lane.old_value = apply_lane(swap.wanted.data(), block, lane);
  }
}

bool PcieCore::try_swap(PhysicalAddress line, PcieSwap& swap) {
  if (sysmem_ == nullptr) {
    swap.words = 0;
    return false;
  }
  std::uint8_t* bytes = sysmem_->at(offset_in_aperture(line));
  for (std::uint32_t left = swap.words; left != 0; left &= left - 1) {
    const auto word = static_cast<unsigned>(__builtin_ctz(left));
    const unsigned at = word * swap.word_bytes;
    if (std::memcmp(bytes + at, &swap.seen[at], swap.word_bytes) == 0) {
      std::memcpy(bytes + at, &swap.wanted[at], swap.word_bytes);
      swap.words &= ~(1U << word);
    } else {
      std::memcpy(&swap.seen[at], bytes + at, swap.word_bytes);
    }
  }
  return swap.words != 0;
}

}  // namespace warpline
