#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

struct Workload;

/// Where a run's measurement starts: grids before it run functionally, and the caches are as they would be
/// without them; or (`warm`, and of traces, which have no data) loosely timed, and leave the caches as warm
/// as they would be. Grids that run at the same time as the first that is measured are measured, too.
struct WARPLINE_PUBLIC FastForward {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::string kernel;            ///< the first grid of this kernel is measured; or, if empty,
  std::size_t launches = kNone;  ///< the first grid after that many; kNone: nothing is skipped
  bool warm = false;

  [[nodiscard]] bool asked() const { return !kernel.empty() || launches != kNone; }
  /// Whether grid `number` of kernel `name` is to be measured.
  [[nodiscard]] bool reached(std::size_t number, const std::string& name) const {
    return kernel.empty() ? number >= launches : name == kernel;
  }
};

/// Reads KERNEL or N. A number of grids that the plan does not exceed, and a kernel that it does not have,
/// are faults; the kernels of traces are known only when they run.
WARPLINE_PUBLIC [[nodiscard]] Result<FastForward> fast_forward_to(const std::string& text,
                                                                  const Workload& plan);
/// The same of where a run is to stop (LaunchRunner::stop_after): after 1 grid or more, all of them included.
/// `option`: which asks for it.
WARPLINE_PUBLIC [[nodiscard]] Result<FastForward> stop_after(const char* option, const std::string& text,
                                                             const Workload& plan);

}  // namespace warpline
