#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <tuple>

#include "rtl_models/base/visibility.h"
#include "rtl_models/isa/texel.h"

namespace warpline {

/// What a texture gives for coordinates beyond its edge: the nearest texel, the border colour, or its content
/// again, likewise or mirrored. The last two need normalized coordinates: others clamp (CUDA runtime API,
/// cudaTextureDesc).
enum class AddressMode : std::uint8_t { clamp, border, wrap, mirror };
/// The texel that the coordinates lie in, or a mean of its neighbours.
enum class TextureFilter : std::uint8_t { point, linear };

/// How a texture is read; the fields of CUDA's cudaTextureDesc.
struct WARPLINE_PUBLIC Sampler {
  std::array<AddressMode, 3> address = {};  ///< by dimension
  TextureFilter filter = TextureFilter::point;
  TextureFilter mip_filter = TextureFilter::point;  ///< linear: a mean of two levels
  /// Coordinates from 0 to 1 reach from edge to edge; otherwise they count texels.
  bool normalized_coordinates = false;
  TexelReading reading = {};
  std::array<float, 4> border = {};  ///< red, green, blue, alpha
  /// What texels that come out as integers have of the border colour: its numbers' bits; otherwise its
  /// numbers, cut off. They saturate to the format (assumed).
  bool border_is_bits = false;
  float level_bias = 0;
  float min_level = 0, max_level = 1000;  ///< the level of detail is kept within
  template <class Archive>
  void archive(Archive& a) {
    a(address, filter, mip_filter, normalized_coordinates, reading.normalized, reading.srgb, border,
      border_is_bits, level_bias, min_level, max_level);
  }
};

/// A texture or surface: elements in global memory. Rows follow one another, slices of a volume their rows,
/// layers (of a cube its six faces) one another, and the levels of a mipmap, finest first, their layers; all
/// without gaps.
struct WARPLINE_PUBLIC Image {
  bool is_surface = false;
  std::uint64_t address = 0;  ///< virtual, of element (0, 0); a multiple of the element
  std::uint32_t width = 1;    ///< elements
  std::uint32_t height = 1;   ///< rows; 1: also of an image with one dimension
  TexelFormat format;
  std::uint32_t depth = 1;   ///< slices of a volume
  std::uint32_t layers = 0;  ///< of an array, of a cube array the cubes; 0: it is no array
  std::uint32_t levels = 1;  ///< of a mipmap, each half as wide, high and deep as the one before
  bool cube = false;         ///< each layer has six faces: +x, -x, +y, -y, +z, -z
  std::uint64_t pitch = 0;   ///< bytes from row to row; 0: row_bytes(). A multiple of the element
  Sampler sampler = {};      ///< of a texture

  /// Of one level.
  [[nodiscard]] std::uint64_t row_bytes() const { return std::uint64_t{width} * format.bytes(); }
  [[nodiscard]] std::uint64_t row_step() const { return pitch != 0 ? pitch : row_bytes(); }
  /// Two-dimensional slices of a level beside the depth: layers and faces.
  [[nodiscard]] std::uint32_t slices() const { return std::max(layers, 1U) * (cube ? 6U : 1U); }
  /// A level alone, as an image without levels that begins where the level does.
  [[nodiscard]] Image level(unsigned n) const {
    Image out = *this;
    out.levels = 1;
    for (unsigned k = 0; k < n; ++k) {
      out.address += out.bytes();
      out.width = std::max(out.width / 2, 1U);
      out.height = std::max(out.height / 2, 1U);
      out.depth = std::max(out.depth / 2, 1U);
    }
    return out;
  }
  /// From the first element to the last.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0, w = width, h = height, d = depth;
    for (unsigned k = 0; k < levels; ++k) {
      sum += (pitch != 0 ? pitch : w * format.bytes()) * h * d * slices();
      w = std::max<std::uint64_t>(w / 2, 1);
      h = std::max<std::uint64_t>(h / 2, 1);
      d = std::max<std::uint64_t>(d / 2, 1);
    }
    return sum;
  }
  /// Levels that an image of this size can have: down to one element.
  [[nodiscard]] unsigned most_levels() const {
    unsigned n = 1;
    for (std::uint32_t size = std::max({width, height, depth}); size > 1; size /= 2) ++n;
    return n;
  }
  /// Whether there is something to access at every element: sizes of 1 and more, levels that fit, a pitch
  /// that holds a row, no pitch where there are levels.
  [[nodiscard]] bool is_well_formed() const {
    return width != 0 && height != 0 && depth != 0 && levels != 0 && levels <= most_levels() &&
           format.components != 0 && format.bytes() <= 16 && size_of(format.type) != 0 &&
           address % format.bytes() == 0 &&
           (pitch == 0 || (pitch >= row_bytes() && pitch % format.bytes() == 0 && levels == 1));
  }
  template <class Archive>
  void archive(Archive& a) {
    a(is_surface, address, width, height, format.type, format.components, depth, layers, levels, cube, pitch,
      sampler);
    if (!a.saves() && !is_well_formed()) a.misfit("has an image without elements");
  }
};

