#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace warpline {

/// A value of up to 16 bytes of which a lane of an atomic keeps 8 and the rest beside them (AtomicBlock),
/// from there to where its bytes lie side by side.
inline void gather_value(std::uint8_t* to, std::uint64_t low, std::uint64_t high, unsigned bytes) {
  std::memcpy(to, &low, std::min(bytes, 8U));
  if (bytes > 8) std::memcpy(to + 8, &high, bytes - 8);
}
/// And back.
inline void spread_value(const std::uint8_t* from, std::uint64_t& low, std::uint64_t& high, unsigned bytes) {
  low = 0;
  std::memcpy(&low, from, std::min(bytes, 8U));
  if (bytes > 8) std::memcpy(&high, from + 8, bytes - 8);
}

}  // namespace warpline
