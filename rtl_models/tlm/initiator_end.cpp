#include "rtl_models/tlm/initiator_end.h"

#include <algorithm>
#include <utility>

#include "rtl_models/tlm/report.h"
#include "rtl_models/tlm/target_end.h"

namespace warpline {

InitiatorEnd::InitiatorEnd(InitiatorSocket& socket, EngineProcess& engine, Out<RequestMessage>& out,
                           In<ResponseMessage>& in)
    : socket_(socket), engine_(engine), out_(out), in_(in), responder_(in.owner().domain()) {
  socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
}

/// The other end, if it is ours, of the same engine, and bound to nobody else. Else null.
TargetEnd* InitiatorEnd::peer() {
  auto* target = dynamic_cast<TargetEnd*>(socket_.get_base_port()[0]);
  const bool ours = target != nullptr && &target->engine_ == &engine_ &&
                    dynamic_cast<InitiatorEnd*>(target->socket_.get_base_port()[0]) == this;
  return ours ? target : nullptr;
}

void InitiatorEnd::join() {
  if (handed_over_) return;
  TargetEnd* target = peer();
  direct_ = target != nullptr && engine_.transport() == HopTransport::direct;
  if (direct_) {
    connect(out_, target->in_, target->request_);
    connect(target->out_, in_, response_);
    return;
  }
  peer_ = target;
  // Between two ends of ours nobody sees what the target does not look at.
  if (target != nullptr) with_data_ = with_data_ && target->with_data_;
  target_ = socket_.get_base_port()[0];
  transactions_ = &engine_.transactions(target == nullptr);
  number_ = transactions_->add_owner();
  out_.bind(static_cast<Carrier<RequestMessage>&>(*this));
  in_.bind(static_cast<Upstream&>(*this), response_, responder_);
  engine_.add_end(*this, target == nullptr);
}

/// A payload for `r`, which leaves in cycle `t`.
Transaction& InitiatorEnd::take(Cycle t, Request& r) {
  Transaction& x = transactions_->take(t);
  x.owner = number_;
  x.shown = peer_ == nullptr;
  x.state = Transaction::State::asked;
  x.at = t;
  x.describe(r, with_data_);
  x.enter(r);
  return x;
}

/// Where nobody else knows a payload, it can be used again at once: the host's caches hold it.
void InitiatorEnd::give_back(Transaction& x, Cycle from) {
  transactions_->give_back(x, peer_ != nullptr ? 0 : from);
}

Cycle InitiatorEnd::begin(Cycle t, const RequestMessage& message) {
  Transaction& x = take(t, *message.request);
  ++in_flight_;
  calling_ = unended_ = &x;
  free_after_call_ = kNever;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = engine_.tick_of(t) - engine_.time();
  const tlm::tlm_sync_enum status = target_->nb_transport_fw(x.payload, phase, delay);
  const sc_core::sc_time at = engine_.time() + delay;
  const bool completed = status == tlm::TLM_COMPLETED;
  if (completed || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
    if (begin_answer(x)) {
      if (unended_ == &x) request_ended(x, engine_.freed_by_end_at(at));
      waiting_.push_back({&x, engine_.cycle_of(at), completed});
      begin_waiting();
    }
  } else if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
    if (unended_ == &x) {
      request_ended(x, engine_.freed_by_end_at(at));
    } else {
      protest(socket_, "END_REQ for a request that has ended");
    }
  } else if (status == tlm::TLM_UPDATED) {
    protest(socket_, "the target returned a phase that does not follow BEGIN_REQ");
  }
  calling_ = nullptr;
  return free_after_call_;
}

void InitiatorEnd::perform(const RequestMessage& message, Cycle& at) {
  Transaction& x = take(at, *message.request);
  // Local time runs ahead of SystemC's, or behind it after a foreign wait().
  const sc_core::sc_time& now = engine_.time();
  sc_core::sc_time delay = std::max(engine_.tick_of(at), now) - now;
  socket_->b_transport(x.payload, delay);
  at = std::max(at, engine_.cycle_of(engine_.time() + delay));
  take_answer(x);
  x.leave();
  give_back(x, 0);
}

/// The request channel is free from cycle c on, but not in the cycle of the request itself.
void InitiatorEnd::request_ended(const Transaction& x, Cycle c) {
  const Cycle free = std::max(c, x.at + 1);
  unended_ = nullptr;
  if (calling_ == &x) {
    free_after_call_ = free;
  } else {
    out_.end(free);
    engine_.wake();
  }
}

