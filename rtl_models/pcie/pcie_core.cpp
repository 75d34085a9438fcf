#include "warpline/pcie/pcie_core.h"

#include <algorithm>
#include <cstring>

#include "warpline/base/mutation.h"
#include "warpline/fabric/atomics.h"

namespace warpline {
namespace {

/// Bytes that one AtomicOp swaps in a compare-and-swap loop: those of an element, but a double word at least.
unsigned word_bytes_of(const AtomicBlock& block) {
  return std::max(4U, size_of(block.type));
}

}  // namespace

bool PcieCore::reaches(PhysicalAddress line) const {
  const auto within = [line](const MemoryImage& image) {
    const std::uint64_t offset = offset_in_aperture(line);
    return offset < image.size() && image.size() - offset >= kLineBytes;
  };
  switch (aperture_of(line)) {
    case Aperture::sysmem: return sysmem_ == nullptr || within(*sysmem_);
    case Aperture::peer: return peer_ != nullptr && within(peer_->image());
    case Aperture::vidmem: break;
  }
  return false;
}

std::uint8_t* PcieCore::at(PhysicalAddress line) const {
  if (sysmem_ == nullptr) return nullptr;
  MemoryImage& image = aperture_of(line) == Aperture::peer ? peer_->image() : *sysmem_;
  return image.at(offset_in_aperture(line));
}

PcieAtomicWay PcieCore::way_of(const AtomicBlock& atomics) const {
  if (!parameters_.atomic_ops) return PcieAtomicWay::read_and_write;
  const unsigned size = size_of(atomics.type);
  const bool integer = !is_float(atomics.type) && (size == 4 || size == 8);
  switch (atomics.operation) {
    case AtomicOperation::compare_and_swap:
      return integer || size == 16 ? PcieAtomicWay::atomic_op : PcieAtomicWay::compare_and_swap;
    case AtomicOperation::add:
    case AtomicOperation::exchange:
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

PcieTrain PcieCore::completion(unsigned bytes) const {
  PcieTrain train;
  add_split(train, bytes);
  if (train.packets == 0) train = uniform(1, 0);  // a read of no byte is answered all the same
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
  const std::uint8_t* line = at(request.line);
  if (request.exact) {
    copy_masked(request.data.data(), line, request.bytes);
  } else {
    copy_sectors(request.data.data(), line, request.sectors);
  }
}

void PcieCore::perform_write(PhysicalAddress line, const std::uint8_t* data, const ByteMask& bytes) {
  if (sysmem_ == nullptr) return;
  copy_masked(at(line), data, bytes);
}

void PcieCore::perform_atomic(Request& request) {
  if (sysmem_ == nullptr) return;
  perform_atomics(*request.atomics, at(request.line));
}

PcieSwap PcieCore::begin_swap(const Request& request) {
  const AtomicBlock& block = *request.atomics;
  PcieSwap swap;
  swap.word_bytes = word_bytes_of(block);
  for (unsigned i = 0; i < block.count; ++i)
    for (unsigned at = 0; at < block.lane_bytes(); at += size_of(block.type))
      swap.words |= 1U << ((block.lanes[i].offset + at) / swap.word_bytes);
  return swap;
}

void PcieCore::see(PhysicalAddress line, PcieSwap& swap) const {
  if (sysmem_ == nullptr) return;
  const std::uint8_t* bytes = at(line);
  for (std::uint32_t left = swap.words; left != 0; left &= left - 1) {
    const unsigned at = static_cast<unsigned>(__builtin_ctz(left)) * swap.word_bytes;
    std::memcpy(&swap.seen[at], bytes + at, swap.word_bytes);
  }
}

void PcieCore::want(Request& request, PcieSwap& swap) {
  swap.wanted = swap.seen;
  AtomicBlock& block = *request.atomics;
  for (unsigned i = 0; i < block.count; ++i)
    for (unsigned e = 0; e < block.vector; ++e) {
      const unsigned at = block.lanes[i].offset + e * size_of(block.type);
      if ((swap.words >> (at / swap.word_bytes) & 1U) != 0) perform_element(block, i, e, swap.wanted.data());
    }
}

ByteMask PcieCore::written(const Request& request, PcieSwap& swap) const {
  const AtomicBlock& block = *request.atomics;
  const unsigned size = size_of(block.type);
  // Without memory nobody knows which compare, and all are taken to.
  const bool all = block.operation != AtomicOperation::compare_and_swap || sysmem_ == nullptr;
  ByteMask bytes;
  swap.words = 0;
  for (unsigned i = 0; i < block.count; ++i)
    for (unsigned e = 0; e < block.vector; ++e) {
      const unsigned at = block.lanes[i].offset + e * size;
      if (!all && std::memcmp(&swap.wanted[at], &swap.seen[at], size) == 0) continue;
      bytes.set(at, size);
      swap.words |= 1U << (at / swap.word_bytes);
    }
  return bytes;
}

bool PcieCore::try_swap(PhysicalAddress line, PcieSwap& swap) {
  if (sysmem_ == nullptr) {
    swap.words = 0;
    return false;
  }
  std::uint8_t* bytes = at(line);
  for (std::uint32_t left = swap.words; left != 0; left &= left - 1) {
    const auto word = static_cast<unsigned>(__builtin_ctz(left));
    const unsigned at = word * swap.word_bytes;
    if (std::memcmp(bytes + at, &swap.seen[at], swap.word_bytes) == 0 ||
        mutated(Mutation::link_swap_loses_update)) {
      std::memcpy(bytes + at, &swap.wanted[at], swap.word_bytes);
      swap.words &= ~(1U << word);
    } else {
      std::memcpy(&swap.seen[at], bytes + at, swap.word_bytes);
    }
  }
  return swap.words != 0;
}

}  // namespace warpline
