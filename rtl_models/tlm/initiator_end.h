#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <tlm>

#include "rtl_models/sim/channel.h"
#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/sockets.h"

namespace warpline {

class TargetEnd;

/// What an InitiatorSocket does.
class InitiatorEnd final : public tlm::tlm_bw_transport_if<>,  // public, as the other end looks for us
                           private Carrier<RequestMessage>,
                           private Upstream,
                           private SocketEnd {
 public:
  InitiatorEnd(InitiatorSocket& socket, EngineProcess& engine, Out<RequestMessage>& out,
               In<ResponseMessage>& in);
  void set_channel(const ChannelParameters& response, const ClockDomain& responder) {
    response_ = response;
    responder_ = responder;
  }
  void set_with_data(bool with_data) { with_data_ = with_data; }
  [[nodiscard]] InitiatorSocket::Ports hand_over() {
    handed_over_ = true;
    return {out_, in_, with_data_};
  }
  void on_invalidate(std::function<void(sc_dt::uint64, sc_dt::uint64)> callback) {
    on_invalidate_ = std::move(callback);
  }
  void set_end_response(EndResponse form) { end_response_ = form; }
  /// What the socket is bound to, for reports.
  void name_target(std::string name) { bound_to_ = std::move(name); }
  [[nodiscard]] bool shows_data() const { return with_data_ && !direct_; }
  [[nodiscard]] bool is_direct() const { return direct_; }
  [[nodiscard]] std::uint64_t refused_writes() const { return refused_writes_; }
  /// Connects or binds its ports. Pre: elaboration has ended.
  void join();

 private:
  friend class TargetEnd;
  [[nodiscard]] TargetEnd* peer();

  // Requests leave.
  [[nodiscard]] Transaction& take(Cycle t, Request& r);
  void give_back(Transaction& x, Cycle from);
  Cycle begin(Cycle t, const RequestMessage& message) override;
  /// What foreign modules have, no component of ours counts.
  [[nodiscard]] std::size_t occupancy() const override { return peer_ == nullptr ? in_flight_ : 0; }
  void perform(const RequestMessage& message, Cycle& at) override;
  void request_ended(const Transaction& x, Cycle c);

  // Responses arrive.
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    if (on_invalidate_) on_invalidate_(first, last);
  }
  [[nodiscard]] bool begin_answer(Transaction& x);
  void begin_waiting();
  void enter(Transaction& x, Cycle t);
  void take_answer(Transaction& x);
  void note_refusal(const Transaction& x);
  void end(Cycle c) override;
  [[nodiscard]] bool ends_by_call() const;
  void announce_end_response(Transaction& x, Cycle c);
  void call_end_response(Transaction& x, Cycle c);

  void restored() override { in_free_ = in_.free_from(); }
  void explain(std::vector<Wait>& waits) const override;
  void in_flight(std::vector<InFlight>& rows) const override;
  [[nodiscard]] std::string other_side() const override;
  [[nodiscard]] const Component* receiver() const override;
  [[nodiscard]] const Component* sender() const override { return receiver(); }

  /// A response that waits for a credit.
  struct Waiting {
    Transaction* transaction = nullptr;
    Cycle at = 0;            ///< when it began
    bool completed = false;  ///< by TLM_COMPLETED: there is no END_RESP to announce
  };
  // What every message needs comes first, side by side for the host's caches.
  InitiatorSocket& socket_;
  EngineProcess& engine_;
  Out<RequestMessage>& out_;
  In<ResponseMessage>& in_;
  tlm::tlm_fw_transport_if<>* target_ = nullptr;  ///< whom requests are sent to, where the hop is not direct
  TransactionPool* transactions_ = nullptr;       ///< where payloads come from
  const TargetEnd* peer_ = nullptr;       ///< the other end, where it is ours and the hop is not direct
  const Transaction* calling_ = nullptr;  ///< its BEGIN_REQ is being delivered
  Cycle free_after_call_ = kNever;        ///< what was heard of its end meanwhile
  const Transaction* unended_ = nullptr;  ///< its END_REQ is awaited
  Cycle in_free_ = 0;                     ///< when in_ can take a response; kNever: end() will tell
  Transaction* begun_ = nullptr;          ///< in in_, END_RESP to be announced
  std::uint32_t number_ = 0;              ///< as an owner of payloads
  unsigned in_flight_ = 0;
  bool with_data_ = true;
  bool direct_ = false;
  bool handed_over_ = false;
  bool misfit_told_ = false;
  std::optional<EndResponse> end_response_;  ///< if it is not the engine's
  std::deque<Waiting> waiting_;              ///< for in_ to be free
  ChannelParameters response_;
  ClockDomain responder_;
  std::function<void(sc_dt::uint64, sc_dt::uint64)> on_invalidate_;
  std::string bound_to_;  ///< name of the target socket; empty where it is bound otherwise
  std::uint64_t refused_writes_ = 0;
};

}  // namespace warpline
