#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/instruction.h"

namespace warpline {

/// A register scoreboard: from when on each register of each warp slot can be read and written.
class Scoreboard {
 public:
  /// Makes room. What a slot has is left over until it is cleared: unrolled kernels have thousands of
  /// registers, and most slots of a small grid get no warp.
  void start(unsigned slots, unsigned registers) {
    registers_ = registers;
    if (const std::size_t all = std::size_t{slots} * registers; ready_.size() < all) ready_.resize(all);
  }
  /// Pre for all that follows: the slot was cleared since start().
  void clear(unsigned slot) {
    std::fill_n(ready_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * registers_), registers_,
                Cycle{0});
  }
  /// When the registers of `i` are all there; kNever while a memory access owes one.
  [[nodiscard, gnu::always_inline]] Cycle ready(unsigned slot, const Instruction& i) const {
    if (!i.few_registers) return ready_of_many(slot, i);
    const Cycle* const r = of(slot);
    const std::uint16_t* const number = i.registers.data(1);
    return std::max(std::max(r[number[0]], r[number[1]]), std::max(r[number[2]], r[number[3]]));
  }
  /// The first register of `i` that is there at `at`, and not before; nothing: there is none.
  [[nodiscard]] std::optional<std::uint16_t> last_of(unsigned slot, const Instruction& i, Cycle at) const {
    const Cycle* const r = of(slot);
    const unsigned n = static_cast<unsigned>(i.source_count) + i.destination_count;
    const std::uint16_t* const number = i.registers.data(n);
    for (unsigned k = 0; k < n; ++k)
      if (r[number[k]] == at) return number[k];
    return std::nullopt;
  }
  /// The destinations of `i` can be read from `at` on.
  [[gnu::always_inline]] void set(unsigned slot, const Instruction& i, Cycle at) {
    if (!i.few_registers) return set_many(slot, i, at);
    if (i.destination_count != 0) of(slot)[i.registers.data(1)[i.source_count]] = at;
  }

 private:
  [[nodiscard]] const Cycle* of(unsigned slot) const { return &ready_[std::size_t{slot} * registers_]; }
  [[nodiscard]] Cycle* of(unsigned slot) { return &ready_[std::size_t{slot} * registers_]; }
  [[nodiscard, gnu::noinline]] Cycle ready_of_many(unsigned slot, const Instruction& i) const {
    const Cycle* const r = of(slot);
    const unsigned n = static_cast<unsigned>(i.source_count) + i.destination_count;
    const std::uint16_t* const number = i.registers.data(n);
    Cycle at = 0;
    for (unsigned k = 0; k < n; ++k) at = std::max(at, r[number[k]]);
    return at;
  }
  [[gnu::noinline]] void set_many(unsigned slot, const Instruction& i, Cycle at) {
    Cycle* const r = of(slot);
    const unsigned n = static_cast<unsigned>(i.source_count) + i.destination_count;
    const std::uint16_t* const number = i.registers.data(n) + i.source_count;
    for (unsigned k = 0; k < i.destination_count; ++k) r[number[k]] = at;
  }

  unsigned registers_ = 0;
  std::vector<Cycle> ready_;
};

}  // namespace warpline
