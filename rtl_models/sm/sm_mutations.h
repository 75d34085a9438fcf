#pragma once

#include <cstdint>

#include "rtl_models/base/mutation.h"

namespace warpline {

/// Deliberate bugs of an SM.
enum class SmMutation : std::uint8_t {
  // R2: a thread's loads return before its release or fence.
  release_ignores_loads,
  fence_ignores_loads,

  // R3: the SM's writes are acknowledged before a release.
  release_skips_drain,        ///< a release waits for no writes
  release_drains_own_thread,  ///< nor for siblings' if its thread has accessed nothing since its last fence
  fence_skips_drain,          ///< a fence waits for no writes
  remote_store_not_awaited,   ///< nor for a store to another CTA's shared memory

  // R4: a thread's loads return before it passes a barrier.
  barrier_ignores_loads,
  cluster_arrival_forgets_phase,     ///< at a cluster's barrier, an arrival counts in whatever phase is under
                                     ///< way
  cluster_wait_does_not_wait,        ///< a wait there passes before all have arrived
  cluster_fence_skips_drain,         ///< the fence before an arrival there waits for no writes
  cluster_fence_skips_invalidation,  ///< the fence behind a wait there leaves L1's lines

  // R6: nothing that follows an acquire issues before its value is back and L1's lines are gone.
  acquire_does_not_block,          ///< what follows issues before the value is back
  acquire_skips_invalidation,      ///< an acquire leaves L1's lines
  acquire_ignores_invalidation,    ///< what follows does not wait until they are gone, and copies in L2
  shared_flag_skips_invalidation,  ///< an acquire of a flag in shared memory leaves L1's lines
  fence_skips_invalidation,        ///< a fence leaves them

  // R8: proxy fences.
  proxy_fence_does_nothing,
  proxy_fence_skips_drain,       ///< it does not wait for the SM's generic stores
  proxy_fence_ignores_surfaces,  ///< nor for its surface stores
  alias_fence_keeps_l1,          ///< that of aliases leaves L1's lines
  surface_fence_keeps_l1,        ///< that of surfaces leaves its generic lines
  surface_fence_keeps_surfaces,  ///< and that the lines of its own proxy
  proxy_fence_keeps_lines,       ///< that of textures or constants leaves their cache's lines
  proxy_fence_ignores_loads,     ///< it does not wait for the thread's loads

  // R9: fence.sc does what R2, R3 and R6 say.
  sc_fence_skips_invalidation,  ///< it leaves L1's lines, as a release would

  // R12: mbarriers and asynchronous operations.
  mbarrier_arrival_ignores_loads,  ///< an arrival does not wait for the thread's loads
  mbarrier_wait_does_not_block,    ///< what follows a wait for a phase issues before that has been looked at
  bulk_told_before_data,           ///< an mbarrier is told of bytes when they are asked for
  bulk_read_told_early,            ///< a copy counts as having read its source when it begins
  bulk_wait_ignores_writes,        ///< a wait for bulk copies waits for what they read alone
  bulk_wait_keeps_lines,           ///< behind such a wait, L1 may have lines from before
  async_fence_does_nothing,        ///< fence.proxy.async
  mbarrier_arrives_before_expecting,  ///< an arrival that expects bytes completes the phase before
  remote_arrival_skips_drain,         ///< an arrival at another CTA's mbarrier waits for no writes
  remote_arrival_not_awaited,         ///< a release does not wait for such arrivals
  async_store_told_before_data,       ///< st.async and red.async tell before what they write goes
  bulk_told_elsewhere_early,  ///< another CTA's mbarrier is told before what comes from global memory goes
                              ///< there

  // Exactly once and in order: `.mmio`.
  mmio_lanes_merge,    ///< lanes of one line are one transaction
  mmio_replayed,       ///< a transaction is sent twice
  mmio_reads_overlap,  ///< a read does not wait for the one before
  mmio_reads_sectors,  ///< a read takes all bytes of its sectors
};

}  // namespace warpline
