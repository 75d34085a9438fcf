#pragma once

#include <deque>
#include <functional>
#include <string>
#include <tlm>
#include <type_traits>

#include "rtl_models/sim/channel.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

class TargetSocket;

/// The initiator's end of a hop: a TLM-2.0 socket that carries the requests a block sends and the
/// responses it receives. At the end of elaboration it looks at what it is bound to: a TargetSocket
/// of the same engine is connected port to port, unless the engine wants sockets; anything else is
/// talked to by nb_transport, base protocol, four phases.
///
/// Mistakes of the other side are SystemC error reports that name this socket. What a foreign target refuses
/// is answered with address_error; where that may go unnoticed, or shows that the target does not fit, a
/// warning names this socket, once.
class InitiatorSocket final : public tlm::tlm_initiator_socket<kBusBits>,
                              public tlm::tlm_bw_transport_if<>,  // public, as the other end looks for us
                              private Carrier<RequestMessage>,
                              private Upstream,
                              private SocketEnd {
 public:
  InitiatorSocket(const char* name, EngineModule& engine, Out<RequestMessage>& out, In<ResponseMessage>& in);

  using tlm_initiator_socket::bind;
  void bind(base_target_socket_type& target) override;
  /// A socket of another bus width: says so where the compiler would list types.
  template <unsigned W, class FW, class BW, int N, sc_core::sc_port_policy P>
  std::enable_if_t<W != kBusBits> bind(tlm::tlm_base_target_socket<W, FW, BW, N, P>& /*target*/) {
    static_assert(W == kBusBits,
                  "the bus of a Warpline socket is 256 bits wide, and so must be the target's");
  }

  /// The channel on which responses arrive, and the clock of their sender. Pre: elaboration has not
  /// ended; the parameters have no problems.
  void set_channel(const ChannelParameters& response, const ClockDomain& responder) {
    response_ = response;
    responder_ = responder;
  }
  /// Whether bytes move with requests; without, payloads carry an idle buffer.
  void set_with_data(bool with_data) { with_data_ = with_data; }
  /// What it carries messages for.
  struct Ports {
    Out<RequestMessage>& out;
    In<ResponseMessage>& in;
    bool with_data;
  };
  /// Hands its ports over to another carrier, such as pins: it carries untimed access only from now on. Pre:
  /// elaboration has not ended.
  [[nodiscard]] Ports hand_over() {
    handed_over_ = true;
    return {out_, in_, with_data_};
  }
  /// Called when the other side takes back direct memory access to these addresses, first to last.
  void on_invalidate(std::function<void(sc_dt::uint64, sc_dt::uint64)> callback) {
    on_invalidate_ = std::move(callback);
  }
  /// Whether the hop is direct. Pre: elaboration has ended.
  [[nodiscard]] bool is_direct() const { return direct_; }
  /// Writes that a foreign target answered with an error.
  [[nodiscard]] std::uint64_t refused_writes() const { return refused_writes_; }
  [[nodiscard]] const char* kind() const override { return "warpline::InitiatorSocket"; }

 private:
  friend class TargetSocket;
  [[nodiscard]] TargetSocket* peer();
  void end_of_elaboration() override;

  // Requests leave.
  [[nodiscard]] Transaction& take(Cycle t, Request& r);
  void give_back(Transaction& x, Cycle from);
  Cycle begin(Cycle t, const RequestMessage& message) override;
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
  void call_end_response(Transaction& x, Cycle c);

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
  EngineModule& engine_;
  Out<RequestMessage>& out_;
  In<ResponseMessage>& in_;
  tlm::tlm_fw_transport_if<>* target_ = nullptr;  ///< whom requests are sent to, where the hop is not direct
  TransactionPool* transactions_ = nullptr;       ///< where payloads come from
  const TargetSocket* peer_ = nullptr;    ///< the other end, where it is ours and the hop is not direct
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
  std::deque<Waiting> waiting_;  ///< for in_ to be free
  ChannelParameters response_;
  ClockDomain responder_;
  std::function<void(sc_dt::uint64, sc_dt::uint64)> on_invalidate_;
  std::string bound_to_;  ///< name of the target socket; empty where it is bound otherwise
  std::uint64_t refused_writes_ = 0;
};

}  // namespace warpline
