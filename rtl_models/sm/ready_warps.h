#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/types.h"

namespace warpline {

/// Which warps can issue, and when those will that wait for a known cycle: a wheel of one bit per
/// warp slot and SM edge. At most 64 slots.
class ReadyWarps {
 public:
  /// Warp `slot` can issue from edge `edge` on.
  void at(unsigned slot, std::uint64_t edge) {
    const std::uint64_t bit = std::uint64_t{1} << slot;
    if (edge <= edge_) {
      ready_ |= bit;
    } else if (edge - edge_ < kWheel) {
      wheel_[edge % kWheel] |= bit;
      occupied_ |= std::uint64_t{1} << (edge % kWheel);
    } else {
      far_.push_back({edge, slot});
    }
  }
  /// Time is now `edge`.
  void advance(std::uint64_t edge) {
    if (occupied_ != 0) {
      for (std::uint64_t due = occupied_ & ring_slots_after(edge_, edge); due != 0; due &= due - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctzll(due));
        ready_ |= std::exchange(wheel_[i], 0);
        occupied_ &= ~(std::uint64_t{1} << i);
      }
    }
    edge_ = edge;
    if (!far_.empty()) bring_near();
  }
  [[nodiscard]] std::uint64_t ready() const { return ready_; }
  /// The warps of these bits have issued.
  void issued(std::uint64_t bits) { ready_ &= ~bits; }
  /// Takes the warp out, wherever it stands.
  void remove(unsigned slot) {
    const std::uint64_t others = ~(std::uint64_t{1} << slot);
    ready_ &= others;
    for (unsigned i = 0; i < kWheel; ++i)
      if ((wheel_[i] &= others) == 0) occupied_ &= ~(std::uint64_t{1} << i);
    far_.erase(std::remove_if(far_.begin(), far_.end(), [slot](const auto& f) { return f.second == slot; }),
               far_.end());
  }
  /// The first edge after now at which a waiting warp becomes ready; kNever if none waits.
  [[nodiscard]] std::uint64_t next_edge() const {
    std::uint64_t best = next_in_ring(occupied_, edge_);
    for (const auto& f : far_) best = std::min(best, f.first);
    return best;
  }
  void reset(std::uint64_t edge) {
    *this = ReadyWarps{};
    edge_ = edge;
  }

 private:
  static constexpr unsigned kWheel = 64;  // of ring_slots_after()
  [[gnu::noinline]] void bring_near() {
    for (std::size_t i = 0; i < far_.size();) {
      if (far_[i].first - edge_ >= kWheel && far_[i].first > edge_) {
        ++i;
        continue;
      }
      const auto [when, slot] = far_[i];
      far_[i] = far_.back();
      far_.pop_back();
      at(slot, when);
    }
  }
  std::uint64_t edge_ = 0;
  std::uint64_t ready_ = 0;
  std::uint64_t occupied_ = 0;
  std::array<std::uint64_t, kWheel> wheel_{};
  std::vector<std::pair<std::uint64_t, unsigned>> far_;
};

}  // namespace warpline
