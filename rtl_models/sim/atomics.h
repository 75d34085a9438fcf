#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// Copies a lane's value of up to 16 bytes from the two words of AtomicBlock, `low` of LaneAtomic and `high`
/// of LaneAtomicHigh, to consecutive bytes at `to`.
inline void gather_value(std::uint8_t* to, std::uint64_t low, std::uint64_t high, unsigned bytes) {
  std::memcpy(to, &low, std::min(bytes, 8U));
  if (bytes > 8) std::memcpy(to + 8, &high, bytes - 8);
}
/// Copies a lane's value from consecutive bytes to the two words; of 8 bytes or less, `high` stays.
inline void spread_value(const std::uint8_t* from, std::uint64_t& low, std::uint64_t& high, unsigned bytes) {
  low = 0;
  std::memcpy(&low, from, std::min(bytes, 8U));
  if (bytes > 8) std::memcpy(&high, from + 8, bytes - 8);
}

/// The atomics unit: performs the lanes in order, each one's elements in order, on the 128 bytes at `line`,
/// and answers their old values. Pre: offsets and types that the line has room for.
WARPLINE_PUBLIC void perform_atomics(AtomicBlock& block, std::uint8_t* line);
/// Performs element `element` of the block's lane `i` only.
WARPLINE_PUBLIC void perform_element(AtomicBlock& block, unsigned i, unsigned element, std::uint8_t* line);
/// Bytes of the line that the lanes touch.
WARPLINE_PUBLIC [[nodiscard]] ByteMask atomic_bytes(const AtomicBlock& block);

}  // namespace warpline
