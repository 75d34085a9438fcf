#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/launch/name_index.h"
#include "rtl_models/isa/data_type.h"

namespace warpline {

/// An array that expressions may name, and the type of its elements.
struct NamedArray {
  std::string name;
  DataType type = DataType::none;
};

/// The arrays that expressions may name, in order.
class NamedArrays {
 public:
  NamedArrays() = default;
  NamedArrays(std::vector<NamedArray> all) : all_(std::move(all)) {}  // NOLINT(google-explicit-constructor)
  NamedArrays(std::initializer_list<NamedArray> all) : all_(all) {}

  void push_back(NamedArray array) { all_.push_back(std::move(array)); }
  [[nodiscard]] const std::vector<NamedArray>& all() const { return all_; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] const NamedArray& operator[](std::size_t n) const { return all_[n]; }
  /// The number of the array that is called so; size(): there is none.
  [[nodiscard]] std::size_t number_of(const std::string& name) const { return index_.number_of(name, all_); }

 private:
  std::vector<NamedArray> all_;
  mutable NameIndex index_;
};

/// What is wrong with an expression, or went wrong while it was evaluated.
struct ExpressionFault {
  std::size_t offset = 0;  ///< into its text, bytes
  std::size_t length = 1;
  std::string message;
  std::string hint;
};

/// What a node of an expression computes.
enum class ExpressionOp : std::uint8_t {
  integer,
  real,
  index,
  variable,
  element,
  integer_part,  ///< an integer sub-expression inside a float one
  negate,
  logical_not,
  bit_not,
  absolute,
  square_root,
  multiply,
  divide,
  remainder,
  add,
  subtract,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  bit_and,
  bit_xor,
  bit_or,
  logical_and,
  logical_or,
  minimum,
  maximum,
  fused,
  choose,
  sum,
  dot,
};

/// Whether it is one of C's binary operators. Of these a chain that leans to the left ("a + b + c") may be of
/// any length: whoever walks a tree goes along it without recursion.
[[nodiscard]] constexpr bool is_binary_operator(ExpressionOp op) {
  return op >= ExpressionOp::multiply && op <= ExpressionOp::logical_or;
}

/// A node. Its operands are nodes of smaller or larger number in the same vector; there are no cycles.
struct ExpressionNode {
  static constexpr unsigned kMaxVariables = 16;  ///< nested sums
  ExpressionOp op = ExpressionOp::integer;
  DataType type = DataType::none;  ///< of `element`: of its array
  std::uint8_t operands = 0;
  std::uint32_t slot = 0;                  ///< array of `element`; variable of `variable`, `sum`, `dot`
  std::array<std::uint32_t, 4> operand{};  ///< of sum and dot: lo, hi, then the terms
  std::uint64_t integer = 0;               ///< the literal
  double real = 0;                         ///< the literal, either kind
  std::uint32_t offset = 0, length = 1;    ///< in the text, bytes
};

/// An expression as it is written, names resolved.
struct ParsedExpression {
  std::vector<ExpressionNode> nodes;
  std::uint32_t root = 0;
  std::vector<ExpressionFault> faults;
};
[[nodiscard]] ParsedExpression parse_expression(std::string_view text, DataType type,
                                                const NamedArrays& arrays);

/// Decides in which arithmetic each part of an expression for a buffer of type `type` computes; what that
/// arithmetic lacks is a fault.
void type_expression(ParsedExpression& parsed, DataType type);

}  // namespace warpline
