#pragma once

#include <cstdint>

#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// Counters of a load/store unit.
struct LsuCounters {
  std::uint64_t instructions = 0, global_requests = 0, global_sectors = 0, local_requests = 0,
                local_sectors = 0;
  std::uint64_t global_loads = 0, global_load_sectors = 0, global_stores = 0, global_store_sectors = 0;
  std::uint64_t image_requests = 0, image_sectors = 0;
  std::uint64_t constant_requests = 0, shared_accesses = 0, shared_passes = 0, shared_conflicts = 0,
                atomics = 0;
  std::uint64_t l1_bank_conflicts = 0;
  std::uint64_t l1_lg_sectors = 0, texture_sectors = 0, constant_sectors = 0;
  std::uint64_t fences = 0, faults = 0, malformed_policies = 0;
  std::uint64_t mbarrier_operations = 0, mbarrier_phases = 0, mbarrier_waits = 0, mbarrier_timeouts = 0;
  std::uint64_t controls = 0, dropped_controls = 0, dropped_cctl = 0, mmio_transactions = 0;
  std::uint64_t past_caches = 0;

  /// A memory instruction whose lanes have global addresses is carried out.
  void count_global(MemKind kind) {
    global_loads += kind == MemKind::load;
    global_stores += kind == MemKind::store;
  }
  /// A line of it.
  void count_global_line(MemKind kind, std::uint64_t sectors) {
    ++global_requests;
    global_sectors += sectors;
    if (kind == MemKind::load)
      global_load_sectors += sectors;
    else if (kind == MemKind::store)
      global_store_sectors += sectors;
  }

  template <class F>
  void visit(F&& f) const {
    f("instructions", instructions, "instructions", "memory instructions with at least one active lane");
    f("global_requests", global_requests, "lines",
      "128-byte lines, summed over warp instructions on global addresses");
    f("global_sectors", global_sectors, "sectors", "32-byte sectors, likewise");
    f("global_loads", global_loads, "instructions",
      "loads of global addresses, and of others by generic ones");
    f("global_load_sectors", global_load_sectors, "sectors", "of global_sectors, those of loads");
    f("global_stores", global_stores, "instructions", "stores, likewise");
    f("global_store_sectors", global_store_sectors, "sectors", "of global_sectors, those of stores");
    f("local_requests", local_requests, "lines", "128-byte lines of local memory");
    f("local_sectors", local_sectors, "sectors", "32-byte sectors of local memory");
    f("image_requests", image_requests, "lines", "128-byte lines of textures and surfaces");
    f("image_sectors", image_sectors, "sectors", "32-byte sectors of textures and surfaces");
    f("constant_requests", constant_requests, "lines", "lines of constant memory and parameters");
    f("shared_accesses", shared_accesses, "instructions", "shared-memory instructions");
    f("shared_passes", shared_passes, "passes", "passes over the banks that they took");
    f("shared_conflicts", shared_conflicts, "passes", "of these, those for lanes in conflict over a bank");
    f("atomics", atomics, "instructions", "atom and red instructions");
    f("mbarrier_operations", mbarrier_operations, "instructions",
      "mbarrier and cp.async.mbarrier instructions");
    f("mbarrier_phases", mbarrier_phases, "phases", "of mbarriers completed");
    f("mbarrier_waits", mbarrier_waits, "instructions",
      "mbarrier.try_wait that stood still until a phase was complete");
    f("mbarrier_timeouts", mbarrier_timeouts, "instructions", "of them, those that gave up");
    f("l1_bank_conflicts", l1_bank_conflicts, "cycles",
      "that loads took L1's banks beyond one each, where there are several ports to L1");
    f("l1_lg_sectors", l1_lg_sectors, "sectors", "sectors requested of L1");
    f("texture_sectors", texture_sectors, "sectors",
      "sectors requested for ld.global.nc and texture loads: of the texture cache, or of L1 where that "
      "serves them");
    f("constant_sectors", constant_sectors, "sectors", "sectors requested of the constant cache");
    f("controls", controls, "lines", "prefetches, priorities, discards and CCTL of lines sent to L1");
    f("dropped_controls", dropped_controls, "lanes",
      "prefetches, priorities and CCTL of addresses not mapped");
    f("dropped_cctl", dropped_cctl, "lanes", "of those, by CCTL and CCTLL");
    f("mmio_transactions", mmio_transactions, "requests",
      "of .mmio accesses, and of others to a BAR that is not prefetchable: one a lane");
    f("past_caches", past_caches, "instructions",
      "of functional runs: memory instructions that were performed as they were issued, past the caches");
    f("fences", fences, "requests", "drains and invalidations sent to the caches");
    f("faults", faults, "faults", "misaligned, unmapped and out-of-range accesses");
    f("malformed_policies", malformed_policies, "lines",
      "accessed with a cache policy that no instruction makes: treated as evict_normal");
  }
};

}  // namespace warpline
