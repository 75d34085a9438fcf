#include "rtl_models/tlm/target_end.h"

#include <algorithm>
#include <utility>

#include "rtl_models/tlm/initiator_end.h"
#include "rtl_models/tlm/report.h"

namespace warpline {

TargetEnd::TargetEnd(TargetSocket& socket, EngineProcess& engine, In<RequestMessage>& in,
                     Out<ResponseMessage>& out, UntimedAccess& untimed)
    : socket_(socket),
      engine_(engine),
      in_(in),
      out_(out),
      foreign_(engine.engine().pool()),
      requester_(in.owner().domain()),
      untimed_(untimed) {
  socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
}

void TargetEnd::join() {
  if (handed_over_) return;
  auto* initiator = dynamic_cast<InitiatorEnd*>(socket_.get_base_port()[0]);
  if (initiator != nullptr && initiator->peer() == this) {
    if (engine_.transport() == HopTransport::direct) return;  // that end connects the ports
    peer_ = initiator;
  }
  initiator_ = socket_.get_base_port()[0];
  transactions_ = &engine_.transactions(peer_ == nullptr);
  in_.bind(static_cast<Upstream&>(*this), request_, requester_);
  out_.bind(static_cast<Carrier<ResponseMessage>&>(*this));
  engine_.add_end(*this, peer_ == nullptr);
}

tlm::tlm_sync_enum TargetEnd::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return end_response(payload, phase, delay);
  if (unended_.payload != nullptr) {
    protest(socket_, "BEGIN_REQ before the END_REQ of the request before");
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  if (engine_.resetting() && peer_ == nullptr) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  if (!engine_.takes_timed()) {
    protest(socket_, "nb_transport_fw while time is loose, or somebody's b_transport is under way");
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  Request* r = request_of(payload);
  if (r == nullptr) return tlm::TLM_COMPLETED;
  const Cycle t = engine_.cycle_of(engine_.time() + delay);
  unended_ = {&payload, r, t, kNever, false, 0};
  // The initiator may have taken an early response for leave to go on: the request waits for its credit.
  if (in_free_ == kNever) {
    unended_.behind = calls_.queued();
    return tlm::TLM_ACCEPTED;
  }
  enter();
  if (unended_.end == kNever) return tlm::TLM_ACCEPTED;
  // Announced at once, unless the request's own response might come first: a block may answer in the tick in
  // which it pops. Where the other end is ours, that is told by both what matters, in whatever order.
  if (peer_ == nullptr && unended_.end > in_.newest_arrival()) {
    announce_at_end();
    return tlm::TLM_ACCEPTED;
  }
  phase = tlm::END_REQ;
  delay = engine_.start_of(unended_.end) - engine_.time();
  unended_ = {};
  return tlm::TLM_UPDATED;
}

/// What an initiator sends that begins no request.
tlm::tlm_sync_enum TargetEnd::end_response(const tlm::tlm_generic_payload& payload,
                                           const tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
  if (phase != tlm::END_RESP) {
    if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP)
      protest(socket_, "an initiator does not send this phase");
    return tlm::TLM_ACCEPTED;
  }
  if (unended_response_ != &payload) {
    protest(socket_, "END_RESP for a payload whose response is not on the channel");
    return tlm::TLM_COMPLETED;
  }
  response_ended(engine_.freed_by_end_at(engine_.time() + delay));
  return tlm::TLM_COMPLETED;
}

/// Puts the unended request into the channel. Pre: it is known when that is free.
void TargetEnd::enter() {
  unended_.entered = true;
  unended_.end = in_free_ = in_.begin(std::max(unended_.begun, in_free_), {unended_.request});
  engine_.wake();
}

/// Has the END_REQ of the unended request sent when it takes effect. Not before, as its response may begin in
/// this very tick; but our own initiators are told at once, as they may be ticked ahead of time.
void TargetEnd::announce_at_end() {
  if (peer_ != nullptr) {
    announce_end();
    return;
  }
  engine_.at_start_of(unended_.end, [this, p = unended_.payload, c = unended_.end] {
    if (unended_.payload == p && unended_.end == c) announce_end();
  });
}

/// The same of a call's request.
void TargetEnd::enter(TimedCall& call) {
  in_free_ = in_.begin(std::max(call.begun, in_free_), {call.request});
  engine_.wake();
}

/// There is a credit from cycle `c` on. What waits for one gets it in the order in which it came.
void TargetEnd::end(Cycle c) {
  in_free_ = c;
  if (unended_.payload != nullptr && unended_.entered && unended_.end == kNever) {
    unended_.end = c;
    announce_at_end();
  }
  while (in_free_ != kNever && (unended_.waits() || calls_.queued() != 0)) {
    if (unended_.waits() && unended_.behind == 0) {
      enter();
      if (unended_.end != kNever) announce_at_end();
    } else {
      if (unended_.waits()) --unended_.behind;
      enter(calls_.pop());
    }
  }
}

/// Sends the END_REQ of the unended request. Pre: its end is known.
void TargetEnd::announce_end() {
  tlm::tlm_generic_payload* payload = unended_.payload;
  const sc_core::sc_time at = std::max(engine_.start_of(unended_.end), engine_.time());
  unended_ = {};
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = at - engine_.time();
  static_cast<void>(initiator_->nb_transport_bw(*payload, phase, delay));
}

/// The request that a payload carries, or null: it is a foreign payload.
Request* TargetEnd::own_request(tlm::tlm_generic_payload& payload) {
  Transaction* x = transactions_->find(payload);
  if (x == nullptr || !x->is_as_described() || !taken_.take(*x->request)) return nullptr;
  x->taken = true;
  if (x->shown) x->extension.accepted = true;
  return x->request;
}

/// The request a payload stands for; null if it is answered already: the payload says how.
Request* TargetEnd::request_of(tlm::tlm_generic_payload& payload) {
  Request* own = own_request(payload);
  if (own != nullptr) return own;
  Request* r = foreign_.adopt(payload, taken_, known_memories(), with_data_);
  if (r == nullptr) count_error(payload);
  return r;
}

void TargetEnd::count_error(const tlm::tlm_generic_payload& payload) {
  address_errors_ += payload.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

Cycle TargetEnd::begin(Cycle t, const ResponseMessage& message) {
  Request& r = *message.request;
  if (!calls_.none())
    if (TimedCall* call = calls_.find(r); call != nullptr) return answer(*call, t);
  const bool foreign = foreign_.made(r);
  auto* own = foreign ? nullptr : static_cast<Transaction*>(static_cast<SocketHop*>(r.carried));
  tlm::tlm_generic_payload& payload = foreign ? ForeignPayloads::payload_of(r) : own->payload;
  if (unended_.payload == &payload) {
    // BEGIN_RESP implies END_REQ; a Warpline initiator is told when the channel is really free.
    if (Transaction* x = foreign ? transactions_->find(payload) : own; x != nullptr)
      x->extension.request_end = unended_.end;
    unended_ = {};
  }
  if (foreign) {
    unended_response_foreign_ = payload.has_mm();
    foreign_.answer(r, with_data_);
    if (engine_.resetting()) payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    count_error(payload);
  } else {
    own->returned = true;
    answer(r, payload);
  }
  calling_ = true;
  response_begun_ = t;
  free_after_call_ = kNever;
  unended_response_ = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = engine_.tick_of(t) - engine_.time();
  const tlm::tlm_sync_enum status = initiator_->nb_transport_bw(payload, phase, delay);
  const bool ended = status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP);
  if (status == tlm::TLM_UPDATED && phase != tlm::END_RESP)
    protest(socket_, "the initiator returned a phase that does not follow BEGIN_RESP");
  if (ended && unended_response_ == &payload) response_ended(engine_.freed_by_end_at(engine_.time() + delay));
  calling_ = false;
  return free_after_call_;
}

/// The response channel is free from cycle c on.
void TargetEnd::response_ended(Cycle c) {
  if (unended_response_foreign_) unended_response_->release();
  unended_response_foreign_ = false;
  unended_response_ = nullptr;
  const Cycle free = std::max(c, response_begun_ + 1);
  if (calling_) {
    free_after_call_ = free;
  } else {
    out_.end(free);
    engine_.wake();
  }
}

/// A response whose END_RESP the initiator still owes is on the channel, whatever time it is now.
void TargetEnd::restored() {
  in_free_ = in_.free_from();
  if (unended_response_ == nullptr) return;
  response_begun_ = 0;
  out_.end(kNever);
}

/// Fills in TLM's own attributes for monitors on the way; a Warpline target reads the request instead.
void TargetEnd::answer(const Request& r, tlm::tlm_generic_payload& payload) const {
  payload.set_response_status(response_status(r));
  if (!with_data_ || r.command != Command::read || r.status != Status::ok) return;
  unsigned char* line = payload.get_data_ptr() - payload.get_address() % kLineBytes;
  if (r.exact) {
    copy_masked(line, r.data.data(), r.bytes);
  } else {
    copy_sectors(line, r.data.data(), r.sectors);
  }
}

void TargetEnd::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (engine_.resetting()) return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  if (!engine_.is_loose() && !handed_over_ && EngineProcess::caller_may_wait()) {
    if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(std::exchange(delay, sc_core::SC_ZERO_TIME));
    if (engine_.resetting()) return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    if (!engine_.is_loose()) return take_turn(payload);  // unless that has changed meanwhile
  }
  if (!in_.performs() || (!engine_.is_loose() && !engine_.at_rest())) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    protest(socket_,
            in_.performs()
                ? "b_transport from a process that cannot wait, while requests are under way: it "
                  "takes its turn among them, so it must come from an SC_THREAD, and not from within a "
                  "call of nb_transport"
                : "the block behind takes no b_transport");
    return;
  }
  const EngineProcess::Access access(engine_);
  const sc_core::sc_time begun = engine_.time() + delay;
  const Cycle from = engine_.cycle_of(begun);
  Cycle at = from;
  perform_payload(payload, at);
  // What a foreign model below has waited for is over, and no delay any more.
  const sc_core::sc_time end = begun + (engine_.tick_of(at) - engine_.tick_of(from));
  delay = std::max(end, engine_.time()) - engine_.time();
  if (hints_ && engine_.is_loose() && payload.is_response_ok() && would_grant(payload.get_address()))
    payload.set_dmi_allowed(true);
}

