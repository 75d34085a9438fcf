#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "rtl_models/pcie/packets/bus_range.h"
#include "rtl_models/pcie/packets/tlp.h"

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
  /// Forgets the BARs that lie there, and what of them is mapped write-combining.
  void forget(const BusRange& range) {
    const auto lies_there = [&](const BusRange& r) { return r.overlaps(range); };
    for (std::vector<BusRange>* ranges : {&prefetchable_, &combining_})
      ranges->erase(std::remove_if(ranges->begin(), ranges->end(), lies_there), ranges->end());
  }
  /// Maps addresses write-combining, or as at first not. False, and nothing changes: they are no whole pages,
  /// or not all prefetchable memory of one BAR.
  [[nodiscard]] bool set_combining(const BusRange& range, bool on) {
    if (range.base % kBusPage != 0 || range.bytes % kBusPage != 0 || range.bytes == 0) return false;
    if (!any_holds(prefetchable_, range.base, range.bytes)) return false;
    // Page by page, so that pages can be mapped back one by one.
    std::vector<BusRange> left;
    for (const BusRange& r : combining_) {
      const std::uint64_t end = r.base + r.bytes, cut_end = range.base + range.bytes;
      if (const std::uint64_t before = std::min(end, range.base); before > r.base)
        left.push_back({r.base, before - r.base});
      if (const std::uint64_t after = std::max(r.base, cut_end); after < end)
        left.push_back({after, end - after});
    }
    if (on) left.push_back(range);
    combining_ = std::move(left);
    return true;
  }
  /// Whether all those bytes are mapped write-combining, by one range.
  [[nodiscard]] bool combines(std::uint64_t address, std::uint64_t bytes) const {
    return any_holds(combining_, address, bytes);
  }
  template <class Archive>
  void archive(Archive& a) {
    a(prefetchable_, combining_);
  }

 private:
  [[nodiscard]] static bool any_holds(const std::vector<BusRange>& ranges, std::uint64_t address,
                                      std::uint64_t bytes) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const BusRange& range) { return range.holds(address, bytes); });
  }
  std::vector<BusRange> prefetchable_, combining_;
};

}  // namespace warpline
