#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rtl_models/sm/address_resolution.h"
#include "rtl_models/sm/barrier_unit.h"
#include "rtl_models/sm/call_stacks.h"
#include "rtl_models/sm/cluster_barrier.h"
#include "rtl_models/sm/copy_groups.h"
#include "rtl_models/sm/cta_launch.h"
#include "rtl_models/sm/fault.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/kernel_info.h"
#include "rtl_models/sm/memory_map.h"
#include "rtl_models/sm/ordering.h"
#include "rtl_models/sm/product_groups.h"
#include "rtl_models/sm/resident_warp.h"
#include "rtl_models/sm/sm_counters.h"

namespace warpline {

/// What a streaming multiprocessor does: CTAs and their warps, barriers, call-return stacks, groups of
/// copies, and what the issue of an instruction means for them. It knows no time and no ports: who issues,
/// and when results are there, is the Sm's affair, which is told what follows for other warps.
class SmCore {
 public:
  struct Cta {
    bool active = false;
    Dim3 id;
    unsigned warps_left = 0;
    bool barrier_in_use = false;
    bool triggered = false;            ///< it has said that dependent grids may begin
    std::uint64_t free_registers = 0;  ///< that warps of it have given up
    std::vector<unsigned> slots;
    BarrierUnit barriers;
    ClusterPlace cluster;  ///< of more than one CTA, if it is in one
    ClusterBarrier cluster_barrier;
    unsigned signals = 0;  ///< that it has to tell others of its cluster, or whose answers are not back
  };
  /// What a CTA tells another of its cluster. It ends when all of these are answered.
  struct Signal {
    ClusterAddress to;
    unsigned cta = 0;  ///< CTA slot of who tells it
  };
  /// A warp of which a barrier has released lanes; `waited`: before that, none of its lanes could run.
  struct Released {
    unsigned slot = 0;
    bool waited = false;
  };
  /// What came of a call, a return, SETCRSPTR or a write-back of the stack.
  enum class StackOutcome : std::uint8_t { done, flushing, faulted, overflown };

  SmCore(const SmParameters& parameters, SmCounters& counters)
      : counters_(counters),
        warps_(parameters.warp_slots),
        copies_(parameters.warp_slots),
        products_(parameters.warp_slots),
        bulk_(parameters.warp_slots),
        bulk_reads_(parameters.warp_slots),
        stacks_(parameters.warp_slots, parameters),
        stack_bytes_(parameters.stack_bytes_per_thread()) {}
  /// For a new kernel. `resident`: CTAs held at once. Pre: no CTA is resident.
  void start(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
             unsigned resident);

  /// CTAs of clusters are numbered anew. Pre: none is left.
  void restart() {
    early_.clear();
    ended_.clear();
  }
  /// CTA `id` takes a CTA slot, and its warps the first warp slots that are free. `cluster`: where its
  /// cluster runs; null: it is in none. Pre: there are enough.
  const Cta& begin_cta(Dim3 id, const ClusterPlace* cluster = nullptr);
  /// The warp leaves its slot. Returns whether its CTA has ended thereby. Pre: may_end().
  bool end_warp(unsigned slot);
  [[nodiscard]] bool may_end(unsigned slot) const {
    const ResidentWarp& w = warps_[slot];
    return w.hold == Hold::none && w.quiet() && source_->state(slot) == WarpState::exited;
  }

