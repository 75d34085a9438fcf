#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace warpline {

/// Copies a lane's value of up to 16 bytes from the two words of AtomicBlock, `low` of LaneAtomic and `high`
/// of LaneAtomicHigh, to consecutive bytes at `to`.
inline void gather_value(std::uint8_t* to, std::uint64_t low, std::uint64_t high, unsigned bytes) {
  std::memcpy(to, &low, std::min(bytes, 8U));
  if (bytes > 8) std::memcpy(to + 8, &high, bytes - 8);
}
/// Copies a lane's value from consecutive bytes to the two words.
inline void spread_value(const std::uint8_t* from, std::uint64_t& low, std::uint64_t& high, unsigned bytes) {
  low = 0;
  std::memcpy(&low, from, std::min(bytes, 8U));
  if (bytes > 8) std::memcpy(&high, from + 8, bytes - 8);
}

}  // namespace warpline
