#pragma once

#include <algorithm>
#include <cstdint>

namespace warpline::programs {

/// Nanoseconds in `cycles` of a clock of `mhz` MHz, of which the last has ended. Pre: mhz > 0.
[[nodiscard]] constexpr std::uint64_t nanoseconds_of(std::uint64_t cycles, unsigned mhz) {
  // Whole microseconds apart from the rest, so that no clock overflows.
  return cycles / mhz * 1000 + cycles % mhz * 1000 / mhz;
}

/// A sleep lasts a millisecond at most, nanoseconds (PTX ISA, "nanosleep").
inline constexpr std::uint64_t kLongestSleep = 1'000'000;

/// Cycles of a clock of `mhz` MHz for which nanosleep of `nanoseconds` holds a warp.
[[nodiscard]] constexpr std::uint64_t cycles_to_sleep(std::uint64_t nanoseconds, unsigned mhz) {
  return (std::min(nanoseconds, kLongestSleep) * mhz + 999) / 1000;
}

}  // namespace warpline::programs
