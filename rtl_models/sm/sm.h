#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/sim/loose_target.h"
#include "rtl_models/sm/arithmetic_pipes.h"
#include "rtl_models/sm/bulk_copy_unit.h"
#include "rtl_models/sm/cta_launch.h"
#include "rtl_models/sm/dependence_counters.h"
#include "rtl_models/sm/instruction_fetch.h"
#include "rtl_models/sm/kernel_info.h"
#include "rtl_models/sm/load_store_unit.h"
#include "rtl_models/sm/loop_watch.h"
#include "rtl_models/sm/memory_map.h"
#include "rtl_models/sm/ordering_timer.h"
#include "rtl_models/sm/scoreboard.h"
#include "rtl_models/sm/sm_core.h"
#include "rtl_models/sm/sm_counters.h"
#include "rtl_models/sm/sm_profile.h"
#include "rtl_models/sm/tensor_pipes.h"
#include "rtl_models/sm/warp_scheduler.h"

namespace warpline {

/// Streaming multiprocessor: runs the warps of its CTAs in order within a warp, with a register
/// scoreboard, one instruction per issue partition and cycle, in turn (round robin), and
/// one memory line per cycle, of L1 one per port to it; bulk copies go past L1 beside them. A warp issues
/// only from lines of code that have been fetched.
///
/// Ordering (docs/ordering.md): a release or fence issues when the warp's loads have returned
/// and its stores have passed L1 (R2, R4), and beyond the CTA after a drain of the SM's writes
/// (R3); after an acquire the warp stands still until the value is back and L1 is invalidated (R6).
/// Asynchronous copies are ordered by their own waits alone; a warp ends when its copies have.
///
/// With a network (join_network()), its CTAs may be of clusters: they access each other's shared memory, and
/// meet at the cluster's barrier, by messages. A request of another CTA takes its turn at the banks of shared
/// memory with the warps' own; a store counts as done when it has been performed there.
class Sm final : public Component, public LooseTarget {
 public:
  Sm(Engine& engine, std::string name, ClockDomain domain, const SmParameters& parameters, SmNumber number);

  Out<RequestMessage> to_l1_lg{*this, "to_l1_lg"};
  In<ResponseMessage> from_l1_lg{*this, "from_l1_lg"};
  /// The other ports to L1, where there are several (SmParameters::l1_ports): number 1 and on.
  [[nodiscard]] std::deque<L1Port>& more_l1_ports() { return more_l1_; }
  Out<RequestMessage> to_texture{*this, "to_texture"};
  In<ResponseMessage> from_texture{*this, "from_texture"};
  Out<RequestMessage> to_constant{*this, "to_constant"};
  In<ResponseMessage> from_constant{*this, "from_constant"};
  Out<RequestMessage> to_instruction{*this, "to_instruction"};
  In<ResponseMessage> from_instruction{*this, "from_instruction"};
  /// The ports to the network between SMs.
  struct Network {
    explicit Network(Sm& sm)
        : to_network(sm, "to_network"),
          from_network(sm, "from_network"),
          from_cluster(sm, "from_cluster"),
          to_cluster(sm, "to_cluster") {}
    Out<RequestMessage> to_network;  ///< what this SM asks of others
    In<ResponseMessage> from_network;
    In<RequestMessage> from_cluster;  ///< what others ask of it
    Out<ResponseMessage> to_cluster;
  };
  /// Whether it sends anything to a texture cache; if not, nobody need be at those ports.
  [[nodiscard]] bool has_texture_cache() const { return !parameters_.unified_l1; }
  /// Makes them. Called once at most, before hops are made.
  void join_network();
  /// Null: there is none.
  [[nodiscard]] Network* network() const { return network_.get(); }
  Out<RequestMessage> to_crossbar{*this, "to_crossbar"};  ///< of bulk copies
  In<ResponseMessage> from_crossbar{*this, "from_crossbar"};
  In<CtaLaunch> from_distributor{*this, "from_distributor"};
  Out<CtaDone> to_distributor{*this, "to_distributor"};

