#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "warpline/base/types.h"
#include "warpline/fabric/memory_image.h"

namespace warpline {

/// One access as it arrives at the bus of a device.
struct BusAccess {
  enum class Kind : std::uint8_t {
    read,
    write,
    atomic,  ///< an AtomicOp, of one lane or of one word of a compare-and-swap loop
    flush,   ///< a zero-length read: whoever made it waits for the writes before it to have arrived (R11)
  };
  Kind kind = Kind::read;
  bool exact = false;        ///< it may be no other transaction than this one (`.mmio`)
  std::uint64_t offset = 0;  ///< in the device's memory, bytes
  unsigned bytes = 0;
  std::array<std::uint8_t, kLineBytes> data{};  ///< the first `bytes` of it: what was read or is now there
  unsigned gpu = 0, sm = 0, warp = 0;           ///< who made it; of a flush, whose fence it belongs to
  Cycle cycle = 0;                              ///< in which it arrives
};

/// The memory of a device beside the GPUs, at the far end of their PCIe links: plain bytes, which are read
/// and written when an access arrives. Whoever watches it sees the device's bus.
class PeerMemory {
 public:
  /// Reserves `bytes` of address space, as MemoryImage does.
  explicit PeerMemory(std::uint64_t bytes) : image_(bytes) {}

  [[nodiscard]] MemoryImage& image() { return image_; }
  [[nodiscard]] const MemoryImage& image() const { return image_; }
  /// From now on `observer` is told of every access, in the order of arrival. An access of bytes that do not
  /// all lie side by side is told of run by run. One observer at most.
  void watch(std::function<void(const BusAccess&)> observer) { observer_ = std::move(observer); }
  [[nodiscard]] bool is_watched() const { return observer_ != nullptr; }
  /// The link's: an access has been performed.
  void arrived(const BusAccess& access) const { observer_(access); }

 private:
  MemoryImage image_;
  std::function<void(const BusAccess&)> observer_;
};

}  // namespace warpline