  /// The instruction that the warp issues next; null: it stands still.
  [[nodiscard]] const Instruction* next(unsigned slot) {
    ResidentWarp& w = warps_[slot];
    if (w.hold != Hold::none) return nullptr;
    const Instruction* const next = w.ahead.any() ? &w.ahead.instruction() : source_->peek(slot);
    if (next != nullptr) w.next = next;
    return next;
  }
  /// Whether the next instruction of the warp, which stands for nothing, has been computed ahead.
  [[nodiscard]] bool is_ahead(unsigned slot) const { return warps_[slot].ahead.any(); }
  /// Whether what the warp has in flight lets `i`, its next instruction, issue.
  [[nodiscard]] bool may_issue(unsigned slot, const Instruction& i) const {
    switch (i.kind) {
      case InstructionKind::memory:
        if (!i.mem.releases()) return true;
        [[fallthrough]];
      case InstructionKind::fence:
        if (i.waits_for_grid && !released_) return false;
        [[fallthrough]];
      case InstructionKind::barrier: {
        const ResidentWarp& w = warps_[slot];
        return w.stores == 0 && (w.loads == 0 || !waits_for_loads(i));
      }
      case InstructionKind::wait_copies: return copies_[slot].may_pass(i.groups_left);
      case InstructionKind::wait_products: return products_[slot].ready(i.groups_left) != kNever;
      case InstructionKind::wait_bulk: return bulk_[slot].may_pass(i.groups_left);
      case InstructionKind::wait_bulk_reads: return bulk_reads_[slot].may_pass(i.groups_left);
      case InstructionKind::reallocate_registers: return registers_missing(slot, i.groups_left) == 0;
      default: return true;
    }
  }
  /// Whether the issue of `i` needs room in the load/store unit.
  [[nodiscard]] static bool needs_room(const Instruction& i) {
    constexpr unsigned kStackKinds = (1U << static_cast<unsigned>(InstructionKind::cluster_arrive)) -
                                     (1U << static_cast<unsigned>(InstructionKind::call));
    constexpr unsigned kKinds = 1U << static_cast<unsigned>(InstructionKind::memory) |
                                1U << static_cast<unsigned>(InstructionKind::fence) |
                                1U << static_cast<unsigned>(InstructionKind::wait_bulk) | kStackKinds;
    return (kKinds >> static_cast<unsigned>(i.kind) & 1U) != 0;
  }
  /// Registers that the CTA has too few for a warp to have `count` per thread.
  [[nodiscard]] std::uint64_t registers_missing(unsigned slot, std::uint32_t count) const {
    const ResidentWarp& w = warps_[slot];
    if (count <= w.registers) return 0;
    const std::uint64_t wanted = std::uint64_t{count - w.registers} * kWarpLanes;
    const std::uint64_t free = ctas_[w.cta].free_registers;
    return wanted > free ? wanted - free : 0;
  }
  /// The warp has `count` registers per thread from now on. Returns whether others of its CTA may have more
  /// thereby. Pre: none is missing.
  bool reallocate_registers(unsigned slot, std::uint32_t count) {
    ResidentWarp& w = warps_[slot];
    const bool gives = count < w.registers;
    ctas_[w.cta].free_registers += std::uint64_t{w.registers} * kWarpLanes;
    ctas_[w.cta].free_registers -= std::uint64_t{count} * kWarpLanes;
    w.registers = count;
    return gives;
  }
  void execute(unsigned slot, Issue& issue) {
    source_->execute(slot, issue);
    ++counters_.instructions;
    counters_.thread_instructions += lane_count(issue.active);
  }
  /// The same of an instruction that has been computed ahead. Returns the one that comes after it; null: that
  /// has not been. Pre: is_ahead().
  const Instruction* execute_ahead(unsigned slot) {
    ResidentWarp& w = warps_[slot];
    ++counters_.instructions;
    counters_.thread_instructions += lane_count(w.ahead.next->active);
    if (++w.ahead.next == w.ahead.end) return nullptr;
    return w.next = &w.ahead.instruction();
  }
  /// See InstructionSource::run_ahead.
  unsigned run_ahead(unsigned slot, Issue& issue, unsigned most) {
    const unsigned count = source_->run_ahead(slot, issue, most, counters_.thread_instructions);
    counters_.instructions += count;
    return count;
  }
  /// Lanes have arrived at a barrier. Appends the warps of which it releases lanes thereby.
  void arrive(unsigned slot, const Issue& issue, std::vector<Released>& released);
  /// Lanes have arrived at the barrier of their cluster. Appends the warps of which it releases lanes
  /// thereby. Returns the lanes that had arrived before and not waited since, for which that is a fault.
  [[nodiscard]] LaneMask arrive_in_cluster(unsigned slot, LaneMask lanes, std::vector<Released>& released);
  /// Lanes that have nothing to wait for at the barrier of their cluster, should they.
  [[nodiscard]] LaneMask passes_in_cluster(unsigned slot) const { return ~warps_[slot].cluster_arrived; }
  /// Lanes wait for it. Returns those that have not arrived, for which that is a fault.
  [[nodiscard]] LaneMask wait_in_cluster(unsigned slot, LaneMask lanes);
  /// Another CTA of a cluster has told one here something. Appends the warps of which that releases lanes.
  void take_signal(const ClusterAddress& to, std::vector<Released>& released);
  /// Whether the CTA that is meant is not here yet: its launch is on its way.
  [[nodiscard]] bool begins_later(const ClusterAddress& to) const {
    return cta_of_cluster(to) == nullptr && ended_.count(key_of(to.cluster, to.rank)) == 0;
  }
  /// What CTAs have to tell others, oldest first; for the Sm to send.
  [[nodiscard]] std::deque<Signal>& signals() { return signals_; }
  [[nodiscard]] const std::deque<Signal>& signals() const { return signals_; }
  /// A signal of the CTA in that slot has been answered. Returns whether the CTA has ended thereby.
  [[nodiscard]] bool end_signal(unsigned cta);
  /// Where a CTA of a cluster has its part of shared memory, if it is here and has not ended.
  [[nodiscard]] std::optional<std::uint64_t> shared_of(const ClusterAddress& at) const;
  [[nodiscard]] ClusterCounters& cluster_counters() { return cluster_; }
  [[nodiscard]] const ClusterCounters& cluster_counters() const { return cluster_; }
  /// Lanes may have exited with the instruction just issued, of whatever kind, for which barriers no longer
  /// wait. Appends the warps of which they release lanes.
  void note_exits(unsigned slot, std::vector<Released>& released) {
    Cta& cta = ctas_[warps_[slot].cta];
    if (cta.barrier_in_use && source_->live_lanes(slot) != warps_[slot].live) note_exits(cta, released);
  }
  /// Every lane of the warp exits. Appends the warps of which barriers release lanes thereby.
  void kill(unsigned slot, std::vector<Released>& released);

