#include "rtl_models/sm/ordering.h"

#include "rtl_models/sim/command.h"
#include "rtl_models/sm/sm_mutations.h"

namespace warpline {
namespace {

/// What a release, or an acquire, at `scope` asks of L1 and what lies below it (R3, R6, R7).
constexpr unsigned release_of(Scope scope) {
  return maintenance::kDrain | (scope == Scope::sys ? maintenance::kWriteBackSysmem : 0U);
}
constexpr unsigned acquire_of(Scope scope) {
  return maintenance::kInvalidate | (scope == Scope::sys ? maintenance::kDiscardSysmem : 0U);
}

OrderingStep step(unsigned what, Scope scope, Hold hold, SmCache cache = SmCache::l1_lg) {
  return {{static_cast<std::uint8_t>(what), cache, scope}, hold};
}

/// A fence that acquires has L1 drop its lines (R6, R9).
bool keeps_lines(const MemOp& fence) {
  return mutated(SmMutation::fence_skips_invalidation) ||
         (fence.scope == Scope::cluster && mutated(SmMutation::cluster_fence_skips_invalidation)) ||
         (fence.semantics == Semantics::sc && mutated(SmMutation::sc_fence_skips_invalidation));
}

/// What a proxy fence asks of L1 (R8).
unsigned asked_by(Proxy proxy) {
  unsigned what = 0;
  if (!mutated(SmMutation::proxy_fence_skips_drain)) what |= maintenance::kDrain;
  if (!mutated(SmMutation::proxy_fence_ignores_surfaces)) what |= maintenance::kDrainSurfaces;
  if (proxy == Proxy::alias && !mutated(SmMutation::alias_fence_keeps_l1)) what |= maintenance::kInvalidate;
  if (proxy == Proxy::surface && !mutated(SmMutation::surface_fence_keeps_l1))
    what |= maintenance::kInvalidate;
  if (proxy == Proxy::surface && !mutated(SmMutation::surface_fence_keeps_surfaces))
    what |= maintenance::kInvalidateSurfaces;
  return what;
}

/// All proxies meet in L2: a drain brings the SM's stores there, those of surfaces too, and what the proxy's
/// cache holds of before is dropped (R8). L1 has lines of both the generic and the surface proxy, and cannot
/// tell that two virtual addresses are one memory. Bulk copies go past L1, so what they wrote may be older
/// there; of shared memory alone, nothing has to be done.
std::optional<OrderingStep> step_of_proxy_fence(const MemOp& fence) {
  const Proxy proxy = fence.proxy;
  if (mutated(SmMutation::proxy_fence_does_nothing)) return std::nullopt;
  if (proxy == Proxy::async &&
      (fence.space == Space::shared || mutated(SmMutation::async_fence_does_nothing)))
    return std::nullopt;
  // Tensor maps that the SM holds are dropped by an acquire: there is nothing to wait for.
  if (proxy == Proxy::tensormap && !fence.releases()) return std::nullopt;
  if (proxy == Proxy::tensormap) return step(maintenance::kDrain, Scope::gpu, Hold::maintenance);
  if (proxy == Proxy::async)
    return step(maintenance::kDrain | maintenance::kInvalidate, Scope::gpu, Hold::maintenance);
  const bool by_l1 = proxy == Proxy::alias || proxy == Proxy::surface;
  return step(asked_by(proxy), Scope::gpu, by_l1 ? Hold::maintenance : Hold::proxy_drain);
}

}  // namespace

bool waits_for_loads(const Instruction& i) {
  if (i.kind == InstructionKind::memory && i.mem.kind == MemKind::mbarrier &&
      mutated(SmMutation::mbarrier_arrival_ignores_loads))
    return false;
  if (i.kind == InstructionKind::memory) return !mutated(SmMutation::release_ignores_loads);
  if (i.kind == InstructionKind::barrier) return !mutated(SmMutation::barrier_ignores_loads);
  return i.mem.kind == MemKind::proxy_fence ? !mutated(SmMutation::proxy_fence_ignores_loads)
                                            : !mutated(SmMutation::fence_ignores_loads);
}

std::optional<OrderingStep> step_before_release(const MemOp& release) {
  if (release.scope <= Scope::cta || mutated(SmMutation::release_skips_drain) ||
      (release.may_be_remote && mutated(SmMutation::remote_arrival_skips_drain)))
    return std::nullopt;
  return step(release_of(release.scope), release.scope, Hold::drain);
}

std::optional<OrderingStep> step_after_acquire(const MemOp& acquire) {
  if (acquire.scope <= Scope::cta || mutated(SmMutation::acquire_skips_invalidation) ||
      (acquire.space == Space::shared && mutated(SmMutation::shared_flag_skips_invalidation)))
    return std::nullopt;
  const Hold hold = mutated(SmMutation::acquire_ignores_invalidation) ? Hold::none : Hold::maintenance;
  return step(acquire_of(acquire.scope), acquire.scope, hold);
}

bool blocks(const MemOp& op) {
  if (op.kind == MemKind::mbarrier && mutated(SmMutation::mbarrier_wait_does_not_block)) return false;
  if (op.kind == MemKind::mbarrier && op.mbarrier == MbarrierOperation::try_wait) return true;
  return op.acquires() && !mutated(SmMutation::acquire_does_not_block);
}

bool ends_order(const MemOp& op, Hold hold) {
  return blocks(op) ? hold == Hold::acquire : op.acquires();
}

std::optional<OrderingStep> step_of_fence(const MemOp& fence) {
  if (fence.kind == MemKind::proxy_fence) return step_of_proxy_fence(fence);
  if (fence.scope <= Scope::cta) return std::nullopt;
  unsigned what = 0;
  const bool cluster = fence.scope == Scope::cluster;
  if (fence.releases() && !mutated(SmMutation::fence_skips_drain) &&
      !(cluster && mutated(SmMutation::cluster_fence_skips_drain)))
    what |= release_of(fence.scope);
  if (fence.acquires() && !keeps_lines(fence)) what |= acquire_of(fence.scope);
  if (what == 0) return std::nullopt;
  return step(what, fence.scope, Hold::maintenance);
}

std::optional<OrderingStep> step_after_bulk_wait() {
  if (mutated(SmMutation::bulk_wait_keeps_lines)) return std::nullopt;
  return step(maintenance::kInvalidate, Scope::gpu, Hold::maintenance);
}

std::optional<OrderingStep> step_after_proxy_drain(Proxy proxy) {
  if (mutated(SmMutation::proxy_fence_keeps_lines)) return std::nullopt;
  return step(maintenance::kInvalidate, Scope::gpu, Hold::maintenance,
              proxy == Proxy::texture ? SmCache::texture : SmCache::constant);
}

bool counts_as_drain(Hold hold) {
  // Only a drain before a release counts for that release: other warps' writes may have been observed since
  // an earlier one.
  return hold == Hold::drain || (hold == Hold::maintenance && mutated(SmMutation::release_drains_own_thread));
}

}  // namespace warpline
