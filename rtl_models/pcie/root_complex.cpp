#include "warpline/pcie/root_complex.h"

#include <algorithm>

#include "warpline/fabric/gauge.h"

namespace warpline {

RootComplex::RootComplex(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool,
                         const RootComplexParameters& parameters, MemoryImage& sysmem,
                         const LinkParameters& host, const std::vector<LinkParameters>& links)
    : Component(engine, std::move(name), domain),
      core_(pool, parameters, sysmem, links),
      writers_(std::make_shared<MemoryWriters>()) {
  make_ports(host, links);
}

RootComplex::RootComplex(const Component& beside, std::string name, std::shared_ptr<MemoryWriters> writers,
                         TlpPool& pool, const RootComplexParameters& parameters, MemoryImage& sysmem,
                         const LinkParameters& host, const std::vector<LinkParameters>& links)
    : Component(beside, std::move(name)),
      core_(pool, parameters, sysmem, links),
      writers_(std::move(writers)) {
  make_ports(host, links);
}

void RootComplex::make_ports(const LinkParameters& host, const std::vector<LinkParameters>& links) {
  writers_->join(*this);
  ports_.resize(links.size() + 1);
  ports_[0].link = std::make_unique<TlpPort>(*this, "host", host);
  for (std::size_t i = 0; i < links.size(); ++i)
    ports_[i + 1].link = std::make_unique<TlpPort>(*this, "device[" + std::to_string(i) + "]", links[i]);
}

void RootComplex::set_link(unsigned i, bool up) {
  core_.set_up(i, up);
  if (up) return;
  to_device(i).drop(core_.pool());
  forget_answers(i + 1);
}

/// Drops the answers that are on their way to a port: a device that comes back there would take them for its
/// own.
void RootComplex::forget_answers(unsigned to) {
  for (auto& [when, effect] : effects_) effect.forgotten = effect.forgotten || effect.from == to;
  const auto forgets = [&](Tlp* tlp) {
    if (tlp->kind != TlpKind::completion || tlp->route != to) return false;
    core_.pool().release(tlp);
    return true;
  };
  for (Port& port : ports_) {
    const auto kept = std::remove_if(port.delayed.begin(), port.delayed.end(),
                                     [&](const auto& entry) { return forgets(entry.second); });
    port.delayed.erase(kept, port.delayed.end());
    TlpQueue queue;
    port.forwarded.drain([&](Tlp* tlp) {
      if (!forgets(tlp)) queue.push(tlp);
    });
    port.forwarded = std::move(queue);
  }
}

Cycle RootComplex::tick(Cycle now) {
  const std::uint64_t t = domain().edge_at_or_after(now);
  writers_->arrive(now);
  std::uint64_t next = kNever;
  // Room first, then what wants it: a packet that is left for want of room is looked at again when what took
  // the room goes on.
  for (unsigned p = 0; p < ports_.size(); ++p)
    if (forward(t, p)) next = std::min(next, t + 1);
  for (unsigned p = 0; p < ports_.size(); ++p) {
    Port& port = ports_[p];
    const auto fits = [&](const Tlp& tlp) {
      return tlp.kind == TlpKind::completion ||
             port.delayed.size() + port.forwarded.size() < core_.parameters().forward_queue;
    };
    while (Tlp* const tlp = port.link->next(now, fits)) {
      port.link->take(now, tlp);
      take(t, p, tlp);
    }
    if (!port.delayed.empty()) next = std::min(next, port.delayed.front().first);
  }
  Cycle wake = kNever;
  for (Port& port : ports_) wake = std::min(wake, port.link->transmit(now));
  if (!effects_.empty()) next = std::min(next, effects_.begin()->first.first);
  return next == kNever ? wake : std::min(wake, domain().cycle_of(next));
}

void RootComplex::take(std::uint64_t t, unsigned from, Tlp* tlp) {
  if (from != 0 && !core_.up(from - 1)) return core_.pool().release(tlp);
  const TlpRoute route = core_.route(route_of(from), *tlp, domain().cycle_of(t));
  switch (route.to) {
    case TlpRoute::To::memory: return schedule(t, from, tlp, false);
    case TlpRoute::To::interrupts: return schedule(t, from, tlp, true);
    case TlpRoute::To::port: return delay(t, from, number_of(route.port), tlp);
    case TlpRoute::To::unsupported:
    case TlpRoute::To::refused: return refuse(t, from, tlp);
    case TlpRoute::To::dropped: return core_.pool().release(tlp);
  }
}

/// The effect in memory, or of an interrupt at the host: in the order that is promised.
void RootComplex::schedule(std::uint64_t t, unsigned from, Tlp* tlp, bool interrupt) {
  const RootComplexParameters& p = core_.parameters();
  std::uint64_t at = t + p.memory_latency;
  if (!interrupt) at += core_.channel_of(tlp->address) * p.channel_distance;
  Port& port = ports_[from];
  if (!tlp->relaxed_ordering) at = std::max(at, port.ordered);
  if (tlp->posted()) port.ordered = std::max(port.ordered, at);
  effects_.emplace(std::pair{at, arrivals_++}, Effect{tlp, from, interrupt});
}

void RootComplex::refuse(std::uint64_t t, unsigned from, Tlp* tlp) {
  completions_.clear();
  core_.complete(route_of(from), tlp, CompletionStatus::unsupported_request, completions_);
  for (Tlp* c : completions_) delay(t, from, from, c);
}

/// On to a port: who sees an answer, or a word from a peer, sees what was written before it, in memory, too.
/// What goes back to where it came from is an answer of the root complex itself, which pushes
/// nothing.
void RootComplex::delay(std::uint64_t t, unsigned from, unsigned to, Tlp* tlp) {
  tlp->route = to;
  Port& port = ports_[from];
  std::uint64_t at = t + core_.parameters().forward_latency;
  if (to != from && !tlp->relaxed_ordering) at = std::max(at, port.ordered);
  const auto later =
      std::upper_bound(port.delayed.begin(), port.delayed.end(), at,
                       [](std::uint64_t edge, const auto& entry) { return edge < entry.first; });
  port.delayed.emplace(later, at, tlp);
}

/// Moves on what has waited long enough and finds room. Whether something is left that only waits for room.
bool RootComplex::forward(std::uint64_t t, unsigned from) {
  Port& port = ports_[from];
  for (; !port.delayed.empty() && port.delayed.front().first <= t; port.delayed.pop_front())
    port.forwarded.push(port.delayed.front().second);
  const auto fits = [&](const Tlp& tlp) {
    return tlp.kind == TlpKind::completion || !leads_on(tlp.route) ||
           ports_[tlp.route].link->waiting() < core_.parameters().forward_queue;
  };
  while (Tlp* const tlp = port.forwarded.choose(fits)) {
    port.forwarded.take(tlp);
    if (leads_on(tlp->route)) {
      send(tlp->route, tlp);
    } else if (tlp->kind == TlpKind::completion) {
      core_.pool().release(tlp);
    } else {
      refuse(t, from, tlp);
    }
  }
  return !port.forwarded.empty();
}

void RootComplex::send(unsigned to, Tlp* tlp) {
  switch (decide_ ? decide_(route_of(to), *tlp) : Injection::none) {
    case Injection::none: break;
    case Injection::lose: return core_.pool().release(tlp);
    case Injection::damage: tlp->poisoned = !tlp->data.empty(); break;
    case Injection::refuse:
      if (tlp->kind != TlpKind::completion) break;
      tlp->status = CompletionStatus::unsupported_request;
      tlp->bytes = tlp->remaining = 0;
      tlp->data.clear();
      break;
  }
  ports_[to].link->send(tlp);
}

void RootComplex::arrive(Cycle now) {
  const std::uint64_t t = domain().edge_at_or_after(now);
  for (; !effects_.empty() && effects_.begin()->first.first <= t; effects_.erase(effects_.begin())) {
    const Effect effect = effects_.begin()->second;
    if (effect.interrupt) {
      send(0, effect.tlp);
      continue;
    }
    core_.perform(*effect.tlp);
    completions_.clear();
    core_.complete(route_of(effect.from), effect.tlp, CompletionStatus::successful, completions_);
    for (Tlp* c : completions_) {
      if (effect.forgotten) {
        core_.pool().release(c);
      } else {
        send(effect.from, c);
      }
    }
  }
}

bool RootComplex::busy() const {
  return !effects_.empty() || std::any_of(ports_.begin(), ports_.end(), [](const Port& p) {
    return p.link->busy() || !p.delayed.empty() || !p.forwarded.empty();
  });
}

void RootComplex::explain(std::vector<Wait>& waits) const {
  if (!effects_.empty())
    waits.push_back({name(), std::to_string(effects_.size()) + " packets to reach memory"});
  for (const Port& port : ports_) {
    if (const std::size_t n = port.delayed.size() + port.forwarded.size(); n != 0)
      waits.push_back({name(), std::to_string(n) + " packets to go on to another port"});
    port.link->explain(waits);
  }
}

void RootComplex::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("effects", effects_.size(), kUnlimitedGauge, "packets on their way to system memory");
  std::size_t forwarded = 0;
  for (const Port& port : ports_) forwarded += port.delayed.size() + port.forwarded.size();
  visitor.gauge("forwarded", forwarded, kUnlimitedGauge, "packets on their way to another port");
}

