#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "rtl_models/cache/l1_port.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/sim/cluster_address.h"
#include "rtl_models/sim/vidmem_access.h"
#include "rtl_models/sm/access_lines.h"
#include "rtl_models/sm/address_resolution.h"
#include "rtl_models/sm/answer_scatter.h"
#include "rtl_models/sm/bulk_order.h"
#include "rtl_models/sm/cache_maintenance.h"
#include "rtl_models/sm/copy_arrivals.h"
#include "rtl_models/sm/lsu_counters.h"
#include "rtl_models/sm/lsu_entries.h"
#include "rtl_models/sm/mbarrier.h"
#include "rtl_models/sm/request_builder.h"
#include "rtl_models/sm/shared_memory.h"
#include "rtl_models/sm/shared_observer.h"
#include "rtl_models/sm/sm_counters.h"
#include "rtl_models/sm/sm_parameters.h"

namespace warpline {

class SmProfile;

/// One of several ports of an SM to its L1 but the first.
struct L1Port {
  L1Port(Component& sm, unsigned number)
      : to_l1_lg(sm, "to_l1_lg[" + std::to_string(number) + "]"),
        from_l1_lg(sm, "from_l1_lg[" + std::to_string(number) + "]") {}
  Out<RequestMessage> to_l1_lg;
  In<ResponseMessage> from_l1_lg;
};

/// The ports of the load/store unit.
struct LsuPorts {
  std::vector<Out<RequestMessage>*> to_l1_lg;  ///< one at least
  Out<RequestMessage>& to_texture;
  Out<RequestMessage>& to_constant;
  Out<RequestMessage>* to_network = nullptr;  ///< null: there is no network between SMs
  /// The port to L1 of a line.
  [[nodiscard]] Out<RequestMessage>& to_l1_of(VirtualAddress line) const {
    return *to_l1_lg[l1_port_of(line, static_cast<unsigned>(to_l1_lg.size()))];
  }
  [[nodiscard]] Out<RequestMessage>& to(SmCache cache) const {
    return cache == SmCache::l1_lg     ? *to_l1_lg.front()
           : cache == SmCache::texture ? to_texture
           : cache == SmCache::network ? *to_network
                                       : to_constant;
  }
};

/// Something the rest of the SM must know.
struct LsuEvent {
  enum class Kind : std::uint8_t {
    completed,   ///< the instruction is done: results are in `entry`'s access, a store has passed L1 (R4)
    maintained,  ///< the warp's drain or invalidation is done
    faulted,     ///< last_fault() says how; at most one per cycle and call
    unmapped,    ///< CCTL named an address that is not mapped, last_fault() says which, and goes on
  };
  Kind kind = Kind::completed;
  unsigned slot = 0;
  unsigned entry = 0;
  Cycle ready = 0;  ///< when the results can be read
};

/// Load/store unit of one SM: takes memory instructions in issue order, has their addresses resolved,
/// coalesces them and sends one line per cycle to L1, texture or constant cache, or performs them in
/// shared memory; several of a warp's loads may be in flight. Not a component: the SM ticks it.
///
/// With several ports to L1 it sends several lines of an access in a cycle, in the order of its lanes, as
/// long as each goes by another port. Data then comes from 16 banks of 8 bytes: an access takes as many
/// cycles as words that it reads lie in one bank. What asks for an order of several lines, a drain, an
/// `.mmio` access, waits until all writes before it have passed L1.
class LoadStoreUnit {
 public:
  LoadStoreUnit(const SmParameters& parameters, Component& owner, LsuPorts ports, SmNumber sm)
      : parameters_(parameters),
        owner_(owner),
        ports_(ports),
        sm_(sm),
        builder_(owner.pool()),
        shared_(0, parameters.shared_banks, false),
        entries_(parameters),
        arrivals_(parameters.warp_slots),
        whole_line_cycles_(std::max(parameters.l1_pass_cycles, cycles_of_l1(kLineBytes))) {
    fresh_.maker = &owner;
    fresh_.made_by(sm, 0);
  }

