#pragma once

#include <optional>

#include "rtl_models/sm/cache_maintenance.h"
#include "rtl_models/sm/resident_warp.h"

namespace warpline {

/// What orders a warp's memory accesses: the drains and invalidations that fences, releases and acquires ask
/// of the caches, and how the warp stands still meanwhile (R2, R3, R4, R6, R7, R8, R12). Who sends them, and
/// when, is the SM's affair.
struct OrderingStep {
  CacheMaintenance maintenance;
  Hold hold = Hold::none;  ///< until it is done
};

/// Whether a release, a fence or a barrier waits for the thread's loads (R2, R4, R8).
[[nodiscard]] bool waits_for_loads(const Instruction& i);
/// What goes before a release: beyond the CTA, a drain of the SM's writes (R3).
[[nodiscard]] std::optional<OrderingStep> step_before_release(const MemOp& release);
/// What goes before what follows an acquire whose value is back: beyond the CTA, L1 drops its lines, whatever
/// space the flag is in (R6).
[[nodiscard]] std::optional<OrderingStep> step_after_acquire(const MemOp& acquire);
/// Whether what follows an access waits for its value: that of an acquire (R6), and that of
/// `mbarrier.try_wait`, which suspends its thread.
[[nodiscard]] bool blocks(const MemOp& op);
/// Whether the end of an access is that of what it orders: of an acquire, or a wait for a phase, for which
/// its warp stands still; of an acquire that nothing waits for, always. `hold`: how the warp stands still.
[[nodiscard]] bool ends_order(const MemOp& op, Hold hold);
/// What a fence asks for. Pre: the thread's loads have returned, its stores have passed L1 (R2).
[[nodiscard]] std::optional<OrderingStep> step_of_fence(const MemOp& fence);
/// What goes before what follows a wait for bulk copies that have written global memory: L1, which they go
/// past, drops its lines (R12).
[[nodiscard]] std::optional<OrderingStep> step_after_bulk_wait();
/// What a proxy fence asks for when its drain is done.
[[nodiscard]] std::optional<OrderingStep> step_after_proxy_drain(Proxy proxy);
/// Whether the maintenance that a warp waited for, held so, counts as the drain before its next release.
[[nodiscard]] bool counts_as_drain(Hold hold);

}  // namespace warpline