  /// For a new kernel. Pre: idle. `resident`: CTAs held at once.
  void start(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
             unsigned resident);
  /// For a kernel that may begin before the one that was started or queued last has ended: it does with the
  /// first CTA of its that comes, when no other one is resident. Pre: start() was called.
  void queue(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
             unsigned resident);
  /// Sends a maintenance request of the driver's own to L1, as a fence would. Pre: idle.
  void maintain(std::uint8_t what);
  /// Empties the instruction buffer, for a driver. Pre: idle.
  void empty_instruction_buffer() { fetch_.empty(); }
  /// Ends every warp, as a fault would, whatever it waits for; what is in flight comes back. To be run on
  /// until quiescent. Pre: stopped between cycles.
  void end_warps();
  /// The same, and of CTAs that are on their way here, until the next kernel starts.
  void end_kernel() {
    ending_ = true;
    end_warps();
  }
  /// Its program is watched for warps that repeat themselves, until end_watch(), or until another kernel
  /// starts. No cycle and no counter changes. Pre: stopped between cycles.
  void begin_watch();
  void end_watch();
  /// Null: it is not watched.
  [[nodiscard]] LoopWatch* watch() const { return watch_; }
  /// Whether nothing of its warps and CTAs is under way, beside loads, that may change memory or the warps of
  /// others. A CTA of the next kernel may be here, and wait for the end of this one's.
  [[nodiscard]] bool changes_nothing() const;
  /// Whether nothing of the warp in `slot` is under way.
  [[nodiscard]] bool is_quiet(unsigned slot) const { return core_.is_quiet(slot); }
  [[nodiscard]] bool next_kernel_waits() const { return launch_waits_; }
  /// Whether each of its warps repeats itself, or waits for others. Pre: it is watched.
  [[nodiscard]] bool only_repeats() const;
  /// From now on the run is functional: an access of video memory is performed by `vidmem`, past the caches,
  /// when it is issued, a warp issues many instructions at a time, one a cycle, and nothing else takes time
  /// either. Null: it is not. Pre: idle.
  void run_functionally(VidmemAccess* vidmem) {
    functional_ = vidmem != nullptr;
    choose_profile();
    lsu_.go_past_caches(vidmem);
  }
  Cycle tick(Cycle now) override;
  /// Has `observer` told of what happens to shared memory; null: nobody.
  void observe_shared(SharedObserver* observer) { lsu_.observe(observer); }
  /// From the next kernel on, `profile` is told what each warp does in every cycle, unless the run is
  /// functional; null: nobody is. Pre: idle.
  void profile_by(SmProfile* profile) {
    attached_ = profile;
    choose_profile();
  }
  /// What another SM asks, loosely timed.
  void perform(Request& r, Cycle& at) override;
  void restart() override {
    scheduler_.reset_turns();
    fetch_.empty();
    lsu_.restart();
    core_.restart();
  }
  void archive(StateArchive& a) override { a(counters_, core_, lsu_, bulk_, fetch_, scheduler_, edge_); }
  [[nodiscard]] bool busy() const override {
    return core_.active_warps() != 0 || dones_.any() || flush_ != Flush::none || !cluster_idle() ||
           constant_invalidations_ != 0 || !lsu_.idle() || !bulk_.idle() || !fetch_.idle();
  }
  void explain(std::vector<Wait>& waits) const override;
  void in_flight(std::vector<InFlight>& rows) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void draw_turns(Random& random) override { scheduler_.draw_turns(random); }
  [[nodiscard]] const SmCounters& counters() const { return counters_; }
  [[nodiscard]] const ClusterCounters& cluster_counters() const { return core_.cluster_counters(); }
  [[nodiscard]] const LsuCounters& lsu_counters() const { return lsu_.counters(); }
  [[nodiscard]] const BulkCopyCounters& bulk_copy_counters() const { return bulk_.counters(); }
  [[nodiscard]] const InstructionFetchCounters& fetch_counters() const { return fetch_.counters(); }
  /// The first faults, oldest first; lsu_counters().faults counts all.
  [[nodiscard]] const std::vector<FaultReport>& faults() const { return core_.faults(); }
  /// The first CCTL that named an address which is not mapped, and did nothing there; nothing: none has.
  /// Keeps those to come, as a new SM would.
  void forget_faults() { core_.forget_faults(); }
  [[nodiscard]] const std::optional<FaultReport>& unmapped_control() const {
    return core_.unmapped_control();
  }

