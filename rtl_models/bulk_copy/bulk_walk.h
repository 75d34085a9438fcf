#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/bulk_copy/tensor_map.h"

namespace warpline {

/// A part of a bulk copy: bytes side by side in global memory, and in shared memory before its swizzle.
struct BulkPiece {
  std::uint32_t offset = 0;  ///< from the copy's begin in shared memory
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;  ///< in global memory
  bool outside = false;       ///< it is not in the tensor: there is no address
};

/// The pieces of one bulk copy, in order: of a run of bytes, of a tile of a tensor, or of an im2col column.
/// No piece crosses a line of global memory.
class BulkWalk {
 public:
  static constexpr std::uint32_t kLine = 128;
  using Coordinates = std::array<std::int32_t, TensorMap::kMaxRank>;

  BulkWalk() = default;
  /// `bytes` bytes from `address` on.
  static BulkWalk of_bytes(std::uint64_t address, std::uint32_t bytes);
  /// The box at `coordinates`. `offsets`: of im2col, added to each pixel's place, by dimension from 1. Pre:
  /// map.problems() is empty; it outlives the walk.
  static BulkWalk of_tensor(const TensorMap& map, const Coordinates& coordinates,
                            const std::array<std::uint16_t, 3>& offsets = {});
  /// The next piece. False: there is none.
  [[nodiscard]] bool next(BulkPiece& piece);

 private:
  void begin_row();
  void end_row();
  const TensorMap* map_ = nullptr;                      ///< null: a run of bytes
  Coordinates start_{};                                 ///< of the box
  std::array<std::int64_t, TensorMap::kMaxRank> at_{};  ///< of the row, without the offsets of im2col
  std::array<std::uint16_t, 3> offsets_{};
  std::array<std::uint32_t, TensorMap::kMaxRank> index_{};  ///< of the row in its box
  std::uint32_t row_ = 0, rows_ = 0;
  // Of the row being walked: elements before the tensor, in it and behind it, as bytes.
  std::uint32_t before_ = 0, inside_ = 0, behind_ = 0;
  std::uint64_t address_ = 0;  ///< of what is inside and not walked yet
  std::uint32_t offset_ = 0;
};

}  // namespace warpline
