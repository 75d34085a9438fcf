#pragma once

#include <cstdint>

namespace warpline {

/// Deliberate bugs, each against an ordering rule (R1 to R11) or an exactly-once clause, which show that the
/// tests would notice. Objects built with WARPLINE_MUTATIONS ask their test which one is on; in all others
/// none is, and nothing is left of the question. Only source files ask, where they keep the rule.
enum class Mutation : std::uint8_t {
  none,

  // R1: a store, strong load, atomic or invalidation kills what L1 has of a line, fills in flight included.
  store_keeps_line,           ///< a store leaves the old bytes in L1
  store_spares_fill,          ///< the fill in flight for a store's line is installed
  strong_load_keeps_line,     ///< a load beyond the CTA leaves L1's line, which may be older
  strong_load_spares_fill,    ///< and the fill in flight
  atomic_keeps_line,          ///< an atomic leaves L1's line
  reduction_keeps_line,       ///< a reduction leaves it
  dead_fill_installs,         ///< a fill marked dead is installed
  invalidation_spares_fills,  ///< an acquire or proxy fence drops lines, and no fills

  // R2: a thread's loads return before its release or fence.
  release_ignores_loads,
  fence_ignores_loads,

  // R3: the SM's writes are acknowledged before a release.
  release_skips_drain,        ///< a release waits for no writes
  release_drains_own_thread,  ///< nor for siblings' if its thread has accessed nothing since its last fence
  fence_skips_drain,          ///< a fence waits for no writes
  reduction_unacknowledged,   ///< a release does not wait for reductions

  // R4: a thread's loads return before it passes a barrier.
  barrier_ignores_loads,

  // R5: an SM's requests of one sector arrive in their order.
  read_overtakes,             ///< a read leaves L1 before what waits to
  write_overtakes,            ///< likewise a write
  waiting_request_overtaken,  ///< at L2, what waited for a fetch is looked at after what came later
  link_atomic_overtaken,      ///< on the link, a request passes an atomic that takes several round trips

  // R6: nothing that follows an acquire issues before its value is back and L1's lines are gone.
  acquire_does_not_block,          ///< what follows issues before the value is back
  acquire_skips_invalidation,      ///< an acquire leaves L1's lines
  acquire_ignores_invalidation,    ///< what follows does not wait until they are gone, and copies in L2
  shared_flag_skips_invalidation,  ///< an acquire of a flag in shared memory leaves L1's lines
  fence_skips_invalidation,        ///< a fence leaves them

  // R7: L2's copies of system memory.
  sys_acquire_keeps_copies,        ///< an acquire of system scope leaves them
  sys_acquire_spares_fetches,      ///< and their fetches in flight
  sys_access_ignores_dirty,        ///< a strong access of that scope loses the dirty bytes of its line
  sys_access_keeps_copy,           ///< it leaves the copy, then older than memory
  sys_release_skips_write_back,    ///< a release of that scope leaves dirty bytes in L2
  sys_release_ignores_write_back,  ///< it does not wait until they are on the link
  clean_bytes_written_back,        ///< a write-back takes the sector's other bytes along
  fetch_overwrites_dirty,          ///< a fetch brings back bytes that had been stored to

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

  // R10: what comes over PCI Express for video memory.
  inbound_write_overtakes,      ///< a posted write goes to L2 before the last one is done
  inbound_order_per_requester,  ///< it waits for those of its own requester only
  inbound_read_overtakes,       ///< a read goes before the posted writes before it are done

  // R11: posted writes have arrived when a release of system scope is done.
  sys_release_skips_flush,        ///< no read follows them over the link
  sys_release_flushes_last_only,  ///< of several destinations, only the one written last is read from

  // Exactly once and in order: `.mmio`, and atomics over a link.
  mmio_lanes_merge,        ///< lanes of one line are one transaction
  mmio_replayed,           ///< a transaction is sent twice
  mmio_reads_overlap,      ///< a read does not wait for the one before
  mmio_reads_sectors,      ///< a read takes all bytes of its sectors
  peer_lines_spread,       ///< a peer's lines take several ways to it
  link_swap_loses_update,  ///< a compare-and-swap loop overwrites what has changed meanwhile

  end  ///< one past the last
};

#ifdef WARPLINE_MUTATIONS
inline namespace with_mutations {
/// The test's: whether this bug is on.
[[nodiscard]] bool mutated(Mutation which);
}  // namespace with_mutations
#else
inline namespace without_mutations {
[[nodiscard]] constexpr bool mutated(Mutation) {
  return false;
}
}  // namespace without_mutations
#endif

}  // namespace warpline
