#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/base/byte_mask.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// An atomic request done by compare-and-swap, or by a read and a write: the words of its line that it saw
/// and the words that it wants there. Where a line is null nobody knows its bytes (tags only).
class PcieSwap {
 public:
  PcieSwap() = default;
  /// The words that an atomic works on, none of which is swapped yet.
  explicit PcieSwap(const AtomicBlock& block);

  /// 4, 8 or 16: what one AtomicOp swaps.
  [[nodiscard]] unsigned word_bytes() const { return word_bytes_; }
  /// Words that are left.
  [[nodiscard]] unsigned left() const { return static_cast<unsigned>(__builtin_popcount(words_)); }
  [[nodiscard]] bool is_left(unsigned word) const { return (words_ >> word & 1U) != 0; }
  /// A word is swapped.
  void done(unsigned word) { words_ &= ~(1U << word); }
  /// Calls visit(word, offset) for each word that is left, in order; `offset`: of it in the line.
  template <class F>
  void for_each(F&& visit) const {
    for (std::uint32_t words = words_; words != 0; words &= words - 1) {
      const auto word = static_cast<unsigned>(__builtin_ctz(words));
      visit(word, word * word_bytes_);
    }
  }
  /// The bytes seen and wanted, where they lie in the line.
  [[nodiscard]] std::array<std::uint8_t, kLineBytes>& seen() { return seen_; }
  [[nodiscard]] const std::array<std::uint8_t, kLineBytes>& seen() const { return seen_; }
  [[nodiscard]] const std::array<std::uint8_t, kLineBytes>& wanted() const { return wanted_; }

  /// Samples the words.
  void see(const std::uint8_t* line);
  /// Computes what the lanes, in order, make of the words seen that are left; writes their old values.
  void want(AtomicBlock& block);
  /// What a plain write of the words wanted writes: leaves only those words, and returns the bytes. These are
  /// all that the lanes name, but of compare-and-swaps only those that swapped, if that is `known`.
  [[nodiscard]] ByteMask written(const AtomicBlock& block, bool known);
  /// Swaps each word left that still is as it was seen, and samples the others again. Returns whether any is
  /// left.
  bool try_swap(std::uint8_t* line);

 private:
  unsigned word_bytes_ = 4;
  std::uint32_t words_ = 0;  ///< bit w: word w of the line is touched and not yet swapped
  std::array<std::uint8_t, kLineBytes> seen_{};
  std::array<std::uint8_t, kLineBytes> wanted_{};
};

}  // namespace warpline
