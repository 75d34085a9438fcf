#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace warpline {

/// How often each latency was seen: exact up to 7 cycles, from there on in four classes for each power of
/// two, so that what it answers is at most a quarter too large. The last class, from 2^33 cycles on, has no
/// end.
class LatencyHistogram {
 public:
  static constexpr std::size_t kClasses = 128;
  void add(std::uint64_t cycles) {
    ++counts_[class_of(cycles)];
    ++count_;
    total_ += cycles;
    most_ = std::max(most_, cycles);
  }
  void add(const LatencyHistogram& other) {
    for (std::size_t n = 0; n < kClasses; ++n) counts_[n] += other.counts_[n];
    count_ += other.count_;
    total_ += other.total_;
    most_ = std::max(most_, other.most_);
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }
  /// The least bound that `percent` of all do not exceed; 0: there are none.
  [[nodiscard]] std::uint64_t percentile(unsigned percent) const {
    std::uint64_t left = (count_ * percent + 99) / 100;
    for (std::size_t n = 0; n < kClasses; ++n) {
      if (counts_[n] >= left) return count_ == 0 ? 0 : std::min(most_, last_of(n));
      left -= counts_[n];
    }
    return most_;
  }
  /// Calls visit(first, last, count) for each class that has any: latencies from `first` to `last`.
  template <class F>
  void for_each(F&& visit) const {
    for (std::size_t n = 0; n < kClasses; ++n)
      if (counts_[n] != 0) visit(n == 0 ? 0 : last_of(n - 1) + 1, last_of(n), counts_[n]);
  }

  [[nodiscard]] static std::size_t class_of(std::uint64_t cycles) {
    if (cycles < 8) return static_cast<std::size_t>(cycles);
    const unsigned power = 63U - static_cast<unsigned>(__builtin_clzll(cycles));
    return std::min<std::size_t>(kClasses - 1, std::size_t{4} * (power - 1) + (cycles >> (power - 2U) & 3U));
  }
  /// The largest latency of a class.
  [[nodiscard]] static std::uint64_t last_of(std::size_t n) {
    if (n < 8) return n;
    const std::size_t power = n / 4 + 1;
    return ((std::uint64_t{4} + n % 4 + 1) << (power - 2)) - 1;
  }

 private:
  std::array<std::uint64_t, kClasses> counts_{};
  std::uint64_t count_ = 0, total_ = 0, most_ = 0;
};

}  // namespace warpline
