#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/ptx/decoder.h"
#include "rtl_models/isa/matrix_product.h"

namespace warpline::ptx {

/// Operands of an operation: lists of registers, or a descriptor.
inline constexpr unsigned kMatrixD = 0, kMatrixA = 1, kMatrixB = 2, kMatrixC = 3;

/// What tells the tensor pipe's rate for products of `type`.
[[nodiscard]] MatrixClass class_of(MatrixType type);

/// The qualifiers that `mma`, `wmma` and `wgmma` share.
struct MatrixWords {
  MatrixShape shape;
  Place shape_place;
  std::string shape_text;
  std::vector<MatrixType> types;
  std::vector<bool> columns;  ///< of each layout: `.col`
};
/// A fault where there is no shape.
[[nodiscard]] MatrixWords take_matrix_words(Decoder& d);
/// `what` has no form of that shape with these types.
[[noreturn]] void fail_shape(Decoder& d, const MatrixWords& s, const std::string& what);
/// What a register of a fragment is.
[[nodiscard]] DataType register_type(MatrixType type);
/// The registers of operand `index`, a vector of so many, as a list; `written`: they are D's.
[[nodiscard]] Ref take_fragment(Decoder& d, std::size_t index, MatrixType type, std::size_t registers,
                                bool written);
/// Which of the lanes' words of metadata are meant: operand `index`, a number.
[[nodiscard]] std::int64_t take_selector(Decoder& d, std::size_t index, const MatrixForm& form);
/// Copies registers of a list, 32 lanes side by side, to `to`, or from `from`.
void read_fragment(const Op& op, const Frame& f, unsigned operand, const Fragment& layout, std::byte* to);
void write_fragment(const Op& op, const Frame& f, unsigned operand, const Fragment& layout,
                    const std::byte* from);

}  // namespace warpline::ptx
