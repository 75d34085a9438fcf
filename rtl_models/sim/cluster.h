#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/sim/calendar.h"
#include "rtl_models/sim/request_pool.h"

namespace warpline {

class Component;
class PortBase;

/// Components that work close together, and what the engine keeps of them: all that changes while they are
/// ticked, so that clusters can be run side by side (Engine::set_threads).
struct alignas(64) Cluster {
  explicit Cluster(Cycle& next) : calendar(next) {}

  // One cache line of the host, and behind it what every mark in the calendar reads.
  Cycle last_move = 0;      ///< the latest cycle in which a message was taken off a channel here
  std::uint64_t ticks = 0;  ///< executed so far
  std::vector<Component*> members;
  RequestPool* pool = nullptr;
  unsigned rank = 0;       ///< that runs it (Engine::share_with)
  bool elsewhere = false;  ///< that is another one
  Calendar calendar;

  // Of a window in which clusters run side by side:
  Cycle now = 0;               ///< the cycle being ticked
  std::exception_ptr failure;  ///< what a component threw
  std::uint64_t cost = 0;      ///< of a window, in nanoseconds: a mean of those that were measured
  unsigned home = 0;  ///< the thread that runs it unless others have nothing to do; elsewhere: behind all
                      ///< threads, its rank
  /// What others will find changed after the window, by their homes: of channels that lead to them, that
  /// messages have begun, and of those that come from them, that credits are back.
  std::vector<std::vector<PortBase*>> begun, popped;
};

}  // namespace warpline
