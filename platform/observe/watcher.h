#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/machine/attachment.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

class GpuPlatform;

/// What is to be written about a run while it goes on.
struct WARPLINE_PUBLIC WatchOptions {
  std::string wave;      ///< VCD file, or empty
  std::string timeline;  ///< file of Chrome trace events, or empty
  std::string latency;   ///< where requests spent their time: text, or JSON if it ends so; or empty
  std::string reuse;     ///< how buffers were used: text, or JSON if it ends so; or empty
  std::vector<std::string> probes;  ///< patterns of blocks and ports (Selection); none: everything
  Window window;                    ///< cycles since reset
  [[nodiscard]] bool wanted() const {
    return !wave.empty() || !timeline.empty() || !latency.empty() || !reuse.empty();
  }
};

/// Watches a platform's netlists and writes a wave, a timeline, latencies, how buffers were used, or several
/// of these. What is not selected is not touched and pays nothing; what is watched behaves as if it were not.
///
///     Watcher& observation = platform.attach(make_watcher(platform, options));
///     Diagnostics faults = observation.start();
///     ...
///     std::vector<std::string> failures = observation.finish();
class WARPLINE_PUBLIC Watcher : public Attachment {
 public:
  /// Builds the platform and begins to watch. Returns what is wrong with the patterns and files: the patterns
  /// that match nothing, the files that cannot be written; nothing is watched then. Called once, before the
  /// first launch, and after map_everything() unless the run was without data from the start.
  [[nodiscard]] virtual Diagnostics start() = 0;
  /// The timeline, if there is one, has a track of figures over time, on which `name` has this value from
  /// cycle `first` on; the cycles of each name only go on. Pre: between start() and finish().
  virtual void sampled(const std::string& name, const std::string& unit, Cycle first, double value) = 0;
  /// Puts the files in their places, complete however the run ended; without this call there are none.
  /// Returns why that failed, a sentence per file. Nothing is watched any more.
  [[nodiscard]] virtual std::vector<std::string> finish() = 0;
};

/// Of a platform to which it is to be attached, and which outlives it. Pre: options.wanted().
WARPLINE_PUBLIC [[nodiscard]] std::unique_ptr<Watcher> make_watcher(GpuPlatform& platform,
                                                                    WatchOptions options);

}  // namespace warpline
