#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/computed_ahead.h"
#include "rtl_models/sm/instruction.h"
#include "rtl_models/sm/memory_access.h"

namespace warpline {

/// The number by which the barrier of a cluster goes, beside those of a CTA.
inline constexpr std::uint32_t kClusterBarrier = 16;

/// bar.sync / bar.arrive, as one execution of it has it.
struct BarrierOp {
  std::uint32_t id = 0;       ///< 0 to 15
  std::uint32_t threads = 0;  ///< expected participants; 0: every thread of the CTA that has not exited
  bool waits = true;          ///< bar.sync; false: bar.arrive
};

/// What an execution asks of the SM beyond the static instruction.
struct Issue {
  LaneMask active = 0;             ///< lanes that executed it, for the counters
  MemoryAccess* access = nullptr;  ///< in: set by the SM for `memory`, to be filled
  BarrierOp barrier;               ///< out: of `barrier`
  std::uint64_t sleep_cycles = 0;  ///< out: of `sleep`
  std::uint64_t clock = 0;         ///< in: SM cycles since reset, for %clock and %clock64
  /// In, of `cluster_wait`: lanes that have nothing to wait for, as the phase in which they arrived at the
  /// barrier of their cluster is over. The others wait until release_barrier(kClusterBarrier).
  LaneMask cluster_passes = 0;
  /// Of `call`, `ret` and `set_stack`. In: tokens on the call-return stack; out: those that are to be on it.
  /// A call adds one or, where the callers of other lanes are as deep already, none.
  std::uint32_t stack_depth = 0;
  std::uint64_t token = 0;      ///< out, of `call`: the token; in, of `ret`: the newest, 0 if there is none
  const char* fault = nullptr;  ///< out: why the program ended this warp (`trap`); null: it did not
  LaneMask fault_lanes = 0;     ///< out: whose fault that is; 0: that of all that are active
  bool ends_grid = false;       ///< out: the fault ends all warps of the grid, not this one alone
  const Instruction* at_fault = nullptr;  ///< out, of run_ahead: whose fault that is
  std::uint64_t fault_address = 0;        ///< out: the address that it is about; 0: it is about none
};

/// Whether a warp can run.
enum class WarpState : std::uint8_t { runnable, at_barrier, exited };

/// What one SM runs: functional state of the warps resident on it. `sm` declares it, programs
/// implement it; there is one source object per SM, and nothing in it is shared between SMs that
/// the order of their ticks could change.
///
/// Protocol per warp slot: begin_warp; then `next` / `execute` until the warp has exited.
/// Between a memory instruction's execute and its complete, the registers it writes are pending;
/// the scoreboard issues nothing that reads or writes them.
class InstructionSource {
 public:
  virtual ~InstructionSource() = default;

  /// Starts warp `warp_in_cta` of CTA `cta` in slot `slot`. `threads`: lanes that exist.
  virtual void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) = 0;
  [[nodiscard]] virtual WarpState state(unsigned slot) const = 0;
  /// The instruction that the warp executes next. Pre: runnable. The reference stays valid until
  /// the program ends. Does not change the warp.
  [[nodiscard]] virtual const Instruction& next(unsigned slot) = 0;
  /// The same of a warp that may not be runnable: null then.
  [[nodiscard]] virtual const Instruction* peek(unsigned slot) {
    return state(slot) == WarpState::runnable ? &next(slot) : nullptr;
  }
  /// Executes it and moves on.
  virtual void execute(unsigned slot, Issue& issue) = 0;
  /// From now on a source that computes ahead keeps in `ahead` what of the warp in `slot` is yet to be
  /// issued, so that the SM may issue from there, first to last, what `next` and `execute` would tell one at
  /// a time; nothing else of the warp, its state and lanes included, changes thereby. Null: nowhere outside
  /// the source. `ahead` outlives the source, or that.
  virtual void keep_ahead_in(unsigned /*slot*/, ComputedAhead* /*ahead*/) {}
  /// Executes up to `most` instructions of kind `alu` that do not read the time, one after the other, as long
  /// as that is what the warp executes next, and returns how many; the last may have ended the warp
  /// (`issue.fault`). `threads` grows by the active lanes of each. A source that cannot returns 0.
  virtual unsigned run_ahead(unsigned /*slot*/, Issue& /*issue*/, unsigned /*most*/,
                             std::uint64_t& /*threads*/) {
    return 0;
  }
  /// The memory instruction has finished: for loads and atomics, `access.data` holds what lanes
  /// `access.active` got. Data is absent (`with_data` false) in a tags-only run.
  virtual void complete(unsigned slot, const Instruction& instruction, const MemoryAccess& access,
                        bool with_data) = 0;
  /// The lanes of `slot` that wait at barrier `id` go on.
  virtual void release_barrier(unsigned slot, std::uint32_t id) = 0;
  /// Lanes of the slot that have not exited.
  [[nodiscard]] virtual LaneMask live_lanes(unsigned slot) const = 0;
  /// A fault ends the warp: every lane exits.
  virtual void kill(unsigned slot) = 0;
  /// "vecadd.ptx:12" or "pc 0x40": where an instruction comes from, for people.
  [[nodiscard]] virtual std::string where(const Instruction& instruction) const = 0;
  /// Whether, from now on, what a warp computes is computed when it is executed, and not before where nobody
  /// can tell, so that equal states have equal digests.
  virtual void keep_in_step(bool /*in_step*/) {}
  /// A digest of everything that decides what the warp does from here on, but for memory, what it has in
  /// flight and the time. With equal digests, it goes the same way. Nothing: the source cannot tell.
  [[nodiscard]] virtual std::optional<std::uint64_t> digest(unsigned /*slot*/) const { return std::nullopt; }
};

}  // namespace warpline
