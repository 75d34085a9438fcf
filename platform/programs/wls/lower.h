#pragma once

#include <vector>

#include "platform/programs/wls/program.h"

namespace warpline::wls {

/// Completes the SM's view of `op`, whose schedule, counters and memory operation `i` has already: kind,
/// latency and registers. Predicates stand behind the `registers` registers; an exit waits for those
/// `awaited`.
void lower(const Op& op, unsigned registers, const std::vector<unsigned>& awaited, Instruction& i);

/// Registers that an access of `mem` moves for each lane.
[[nodiscard]] inline unsigned words_of(const MemOp& mem) {
  return (mem.bytes_per_lane() + 3) / 4;
}

}  // namespace warpline::wls
