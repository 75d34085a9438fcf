#include "rtl_models/pcie/hops/tlp_hop_module.h"

#include <algorithm>
#include <utility>

#include "rtl_models/tlm/report.h"

namespace warpline {

TlpSender::TlpSender(Socket& socket, EngineProcess& engine, Out<TlpMessage>& out)
    : socket_(socket), engine_(engine), out_(out) {
  socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  out.bind(static_cast<Carrier<TlpMessage>&>(*this));
}

void TlpSender::join() {
  peer_ = dynamic_cast<const TlpReceiver*>(socket_.get_base_port()[0]);
  engine_.add_end(*this, peer_ == nullptr);
}

TlpSender::Parcel& TlpSender::take(Tlp& tlp) {
  if (unused_.empty()) unused_.push_back(&parcels_.emplace_back(static_cast<tlm::tlm_mm_interface&>(*this)));
  Parcel& parcel = *unused_.back();
  unused_.pop_back();
  parcel.answered = false;
  parcel.header.describe(tlp);
  tlm::tlm_generic_payload& p = parcel.payload;
  // Between two ends of ours nobody sees the bytes; others may look at them for longer than the packet lives.
  constexpr std::size_t kNothing = 4;
  if (peer_ == nullptr) parcel.bytes = tlp.data;
  if (parcel.bytes.empty()) parcel.bytes.resize(kNothing);
  const auto length = static_cast<unsigned>(parcel.bytes.size());
  p.set_command(tlp.data.empty() ? tlm::TLM_IGNORE_COMMAND : tlm::TLM_WRITE_COMMAND);
  p.set_address(tlp.address);
  p.set_data_ptr(parcel.bytes.data());
  p.set_data_length(length);
  p.set_streaming_width(length);
  p.set_byte_enable_ptr(nullptr);
  p.set_byte_enable_length(0);
  p.set_dmi_allowed(false);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  p.acquire();
  return parcel;
}

TlpSender::Parcel* TlpSender::find(const tlm::tlm_generic_payload& payload) {
  const auto found =
      std::find_if(parcels_.begin(), parcels_.end(), [&](const Parcel& p) { return &p.payload == &payload; });
  return found == parcels_.end() ? nullptr : &*found;
}

Cycle TlpSender::begin(Cycle t, const TlpMessage& message) {
  Parcel& parcel = take(*message.tlp);
  ++in_flight_;
  unended_ = &parcel;
  begun_ = t;
  calling_ = true;
  free_after_call_ = kNever;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = engine_.tick_of(t) - engine_.time();
  const tlm::tlm_sync_enum status = socket_->nb_transport_fw(parcel.payload, phase, delay);
  const bool over = status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP);
  if (over || (status == tlm::TLM_UPDATED && phase == tlm::END_REQ)) {
    if (unended_ == &parcel) ended(engine_.freed_by_end_at(engine_.time() + delay));
  } else if (status == tlm::TLM_UPDATED) {
    protest(socket_, "the receiver returned a phase that does not follow BEGIN_REQ");
  }
  if (over) {
    if (status == tlm::TLM_UPDATED) {
      phase = tlm::END_RESP;
      static_cast<void>(socket_->nb_transport_fw(parcel.payload, phase, delay));
    }
    answered(parcel);
  }
  calling_ = false;
  return free_after_call_;
}

/// The hop is free from cycle c on, but not in the cycle of the packet itself.
void TlpSender::ended(Cycle c) {
  unended_ = nullptr;
  const Cycle free = std::max(c, begun_ + 1);
  if (calling_) {
    free_after_call_ = free;
  } else {
    out_.end(free);
    engine_.wake();
  }
}

void TlpSender::answered(Parcel& parcel) {
  if (std::exchange(parcel.answered, true)) return protest(socket_, "a second response to one packet");
  if (!parcel.payload.is_response_ok())
    protest(socket_, "a packet was answered with " + parcel.payload.get_response_string() +
                         ", and never arrives: a link loses none");
  --in_flight_;
  parcel.header.packet = nullptr;
  parcel.payload.release();
}

tlm::tlm_sync_enum TlpSender::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  Parcel* const parcel = find(payload);
  if (parcel == nullptr || parcel->payload.get_ref_count() == 0) {
    protest(socket_, "nb_transport_bw was called with a payload that is not in flight here");
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) {
    if (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP)
      protest(socket_, "a target does not send this phase");
    return tlm::TLM_ACCEPTED;
  }
  if (unended_ == parcel) {
    ended(engine_.freed_by_end_at(engine_.time() + delay));
  } else if (phase == tlm::END_REQ) {
    protest(socket_, "END_REQ for a packet that has ended");
  }
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  answered(*parcel);
  return tlm::TLM_COMPLETED;
}

