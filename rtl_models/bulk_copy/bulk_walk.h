#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/bulk_copy/tensor_map.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// A part of a bulk copy: bytes side by side in global memory, and in shared memory before its swizzle.
struct BulkPiece {
  std::uint32_t offset = 0;  ///< from the copy's begin in shared memory
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;  ///< in global memory
  bool outside = false;       ///< it is not in the tensor: there is no address
};

/// The pieces of one bulk copy, in order: of a run of bytes, or of what of a tensor its mode names.
/// No piece crosses a line of global memory.
class BulkWalk {
 public:
  static constexpr std::uint32_t kLine = 128;
  using Coordinates = std::array<std::int32_t, TensorMap::kMaxRank>;

  BulkWalk() = default;
  /// `bytes` bytes from `address` on.
  static BulkWalk of_bytes(std::uint64_t address, std::uint32_t bytes);
  /// What begins at `coordinates`. Of `rows` they are a column and four rows. `offsets`: of im2col, added to
  /// each pixel's place, by dimension from 1; of the wide modes how many pixels of halo follow, and how far
  /// line and corners move. The halo of `wide` goes on where the pixels end; that of `wide_of_128` comes
  /// behind all: the first pixel behind each 32, then the second, and so on (assumed). Pre: map.problems() is
  /// empty, and it is for `mode`; it outlives the walk.
  static BulkWalk of_tensor(const TensorMap& map, TensorMode mode, const Coordinates& coordinates,
                            const std::array<std::uint16_t, 3>& offsets = {});
  /// Bytes in shared memory of all that is left of a tensor's. Pre: it is a tensor's, and next() was not
  /// called.
  [[nodiscard]] std::uint32_t bytes() const { return map_->row_bytes() * rows_; }
  /// The next piece. False: there is none.
  [[nodiscard]] bool next(BulkPiece& piece);

 private:
  void begin_row();
  void end_row();
  void find_wide();
  const TensorMap* map_ = nullptr;  ///< null: a run of bytes
  TensorMode mode_ = TensorMode::tile;
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
