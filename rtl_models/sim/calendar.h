#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// Which members of a cluster are to be visited in which cycle: a wheel of one bit per member and
/// cycle for the near future, a heap beyond it. A member is marked once per cycle however often it is asked
/// for.
class Calendar {
 public:
  /// Keeps the first marked cycle in `next`, which outlives it.
  explicit Calendar(Cycle& next) : next_(next) { next_ = kNever; }

  /// Makes room for one more member. Marks made before are kept.
  std::uint32_t add_member() {
    const std::size_t width = members_ / 8 + 1;
    if (width != width_) {
      std::vector<std::uint8_t> wheel(kWheel * width, 0);
      for (std::size_t slot = 0; slot < kWheel; ++slot)
        for (std::size_t w = 0; w < width_; ++w) wheel[slot * width + w] = wheel_[slot * width_ + w];
      width_ = width;
      wheel_ = std::move(wheel);
    }
    return members_++;
  }

  /// Marks `member` in `cycle`. kNever: not at all. Pre: cycles before it were taken or hold no mark.
  void mark(std::uint32_t member, Cycle cycle) {
    if (cycle < next_) next_ = cycle;
    if (cycle - base_ < kWheel) {
      std::uint8_t& marks = wheel_[cycle % kWheel * width_ + member / 8];
      marks = static_cast<std::uint8_t>(marks | 1U << member % 8);
      occupied_[cycle % kWheel / 64] |= std::uint64_t{1} << (cycle % 64);
    } else if (cycle != kNever) {
      far_.push({cycle, member});
      far_first_ = far_.top().first;
    }
  }

  /// The first marked cycle; kNever if there is none.
  [[nodiscard]] Cycle next() const { return next_; }

  /// Takes the marks of the first marked cycle, calling visit(member) for each, in order of the
  /// members. Members may be marked meanwhile, in later cycles. Pre: some cycle is marked.
  template <class F>
  void take(F&& visit) {
    const Cycle cycle = next_;
    base_ = cycle;
    if (far_first_ - cycle < kWheel) bring_near();
    const std::size_t slot = cycle % kWheel;
    occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    std::uint8_t* bytes = &wheel_[slot * width_];
    for (std::size_t w = 0; w < width_; ++w) {
      unsigned marks = bytes[w];
      bytes[w] = 0;
      for (; marks != 0; marks &= marks - 1)
        visit(static_cast<std::uint32_t>(w * 8) + static_cast<std::uint32_t>(__builtin_ctz(marks)));
    }
    next_ = first_marked();
  }

  /// Time may go back: any cycle may be marked first. Pre: no cycle is marked.
  void restart() { base_ = 0; }

 private:
  static constexpr std::size_t kWheel = 128;
  void bring_near() {
    while (far_first_ - base_ < kWheel) {
      const std::uint32_t member = far_.top().second;
      const Cycle cycle = far_first_;
      far_.pop();
      far_first_ = far_.empty() ? kNever : far_.top().first;
      mark(member, cycle);
    }
  }
  [[nodiscard]] Cycle first_marked() const {
    // The slots stand for the cycles base_ to base_ + kWheel - 1.
    const std::size_t start = base_ % kWheel;
    if (const std::uint64_t bits = occupied_[start / 64] & (~std::uint64_t{0} << (start % 64)); bits != 0)
      return base_ - start % 64 + static_cast<std::size_t>(__builtin_ctzll(bits));
    for (std::size_t i = 1; i <= kWheel / 64; ++i) {
      std::uint64_t bits = occupied_[(start / 64 + i) % (kWheel / 64)];
      if (i == kWheel / 64) bits &= (std::uint64_t{1} << (start % 64)) - 1;
      if (bits != 0) return base_ - start % 64 + i * 64 + static_cast<std::size_t>(__builtin_ctzll(bits));
    }
    return far_first_;
  }

  // What every mark and take reads comes first, in one cache line.
  Cycle& next_;
  Cycle base_ = 0;                   ///< no cycle before it is marked
  Cycle far_first_ = kNever;         ///< the first cycle in far_
  std::size_t width_ = 0;            ///< bytes of a wheel slot: as few as will do, for the host's caches
  std::vector<std::uint8_t> wheel_;  ///< kWheel slots of one bit per member
  std::array<std::uint64_t, kWheel / 64> occupied_{};
  std::uint32_t members_ = 0;
  using Far = std::pair<Cycle, std::uint32_t>;
  std::priority_queue<Far, std::vector<Far>, std::greater<>> far_;
};

}  // namespace warpline
