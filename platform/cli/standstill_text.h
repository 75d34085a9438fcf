#pragma once

#include <string>

#include "rtl_models/sim/in_flight.h"

namespace warpline {

/// What a model that stands still waits for, for people: a table of the requests in flight, oldest first, and
/// the other waits; some 20 lines of each, and how many more there are. Of a dead model the circle of waits
/// comes first, or where the waits end if there is none.
[[nodiscard]] std::string standstill_text(const Standstill& standstill);

}  // namespace warpline
