#include "rtl_models/sm/address_space.h"

#include <algorithm>
#include <utility>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

bool before(std::uint64_t address, const Mapping& m) {
  return address < m.base;
}

}  // namespace

void AddressSpace::map(const Mapping& mapping) {
  const auto at = std::upper_bound(mappings_.begin(), mappings_.end(), mapping.base, before);
  WARPLINE_EXPECT(at == mappings_.end() || mapping.bytes <= at->base - mapping.base,
                  "mappings do not overlap");
  WARPLINE_EXPECT(at == mappings_.begin() || std::prev(at)->bytes <= mapping.base - std::prev(at)->base,
                  "mappings do not overlap");
  const auto index = at - mappings_.begin();
  if (mappings_.size() == mappings_.capacity()) {
    std::vector<Mapping> larger;
    larger.reserve(std::max<std::size_t>(64, 2 * mappings_.size()));
    larger.assign(mappings_.begin(), mappings_.end());
    outgrown_.push_back(std::exchange(mappings_, std::move(larger)));
  }
  mappings_.insert(mappings_.begin() + index, mapping);
}

std::optional<Mapping> AddressSpace::unmap(std::uint64_t base) {
  const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), base, before);
  if (after == mappings_.begin() || std::prev(after)->base != base) return std::nullopt;
  const Mapping unmapped = *std::prev(after);
  mappings_.erase(std::prev(after));
  return unmapped;
}

const Mapping* AddressSpace::look_up(VirtualAddress address, unsigned bytes, const Mapping*& hint) const {
  const auto at = std::upper_bound(mappings_.begin(), mappings_.end(), address.value, before);
  if (at == mappings_.begin() || !std::prev(at)->holds(address, bytes)) return nullptr;
  hint = &*std::prev(at);
  return hint;
}

const Mapping* AddressSpace::find_slack(VirtualAddress address, unsigned bytes) const {
  constexpr std::uint64_t kPage = 2U << 20U;
  const std::uint64_t page = address.value / kPage * kPage;
  for (const Mapping& slack : slacks_) {
    if (!slack.holds(address, bytes)) continue;
    // Of the mappings that begin before the page ends, the last is the one that reaches farthest.
    const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), page + kPage - 1, before);
    if (after == mappings_.begin() || std::prev(after)->base + std::prev(after)->bytes <= page) continue;
    std::uint64_t noted = slack_used_.value.load();
    while ((noted == 0 || address.value < noted) &&
           !slack_used_.value.compare_exchange_weak(noted, address.value)) {
    }
    return &slack;  // and no hint, which would hide mappings
  }
  return nullptr;
}

}  // namespace warpline
