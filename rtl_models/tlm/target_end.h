#pragma once

#include <optional>
#include <tlm>

#include "rtl_models/sim/channel.h"
#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/foreign_payloads.h"
#include "rtl_models/tlm/sockets.h"
#include "rtl_models/tlm/timed_calls.h"

namespace warpline {

class InitiatorEnd;

/// What a TargetSocket does.
class TargetEnd final : public tlm::tlm_fw_transport_if<>,  // public, as the other end looks for us
                        private Carrier<ResponseMessage>,
                        private Upstream,
                        private SocketEnd {
 public:
  TargetEnd(TargetSocket& socket, EngineProcess& engine, In<RequestMessage>& in, Out<ResponseMessage>& out,
            UntimedAccess& untimed);
  void set_channel(const ChannelParameters& request, const ClockDomain& requester) {
    request_ = request;
    requester_ = requester;
  }
  void set_with_data(bool with_data) { with_data_ = with_data; }
  [[nodiscard]] TargetSocket::Ports hand_over() {
    handed_over_ = true;
    return {in_, out_, with_data_};
  }
  void set_taken(const TakenCommands& taken) { taken_ = taken; }
  void set_memories(const Memories& memories) { memories_ = memories; }
  [[nodiscard]] std::uint64_t address_errors() const { return address_errors_; }
  void hint_direct_memory() { hints_ = true; }
  void take_back_direct_memory(sc_dt::uint64 first, sc_dt::uint64 last);
  /// Connects or binds its ports. Pre: elaboration has ended.
  void join();

 private:
  friend class InitiatorEnd;

  // Requests arrive.
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum end_response(const tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                                  const sc_core::sc_time& delay);
  [[nodiscard]] Request* own_request(tlm::tlm_generic_payload& payload);
  [[nodiscard]] Request* request_of(tlm::tlm_generic_payload& payload);
  void enter();
  void enter(TimedCall& call);
  void end(Cycle c) override;
  void announce_at_end();
  void announce_end();

  // Responses leave.
  Cycle begin(Cycle t, const ResponseMessage& message) override;
  void answer(const Request& r, tlm::tlm_generic_payload& payload) const;
  void response_ended(Cycle c);

  // Without cycles, but where a call takes its turn among timed requests.
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  void take_turn(tlm::tlm_generic_payload& payload);
  Cycle answer(TimedCall& call, Cycle t);
  void perform_payload(tlm::tlm_generic_payload& payload, Cycle& at);
  [[nodiscard]] const Memories* known_memories() const { return memories_ ? &*memories_ : nullptr; }
  void count_error(const tlm::tlm_generic_payload& payload);
  [[nodiscard]] bool would_grant(std::uint64_t address);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override {
    return untimed_.transport_dbg(payload);
  }
  void restored() override;
  void explain(std::vector<Wait>& waits) const override;
  void in_flight(std::vector<InFlight>& rows) const override;
  [[nodiscard]] std::string other_side() const override;
  [[nodiscard]] const Component* receiver() const override;
  [[nodiscard]] const Component* sender() const override { return receiver(); }

  /// What was found about direct memory access last: whether addresses first to last are granted.
  struct Found {
    sc_dt::uint64 first = 1;
    sc_dt::uint64 last = 0;
    bool granted = false;
  };
  /// The request whose END_REQ is not announced, and where known the cycle it takes effect.
  struct Unended {
    tlm::tlm_generic_payload* payload = nullptr;
    Request* request = nullptr;
    Cycle begun = 0;
    Cycle end = kNever;
    bool entered = false;    ///< in in_; otherwise it came before a credit and waits for one
    std::size_t behind = 0;  ///< so many calls that wait for one, too
    [[nodiscard]] bool waits() const { return payload != nullptr && !entered; }
  };
  // What every message needs comes first, side by side for the host's caches.
  TargetSocket& socket_;
  EngineProcess& engine_;
  In<RequestMessage>& in_;
  Out<ResponseMessage>& out_;
  tlm::tlm_bw_transport_if<>* initiator_ =
      nullptr;                               ///< whom responses are sent to, where the hop is not direct
  TransactionPool* transactions_ = nullptr;  ///< where the payloads of our own initiators come from
  const InitiatorEnd* peer_ = nullptr;       ///< the other end, where it is ours and the hop is not direct
  Unended unended_;
  Cycle in_free_ = 0;  ///< when in_ can take a request; kNever: end() will tell
  tlm::tlm_generic_payload* unended_response_ = nullptr;  ///< its END_RESP is awaited
  Cycle response_begun_ = 0;
  Cycle free_after_call_ = kNever;         ///< what was heard of its end during a call
  bool unended_response_foreign_ = false;  ///< a reference to it is held
  bool calling_ = false;                   ///< a BEGIN_RESP is being delivered
  bool with_data_ = true;
  bool handed_over_ = false;
  bool hints_ = false;
  bool granted_ = false;  ///< direct memory access, since it was taken back last
  TakenCommands taken_;
  std::optional<Memories> memories_;  ///< behind it, if it is known how large they are
  std::uint64_t address_errors_ = 0;  ///< foreign payloads that were answered so
  ForeignPayloads foreign_;
  TimedCalls calls_;
  ChannelParameters request_;
  ClockDomain requester_;
  UntimedAccess& untimed_;
  Found found_;
};

}  // namespace warpline