/// Has the payload's request timed, as if it had come by nb_transport in this cycle and its response were
/// completed in the cycle in which it begins, and waits for that.
void TargetEnd::take_turn(tlm::tlm_generic_payload& payload) {
  Request* own = own_request(payload);
  ForeignPayload foreign(payload);
  if (own == nullptr && foreign.settle(taken_, known_memories())) return count_error(payload);
  const EngineProcess::Access access(engine_, true);
  TimedCall& call = calls_.take();
  call.begun = engine_.cycle_of(engine_.time());
  call.request = own;
  if (own == nullptr) {
    call.foreign.emplace(foreign);
    call.request = foreign_.make_request(*call.foreign, with_data_);
  }
  // Whoever kills the thread unwinds this; the request comes to its end without it.
  struct Waiting {
    ~Waiting() {
      call.abandoned = !call.answered;
      if (call.answered) calls.give_back(call);
    }
    TimedCalls& calls;
    TimedCall& call;
  };
  const Waiting waiting{calls_, call};
  if (in_free_ == kNever) {
    calls_.queue(call);
  } else {
    enter(call);
  }
  while (!call.answered) sc_core::wait(call.event);
}

/// The response of a call's request is sent in cycle `t`: the channel is free in the next, as after
/// TLM_COMPLETED.
Cycle TargetEnd::answer(TimedCall& call, Cycle t) {
  Request& r = *call.request;
  if (!call.foreign.has_value()) {
    auto* own = static_cast<Transaction*>(static_cast<SocketHop*>(r.carried));
    own->returned = true;
    answer(r, own->payload);
  } else {
    if (!call.abandoned) {
      call.foreign->answer(r, with_data_);
      if (engine_.resetting()) call.foreign->payload().set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      count_error(call.foreign->payload());
    }
    engine_.engine().pool().release(&r);
  }
  call.answered = true;
  if (call.abandoned) {
    calls_.give_back(call);
  } else {
    call.event.notify(std::max(engine_.tick_of(t), engine_.time()) - engine_.time());
  }
  return t + 1;
}

