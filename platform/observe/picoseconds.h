#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"

namespace warpline {

/// When cycle `c` of a clock of `mhz` starts, in picoseconds, rounded up: exactly where SystemC has it at its
/// usual resolution.
[[nodiscard]] inline std::uint64_t picoseconds(Cycle c, unsigned mhz) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{c} * 1'000'000 + mhz - 1) / mhz);
}

}  // namespace warpline
