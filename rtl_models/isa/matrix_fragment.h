#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// What elements of a matrix are (PTX ISA, "Matrix Data-types").
enum class MatrixType : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, f32, f64, s8, u8, s4, u4, b1, s32 };

/// Bits of an element.
[[nodiscard]] constexpr unsigned bits_of(MatrixType type) {
  constexpr std::uint8_t kBits[] = {16, 16, 32, 8, 8, 32, 64, 8, 8, 4, 4, 1, 32};
  return kBits[static_cast<std::size_t>(type)];
}
/// Bits that lie together in a register and are taken as one: an element, but of single bits a word of them.
[[nodiscard]] constexpr unsigned unit_bits(MatrixType type) {
  return type == MatrixType::b1 ? 32 : bits_of(type);
}

/// Rows and columns of C, and what a row of A is long.
struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
  [[nodiscard]] constexpr std::uint32_t products() const { return m * n * k; }
  [[nodiscard]] constexpr bool operator==(const MatrixShape& o) const {
    return m == o.m && n == o.n && k == o.k;
  }
};

/// How a matrix lies in registers of the 32 lanes of a warp (PTX ISA, "Matrix Fragments"). Elements are
/// counted in units (unit_bits), so a row of 128 single bits has 4.
struct Fragment {
  unsigned rows = 0, columns = 0;
  unsigned bits = 0;            ///< of a unit: 4, 8, 16, 32 or 64
  unsigned registers = 0;       ///< of each lane
  unsigned register_bytes = 4;  ///< 4 or 8
  /// For element (row, column) at row * columns + column: (register * 32 + lane) * parts() + part, the lowest
  /// bits of a register being part 0. So registers that lie one after another, 32 lanes side by side, are an
  /// array of units, and this is the index in it.
  std::vector<std::uint16_t> at;

  [[nodiscard]] unsigned parts() const { return register_bytes * 8 / bits; }
  [[nodiscard]] std::size_t bytes() const { return std::size_t{registers} * kWarpLanes * register_bytes; }
  void put(unsigned row, unsigned column, unsigned reg, unsigned lane, unsigned part) {
    at[std::size_t{row} * columns + column] =
        static_cast<std::uint16_t>((reg * kWarpLanes + lane) * parts() + part);
  }
};

/// A of `mma` with m rows, 8 or 16, and k columns; of a sparse A, those that are stored.
[[nodiscard]] Fragment mma_a(MatrixType type, unsigned m, unsigned k);
/// B of `mma`, k rows and 8 columns.
[[nodiscard]] Fragment mma_b(MatrixType type, unsigned k);
/// C or D of `mma`, m rows, 8 or 16, and n columns, a multiple of 8.
[[nodiscard]] Fragment mma_c(MatrixType type, unsigned m, unsigned n);

/// The matrices of `mma.m8n8k4` of f16, which makes four products, one of lanes 4 q to 4 q + 3 with 4 q + 16
/// to 4 q + 19 for each q: as the first has them. The others' elements lie 4 q lanes higher.
[[nodiscard]] Fragment quad_a(bool column_major);
[[nodiscard]] Fragment quad_b(bool column_major);
[[nodiscard]] Fragment quad_c(MatrixType type);

/// A matrix whose rows, or columns where `column_major`, lie one after another without gaps: in no registers,
/// but in an array of units all the same.
[[nodiscard]] Fragment lines_fragment(MatrixType type, unsigned rows, unsigned columns, bool column_major);

/// A fragment of `wmma`, which PTX leaves open; ours. Of the matrix as it lies in memory, row after row, or
/// column after column where `column_major`, lane l has the l-th of each 32 pieces of chunk_bytes().
struct LoadedFragment : Fragment {
  bool column_major = false;
  unsigned element_bits = 0;
  unsigned chunk_bytes = 0;      ///< of a lane's piece, that lie together in memory: 4 to 16
  unsigned chunks = 0;           ///< of each lane
  unsigned chunks_per_line = 0;  ///< of a row, or of a column
};
[[nodiscard]] LoadedFragment wmma_fragment(MatrixType type, unsigned rows, unsigned columns,
                                           bool column_major);

}  // namespace warpline