  /// A memory instruction of the warp goes to the load/store unit. Returns the group of an asynchronous copy
  /// or product, or of the bulk copies of `lanes` lanes.
  std::uint32_t begin_access(unsigned slot, const MemOp& op, LaneMask lanes) {
    ++warps_[slot].in_flight(op);
    if (op.tile_passes != 0) return products_[slot].start();
    if (op.kind == MemKind::bulk_copy) return begin_bulk(slot, op, lane_count(lanes));
    return op.kind == MemKind::async_copy ? copies_[slot].start() : 0;
  }
  /// A memory instruction is done; of a warp that has been killed since it issued, its results are dropped.
  /// Returns whether the warp has got them.
  [[gnu::always_inline]] bool complete_access(unsigned slot, const Instruction& i, const MemoryAccess& access,
                                              std::uint32_t copy_group, bool killed) {
    --warps_[slot].in_flight(i.mem);
    if (i.mem.kind == MemKind::async_copy) copies_[slot].finish(copy_group);
    return !killed && complete_load(slot, i, access);
  }
  /// The warp, if it has not ended, gets the results of an instruction.
  [[gnu::always_inline]] bool complete_load(unsigned slot, const Instruction& i, const MemoryAccess& access) {
    if (source_->state(slot) == WarpState::exited) return false;
    source_->complete(slot, i, access, with_data_);
    return true;
  }
  /// A memory instruction in which no lane takes part is done as it issues.
  void complete_empty(unsigned slot, const Instruction& i, const MemoryAccess& access) {
    source_->complete(slot, i, access, with_data_);
  }
  /// The grid that this one depends on is complete, or is not yet.
  void set_released(bool released) { released_ = released; }
  [[nodiscard]] bool released() const { return released_; }
  /// The warp's CTA says that dependent grids may begin. Returns whether it had not before.
  bool trigger(unsigned slot) { return !std::exchange(ctas_[warps_[slot].cta].triggered, true); }
  void commit_copies(unsigned slot) { copies_[slot].commit(); }
  /// The warp's asynchronous products in their groups.
  [[nodiscard]] ProductGroups& products(unsigned slot) { return products_[slot]; }
  /// What a bulk copy reads has been read; it is over.
  void finish_bulk_read(unsigned slot, std::uint32_t group) { bulk_reads_[slot].finish(group); }
  /// Nobody waits for it any more.
  void pass_bulk(unsigned slot, std::uint32_t group) { bulk_[slot].finish(group); }
  void finish_bulk(unsigned slot, std::uint32_t group, bool grouped) {
    --warps_[slot].copies;
    if (grouped) bulk_[slot].finish(group);
  }
  /// Bulk copies of so many lanes never begin.
  void cancel_bulk(unsigned slot, const MemOp& op, unsigned lanes, std::uint32_t group);
  /// Whether L1 has to drop its lines now that the warp has waited for bulk copies.
  [[nodiscard]] bool end_bulk_wait(unsigned slot) {
    return std::exchange(warps_[slot].wrote_in_bulk, bulk_[slot].under_way() != 0);
  }
  void commit_bulk(unsigned slot) {
    bulk_[slot].commit();
    bulk_reads_[slot].commit();
  }

