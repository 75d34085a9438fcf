#pragma once

#include <cstdint>

#include "rtl_models/sim/request.h"

namespace warpline {

/// Whose a line of a cache of virtual addresses is. Each kind is invalidated apart from the others.
enum class LineKind : std::uint8_t { global, local, surface };
inline constexpr unsigned kLineKinds = 3;

[[nodiscard]] inline LineKind kind_of(const Request& r) {
  return r.local ? LineKind::local : r.surface ? LineKind::surface : LineKind::global;
}

/// What the line at a virtual address is known by: its number, and whether it is the surface proxy's. The two
/// proxies may hold the same memory at once, and neither sees what the other stores (PTX ISA, "Proxies").
[[nodiscard]] constexpr std::uint64_t tag_of(VirtualAddress line, bool surface) {
  constexpr unsigned kBeyondLineNumbers = 64 - 7;
  return line_number(line) | std::uint64_t{surface} << kBeyondLineNumbers;
}
[[nodiscard]] inline std::uint64_t tag_of(const Request& r) {
  return tag_of(r.virtual_line, r.surface);
}

}  // namespace warpline
