#pragma once

#include <memory>
#include <string>

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

class GpuPlatform;
class HostedRun;

/// The host of launch files: firmware that finds the devices and sets them up, and software that does what
/// [[host]] says while grids run.
///
/// A buffer in system memory is mapped for a device where the file gives its bus address, and a GPU's BAR
/// opened to it where the buffer lies in that GPU's memory; a device's BAR is open to all GPUs where the file
/// gives an address in it. Between two looks a host that waits lets 20 cycles pass. A launch lasts until
/// its grids have ended and the host has done its last step. Once the grids have ended and nothing moves any
/// more, the host's next step sees what they wrote to system memory.
class WARPLINE_PUBLIC LaunchHost {
 public:
  /// The platform outlives it, and has devices behind a root complex. `max_cycles`: as the run's.
  explicit LaunchHost(GpuPlatform& platform, Cycle max_cycles = kNever);
  ~LaunchHost();
  LaunchHost(const LaunchHost&) = delete;
  LaunchHost& operator=(const LaunchHost&) = delete;

  /// What arrived at the devices during the run: a line of text each (see to_text(BusAccess)), or an array of
  /// JSON objects. If nothing ran, what has arrived ever.
  [[nodiscard]] std::string access_log(bool json);

 private:
  friend class LaunchRunner;
  std::unique_ptr<HostedRun> run_;
};

}  // namespace warpline
