#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/base/types.h"

namespace warpline {

/// A CTA's part in the barrier of its cluster (PTX ISA, "barrier.cluster"): which CTAs have arrived in the
/// phase that is under way, and which of its own threads. A CTA has arrived when all of its threads that have
/// not exited have; one whose threads have all exited has arrived for good. A CTA may be one phase ahead of
/// another, which has yet to hear of a third's arrival: so arrivals name their phase.
class ClusterBarrier {
 public:
  /// For a CTA that begins, one of `ctas`.
  void reset(unsigned ctas) {
    *this = {};
    all_ = (1U << ctas) - 1;
  }
  /// CTA `rank` has arrived in the phase under way, or if `odd` says so in the one after that.
  void arrive(unsigned rank, bool odd) { arrived_[odd ? 1 : 0] |= 1U << rank; }
  /// All threads of CTA `rank` have exited.
  void exit(unsigned rank) { exited_ |= 1U << rank; }
  /// Ends the phase under way if all have arrived. Returns whether they have.
  [[nodiscard]] bool complete() {
    std::uint32_t& arrived = arrived_[odd() ? 1 : 0];
    if (((arrived | exited_) & all_) != all_) return false;
    arrived = 0;
    ++phase_;
    return true;
  }
  [[nodiscard]] bool has_arrived(unsigned rank) const {
    return ((arrived_[odd() ? 1 : 0] | exited_) >> rank & 1U) != 0;
  }
  /// Ranks that the phase under way waits for, a bit each.
  [[nodiscard]] std::uint32_t awaited() const { return all_ & ~(arrived_[odd() ? 1 : 0] | exited_); }
  [[nodiscard]] bool odd() const { return phase_ % 2 != 0; }
  /// Ranks but `rank` of whose threads some have not exited, as far as is known, a bit each.
  [[nodiscard]] std::uint32_t others_left(unsigned rank) const { return all_ & ~exited_ & ~(1U << rank); }

 private:
  std::array<std::uint32_t, 2> arrived_{};  ///< a bit for each rank, by the phase's parity
  std::uint32_t exited_ = 0;
  std::uint32_t all_ = 1;
  std::uint64_t phase_ = 0;  ///< phases completed
};

}  // namespace warpline
