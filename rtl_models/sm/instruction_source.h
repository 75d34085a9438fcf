#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "warpline/base/types.h"
#include "warpline/isa/mem_op.h"
#include "warpline/sm/dependence_counters.h"

namespace warpline {

/// How the SM treats an instruction.
enum class InstructionKind : std::uint8_t {
  alu,                   ///< results after `latency` SM cycles
  memory,                ///< `mem` says what; goes to the load/store unit
  barrier,               ///< bar.sync, bar.arrive
  fence,                 ///< `mem` says which
  sleep,                 ///< the warp issues nothing more for the cycles that execute() answers
  commit_copies,         ///< the asynchronous copies issued since the last commit become a group
  wait_copies,           ///< issues when at most `groups_left` groups of copies are unfinished
  invalidate_constants,  ///< CCTL.C.IVALL, executed in dispatch: drops all lines of the constant cache
  /// CCTL.I.IVALL, executed in dispatch: drops the SM's instruction buffer and all lines of its instruction
  /// cache; the warp goes on after `latency` SM cycles.
  invalidate_instructions,
  call,         ///< pushes a token onto the warp's call-return stack
  ret,          ///< pops one, if there is any; issues when it is there
  set_stack,    ///< SETCRSPTR: the stack has as many tokens as execute() answers
  flush_stack,  ///< CCTLL.CRS.WBALL: the warp goes on when L1 has accepted every token of its stack
};

/// What the SM needs to know of a static instruction before it issues it. Registers are small
/// numbers that the program chooses; the scoreboard keeps an instruction from issuing before its
/// sources and destinations are there.
struct Instruction {
  static constexpr unsigned kMaxRegisters = 24;
  InstructionKind kind = InstructionKind::alu;
  std::uint8_t latency = 4;  ///< of what computes, calls or invalidates instructions, SM cycles, at least 1
  std::uint8_t source_count = 0;       ///< the first registers of `registers`
  std::uint8_t destination_count = 0;  ///< those that follow them
  std::uint8_t wait = 1;               ///< cycles before the warp issues again, at least 1 (SASS `?WAIT`)
  std::uint8_t required = 0;           ///< dependence counters that must be free, a bit each (SASS `&req`)
  std::uint8_t read_counter = DependenceCounters::kNone;   ///< held until its operands are read (`&rd`)
  std::uint8_t write_counter = DependenceCounters::kNone;  ///< of loads: held until the data is there (`&wr`)
  std::array<std::uint16_t, kMaxRegisters> registers{};
  MemOp mem;                      ///< of `memory` and `fence`
  std::uint32_t pc = 0;           ///< bytes from where the kernel's code begins; instructions have 16 each
  std::uint32_t groups_left = 0;  ///< of `wait_copies`; CopyGroups::kWaitForAll: none, committed or not
};

/// Where the lanes of a memory instruction find their addresses.
enum class AddressForm : std::uint8_t {
  per_lane,  ///< in MemoryAccess::address
  strided,   ///< lane n accesses base + n * stride (all lanes up to 31, active or not)
};

/// Where an asynchronous copy goes, as MemoryAccess::second holds it for each lane.
struct CopyTarget {
  std::uint32_t offset = 0;  ///< in shared memory
  std::uint32_t bytes = 0;   ///< read of the source, at most the size of the copy; zeros fill the rest
  [[nodiscard]] constexpr std::uint64_t packed() const { return std::uint64_t{bytes} << 32U | offset; }
  [[nodiscard]] static constexpr CopyTarget of(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32U)};
  }
};

/// Which element of a texture or surface a lane wants, as MemoryAccess::second holds it; the address is the
/// image's handle.
struct ImageCoordinates {
  std::int32_t x = 0;  ///< of a surface: bytes
  std::int32_t y = 0;
  [[nodiscard]] constexpr std::uint64_t packed() const {
    return std::uint64_t{static_cast<std::uint32_t>(y)} << 32U | static_cast<std::uint32_t>(x);
  }
  [[nodiscard]] static constexpr ImageCoordinates of(std::uint64_t packed) {
    return {static_cast<std::int32_t>(packed), static_cast<std::int32_t>(packed >> 32U)};
  }
};

/// What a memory access has for each lane; 1.75 KB.
struct LaneBuffers {
  static constexpr unsigned kMaxLaneBytes = 32;
  std::array<std::uint64_t, kWarpLanes> address;
  std::array<std::uint64_t, kWarpLanes> second;
  std::array<std::uint64_t, kWarpLanes> policy;
  std::array<std::uint8_t, kWarpLanes * kMaxLaneBytes> data;
};

/// The dynamic part of one warp's memory instruction. The load/store unit owns it; the source
/// fills it when the instruction issues, and reads loaded data back from it. Its lane buffers lie
/// apart, so that accesses without lane addresses and data stay small.
struct MemoryAccess {
  static constexpr unsigned kMaxLaneBytes = LaneBuffers::kMaxLaneBytes;
  /// With buffers of its own.
  MemoryAccess() : owned_(std::make_unique<LaneBuffers>()) { use(*owned_); }
  /// With buffers that outlive it.
  explicit MemoryAccess(LaneBuffers& buffers) { use(buffers); }

  LaneMask active = 0;  ///< lanes that take part: active, and the predicate true
  AddressForm form = AddressForm::per_lane;
  std::uint64_t base = 0;
  std::int64_t stride = 0;
  std::uint64_t* address =
      nullptr;  ///< per lane, as the program wrote it (generic, or an offset in the space)
  /// Per lane: `c` of a compare-and-swap (of 16 bytes: in `data`, behind `b`), a CopyTarget,
  /// ImageCoordinates.
  std::uint64_t* second = nullptr;
  std::uint64_t* policy = nullptr;  ///< per lane: the descriptor of `.L2::cache_hint`
  /// Store data, atomic operand `b`, or loaded data: lane n has its bytes at n * kMaxLaneBytes,
  /// little-endian, vector elements in order. Loads leave sink elements and inactive lanes alone.
  std::uint8_t* data = nullptr;

  [[nodiscard]] std::uint64_t address_of(unsigned lane) const {
    return form == AddressForm::per_lane
               ? address[lane]
               : base + static_cast<std::uint64_t>(static_cast<std::int64_t>(lane) * stride);
  }
  [[nodiscard]] std::uint8_t* lane_data(unsigned lane) { return data + std::size_t{lane} * kMaxLaneBytes; }
  [[nodiscard]] const std::uint8_t* lane_data(unsigned lane) const {
    return data + std::size_t{lane} * kMaxLaneBytes;
  }

 private:
  void use(LaneBuffers& b) {
    address = b.address.data();
    second = b.second.data();
    policy = b.policy.data();
    data = b.data.data();
  }
  std::unique_ptr<LaneBuffers> owned_;
};

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
  /// Of `call`, `ret` and `set_stack`. In: tokens on the call-return stack; out: those that are to be on it.
  /// A call adds one or, where the callers of other lanes are as deep already, none.
  std::uint32_t stack_depth = 0;
  std::uint64_t token = 0;      ///< out, of `call`: the token; in, of `ret`: the newest, 0 if there is none
  const char* fault = nullptr;  ///< out: why the program ended this warp (`trap`); null: it did not
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
  /// Executes it and moves on.
  virtual void execute(unsigned slot, Issue& issue) = 0;
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
};

}  // namespace warpline