/// Has the payload's request performed, and answers it.
void TargetEnd::perform_payload(tlm::tlm_generic_payload& payload, Cycle& at) {
  if (Request* own = own_request(payload); own != nullptr) {
    in_.perform({own}, at);
    answer(*own, payload);
    return;
  }
  ForeignPayload foreign(payload);
  if (foreign.settle(taken_, known_memories())) return count_error(payload);
  Request* r = foreign_.make_request(foreign, with_data_);
  in_.perform({r}, at);
  foreign.answer(*r, with_data_);
  if (engine_.resetting()) payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  count_error(payload);
  engine_.engine().pool().release(r);
}

/// Whether direct memory access to `address` would be granted. Asks the owner once for a range.
bool TargetEnd::would_grant(std::uint64_t address) {
  if (address < found_.first || address > found_.last) {
    tlm::tlm_generic_payload asks;
    asks.set_command(tlm::TLM_READ_COMMAND);
    asks.set_address(address);
    tlm::tlm_dmi dmi;
    const bool granted = untimed_.get_direct_mem_ptr(asks, dmi);
    found_ = {dmi.get_start_address(), dmi.get_end_address(), granted};
  }
  return found_.granted;
}

bool TargetEnd::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  if (!engine_.is_loose() || !untimed_.get_direct_mem_ptr(payload, dmi)) {
    dmi.allow_none();
    return false;
  }
  if (!std::exchange(granted_, true))
    engine_.on_timed([this] { take_back_direct_memory(0, ~sc_dt::uint64{0}); });
  return true;
}

