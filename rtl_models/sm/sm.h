#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "warpline/fabric/channel.h"
#include "warpline/sm/barrier_unit.h"
#include "warpline/sm/call_return_stack.h"
#include "warpline/sm/copy_groups.h"
#include "warpline/sm/cta_message.h"
#include "warpline/sm/instruction_fetch.h"
#include "warpline/sm/kernel.h"
#include "warpline/sm/load_store_unit.h"
#include "warpline/sm/warp_table.h"

namespace warpline {

/// Cycles that warps have stood still for the sake of order, each warp's counted: from the moment in which
/// its fence, release or acquire had to wait for something to the one in which the warp could go on. An
/// acquire's own latency is part of it.
struct OrderingCounters {
  static constexpr std::uint8_t kProxyFences = 5;        ///< behind the scopes
  std::array<std::uint64_t, kProxyFences + 1> cycles{};  ///< by Scope

  template <class F>
  void visit(F&& f) const {
    constexpr const char* kNames[] = {nullptr,
                                      "ordering_cycles_cta",
                                      "ordering_cycles_cluster",
                                      "ordering_cycles_gpu",
                                      "ordering_cycles_sys",
                                      "ordering_cycles_proxy"};
    for (std::size_t n = 1; n < cycles.size(); ++n)
      f(kNames[n], cycles[n], "cycles",
        n == kProxyFences ? "warps stood still for proxy fences"
                          : "warps stood still for fences, releases and acquires of this scope");
  }
};

/// Counters of an SM beside those of its load/store unit.
struct SmCounters {
  std::uint64_t instructions = 0, thread_instructions = 0, ctas = 0, warps = 0, barriers = 0,
                program_faults = 0;
  std::uint64_t calls = 0, returns = 0, stack_spills = 0, stack_refills = 0;
  OrderingCounters ordering;

  template <class F>
  void visit(F&& f) const {
    f("instructions", instructions, "instructions", "warp instructions issued");
    f("thread_instructions", thread_instructions, "instructions", "the same, counted per active lane");
    f("ctas", ctas, "CTAs", "CTAs finished");
    f("warps", warps, "warps", "warps finished");
    f("barriers", barriers, "instructions", "barrier instructions issued");
    ordering.visit(f);
    f("calls", calls, "instructions", "calls, with at least one active lane");
    f("returns", returns, "instructions", "returns, likewise");
    f("stack_spills", stack_spills, "tokens", "of call-return stacks, written to local memory");
    f("stack_refills", stack_refills, "tokens", "of call-return stacks, read from local memory");
    f("program_faults", program_faults, "faults",
      "warps that ended themselves: traps and calls too deep, and code that cannot be read");
  }
};

/// A fault with everything that is known where it happens.
struct FaultReport {
  std::string kind;
  Fault fault;
  Dim3 cta;
  std::string where;
};

/// Streaming multiprocessor: runs the warps of its CTAs in order within a warp, with a register
/// scoreboard, one instruction per issue partition and cycle, oldest turn first (round robin), and
/// one memory line per cycle. A warp issues only from lines of code that have been fetched.
///
/// Ordering (semantics, section 9): a release or fence issues when the warp's loads have returned
/// and its stores have passed L1 (R2, R4), and beyond the CTA after a drain of the SM's writes
/// (R3); after an acquire the warp stands still until the value is back and L1 is invalidated (R6).
/// Asynchronous copies are ordered by their own waits alone; a warp ends when its copies have.
class Sm final : public Component {
 public:
  Sm(Engine& engine, std::string name, ClockDomain domain, const SmParameters& parameters, SmNumber number);

  Out<RequestMessage> to_l1_lg{*this, "to_l1_lg"};
  In<ResponseMessage> from_l1_lg{*this, "from_l1_lg"};
  Out<RequestMessage> to_texture{*this, "to_texture"};
  In<ResponseMessage> from_texture{*this, "from_texture"};
  Out<RequestMessage> to_constant{*this, "to_constant"};
  In<ResponseMessage> from_constant{*this, "from_constant"};
  Out<RequestMessage> to_instruction{*this, "to_instruction"};
  In<ResponseMessage> from_instruction{*this, "from_instruction"};
  In<CtaLaunch> from_distributor{*this, "from_distributor"};
  Out<CtaDone> to_distributor{*this, "to_distributor"};

