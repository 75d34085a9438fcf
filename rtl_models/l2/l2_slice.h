#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/cache/fill_patience.h"
#include "rtl_models/cache/posted_writes.h"
#include "rtl_models/cache/write_tracker.h"
#include "rtl_models/l2/coherence_observer.h"
#include "rtl_models/l2/l2_core.h"
#include "rtl_models/l2/written_destinations.h"
#include "rtl_models/sim/channel.h"

namespace warpline {

/// One L2 slice, in time.
///
/// Contract: one request from the crossbar is looked up per cycle, in arrival order, hits past
/// misses; one response per cycle. Writes and control requests are answered when they are performed: a
/// prefetch of video memory at once, a prefetch of system memory when the line has come. A `maintain` request
/// is answered when the system-memory bytes that were dirty when it arrived are on the link (R7). One that
/// writes them back is answered when all posted writes sent over the link before it have arrived. For that
/// the slice sends a read of no byte behind them, to each destination that was written (WrittenDestinations),
/// and waits for the answers (R11).
///
/// An atomic is performed when it is looked up, and answered when the atomics unit is done with it. So is a
/// write of part of a sector, while which is merged no new request is looked up. Of two
/// partitions, what SMs of the other one ask for is answered later by the way there and back, and takes turns
/// on it by its bytes.
class L2Slice final : public Component, public LooseTarget, private WriteBackSink {
 public:
  /// `dram_ports`: DRAM channels that this slice uses; its lines spread over them.
  L2Slice(Engine& engine, std::string name, ClockDomain domain, const L2Parameters& parameters,
          MemoryImage* vidmem, unsigned dram_ports);

  In<RequestMessage> from_crossbar{*this, "from_crossbar"};
  Out<ResponseMessage> to_crossbar{*this, "to_crossbar"};
  std::deque<Out<RequestMessage>> to_dram;
  std::deque<In<ResponseMessage>> from_dram;
  Out<RequestMessage> to_pcie{*this, "to_pcie"};
  In<ResponseMessage> from_pcie{*this, "from_pcie"};

  Cycle tick(Cycle now) override;
  void perform(Request& r, Cycle& at) override;
  void restart() override {
    core_.clear();
    written_.clear();
    forget_times();
    atomics_line_ = PhysicalAddress{~std::uint64_t{0}};
  }
  void archive(StateArchive& a) override {
    a(core_, written_, atomics_line_.value);
    if (!a.saves()) forget_times();
  }
  [[nodiscard]] bool busy() const override {
    return late_ != 0 || !served_.empty() || out_count_ != 0 || !again_.empty() ||
           core_.misses().in_use() != 0 || !sysmem_writes_.idle();
  }
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  /// Which slice it is: see L2Core::set_place.
  void set_place(const L2Core::Place& place) { core_.set_place(place, parameters_); }
  /// Tells `observer` of the crossbar's requests from now on; null: nobody. It outlives its use.
  void observe(CoherenceObserver* observer) { observer_ = observer; }
  void in_flight(std::vector<InFlight>& rows) const override;
  /// Has what it writes back to video memory carry its bytes, as they are when they leave the cache; if not,
  /// these messages cost time and say only which bytes they are.
  void set_write_back_bytes(bool carried) { write_back_bytes_ = carried && core_.vidmem() != nullptr; }
  /// The number of the DRAM port by which it reaches a line of video memory.
  [[nodiscard]] unsigned dram_port_of(PhysicalAddress line) const {
    return static_cast<unsigned>(line_number(line) / slices_ % dram_out_.size());
  }
  /// For a debugger: writes that are on their way to DRAM or the link. Noted once it watches.
  [[nodiscard]] PostedWrites& posted() { return posted_; }
  /// Whether atomics that leave over the link end there in a posted write (PcieAtomicWay::read_and_write).
  void set_posted_atomics(bool posted) { posted_atomics_ = posted; }
  /// The size of the naturally aligned blocks of the peer aperture that lead to one device each: a power of
  /// two. WrittenDestinations::kBlockBytes unless set. Pre: nothing was written.
  void set_peer_block(std::uint64_t bytes) { written_.set_block(bytes); }
  /// Drops its copies of system memory, which the host may have written since: a grid is ordered after all
  /// that the host did before it. Pre: quiescent, and releases have written back what was dirty.
  void forget_system_memory() { core_.maintain_sysmem(true, *this); }
  /// For counters of regions, debuggers, and tests that set up a scene.
  [[nodiscard]] L2Core& core() { return core_; }
  [[nodiscard]] const L2Counters& counters() const { return core_.counters(); }

