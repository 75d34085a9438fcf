#pragma once

#include <cstdint>

#include "rtl_models/pcie/packets/far_device.h"
#include "rtl_models/sim/memory_image.h"

namespace warpline {

/// A device that is memory: plain bytes, which are read and written when an access arrives. Whoever watches
/// it finds there what was read or written.
class MemoryDevice final : public FarDevice {
 public:
  /// Reserves `bytes` of address space, as MemoryImage does.
  explicit MemoryDevice(std::uint64_t bytes) : image_(bytes) {}

  [[nodiscard]] MemoryImage& image() { return image_; }
  [[nodiscard]] const MemoryImage& image() const { return image_; }

 private:
  MemoryImage image_;
};

}  // namespace warpline
