#include "warpline/pcie/pcie.h"

#include <algorithm>

#include "warpline/base/mutation.h"
#include "warpline/fabric/gauge.h"

namespace warpline {

PcieLink::PcieLink(Engine& engine, std::string name, ClockDomain domain, const PcieParameters& parameters,
                   MemoryImage* sysmem, unsigned inputs, PeerMemory* peer)
    : Component(engine, std::move(name), domain),
      core_(parameters, sysmem, peer),
      writers_(std::make_shared<MemoryWriters>()),
      ports_(*this, "from_l2", "to_l2", inputs) {
  WARPLINE_EXPECT(parameters.problems("").empty(), "PCIe parameters are checked before they are used");
  writers_->join(*this);
  ports_.perform_by(*this);
}

PcieLink::PcieLink(PcieLink& beside, std::string name, unsigned inputs)
    : Component(beside, std::move(name)),
      core_(beside.core_),
      writers_(beside.writers_),
      ports_(*this, "from_l2", "to_l2", inputs) {
  writers_->join(*this);
  ports_.perform_by(*this);
}

/// What is due in cycle `now` at the far end takes effect.
void PcieLink::arrive(Cycle now) {
  const std::uint64_t t = domain().edge_at_or_after(now);
  const auto arrive_by = [&](std::deque<Timed>& queue) {
    for (; !queue.empty() && queue.front().at <= t; queue.pop_front())
      arrive_up(queue.front().at, queue.front().transfer);
  };
  arrive_by(up_);
  if (function_ == nullptr) arrive_by(peer_up_);
}

Cycle PcieLink::tick(Cycle now) {
  const std::uint64_t t = domain().edge_at_or_after(now);
  ports_.collect(now);
  writers_->arrive(now);
  if (function_ != nullptr) exchange_with_devices(now, t);
  for (; !returning_.empty() && returning_.front().at <= t; returning_.pop_front())
    send_down(returning_.front().at, returning_.front().transfer);
  for (; !down_.empty() && down_.front().at <= t; down_.pop_front()) arrive_down(down_.front().transfer);
  for (; !posted_.empty() && posted_.front().at <= t; posted_.pop_front()) {
    answer(transfers_[posted_.front().transfer]);
  }
  ports_.send_answers(now);
  if (up_free_ <= t && !legs_.empty()) {
    const std::uint32_t leg = legs_.front();
    legs_.pop_front();
    send_up(t, leg);
  } else if (up_free_ <= t) {
    if (const unsigned port = choose(); port != TargetPorts::kNone) {
      send_up(t, take(ports_.take(now, port), port));
    }
  }
  std::uint64_t next = kNever;
  for (const std::deque<Timed>* queue : {&up_, &peer_up_, &returning_, &down_, &posted_})
    if (!queue->empty()) next = std::min(next, queue->front().at);
  // While the wire is taken, whatever could use it waits for it. What does not fit waits for an
  // answer, which is on its way.
  if (up_free_ > t && (!legs_.empty() || choose() != TargetPorts::kNone)) next = std::min(next, up_free_);
  const Cycle devices = function_ != nullptr ? function_->transmit(now) : kNever;
  return next == kNever ? devices : std::min(devices, domain().cycle_of(next));
}

unsigned PcieLink::tags_of(const Request& r) const {
  if (r.command == Command::write) return 0;
  if (r.command == Command::read) return 1;
  return std::min(r.atomics->count, core_.parameters().tags);
}

bool PcieLink::fits(const Request& r) const {
  return tags_ + tags_of(r) <= core_.parameters().tags &&
         (mutated(Mutation::link_atomic_overtaken) ||
          std::find(looping_.begin(), looping_.end(), r.line) == looping_.end()) &&
         !waits_for_devices(r);
}

unsigned PcieLink::choose() const {
  return ports_.choose([this](const Request& r) { return fits(r); });
}

void PcieLink::perform(Request& r, Cycle& at) {
  // The wire is idle for it: accesses may come with local times in any order.
  const std::uint64_t t = domain().edge_at_or_after(at);
  up_free_ = down_free_ = t;
  std::uint64_t end = t;
  send_up(t, take(&r, TargetPorts::kNone));
  for (;;) {
    if (!posted_.empty()) {
      end = posted_.front().at;
      answer(transfers_[posted_.front().transfer]);
      posted_.pop_front();
    } else if (std::deque<Timed>& up = up_.empty() ? peer_up_ : up_; !up.empty()) {
      const Timed arrival = up.front();
      up.pop_front();
      arrive_up(arrival.at, arrival.transfer);
      if (function_ == nullptr) continue;
      Cycle answered = domain().cycle_of(arrival.at);
      function_->exchange_loosely(answered);
      take_answers(domain().edge_at_or_after(answered));
    } else if (!returning_.empty()) {
      const Timed arrival = returning_.front();
      returning_.pop_front();
      send_down(arrival.at, arrival.transfer);
    } else if (!down_.empty()) {
      const Timed arrival = down_.front();
      down_.pop_front();
      end = arrival.at;
      arrive_down(arrival.transfer);
    } else if (!legs_.empty()) {
      const std::uint32_t leg = legs_.front();
      legs_.pop_front();
      send_up(end, leg);
    } else {
      break;
    }
  }
  up_free_ = down_free_ = 0;
  at = domain().cycle_of(end);
}

bool PcieLink::busy() const {
  return transfers_.size() != free_.size() || ports_.unsent() != 0 ||
         (function_ != nullptr && function_->busy());
}

void PcieLink::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("transfers", transfers_.size() - free_.size(), kUnlimitedGauge,
                "requests on their way over the link");
  visitor.gauge("tags", tags_, core_.parameters().tags, "tags in use: reads and atomics not yet answered");
  visitor.gauge("legs", legs_.size(), kUnlimitedGauge, "further packets of them that wait for the wire");
  visitor.gauge("answers", ports_.unsent(), kUnlimitedGauge, "responses that wait for their channel");
}

