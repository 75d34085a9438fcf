#pragma once

#include "rtl_models/base/types.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

class NetlistBackend;
class System;

/// Runs until nothing is left to do, or up to cycle `limit`, as the backend does. From time to time it looks
/// whether all that still happens is warps that repeat themselves (see LoopWatch), which nothing will ever
/// end: that is a deadlock, and `standstill` says of what. A program that goes on some day is never taken
/// for one. When that is found out is up to the model alone, whatever carries its messages.
///
/// Pre: nobody outside the system can change memory.
[[nodiscard]] RunOutcome run_watched(NetlistBackend& backend, System& system, Cycle limit,
                                     Standstill& standstill);

}  // namespace warpline
