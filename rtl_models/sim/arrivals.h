#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/types.h"

namespace warpline {

/// Tells a component with many receiving ports which of them have a message to pop, without
/// asking each of them in every tick. A port attached to it (`In::attach`) announces each front
/// message once: in the cycle it arrives, and not before the cycle after the pop that uncovered
/// it. So a component that takes a front only when it is announced takes at most one per port and
/// cycle. Announcing adds nothing to what `In::ready` says; it costs the same for any number of ports.
///
/// Inside, a ring of 64 lists by cycle modulo 64; a port is on one list at most.
class Arrivals {
 public:
  explicit Arrivals(unsigned ports) : at_(ports), next_(ports) { heads_.fill(kNone); }

  /// The front message of `port` may be popped from cycle `at` on. Called by the port. Pre: the
  /// previous front of `port` was announced, and `at` lies after the last collect().
  void expect(unsigned port, Cycle at) {
    const std::size_t slot = at % kSlots;
    at_[port] = at;
    next_[port] = heads_[slot];
    heads_[slot] = port;
    occupied_ |= std::uint64_t{1} << slot;
  }

  /// Calls announce(port) for every front that arrived since the last call, up to cycle `now`. It
  /// may pop the message. Order among ports is unspecified.
  template <class F>
  void collect(Cycle now, F&& announce) {
    for (std::uint64_t slots = occupied_ & passed(now); slots != 0; slots &= slots - 1) {
      const auto slot = static_cast<std::size_t>(__builtin_ctzll(slots));
      unsigned port = heads_[slot];
      heads_[slot] = kNone;
      occupied_ &= ~(std::uint64_t{1} << slot);
      while (port != kNone) {
        const unsigned next = next_[port];
        if (at_[port] <= now) {
          announce(port);
        } else {
          expect(port, at_[port]);  // a later round of the ring
        }
        port = next;
      }
    }
    last_ = now;
  }

 private:
  static constexpr unsigned kSlots = 64;  // of ring_slots_after()
  static constexpr unsigned kNone = ~0U;
  /// The slots of the cycles after last_ up to now. All of them where time is not past last_: between
  /// grids the engine goes back over ticks in which nothing moved, and a front may arrive before them.
  [[nodiscard]] std::uint64_t passed(Cycle now) const {
    return now <= last_ ? ~std::uint64_t{0} : ring_slots_after(last_, now);
  }

  std::vector<Cycle> at_;
  std::vector<unsigned> next_;
  std::array<unsigned, kSlots> heads_;
  std::uint64_t occupied_ = 0;
  Cycle last_ = 0;
};

}  // namespace warpline
