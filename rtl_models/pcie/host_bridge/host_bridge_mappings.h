#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/pcie/packets/bus_range.h"

namespace warpline {

/// How a host has mapped the memory of devices: what is prefetchable, and what of that is mapped
/// write-combining.
class HostBridgeMappings {
 public:
  /// A prefetchable BAR, placed. Pre: it overlaps no other.
  void add_prefetchable(const BusRange& range) { prefetchable_.push_back(range); }
  void forget() {
    prefetchable_.clear();
    combining_.clear();
  }
  /// Maps addresses write-combining, or as at first not. False, and nothing changes: they are no whole pages,
  /// or not all prefetchable memory of one BAR.
  [[nodiscard]] bool set_combining(const BusRange& range, bool on);
  /// Whether all those bytes are mapped write-combining, by one range.
  [[nodiscard]] bool combines(std::uint64_t address, std::uint64_t bytes) const {
    return any_holds(combining_, address, bytes);
  }

 private:
  [[nodiscard]] static bool any_holds(const std::vector<BusRange>& ranges, std::uint64_t address,
                                      std::uint64_t bytes);
  std::vector<BusRange> prefetchable_, combining_;
};

}  // namespace warpline
