#include <algorithm>

#include "rtl_models/base/contract.h"
#include "rtl_models/tlm/pins/pin_message.h"
#include "rtl_models/tlm/pins/pins.h"

namespace warpline {

PinInitiator::PinInitiator(const sc_core::sc_module_name& name, EngineProcess& engine, PinWires& wires,
                           Out<RequestMessage>& out, In<ResponseMessage>& in, bool with_data)
    : PinEnd(name, engine, wires, wires.request, wires.response, with_data), out_(out), in_(in) {
  out.bind(static_cast<Carrier<RequestMessage>&>(*this));
  in.bind(static_cast<Upstream&>(*this), wires.response.parameters, wires.response.domain.domain());
}

PinPass* PinInitiator::find(std::uint64_t identifier) {
  if (identifier >= passes_.size() || passes_[identifier]->request == nullptr) return nullptr;
  return passes_[identifier].get();
}

Cycle PinInitiator::begin(Cycle t, const RequestMessage& message) {
  if (unused_.empty()) {
    unused_.push_back(passes_.size());
    passes_.push_back(std::make_unique<PinPass>());
    passes_.back()->identifier = unused_.back();
  }
  PinPass& pass = *passes_[unused_.back()];
  unused_.pop_back();
  pass.enter(*message.request);
  pass.sent = pass.in_port = pass.arrived = pass.taken = pass.answering = false;
  sending_ = &pass;
  if (paired_) depart();
  PinMessage wires = describe_request(*message.request, wires_.request.parameters.width, with_data_);
  wires.identifier = pass.identifier;
  driver_.start(t, wires);
  return kNever;
}

void PinInitiator::perform(const RequestMessage& message, Cycle& at) {
  if (!foreign_) return peer_->in_.perform(message, at);
  message.request->status = Status::address_error;
  protest("an untimed access comes to the wires, where hardware takes timed requests only");
}

void PinInitiator::arrive(PinPass& pass) {
  if (!pass.arrived) land();
  pass.arrived = true;
}

void PinInitiator::free(Cycle c) {
  out_.end(c);
  engine_.wake();
}

bool PinInitiator::admit(PinMessage& message) {
  PinPass* pass = find(message.identifier);
  if (pass == nullptr || !pass->sent) {
    protest("an answer with identifier " + std::to_string(message.identifier) +
            ", which no request has that was sent and is not answered");
    return false;
  }
  const Request& r = *pass->request;
  message.command = r.command;
  message.line = r.line.value;
  message.sectors = r.sectors;
  message.carries = r.command == Command::read;
  message.beats = ResponseMessage{pass->request}.beats(wires_.response.parameters.width);
  begun_ = !foreign_;
  pass->in_port = begun_;
  if (begun_) free_ = in_.begin(sampler_.cycle_of_beat(), {pass->request});
  return true;
}

Cycle PinInitiator::arrived(Cycle t, PinMessage& message) {
  PinPass& pass = *find(message.identifier);
  Request* r = pass.request;
  take_answer(pass, message);
  if (paired_) arrive(pass);
  if (pass.answering) peer_->land();
  pass.leave();
  pass.request = nullptr;
  unused_.push_back(pass.identifier);
  const Cycle free = begun_ ? free_ : in_.begin(t, {r});
  begun_ = false;
  engine_.wake();
  return free;
}

void PinInitiator::take_answer(const PinPass& pass, const PinMessage& message) {
  Request& r = *pass.request;
  if (r.command == Command::control) {
    r.status = Status::ok;  // a target that ignores it has done it
  } else if (message.error) {
    r.status = Status::address_error;
  } else if (!pass.taken) {
    r.status = Status::ok;
    if (r.command != Command::read && r.command != Command::write) {
      r.status = Status::address_error;
      protest(
          "the receiver takes an atomic or cache maintenance without an error, and cannot know what it is");
    }
  }
  if (with_data_ && r.command == Command::read && !message.error)
    copy_sectors(r.data.data(), message.data.data(), r.sectors);
}

void PinInitiator::explain(std::vector<Wait>& waits) const {
  PinEnd::explain(waits);
  const std::size_t unanswered = passes_.size() - unused_.size();
  if (!paired_ && unanswered != 0)
    waits.push_back({wires_.hop(), std::to_string(unanswered) +
                                       " requests that the other side of the pins has not answered"});
}

std::string PinInitiator::other_side() const {
  return peer_ != nullptr ? peer_->in_.owner().name() : "whatever is on the pins of " + wires_.hop();
}

void PinInitiator::in_flight(std::vector<InFlight>& rows) const {
  for (const auto& pass : passes_) {
    // What lies in a port is listed there; what the other end, if it is ours, has taken and not begun to
    // answer, wherever that has it.
    if (pass->request == nullptr || pass->in_port || (pass->taken && !pass->answering)) continue;
    const std::string what = pass->answering               ? "its answer to have come over the wires"
                             : pass->arrived || pass->sent ? "the answer of " + other_side()
                                                           : "the wires to carry it";
    rows.emplace_back(*pass->request, wires_.hop(), wires_.hop() + " pins", what,
                      std::vector<std::string>{other_side()});
  }
}

}  // namespace warpline
