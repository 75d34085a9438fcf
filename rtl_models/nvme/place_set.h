#pragma once

#include <array>
#include <cstdint>

namespace warpline {

/// Some of up to 256 places, by number.
class PlaceSet {
 public:
  static constexpr unsigned kMost = 256, kNone = kMost;

  void add(unsigned n) { words_[n / 64] |= bit(n); }
  void remove(unsigned n) { words_[n / 64] &= ~bit(n); }
  [[nodiscard]] bool has(unsigned n) const { return (words_[n / 64] & bit(n)) != 0; }
  [[nodiscard]] bool empty() const { return next(0) == kNone; }
  void clear() { words_.fill(0); }
  /// The first from number `n` on; kNone: there is none. Those of `but` do not count.
  [[nodiscard]] unsigned next(unsigned n, const PlaceSet& but) const {
    return search(n, [&](std::size_t w) { return words_[w] & ~but.words_[w]; });
  }
  [[nodiscard]] unsigned next(unsigned n) const {
    return search(n, [this](std::size_t w) { return words_[w]; });
  }
  /// The first from number `n` on that is not in it; kNone: there is none.
  [[nodiscard]] unsigned next_other(unsigned n) const {
    return search(n, [this](std::size_t w) { return ~words_[w]; });
  }

 private:
  [[nodiscard]] static constexpr std::uint64_t bit(unsigned n) { return std::uint64_t{1} << (n % 64); }
  template <class Word>
  [[nodiscard]] static unsigned search(unsigned n, Word&& word) {
    if (n >= kMost) return kNone;
    std::size_t w = n / 64;
    std::uint64_t bits = word(w) & (~std::uint64_t{0} << (n % 64));
    while (bits == 0 && ++w < kMost / 64) bits = word(w);
    return bits == 0 ? kNone : static_cast<unsigned>(w * 64) + static_cast<unsigned>(__builtin_ctzll(bits));
  }
  std::array<std::uint64_t, kMost / 64> words_{};
};

}  // namespace warpline
