#pragma once

#include <cstdint>

#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// What a sum of f32 makes of subnormal inputs and results (PTX ISA, "atom").
enum class Subnormals : std::uint8_t {
  flushed,  ///< to zero of their sign: on global memory
  kept,     ///< on shared memory
};

/// The value that an atomic leaves in memory, given what was there (PTX ISA, "atom").
///
/// Values are the low `size_of(type)` bytes of a 64-bit word, upper bits zero. `operand` is `b`;
/// for compare-and-swap `operand` is the comparand `b` and `second` the new value `c`.
/// Floating-point sums round to nearest even. f16 and bf16 ones keep subnormals (`.noftz`), as do those of
/// f64; f32: `subnormals`. The minimum and maximum of a NaN and a number is the number, and -0 is below +0.
/// NaN results are canonical. Pre: the pair of operation and type is one that PTX has, not .b128.
[[nodiscard]] std::uint64_t apply_atomic(AtomicOperation operation, DataType type, std::uint64_t old_value,
                                         std::uint64_t operand, std::uint64_t second,
                                         Subnormals subnormals = Subnormals::flushed);

/// Performs one lane's operation on memory at `at`: a scalar operation on each of `elements` values of `type`
/// side by side, in their order. `operand`, `second` and `old_value` have as many bytes, at most 16 in all;
/// `old_value` is answered, and `second` is read by a compare-and-swap only. Pre: as apply_atomic(), and
/// .b128 with exchange and compare-and-swap.
void perform_atomic(AtomicOperation operation, DataType type, unsigned elements, std::uint8_t* at,
                    const std::uint8_t* operand, const std::uint8_t* second, std::uint8_t* old_value,
                    Subnormals subnormals = Subnormals::flushed);

/// What `multimem.ld_reduce` makes of an element's values in `count` places, in their order: the first
/// combined with the second, the result with the third and so on, each time as apply_atomic() does. `wide`:
/// sums of f16 and bf16 are of f32, and are rounded to the type once, at the end (`.acc::f32`). Of one place:
/// its value. Pre: count > 0; one of add, min, max, bit_and, bit_or, bit_xor on a type that goes with it.
[[nodiscard]] std::uint64_t reduce_values(AtomicOperation operation, DataType type, bool wide,
                                          const std::uint64_t* values, unsigned count);

/// Whether PTX has this operation on vectors of `vector` elements of this type; 1: on single ones.
[[nodiscard]] bool is_atomic_legal(AtomicOperation operation, DataType type, unsigned vector = 1);

}  // namespace warpline
