#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "rtl_models/base/byte_mask.h"

namespace warpline {

/// Bytes of local lines that were evicted after their last use (`ld.lu`) without being written back.
///
/// A cache operator is a hint and changes nothing that a program reads (docs/ordering.md),
/// so the bytes are not lost: they are kept here and laid over what is fetched of the
/// line later. That costs neither time nor traffic, which is what the last use saved. Poisoned, those of them
/// that were last used read as kPoison instead and show a program that breaks its promise; what others hold
/// in the same line, and what was not read, stays.
///
/// None of them is dirty in L1, where a store forgets them: memory and these bytes together always
/// hold the newest value of what is not dirty.
class GivenUpBytes {
 public:
  static constexpr std::uint8_t kPoison = 0xDB;

  explicit GivenUpBytes(bool poison) : poison_(poison) {}
  [[nodiscard]] bool poisons() const { return poison_; }
  [[nodiscard]] bool empty() const { return lines_.empty() && last_used_.empty(); }
  /// Bytes `bytes` of line `number` were read for the last time. Pre: poisons().
  void use_last(std::uint64_t number, ByteMask bytes) {
    ByteMask& used = last_used_[number];
    used = used | bytes;
  }
  /// Bytes `bytes` of line `number` are evicted; `line` are its 128 bytes.
  void keep(std::uint64_t number, ByteMask bytes, const std::uint8_t* line) {
    Kept& kept = lines_[number];
    kept.mask = kept.mask | bytes;
    copy_masked(kept.bytes.data(), line, bytes);
    const auto used = last_used_.find(number);
    if (used == last_used_.end()) return;
    std::array<std::uint8_t, kLineBytes> poison;
    poison.fill(kPoison);
    copy_masked(kept.bytes.data(), poison.data(), used->second & bytes);
    last_used_.erase(used);
  }
  /// Forgets the bytes of all lines.
  void clear() {
    lines_.clear();
    last_used_.clear();
  }
  template <class Archive>
  void archive(Archive& a) {
    archive_lines(a, lines_);
    archive_lines(a, last_used_);
  }
  /// A store has written these bytes: what is kept of them is forgotten, and they have not been used.
  void forget(std::uint64_t number, ByteMask bytes) {
    if (const auto used = last_used_.find(number); used != last_used_.end()) {
      used->second = used->second & ~bytes;
      if (!used->second.any()) last_used_.erase(used);
    }
    const auto at = lines_.find(number);
    if (at == lines_.end()) return;
    at->second.mask = at->second.mask & ~bytes;
    if (!at->second.mask.any()) lines_.erase(at);
  }
  /// Copies those of the line that are in `among` to the 128 bytes at `line`. Returns which.
  ByteMask lay_over(std::uint64_t number, ByteMask among, std::uint8_t* line) const {
    const auto at = lines_.find(number);
    if (at == lines_.end()) return {};
    const ByteMask bytes = at->second.mask & among;
    copy_masked(line, at->second.bytes.data(), bytes);
    return bytes;
  }

 private:
  struct Kept {
    ByteMask mask;
    std::array<std::uint8_t, kLineBytes> bytes;
    template <class Archive>
    void archive(Archive& a) {
      a(mask, bytes);
    }
  };
  template <class Archive, class V>
  static void archive_lines(Archive& a, std::unordered_map<std::uint64_t, V>& lines) {
    std::map<std::uint64_t, V> sorted(lines.begin(), lines.end());
    a(sorted);
    if (!a.saves()) lines = {sorted.begin(), sorted.end()};
  }
  bool poison_;
  std::unordered_map<std::uint64_t, Kept> lines_;          ///< by line number; never iterated
  std::unordered_map<std::uint64_t, ByteMask> last_used_;  ///< of lines that are here, likewise
};

}  // namespace warpline
