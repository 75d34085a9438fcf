// What orders memory accesses: drains, invalidations, and who waits for them (rules R2, R3, R6, R8).
#include "warpline/base/mutation.h"
#include "warpline/sm/sm.h"

namespace warpline {
namespace {

/// A fence that acquires has L1 drop its lines (R6, R9).
bool keeps_lines(const MemOp& fence) {
  return mutated(Mutation::fence_skips_invalidation) ||
         (fence.semantics == Semantics::sc && mutated(Mutation::sc_fence_skips_invalidation));
}

/// What a proxy fence asks of L1 (R8).
unsigned asked_by(Proxy proxy) {
  unsigned what = 0;
  if (!mutated(Mutation::proxy_fence_skips_drain)) what |= maintenance::kDrain;
  if (!mutated(Mutation::proxy_fence_ignores_surfaces)) what |= maintenance::kDrainSurfaces;
  if (proxy == Proxy::alias && !mutated(Mutation::alias_fence_keeps_l1)) what |= maintenance::kInvalidate;
  if (proxy == Proxy::surface && !mutated(Mutation::surface_fence_keeps_l1)) what |= maintenance::kInvalidate;
  if (proxy == Proxy::surface && !mutated(Mutation::surface_fence_keeps_surfaces))
    what |= maintenance::kInvalidateSurfaces;
  return what;
}

}  // namespace

std::uint8_t Sm::release_of(Scope scope) {
  return maintenance::kDrain | (scope == Scope::sys ? maintenance::kWriteBackSysmem : 0U);
}

std::uint8_t Sm::acquire_of(Scope scope) {
  return maintenance::kInvalidate | (scope == Scope::sys ? maintenance::kDiscardSysmem : 0U);
}

void Sm::issue_maintenance(Cycle now, unsigned slot, std::uint8_t what, Scope scope, Hold hold,
                           SmCache cache) {
  unsigned index = 0;
  LoadStoreUnit::Entry& e = lsu_.take(index);
  e.maintenance = what;
  e.maintained = cache;
  e.scope = scope;
  e.slot = slot;
  e.at = domain().after(now, parameters_.issue_latency);
  lsu_.queue(index);
  warps_[slot].hold = hold;
}

/// Pre: the thread's loads have returned, its stores have passed L1 (R2).
void Sm::issue_fence(Cycle now, unsigned slot, const MemOp& fence) {
  Warp& w = warps_[slot];
  begin_ordering(w, fence);
  if (fence.kind == MemKind::proxy_fence) {
    issue_proxy_fence(now, slot, fence.proxy);
  } else if (fence.scope > Scope::cta) {
    issue_fence_beyond_cta(now, slot, fence);
  }
  if (w.hold == Hold::none) end_ordering(w);
}

void Sm::issue_fence_beyond_cta(Cycle now, unsigned slot, const MemOp& fence) {
  unsigned what = 0;
  if (fence.releases() && !mutated(Mutation::fence_skips_drain)) what |= release_of(fence.scope);
  if (fence.acquires() && !keeps_lines(fence)) what |= acquire_of(fence.scope);
  issue_maintenance(now, slot, static_cast<std::uint8_t>(what), fence.scope, Hold::maintenance);
}

/// All proxies meet in L2: a drain brings the SM's stores there, those of surfaces too, and what the proxy's
/// cache holds of before is dropped (R8). L1 has lines of both the generic and the surface proxy, and cannot
/// tell that two virtual addresses are one memory. Asynchronous copies take the path of other accesses.
void Sm::issue_proxy_fence(Cycle now, unsigned slot, Proxy proxy) {
  if (proxy == Proxy::async || mutated(Mutation::proxy_fence_does_nothing)) return;
  const bool by_l1 = proxy == Proxy::alias || proxy == Proxy::surface;
  warps_[slot].proxy = proxy;
  issue_maintenance(now, slot, static_cast<std::uint8_t>(asked_by(proxy)), Scope::gpu,
                    by_l1 ? Hold::maintenance : Hold::proxy_drain);
}

/// What the warp's fence, release or acquire asked of a cache is done.
void Sm::maintained(Cycle now, unsigned slot) {
  Warp& w = warps_[slot];
  if (w.hold == Hold::proxy_drain && !mutated(Mutation::proxy_fence_keeps_lines)) {
    // The entry just retired makes sure that there is room.
    const bool texture = w.proxy == Proxy::texture;
    issue_maintenance(now, slot, maintenance::kInvalidate, Scope::gpu, Hold::maintenance,
                      texture ? SmCache::texture : SmCache::constant);
    return;
  }
  // Only a drain before a release counts for that release: other warps' writes may have been observed since
  // an earlier one.
  w.drained =
      w.hold == Hold::drain || (w.hold == Hold::maintenance && mutated(Mutation::release_drains_own_thread));
  if (w.hold != Hold::drain) end_ordering(w);
  w.hold = Hold::none;
  evaluate(slot);
}

}  // namespace warpline