  /// Is told of what accesses do; null: nobody is.
  void profile_by(SmProfile* profile) { profile_ = profile; }
  /// Is told of what happens to shared memory; null: nobody is.
  void observe(SharedObserver* observer) { observer_ = observer; }
  [[nodiscard]] SharedObserver* observer() const { return observer_; }
  /// Who carries out bulk copies. Comes before any kernel.
  void set_bulk_copies(BulkSink& sink) { bulk_ = &sink; }
  /// For a new kernel. Pre: idle.
  void start(const MemoryMap& map);
  /// In functional runs, what warps ask of video memory goes past the caches by `vidmem`, and perform_now()
  /// can be called; null: the run is not functional. Pre: idle.
  void go_past_caches(VidmemAccess* vidmem) { vidmem_ = vidmem; }
  /// In a functional run: performs the access of an entry that is not queued whole, now. Events are appended.
  /// False, and nothing has been done: it is to be queued. Pre: a lane takes part; none of the warp's
  /// accesses but asynchronous copies is under way.
  [[nodiscard]] bool perform_now(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  /// What it has to do. The SM queues entries, and frees those of `completed` and `maintained` events.
  [[nodiscard]] LsuEntries& entries() { return entries_; }
  [[nodiscard]] const LsuEntries& entries() const { return entries_; }
  /// Sends or performs what can be in this cycle. Events are appended.
  void advance(Cycle now, std::vector<LsuEvent>& events) {
    if (waits_due_ <= now) end_due_waits(now, events);
    if (entries_.queued() != 0 && head_.busy_until <= now && entries_[entries_.front()].at <= now)
      advance_head(now, events);
  }
  /// Sends the invalidation of CCTL.C.IVALL past the queue. False: its port is not ready.
  [[nodiscard]] bool invalidate_constants(Cycle now);
  /// A response has come back from one of the caches, or from another SM. Events are appended.
  void respond(Cycle now, Request& r, std::vector<LsuEvent>& events);
  /// Whether a response needs little: it is of a plain load, without an error, and nobody is told of it.
  [[nodiscard]] bool is_plain(const Request& r) const {
    if (r.token == kPastQueue || r.status != Status::ok || profile_ != nullptr) return false;
    const LsuEntry& e = entries_[r.token];
    return e.plain && !e.killed && !e.resolved.exact();
  }
  /// The same as respond(), of such a response. Returns whether the load is done: instead of an event, its
  /// entry says so. Pre: is_plain(r).
  [[nodiscard]] bool respond_plainly(Cycle now, Request& r) {
    LsuEntry& e = entries_[r.token];
    if (with_data_) scatter(r, e.resolved, exact_lane_, results_of(e));
    owner_.pool().release(&r);
    e.ready = owner_.domain().after(now, parameters_.writeback_latency);
    return --e.lines_pending == 0 && e.sent;
  }
  /// An operation on the mbarrier object at `at` of all shared memory that is no instruction's of this SM: of
  /// an asynchronous copy, or of another SM. What it completes wakes the waits for it; their events are
  /// appended. Pre: the run carries data.
  MbarrierStatus operate_mbarrier(Cycle now, std::uint64_t at, const MemOp& op, std::uint32_t count,
                                  std::vector<LsuEvent>& events);
  /// Results of the warp go nowhere any more: what it has here is marked, its waits end in the next cycle.
  void kill(unsigned slot);
  /// Banks and atomics are free, and whose turn it is at them is as at first. Pre: idle.
  void restart() {
    remote_last_ = bulk_had_network_ = false;
    head_.busy_until = banks_free_ = atomics_free_ = shared_atomics_free_ = 0;
    shared_atomic_slot_ = 0;
  }
  /// Accesses to other CTAs' shared memory go by `out`, others' to this SM's come by `in`. Pre: none is under
  /// way.
  void join_network(Out<RequestMessage>& out, const In<RequestMessage>& in, ClusterCounters& counters) {
    ports_.to_network = &out;
    from_cluster_ = &in;
    cluster_ = &counters;
  }
  /// From when on the banks of shared memory are free.
  [[nodiscard]] Cycle banks_free() const { return banks_free_; }
  /// Whether requests of others can be taken: few answers wait to be sent.
  [[nodiscard]] bool takes_requests() const { return served_.size() < kMostServed; }
  /// Performs a request of another CTA on the line that begins at `line` of all shared memory, and queues the
  /// answer. Where the warps' own accesses want the banks too, both take turns. Pre: the banks are free;
  /// takes_requests().
  void serve(Cycle now, Request& r, std::uint64_t line);
  /// Queues the answer of a request of another SM, to be sent from cycle `ready` on.
  void answer(Request& r, Cycle ready) {
    served_.push_back({served_.empty() ? ready : std::max(ready, served_.back().at), &r});
  }
  /// Answered requests of other SMs, in the order in which they leave.
  struct Served {
    Cycle at = 0;  ///< from when on it can be sent
    Request* request = nullptr;
  };
  static constexpr std::size_t kMostServed = 16;
  [[nodiscard]] std::deque<Served>& served() { return served_; }
  [[nodiscard]] const std::deque<Served>& served() const { return served_; }
  /// The same, loosely timed: whatever the banks do.
  [[nodiscard]] Cycle serve_loosely(Cycle at, Request& r, std::uint64_t line);
  /// When a wait for a phase is due: it gives up, or looks at the phase again, as another CTA has completed
  /// one. kNever: none is.
  [[nodiscard]] Cycle waits_due() const { return waits_due_; }
  /// Tells a CTA of a cluster something; the answer, whose token is kSignal, has `cta` as its warp. Pre: the
  /// port is ready.
  void send_signal(Cycle now, const ClusterAddress& to, unsigned cta);
  static constexpr unsigned kSignal = 0xFFFE;
  /// Tokens of what bulk copies ask of other CTAs have this bit, beside that of kSignal.
  static constexpr unsigned kOfBulk = 0x8000;
  [[nodiscard]] static constexpr bool is_of_bulk(unsigned token) {
    return (token & kOfBulk) != 0 && token < kSignal;
  }
  /// Whether signals wait to be sent. They go before what warps access.
  void hold_network(bool held) { network_held_ = held; }
  /// Whether a bulk copy may send a request of its own to the network, as far as signals and the port are
  /// concerned: if not, the owner will be woken.
  [[nodiscard]] bool network_ready(Cycle now) { return ports_.to_network->ready(now) && !network_held_; }
  /// Whether it may, as far as warps' accesses are, that want it in the same cycle: both take turns.
  [[nodiscard]] bool is_turn_of_bulk() const { return !head_.network_wanted || !bulk_had_network_; }
  /// It does. Answers with its token are the bulk copies'. Pre: both.
  void send_bulk(Cycle now, Request* r) {
    ++cluster_->bulk_requests;
    bulk_had_network_ = true;
    ports_.to_network->send(now, {r});
  }
  /// When advance() next has something to do, if that is known: kNever if the unit waits for a port.
  [[nodiscard]] Cycle next_work(Cycle now) const {
    if (entries_.queued() == 0) return waits_due_;
    const Cycle at = std::max(entries_[entries_.front()].at, head_.busy_until);
    if (at > now) return std::min(at, waits_due_);
    if (head_.not_before > now) return std::min(head_.not_before, waits_due_);
    if (head_.wants_shared && banks_free_ > now) return std::min(banks_free_, waits_due_);
    return head_.line_held || (head_.crowded && !bulk_->has_room()) || head_.network_wanted
               ? waits_due_
               : owner_.domain().after(now, 1);
  }
  [[nodiscard]] bool idle() const {
    return entries_.in_use() == 0 && entries_.parked() == 0 && past_queue_ == 0 && served_.empty();
  }
  template <class Archive>
  void archive(Archive& a) {
    // Pre: idle().
    a(head_.busy_until, banks_free_, atomics_free_, shared_atomics_free_, shared_atomic_slot_, remote_last_,
      bulk_had_network_, last_number_, same_number_, counters_);
  }
  /// Says, as `who`, that `messages` wait for the port to the network.
  void explain_network(const std::string& who, std::size_t messages, std::vector<Wait>& waits) const {
    const Out<RequestMessage>& port = *ports_.to_network;
    waits.push_back(
        {who, port.room() + ", with " + std::to_string(messages) + " messages to go", {port.other_side()}});
  }
  [[nodiscard]] const Fault& last_fault() const { return last_fault_; }
  [[nodiscard]] const LsuCounters& counters() const { return counters_; }
  /// Says, as `who`, what the entry whose lines are being sent waits for.
  void explain(const std::string& who, std::vector<Wait>& waits) const;
  [[nodiscard]] SharedMemory& shared() { return shared_; }
  /// A bulk copy is at fault.
  void count_fault() { ++counters_.faults; }
  /// What a parked wait of the warp waits for: "the mbarrier at 0x40 of shared memory: its phase lacks 1 of 4
  /// arrivals"; empty: it has none.
  [[nodiscard]] std::string describe_wait(unsigned slot) const;
  /// The same of the object at an offset of the shared memory that begins at `base`.
  [[nodiscard]] std::string describe_mbarrier(std::uint64_t base, std::uint64_t offset) const;

 private:
  /// The oldest entry of the queue, as far as it has been worked off.
  struct Head {
    bool started = false;
    bool line_held = false;       ///< `line` waits for its port, or for the answer to an earlier one
    bool crowded = false;         ///< bulk copies wait for room
    bool wants_shared = false;    ///< lanes are in shared memory, whose turn has not come yet
    bool network_wanted = false;  ///< something waits for the port to the network
    LaneMask mbarriers = 0;       ///< lanes that have yet to ask something of an mbarrier in another CTA
    LineAccess line;
    AccessLines lines;      ///< those behind `line`
    Cycle busy_until = 0;   ///< shared-memory banks, or those of L1
    Cycle banks_until = 0;  ///< L1's, for the access that is begun
    Cycle not_before = 0;   ///< an atomic begins, for those before it
    /// Nothing is begun. The banks stay busy.
    void clear() {
      started = line_held = crowded = wants_shared = network_wanted = false;
      mbarriers = 0;
      banks_until = not_before = 0;
      line = {};
      lines.clear();
    }
  };
  /// mbarrier.try_wait that waits for lanes' phases.
  struct ParkedWait {
    unsigned entry = 0;
    Cycle due = 0;      ///< when it gives up
    LaneMask open = 0;  ///< lanes whose phase is not complete yet
  };
  void advance_head(Cycle now, std::vector<LsuEvent>& events);
  [[nodiscard]] bool move_whole_line(LsuEntry& e);
  [[nodiscard]] bool move_lanes(LsuEntry& e);
  [[nodiscard]] bool perform_line(Cycle now, LsuEntry& e, unsigned index, bool faulted,
                                  std::vector<LsuEvent>& events);
  [[nodiscard, gnu::always_inline]] inline bool send_plain_line(Cycle now, unsigned index, LsuEntry& e);
  void begin_head(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  [[nodiscard]] Cycle banks_of_whole_line(Cycle now) const {
    return owner_.domain().after(now, whole_line_cycles_);
  }
  void pace_atomic(Cycle now, const LsuEntry& e);
  [[nodiscard]] bool may_perform_shared(Cycle now) const {
    return banks_free_ <= now && (from_cluster_ == nullptr || remote_last_ || !remote_waits(now));
  }
  [[nodiscard]] bool remote_waits(Cycle now) const {
    return from_cluster_->ready(now) && takes_requests() &&
           ClusterAddress::of(from_cluster_->front().request->line).signal == ClusterAddress::Signal::none;
  }
  void perform_shared(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  [[nodiscard]] bool hand_over(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  [[nodiscard]] static std::optional<Fault> aim(BulkOrder& o);
  [[nodiscard]] static std::optional<Fault> check_bulk(const BulkOrder& o, const LsuEntry& e);
  void perform_mbarrier(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  [[nodiscard]] LaneMask look_at_phases(LsuEntry& e, LaneMask lanes);
  void park(Cycle now, unsigned index, std::uint64_t cycles, LaneMask open);
  void wake_waits(Cycle now, std::vector<LsuEvent>& events);
  void end_due_waits(Cycle now, std::vector<LsuEvent>& events);
  void end_wait(Cycle now, const ParkedWait& wait, std::vector<LsuEvent>& events);
  void set_due();
  void begin_remote(const MemOp& op, LaneMask lanes);
  [[nodiscard]] unsigned cycles_of_l1(unsigned bytes) const {
    return (bytes + parameters_.l1_bytes_per_cycle - 1) / parameters_.l1_bytes_per_cycle;
  }
  [[nodiscard]] static unsigned passes_of_fill(const LsuEntry& e);
  void perform_further(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  void serve_mbarriers(Cycle at, Request& r, std::uint64_t line);
  [[nodiscard]] bool send_mbarriers(Cycle now, unsigned index);
  void tell_own_mbarriers(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  [[nodiscard]] bool may_use_network(Cycle now);
  [[nodiscard]] MbarrierStatus operate_at(std::uint64_t at, const MemOp& op, std::uint32_t count);
  void await_copies(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  void copy_done(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  /// The entry is done. Pre: its results are on their way.
  void complete(Cycle now, unsigned index, LsuEntry& e, std::vector<LsuEvent>& events) {
    if (e.tracked) copy_done(now, index, events);
    if (e.texels != nullptr) combine_texels(e);
    events.push_back({LsuEvent::Kind::completed, e.slot, index, std::max(e.ready, now)});
  }
  bool arrive_for_copies(Cycle now, const CopyArrivals::Arrival& arrival, unsigned index,
                         std::vector<LsuEvent>& events);
  [[nodiscard]] Cycle readable(Cycle now, unsigned cycles) const {
    return owner_.domain().after(now, cycles - 1 + parameters_.shared_latency - parameters_.issue_latency);
  }
  void prepare_image(LsuEntry& e);
  void combine_texels(LsuEntry& e);
  [[nodiscard]] bool send_line(Cycle now, unsigned index);
  [[nodiscard]] bool send_any_line(Cycle now, unsigned index);
  [[gnu::always_inline]] inline void send_plain(Cycle now, unsigned index, LsuEntry& e,
                                                const LineAccess& line, const Mapping& memory,
                                                Out<RequestMessage>& port);
  [[nodiscard]] bool shares_cycle(const LsuEntry& e) const;
  void take_l1_banks(Cycle now, const LsuEntry& e);
  void take_banks(Cycle now, unsigned passes, unsigned bytes);
  void count_line(const LineAccess& line, MemKind kind, SmCache cache, Reader reader);
  void count_lanes(const LineAccess& line, MemKind kind);
  [[nodiscard]] Reader reader_of(const LsuEntry& e) const;
  /// Where what is asked of a cache goes: L1 may be the texture cache, too.
  [[nodiscard]] SmCache served_by(SmCache cache) const {
    return parameters_.unified_l1 && cache == SmCache::texture ? SmCache::l1_lg : cache;
  }
  void send_maintenance(Cycle now, unsigned index);
  [[nodiscard]] bool drops_lines_of_ports(const CacheMaintenance& m) const;
  void finish_head(Cycle now, std::vector<LsuEvent>& events);
  void note_dropped(Cycle now, unsigned index, std::vector<LsuEvent>& events);
  void report_fault(Cycle now, const Fault& fault, unsigned index, std::vector<LsuEvent>& events);
  /// As last_fault(): `e` is the access.
  void keep_fault(Cycle now, const Fault& fault, const LsuEntry& e);
  [[nodiscard]] SmCache cache_for(const LsuEntry& e, Space space) const;
  [[nodiscard, gnu::always_inline]] inline Request* new_request(Cycle now, unsigned slot, unsigned token);
  [[gnu::always_inline]] inline void number(Cycle now, Request& r);
  void number_further(Request& r);
  [[nodiscard]] Request* new_maintenance(Cycle now, const CacheMaintenance& m, unsigned slot, unsigned token);
  [[nodiscard]] LaneResults results_of(LsuEntry& e) {
    return {e.access, shared_, e.shared_base, e.texels.get()};
  }

  /// Token of a request that has no entry, since it went past the queue. There are fewer entries than this.
  static constexpr unsigned kPastQueue = 0xFFFF;

  SmParameters parameters_;
  Component& owner_;
  LsuPorts ports_;
  SmNumber sm_;
  RequestHead fresh_;  ///< how a request is made
  AddressResolution resolution_;
  RequestBuilder builder_;
  SharedMemory shared_;
  LsuEntries entries_;
  std::vector<ParkedWait> waits_;  ///< in the order in which they were parked
  Cycle waits_due_ = kNever;       ///< when the first of them gives up, or they look again
  Cycle look_at_ = kNever;         ///< when all look again, as another CTA has completed a phase
  CopyArrivals arrivals_;
  BulkSink* bulk_ = nullptr;
  SharedObserver* observer_ = nullptr;
  SmProfile* profile_ = nullptr;
  unsigned whole_line_cycles_;  ///< for which a load of a line takes L1's banks
  Head head_;
  bool with_data_ = true;
  VidmemAccess* vidmem_ = nullptr;       ///< null: the run is not functional
  const AddressSpace* space_ = nullptr;  ///< of the kernel
  const Mapping* hint_ = nullptr;        ///< the mapping found last in it
  AccessLines lines_now_;                ///< of the access that is performed at once
  Cycle banks_free_ = 0;                 ///< of shared memory
  Cycle atomics_free_ = 0;               ///< from when on the next atomic of global memory goes
  Cycle shared_atomics_free_ =
      0;  ///< likewise, of shared memory, of the warp whose atomic was the last there
  std::uint64_t shared_atomic_slot_ = 0;
  bool remote_last_ = false;                          ///< another CTA's request had them last
  const In<RequestMessage>* from_cluster_ = nullptr;  ///< null: there is no network between SMs
  ClusterCounters* cluster_ = nullptr;                ///< likewise
  bool network_held_ = false;
  bool bulk_had_network_ = false;  ///< a bulk copy sent there last
  std::deque<Served> served_;
  unsigned exact_reads_ = 0;   ///< exact reads sent and not yet answered: 0 or 1
  unsigned exact_lane_ = 0;    ///< the lane that such a read is of
  unsigned past_queue_ = 0;    ///< invalidations that went past the queue, not yet answered
  unsigned invalidating_ = 0;  ///< invalidations that were sent to one of several ports, not yet answered
  unsigned passing_ = 0;       ///< what changes memory and was sent to one of several ports, not yet answered
  std::uint64_t last_number_ = 0;
  unsigned same_number_ = 0;  ///< requests that had it before the last one
  Fault last_fault_;
  LsuCounters counters_;
};

}  // namespace warpline
