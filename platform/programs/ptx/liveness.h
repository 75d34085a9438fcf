#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/programs/ptx/program.h"

namespace warpline::ptx {

/// A set of registers of a program, by number.
class RegisterSet {
 public:
  explicit RegisterSet(std::size_t count) : words_((count + 63) / 64) {}
  void add(std::uint16_t r) { words_[r / 64] |= bit(r); }
  void remove(std::uint16_t r) { words_[r / 64] &= ~bit(r); }
  [[nodiscard]] bool has(std::uint16_t r) const { return (words_[r / 64] & bit(r)) != 0; }
  /// Whether it has grown.
  bool add(const RegisterSet& other) {
    bool grown = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t all = words_[i] | other.words_[i];
      grown = grown || all != words_[i];
      words_[i] = all;
    }
    return grown;
  }
  /// Calls visit(register) for each.
  template <class F>
  void for_each(F&& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        visit(static_cast<std::uint16_t>(i * 64 + static_cast<unsigned>(__builtin_ctzll(left))));
  }

 private:
  static std::uint64_t bit(std::uint16_t r) { return std::uint64_t{1} << (r % 64U); }
  std::vector<std::uint64_t> words_;
};

/// The basic blocks of a program, and which registers hold values that are still needed before and behind
/// them. What lies before and behind a block stays right when its instructions change places among each other
/// as their dependences allow.
class Liveness {
 public:
  /// Pre: the program has an instruction, and outlives it.
  explicit Liveness(const Program& program);
  /// Whether the program is small enough to look at in reasonable time; if not, nothing is known of its
  /// registers, and the members below `blocks` may not be called.
  [[nodiscard]] bool is_known() const { return !needed_before_.empty(); }
  [[nodiscard]] std::size_t blocks() const { return begins_.size(); }
  /// The first instruction of a block, and the one behind its last.
  [[nodiscard]] std::size_t begin_of(std::size_t block) const { return begins_[block]; }
  [[nodiscard]] std::size_t end_of(std::size_t block) const {
    return block + 1 < begins_.size() ? begins_[block + 1] : program_.ops.size();
  }
  [[nodiscard]] const RegisterSet& needed_before(std::size_t block) const { return needed_before_[block]; }
  [[nodiscard]] RegisterSet needed_behind(std::size_t block) const;
  /// 32-bit registers that a register of the program takes; predicates have their own. Immediates,
  /// parameters, constants and special registers wait in none: the assembler uses them where they are.
  [[nodiscard]] unsigned units(std::uint16_t r) const {
    return made_of_nothing_.has(r) ? 0 : (program_.register_bytes[r] + 3U) / 4U;
  }
  /// The most 32-bit registers that are needed at once, before, behind and in the block.
  [[nodiscard]] unsigned most_in(std::size_t block) const;

 private:
  void find_blocks();
  void find_made_of_nothing();
  void solve();
  /// Goes through a block from its end, and calls visit() behind each instruction.
  template <class F>
  void walk(std::size_t block, RegisterSet& needed, unsigned* count, F&& visit) const;
  void change(RegisterSet& needed, std::uint16_t r, bool is_needed, unsigned* count) const;

  const Program& program_;
  RegisterSet made_of_nothing_;
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> block_of_;  ///< by operation
  std::vector<RegisterSet> needed_before_;
};

}  // namespace warpline::ptx
