#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/machine/netlist_backend.h"
#include "tests/programs/machine.h"
#include "tests/programs/program.h"

namespace warpline::test {

/// The memories after the last grid, and the time it took.
struct Outcome {
  Contents contents;
  std::vector<Cycle> cycles;
  std::map<std::string, std::uint64_t> counters;
  std::vector<std::string> complaints;
  std::size_t in_flight = 0;  ///< requests listed at pauses
};

enum class Timing {
  timed,
  loose,
  alternating,  ///< grid by grid, loose and timed
  functional,
  all_in_turn  ///< grid by grid
};

/// A random program on a machine of its own.
class Play {
 public:
  /// Pre: `program` and `start` outlive it.
  Play(const Program& program, const Contents& start, const GpuConfig& config, const std::string& ptx,
       std::shared_ptr<NetlistBackend> backend, std::optional<std::uint64_t> jitter = {});
  /// Before the first run in this process of any machine that is in SystemC.
  void build() { bench_.platform().build(); }
  /// Runs all grids, once. `pace`: pauses about every so many cycles to check what is listed as in flight; 0:
  /// never.
  [[nodiscard]] Outcome run(Cycle pace = 0, Timing timing = Timing::timed);
  /// The same in parts: runs grids `first` to before `end`; and what there is at the end.
  void run_grids(std::size_t first, std::size_t end, Outcome& out, Timing timing = Timing::timed);
  void conclude(Outcome& out);
  /// Lays the code of all grids into memory, in front of which local memory lies.
  void load();
  /// Lays everything into the memories again as at first.
  void refill();
  [[nodiscard]] GpuPlatform& platform() { return bench_.platform(); }

 private:
  void read_back(Outcome& out);
  const Program& program_;
  const Contents& start_;
  Bench bench_;
  std::vector<std::uint64_t> at_;  ///< the kernels' parameters
};

/// Runs all grids of `program` from `start` on a new machine; see Play::run.
[[nodiscard]] inline Outcome play(const Program& program, const Contents& start, const GpuConfig& config,
                                  const std::string& ptx, std::shared_ptr<NetlistBackend> backend,
                                  Cycle pace = 0, Timing timing = Timing::timed) {
  return Play(program, start, config, ptx, std::move(backend)).run(pace, timing);
}

/// What differs first in the memories, or nothing.
[[nodiscard]] std::string difference(const Contents& got, const Contents& wanted);

}  // namespace warpline::test
