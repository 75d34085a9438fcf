#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine.h"
#include "program.h"

namespace warpline::test {

/// The memories after the last grid, and the time it took.
struct Outcome {
  Contents contents;
  std::vector<Cycle> cycles;
  std::map<std::string, std::uint64_t> counters;
  std::vector<std::string> complaints;
  std::size_t in_flight = 0;  ///< requests listed at pauses
};

enum class Timing { timed, loose, alternating };

/// Runs all grids of `program` from `start` on a new machine. `pace`: pauses about every so many cycles to
/// check what is listed as in flight; 0: never.
[[nodiscard]] Outcome play(const Program& program, const Contents& start, const GpuConfig& config,
                           const std::string& ptx, std::shared_ptr<NetlistDriver> driver, Cycle pace = 0,
                           Timing timing = Timing::timed);

/// What differs first in the memories, or nothing.
[[nodiscard]] std::string difference(const Contents& got, const Contents& wanted);

}  // namespace warpline::test
