#pragma once

#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "rtl_models/pcie/hops/tlp_extension_module.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {

class TlpReceiver;

/// The sender's end of a hop: packets of an Out port leave as payloads, one at a time. BEGIN_REQ is the first
/// beat. The payload's end, of whatever kind (TLM_COMPLETED, END_REQ or BEGIN_RESP), is when the hop can take
/// the next.
class TlpSender final : public tlm::tlm_bw_transport_if<>,  // public, as the other end looks for us
                        private tlm::tlm_mm_interface,
                        private Carrier<TlpMessage>,
                        private SocketEnd {
 public:
  using Socket = tlm::tlm_initiator_socket<kBusBits>;
  TlpSender(Socket& socket, EngineProcess& engine, Out<TlpMessage>& out);
  /// Binds the port. Pre: elaboration has ended.
  void join();

 private:
  friend class TlpReceiver;
  struct Parcel {
    explicit Parcel(tlm::tlm_mm_interface& memory) : payload(&memory) { payload.set_extension(&header); }
    ~Parcel() { payload.clear_extension<TlpExtension>(); }
    Parcel(const Parcel&) = delete;
    Parcel& operator=(const Parcel&) = delete;
    tlm::tlm_generic_payload payload;
    TlpExtension header;
    std::vector<unsigned char> bytes;
    bool answered = false;
  };
  [[nodiscard]] Parcel& take(Tlp& tlp);
  [[nodiscard]] Parcel* find(const tlm::tlm_generic_payload& payload);
  Cycle begin(Cycle t, const TlpMessage& message) override;
  void ended(Cycle c);
  void answered(Parcel& parcel);
  [[nodiscard]] std::size_t occupancy() const override { return peer_ == nullptr ? in_flight_ : 0; }
  [[nodiscard]] const Component* receiver() const override;
  [[nodiscard]] std::string other_side() const override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*first*/, sc_dt::uint64 /*last*/) override {}
  void free(tlm::tlm_generic_payload* payload) override { unused_.push_back(find(*payload)); }
  void explain(std::vector<Wait>& waits) const override;

  Socket& socket_;
  EngineProcess& engine_;
  Out<TlpMessage>& out_;
  const TlpReceiver* peer_ = nullptr;  ///< the other end, where nobody foreign is in between
  std::deque<Parcel> parcels_;
  std::vector<Parcel*> unused_;
  const Parcel* unended_ = nullptr;  ///< its end is awaited
  Cycle begun_ = 0;                  ///< when it began
  Cycle free_after_call_ = kNever;
  bool calling_ = false;  ///< its BEGIN_REQ is being delivered
  std::size_t in_flight_ = 0;
};

/// The receiver's end: payloads go as packets into an In port. One that is none of ours is answered with
/// TLM_COMMAND_ERROR_RESPONSE, and so is b_transport: packets are timed.
class TlpReceiver final : public tlm::tlm_fw_transport_if<>,  // public, as the other end looks for us
                          private Upstream,
                          private SocketEnd {
 public:
  using Socket = tlm::tlm_target_socket<kBusBits>;
  TlpReceiver(Socket& socket, EngineProcess& engine, In<TlpMessage>& in, const ChannelParameters& parameters,
              const ClockDomain& sender);
  void join();

 private:
  friend class TlpSender;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& /*payload*/) override { return 0; }
  [[nodiscard]] Tlp* packet_of(tlm::tlm_generic_payload& payload) const;
  void enter();
  void end(Cycle c) override;
  void announce_end();
  void restored() override { in_free_ = in_.free_from(); }
  [[nodiscard]] const Component* sender() const override;
  [[nodiscard]] std::string other_side() const override;
  void explain(std::vector<Wait>& waits) const override;

  Socket& socket_;
  EngineProcess& engine_;
  In<TlpMessage>& in_;
  ChannelParameters parameters_;
  ClockDomain sender_clock_;
  const TlpSender* peer_ = nullptr;
  /// The payload whose end is not announced.
  struct Unended {
    tlm::tlm_generic_payload* payload = nullptr;
    Tlp* tlp = nullptr;
    Cycle begun = 0;
    bool entered = false;  ///< in in_; otherwise it came before a credit and waits for one
  };
  Unended unended_;
  Cycle in_free_ = 0;  ///< when in_ can take a packet; kNever: end() will tell
};

/// A channel of one class of packets in one direction of a PCI Express link, over sockets of the base
/// protocol: each packet begins and ends in the same cycle as port to port. Whoever makes it binds the two
/// sockets, to each other or to what stands between.
class TlpHopModule final : public sc_core::sc_module {
 public:
  /// Ports and engine outlive it. Pre: neither port is bound; the parameters have no problems.
  TlpHopModule(const sc_core::sc_module_name& name, EngineProcess& engine, Out<TlpMessage>& out,
               In<TlpMessage>& in, const ChannelParameters& parameters);

  TlpSender::Socket to_receiver{"to_receiver"};
  TlpReceiver::Socket from_sender{"from_sender"};

 private:
  void end_of_elaboration() override {
    sender_.join();
    receiver_.join();
  }
  TlpSender sender_;
  TlpReceiver receiver_;
};

}  // namespace warpline
