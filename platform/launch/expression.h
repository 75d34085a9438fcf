#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/launch/expression_node.h"
#include "rtl_models/isa/data_type.h"

namespace warpline {

/// The elements of a named array: little-endian, packed.
struct ArrayView {
  const std::uint8_t* bytes = nullptr;
  std::uint64_t count = 0;
};

/// The expected value of element `i` of a buffer, as launch files write it.
///
/// Grammar: C's operators with C's precedence (?: || && | ^ & == != < <= > >= << >> + - * / % ! ~
/// unary + and -), parentheses, C's integer and float literals (of their suffixes only `f` means something:
/// it rounds to f32), `i`, `name[index]`, and the functions
///   sum(k, lo, hi, e)     0 + e(lo) + ... + e(hi-1), added in that order
///   dot(k, lo, hi, a, b)  r = fma(a, b, r) for k from lo to hi-1, starting with r = 0
///   fma(a, b, c)  min(a, b)  max(a, b)  sqrt(x)  abs(x)
/// `name[e]` is what the host put into that buffer before the first launch, whatever kernels did
/// to it since.
///
/// Values: each operation rounds to the buffer's type T, so expressions compute what the kernel's own
/// arithmetic in T does.
/// - T an integer type: operands are taken as they are, each result wraps to T. u64 computes unsigned,
///   the others signed in 64 bits before wrapping. Float elements are truncated towards zero and saturate.
/// - T f16, bf16, f32 or f64: elements, literals and indices are rounded to T first; round to nearest even.
/// - An index, a bound of `sum`, and, in a float expression, an operator that only integers
///   have (% & | ^ ~ << >>) or a comparison or logic of integers: 64-bit integer arithmetic.
/// Division by zero in integers, an index outside its array, and a shift by a negative number or more than
/// 63 are faults.
class Expression {
 public:
  /// Steps of `sum` that one evaluate() may take before it gives up.
  static constexpr std::uint64_t kDefaultBudget = 20'000'000'000;

  /// Checks `text` as an expression of type `type` over `arrays`. Exactly one of the two results is
  /// meaningful: no faults mean that `out` is ready.
  [[nodiscard]] static std::vector<ExpressionFault> compile(std::string_view text, DataType type,
                                                            const NamedArrays& arrays, Expression& out);

  /// Whether it reads array number `array` of those given to compile().
  [[nodiscard]] bool uses(std::size_t array) const;
  /// Calls `f` with the number of each array that it reads, perhaps more than once.
  template <class F>
  void for_each_array(F&& f) const {
    for (const ExpressionNode& n : nodes_)
      if (n.op == ExpressionOp::element) f(n.slot);
  }

  /// Computes elements [first, first + count) into `out`, as element bits. `arrays` are the contents
  /// of the arrays given to compile(); those that are not used may be empty. Stops at the first fault, and
  /// with one where `go_on`, which is asked every million steps of `sum`, says false.
  [[nodiscard]] std::optional<ExpressionFault> evaluate(const std::vector<ArrayView>& arrays,
                                                        std::uint64_t first, std::uint64_t count,
                                                        std::uint64_t* out,
                                                        std::uint64_t budget = kDefaultBudget,
                                                        const std::function<bool()>& go_on = {}) const;

 private:
  std::vector<ExpressionNode> nodes_;
  std::uint32_t root_ = 0;
  DataType type_ = DataType::none;
};

}  // namespace warpline
