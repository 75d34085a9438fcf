#pragma once

#include <cstdint>

#include "warpline/isa/mem_op.h"

namespace warpline {

/// The value that an atomic leaves in memory, given what was there (PTX ISA, "atom").
///
/// Values are the low `size_of(type)` bytes of a 64-bit word, upper bits zero. `operand` is `b`;
/// for compare-and-swap `operand` is the comparand `b` and `second` the new value `c`.
/// f32 and f64 add round to nearest even; f32 add flushes subnormal inputs and results to
/// sign-preserving zero, as `atom.add.f32` on global memory does; NaN results are canonical.
/// Pre: the pair of operation and type is one that PTX has.
[[nodiscard]] std::uint64_t apply_atomic(AtomicOperation operation, DataType type, std::uint64_t old_value,
                                         std::uint64_t operand, std::uint64_t second);

/// Whether PTX has this operation on this type (`.b128` and half types excepted: see `refusal`).
[[nodiscard]] bool is_atomic_legal(AtomicOperation operation, DataType type);

}  // namespace warpline
