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
  Cycle outside = kNever;
  if (function_ != nullptr) {
    if (inbound_ != nullptr) outside = take_from_inbound(now);
    exchange_with_devices(now, t);
  }
  for (; !returning_.empty() && returning_.front().at <= t; returning_.pop_front())
    send_down(returning_.front().at, returning_.front().transfer);
  for (; !down_.empty() && down_.front().at <= t; down_.pop_front()) arrive_down(down_.front().transfer);
  for (; !devices_down_.empty() && devices_down_.front().at <= t; devices_down_.pop_front()) {
    if (!is_in_order(transfers_[devices_down_.front().transfer])) break;
    arrive_down(devices_down_.front().transfer);
  }
  for (; !posted_.empty() && posted_.front().at <= t; posted_.pop_front()) {
    answer(transfers_[posted_.front().transfer]);
  }
  ports_.send_answers(now);
  if (function_ != nullptr) park(now);
  const std::size_t unsent = inbound_answers_.size();
  if (up_free_ <= t) put_up(now, t);
  // There is room for another request from outside, which is looked for at the next edge.
  std::uint64_t next = inbound_answers_.size() != unsent ? t + 1 : kNever;
  for (const std::deque<Timed>* queue : {&up_, &peer_up_, &returning_, &down_, &posted_})
    if (!queue->empty()) next = std::min(next, queue->front().at);
  if (!answers_up_.empty()) next = std::min(next, answers_up_.front().at);
  // One that is due stays behind writes, and goes when L2 answers these.
  if (!devices_down_.empty() && devices_down_.front().at > t) next = std::min(next, devices_down_.front().at);
  // While the wire is taken, whatever could use it waits for it. What does not fit waits for an
  // answer, which is on its way.
  if (up_free_ > t && wants_wire()) next = std::min(next, up_free_);
  if (function_ != nullptr) outside = std::min(outside, function_->transmit(now));
  return next == kNever ? outside : std::min(outside, domain().cycle_of(next));
}

bool PcieLink::wants_wire() const {
  return !legs_.empty() || !inbound_answers_.empty() || parked_goes() || choose() != TargetPorts::kNone;
}

/// What is next on the wire upward, which is free: further legs, then answers to those outside and new
/// requests by turns.
void PcieLink::put_up(Cycle now, std::uint64_t t) {
  if (!legs_.empty()) {
    const std::uint32_t leg = legs_.front();
    legs_.pop_front();
    return send_up(t, leg);
  }
  const bool parked = parked_goes();
  const unsigned port = parked ? TargetPorts::kNone : choose();
  const bool asks = parked || port != TargetPorts::kNone;
  if (!inbound_answers_.empty() && !(asks && answered_last_)) {
    answered_last_ = true;
    return answer_inbound(t);
  }
  if (!asks) return;
  answered_last_ = false;
  if (!parked) return send_up(t, take(ports_.take(now, port), port));
  const Parked p = parked_.front();
  parked_.pop_front();
  send_up(t, take(p.request, p.port));
}

unsigned PcieLink::tags_of(const Request& r) const {
  if (r.command == Command::write || is_for_devices(r)) return 0;
  if (r.command == Command::read) return 1;
  return std::min(r.atomics->count, core_.parameters().tags);
}

bool PcieLink::fits(const Request& r) const {
  return tags_ + tags_of(r) <= core_.parameters().tags && !waits_for_line(r) &&
         (parked_.empty() || !is_for_devices(r));
}

/// Whether a request would have to stay behind one on its line that is not answered: an atomic of several
/// round trips, or one to a device that it may overtake.
bool PcieLink::waits_for_line(const Request& r) const {
  if (!mutated(Mutation::link_atomic_overtaken) &&
      std::find(looping_.begin(), looping_.end(), r.line) != looping_.end())
    return true;
  return std::any_of(asking_.begin(), asking_.end(), [&](std::uint32_t index) {
    const Request& earlier = *transfers_[index].request;
    return earlier.line == r.line && (r.command != Command::read || earlier.command != Command::read);
  });
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
    } else if (!devices_down_.empty()) {
      const Timed arrival = devices_down_.front();
      devices_down_.pop_front();
      end = arrival.at;
      // Writes that are not performed are somebody's who is blocked below.
      while (!is_in_order(transfers_[arrival.transfer]))
        end = std::max(end, domain().edge_at_or_after(engine().wait_below()));
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
  return transfers_.size() != free_.size() || ports_.unsent() != 0 || !parked_.empty() ||
         !inbound_answers_.empty() || !answers_up_.empty() || (inbound_ != nullptr && inbound_->busy()) ||
         (function_ != nullptr && function_->busy());
}

void PcieLink::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("transfers", transfers_.size() - free_.size(), kUnlimitedGauge,
                "requests on their way over the link");
  visitor.gauge("tags", tags_, core_.parameters().tags, "tags in use: reads and atomics not yet answered");
  visitor.gauge("legs", legs_.size(), kUnlimitedGauge, "further packets of them that wait for the wire");
  visitor.gauge("answers", ports_.unsent(), kUnlimitedGauge, "responses that wait for their channel");
  if (function_ != nullptr)
    visitor.gauge("parked", parked_.size(), kUnlimitedGauge,
                  "requests for devices, the first of which waits for an answer about its line");
  if (inbound_ != nullptr) inbound_->visit_gauges(visitor);
}

void PcieLink::explain(std::vector<Wait>& waits) const {
  if (const std::size_t n = transfers_.size() - free_.size(); n != 0)
    waits.push_back({name(), std::to_string(n) + " transfers to cross the link"});
  if (!parked_.empty())
    waits.push_back({name(), std::to_string(parked_.size()) +
                                 " requests, the first of which waits for an answer about its line"});
  if (const std::size_t n = inbound_answers_.size() + answers_up_.size(); n != 0)
    waits.push_back({name(), std::to_string(n) + " answers about video memory to cross the link"});
  ports_.explain(waits);
  if (function_ != nullptr) function_->explain(waits);
  if (inbound_ != nullptr) inbound_->explain(waits);
}

void PcieLink::in_flight(std::vector<InFlight>& rows) const {
  const auto timed = [&](const std::deque<Timed>& queue, const char* place, const char* why) {
    for (const Timed& t : queue)
      if (const Request* r = transfers_[t.transfer].request; r != nullptr)
        rows.emplace_back(*r, name(), name() + place,
                          why + (" in cycle " + std::to_string(domain().cycle_of(t.at))));
  };
  for (const Parked& p : parked_)
    rows.emplace_back(*p.request, name(), name() + " parked", "an answer about its line, or its turn");
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
  for (const Timed& d : devices_down_)
    rows.emplace_back(*transfers_[d.transfer].request, name(), name() + " wire downward",
                      "its completion to arrive behind what was written to video memory");
  ports_.in_flight(rows);
}

}  // namespace warpline
