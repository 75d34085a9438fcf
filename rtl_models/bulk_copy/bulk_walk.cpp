#include "rtl_models/bulk_copy/bulk_walk.h"

#include <algorithm>

namespace warpline {

BulkWalk BulkWalk::of_bytes(std::uint64_t address, std::uint32_t bytes) {
  BulkWalk w;
  w.address_ = address;
  w.inside_ = bytes;
  return w;
}

BulkWalk BulkWalk::of_tensor(const TensorMap& map, const Coordinates& coordinates,
                             const std::array<std::uint16_t, 3>& offsets) {
  BulkWalk w;
  w.map_ = &map;
  w.start_ = coordinates;
  std::copy(coordinates.begin(), coordinates.end(), w.at_.begin());
  w.offsets_ = offsets;
  w.rows_ = map.rows();
  w.begin_row();
  return w;
}

/// Which part of the row is in the tensor.
void BulkWalk::begin_row() {
  const TensorMap& m = *map_;
  before_ = inside_ = 0;
  behind_ = m.row_bytes();
  const std::int64_t elements = m.row_bytes() / m.element_bytes();
  std::uint64_t address = m.address;
  for (unsigned d = 1; d < m.rank; ++d) {
    std::int64_t place = at_[d];
    if (m.im2col && d + 1 < m.rank) place += offsets_[d - 1];
    if (place < 0 || static_cast<std::uint64_t>(place) >= m.shape[d]) return;
    address += static_cast<std::uint64_t>(place) * m.strides[d];
  }
  const auto size = static_cast<std::int64_t>(m.shape[0]);
  const std::int64_t first = std::clamp<std::int64_t>(at_[0], 0, size);
  const std::int64_t last = std::clamp<std::int64_t>(at_[0] + elements, 0, size);
  const std::int64_t skipped = first == last ? elements : first - at_[0];
  before_ = static_cast<std::uint32_t>(skipped) * m.element_bytes();
  inside_ = static_cast<std::uint32_t>(last - first) * m.element_bytes();
  behind_ = m.row_bytes() - before_ - inside_;
  address_ = address + static_cast<std::uint64_t>(first) * m.element_bytes();
}

/// On to the next row: of a tile by its strides, of a column by the pixels between the corners.
void BulkWalk::end_row() {
  const TensorMap& m = *map_;
  if (++row_ == rows_) return;
  for (unsigned d = 1; d < m.rank; ++d) {
    if (m.im2col && d + 1 == m.rank) {  // the next image
      ++at_[d];
      break;
    }
    at_[d] += m.element_strides[d];
    if (m.im2col) {
      const std::int64_t last = static_cast<std::int64_t>(m.shape[d]) - 1 + m.upper[d - 1];
      if (at_[d] <= last) break;
      at_[d] = m.lower[d - 1];
    } else {
      if (++index_[d] < m.taken(d)) break;
      index_[d] = 0;
      at_[d] = start_[d];
    }
  }
  begin_row();
}

bool BulkWalk::next(BulkPiece& piece) {
  while (before_ == 0 && inside_ == 0 && behind_ == 0) {
    if (map_ == nullptr || row_ == rows_) return false;
    end_row();
    if (row_ == rows_) return false;
  }
  piece = {offset_, 0, 0, inside_ == 0 || before_ != 0};
  if (piece.outside) {
    std::uint32_t& rest = before_ != 0 ? before_ : behind_;
    piece.bytes = std::min(rest, kLine);
    rest -= piece.bytes;
  } else {
    piece.address = address_;
    piece.bytes = std::min(inside_, kLine - static_cast<std::uint32_t>(address_ % kLine));
    inside_ -= piece.bytes;
    address_ += piece.bytes;
  }
  offset_ += piece.bytes;
  return true;
}

}  // namespace warpline