void TargetEnd::take_back_direct_memory(sc_dt::uint64 first, sc_dt::uint64 last) {
  found_ = {};
  if (!granted_) return;
  // Of a part of it that is taken back it is not known whether it was all.
  granted_ = first != 0 || last != ~sc_dt::uint64{0};
  socket_->invalidate_direct_mem_ptr(first, last);
}

const Component* TargetEnd::receiver() const {
  return peer_ != nullptr ? &peer_->out_.owner() : nullptr;
}

std::string TargetEnd::other_side() const {
  const tlm::tlm_bw_transport_if<>* bound = socket_.get_base_port()[0];
  const auto* initiator = dynamic_cast<const InitiatorEnd*>(bound);
  return initiator != nullptr ? initiator->out_.owner().name() : name_of_bound(bound, socket_);
}

void TargetEnd::in_flight(std::vector<InFlight>& rows) const {
  const auto waits = [&](const Request& r) {
    rows.emplace_back(r, socket_.name(), socket_.name(), "room at " + in_.path(),
                      std::vector<std::string>{in_.owner().name()});
  };
  if (unended_.waits()) waits(*unended_.request);
  calls_.for_each_queued([&](const TimedCall& call) { waits(*call.request); });
}

void TargetEnd::explain(std::vector<Wait>& waits) const {
  if (unended_response_ != nullptr)
    waits.push_back({socket_.name(), "END_RESP of " + other_side(), {other_side()}});
}

}  // namespace warpline
