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
  [[nodiscard]] Cycle ready(unsigned slot, const Instruction& i) const {
    const Cycle* r = &ready_[std::size_t{slot} * registers_];
    Cycle at = 0;
    const unsigned n = static_cast<unsigned>(i.source_count) + i.destination_count;
    const std::uint16_t* const number = i.registers.data(n);
    for (unsigned k = 0; k < n; ++k) at = std::max(at, r[number[k]]);
    return at;
  }
  /// The first register of `i` that is there at `at`, and not before; nothing: there is none.
  [[nodiscard]] std::optional<std::uint16_t> last_of(unsigned slot, const Instruction& i, Cycle at) const {
    const Cycle* r = &ready_[std::size_t{slot} * registers_];
    const unsigned n = static_cast<unsigned>(i.source_count) + i.destination_count;
    const std::uint16_t* const number = i.registers.data(n);
    for (unsigned k = 0; k < n; ++k)
      if (r[number[k]] == at) return number[k];
    return std::nullopt;
  }
  /// The destinations of `i` can be read from `at` on.
  void set(unsigned slot, const Instruction& i, Cycle at) {
    Cycle* r = &ready_[std::size_t{slot} * registers_];
    const unsigned n = static_cast<unsigned>(i.source_count) + i.destination_count;
    const std::uint16_t* const number = i.registers.data(n) + i.source_count;
    for (unsigned k = 0; k < i.destination_count; ++k) r[number[k]] = at;
  }

 private:
  unsigned registers_ = 0;
  std::vector<Cycle> ready_;
};

}  // namespace warpline
