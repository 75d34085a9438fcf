#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "rtl_models/base/visibility.h"
#include "rtl_models/isa/texel.h"

namespace warpline {

/// A texture or surface: elements in global memory, row after row without gaps.
struct WARPLINE_PUBLIC Image {
  bool is_surface = false;
  std::uint64_t address = 0;  ///< virtual, of element (0, 0); a multiple of 256
  std::uint32_t width = 1;    ///< elements
  std::uint32_t height = 1;   ///< rows; 1: also of an image with one dimension
  TexelFormat format;
  [[nodiscard]] std::uint64_t row_bytes() const { return std::uint64_t{width} * format.bytes(); }
  [[nodiscard]] std::uint64_t bytes() const { return row_bytes() * height; }
  template <class Archive>
  void archive(Archive& a) {
    a(is_surface, address, width, height, format.type, format.components);
  }
};

/// The textures and surfaces of a GPU, by the handles that programs hold in 64-bit registers. SMs only read
/// it; it changes between runs.
class WARPLINE_PUBLIC ImageTable {
 public:
  /// Returns its handle, which is the same for an image that is there already.
  std::uint64_t add(const Image& image) {
    const auto key = [](const Image& i) {
      return std::make_tuple(i.is_surface, i.address, i.width, i.height, i.format.type, i.format.components);
    };
    std::size_t n = 0;
    while (n < images_.size() && key(images_[n]) != key(image)) ++n;
    if (n == images_.size()) images_.push_back(image);
    return kFirstHandle + n * kHandleStep;
  }
  /// Null where no image has this handle.
  [[nodiscard]] const Image* find(std::uint64_t handle) const {
    const std::uint64_t offset = handle - kFirstHandle;
    return offset % kHandleStep == 0 && offset / kHandleStep < images_.size() ? &images_[offset / kHandleStep]
                                                                              : nullptr;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(images_);
  }

 private:
  // Far from every buffer, so that a handle is no address by accident, and the other way round.
  static constexpr std::uint64_t kFirstHandle = 0x7296'0000'0000ULL;
  static constexpr std::uint64_t kHandleStep = 32;  // bytes of a hardware descriptor
  std::vector<Image> images_;
};

}  // namespace warpline
