#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/crossbar/crossbar_core.h"
#include "rtl_models/crossbar/crossbar_network.h"
#include "rtl_models/crossbar/resting_requests.h"
#include "rtl_models/sim/arbiter.h"
#include "rtl_models/sim/arrivals.h"
#include "rtl_models/sim/channel.h"

namespace warpline {

/// What passed through a crossbar. At quiescence request_messages equals response_messages, network_requests
/// equals network_replies, and read_sectors_requested equals response_sectors and the translation's
/// walk_reads.
struct CrossbarCounters {
  std::uint64_t request_messages = 0;
  std::uint64_t response_messages = 0;
  std::uint64_t maintenance_requests = 0;
  std::uint64_t maintenance_copies = 0;
  std::uint64_t beats = 0;
  std::uint64_t reply_beats = 0;
  std::uint64_t request_sectors = 0;
  std::uint64_t response_sectors = 0;
  std::uint64_t read_sectors_requested = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t network_requests = 0;
  std::uint64_t network_replies = 0;
  std::uint64_t network_waits = 0;

  template <class F>
  void visit(F&& f) const {
    f("request_messages", request_messages, "requests", "taken from the clients");
    f("response_messages", response_messages, "responses", "given to the clients");
    f("maintenance_requests", maintenance_requests, "requests", "of them, copied to every slice");
    f("maintenance_copies", maintenance_copies, "requests", "copies sent to slices");
    f("beats", beats, "beats", "sent to slices, by walks too, and to clients");
    f("reply_beats", reply_beats, "beats", "of them, to clients");
    f("request_sectors", request_sectors, "sectors", "of writes, carried to slices");
    f("response_sectors", response_sectors, "sectors", "of reads, carried to clients");
    f("read_sectors_requested", read_sectors_requested, "sectors",
      "asked for by reads sent to slices, by walks too");
    f("conflicts", conflicts, "turns", "that a waiting message lost to another for the same output");
    f("network_requests", network_requests, "requests", "of SMs, that came through TPCs and GPCs");
    f("network_replies", network_replies, "responses", "to SMs, that went through GPCs and TPCs");
    f("network_waits", network_waits, "messages", "that waited for a TPC, a GPC or a slice's way to an SM");
  }
};

/// Connects clients (the four caches of each SM, and the link where requests come in by it) to L2 slices,
/// both ways, and to switches between GPUs, if there are any: those are outputs beside the slices, for what
/// is asked of the memory of several GPUs, and clients, for what other GPUs ask of this one's.
///
/// In a cycle every output sends at most one message and every input gives at most one; all
/// outputs work at once. An output that is free and has several inputs waiting takes them round
/// robin, the turn passing on grants only, so that a waiting head lets every other input pass
/// once at most. Each input is a queue: messages of one client to one slice stay in order (R5),
/// and a head that waits holds up what is behind it.
///
/// Drawn turns (draw_turns) also have requests rest for a while that is drawn (RestingRequests). A
/// maintenance request waits until its client has none there.
///
/// Where there is a network (NetworkParameters), messages are taken from their ports as they come, while it
/// has room for more of that client or slice, and pass it: so a message that waits holds up none to another
/// output. Each output then sends them first come, first served. A maintenance request waits until none of
/// its client is in the network, and its copies pass it by.
///
/// Where walks through page tables read (TranslationParameters), it is a client of the slices itself: their
/// reads come from the engine's pool, leave like all others, and their answers go back there. What was read
/// is not looked at, nor whether it could be. Loosely timed, a request whose page is walked for does not
/// wait.
///
/// A maintenance request goes to every slice: it stays at the head of its client's queue until a
/// copy has left by each output, possibly by several in one cycle, and is answered when all
/// slices have answered. Copies come from the engine's pool and go back there.
///
/// Owns `route` of the requests that pass, and all of those that walks make. Latency: none of its own beyond
/// its channels'.
class Crossbar final : public Component, public LooseTarget {
 public:
  /// `places`: of each client in the network; none: there is no network, whatever the parameters say. Pre:
  /// clients and slices are 1 to 65536, with the switches, too.
  Crossbar(Engine& engine, std::string name, ClockDomain domain, const CrossbarParameters& parameters,
           unsigned clients, unsigned slices, CrossbarWidths widths, unsigned switches = 0,
           const std::vector<NetworkPlace>& places = {});

  [[nodiscard]] In<RequestMessage>& from_client(unsigned i) { return *from_client_[i]; }
  [[nodiscard]] Out<ResponseMessage>& to_client(unsigned i) { return *to_client_[i]; }
  [[nodiscard]] Out<RequestMessage>& to_l2(unsigned i) { return *to_l2_[i]; }
  [[nodiscard]] In<ResponseMessage>& from_l2(unsigned i) { return *from_l2_[i]; }
  [[nodiscard]] Out<RequestMessage>& to_switch(unsigned i) { return *to_l2_[slices_ + i]; }
  [[nodiscard]] In<ResponseMessage>& from_switch(unsigned i) { return *from_l2_[slices_ + i]; }

