#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/launch/module_memory.h"

namespace warpline {

/// What a program has printed: by printf, or by an assertion that failed.
struct PrintedText {
  std::string text;
  bool assertion = false;  ///< goes where errors go
};

/// A grid that a kernel has launched.
struct DeviceLaunch {
  std::uint64_t kernel = 0;  ///< a program's pointer to it
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;
  bool tail = false;  ///< after the grid that launches it, and all others of that, are complete
  std::vector<std::uint8_t> parameters;
};

/// The memory of the device library (platform/programs/ptx/device_library) for the modules of a launch file:
/// on each GPU that runs one which calls it a ring for what is printed, a heap, and slots for launches. All
/// modules of a GPU share them.
class DeviceMemory {
 public:
  /// Gives the modules that have them their ring and heap. What does not fit is a fault.
  /// Pre: their variables are placed, and filled if the platform has data.
  void set_up(const LoadedFile& loaded, const VariableAddresses& addresses, const DeviceMemorySizes& sizes,
              GpuPlatform& platform, Diagnostics& faults);
  /// What has been printed since the call before, in the order in which it was: that of each thread is its
  /// own. `lost`: bytes of records that later ones have overwritten are added. Pre: no run is under way.
  [[nodiscard]] std::vector<PrintedText> take_printed(GpuPlatform& platform, std::uint64_t& lost);
  /// What kernels of a GPU have launched since the call before, in order. Pre: no run is under way.
  [[nodiscard]] std::vector<DeviceLaunch> take_launched(GpuPlatform& platform, unsigned gpu);
  /// Of the grid that a GPU runs next: how many grids have led to it, one launching the next.
  void set_depth(GpuPlatform& platform, unsigned gpu, std::uint32_t depth);

 private:
  std::map<unsigned, std::uint64_t> rings_;  ///< by GPU, where the library's variable lies
  std::map<unsigned, std::uint64_t> heaps_;
  std::map<unsigned, std::uint64_t> launches_;
};

/// Whether a variable of a module is the device library's: modules of a GPU share it.
[[nodiscard]] bool is_shared_by_modules(const std::string& variable);

}  // namespace warpline