 private:
  void write_back(const WriteBack& w) override;
  [[nodiscard, gnu::always_inline]] inline bool accept(Request& r);
  [[nodiscard]] bool accept_new(Request& r);
  [[nodiscard, gnu::always_inline]] inline bool look_up_next(Cycle now);
  [[nodiscard, gnu::always_inline]] inline bool follow(Request& r, const L2Outcome& out);
  void maintain(Request& r);
  void flush(const Request& r, PhysicalAddress line);
  void pass_on(Request* r);
  void note_posted(const Request& r);
  void handle_response(Request& r);
  void answer(Request* r) {
    // A read that does not go to the other partition is late for nothing.
    if (!answers_late_ || (r->command == Command::read && !r->far)) return served_.push(r);
    answer_late(r);
  }
  void answer_late(Request* r);
  void pass_answer(Request* r) { r->far ? send_far(r) : served_.push(r); }
  /// Whether a write of parts of sectors keeps the slice from looking up further requests.
  [[nodiscard]] bool merges() const { return merged_ > edge_; }
  /// The edge of what is done by `edge`: a later one than that of the tick under way.
  [[nodiscard]] std::uint64_t later(std::uint64_t edge) const { return std::max(edge, edge_ + 1); }
  void answer_loosely(Request* r);
  void send_far(Request* r);
  void arrive_far(const NearCopies::Transfer& transfer);
  bool release_late(Cycle now);
  /// Time may begin anew. Pre: nothing is answered late.
  void forget_times() {
    atomics_free_ = merged_ = 0;
    to_far_ = from_far_ = {};
  }
  void settle_answers(Cycle at);
  [[nodiscard]] Cycle next_due() const;
  /// What is answered in a later cycle.
  struct Late {
    Cycle due = 0;
    Request* request = nullptr;  ///< null: those who wait for the transfer
    NearCopies::Transfer transfer;
  };
  void add_late(std::deque<Late>& late, const Late& l) {
    late.push_back(l);
    ++late_;
  }
  void fetch(const Request& r, const L2Outcome& out);
  void queue(RequestQueue& out, Request* r) {
    out.push(r);
    ++out_count_;
  }
  [[nodiscard]] RequestQueue& towards(PhysicalAddress line) {
    if (aperture_of(line) != Aperture::vidmem) return pcie_out_;
    return dram_out_.size() == 1 ? dram_out_[0] : dram_out_[dram_port_of(line)];
  }
  [[nodiscard]] Awaited all_writes() const { return {this, Awaited::kAny, Awaited::kAny, true}; }
  [[nodiscard]] bool send(RequestQueue& out, Out<RequestMessage>& port, Cycle now) {
    if (out.empty() || !port.ready(now)) return false;
    port.send(now, {take(out)});
    return true;
  }
  [[nodiscard]] Request* take(RequestQueue& out) {
    --out_count_;
    return out.pop();
  }
  Cycle perform_outgoing(Cycle sent);

  static constexpr unsigned kFillLimit = 4;       ///< answers held before fills wait
  static constexpr unsigned kServedLimit = 8;     ///< answers held before requests wait
  static constexpr unsigned kOutgoingLimit = 16;  ///< requests to the memories held before input waits
  /// One way of the link between the partitions.
  struct FarWay {
    std::uint64_t sent = 0;  ///< bytes that it had sent, would it never have been idle, when it is free
    /// `count` bytes are sent from `edge` on: the edge by which they are.
    std::uint64_t send(std::uint64_t edge, std::uint64_t count, unsigned bytes_per_cycle) {
      if (bytes_per_cycle == 0) return edge;
      sent = std::max(sent, edge * bytes_per_cycle) + count;
      return (sent + bytes_per_cycle - 1) / bytes_per_cycle;
    }
  };
  L2Core core_;
  L2Parameters parameters_;
  bool answers_late_;       ///< some requests are
  bool loose_ = false;      ///< a request is performed loosely timed
  std::uint64_t edge_ = 0;  ///< the number of the edge of the tick under way
  std::deque<Late> atomics_, merging_, far_reads_, far_writes_;  ///< each in the order of their cycles
  unsigned late_ = 0;                                            ///< what they hold
  std::uint64_t atomics_free_ = 0;                   ///< when the atomics unit is, in kAtomicParts of an edge
  PhysicalAddress atomics_line_{~std::uint64_t{0}};  ///< of its last request
  std::uint64_t merged_ = 0;                         ///< the edge by which all of `merging_` are
  FarWay to_far_, from_far_;
  unsigned slices_;
  CoherenceObserver* observer_ = nullptr;
  std::vector<RequestQueue> dram_out_;
  RequestQueue pcie_out_;
  unsigned out_count_ = 0;
  FillPatience fill_patience_;
  RequestQueue served_;
  PostedWrites posted_;
  RequestList again_;  ///< to be looked up again, before any new request (R5)
  /// The request that found no miss register when it was looked up last: it finds none until something comes
  /// back, from below or from the other partition. Null: there is none.
  const Request* refused_ = nullptr;
  WriteTracker sysmem_writes_;  ///< our write-backs and flushes that the link has not answered
  WrittenDestinations written_;
  bool posted_atomics_ = false;
  bool write_back_bytes_ = false;
  RequestList maintained_;
};

}  // namespace warpline
