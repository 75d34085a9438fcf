#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "rtl_models/base/types.h"

namespace warpline {

/// The six scoreboards of a warp that SASS programs name themselves (`&rd=N`, `&wr=N`, `&req=mask`):
/// counters, so that several instructions may hold one at the same time.
class DependenceCounters {
 public:
  static constexpr unsigned kCounters = 6;
  static constexpr std::uint8_t kNone = 7;

  void clear() { *this = DependenceCounters{}; }
  /// An instruction holds counter `n` until it releases it.
  void hold(unsigned n) { ++held_[n]; }
  /// An instruction that holds counter `n` holds it until cycle `at`, and no longer.
  void release(unsigned n, Cycle at) {
    --held_[n];
    hold_until(n, at);
  }
  /// An instruction holds counter `n` until cycle `at`, which is known when it issues.
  void hold_until(unsigned n, Cycle at) { free_[n] = std::max(free_[n], at); }
  /// From when on nobody holds any counter of `mask`; kNever while an end is unknown.
  [[nodiscard]] Cycle free(unsigned mask) const {
    Cycle at = 0;
    for (unsigned n = 0; n < kCounters; ++n)
      if ((mask >> n & 1U) != 0) at = std::max(at, held_[n] != 0 ? kNever : free_[n]);
    return at;
  }

 private:
  std::array<unsigned, kCounters> held_{};
  std::array<Cycle, kCounters> free_{};
};

}  // namespace warpline
