#pragma once

#include <string>
#include <vector>

#include "rtl_models/sim/in_flight.h"

namespace warpline {

/// `from` waits for `to`, and why.
struct WaitEdge {
  std::string from, to, why;
};

/// A circle of waits, each for the next and the last for the first: the reason of a deadlock. Empty if
/// there is none. Only where the model is dead does a circle mean more than that it is busy.
///
/// A component waits with each of its parts ("sm[0]" with "sm[0] warp 3"), and for itself never.
[[nodiscard]] std::vector<WaitEdge> circle_of(const Standstill& standstill);

/// Where chains of waits end: the waits that are for nobody who waits in turn. Without a circle, they are
/// what everything else waits for.
[[nodiscard]] std::vector<Wait> ends_of(const Standstill& standstill);

/// "a -> b -> a"
[[nodiscard]] std::string to_text(const std::vector<WaitEdge>& circle);

}  // namespace warpline