const Component* TlpSender::receiver() const {
  return peer_ != nullptr ? &peer_->in_.owner() : nullptr;
}

std::string TlpSender::other_side() const {
  return peer_ != nullptr ? peer_->in_.owner().name() : name_of_bound(socket_.get_base_port()[0], socket_);
}

void TlpSender::explain(std::vector<Wait>& waits) const {
  if (peer_ == nullptr && in_flight_ != 0)
    waits.push_back({socket_.name(), other_side() + " to hand on a packet", {other_side()}});
}

TlpReceiver::TlpReceiver(Socket& socket, EngineProcess& engine, In<TlpMessage>& in,
                         const ChannelParameters& parameters, const ClockDomain& sender)
    : socket_(socket), engine_(engine), in_(in), parameters_(parameters), sender_clock_(sender) {
  socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  in.bind(static_cast<Upstream&>(*this), parameters, sender);
}

void TlpReceiver::join() {
  peer_ = dynamic_cast<const TlpSender*>(socket_.get_base_port()[0]);
  engine_.add_end(*this, peer_ == nullptr);
}

/// The packet that a payload carries; null: none, and the payload is answered.
Tlp* TlpReceiver::packet_of(tlm::tlm_generic_payload& payload) const {
  const auto* const header = payload.get_extension<TlpExtension>();
  Tlp* const tlp = header != nullptr ? header->packet : nullptr;
  if (tlp == nullptr ||
      (!tlp->data.empty() && peer_ == nullptr && payload.get_data_length() != tlp->data.size())) {
    protest(socket_, tlp == nullptr ? "a payload that is no packet of this link's"
                                    : "a packet whose data has changed its length");
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return nullptr;
  }
  if (peer_ == nullptr) std::copy_n(payload.get_data_ptr(), tlp->data.size(), tlp->data.begin());
  return tlp;
}

tlm::tlm_sync_enum TlpReceiver::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) {
    if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP)
      protest(socket_, "an initiator does not send this phase");
    return phase == tlm::END_RESP ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
  }
  if (unended_.payload != nullptr) {
    protest(socket_, "BEGIN_REQ before the end of the packet before");
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  Tlp* const tlp = packet_of(payload);
  if (tlp == nullptr) return tlm::TLM_COMPLETED;
  unended_ = {&payload, tlp, engine_.cycle_of(engine_.time() + delay), false};
  // Whoever stands between may have let the sender go on too early: the packet waits for its credit.
  if (in_free_ == kNever) return tlm::TLM_ACCEPTED;
  enter();
  if (in_free_ == kNever) return tlm::TLM_ACCEPTED;
  unended_ = {};
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  delay = engine_.start_of(in_free_) - engine_.time();
  return tlm::TLM_COMPLETED;
}

/// Puts the packet into the channel. Pre: it is known when that is free.
void TlpReceiver::enter() {
  unended_.entered = true;
  in_free_ = in_.begin(std::max(unended_.begun, in_free_), {unended_.tlp});
  engine_.wake();
}

void TlpReceiver::end(Cycle c) {
  in_free_ = c;
  if (unended_.payload == nullptr) return;
  if (!unended_.entered) enter();
  if (in_free_ != kNever) announce_end();
}

void TlpReceiver::announce_end() {
  tlm::tlm_generic_payload* const payload = std::exchange(unended_, {}).payload;
  payload->set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = std::max(engine_.start_of(in_free_), engine_.time()) - engine_.time();
  static_cast<void>(socket_->nb_transport_bw(*payload, phase, delay));
}

void TlpReceiver::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  protest(socket_, "b_transport: packets cross a hop of PCI Express by nb_transport");
  payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
}

bool TlpReceiver::get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  return false;
}

const Component* TlpReceiver::sender() const {
  return peer_ != nullptr ? &peer_->out_.owner() : nullptr;
}

std::string TlpReceiver::other_side() const {
  return peer_ != nullptr ? peer_->out_.owner().name() : name_of_bound(socket_.get_base_port()[0], socket_);
}

void TlpReceiver::explain(std::vector<Wait>& waits) const {
  if (unended_.payload != nullptr && !unended_.entered)
    waits.push_back({socket_.name(), "room at " + in_.path() + " for a packet", {in_.owner().name()}});
}

TlpHopModule::TlpHopModule(const sc_core::sc_module_name& name, EngineProcess& engine, Out<TlpMessage>& out,
                           In<TlpMessage>& in, const ChannelParameters& parameters)
    : sc_module(name),
      sender_(to_receiver, engine, out),
      receiver_(from_sender, engine, in, parameters, out.owner().domain()) {}

}  // namespace warpline
