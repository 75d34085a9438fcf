#include "rtl_models/pcie/host_bridge/host_bridge_mappings.h"

#include <algorithm>

#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

bool HostBridgeMappings::any_holds(const std::vector<BusRange>& ranges, std::uint64_t address,
                                   std::uint64_t bytes) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const BusRange& range) { return range.holds(address, bytes); });
}

/// Page by page, so that pages can be mapped back one by one.
bool HostBridgeMappings::set_combining(const BusRange& range, bool on) {
  if (range.base % kBusPage != 0 || range.bytes % kBusPage != 0 || range.bytes == 0) return false;
  if (!any_holds(prefetchable_, range.base, range.bytes)) return false;
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

}  // namespace warpline