tlm::tlm_sync_enum InitiatorEnd::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
  Transaction* x = transactions_->find(payload);
  if (x == nullptr || x->owner != number_) {
    protest(socket_, "nb_transport_bw was called with a payload that is not in flight here");
    return tlm::TLM_COMPLETED;
  }
  const sc_core::sc_time at = engine_.time() + delay;
  if (phase == tlm::END_REQ) {
    if (unended_ == x) {
      request_ended(*x, engine_.freed_by_end_at(at));
    } else {
      protest(socket_, "END_REQ for a request that has ended");
    }
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP) {
    if (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP)
      protest(socket_, "a target does not send this phase");
    return tlm::TLM_ACCEPTED;
  }
  if (!begin_answer(*x)) return tlm::TLM_ACCEPTED;
  if (unended_ == x) {
    const Cycle known = x->extension.request_end;
    request_ended(*x, known != kNever ? known : engine_.freed_by_end_at(at));
  }
  const Cycle t = engine_.cycle_of(at);
  if (!waiting_.empty() || in_free_ > t) {
    waiting_.push_back({x, t, false});
    begin_waiting();
    return tlm::TLM_ACCEPTED;
  }
  enter(*x, t);
  if (in_free_ == kNever) {
    begun_ = x;
    return tlm::TLM_ACCEPTED;
  }
  if (ends_by_call()) {
    announce_end_response(*x, in_free_);
    return tlm::TLM_ACCEPTED;
  }
  phase = tlm::END_RESP;
  delay = engine_.start_of(in_free_) - engine_.time();
  give_back(*x, in_free_);
  return tlm::TLM_UPDATED;
}

/// Whether the answer to `x` is the first.
bool InitiatorEnd::begin_answer(Transaction& x) {
  if (x.state == Transaction::State::asked) {
    x.state = Transaction::State::answered;
    return true;
  }
  protest(socket_, "a second response to one request");
  return false;
}

/// Puts what waits into the response channel, as far as it is known when that is free.
void InitiatorEnd::begin_waiting() {
  while (!waiting_.empty() && in_free_ != kNever) {
    const Waiting w = waiting_.front();
    waiting_.pop_front();
    const Cycle t = std::max(w.at, in_free_);
    enter(*w.transaction, t);
    if (w.completed) {
      give_back(*w.transaction, t + 1);
    } else if (in_free_ == kNever) {
      begun_ = w.transaction;
    } else {
      announce_end_response(*w.transaction, in_free_);
    }
  }
}

void InitiatorEnd::enter(Transaction& x, Cycle t) {
  take_answer(x);
  Request* r = x.request;
  x.leave();
  x.state = Transaction::State::entered;
  if (x.shown) x.extension.request = nullptr;
  --in_flight_;
  in_free_ = in_.begin(t, {r});
  engine_.wake();
}

void InitiatorEnd::take_answer(Transaction& x) {
  if (x.taken) return;
  Request& r = *x.request;
  if (x.extension.accepted) {
    const Request* answered = x.extension.request;
    if (answered == nullptr || answered == &r) return;
    // An interconnect sent a copy, and has copied the answer back into the extension.
    r.status = answered->status;
    if (r.command == Command::atomic) *r.atomics = *answered->atomics;
    return;
  }
  if (r.command == Command::control) {
    // A hint, or permission to lose bytes: a target that ignores it has done it.
    r.status = Status::ok;
    return;
  }
  r.status = x.payload.is_response_ok() ? Status::ok : Status::address_error;
  if (!x.payload.is_response_ok()) note_refusal(x);
  if (x.command == tlm::TLM_IGNORE_COMMAND) {
    r.status = Status::address_error;
    protest(socket_,
            "the target does not take atomics and cache maintenance: it must act on the payload's extension "
            "and set `accepted` there");
  }
  if (!with_data_ || r.command != Command::read) return;
  if (r.exact) {
    copy_masked(r.data.data(), x.bytes.data.data(), r.bytes);
  } else {
    copy_sectors(r.data.data(), x.bytes.data.data(), r.sectors);
  }
}

