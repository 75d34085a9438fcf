#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warpline/gpu/launch_runner.h"
#include "warpline/gpu/module_memory.h"

namespace warpline {

/// Where a launch file's data lies, and its kernels.
struct LaunchRunner::FileState {
  std::vector<std::uint64_t> buffers;  ///< addresses, as LaunchFile::buffers
  std::vector<std::uint64_t> images;   ///< handles, as LaunchFile::images
  std::vector<std::uint64_t> places;   ///< values, as LaunchFile::addresses
  VariableAddresses variables;
  std::vector<std::uint64_t> footprints;         ///< of each GPU, address of what generators access
  std::vector<std::unique_ptr<Kernel>> kernels;  ///< as LaunchFile::launches
};

}  // namespace warpline
