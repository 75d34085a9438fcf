#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/sm/instruction_source.h"

namespace warpline {

/// The 16 barriers of one CTA, counted in threads (PTX ISA, "bar, barrier").
class BarrierUnit {
 public:
  static constexpr unsigned kBarriers = 16;

  /// These lanes of the warp in slot `slot` arrive. Returns whether the barrier completes thereby; it is
  /// then ready for its next use. `live_threads`: threads of the CTA that have not exited.
  bool arrive(const BarrierOp& op, unsigned slot, LaneMask lanes, unsigned live_threads) {
    Barrier& b = barriers_[op.id % kBarriers];
    if (op.waits) b.waiting |= std::uint64_t{1} << slot;
    if (op.threads != 0) b.expected = op.threads;
    b.arrived += lane_count(lanes);
    b.arrivals.push_back({slot, lanes});
    b.in_use = true;
    return settle(b, live_threads);
  }
  /// These lanes have exited. Where they had arrived before, as bar.arrive lets them, they stay counted.
  void exit(unsigned slot, LaneMask lanes) {
    for (Barrier& b : barriers_)
      for (Arrival& a : b.arrivals)
        if (a.slot == slot) {
          b.arrived_and_exited += lane_count(a.lanes & lanes);
          a.lanes &= ~lanes;
        }
  }
  /// Threads have exited: a barrier for all threads of the CTA may be complete now. Returns the first that is
  /// complete, or kBarriers if none is.
  unsigned first_complete(unsigned live_threads) {
    for (unsigned i = 0; i < kBarriers; ++i)
      if (barriers_[i].in_use && barriers_[i].expected == 0 && settle(barriers_[i], live_threads)) return i;
    return kBarriers;
  }
  /// Whether lanes of the warp in slot `slot` wait at barrier `id`.
  [[nodiscard]] bool waits_at(unsigned id, unsigned slot) const {
    return (barriers_[id].waiting >> slot & 1U) != 0;
  }
  /// "barrier 1, which 32 of 64 threads have not reached". Pre: it is under way.
  [[nodiscard]] std::string describe(unsigned id, unsigned live_threads) const {
    const unsigned expected = expected_by(barriers_[id], live_threads);
    return "barrier " + std::to_string(id) + ", which " + std::to_string(expected - barriers_[id].arrived) +
           " of " + std::to_string(expected) + " threads have not reached";
  }
  void reset() { barriers_ = {}; }

 private:
  struct Arrival {
    unsigned slot = 0;
    LaneMask lanes = 0;  ///< those that have not exited since
  };
  struct Barrier {
    unsigned arrived = 0;
    unsigned arrived_and_exited = 0;  ///< of those
    unsigned expected = 0;            ///< 0: every live thread
    std::uint64_t waiting = 0;        ///< warp slots with lanes that wait
    bool in_use = false;
    std::vector<Arrival> arrivals;  ///< since its use began
  };
  /// Threads that a use of the barrier takes.
  [[nodiscard]] static unsigned expected_by(const Barrier& b, unsigned live_threads) {
    return b.expected != 0 ? b.expected : live_threads + b.arrived_and_exited;
  }
  static bool settle(Barrier& b, unsigned live_threads) {
    if (b.arrived < expected_by(b, live_threads) || b.arrived == 0) return false;
    std::vector<Arrival> none = std::move(b.arrivals);  // keeps its room
    none.clear();
    b = Barrier{};
    b.arrivals = std::move(none);
    return true;
  }
  std::array<Barrier, kBarriers> barriers_;
};

}  // namespace warpline