void InitiatorEnd::note_refusal(const Transaction& x) {
  const tlm::tlm_response_status status = x.payload.get_response_status();
  if (status == tlm::TLM_INCOMPLETE_RESPONSE) {
    protest(socket_, "the target answered and left the response status unset");
    return;
  }
  if (x.command == tlm::TLM_IGNORE_COMMAND) return;  // said elsewhere
  const bool write = x.command == tlm::TLM_WRITE_COMMAND;
  const std::string answer = "the target answered " + x.payload.get_response_string() + " to a " +
                             (write ? "write" : "read") + " of " +
                             std::to_string(x.payload.get_data_length()) + " bytes";
  if (status != tlm::TLM_ADDRESS_ERROR_RESPONSE && !std::exchange(misfit_told_, true))
    warn(socket_, answer +
                      "; it must take up to 128 bytes of a 128-byte line in one payload, with byte enables, "
                      "over a socket 256 bits wide. Told once");
  if (write && refused_writes_++ == 0 && status == tlm::TLM_ADDRESS_ERROR_RESPONSE)
    warn(socket_, answer +
                      ", and writes are posted: nobody may be waiting to hear of it. Told once; "
                      "refused_writes() counts");
}

void InitiatorEnd::end(Cycle c) {
  in_free_ = c;
  if (begun_ != nullptr) {
    Transaction& x = *begun_;
    begun_ = nullptr;
    announce_end_response(x, c);
  }
  begin_waiting();
}

/// A target of ours is told as soon as it can be: it may be ticked ahead of time, and nobody else sees it.
bool InitiatorEnd::ends_by_call() const {
  return peer_ == nullptr && end_response_.value_or(engine_.end_response()) == EndResponse::by_call;
}

/// Has the END_RESP of `x` sent, which takes effect in cycle `c`. A foreign target may take one for something
/// that has happened, whatever time is annotated, and begin its next response: it hears of it then.
void InitiatorEnd::announce_end_response(Transaction& x, Cycle c) {
  if (!ends_by_call()) return call_end_response(x, c);
  engine_.at_start_of(c, [this, &x, c] { call_end_response(x, c); });
}

void InitiatorEnd::call_end_response(Transaction& x, Cycle c) {
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = std::max(engine_.start_of(c), engine_.time()) - engine_.time();
  static_cast<void>(target_->nb_transport_fw(x.payload, phase, delay));
  give_back(x, c);
}

std::string InitiatorEnd::other_side() const {
  const tlm::tlm_fw_transport_if<>* bound = socket_.get_base_port()[0];
  const auto* target = dynamic_cast<const TargetEnd*>(bound);
  if (target != nullptr) return target->in_.owner().name();
  return bound_to_.empty() ? name_of_bound(bound, socket_) : bound_to_;
}

const Component* InitiatorEnd::receiver() const {
  return peer_ != nullptr ? &peer_->in_.owner() : nullptr;
}

void InitiatorEnd::in_flight(std::vector<InFlight>& rows) const {
  if (transactions_ == nullptr) return;
  const std::string other = other_side();
  for (const Waiting& w : waiting_)
    rows.emplace_back(*w.transaction->request, socket_.name(), socket_.name(),
                      "room at " + in_.path() + " for the answer",
                      std::vector<std::string>{in_.owner().name()});
  transactions_->for_each_of(number_, [&](const Transaction& x) {
    // Once the answer has entered, the payload stands for nothing. Until then a request that the target has
    // taken itself is listed wherever that has it, unless it is on its way back through foreign modules.
    if (x.state == Transaction::State::entered || ((x.taken || x.extension.accepted) && !x.returned)) return;
    const auto waits = [&x](const Waiting& w) { return w.transaction == &x; };
    if (std::any_of(waiting_.begin(), waiting_.end(), waits)) return;
    rows.emplace_back(*x.request, socket_.name(), std::string(socket_.name()) + " to " + other,
                      "the answer of " + other, std::vector<std::string>{other});
  });
}

void InitiatorEnd::explain(std::vector<Wait>& waits) const {
  std::vector<InFlight> rows;
  in_flight(rows);
  if (const std::size_t owed = rows.size() - waiting_.size(); owed != 0)
    waits.push_back(
        {socket_.name(),
         other_side() + " to answer " + std::to_string(owed) + (owed == 1 ? " request" : " requests"),
         {other_side()}});
}

}  // namespace warpline
