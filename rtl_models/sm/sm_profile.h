#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rtl_models/base/latency_histogram.h"
#include "rtl_models/base/types.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sm/instruction.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/kernel_info.h"
#include "rtl_models/sm/resident_warp.h"
#include "rtl_models/sm/shared_memory.h"
#include "rtl_models/sm/stall_reason.h"

namespace warpline {

struct LsuEntry;

/// What became of one instruction of a kernel.
struct InstructionProfile {
  std::uint64_t issued = 0;                           ///< by warps
  std::uint64_t lanes = 0;                            ///< that were active, summed
  std::array<std::uint64_t, kStallReasons> stalls{};  ///< warp-cycles charged to it
  /// Of an instruction that accesses memory.
  struct Memory {
    std::uint64_t accesses = 0;  ///< that were completed
    std::uint64_t lanes = 0;     ///< of them, summed
    std::uint64_t lane_bytes = 0;
    std::uint64_t lines = 0;    ///< requests sent to caches
    std::uint64_t sectors = 0;  ///< of them
    /// Of the sectors, those of reads and atomics, by what their request was answered from at the furthest.
    std::array<std::uint64_t, kAnsweredBy> answered{};
    std::uint64_t shared_passes = 0;     ///< over the banks of shared memory
    std::uint64_t shared_conflicts = 0;  ///< of them, that bank conflicts cost
    LatencyHistogram latency;            ///< SM cycles from issue until results can be read, or L1 has it
    void add(const Memory& other);
  };
  std::unique_ptr<Memory> memory;  ///< null: it does not
  void add(const InstructionProfile& other);
  [[nodiscard]] std::uint64_t stall_cycles() const;  ///< of all reasons but `selected`
};

/// One kernel as one SM, or several, ran it. Launches of the same kernel are together.
struct KernelProfile {
  std::string name;               ///< KernelInfo::name
  std::string code_name;          ///< KernelInfo::code_name
  std::uint64_t warps = 0;        ///< that have begun
  std::uint64_t warp_cycles = 0;  ///< SM cycles in which a warp was resident, summed over these
  struct Row {
    std::uint32_t pc = 0;  ///< Instruction::pc
    std::string where;     ///< "vecadd.ptx:12"
    InstructionProfile profile;
  };
  std::vector<Row> rows;  ///< those that issued, or had something charged, in no order
  [[nodiscard]] bool is_of(const KernelInfo& info) const {
    return name == info.name && code_name == info.code_name;
  }
  /// Another SM's of the same kernel.
  void add(const KernelProfile& other);
};

/// Charges every cycle of an SM's resident warps to a reason and an instruction, and counts what each
/// instruction does. The SM tells it of what happens; it changes nothing.
class SmProfile {
 public:
  /// `unified_l1`: L1 is the texture cache, too.
  SmProfile(unsigned warp_slots, bool unified_l1) : unified_l1_(unified_l1), warps_(warp_slots) {}

