#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "platform/cuda/module_on_device.h"
#include "platform/cuda/status.h"

namespace warpline::cuda {

struct Event;

/// A module of a program: read once for each GPU that uses it, when it does.
struct Library {
  std::function<Result<std::vector<PtxText>>(unsigned compute_capability)> texts;
  /// Bytes of its variables that are the host's, too, by name: those that were registered, and, once it has
  /// been read, those that the module names so.
  std::map<std::string, std::uint64_t> managed;
  std::map<std::string, std::uint64_t> managed_at;  ///< where they lie, once it has been read
  std::map<unsigned, std::unique_ptr<ModuleOnDevice>> on_device;
  std::map<unsigned, Status> failed;  ///< why it could not be read for a GPU
  std::string fault_text;             ///< likewise, as lines
  std::shared_ptr<const void> life =
      std::make_shared<char>();  ///< for those who ask whether it is still there
};

/// A kernel of a program, which names it by the object's address.
struct Function {
  Library* library = nullptr;
  std::string name;
  std::optional<std::uint32_t> set_dynamic_shared;  ///< bytes at most, if an attribute says so
  std::optional<unsigned> registers;                ///< of a thread, once somebody has asked
  bool odd_clusters = false;                        ///< clusters of more than 8 CTAs are allowed
  std::optional<unsigned> carveout;                 ///< KernelInfo::carveout
  int cache_preference = 0;                         ///< CUfunc_cache; it counts where there is no carveout
  /// What the next launch is, piece by piece (CUDA Driver API, "Execution Control [DEPRECATED]").
  struct Pieces {
    std::optional<Dim3> block;
    std::uint32_t shared_bytes = 0;
    std::size_t parameter_bytes = 0;
    std::vector<std::uint8_t> parameters;
  } pieces;

  /// Bytes of dynamic shared memory at most: 48 KiB less the static ones, unless the program has set it
  /// (CUDA C++ Programming Guide, "Shared Memory" of compute capability 7.x).
  [[nodiscard]] std::uint32_t most_dynamic_shared(const programs::Entry& entry) const {
    constexpr std::uint32_t kUnset = 48U << 10U;
    return set_dynamic_shared.value_or(kUnset - std::min(kUnset, entry.static_shared_bytes));
  }
};

/// What a preference for L1 or shared memory, CUfunc_cache, asks for as KernelInfo::carveout (CUDA Driver
/// API).
[[nodiscard]] constexpr std::optional<unsigned> carveout_of_preference(int cache_preference) {
  switch (cache_preference) {
    case 1: return 100;  // shared memory
    case 2: return 0;    // L1
    case 3: return 50;   // both alike
    default: return std::nullopt;
  }
}

/// Which way a copy goes.
enum class CopyKind : std::uint8_t {
  host_to_host,
  host_to_device,
  device_to_host,
  device_to_device,
  by_address
};

/// A copy of rows of `width` bytes, `to_pitch` and `from_pitch` apart, of slices that are `to_slice_pitch`
/// and `from_slice_pitch` apart.
struct CopyRequest {
  std::uint64_t to = 0, from = 0;
  std::uint64_t width = 0, height = 1, to_pitch = 0, from_pitch = 0;
  CopyKind kind = CopyKind::by_address;
  std::uint64_t depth = 1, to_slice_pitch = 0, from_slice_pitch = 0;
  bool between_gpus =
      false;  ///< from the memory of one to that of another: over the link; found by Machine::check()
  bool page_locked = true;  ///< the host's side, if it has one; likewise

  [[nodiscard]] std::uint64_t bytes() const { return width * height * depth; }
  /// Whether it is of a size that memory has, so that none of these overflows.
  [[nodiscard]] bool has_size() const {
    constexpr double kMost = 1e15;
    const auto d = [](std::uint64_t n) { return static_cast<double>(n); };
    return d(width) * d(height) * d(depth) < kMost &&
           d(depth) * d(to_slice_pitch) + d(height) * d(to_pitch) + d(width) < kMost &&
           d(depth) * d(from_slice_pitch) + d(height) * d(from_pitch) + d(width) < kMost;
  }
  /// Bytes from the first to the last.
  [[nodiscard]] std::uint64_t to_extent() const { return extent(to_pitch, to_slice_pitch); }
  [[nodiscard]] std::uint64_t from_extent() const { return extent(from_pitch, from_slice_pitch); }

 private:
  [[nodiscard]] std::uint64_t extent(std::uint64_t pitch, std::uint64_t slice_pitch) const {
    return bytes() == 0 ? 0 : (depth - 1) * slice_pitch + (height - 1) * pitch + width;
  }
};

/// Rows of `width` elements of `element_bytes` (1, 2, 4) bytes, `pitch` bytes apart, that get a value.
struct FillRequest {
  std::uint64_t to = 0;
  std::uint32_t value = 0;
  unsigned element_bytes = 1;
  std::uint64_t width = 0, height = 1, pitch = 0;
};

/// A grid as a program launches it.
struct GridShape {
  Dim3 grid, block;
  Dim3 cluster;  ///< 1 x 1 x 1: none
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  bool dependent = false;                 ///< may begin before the one before it in the stream ends
  std::optional<unsigned> carveout = {};  ///< KernelInfo::carveout
};

/// A grid to launch.
struct GridRequest {
  Function* function = nullptr;
  GridShape shape;
  /// Bytes of the parameters, laid out by the function that gets the kernel's own layout; nothing: what the
  /// program gave are none for this kernel.
  std::function<std::optional<std::vector<std::uint8_t>>(const programs::Entry&)> parameters;
};

// ---- What streams and graphs are made of. Each can be done any number of times.

struct Nothing {};

struct Grid {
  Function* function = nullptr;
  ModuleOnDevice* module = nullptr;
  const programs::Entry* entry = nullptr;
  GridShape shape;
  std::vector<std::uint8_t> parameters;
  unsigned device = 0;
  std::weak_ptr<const void> life = {};  ///< of the library that it is of

  /// Whether its module was unloaded: there is no function and no entry any more.
  [[nodiscard]] bool is_gone() const { return life.expired(); }
};

/// A function of the program.
struct HostCall {
  std::function<void()> function;
  bool waits = false;  ///< for what other work or the host does
};

struct RecordEvent {
  std::shared_ptr<Event> event;
  std::uint64_t number = 0;  ///< of Event::asked; 0: that of a graph, which is done in its turn
};

struct WaitForEvent {
  std::shared_ptr<Event> event;
};

/// Memory that goes back to the GPU.
struct FreeMemory {
  std::uint64_t address = 0;
};

using Operation =
    std::variant<Nothing, CopyRequest, FillRequest, Grid, HostCall, RecordEvent, WaitForEvent, FreeMemory>;

}  // namespace warpline::cuda
