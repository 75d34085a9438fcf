#pragma once

#include <algorithm>

#include "rtl_models/sim/clock_domain.h"

namespace warpline::test {

/// The END of a message, as it passes a hop.
struct End {
  Cycle now = 0;        ///< it becomes known
  Cycle wire_free = 0;  ///< the wire is free
  Cycle free = 0;       ///< wire and credit are: what the END says
  ClockDomain sender, receiver;
};

/// What a hop makes of it: the cycle from which on the sender takes the channel for free.
using EndRule = Cycle (*)(const End& end);

namespace end_rules {

inline Cycle faithful(const End& end) {
  return end.free;
}
/// Wrong: a credit is there a cycle before it has come back.
inline Cycle credit_too_early(const End& end) {
  return std::min(end.free, std::max({end.free - 1, end.wire_free, end.now + 1}));
}
/// Wrong: the receiver gives credits back on its own edges.
inline Cycle rounded_to_receivers_edge(const End& end) {
  return end.receiver.align(end.free);
}
/// Wrong, and without any effect on a sender that acts on its edges only: it shows in the END itself.
inline Cycle rounded_to_senders_edge(const End& end) {
  return end.sender.align(end.free);
}

}  // namespace end_rules
}  // namespace warpline::test
