#pragma once

#include <cstdint>
#include <unordered_map>

#include "platform/programs/ptx/program.h"

namespace warpline::ptx {

/// A value as a sum: of what `base` stands for, which is unknown, and `offset`. Equal bases are equal values;
/// base 0 is zero.
struct SumForm {
  std::uint32_t base = 0;
  std::uint64_t offset = 0;
};

/// What the instructions of a basic block are known to compute, as far as addresses are made: sums and
/// differences of registers and constants.
class AddressForms {
 public:
  /// Pre: the program outlives it.
  explicit AddressForms(const Program& program);
  /// Another block begins: nothing is known of registers.
  void begin_block() { registers_.clear(); }
  /// The value of an operand of 4 or 8 bytes, before the next instruction.
  [[nodiscard]] SumForm of(Ref ref, unsigned bytes);
  /// The next instruction, number `index` of the program, is executed.
  void execute(std::size_t index);

 private:
  [[nodiscard]] SumForm unknown() { return {++bases_, 0}; }
  [[nodiscard]] SumForm sum(const SumForm& a, const SumForm& b);
  [[nodiscard]] SumForm result_of(const Op& op, unsigned bytes);

  const Program& program_;
  std::unordered_map<std::uint32_t, SumForm> fixes_;       ///< constants known at launch only, by their place
  std::unordered_map<Ref, SumForm> registers_;             ///< by where they lie, special ones too
  std::unordered_map<std::uint64_t, std::uint32_t> sums_;  ///< of two bases, the smaller in the upper half
  std::uint32_t bases_ = 0;                                ///< so many there are
};

}  // namespace warpline::ptx