  /// For a new kernel. Pre: idle. `resident`: CTAs held at once.
  void start(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
             unsigned resident);
  /// Sends a maintenance request of the driver's own to L1, as a fence would. Pre: idle.
  void maintain(std::uint8_t what);
  /// Empties the instruction buffer, for a driver. Pre: idle.
  void empty_instruction_buffer() { fetch_.empty(); }
  /// Ends every warp, as a fault would, whatever it waits for; what is in flight comes back. To be run on
  /// until quiescent. Pre: stopped between cycles.
  void end_warps();
  Cycle tick(Cycle now) override;
  void restart() override;
  [[nodiscard]] bool busy() const override;
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void draw_turns(Random& random) override;
  [[nodiscard]] const SmCounters& counters() const { return counters_; }
  [[nodiscard]] const LsuCounters& lsu_counters() const { return lsu_.counters(); }
  [[nodiscard]] const InstructionFetchCounters& fetch_counters() const { return fetch_.counters(); }
  /// The first faults, oldest first; lsu_counters().faults counts all.
  [[nodiscard]] const std::vector<FaultReport>& faults() const { return faults_; }

 private:
  /// Why a warp stands still although its next instruction may be ready.
  enum class Hold : std::uint8_t { none, drain, proxy_drain, maintenance, acquire, refill, flush };
  struct Warp {
    bool active = false;
    bool drained = false;  ///< the drain before its next instruction is done
    Hold hold = Hold::none;
    std::uint8_t order_for = 0;          ///< in which of OrderingCounters::cycles order_since counts
    Proxy proxy = Proxy::generic;        ///< of Hold::proxy_drain: whose fence it is
    unsigned cta = 0;                    ///< CTA slot
    LaneMask live = 0;                   ///< lanes that had not exited when barriers last looked
    unsigned loads = 0;                  ///< loads and atomics in flight
    unsigned stores = 0;                 ///< stores and reductions that have not passed L1
    unsigned copies = 0;                 ///< asynchronous copies that have not written shared memory
    unsigned spills = 0;                 ///< of the stores, tokens of its call-return stack
    std::uint32_t stack_goal = 0;        ///< of Hold::flush: tokens that are to be on its stack then
    std::uint64_t issue_edge = 0;        ///< earliest edge of its next issue
    std::uint64_t order_since = kNever;  ///< edge since which it stands still for the sake of order
    std::uint64_t scheduled = kNever;    ///< edge for which it stands in ready_
    const Instruction* next = nullptr;
    std::uint64_t line = InstructionFetch::kNoLine;  ///< of the code, from which it can issue
  };
  struct Cta {
    bool active = false;
    Dim3 id;
    unsigned warps_left = 0;
    bool barrier_in_use = false;
    std::vector<unsigned> slots;
    BarrierUnit barriers;
  };
  static constexpr std::size_t kFaultsKept = 1000;
  static constexpr std::uint32_t kNoStack = ~std::uint32_t{0};

