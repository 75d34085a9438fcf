#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  std::uint64_t kernel = 0;  ///< a program's pointer to it; device::kCopy: it is a copy or fill
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;
  bool tail = false;  ///< after the grid that launches it, and all others of that, are complete
  std::vector<std::uint8_t> parameters;
};

/// The memory of the device library (platform/programs/ptx/device_library): on each GPU that runs a module
/// which calls it a ring for what is printed, a heap, and slots for launches. All modules of a GPU share
/// them.
class DeviceMemory {
 public:
  /// A part that does not fit a GPU's memory, and the key of launch files that says how large it is.
  struct Misfit {
    std::string what;  ///< "the ring of printf of 1048576 bytes"
    std::string key;
  };
  /// Gives a module what of it the module has variables for, and no module before it had on that GPU.
  /// Pre: its variables are placed, and filled if the platform has data.
  std::optional<Misfit> set_up(unsigned gpu, const std::map<std::string, std::uint64_t>& variables,
                               const DeviceMemorySizes& sizes, GpuPlatform& platform);
  enum class Part : std::uint8_t { ring, heap };
  /// The variable by which modules have a part of it.
  [[nodiscard]] static const char* variable_of(Part part);
  /// Makes the rings and heaps that there are anew if they are to be of another size, and the room for
  /// launches. False: one does not fit, and stays as it was. Pre: no grid has used those that change.
  bool resize(const DeviceMemorySizes& sizes, GpuPlatform& platform);
  /// Where on a GPU the variable of the library lies that all modules share; nothing: it is no such variable,
  /// or no module has brought it yet.
  [[nodiscard]] std::optional<std::uint64_t> variable(const std::string& name, unsigned gpu) const;
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
