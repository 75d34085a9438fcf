#pragma once

#include <deque>
#include <string>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/cache/fill_patience.h"
#include "rtl_models/cache/l1_port.h"
#include "rtl_models/cache/posted_writes.h"
#include "rtl_models/cache/write_tracker.h"
#include "rtl_models/l1_lg/l1_lg_core.h"
#include "rtl_models/sim/channel.h"

namespace warpline {

/// L1 local/global cache of one SM, in time.
///
/// Contract: one request from the SM and one response to it per cycle and port; hits go past misses that
/// wait (hit under miss); requests leave for L2 in the order of the SM's requests (R5). A write or
/// reduction is answered when it has passed L1 (R4), control of a line at once, a `maintain` request when
/// what it asks for has happened: writes sent before it performed at L2 (R3), L2's system-memory duties done
/// (R7), global and surface lines invalidated (R6, R8), local ones written back and invalidated. While local
/// lines are being written back, one per cycle, the SM's requests wait.
class L1Lg final : public Component, public LooseTarget {
 public:
  /// `ports`: for an SM with several (SmParameters::l1_ports), a power of two.
  L1Lg(Engine& engine, std::string name, ClockDomain domain, const L1LgParameters& parameters, bool with_data,
       unsigned ports = 1);

  static constexpr TakenCommands kTaken{};
  In<RequestMessage> from_sm{*this, "from_sm"};
  Out<ResponseMessage> to_sm{*this, "to_sm"};
  /// One of several ports but the first.
  struct Port {
    Port(L1Lg& l1, unsigned number)
        : from_sm(l1, "from_sm[" + std::to_string(number) + "]"),
          to_sm(l1, "to_sm[" + std::to_string(number) + "]") {}
    In<RequestMessage> from_sm;
    Out<ResponseMessage> to_sm;
  };
  /// Number 1 and on.
  [[nodiscard]] std::deque<Port>& more_ports() { return more_; }
  Out<RequestMessage> to_crossbar{*this, "to_crossbar"};
  In<ResponseMessage> from_crossbar{*this, "from_crossbar"};

  Cycle tick(Cycle now) override;
  void perform(Request& r, Cycle& at) override;
  /// For debuggers, and tests that set up a scene.
  [[nodiscard]] ReadPath& path() { return core_.path(); }
  /// A debugger may come: what is on its way from here is noted from now on.
  void serve_debuggers() { posted_.watch(); }
  /// For a debugger: writes that have been answered here and are not performed at L2. Who knows that one is
  /// performed, before L2's answer is here, says so.
  [[nodiscard]] PostedWrites& posted() { return posted_; }
  /// For a debugger: lays what is newer here over `bytes`, which are memory's, at `address` and on, within
  /// one line.
  void overlay(PhysicalAddress address, std::uint8_t* bytes, unsigned count) {
    posted_.overlay(address, bytes, count);
    path().overlay(address, bytes, count);
  }
  /// For a debugger: memory has been written; so is what is here of it.
  void update(PhysicalAddress address, const std::uint8_t* bytes, unsigned count) {
    posted_.update(address, bytes, count);
    path().update(address, bytes, count);
  }
  [[nodiscard]] bool busy() const override {
    return answers() != 0 || !outgoing_.empty() || core_.misses().in_use() != 0 || !writes_.idle() ||
           !surface_writes_.idle() || !flushing_.empty();
  }
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void in_flight(std::vector<InFlight>& rows) const override;
  void restart() override { core_.clear(); }
  void archive(StateArchive& a) override { a(core_); }
  /// Drops global lines and those of surfaces, as the driver does between grids. Pre: quiescent.
  void invalidate_global() {
    core_.invalidate_global();
    core_.invalidate_surfaces();
  }
  /// Drops local lines, dirty ones too, when local memory is laid out anew. Pre: quiescent.
  void forget_local() { core_.forget_local(); }
  /// Leaves `bytes` of the storage to shared memory from now on. A change drops all lines, of local memory
  /// dirty ones, too. Pre: less than all of it, in whole sets; quiescent.
  void leave_to_shared(std::uint64_t bytes) { core_.leave_to_shared(bytes); }
  [[nodiscard]] const L1LgCounters& counters() const { return core_.counters(); }