  void start_cta(const CtaLaunch& launch);
  [[nodiscard]] static unsigned& in_flight(Warp& w, MemKind kind);
  [[nodiscard]] std::uint64_t earliest_issue(unsigned slot);
  void evaluate(unsigned slot);
  void issue_all(Cycle now);
  void issue(Cycle now, unsigned slot);
  void issue_memory(Cycle now, unsigned slot, const Instruction& i);
  void issue_fence(Cycle now, unsigned slot, const MemOp& fence);
  void issue_fence_beyond_cta(Cycle now, unsigned slot, const MemOp& fence);
  void issue_proxy_fence(Cycle now, unsigned slot, Proxy proxy);
  /// What a release, or an acquire, at `scope` asks of L1 and what lies below it (R3, R6, R7).
  [[nodiscard]] static std::uint8_t release_of(Scope scope);
  [[nodiscard]] static std::uint8_t acquire_of(Scope scope);
  void issue_maintenance(Cycle now, unsigned slot, std::uint8_t what, Scope scope, Hold hold,
                         SmCache cache = SmCache::l1_lg);
  void maintained(Cycle now, unsigned slot);
  void begin_ordering(Warp& w, const MemOp& op) const {
    if (w.order_since != kNever) return;
    w.order_since = edge_;
    w.order_for = op.kind == MemKind::proxy_fence ? OrderingCounters::kProxyFences
                                                  : static_cast<std::uint8_t>(op.scope);
  }
  void end_ordering(Warp& w) {
    if (w.order_since == kNever) return;
    counters_.ordering.cycles[w.order_for] += edge_ - w.order_since;
    w.order_since = kNever;
  }
  void issue_barrier(unsigned slot, const Issue& issue);
  void issue_stack(Cycle now, unsigned slot, const Instruction& i);
  void access_tokens(Cycle now, unsigned slot, const CallReturnStack::Tokens& tokens, bool spill);
  void complete_tokens(const LsuEvent& event, Cycle now);
  void advance_flush(Cycle now, unsigned slot);
  void advance_flushes(Cycle now);
  void count_issue(const Issue& issue) {
    ++counters_.instructions;
    counters_.thread_instructions += lane_count(issue.active);
  }
  void kill(unsigned slot);
  void take_response(Cycle now, In<ResponseMessage>& port);
  void take_instructions(Cycle now);
  void fail_fetch(Cycle now, unsigned slot);
  bool come_to(unsigned slot, std::uint64_t line);
  void invalidate_instructions();
  void handle_events(Cycle now);
  void handle(const LsuEvent& event, Cycle now);
  void complete(const LsuEvent& event, Cycle now);
  void keep_fault(std::string_view kind, const Fault& fault);
  void record_fault(Cycle now, unsigned slot, const Instruction& i, const Issue& issue);
  void release_barrier(Cta& cta, unsigned id);
  void lanes_exited(Cta& cta);
  void note_exits(unsigned slot);
  void retire(unsigned slot);
  /// Whether a warp of the CTA is in one of its slots: once it has ended, the slot may be another CTA's.
  [[nodiscard]] bool is_of(const Cta& cta, unsigned slot) const {
    return warps_[slot].active && &ctas_[warps_[slot].cta] == &cta;
  }
  [[nodiscard]] unsigned live_threads(const Cta& cta) const;
  [[nodiscard]] std::string part(unsigned slot) const;
  void explain_barriers(unsigned slot, std::vector<Wait>& waits) const;
  [[nodiscard]] static std::string of_cta(const Cta& cta);
  [[nodiscard]] Wait explain_warp(unsigned slot) const;

  SmParameters parameters_;
  KernelInfo info_;
  std::unique_ptr<InstructionSource> source_;
  LoadStoreUnit lsu_;
  InstructionFetch fetch_;
  Scoreboard scoreboard_;
  ReadyWarps ready_;
  std::vector<Warp> warps_;
  std::vector<CopyGroups> copies_;               ///< of each warp slot
  std::vector<CallReturnStack> stacks_;          ///< of each warp slot
  std::vector<DependenceCounters> dependences_;  ///< of each warp slot
  std::uint64_t flushing_ = 0;                   ///< warps that write their stacks back
  std::uint32_t local_window_ = 0;       ///< local memory of a thread, the call-return stack's included
  std::uint32_t program_local_ = 0;      ///< of it, what the program may access
  std::uint32_t stack_base_ = kNoStack;  ///< where the stack's part of it begins
  std::vector<Cta> ctas_;
  std::uint64_t memory_next_ = 0;         ///< warps whose next instruction needs the load/store unit
  std::vector<std::uint64_t> partition_;  ///< slots of each issue partition
  std::vector<unsigned> turn_;            ///< slot after the last that issued, per partition
  std::uint64_t edge_ = 0;
  unsigned active_warps_ = 0;
  unsigned dones_ = 0;                   ///< CTAs to be reported
  unsigned constant_invalidations_ = 0;  ///< executed in dispatch and not yet sent
  bool with_data_ = true;
  std::vector<LsuEvent> events_;
  std::vector<FaultReport> faults_;
  SmCounters counters_;
};

}  // namespace warpline