/// The textures and surfaces of a GPU, by the handles that programs hold in 64-bit registers. SMs only read
/// it; images come between runs or while one stands still, and go between runs.
class WARPLINE_PUBLIC ImageTable {
 public:
  /// Returns its handle, which is the same for an image that is there already, unless it is to be `distinct`.
  /// Pre: is_well_formed().
  std::uint64_t add(const Image& image, bool distinct = false) {
    const auto key = [](const Image& i) {
      const Sampler& s = i.sampler;
      return std::make_tuple(i.is_surface, i.address, i.width, i.height, i.format.type, i.format.components,
                             i.depth, i.layers, i.levels, i.cube, i.pitch, s.address, s.filter, s.mip_filter,
                             s.normalized_coordinates, s.reading.normalized, s.reading.srgb, s.border,
                             s.border_is_bits, s.level_bias, s.min_level, s.max_level);
    };
    std::size_t n = 0;
    if (distinct) {
      while (n < slots_.size() && (slots_[n].is_used || slots_[n].reuses == kMostReuses)) ++n;
    } else {
      while (n < slots_.size() && !(slots_[n].is_used && key(slots_[n].image) == key(image))) ++n;
    }
    if (n == slots_.size()) slots_.emplace_back();
    slots_[n].image = image;
    slots_[n].is_used = true;
    return kFirstHandle + n * kHandleStep + slots_[n].reuses * kReuseStep;
  }
  /// Takes an image away; its handle is none from now on, and never again one of another image. False: it was
  /// none.
  bool remove(std::uint64_t handle) {
    if (find(handle) == nullptr) return false;
    Slot& slot = slots_[slot_of(handle)];
    slot.is_used = false;
    if (slot.reuses < kMostReuses) ++slot.reuses;
    return true;
  }
  /// Null where no image has this handle. What it points to stays where it is.
  [[nodiscard]] const Image* find(std::uint64_t handle) const {
    const std::uint64_t n = slot_of(handle);
    if (handle % kHandleStep != 0 || n >= slots_.size()) return nullptr;
    const Slot& slot = slots_[n];
    return slot.is_used && handle / kReuseStep == slot.reuses ? &slot.image : nullptr;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(slots_);
  }

 private:
  // Far from every buffer, so that a handle is no address by accident, and the other way round.
  static constexpr std::uint64_t kFirstHandle = 0x7298'0000'0000ULL;
  static constexpr std::uint64_t kHandleStep = 32;  // bytes of a hardware descriptor
  // Handles of one slot differ in the bits that no address has.
  static constexpr std::uint64_t kReuseStep = std::uint64_t{1} << 48U;
  static constexpr std::uint16_t kMostReuses = 0xFFFF;

  struct Slot {
    Image image;
    std::uint16_t reuses = 0;
    bool is_used = false;
    template <class Archive>
    void archive(Archive& a) {
      a(image, reuses, is_used);
    }
  };
  [[nodiscard]] static std::uint64_t slot_of(std::uint64_t handle) {
    return (handle % kReuseStep - kFirstHandle) / kHandleStep;
  }

  std::deque<Slot> slots_;  // SMs hold pointers into it
};

}  // namespace warpline