 private:
  enum class Accepted : std::uint8_t {
    no,      ///< nothing happened: ask again
    yes,     ///< it is among the answers, now or later
    answer,  ///< it can be answered now, by the caller
  };
  /// Token of a fetch or write of our own is its miss register or write epoch; a request of the
  /// SM's that only passes through keeps the SM's token and is told by its maker.
  [[nodiscard]] Accepted accept(Request& r);
  /// A port as the cache itself sees it.
  struct Side {
    In<RequestMessage>* from = nullptr;
    Out<ResponseMessage>* to = nullptr;
    RequestQueue served;  ///< answers
  };
  void send_answer(Cycle now, Side& side, Request* r) {
    side.to->send(now, {r});
    fill_patience_.sent();
  }
  /// Takes the request that is first at a port, if that can be, and answers a hit if nothing is before it.
  /// Whether it did.
  [[gnu::always_inline]] inline bool take(Cycle now, Side& side);
  [[gnu::always_inline]] inline bool answer(Cycle now, Side& side);
  /// The answers that leave by the port by which `r` came.
  [[nodiscard]] RequestQueue& answers_of(const Request& r) {
    return sides_[l1_port_of(r.virtual_line, ports_)].served;
  }
  [[nodiscard]] std::size_t answers() const {
    std::size_t n = 0;
    for (const Side& s : sides_) n += s.served.size();
    return n;
  }
  void settle_all(Cycle at) {
    for (Side& s : sides_) settle(s.served, at);
  }
  [[nodiscard, gnu::always_inline]] inline Accepted accept_read(Request& r);
  [[nodiscard]] bool has_room_to_prefetch(const Request& r) const;
  void prefetch_other_line(Request& r);
  void accept_write(Request& r);
  void accept_control(const Request& r);
  void handle_response(Request& r);
  void perform_outgoing(Cycle sent);
  void advance_drained();
  void finish_maintenance(Request& r);
  void flush_one();
  void flush();
  void write_back(const Evicted& evicted, const Request& cause);
  Request& fetch(const Request& r, const ReadOutcome& out);
  Request* child_of(const Request& r, Command command) {
    Request* c = pool().allocate_child(r, this);
    c->command = command;
    return c;
  }
  void queue_out(Request* r);
  [[nodiscard]] std::uint64_t outstanding_writes() const {
    return writes_.outstanding() + surface_writes_.outstanding();
  }
  [[nodiscard]] Awaited all_writes() const { return {this, Awaited::kAny, Awaited::kAny, true}; }

  L1LgCore core_;
  bool with_data_;
  unsigned out_capacity_;
  PostedWrites posted_;
  WriteTracker writes_;          ///< generic writes, atomics, reductions and discards
  WriteTracker surface_writes_;  ///< writes of the surface proxy, which a release does not wait for (R8)
  /// Fills wait when this many answers are queued, and requests when this many are. The limit of requests is
  /// higher, or fills could keep requests out for ever where answers leave slowly.
  static constexpr unsigned kFillLimit = 2;
  static constexpr unsigned kHitLimit = 4;
  FillPatience fill_patience_;
  std::deque<Port> more_;      ///< the ports but the first
  unsigned ports_;             ///< all of them
  std::vector<Side> sides_;    ///< likewise
  RequestQueue outgoing_;      ///< for the crossbar, in order
  unsigned fetches_ = 0;       ///< fetches under way; each may need a place for a write-back
  RequestList half_drained_;   ///< maintenance whose generic writes are performed
  RequestList drained_;        ///< maintenance whose surface stores are performed, too, if it waits for them
  RequestList flushing_;       ///< maintenance that waits for local lines to be written back
  std::uint32_t flushed_ = 0;  ///< lines that the first request in flushing_ has looked at
};

}  // namespace warpline
