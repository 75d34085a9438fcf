#pragma once

#include <cstdint>

#include "rtl_models/sm/edge_wheel.h"

namespace warpline {

/// Which warps can issue, and when those will that wait for a known edge. At most 64 slots.
class ReadyWarps {
 public:
  /// Warp `slot` can issue from edge `edge` on.
  void at(unsigned slot, std::uint64_t edge) {
    if (edge <= waiting_.now()) {
      ready_ |= std::uint64_t{1} << slot;
    } else {
      waiting_.put(slot, edge);
    }
  }
  /// Time is now `edge`.
  void advance(std::uint64_t edge) {
    waiting_.advance(edge, [this](unsigned, std::uint64_t bits) { ready_ |= bits; });
  }
  [[nodiscard]] std::uint64_t ready() const { return ready_; }
  /// The warps of these bits have issued.
  void issued(std::uint64_t bits) { ready_ &= ~bits; }
  /// Takes the warp out, wherever it stands.
  void remove(unsigned slot) {
    ready_ &= ~(std::uint64_t{1} << slot);
    waiting_.remove(slot);
  }
  /// The first edge after now at which a waiting warp becomes ready; kNever if none waits.
  [[nodiscard]] std::uint64_t next_edge() const { return waiting_.next(); }
  void reset(std::uint64_t edge) {
    ready_ = 0;
    waiting_.reset(edge);
  }

 private:
  std::uint64_t ready_ = 0;
  EdgeWheel<1> waiting_;
};

}  // namespace warpline
