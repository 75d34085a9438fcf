#include "rtl_models/pcie/gpu_link/pcie_swap.h"

#include <algorithm>
#include <cstring>

#include "rtl_models/pcie/gpu_link/pcie_mutations.h"
#include "rtl_models/sim/atomics.h"

namespace warpline {

/// A word is an element, but a double word at least.
PcieSwap::PcieSwap(const AtomicBlock& block) : word_bytes_(std::max(4U, size_of(block.type))) {
  for (unsigned i = 0; i < block.count; ++i)
    for (unsigned at = 0; at < block.lane_bytes(); at += size_of(block.type))
      words_ |= 1U << ((block.lanes[i].offset + at) / word_bytes_);
}

void PcieSwap::see(const std::uint8_t* line) {
  if (line == nullptr) return;
  for_each([&](unsigned, unsigned at) { std::memcpy(&seen_[at], line + at, word_bytes_); });
}

void PcieSwap::want(AtomicBlock& block) {
  wanted_ = seen_;
  for (unsigned i = 0; i < block.count; ++i)
    for (unsigned e = 0; e < block.vector; ++e) {
      const unsigned at = block.lanes[i].offset + e * size_of(block.type);
      if (is_left(at / word_bytes_)) perform_element(block, i, e, wanted_.data());
    }
}

ByteMask PcieSwap::written(const AtomicBlock& block, bool known) {
  const unsigned size = size_of(block.type);
  const bool all = block.operation != AtomicOperation::compare_and_swap || !known;
  ByteMask bytes;
  words_ = 0;
  for (unsigned i = 0; i < block.count; ++i)
    for (unsigned e = 0; e < block.vector; ++e) {
      const unsigned at = block.lanes[i].offset + e * size;
      if (!all && std::memcmp(&wanted_[at], &seen_[at], size) == 0) continue;
      bytes.set(at, size);
      words_ |= 1U << (at / word_bytes_);
    }
  return bytes;
}

bool PcieSwap::try_swap(std::uint8_t* line) {
  if (line == nullptr) words_ = 0;
  for_each([&](unsigned word, unsigned at) {
    if (std::memcmp(line + at, &seen_[at], word_bytes_) == 0 ||
        mutated(PcieMutation::link_swap_loses_update)) {
      std::memcpy(line + at, &wanted_[at], word_bytes_);
      done(word);
    } else {
      std::memcpy(&seen_[at], line + at, word_bytes_);
    }
  });
  return words_ != 0;
}

}  // namespace warpline