  /// The tokens that must move before `i`, an instruction of the call-return stack, can issue; see
  /// CallStacks.
  [[nodiscard]] std::optional<TokenMove> move_before(unsigned slot, const Instruction& i) {
    return stacks_.move_before(slot, i);
  }
  /// Executes an instruction of the call-return stack. Where the program ends its warp, `issue.fault` says
  /// why; a warp whose stack is overflown is yet to be killed.
  [[nodiscard]] StackOutcome execute_stack(unsigned slot, const Instruction& i, Issue& issue);
  /// Tokens begin to move: fills the access that moves them.
  void begin_move(unsigned slot, const TokenMove& move, MemoryAccess& access);
  /// Tokens have moved. Returns whether the stack has got them; not if it is a killed warp's.
  bool complete_move(unsigned slot, bool spill, const MemoryAccess& access, bool killed);
  /// Warps that write their stacks back, a bit for each slot.
  [[nodiscard]] std::uint64_t flushing() const { return flushing_; }
  /// Whether such a warp's stack has tokens that are not on their way yet, and the next of them.
  [[nodiscard]] bool has_to_write(unsigned slot) { return !stacks_[slot].is_clean(); }
  [[nodiscard]] TokenMove write_back(unsigned slot) { return {stacks_[slot].write_back(), true}; }
  /// Ends the write-back if L1 has accepted every token: the warp goes on. Pre: !has_to_write().
  [[nodiscard]] bool end_flush(unsigned slot);

  template <class Archive>
  void archive(Archive& a) {
    // Pre: no CTA is resident. The other counters are the owner's.
    a(faults_, unmapped_control_, cluster_);
  }
  /// Keeps a fault; its warp is resident.
  void keep_fault(std::string_view kind, const Fault& fault) {
    if (faults_.size() < kFaultsKept) faults_.push_back(report_of(kind, fault));
  }
  /// Keeps the first CCTL that named an address which is not mapped; its warp is resident, and goes on.
  void keep_unmapped_control(const Fault& fault) {
    if (!unmapped_control_) unmapped_control_ = report_of(name_of(fault.kind), fault);
  }
  void forget_faults() {
    faults_.clear();
    unmapped_control_.reset();
  }
  [[nodiscard]] const std::optional<FaultReport>& unmapped_control() const { return unmapped_control_; }
  /// The program has ended its own warp in cycle `now`: trap, a call too deep, code that cannot be read.
  void keep_program_fault(Cycle now, unsigned slot, const Instruction& i, const Issue& issue);
  /// The first faults, oldest first.
  [[nodiscard]] const std::vector<FaultReport>& faults() const { return faults_; }

