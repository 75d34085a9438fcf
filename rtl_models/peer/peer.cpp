#include "warpline/peer/peer.h"

#include <algorithm>

namespace warpline {

Peer::Peer(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool, FunctionId id,
           const PeerParameters& parameters, const LinkParameters& link, unsigned mhz)
    : Component(engine, std::move(name), domain),
      pool_(pool),
      parameters_(parameters),
      endpoint_(pool, id, PeerCore::description(parameters), link),
      core_(endpoint_, parameters, mhz),
      link_(*this, "root", link) {
  endpoint_.request_no_snoop(parameters.no_snoop);
  link_.on_request([this](const Tlp& tlp, Cycle now) { endpoint_.sent(tlp, now); });
}

Cycle Peer::tick(Cycle now) {
  const std::uint64_t t = domain().edge_at_or_after(now);
  take(now, t);
  for (; !answers_.empty() && answers_.front().at <= t; answers_.pop_front()) {
    Tlp* const request = answers_.front().request;
    endpoint_.complete(request, CompletionStatus::successful, request->data.data());
  }
  Cycle next = work(now);
  for (auto& packets = endpoint_.outgoing(); !packets.empty(); packets.pop_front())
    link_.send(packets.front());
  next = std::min(next, link_.transmit(now));
  next = std::min(next, endpoint_.next_expiry());
  if (!answers_.empty()) next = std::min(next, domain().cycle_of(answers_.front().at));
  return next;
}

void Peer::take(Cycle now, std::uint64_t t) {
  const auto fits = [this](const Tlp& tlp) {
    return class_of(tlp.kind) != TlpClass::non_posted || answers_.size() < kAnswers;
  };
  while (Tlp* const tlp = link_.next(now, fits)) {
    link_.take(now, tlp);
    if (!present_) {
      pool_.release(tlp);
      continue;
    }
    EndpointCore::BarRequest request;
    const bool for_device = endpoint_.receive(tlp, request);
    if (endpoint_.config().take_soft_reset()) core_.power_on();
    if (!for_device) continue;
    core_.perform(request.where, *request.tlp, now);
    if (request.tlp->posted()) {
      pool_.release(request.tlp);
    } else {
      answers_.push_back({t + parameters_.access_latency, request.tlp});
    }
  }
}

/// What the engine has to do. Returns when it has more.
Cycle Peer::work(Cycle now) {
  if (loose_) return run_loosely(now);
  endpoint_.expire(now);
  const auto waiting = static_cast<unsigned>(std::min<std::size_t>(link_.waiting(), parameters_.write_queue));
  const unsigned room = parameters_.write_queue - waiting;
  const Cycle more = core_.step(now, room);
  Cycle next = more;
  endpoint_.send_interrupts();
  // A full queue may be empty before anything else happens.
  if (core_.busy() && endpoint_.outgoing().size() + waiting >= parameters_.write_queue)
    next = std::min(next, domain().cycle_of(domain().edge_at_or_after(now) + 1));
  return next;
}

/// Does all that can be done in cycle `now`. Returns when there is more to do. What it does may come back to
/// it by way of another device; then whoever began goes on with it, so that however often two devices call
/// each other, neither call is inside the other for long.
Cycle Peer::run_loosely(Cycle now) {
  WARPLINE_EXPECT(root_ != nullptr, "somebody performs what is loosely timed");
  if (running_) return kNever;
  running_ = true;
  auto& packets = endpoint_.outgoing();
  for (;;) {
    const Cycle next = core_.step(now, parameters_.write_queue);
    endpoint_.send_interrupts();
    if (packets.empty()) {
      running_ = false;
      return next;
    }
    while (!packets.empty()) {
      Tlp* const tlp = packets.front();
      packets.pop_front();
      Cycle at = now;
      endpoint_.perform_outside(tlp, *root_, at);
    }
  }
}

void Peer::perform(Tlp& tlp, Cycle& at) {
  tlp.status = CompletionStatus::unsupported_request;
  if (!present_) return;
  EndpointCore::BarRequest request;
  const bool for_device = endpoint_.receive_loosely(tlp, request);
  if (endpoint_.config().take_soft_reset()) core_.power_on();
  if (for_device) {
    core_.perform(request.where, *request.tlp, at);
    tlp.status = CompletionStatus::successful;
    tlp.data.swap(request.tlp->data);
    pool_.release(request.tlp);
    at = domain().cycle_of(domain().edge_at_or_after(at) + parameters_.access_latency);
  }
  if (const Cycle next = run_loosely(at); next != kNever) wake(next);
}

void Peer::hot_reset() {
  endpoint_.reset();
  core_.power_on();
  link_.cut(pool_);
  for (const Answer& a : answers_) pool_.release(a.request);
  answers_.clear();
}

void Peer::set_present(bool present) {
  if (present != present_) hot_reset();
  present_ = present;
}

bool Peer::busy() const {
  return link_.busy() || !answers_.empty() || core_.busy() || endpoint_.reads_in_flight() != 0;
}

void Peer::explain(std::vector<Wait>& waits) const {
  if (const unsigned n = endpoint_.reads_in_flight(); n != 0)
    waits.push_back({name(), std::to_string(n) + " reads of memory"});
  if (core_.busy()) waits.push_back({name(), "its commands to be completed"});
  link_.explain(waits);
}

}  // namespace warpline
