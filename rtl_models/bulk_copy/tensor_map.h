#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/isa/data_type.h"

namespace warpline {

/// How the 16-byte pieces of what a tensor copy has in shared memory are permuted, so that columns fall in
/// different banks: over 32, 64 or 128 bytes (PTX ISA, "Swizzling modes").
enum class TensorSwizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

/// What a copy to shared memory has where the tensor is not.
enum class TensorFill : std::uint8_t { zeros, nan };

/// A tensor in global memory and the box of it that one copy moves (PTX ISA, "Tensor-map"; CUDA driver API,
/// "Tensor Map Object Management"). Dimension 0 is the innermost.
struct TensorMap {
  static constexpr unsigned kBytes = 128;  ///< of a descriptor
  static constexpr unsigned kAlignment = 64;
  static constexpr unsigned kMaxRank = 5;
  static constexpr unsigned kPiece = 16;  ///< bytes that copies move as one
  template <class T>
  using PerDimension = std::array<T, kMaxRank>;

  DataType type = DataType::u32;
  unsigned rank = 1;
  std::uint64_t address = 0;                                   ///< of element 0
  PerDimension<std::uint64_t> shape{1, 1, 1, 1, 1};            ///< elements
  PerDimension<std::uint64_t> strides{0, 0, 0, 0, 0};          ///< bytes; of dimension 0 the element's size
  PerDimension<std::uint32_t> element_strides{1, 1, 1, 1, 1};  ///< from one element of the box to the next
  PerDimension<std::uint32_t> box{1, 1, 1, 1, 1};              ///< `.tile`: what it spans, elements
  TensorSwizzle swizzle = TensorSwizzle::none;
  TensorFill fill = TensorFill::zeros;
  bool im2col = false;
  bool wide = false;  ///< of `im2col`: for `.im2col::w`, with corners in the first spatial dimension alone
  std::array<std::int32_t, 3> lower{}, upper{};  ///< `.im2col`: corners of the pixels, by dimension from 1
  std::uint32_t channels = 1, pixels = 1;        ///< `.im2col`: of a pixel; in a column

  [[nodiscard]] unsigned element_bytes() const { return size_of(type); }
  /// Elements that a copy takes in dimension `d`. Dimension 0 has no stride.
  [[nodiscard]] std::uint32_t taken(unsigned d) const {
    return d == 0 ? box[0] : (box[d] + element_strides[d] - 1) / element_strides[d];
  }
  /// Bytes of a row of what is copied: its elements in dimension 0.
  [[nodiscard]] std::uint32_t row_bytes() const { return (im2col ? channels : box[0]) * element_bytes(); }
  /// Rows of what is copied.
  [[nodiscard]] std::uint32_t rows() const;
  /// Bytes that one copy has in shared memory.
  [[nodiscard]] std::uint32_t bytes() const { return row_bytes() * rows(); }
  /// Bytes from element 0 to the end of the last.
  [[nodiscard]] std::uint64_t extent() const;
  /// Where byte `at` of shared memory really lies.
  [[nodiscard]] std::uint32_t swizzled(std::uint32_t at) const {
    constexpr std::uint32_t kMoved[] = {0x00, 0x10, 0x30, 0x70};
    return at ^ (at >> 3U & kMoved[static_cast<unsigned>(swizzle)]);
  }
  /// Everything that no copy could go by (CUDA driver API, cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col).
  [[nodiscard]] Problems problems(const std::string& path) const;

  /// The 128 bytes that programs have of it. They are ours: CUDA says nothing of what is in its own.
  [[nodiscard]] std::array<std::uint8_t, kBytes> encode() const;
  /// What of a descriptor `tensormap.replace` changes.
  enum class Field : std::uint8_t {
    address,
    rank,
    box,
    shape,
    stride,
    element_stride,
    type,
    swizzle,
    fill,
  };
  /// Where field `f` lies in a descriptor, in bytes. `n`: of box, shape and element_stride the dimension, of
  /// stride the dimension less 1.
  struct Place {
    unsigned offset = 0, bytes = 0;
  };
  [[nodiscard]] static Place place_of(Field f, unsigned n = 0);
  /// What lies there where the field is to be `value`, of `rank` one more than that (PTX ISA,
  /// "tensormap.replace"); of `type`, `swizzle` and `fill` the number of the enumerator.
  [[nodiscard]] static std::uint64_t stored(Field f, std::uint64_t value);
  /// Nothing, where they are no tensor map.
  [[nodiscard]] static std::optional<TensorMap> decode(const std::array<std::uint8_t, kBytes>& bytes);
};

}  // namespace warpline