 private:
  /// When a warp can issue next, as far as that is up to itself.
  struct Pace {
    std::uint64_t edge = 0;                          ///< the earliest
    std::uint64_t line = InstructionFetch::kNoLine;  ///< of the code, from which it can issue
    std::uint64_t shared_atomic = 0;                 ///< the earliest for an atomic of shared memory
  };

  /// A kernel that is yet to begin.
  struct Queued {
    KernelInfo info;
    std::unique_ptr<InstructionSource> source;
    MemoryMap map;
    unsigned resident = 0;
  };
  /// What is to be told the distributor.
  class Reports {
   public:
    /// A CTA has ended, or one that has not asks something: in this order.
    void add(const CtaDone& done) {
      ended_.push_back(done);
      any_ = true;
    }
    /// A CTA says that dependent grids may begin.
    void add_trigger() {
      ++triggered_;
      any_ = true;
    }
    void add_end_of_grid() { ends_grid_ = any_ = true; }
    void add_flush() { flushed_ = any_ = true; }
    [[nodiscard]] bool any() const { return any_; }
    /// Pre: any().
    CtaDone take();

   private:
    CtaDone take_first();
    std::vector<CtaDone> ended_;
    unsigned triggered_ = 0;
    bool ends_grid_ = false, flushed_ = false;
    bool any_ = false;
  };
  /// What CTAs here are told by others, by the cycle in which they hear it.
  struct Heard {
    Cycle at = 0;
    ClusterAddress to;
  };
  enum class Flush : std::uint8_t { none, asked, sent };
  void choose_profile() {
    profile_ = functional_ ? nullptr : attached_;
    goes_ahead_ = !functional_ && profile_ == nullptr;
    lsu_.profile_by(profile_);
  }
  void begin_kernel(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
                    unsigned resident);
  void take_launch(Cycle now);
  [[nodiscard]] bool has_begun(Cycle now, const CtaLaunch& launch);
  void send_maintenance(Cycle now, const CacheMaintenance& maintenance, unsigned slot);
  /// In whose name it flushes.
  [[nodiscard]] unsigned flushing_slot() const { return parameters_.warp_slots + 1; }
  void flush(Cycle now);
  void offer_registers(unsigned slot);
  void start_cta(const CtaLaunch& launch);
  void start_cta(Dim3 id, const ClusterPlace* cluster);
  [[nodiscard, gnu::always_inline]] inline std::uint64_t edge_of_operands(unsigned slot,
                                                                          const Instruction& i) const;
  [[nodiscard, gnu::always_inline]] inline std::uint64_t earliest_issue(unsigned slot);
  void evaluate(unsigned slot);
  void charge(unsigned slot, std::uint64_t edge);
  void charge_held(unsigned slot);
  void charge_unready(unsigned slot, const Instruction& i);
  void charge_result(unsigned slot, const Instruction& i, Cycle at);
  void charge_unselected();
  void wake_released() {
    if (!released_.empty()) evaluate_released();
  }
  void evaluate_released();
  void kill(unsigned slot);
  void not_before(unsigned slot, std::uint64_t edge) { pace_[slot].edge = std::max(pace_[slot].edge, edge); }

  [[gnu::always_inline]] inline void issue(Cycle now, unsigned slot);
  [[gnu::always_inline]] inline void take_pace(Cycle now, unsigned slot, const Instruction& i);
  [[gnu::always_inline]] inline void issue_ahead(Cycle now, unsigned slot);
  [[gnu::always_inline]] inline void note_results(Cycle now, unsigned slot, const Instruction& i);
  void issue_other(Cycle now, unsigned slot, const Instruction& i);
  void issue_many(Cycle now, unsigned slot);
  void issue_profiled(Cycle now, unsigned slot);
  void issue_alu(Cycle now, unsigned slot, const Instruction& i);
  void keep_at_barrier(unsigned slot);
  void issue_matrix(Cycle now, unsigned slot, const Instruction& i);
  std::uint64_t take_tensor_pipe(unsigned slot, const Instruction& i, std::uint64_t edge);
  void issue_memory(Cycle now, unsigned slot, const Instruction& i);
  void begin_access(unsigned slot, const Instruction& i, LsuEntry& e);
  void issue_fence(Cycle now, unsigned slot, const MemOp& fence);
  void issue_invalidation(Cycle now, unsigned slot);
  void issue_at_cluster_barrier(Cycle now, unsigned slot, const Instruction& i);
  void issue_stack(Cycle now, unsigned slot, const Instruction& i);
  [[gnu::always_inline]] inline LsuEntry& take_entry(Cycle now, unsigned slot, unsigned& index);
  void send_step(Cycle now, unsigned slot, const OrderingStep& step);
  void move_tokens(Cycle now, unsigned slot, const TokenMove& move);
  void advance_flush(Cycle now, unsigned slot);

