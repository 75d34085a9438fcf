#include "rtl_models/tlm/pins/pin_message.h"
#include "rtl_models/tlm/pins/pins.h"

namespace warpline {

PinTarget::PinTarget(const sc_core::sc_module_name& name, EngineProcess& engine, PinWires& wires,
                     In<RequestMessage>& in, Out<ResponseMessage>& out, bool with_data)
    : PinEnd(name, engine, wires, wires.response, wires.request, with_data), in_(in), out_(out) {
  in.bind(static_cast<Upstream&>(*this), wires.request.parameters, wires.request.domain.domain());
  out.bind(static_cast<Carrier<ResponseMessage>&>(*this));
}

void PinTarget::pair(PinInitiator& initiator) {
  peer_ = &initiator;
  initiator.peer_ = this;
  paired_ = initiator.paired_ = true;
  foreign_ = initiator.foreign_ = &wires_ != &initiator.wires_;
}

/// The request that the other end sent, if the wires carry one of those; null: foreign hardware drives them.
PinPass* PinTarget::known(const PinMessage& message) {
  PinPass* pass = peer_ != nullptr ? peer_->find(message.identifier) : nullptr;
  if (pass == nullptr || pass->arrived) return nullptr;
  const PinMessage sent = describe_request(*pass->request, wires_.request.parameters.width, false);
  const bool same =
      sent.command == message.command && sent.line == message.line && sent.sectors == message.sectors;
  return same ? pass : nullptr;
}

bool PinTarget::admit(PinMessage& message) {
  const std::string which = "a request with identifier " + std::to_string(message.identifier);
  message.carries = message.command == Command::write;
  if (PinPass* pass = known(message); pass != nullptr) {
    message.beats = RequestMessage{pass->request}.beats(wires_.request.parameters.width);
    begun_ = !foreign_;
    pass->in_port = begun_;
    if (begun_) free_ = in_.begin(sampler_.cycle_of_beat(), {pass->request});
    return true;
  }
  if (message.command != Command::read && message.command != Command::write) {
    protest(which + " has command " + std::to_string(static_cast<unsigned>(message.command)) +
            ": a foreign sender can read (0) and write (1)");
    return false;
  }
  if (message.sectors == 0 || message.sectors >> kSectorsPerLine != 0) {
    protest(which + " names sectors " + std::to_string(message.sectors) + " of a line that has 4 (1 to 15)");
    return false;
  }
  if (adopted_.count(message.identifier) != 0) {
    protest(which + ", which a request has that is not answered yet");
    return false;
  }
  if (message.carries) message.beats = beats_for(message.size(), wires_.request.parameters.width);
  return true;
}

Cycle PinTarget::arrived(Cycle t, PinMessage& message) {
  Request* r = nullptr;
  if (PinPass* pass = known(message); pass != nullptr) {
    pass->taken = true;
    r = pass->request;
    if (message.carries && with_data_)
      copy_masked(r->data.data(), message.data.data(), message.bytes & r->bytes);
  } else {
    r = adopt(message);
  }
  if (PinPass* pass = peer_ != nullptr ? peer_->find(message.identifier) : nullptr; pass != nullptr)
    peer_->arrive(*pass);
  if (r == nullptr) return t;
  const Cycle free = begun_ ? free_ : in_.begin(t, {r});
  begun_ = false;
  engine_.wake();
  return free;
}

Request* PinTarget::adopt(const PinMessage& message) {
  if (message.carries && message.bytes.sectors() != message.sectors) {
    protest("a write with identifier " + std::to_string(message.identifier) +
            " has a sector without a strobe");
    return nullptr;
  }
  Request* r = engine_.engine().pool().allocate();
  r->maker = this;
  r->id = kForeignIds | ++adopted_so_far_;
  r->line = PhysicalAddress{message.line};
  r->virtual_line = VirtualAddress{message.line};
  r->command = message.command;
  r->sectors = message.sectors;
  r->bytes = message.bytes;
  if (with_data_) r->data = message.data;
  PinPass& pass = adopted_[message.identifier];
  pass.identifier = message.identifier;
  pass.enter(*r);
  return r;
}

Cycle PinTarget::begin(Cycle t, const ResponseMessage& message) {
  Request* r = message.request;
  PinPass& pass = *static_cast<PinPass*>(r->carried);
  PinMessage wires = describe_response(*r, wires_.response.parameters.width, with_data_);
  wires.identifier = pass.identifier;
  PinPass* const asked = peer_ != nullptr ? peer_->find(pass.identifier) : nullptr;
  if (asked != nullptr && !asked->answering) {
    asked->answering = true;
    asked->in_port = false;
    depart();
  }
  if (r->maker == this) {
    pass.leave();
    adopted_.erase(pass.identifier);
    engine_.engine().pool().release(r);
  }
  driver_.start(t, wires);
  return kNever;
}

void PinTarget::free(Cycle c) {
  out_.end(c);
  engine_.wake();
}

std::string PinTarget::other_side() const {
  return peer_ != nullptr ? peer_->out_.owner().name() : "whatever is on the pins of " + wires_.hop();
}

}  // namespace warpline
