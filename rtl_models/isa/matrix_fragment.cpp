#include "rtl_models/isa/matrix_fragment.h"

#include <algorithm>

namespace warpline {
namespace {

Fragment empty_fragment(MatrixType type, unsigned rows, unsigned columns) {
  Fragment f;
  f.rows = rows;
  f.columns = columns;
  f.bits = unit_bits(type);
  f.register_bytes = f.bits == 64 ? 8 : 4;
  f.registers = rows * columns * f.bits / (kWarpLanes * f.register_bytes * 8);
  f.at.resize(std::size_t{rows} * columns);
  return f;
}

/// Units in a row of k elements.
unsigned units(MatrixType type, unsigned k) {
  return k * bits_of(type) / unit_bits(type);
}

/// Calls f(register, lane, part) for each unit.
template <class F>
void for_each_unit(const Fragment& fragment, F&& f) {
  for (unsigned reg = 0; reg < fragment.registers; ++reg)
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      for (unsigned part = 0; part < fragment.parts(); ++part) f(reg, lane, part);
}

}  // namespace

Fragment mma_a(MatrixType type, unsigned m, unsigned k) {
  Fragment f = empty_fragment(type, m, units(type, k));
  const unsigned blocks = m / 8;  // of 8 rows
  for_each_unit(f, [&](unsigned reg, unsigned lane, unsigned part) {
    f.put(lane / 4 + reg % blocks * 8, (reg / blocks * 4 + lane % 4) * f.parts() + part, reg, lane, part);
  });
  return f;
}

Fragment mma_b(MatrixType type, unsigned k) {
  Fragment f = empty_fragment(type, units(type, k), 8);
  for_each_unit(f, [&](unsigned reg, unsigned lane, unsigned part) {
    f.put((reg * 4 + lane % 4) * f.parts() + part, lane / 4, reg, lane, part);
  });
  return f;
}

Fragment mma_c(MatrixType type, unsigned m, unsigned n) {
  Fragment f = empty_fragment(type, m, n);
  const unsigned blocks = m / 8;
  for_each_unit(f, [&](unsigned reg, unsigned lane, unsigned part) {
    const unsigned element = reg * f.parts() + part;  // of the lane: two neighbours in each block of 8 by 8
    const unsigned block = element / 2;
    f.put(lane / 4 + block % blocks * 8, block / blocks * 8 + lane % 4 * 2 + element % 2, reg, lane, part);
  });
  return f;
}

namespace {

/// Calls f(lane of the first quarter of the warp's products, its number of 8, element).
template <class F>
void for_each_of_quad(unsigned elements, F&& f) {
  for (unsigned n = 0; n < 8; ++n)
    for (unsigned e = 0; e < elements; ++e) f(n % 4 + n / 4 * 16, n, e);
}

}  // namespace

Fragment quad_a(bool column_major) {
  Fragment f = empty_fragment(MatrixType::f16, 8, 4);
  f.registers = 2;
  for_each_of_quad(4, [&](unsigned lane, unsigned n, unsigned e) {
    const unsigned row = column_major ? e + n / 4 * 4 : n;
    f.put(row, column_major ? n % 4 : e, e / 2, lane, e % 2);
  });
  return f;
}

Fragment quad_b(bool column_major) {
  Fragment f = empty_fragment(MatrixType::f16, 4, 8);
  f.registers = 2;
  for_each_of_quad(4, [&](unsigned lane, unsigned n, unsigned e) {
    const unsigned column = column_major ? n : e + n / 4 * 4;
    f.put(column_major ? e : n % 4, column, e / 2, lane, e % 2);
  });
  return f;
}

Fragment quad_c(MatrixType type) {
  Fragment f = empty_fragment(type, 8, 8);
  f.registers = 8 / f.parts();
  for_each_of_quad(8, [&](unsigned lane, unsigned n, unsigned e) {
    if (type == MatrixType::f16) return f.put(n, e, e / 2, lane, e % 2);
    const unsigned row = (n & 1U) + (e & 2U) + n / 4 * 4;
    return f.put(row, (e & 4U) + (n & 2U) + (e & 1U), e, lane, 0);
  });
  return f;
}

Fragment lines_fragment(MatrixType type, unsigned rows, unsigned columns, bool column_major) {
  const unsigned per_unit = unit_bits(type) / bits_of(type);
  Fragment f = empty_fragment(type, column_major ? rows / per_unit : rows,
                              column_major ? columns : columns / per_unit);
  for (unsigned row = 0; row < f.rows; ++row)
    for (unsigned column = 0; column < f.columns; ++column)
      f.at[std::size_t{row} * f.columns + column] =
          static_cast<std::uint16_t>(column_major ? column * f.rows + row : row * f.columns + column);
  return f;
}

LoadedFragment wmma_fragment(MatrixType type, unsigned rows, unsigned columns, bool column_major) {
  LoadedFragment f;
  // Single bits go along k, which is the row of a row-major A and the column of a column-major B.
  const unsigned per_unit = unit_bits(type) / bits_of(type);
  static_cast<Fragment&>(f) = empty_fragment(type, column_major ? rows / per_unit : rows,
                                             column_major ? columns : columns / per_unit);
  f.column_major = column_major;
  f.element_bits = bits_of(type);
  const unsigned line = column_major ? f.rows : f.columns;  // units
  const unsigned lane_bytes = f.registers * f.register_bytes;
  f.chunk_bytes = std::min(lane_bytes, 16U);
  f.chunks = lane_bytes / f.chunk_bytes;
  const unsigned chunk_units = f.chunk_bytes * 8 / f.bits;
  f.chunks_per_line = line / chunk_units;
  for_each_unit(f, [&](unsigned reg, unsigned lane, unsigned part) {
    const unsigned unit = reg * f.parts() + part;
    const unsigned chunk = unit / chunk_units * kWarpLanes + lane;
    const unsigned across = chunk / f.chunks_per_line;
    const unsigned along = chunk % f.chunks_per_line * chunk_units + unit % chunk_units;
    f.put(column_major ? along : across, column_major ? across : along, reg, lane, part);
  });
  return f;
}

}  // namespace warpline
