#pragma once

#include <cstdint>
#include <numeric>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/divider.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// A clock domain: its k-th edge falls on cycle ceil(k * numerator / denominator) of the fastest
/// clock. The fastest clock itself is 1/1. Pre: numerator >= denominator > 0.
class WARPLINE_PUBLIC ClockDomain {
 public:
  ClockDomain() = default;
  ClockDomain(std::uint64_t numerator, std::uint64_t denominator) {
    WARPLINE_EXPECT(denominator > 0 && numerator >= denominator,
                    "a domain is no faster than the fastest clock");
    const std::uint64_t common = std::gcd(numerator, denominator);
    numerator_ = Divider(numerator / common);
    denominator_ = Divider(denominator / common);
    unit_ = numerator == denominator;
  }

  [[nodiscard]] bool is_fastest() const { return unit_; }
  /// The cycle of edge k.
  [[nodiscard]] Cycle cycle_of(std::uint64_t edge) const {
    if (unit_) return edge;
    return denominator_.quotient(edge * numerator_.divisor() + denominator_.divisor() - 1);
  }
  /// The number of the first edge at or after `cycle`.
  [[nodiscard]] std::uint64_t edge_at_or_after(Cycle cycle) const {
    if (unit_ || cycle == 0) return cycle;
    return numerator_.quotient((cycle - 1) * denominator_.divisor()) + 1;
  }
  /// The cycle of the first edge at or after `cycle`.
  [[nodiscard]] Cycle align(Cycle cycle) const {
    return unit_ || cycle == kNever ? cycle : cycle_of(edge_at_or_after(cycle));
  }
  /// The cycle of the n-th edge after the edge at `cycle`. Pre: an edge falls on `cycle`.
  [[nodiscard]] Cycle after(Cycle cycle, std::uint64_t edges) const {
    return unit_ ? cycle + edges : cycle_of(edge_at_or_after(cycle) + edges);
  }
  /// The fewest cycles from an edge to the `edges`-th after it.
  [[nodiscard]] Cycle cycles_in(std::uint64_t edges) const {
    return unit_ ? edges : denominator_.quotient(edges * numerator_.divisor());
  }
  friend bool operator==(const ClockDomain& a, const ClockDomain& b) {
    return a.numerator_.divisor() == b.numerator_.divisor() &&
           a.denominator_.divisor() == b.denominator_.divisor();
  }

 private:
  bool unit_ = true;  ///< first: all else matters to other clocks than the fastest only
  Divider numerator_{1};
  Divider denominator_{1};
};

}  // namespace warpline