void PcieLink::explain(std::vector<Wait>& waits) const {
  if (const std::size_t n = transfers_.size() - free_.size(); n != 0)
    waits.push_back({name(), std::to_string(n) + " transfers to cross the link"});
  ports_.explain(waits);
  if (function_ != nullptr) function_->explain(waits);
}

void PcieLink::in_flight(std::vector<InFlight>& rows) const {
  const auto timed = [&](const std::deque<Timed>& queue, const char* place, const char* why) {
    for (const Timed& t : queue)
      if (const Request* r = transfers_[t.transfer].request; r != nullptr)
        rows.emplace_back(*r, name(), name() + place,
                          why + (" in cycle " + std::to_string(domain().cycle_of(t.at))));
  };
  for (const std::uint32_t index : legs_)
    rows.emplace_back(*transfers_[index].request, name(), name() + " next leg", "the wire upward");
  timed(posted_, " wire upward", "its last packet to be on the wire");
  for (const std::deque<Timed>* queue : {&up_, &peer_up_})
    for (const Timed& t : *queue) {
      const Transfer& transfer = transfers_[t.transfer];
      if (transfer.leg == Leg::write || transfer.leg == Leg::word_writes)
        continue;  // listed while it is owed an answer
      rows.emplace_back(*transfer.request, name(), name() + " wire upward",
                        "its packets to arrive in cycle " + std::to_string(domain().cycle_of(t.at)));
    }
  for (const std::uint32_t index : asking_)
    if (transfers_[index].awaited != 0)
      rows.emplace_back(*transfers_[index].request, name(), name() + " root", "the answers of devices");
  timed(returning_, " peer", "its completion to reach the wire downward");
  timed(down_, " wire downward", "its completion to arrive");
  ports_.in_flight(rows);
}

}  // namespace warpline
