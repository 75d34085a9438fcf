#pragma once

// Read by the device library (CUDA) and by who runs the grids that it launches (C++).

namespace warpline::device {

/// A grid that a kernel launches (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). Slots lie side by
/// side.
struct LaunchSlot {
  unsigned long long state;   ///< kLaunched once it is
  unsigned long long kernel;  ///< the value of a pointer to it
  unsigned long long stream;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  unsigned padding[9];
  unsigned char parameters[4096];  ///< CUDA's limit on those of kernels launched from the device
};
constexpr unsigned long long kLaunched = 0x6C61756E63686564ULL;
/// cudaStreamTailLaunch: after the grid that launches it and all others of that are complete.
constexpr unsigned long long kTailStream = 3;
/// Slots between two grids; CUDA's default of cudaLimitDevRuntimePendingLaunchCount.
constexpr unsigned kLaunchSlots = 2048;
/// Grids that launch each other, the one from the host included; CUDA's limit.
constexpr unsigned kDeepestLaunch = 24;

}  // namespace warpline::device
