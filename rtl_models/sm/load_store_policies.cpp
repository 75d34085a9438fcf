// What the cache policy of an access asks of L1 and L2.
#include "warpline/isa/cache_policy.h"
#include "warpline/sm/load_store_unit.h"

namespace warpline {

EvictionPriority priority_of(L2Eviction eviction) {
  switch (eviction) {
    case L2Eviction::none: break;
    case L2Eviction::normal: return EvictionPriority::normal;
    case L2Eviction::first: return EvictionPriority::first;
    case L2Eviction::last: return EvictionPriority::last;
    case L2Eviction::unchanged: return EvictionPriority::unchanged;
  }
  return EvictionPriority::none;
}

unsigned LoadStoreUnit::apply_policy(Request& r, const Entry& e, const LineAccess& line) {
  constexpr unsigned kPromotedBytes = 256;
  const auto policy = decode_policy(e.access.policy[static_cast<unsigned>(__builtin_ctz(line.lanes))]);
  if (!policy) {
    ++counters_.malformed_policies;
    r.l2_priority = EvictionPriority::normal;
    return 0;
  }
  if (const L2Eviction named = policy->applied_to(line.line); named != L2Eviction::none)
    r.l2_priority = priority_of(named);
  if (policy->skips_l1) r.l1_priority = EvictionPriority::no_allocate;
  return policy->promotes ? kPromotedBytes : 0;
}

}  // namespace warpline
