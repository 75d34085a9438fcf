#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "rtl_models/base/bits.h"

namespace warpline {

/// What falls due at which edge of a clock, of up to 64 * Words things that have numbers: a wheel of a bit
/// per thing and edge for the next 63 edges, and a list of what is later.
template <unsigned Words>
class EdgeWheel {
 public:
  /// The edge that time is at.
  [[nodiscard]] std::uint64_t now() const { return now_; }
  /// Thing `n` falls due at `edge`. Pre: edge > now().
  void put(unsigned n, std::uint64_t edge) {
    if (edge - now_ < kWheel) {
      wheel_[n / 64][edge % kWheel] |= std::uint64_t{1} << (n % 64);
      occupied_ |= std::uint64_t{1} << (edge % kWheel);
    } else {
      far_.emplace_back(edge, n);
    }
  }
  /// Time is now `edge`: calls due(word, bits) for what falls due until then, thing 64 * word + i as bit i.
  template <class F>
  void advance(std::uint64_t edge, F&& due) {
    if (occupied_ != 0) {
      std::uint64_t places = occupied_ & ring_slots_after(now_, edge);
      occupied_ &= ~places;
      for (; places != 0; places &= places - 1) {
        const auto place = static_cast<unsigned>(__builtin_ctzll(places));
        for (unsigned word = 0; word < Words; ++word) due(word, std::exchange(wheel_[word][place], 0));
      }
    }
    now_ = edge;
    if (!far_.empty()) bring_near(due);
  }
  /// The first edge after now() at which something falls due; kNever if nothing does.
  [[nodiscard]] std::uint64_t next() const {
    std::uint64_t best = next_in_ring(occupied_, now_);
    for (const auto& f : far_) best = std::min(best, f.first);
    return best;
  }
  /// Takes a thing out, wherever it stands.
  void remove(unsigned n) {
    const std::uint64_t others = ~(std::uint64_t{1} << (n % 64));
    for (std::uint64_t places = occupied_; places != 0; places &= places - 1) {
      const auto place = static_cast<unsigned>(__builtin_ctzll(places));
      wheel_[n / 64][place] &= others;
      std::uint64_t left = 0;
      for (unsigned word = 0; word < Words; ++word) left |= wheel_[word][place];
      if (left == 0) occupied_ &= ~(std::uint64_t{1} << place);
    }
    far_.erase(std::remove_if(far_.begin(), far_.end(), [n](const auto& f) { return f.second == n; }),
               far_.end());
  }
  /// Nothing falls due any more, and time is `edge`.
  void reset(std::uint64_t edge) {
    wheel_ = {};
    occupied_ = 0;
    far_.clear();
    now_ = edge;
  }

 private:
  static constexpr unsigned kWheel = 64;  // of ring_slots_after()
  template <class F>
  [[gnu::noinline]] void bring_near(F& due) {
    for (std::size_t k = far_.size(); k-- > 0;) {
      const auto [edge, n] = far_[k];
      if (edge > now_ && edge - now_ >= kWheel) continue;
      far_[k] = far_.back();
      far_.pop_back();
      if (edge > now_) {
        put(n, edge);
      } else {
        due(n / 64, std::uint64_t{1} << (n % 64));
      }
    }
  }

  std::uint64_t now_ = 0;
  std::uint64_t occupied_ = 0;  ///< of each edge of which the wheel has a bit, one
  std::array<std::array<std::uint64_t, kWheel>, Words> wheel_{};
  std::vector<std::pair<std::uint64_t, unsigned>> far_;
};

}  // namespace warpline
