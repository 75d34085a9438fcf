#pragma once

#include <cstdint>

namespace warpline {

/// Whether `n` is 1, 2, 4 and so on.
constexpr bool is_power_of_two(std::uint64_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

}  // namespace warpline
