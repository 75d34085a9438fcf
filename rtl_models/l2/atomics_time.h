#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "rtl_models/l2/l2_parameters.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// Parts of a cycle in which the time of the atomics unit is counted: what one lane takes of the time of 32.
inline constexpr std::uint64_t kAtomicParts = kWarpLanes;

/// How long the unit of a slice has to do with a request, in parts of a cycle. It takes one sector after the
/// other; in each, lanes on different words go together, and lanes on one word one after the other.
/// `same_line`: as the request before it.
[[nodiscard]] inline std::uint64_t atomics_time(const AtomicBlock& block, const L2AtomicParameters& unit,
                                                bool same_line) {
  std::array<std::uint8_t, kLineBytes> lanes_at{};
  std::array<std::uint8_t, kSectorsPerLine> deepest{};
  for (unsigned i = 0; i < block.count; ++i) {
    const unsigned offset = block.lanes[i].offset % kLineBytes;
    std::uint8_t& most = deepest[offset / kSectorBytes];
    most = std::max(most, ++lanes_at[offset]);
  }
  const bool sums = is_float(block.type);
  const bool slow = block.operation == AtomicOperation::compare_and_swap || block.type == DataType::f64;
  const unsigned line = same_line ? unit.line_cycles : unit.other_line_cycles;
  const std::uint64_t sector =
      (slow ? std::max(line, unit.slow_line_cycles) : line) * kAtomicParts / kSectorsPerLine;
  const std::uint64_t lane = sums ? unit.float_word_cycles : unit.word_cycles;
  std::uint64_t parts = 0;
  for (const std::uint8_t lanes : deepest)
    if (lanes != 0) parts += sector + (lanes - 1U) * lane;
  return parts;
}

}  // namespace warpline
