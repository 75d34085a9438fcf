#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/computed_ahead.h"
#include "rtl_models/sm/instruction.h"

namespace warpline {

/// Why a warp stands still although its next instruction may be ready.
enum class Hold : std::uint8_t { none, drain, proxy_drain, maintenance, acquire, refill, flush };

/// A warp of a resident CTA, in its slot: what it waits for and what it has under way.
struct alignas(64) ResidentWarp {
  // What every instruction needs comes first, in one cache line of the host.
  const Instruction* next = nullptr;
  ComputedAhead ahead;  ///< of the warp; it begins with `next`
  bool active = false;
  bool drained = false;  ///< the drain before its next instruction is done
  bool wrote_in_bulk =
      false;  ///< its bulk copies have written global memory, and L1 has kept its lines since
  Hold hold = Hold::none;
  Proxy proxy = Proxy::generic;  ///< of Hold::proxy_drain: whose fence it is
  unsigned cta = 0;              ///< CTA slot
  LaneMask live = 0;             ///< lanes that had not exited when barriers last looked
  unsigned loads = 0;            ///< loads, atomics and looks at mbarriers in flight
  unsigned stores = 0;  ///< stores and reductions that have not passed L1, and what changes mbarriers
  unsigned copies =
      0;  ///< asynchronous copies, stores and products that have not accessed shared memory, bulk copies
  unsigned spills = 0;           ///< of the stores, tokens of its call-return stack
  std::uint32_t registers = 0;   ///< per thread, of a kernel that moves them between warps
  std::uint32_t stack_goal = 0;  ///< of Hold::flush: tokens that are to be on its stack then
  LaneMask cluster_arrived =
      0;                       ///< lanes that have arrived at their cluster's barrier, in the phase under way
  LaneMask cluster_waits = 0;  ///< lanes that have, in whatever phase, and have not waited for its end

  /// Whether nothing of it is under way.
  [[nodiscard]] bool quiet() const { return loads == 0 && stores == 0 && copies == 0; }
  /// The count of its instructions in flight that one such belongs to.
  [[nodiscard]] unsigned& in_flight(const MemOp& op) {
    return op.kind == MemKind::async_copy || op.kind == MemKind::bulk_copy || op.tile_passes != 0 ||
                   op.kind == MemKind::async_store
               ? copies
           : op.reads() && (op.kind != MemKind::mbarrier || op.waits_for_phase()) ? loads
                                                                                  : stores;
  }
};

}  // namespace warpline
