#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace warpline {

/// "64 KiB", in the largest unit of which it is a whole number.
[[nodiscard]] inline std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) bytes /= 1024, ++unit;
  return std::to_string(bytes).append(" ").append(kUnits[unit]);
}

}  // namespace warpline
