// The part of the PCIe link that takes requests from outside to video memory, and their answers back.
#include <algorithm>

#include "warpline/pcie/pcie.h"

namespace warpline {

void PcieLink::take_inbound(unsigned gpu, std::uint64_t memory_bytes) {
  WARPLINE_EXPECT(inbound_ == nullptr && function_ == nullptr && core_.parameters().bar_bytes != 0,
                  "a GPU with a BAR has one way to video memory");
  inbound_ = std::make_unique<Inbound>(*this, gpu);
  memory_bytes_ = memory_bytes;
}

/// What the crossbar has answered. Returns when there is more to do.
Cycle PcieLink::take_from_inbound(Cycle now) {
  const Cycle next = inbound_->tick(now);
  for (auto& finished = inbound_->finished(); !finished.empty(); finished.pop_front()) {
    Tlp* const tlp = finished.front();
    if (tlp->posted()) {
      function_->complete(tlp);
    } else {
      inbound_answers_.push_back(tlp);
    }
  }
  return next;
}

/// Whether no write to video memory that came before a device's answer is left to be performed.
bool PcieLink::is_in_order(const Transfer& transfer) const {
  return inbound_ == nullptr || inbound_->writes_done() >= transfer.behind;
}

void PcieLink::exchange_with_devices(Cycle now, std::uint64_t t) {
  for (; !peer_up_.empty() && peer_up_.front().at <= t; peer_up_.pop_front())
    arrive_up(peer_up_.front().at, peer_up_.front().transfer);
  for (; !answers_up_.empty() && answers_up_.front().at <= t; answers_up_.pop_front())
    function_->complete(answers_up_.front().request);
  GpuFunction::Room room;
  if (inbound_ != nullptr) {
    const auto unsent = static_cast<unsigned>(inbound_answers_.size());
    room = {inbound_->room(TlpClass::posted), inbound_->room(TlpClass::non_posted) - unsent};
  }
  function_->exchange(now, room);
  for (auto& claimed = function_->claimed(); !claimed.empty(); claimed.pop_front()) {
    const PcieTrain train = core_.packet(claimed.front().tlp->payload());
    count(train, counters_.bytes_down);
    down_free_ = std::max(t, down_free_) + train.cycles;
    const Cycle arrives = domain().cycle_of(down_free_ + core_.parameters().latency);
    inbound_->expect(claimed.front().tlp, claimed.front().offset, arrives);
  }
  take_answers(t);
}

/// Puts an answer on the wire upward. Pre: it is free, and there is one.
void PcieLink::answer_inbound(std::uint64_t t) {
  Tlp* const tlp = inbound_answers_.front();
  inbound_answers_.pop_front();
  const PcieTrain train = core_.completion(tlp->payload());
  count(train, counters_.bytes_up);
  up_free_ = t + train.cycles;
  answers_up_.push_back({up_free_ + core_.parameters().latency, tlp});
}

void PcieLink::perform_inbound(Tlp& tlp, std::uint64_t offset, Cycle& at) {
  const unsigned latency = core_.parameters().latency;
  const PcieTrain down = core_.packet(tlp.payload());
  count(down, counters_.bytes_down);
  at = domain().cycle_of(domain().edge_at_or_after(at) + down.cycles + latency);
  inbound_->perform(tlp, offset, at);
  if (tlp.posted()) return;
  const PcieTrain up = core_.completion(tlp.payload());
  count(up, counters_.bytes_up);
  at = domain().cycle_of(domain().edge_at_or_after(at) + up.cycles + latency);
}

}  // namespace warpline