void RootComplex::perform(Tlp& tlp, Cycle& at) {
  const unsigned bus = tlp.requester.value >> 8U;
  const unsigned from = bus < ports_.size() ? bus : 0;
  tlp.status = CompletionStatus::unsupported_request;
  if (from != 0 && !core_.up(from - 1)) return;
  const std::uint64_t address = tlp.address;
  const TlpRoute route = core_.route(route_of(from), tlp, at);
  const RootComplexParameters& p = core_.parameters();
  std::uint64_t t = domain().edge_at_or_after(at);
  switch (route.to) {
    case TlpRoute::To::memory:
      core_.perform(tlp);
      tlp.status = CompletionStatus::successful;
      t += p.memory_latency + core_.channel_of(tlp.address) * p.channel_distance;
      break;
    case TlpRoute::To::interrupts:
    case TlpRoute::To::port: {
      Port& port = ports_[route.to == TlpRoute::To::port ? number_of(route.port) : 0];
      WARPLINE_EXPECT(port.loose != nullptr, "somebody performs what is loosely timed");
      at = domain().cycle_of(t + p.forward_latency + port.link->parameters().cycles_of(tlp.payload()));
      port.loose->perform(tlp, at);
      t = domain().edge_at_or_after(at) + p.forward_latency;
      if (!tlp.posted()) t += port.link->parameters().cycles_of(tlp.payload());
      break;
    }
    case TlpRoute::To::unsupported:
    case TlpRoute::To::refused:
    case TlpRoute::To::dropped: t += p.forward_latency; break;
  }
  tlp.address = address;
  at = domain().cycle_of(t);
}

}  // namespace warpline
