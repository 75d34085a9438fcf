#pragma once

#include <algorithm>

#include "rtl_models/base/types.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// A block that takes loosely timed accesses ("lt"): a call performs a request whole, on the same
/// core and with the same counters as a timed one, and adds up the time that idle hardware takes.
/// Nothing is waited for but what a foreign model below waits for itself.
class LooseTarget {
 public:
  /// Performs `r`, which holds the answer afterwards. `at`: when it is popped, and on return when
  /// its answer is sent; a posted write is answered when it is accepted, as in timed mode. What the request
  /// causes beside its answer (fetches for others, write-backs) is done by then, and takes no time.
  ///
  /// A second access may come while the first is blocked in a foreign wait(). Pre: nothing timed is
  /// under way in the block.
  virtual void perform(Request& r, Cycle& at) = 0;

 protected:
  ~LooseTarget() = default;
};

/// Marks every request in `served`, the queue of a block's answers, as answered in cycle `at`, and empties
/// the queue. The caller then calls Engine::wake_waiters(), as the accesses of these requests may wait for
/// this.
inline void settle(RequestQueue& served, Cycle at) {
  while (!served.empty()) {
    Request* r = served.pop();
    r->settled = true;
    r->settled_at = at;
  }
}

/// Waits until `r`, sent in cycle `at`, is answered by the access that performs it. Returns in which cycle.
inline Cycle wait_until_settled(const Request& r, Cycle at, Engine& engine) {
  while (!r.settled) static_cast<void>(engine.wait_below());
  return std::max(at, r.settled_at);
}

}  // namespace warpline
