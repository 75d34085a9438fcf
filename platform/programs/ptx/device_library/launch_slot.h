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
/// LaunchSlot::kernel of a copy or fill, which the slot's parameters begin with.
constexpr unsigned long long kCopy = ~0ULL;
/// Rows of `width` bytes of slices of a copy, or of a fill with the byte `value`. Pitches are bytes from row
/// to row, and from slice to slice.
struct LaunchedCopy {
  unsigned long long to, to_pitch, to_slice;
  unsigned long long from, from_pitch, from_slice;  ///< of a fill 0
  unsigned long long width, height, depth;
  unsigned long long value;  ///< of a fill
  unsigned long long fills;  ///< 1: it is one
};
constexpr unsigned long long kLaunched = 0x6C61756E63686564ULL;
/// cudaStreamTailLaunch: after the grid that launches it and all others of that are complete.
constexpr unsigned long long kTailStream = 3;
/// Slots for launches and copies that one grid asks for, which begin when it has ended. The fewest are CUDA's
/// default of cudaLimitDevRuntimePendingLaunchCount, where they begin earlier and free their slots; so there
/// are more, to this many, where the GPU has the memory.
constexpr unsigned kFewestSlots = 2048;
constexpr unsigned kMostSlots = 65536;
/// Grids that launch each other, the one from the host included; CUDA's limit.
constexpr unsigned kDeepestLaunch = 24;

}  // namespace warpline::device
