#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rtl_models/base/contract.h"

namespace warpline {

/// The call-return stack of one warp, as its SM holds it (SASS, CCTL, ".CRS"): a top-of-stack cache of
/// the newest tokens, above a backing store in the warp's local memory. What happens only: who moves tokens
/// between the two, and when, is the SM's affair.
///
/// Tokens are numbered from the bottom, from 0. The cache holds tokens [low, depth); of these the newest,
/// from `clean` on, are not in the backing store yet. Tokens move in groups of four: a sector.
class CallReturnStack {
 public:
  static constexpr unsigned kTokenBytes = 8;
  static constexpr unsigned kGroup = 4;
  /// Adjacent tokens of one group.
  struct Tokens {
    std::uint32_t first = 0;
    unsigned count = 0;
    std::array<std::uint64_t, kGroup> value{};
  };

  /// `entries`: tokens that the cache holds, a multiple of kGroup, at least two groups.
  explicit CallReturnStack(unsigned entries) : entries_(entries) {}

  /// Empties the stack.
  void clear() { low_ = clean_ = depth_ = 0; }
  [[nodiscard]] std::uint32_t depth() const { return depth_; }
  /// No token can be pushed before the oldest group has left.
  [[nodiscard]] bool full() const { return depth_ - low_ == entries_; }
  /// The newest token is in the cache.
  [[nodiscard]] bool has_top() const { return low_ < depth_; }
  [[nodiscard]] bool is_clean() const { return clean_ == depth_; }

  /// Pre: not full().
  void push(std::uint64_t token) { entry(depth_++) = token; }
  /// Pre: has_top().
  [[nodiscard]] std::uint64_t top() const { return cache_[(depth_ - 1) % entries_]; }
  /// Takes the newest tokens off, so that `depth` are left. Pre: depth <= depth().
  void pop_to(std::uint32_t depth);
  /// SETCRSPTR to a greater depth: the tokens between are those in the backing store. Pre: is_clean(), depth
  /// > depth().
  void raise_to(std::uint32_t depth) {
    WARPLINE_EXPECT(is_clean() && depth > depth_, "the tokens below are in the backing store");
    low_ = clean_ = depth_ = depth;
  }

  /// Every token of the cache is to be written back again: what the backing store holds of them is not known,
  /// as programs reach it, too.
  void distrust_store() { clean_ = low_; }
  /// Makes room for one group: the oldest leave the cache. Returns those of them that the backing store does
  /// not have yet; none may be. Pre: full().
  [[nodiscard]] Tokens evict();
  /// The oldest tokens that the backing store does not have yet, of one group; it has them now. Pre: not
  /// is_clean().
  [[nodiscard]] Tokens write_back();
  /// The tokens to be fetched where the top is not in the cache; their values are unknown yet. Pre: not
  /// has_top(), depth() > 0.
  [[nodiscard]] Tokens wanted() const;
  /// The wanted tokens have come, and the cache holds them. Pre: `tokens` are those of wanted().
  void refill(const Tokens& tokens);

 private:
  [[nodiscard]] Tokens tokens(std::uint32_t first, std::uint32_t end) const;
  [[nodiscard]] std::uint64_t& entry(std::uint32_t token) {
    if (cache_.empty()) cache_.resize(entries_);  // most warps call nothing
    return cache_[token % entries_];
  }
  unsigned entries_;
  std::vector<std::uint64_t> cache_;  ///< token n at n modulo entries_; empty until the first comes
  std::uint32_t low_ = 0, clean_ = 0, depth_ = 0;
};

}  // namespace warpline
