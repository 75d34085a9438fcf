#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/launch/expression_node.h"
#include "rtl_models/base/text.h"

namespace warpline {

/// The functions of expressions.
struct ExpressionFunction {
  const char* name;
  ExpressionOp op;
  unsigned terms;
  bool has_range;  ///< starts with a variable and two bounds
};
inline constexpr ExpressionFunction kFunctions[] = {
    {"sum", ExpressionOp::sum, 1, true},       {"dot", ExpressionOp::dot, 2, true},
    {"fma", ExpressionOp::fused, 3, false},    {"min", ExpressionOp::minimum, 2, false},
    {"max", ExpressionOp::maximum, 2, false},  {"sqrt", ExpressionOp::square_root, 1, false},
    {"abs", ExpressionOp::absolute, 1, false},
};

/// The binary operators, with C's precedence.
struct BinaryOperator {
  const char* text;
  ExpressionOp op;
  unsigned precedence;  ///< higher binds tighter
};
/// Longer spellings before their prefixes.
inline constexpr BinaryOperator kBinary[] = {
    {"||", ExpressionOp::logical_or, 1}, {"&&", ExpressionOp::logical_and, 2},
    {"==", ExpressionOp::equal, 6},      {"!=", ExpressionOp::not_equal, 6},
    {"<<", ExpressionOp::shift_left, 8}, {">>", ExpressionOp::shift_right, 8},
    {"<=", ExpressionOp::less_equal, 7}, {">=", ExpressionOp::greater_equal, 7},
    {"|", ExpressionOp::bit_or, 3},      {"^", ExpressionOp::bit_xor, 4},
    {"&", ExpressionOp::bit_and, 5},     {"<", ExpressionOp::less, 7},
    {">", ExpressionOp::greater, 7},     {"+", ExpressionOp::add, 9},
    {"-", ExpressionOp::subtract, 9},    {"*", ExpressionOp::multiply, 10},
    {"/", ExpressionOp::divide, 10},     {"%", ExpressionOp::remainder, 10},
};

[[nodiscard]] constexpr bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// A number as C writes it.
struct ExpressionLiteral {
  bool is_real = false;
  std::uint64_t integer = 0;
  double real = 0;         ///< rounded to f32 where the suffix f or the type of the expression asks for it
  std::size_t length = 1;  ///< characters, suffix included
  std::string fault;       ///< why it is none, or empty
};
/// Reads the number that `text` starts with, in an expression of type `type`.
[[nodiscard]] ExpressionLiteral read_literal(std::string_view text, DataType type);

}  // namespace warpline
