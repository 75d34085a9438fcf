// What the two ends of a hop over sockets hold and wait for.
#include <algorithm>

#include "warpline/fabric/tlm_initiator.h"
#include "warpline/fabric/tlm_pins.h"
#include "warpline/fabric/tlm_report.h"
#include "warpline/fabric/tlm_target.h"

namespace warpline {

std::string InitiatorSocket::other_side() const {
  const tlm::tlm_fw_transport_if<>* bound = get_base_port()[0];
  const auto* target = dynamic_cast<const TargetSocket*>(bound);
  if (target != nullptr) return target->in_.owner().name();
  return bound_to_.empty() ? name_of_bound(bound, *this) : bound_to_;
}

const Component* InitiatorSocket::receiver() const {
  return peer_ != nullptr ? &peer_->in_.owner() : nullptr;
}

const Component* TargetSocket::receiver() const {
  return peer_ != nullptr ? &peer_->out_.owner() : nullptr;
}

std::string TargetSocket::other_side() const {
  const tlm::tlm_bw_transport_if<>* bound = get_base_port()[0];
  const auto* initiator = dynamic_cast<const InitiatorSocket*>(bound);
  return initiator != nullptr ? initiator->out_.owner().name() : name_of_bound(bound, *this);
}

std::string PinInitiator::other_side() const {
  return peer_ != nullptr ? peer_->in_.owner().name() : "whatever is on the pins of " + wires_.hop();
}

std::string PinTarget::other_side() const {
  return peer_ != nullptr ? peer_->out_.owner().name() : "whatever is on the pins of " + wires_.hop();
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

void InitiatorSocket::in_flight(std::vector<InFlight>& rows) const {
  if (transactions_ == nullptr) return;
  const std::string other = other_side();
  for (const Waiting& w : waiting_)
    rows.emplace_back(*w.transaction->request, name(), name(), "room at " + in_.path() + " for the answer",
                      std::vector<std::string>{in_.owner().name()});
  transactions_->for_each_of(number_, [&](const Transaction& x) {
    // Once the answer has entered, the payload stands for nothing. Until then a request that the target has
    // taken itself is listed wherever that has it, unless it is on its way back through foreign modules.
    if (x.state == Transaction::State::entered || ((x.taken || x.extension.accepted) && !x.returned)) return;
    const auto waits = [&x](const Waiting& w) { return w.transaction == &x; };
    if (std::any_of(waiting_.begin(), waiting_.end(), waits)) return;
    rows.emplace_back(*x.request, name(), std::string(name()) + " to " + other, "the answer of " + other,
                      std::vector<std::string>{other});
  });
}

void InitiatorSocket::explain(std::vector<Wait>& waits) const {
  std::vector<InFlight> rows;
  in_flight(rows);
  if (const std::size_t owed = rows.size() - waiting_.size(); owed != 0)
    waits.push_back(
        {name(),
         other_side() + " to answer " + std::to_string(owed) + (owed == 1 ? " request" : " requests"),
         {other_side()}});
}

void TargetSocket::in_flight(std::vector<InFlight>& rows) const {
  if (unended_.payload == nullptr || unended_.entered) return;
  rows.emplace_back(*unended_.request, name(), name(), "room at " + in_.path(),
                    std::vector<std::string>{in_.owner().name()});
}

void TargetSocket::explain(std::vector<Wait>& waits) const {
  if (unended_response_ != nullptr) waits.push_back({name(), "END_RESP of " + other_side(), {other_side()}});
}

}  // namespace warpline
