#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sm/sm_counters.h"

namespace warpline {

/// Counts for how long each warp of an SM stands still for the sake of order.
class OrderingTimer {
 public:
  OrderingTimer(unsigned slots, OrderingCounters& counters) : pauses_(slots), counters_(counters) {}

  /// The warp waits from `edge` on, if it does not already, for the order that `op` wants.
  void begin(unsigned slot, const MemOp& op, std::uint64_t edge) {
    Pause& p = pauses_[slot];
    if (p.since != kNever) return;
    p.since = edge;
    p.reason = op.kind == MemKind::proxy_fence ? OrderingCounters::kProxyFences
                                               : static_cast<std::uint8_t>(op.scope);
  }
  /// The warp goes on at `edge`, if it has waited.
  void end(unsigned slot, std::uint64_t edge) {
    Pause& p = pauses_[slot];
    if (p.since == kNever) return;
    counters_.cycles[p.reason] += edge - p.since;
    p.since = kNever;
  }
  /// The warp will not go on: the cycles it has waited are not counted.
  void forget(unsigned slot) { pauses_[slot].since = kNever; }

 private:
  struct Pause {
    std::uint64_t since = kNever;  ///< edge
    std::uint8_t reason = 0;       ///< in which of the counters it counts
  };
  std::vector<Pause> pauses_;  ///< of each warp slot
  OrderingCounters& counters_;
};

}  // namespace warpline
