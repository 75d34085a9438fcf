#include "platform/programs/ptx/register_pressure.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rtl_models/base/bits.h"

namespace warpline::ptx {
namespace {

/// A set of registers.
class Registers {
 public:
  explicit Registers(std::size_t count) : words_((count + 63) / 64) {}
  void add(std::uint16_t r) { words_[r / 64] |= bit(r); }
  void remove(std::uint16_t r) { words_[r / 64] &= ~bit(r); }
  [[nodiscard]] bool has(std::uint16_t r) const { return (words_[r / 64] & bit(r)) != 0; }
  /// Whether it has grown.
  bool add(const Registers& other) {
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

class Pressure {
 public:
  explicit Pressure(const Program& program) : program_(program), made_of_nothing_(program.registers) {
    find_blocks();
    find_made_of_nothing();
  }

  /// The most 32-bit registers that are needed at once.
  unsigned most() {
    const std::size_t registers = program_.registers;
    needed_before_.assign(begins_.size(), Registers(registers));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = begins_.size(); b-- > 0;) {
        Registers needed = needed_behind(b);
        walk(b, needed, [](std::size_t) {});
        changed = needed_before_[b].add(needed) || changed;
      }
    }
    unsigned most = 0;
    for (std::size_t b = 0; b < begins_.size(); ++b) {
      Registers needed = needed_behind(b);
      unsigned now = 0;
      needed.for_each([&](std::uint16_t r) { now += units(r); });
      most = std::max(most, now);
      count_ = &now;
      walk(b, needed, [&](std::size_t) { most = std::max(most, now); });
      count_ = nullptr;
    }
    return most;
  }
  [[nodiscard]] std::size_t blocks() const { return begins_.size(); }

 private:
  /// 32-bit registers that a register of the program takes; predicates have their own. Immediates,
  /// parameters, constants and special registers wait in none: the assembler uses them where they are.
  [[nodiscard]] unsigned units(std::uint16_t r) const {
    return made_of_nothing_.has(r) ? 0 : (program_.register_bytes[r] + 3U) / 4U;
  }

  /// Whether it reads a parameter or result of a device function, which is the value of another instruction.
  [[nodiscard]] bool reads_a_block(const Op& op) const {
    const auto lies_in = [](Ref ref, const std::vector<ParameterBlock>& blocks) {
      return std::any_of(blocks.begin(), blocks.end(), [ref](const ParameterBlock& b) {
        return ref >= b.ref && ref < b.ref + static_cast<Ref>(b.bytes * kWarpLanes);
      });
    };
    return std::any_of(op.r.begin(), op.r.end(), [&](Ref ref) {
      if (ref == kNoRef || (static_cast<std::uint32_t>(ref) & kPoolBit) != 0) return false;
      return std::any_of(program_.functions.begin(), program_.functions.end(), [&](const FunctionImage& f) {
        return lies_in(ref, f.blocks) || lies_in(ref, f.parameters) || lies_in(ref, f.results);
      });
    });
  }

  /// Registers that one instruction alone writes, which needs no other register.
  void find_made_of_nothing() {
    std::vector<unsigned> writers(program_.registers);
    for (std::size_t i = 0; i < program_.ops.size(); ++i) {
      const Instruction& instruction = program_.instructions[i];
      const unsigned sources = instruction.source_count, all = sources + instruction.destination_count;
      const bool from_memory = instruction.kind == InstructionKind::memory &&
                               instruction.mem.space != Space::constant &&
                               instruction.mem.space != Space::param;
      const bool alone = sources == 0 && !program_.ops[i].guarded && !from_memory &&
                         program_.ops[i].flow == Flow::next && !reads_a_block(program_.ops[i]);
      for (unsigned n = sources; n < all; ++n) {
        const std::uint16_t r = instruction.registers[n];
        writers[r] += alone ? 1 : 2;
        if (writers[r] == 1) {
          made_of_nothing_.add(r);
        } else {
          made_of_nothing_.remove(r);
        }
      }
    }
  }

  void find_blocks() {
    const std::size_t count = program_.ops.size();
    std::vector<bool> begins(count + 1, false);
    begins[0] = true;
    for (const FunctionImage& f : program_.functions) begins[f.entry] = true;
    for (std::size_t i = 0; i < count; ++i) {
      const Op& op = program_.ops[i];
      if (op.flow == Flow::next || op.flow == Flow::may_trap || op.flow == Flow::barrier ||
          op.flow == Flow::converge)
        continue;
      begins[i + 1] = true;
      if (op.flow == Flow::branch) begins[op.target] = true;
      if (op.flow == Flow::branch_table)
        for (const std::uint32_t t : program_.tables[op.target]) begins[t] = true;
    }
    block_of_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (begins[i]) begins_.push_back(i);
      block_of_[i] = begins_.size() - 1;
    }
  }

  [[nodiscard]] std::size_t end_of(std::size_t block) const {
    return block + 1 < begins_.size() ? begins_[block + 1] : program_.ops.size();
  }

  Registers needed_behind(std::size_t block) const {
    Registers needed(program_.registers);
    const std::size_t last = end_of(block) - 1;
    const Op& op = program_.ops[last];
    const auto follow = [&](std::size_t to) {
      if (to < program_.ops.size()) needed.add(needed_before_[block_of_[to]]);
    };
    if (op.flow == Flow::branch) follow(op.target);
    if (op.flow == Flow::branch_table)
      for (const std::uint32_t t : program_.tables[op.target]) follow(t);
    const bool always_leaves = op.flow == Flow::branch || op.flow == Flow::branch_table ||
                               op.flow == Flow::back || op.flow == Flow::exit || op.flow == Flow::trap;
    if (!always_leaves || op.guarded) follow(last + 1);
    return needed;
  }

  /// Goes through a block from its end, and calls visit(i) behind each instruction.
  template <class F>
  void walk(std::size_t block, Registers& needed, F&& visit) {
    for (std::size_t i = end_of(block); i-- > begins_[block];) {
      const Instruction& instruction = program_.instructions[i];
      const unsigned sources = instruction.source_count, all = sources + instruction.destination_count;
      // What a guard may leave as it was is needed before.
      if (!program_.ops[i].guarded)
        for (unsigned n = sources; n < all; ++n) change(needed, instruction.registers[n], false);
      for (unsigned n = 0; n < sources; ++n) change(needed, instruction.registers[n], true);
      visit(i);
    }
  }

  void change(Registers& needed, std::uint16_t r, bool is_needed) {
    if (needed.has(r) == is_needed) return;
    if (is_needed) {
      needed.add(r);
    } else {
      needed.remove(r);
    }
    if (count_ != nullptr) *count_ += is_needed ? units(r) : 0U - units(r);
  }

  const Program& program_;
  Registers made_of_nothing_;
  std::vector<std::size_t> begins_;    ///< of blocks
  std::vector<std::size_t> block_of_;  ///< by operation
  std::vector<Registers> needed_before_;
  unsigned* count_ = nullptr;
};

}  // namespace

unsigned register_pressure(const Program& program) {
  constexpr std::uint64_t kMostBits = std::uint64_t{1} << 30U;
  constexpr unsigned kOwn = 6, kUnit = 8,
                     kFewest = 16;  // assumed: addresses and constants of the assembler's
  if (program.ops.empty()) return kFewest;
  Pressure pressure(program);
  if (std::uint64_t{program.registers} * pressure.blocks() > kMostBits) return kMostRegisters;
  const auto wanted = static_cast<unsigned>(align_up(pressure.most() + kOwn, kUnit));
  return std::min(std::max(wanted, kFewest), kMostRegisters);
}

}  // namespace warpline::ptx
