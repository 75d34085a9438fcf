#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "warpline/base/problem.h"
#include "warpline/config/launch_file.h"
#include "warpline/gpu/gpu_platform.h"

namespace warpline {

/// What became of grids and of what a host did meanwhile.
struct HostedLaunch {
  LaunchResult result;
  bool host_is_stuck = false;         ///< the grids have ended, and the host is not done
  std::size_t checks = 0;             ///< reads that were compared
  std::vector<std::string> failures;  ///< a sentence for each that was not as expected
};

/// A launch file, and where its data lies.
struct PlacedFile {
  const LaunchFile& file;
  const std::vector<std::uint64_t>& buffers;  ///< addresses, as LaunchFile::buffers
};

/// Who plays the host of a launch file: sets devices up, says where they are, and works while grids run.
class LaunchHost {
 public:
  virtual ~LaunchHost() = default;
  /// Sets up what a file wants of devices, at no cost of time. `places`: afterwards the values of
  /// LaunchFile::addresses. Returns what is wrong with it on this platform. Pre: the platform has the devices
  /// that the file names.
  [[nodiscard]] virtual Diagnostics set_up(const PlacedFile& placed, std::vector<std::uint64_t>& places) = 0;
  /// Everything is set up: what is counted and logged from now on is the run's.
  virtual void begin() = 0;
  /// Runs grids to their end, and does what `launch` says meanwhile.
  [[nodiscard]] virtual HostedLaunch run(const PlacedFile& placed, const Launch& launch,
                                         const std::vector<GridLaunch>& grids) = 0;
  /// A sentence for each register that is not as the file expects, after the last launch.
  [[nodiscard]] virtual std::vector<std::string> unexpected(const LaunchFile& file) = 0;
};

}  // namespace warpline
