#include "rtl_models/bulk_copy/bulk_walk.h"

#include <algorithm>

namespace warpline {
namespace {

constexpr std::uint32_t kPixelsOfWide = 128, kPixelsOfGroup = 32, kGroups = kPixelsOfWide / kPixelsOfGroup;
constexpr std::uint32_t kGatheredRows = 4;

}  // namespace

BulkWalk BulkWalk::of_bytes(std::uint64_t address, std::uint32_t bytes) {
  BulkWalk w;
  w.address_ = address;
  w.inside_ = bytes;
  return w;
}

BulkWalk BulkWalk::of_tensor(const TensorMap& map, TensorMode mode, const Coordinates& coordinates,
                             const std::array<std::uint16_t, 3>& offsets) {
  BulkWalk w;
  w.map_ = &map;
  w.mode_ = mode;
  w.start_ = coordinates;
  std::copy(coordinates.begin(), coordinates.end(), w.at_.begin());
  w.offsets_ = offsets;
  switch (mode) {
    case TensorMode::rows: w.rows_ = kGatheredRows; break;
    case TensorMode::wide: w.rows_ = map.pixels + offsets[0]; break;
    case TensorMode::wide_of_128: w.rows_ = kPixelsOfWide + kGroups * offsets[0]; break;
    default: w.rows_ = map.rows();
  }
  if (is_wide(mode)) w.find_wide();
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
    if (mode_ == TensorMode::im2col && d + 1 < m.rank) place += offsets_[d - 1];
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

/// Where pixel `row_` of the wide modes is: those of a line between its corners, then of the same line of the
/// next image.
void BulkWalk::find_wide() {
  const TensorMap& m = *map_;
  std::int64_t pixel = row_;
  if (mode_ == TensorMode::wide_of_128 && row_ >= kPixelsOfWide)
    pixel =
        (row_ - kPixelsOfWide) % kGroups * kPixelsOfGroup + kPixelsOfGroup + (row_ - kPixelsOfWide) / kGroups;
  const std::int64_t step = m.element_strides[1], first = std::int64_t{start_[1]} + offsets_[1];
  const std::int64_t lower = std::int64_t{m.lower[0]} + offsets_[1];
  const std::int64_t last = static_cast<std::int64_t>(m.shape[1]) - 1 + m.upper[0] + offsets_[1];
  const auto pixels_from = [&](std::int64_t w) { return w < last ? (last - w) / step + 1 : 1; };
  const std::int64_t here = pixels_from(first), of_line = pixels_from(lower);
  const unsigned image = m.rank - 1;
  at_[1] = pixel < here ? first + pixel * step : lower + (pixel - here) % of_line * step;
  at_[image] = std::int64_t{start_[image]} + (pixel < here ? 0 : 1 + (pixel - here) / of_line);
}

/// On to the next row: of a tile by its strides, of a column by the pixels between the corners.
void BulkWalk::end_row() {
  const TensorMap& m = *map_;
  if (++row_ == rows_) return;
  if (mode_ == TensorMode::rows) {
    at_[1] = start_[1 + row_];
    return begin_row();
  }
  if (is_wide(mode_)) {
    find_wide();
    return begin_row();
  }
  for (unsigned d = 1; d < m.rank; ++d) {
    if (mode_ == TensorMode::im2col && d + 1 == m.rank) {  // the next image
      ++at_[d];
      break;
    }
    at_[d] += m.element_strides[d];
    if (mode_ == TensorMode::im2col) {
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