  /// `source` is what warps run from now on. Pre: no warp is resident.
  void begin_kernel(const KernelInfo& info, const InstructionSource& source);
  void begin_warp(unsigned slot, std::uint64_t edge);
  void end_warp(unsigned slot, std::uint64_t edge);
  /// Up to edge `edge`, all is charged that passes, of warps that are resident, too. They go on.
  void close(std::uint64_t edge);
  /// From edge `edge` on, the warp does not issue, for `reason`, and that is charged to `at`.
  void stall(unsigned slot, std::uint64_t edge, StallReason reason, const Instruction& at);
  /// The same from edge `edge` on, which may be to come, unless something else is charged before.
  void stall_later(unsigned slot, std::uint64_t edge, StallReason reason, const Instruction& at);
  /// It waits for the access of `at`, which is under way.
  void await_access(unsigned slot, std::uint64_t edge, const Instruction& at) {
    change(slot, edge, StallReason::cut_off, row_of(at), true);
  }
  /// The same, for what keeps it since the instruction that it issued last; `next`: where that is none.
  void hold_back(unsigned slot, std::uint64_t edge, const Instruction& next);
  /// The same, for a result: of whatever was to write register `number`, or to free dependence counter
  /// `number`.
  void await_register(unsigned slot, std::uint64_t edge, std::uint16_t number) {
    await(slot, edge, kCounters + number);
  }
  void await_counter(unsigned slot, std::uint64_t edge, unsigned number) {
    const std::vector<std::uint32_t>& holders = warps_[slot].holders[number];
    if (holders.empty()) return await(slot, edge, number);
    change(slot, edge, StallReason::cut_off, holders.front(), true);
  }
  /// The warp has its turn at `edge`: until the next one nothing else is charged to it.
  void take_turn(unsigned slot, std::uint64_t edge);
  /// In its turn it has issued `i`, with so many active lanes.
  void issued(unsigned slot, const Instruction& i, std::uint64_t lanes);
  /// In its turn it has issued nothing: `i` has something else to do first.
  void put_off(const Instruction& i);
  /// An access is done: after so many SM cycles its results can be read, or L1 has it.
  void completed(const LsuEntry& e, std::uint64_t edge, std::uint64_t latency);
  /// It sends a line with so many sectors; an answer has come; it is performed in shared memory.
  void sent(const Instruction& i, unsigned sectors);
  void answered(const Instruction& i, const Request& r);
  void shared(const Instruction& i, const SharedMemory::Passes& passes);
  /// The warps that could issue at `edge` and did not, by reason, a bit for each slot.
  struct Unselected {
    std::uint64_t other = 0, pipe = 0, queue = 0;
  };
  void could_issue(std::uint64_t edge, const Unselected& now, const std::vector<ResidentWarp>& warps);

  [[nodiscard]] const std::vector<KernelProfile>& kernels() const { return kernels_; }

 private:
  struct Owner {
    std::uint32_t row = 0;
    StallReason reason = StallReason::arithmetic;
    bool pending = false;  ///< of an access that is not done: what it is answered from is not known
  };
  /// Cycles in which a warp waited for such.
  struct Open {
    std::uint32_t row = 0;
    std::uint64_t cycles = 0;
  };
  struct Warp {
    bool resident = false;
    std::uint64_t start = 0, since = 0;
    std::uint64_t later = kNever;  ///< from then on, what follows is charged
    std::uint32_t later_row = 0;
    StallReason later_reason = StallReason::dispatch;
    std::uint32_t row = 0;  ///< to which cycles from `since` on are charged
    StallReason reason = StallReason::dispatch;
    bool pending = false;  ///< see Owner
    bool has_issued = false;
    std::uint32_t last = 0;                     ///< row that issued last
    StallReason after = StallReason::dispatch;  ///< how that keeps the warp
    std::vector<Open> open;
    std::vector<Owner> owners;  ///< of dependence counters, then of registers
    /// Rows of the accesses under way that hold each dependence counter, oldest first.
    std::array<std::vector<std::uint32_t>, DependenceCounters::kCounters> holders;
  };
  static constexpr std::size_t kCounters = DependenceCounters::kCounters;
  static constexpr std::size_t kCached = 1024;  ///< a power of two
  [[nodiscard]] std::uint32_t row_of(const Instruction& i);
  [[nodiscard]] InstructionProfile::Memory& memory_of(const Instruction& i);
  void await(unsigned slot, std::uint64_t edge, std::size_t owner);
  void settle(Warp& w, std::uint64_t edge);
  void charge(Warp& w, std::uint64_t cycles);
  void change(unsigned slot, std::uint64_t edge, StallReason reason, std::uint32_t row, bool pending);
  [[nodiscard]] StallReason level_of(const LsuEntry& e) const;

  bool unified_l1_;
  std::vector<Warp> warps_;
  std::vector<KernelProfile> kernels_;
  KernelProfile* kernel_ = nullptr;
  const InstructionSource* source_ = nullptr;
  std::size_t owners_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> rows_;  ///< by pc, of kernel_
  struct Cached {
    std::uint32_t pc = ~std::uint32_t{0};  ///< none
    std::uint32_t row = 0;
  };
  std::array<Cached, kCached> cached_;
  Unselected unselected_;
};

}  // namespace warpline