  /// What the program's accesses may reach, and what accesses to the tokens of call-return stacks may.
  [[nodiscard]] AccessLimits limits(unsigned slot) const {
    return {info_.shared_bytes, program_local_, clustered_ ? &ctas_[warps_[slot].cta].cluster : nullptr};
  }
  [[nodiscard]] const Dim3& cluster_size() const { return info_.cluster.size; }
  /// Bytes of shared memory that a CTA has.
  [[nodiscard]] std::uint32_t shared_bytes() const { return info_.shared_bytes; }
  [[nodiscard]] AccessLimits token_limits() const { return {0, local_window_}; }
  /// Where the warp's CTA has its part of shared memory.
  [[nodiscard]] std::uint64_t shared_base(unsigned slot) const {
    return std::uint64_t{warps_[slot].cta} * info_.shared_bytes;
  }
  [[nodiscard]] ResidentWarp& warp(unsigned slot) { return warps_[slot]; }
  [[nodiscard]] bool is_quiet(unsigned slot) const { return warps_[slot].quiet(); }
  [[nodiscard]] const std::vector<ResidentWarp>& warps() const { return warps_; }
  [[nodiscard]] unsigned active_warps() const { return active_warps_; }
  [[nodiscard]] const std::vector<Cta>& ctas() const { return ctas_; }
  [[nodiscard]] const CopyGroups& copies(unsigned slot) const { return copies_[slot]; }
  [[nodiscard]] const InstructionSource& source() const { return *source_; }
  /// Whether a kernel has been started.
  [[nodiscard]] bool has_source() const { return source_ != nullptr; }
  /// The program becomes what `wrap` makes of it, between cycles. Pre: has_source().
  template <class Wrap>
  void wrap_source(Wrap&& wrap) {
    for (unsigned slot = 0; slot < warps_.size(); ++slot) source_->keep_ahead_in(slot, nullptr);
    set_source(wrap(std::move(source_)));
  }
  /// Whether the warp, which has nothing under way, can only go on by what another one does.
  [[nodiscard]] bool waits_for_others(unsigned slot) const;
  /// Whether a warp of the CTA is in one of its slots: once it has ended, the slot may be another CTA's.
  [[nodiscard]] bool is_of(const Cta& cta, unsigned slot) const {
    return warps_[slot].active && &ctas_[warps_[slot].cta] == &cta;
  }
  [[nodiscard]] unsigned live_threads(const Cta& cta) const;

 private:
  static constexpr std::size_t kFaultsKept = 1000;
  [[nodiscard]] FaultReport report_of(std::string_view kind, const Fault& fault) const;
  std::uint32_t begin_bulk(unsigned slot, const MemOp& op, unsigned lanes);
  void note_exits(Cta& cta, std::vector<Released>& released);
  void release_barrier(Cta& cta, unsigned id, std::vector<Released>& released);
  void check_cluster_arrival(Cta& cta, std::vector<Released>& released);
  void settle_cluster_barrier(Cta& cta, std::vector<Released>& released);
  void tell_cluster(Cta& cta, ClusterAddress::Signal what);
  void note_signal(Cta& cta, const ClusterAddress& to);
  void take_early_signals(Cta& cta);
  [[nodiscard]] static std::uint64_t key_of(std::uint32_t cluster, unsigned rank) {
    return std::uint64_t{cluster} << 4U | rank;
  }
  [[nodiscard]] const Cta* cta_of_cluster(const ClusterAddress& at) const;

  SmCounters& counters_;
  KernelInfo info_;
  void set_source(std::unique_ptr<InstructionSource> source);
  std::unique_ptr<InstructionSource> source_;
  std::vector<ResidentWarp> warps_;
  std::vector<CopyGroups> copies_;       ///< of each warp slot
  std::vector<ProductGroups> products_;  ///< likewise
  std::vector<ClusterAddress> early_;    ///< signals to CTAs of clusters that have yet to begin
  /// CTAs of clusters that have ended here, and the ranks of those that have not exited yet, a bit each. No
  /// longer: what tells of the last is the last that comes, and numbers of clusters come again.
  std::unordered_map<std::uint64_t, std::uint32_t> ended_;
  std::vector<CopyGroups> bulk_, bulk_reads_;  ///< likewise: of bulk copies, and of what they read
  CallStacks stacks_;
  std::vector<Cta> ctas_;
  std::vector<FaultReport> faults_;
  std::optional<FaultReport> unmapped_control_;
  std::uint64_t flushing_ = 0;
  std::uint32_t stack_bytes_;        ///< per thread, of a kernel that calls
  std::uint32_t local_window_ = 0;   ///< local memory of a thread, the call-return stack's included
  std::uint32_t program_local_ = 0;  ///< of it, what the program may access
  unsigned active_warps_ = 0;
  unsigned active_ctas_ = 0;
  bool with_data_ = true;
  ClusterCounters cluster_;
  bool clustered_ = false;  ///< clusters have more than one CTA
  std::deque<Signal> signals_;
  bool released_ = true;
};

}  // namespace warpline