  void take_response(Cycle now, In<ResponseMessage>& port);
  void complete_plain(unsigned index, const LsuEntry& e, Cycle ready);
  [[nodiscard]] bool cluster_idle() const {
    return lsu_.served().empty() && heard_.empty() && core_.signals().empty();
  }
  void take_answer(Cycle now);
  void hear(Cycle now);
  [[nodiscard]] Cycle serve(Cycle now);
  void tell(Cycle now);
  void advance_bulk_copies(Cycle now);
  void handle_bulk_events(Cycle now);
  void handle_events(Cycle now);
  [[gnu::always_inline]] inline void complete(const LsuEvent& event, Cycle now);
  void complete_move(const LsuEvent& event, Cycle now);
  void maintained(Cycle now, unsigned slot);
  void take_instructions(Cycle now);
  void fail_fetch(Cycle now, unsigned slot);
  [[nodiscard]] bool come_to(unsigned slot, std::uint64_t line);
  void invalidate_instructions();

  SmParameters parameters_;
  std::deque<L1Port> more_l1_;
  std::vector<In<ResponseMessage>*>
      from_caches_;  ///< answers to the load/store unit, but those by the network
  /// Ports on whose channels there are messages, a bit each: first from_caches_.
  static constexpr unsigned kFromInstruction = 62, kFromDistributor = 63;
  static constexpr std::uint64_t kFromCaches = (std::uint64_t{1} << kFromInstruction) - 1;
  std::uint64_t inputs_ = 0;
  [[nodiscard]] bool has_input(unsigned bit) const { return (inputs_ >> bit & 1U) != 0; }
  SmCounters counters_;
  SmCore core_;
  LoadStoreUnit lsu_;
  BulkCopyUnit bulk_;
  InstructionFetch fetch_;
  ArithmeticPipes pipes_;
  WarpScheduler scheduler_;
  Scoreboard scoreboard_;
  TensorPipes tensor_;
  OrderingTimer ordering_;
  std::vector<DependenceCounters> dependences_;  ///< of each warp slot
  std::vector<Pace> pace_;                       ///< likewise
  /// By CTA slot, the edge up to which the arrivals at its barriers keep the barrier unit.
  std::vector<std::uint64_t> barrier_taken_;
  Issue issue_;  ///< of the instruction that computes or accesses memory and issues now; without a fault
                 ///< between
  std::uint64_t edge_ = 0;
  bool functional_ = false;  ///< the run is
  bool goes_ahead_ = true;   ///< what has been computed ahead is issued by itself: nobody profiles it
  bool ending_ = false;      ///< warps that begin end, until the next kernel starts
  Reports dones_;
  Flush flush_ = Flush::none;            ///< of what its CTAs have written
  std::vector<Queued> queued_;           ///< kernels, the next one first
  std::uint32_t grid_ = 0;               ///< the number of the one that runs
  bool launch_waits_ = false;            ///< a CTA of the next one is here, and something of this one left
  unsigned constant_invalidations_ = 0;  ///< executed in dispatch and not yet sent
  std::unique_ptr<Network> network_;
  std::vector<Heard> heard_;
  std::vector<LsuEvent> events_;
  std::vector<BulkEvent> bulk_events_;
  std::vector<SmCore::Released> released_;
  SmProfile* attached_ = nullptr;
  SmProfile* profile_ = nullptr;  ///< the same; null: there is none, or the run is functional
  LoopWatch* watch_ = nullptr;    ///< what core_ has as its program, where that is watched
};

}  // namespace warpline
