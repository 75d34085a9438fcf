#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// Which members of a cluster are to be visited in which cycle: a wheel of one bit per member and
/// cycle for the near future, a heap beyond it. A member is marked once per cycle however often it is asked
/// for.
class Calendar {
  static constexpr std::uint32_t kWheel = 128;

 public:
  /// Keeps the first marked cycle in `next`, which outlives it.
  explicit Calendar(Cycle& next) : next_(next) {
    next_ = kNever;
    wheel_ = narrow_.data();
  }
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;

  /// Makes room for one more member. Marks made before are kept.
  std::uint32_t add_member() {
    const std::size_t width = members_ / 8 + 1;
    if (width > 1 && width != width_) {
      std::vector<std::uint8_t> wider(kWheel * width, 0);
      std::copy_n(wheel_, kWheel * width_, wider.begin());
      wide_ = std::move(wider);
      wheel_ = wide_.data();
    }
    width_ = width;
    return members_++;
  }

  /// Where the mark of a member is: in the bytes of the wheel from `first` on, one for each slot.
  struct Place {
    explicit Place(std::uint32_t member = 0)
        : first(member / 8 * kWheel), bit(static_cast<std::uint8_t>(1U << member % 8)) {}
    std::uint32_t first;
    std::uint8_t bit;
  };
  /// Marks a member in `cycle`. kNever: not at all. Pre: cycles before it were taken or hold no mark.
  void mark(Place member, Cycle cycle) {
    if (cycle < next_) next_ = cycle;
    if (cycle - base_ < kWheel) {
      const std::size_t slot = cycle % kWheel;
      wheel_[member.first + slot] |= member.bit;
      occupied_[slot / 64] |= std::uint64_t{1} << (cycle % 64);
    } else if (cycle != kNever) {
      mark_far(member, cycle);
    }
  }
  void mark(std::uint32_t member, Cycle cycle) { mark(Place(member), cycle); }

  /// The first marked cycle; kNever if there is none.
  [[nodiscard]] Cycle next() const { return next_; }

  /// Takes the marks of the first marked cycle, calling visit(member) for each, in order of the
  /// members. Members may be marked meanwhile, in later cycles. Pre: some cycle is marked.
  template <class F>
  void take(F&& visit) {
    visit(take_but_last(visit));
  }
  /// The same without the last of these members: returns it instead.
  template <class F>
  [[nodiscard]] std::uint32_t take_but_last(F&& visit) {
    const Cycle cycle = next_;
    base_ = cycle;
    if (far_first_ - cycle < kWheel) bring_near();
    const std::size_t slot = cycle % kWheel;
    std::uint64_t& word = occupied_[slot / 64];
    // The slots stand for the cycles base_ to base_ + kWheel - 1; mostly the next is in the same word. One
    // that is marked from now on may be earlier.
    std::uint64_t rest = word >> cycle % 64;
    rest &= rest - 1;
    word ^= std::uint64_t{1} << (cycle % 64);
    next_ = rest != 0 ? cycle + static_cast<unsigned>(__builtin_ctzll(rest)) : first_of_later_words();
    if (width_ == 1) return visit_but_last(std::exchange(wheel_[slot], std::uint8_t{0}), 0, visit);
    std::uint32_t last = ~0U;
    for (std::size_t w = 0; w < width_; ++w) {
      const unsigned marks = std::exchange(wheel_[w * kWheel + slot], std::uint8_t{0});
      if (marks == 0) continue;
      if (last != ~0U) visit(last);
      last = visit_but_last(marks, static_cast<std::uint32_t>(w * 8), visit);
    }
    return last;
  }

  /// Time may go back: any cycle may be marked first. Pre: no cycle is marked.
  void restart() { base_ = 0; }

 private:
  /// Calls visit(first + n) for each bit n of `marks` but the last, and returns the number of that. Pre:
  /// there is one.
  template <class F>
  static std::uint32_t visit_but_last(unsigned marks, std::uint32_t first, F& visit) {
    for (; (marks & (marks - 1)) != 0; marks &= marks - 1)
      visit(first + static_cast<std::uint32_t>(__builtin_ctz(marks)));
    return first + static_cast<std::uint32_t>(__builtin_ctz(marks));
  }
  // What is seldom done stays out of who marks and takes, which then keep no registers for it.
  [[gnu::noinline]] void mark_far(Place member, Cycle cycle) {
    far_.push({cycle, member.first / kWheel * 8 + static_cast<unsigned>(__builtin_ctz(member.bit))});
    far_first_ = far_.top().first;
  }
  [[gnu::noinline]] void bring_near() {
    while (far_first_ - base_ < kWheel) {
      const std::uint32_t member = far_.top().second;
      const Cycle cycle = far_first_;
      far_.pop();
      far_first_ = far_.empty() ? kNever : far_.top().first;
      mark(member, cycle);
    }
  }
  /// The first marked cycle, if none is in the rest of the word in which base_ is: in the other word, or in
  /// the beginning of the same again.
  [[nodiscard, gnu::noinline]] Cycle first_of_later_words() const {
    static_assert(kWheel == 128, "two words");
    const std::size_t word = base_ % kWheel / 64;
    const Cycle begin = base_ - base_ % 64;
    if (const std::uint64_t other = occupied_[word ^ 1U]; other != 0)
      return begin + 64 + static_cast<unsigned>(__builtin_ctzll(other));
    if (const std::uint64_t again = occupied_[word]; again != 0)
      return begin + kWheel + static_cast<unsigned>(__builtin_ctzll(again));
    return far_first_;
  }

  // What every mark and take reads comes first, in one cache line.
  Cycle& next_;
  Cycle base_ = 0;                 ///< no cycle before it is marked
  Cycle far_first_ = kNever;       ///< the first cycle in far_
  std::size_t width_ = 0;          ///< bytes for each slot: as few as will do, for the host's caches
  std::uint8_t* wheel_ = nullptr;  ///< kWheel slots of eight members, then of the next eight
  std::array<std::uint64_t, kWheel / 64> occupied_{};
  std::array<std::uint8_t, kWheel> narrow_{};  ///< the wheel of up to eight members
  std::vector<std::uint8_t> wide_;             ///< and of more
  std::uint32_t members_ = 0;
  using Far = std::pair<Cycle, std::uint32_t>;
  std::priority_queue<Far, std::vector<Far>, std::greater<>> far_;
};

}  // namespace warpline
