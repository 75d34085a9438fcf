#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warpline {

/// Tells of each access to a line how many other lines were accessed since the last access to it: a cache of
/// more lines than that, which drops the one that was not used for longest, still has it.
///
/// Accesses are numbered; a tree of sums (Fenwick's) has a one for the last access of each line.
class ReuseDistance {
 public:
  /// Nothing: the line was not accessed before.
  std::optional<std::uint64_t> access(std::uint64_t line) {
    if (next_ == ones_.size()) renumber();
    const auto [found, fresh] = last_.try_emplace(line, next_);
    std::optional<std::uint64_t> distance;
    if (!fresh) {
      distance = last_.size() - sum_to(found->second);
      add(found->second, -1);
      found->second = next_;
    }
    add(next_, 1);
    ++next_;
    return distance;
  }
  [[nodiscard]] std::size_t lines() const { return last_.size(); }

 private:
  static constexpr std::size_t kLeast = 1024;

  /// Accesses up to number `n` that are the last of their lines.
  [[nodiscard]] std::uint64_t sum_to(std::size_t n) const {
    std::uint64_t sum = 0;
    for (std::size_t at = n + 1; at != 0; at &= at - 1) sum += ones_[at - 1];
    return sum;
  }
  void add(std::size_t n, int what) {
    for (std::size_t at = n + 1; at <= ones_.size(); at += at & (~at + 1))
      ones_[at - 1] += static_cast<std::uint32_t>(what);
  }
  /// The last accesses get the first numbers, in their order, and there is room for as many again.
  void renumber();

  std::unordered_map<std::uint64_t, std::size_t> last_;
  std::vector<std::uint32_t> ones_;
  std::size_t next_ = 0;
};

}  // namespace warpline