  Cycle tick(Cycle now) override;
  void perform(Request& r, Cycle& at) override;
  void restart() override {
    down_.restart();
    up_.restart();
    if (network_ != nullptr) network_->restart();
  }
  void archive(StateArchive& a) override {
    a(down_, up_, resting_, counters_);
    if (network_ != nullptr) a(*network_);
  }
  [[nodiscard]] bool busy() const override {
    return core_.maintenance_under_way() != 0 || finished_ != 0 || !resting_.empty() ||
           (network_ != nullptr && network_->held() != 0);
  }
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void draw_turns(Random& random) override {
    down_.draw_turns(random);
    up_.draw_turns(random);
    resting_.draw(random);
  }
  void in_flight(std::vector<InFlight>& rows) const override;
  /// See RestingRequests. Pre: turns are drawn (draw_turns).
  void set_gate(const Gate<RequestMessage>* gate) { resting_.set_gate(gate); }
  void let_go(Cycle at) {
    resting_.let_go(at);
    wake(at);
  }

  /// See Translation::place_tables; without translation, there are none.
  void place_page_tables(std::uint64_t vidmem_bytes) {
    if (network_ != nullptr && network_->translation() != nullptr)
      network_->translation()->place_tables(vidmem_bytes);
  }

  [[nodiscard]] const CrossbarCore& core() const { return core_; }
  [[nodiscard]] const CrossbarCounters& counters() const { return counters_; }
  /// Null: there is none.
  [[nodiscard]] const CrossbarNetwork* network() const { return network_.get(); }
  /// Null: translation takes no time.
  [[nodiscard]] const Translation* translation() const {
    return network_ == nullptr ? nullptr : std::as_const(*network_).translation();
  }

 private:
  /// Of a client whose head is a maintenance request.
  struct Copying {
    unsigned left = 0;  ///< copies not yet sent
    std::uint16_t number = 0;
  };
  /// Performs loosely timed what comes in by one port, where it matters by which.
  struct Entrance final : LooseTarget {
    Entrance(Crossbar& c, unsigned n) : crossbar(c), client(n) {}
    void perform(Request& r, Cycle& at) override { crossbar.perform_from(client, r, at); }
    Crossbar& crossbar;
    unsigned client;
  };
  void perform_from(unsigned client, Request& r, Cycle& at);
  void perform_walk(const Request& r, Cycle& at);
  [[nodiscard]] unsigned route_of(const Request& r) const;
  [[nodiscard]] Cycle advance_resting(Cycle now);
  // With a network.
  [[nodiscard]] Cycle tick_network(Cycle now);
  [[nodiscard]] bool may_enter(unsigned client) const;
  // What is done for every message on its way, and in one place, is done there.
  [[gnu::always_inline]] inline void enter_network(Cycle now, std::uint64_t edge, unsigned client);
  void count_entry(unsigned client, bool waits) {
    if (network_->inside(client)) ++counters_.network_requests;
    counters_.network_waits += waits;
  }
  [[gnu::always_inline]] inline void reply_network(Cycle now, std::uint64_t edge, unsigned output);
  // Where walks read page tables.
  [[nodiscard]] bool walks_read() const { return walks_client_ != kNoClient; }
  [[nodiscard]] Cycle advance_walks(std::uint64_t edge);
  [[nodiscard]] Request* make_read(std::uint64_t page, unsigned level, const RequestHead& on_behalf);
  void list_untranslated(std::vector<InFlight>& rows) const;
  void send_request(Cycle now, unsigned output);
  void send_reply(Cycle now, unsigned client);
  void enter_request(Cycle now, unsigned client);
  void begin_maintenance(unsigned client) {
    copying_[client] = {slices_, core_.begin_maintenance(from_client_[client]->front().request)};
    for (unsigned slice = 0; slice < slices_; ++slice) down_.ask(slice, client);
  }
  void enter_response(Cycle now, unsigned slice);
  void grant_request(Cycle now, unsigned slice);
  void grant_response(Cycle now, unsigned client);
  Request* copy_for_slice(unsigned client);
  [[gnu::always_inline]] inline void count_request(const Request& r);
  void count_walk(const Request& r);
  [[gnu::always_inline]] inline void count_response(const Request& r);
  void perform_maintenance(Request& r, Cycle& at);

  CrossbarCore core_;
  CrossbarWidths widths_;
  unsigned slices_;
  unsigned outputs_;  ///< slices, and behind them switches
  std::vector<std::unique_ptr<In<RequestMessage>>> from_client_;
  std::vector<std::unique_ptr<Out<ResponseMessage>>> to_client_;
  std::vector<std::unique_ptr<Out<RequestMessage>>> to_l2_;    ///< of each output
  std::vector<std::unique_ptr<In<ResponseMessage>>> from_l2_;  ///< likewise
  Arrivals client_arrivals_;
  Arrivals slice_arrivals_;
  Arbiter down_;  ///< outputs: slices and switches; inputs: clients
  Arbiter up_;    ///< outputs: clients; inputs: those outputs, and last the finished maintenance requests
  RestingRequests resting_;
  std::unique_ptr<CrossbarNetwork> network_;  ///< null: there is none
  static constexpr unsigned kNoClient = 65536;
  unsigned walks_client_ = kNoClient;  ///< `route` of what walks read; kNoClient: they read nothing
  std::deque<Entrance> entrances_;     ///< of each client, where there is
  PortSet entering_;                   ///< clients whose first request is to enter it
  PortSet replying_;                   ///< outputs whose first response is
  std::vector<bool> postponed_;        ///< clients whose head is a maintenance request that waits for those
  std::vector<Copying> copying_;
  std::vector<RequestList> finished_of_;  ///< of each client: answered by all slices, not yet sent
  std::size_t finished_ = 0;
  CrossbarCounters counters_;
};

}  // namespace warpline
