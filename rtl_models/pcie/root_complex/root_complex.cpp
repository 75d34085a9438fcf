#include "rtl_models/pcie/root_complex/root_complex.h"

#include <algorithm>

#include "rtl_models/pcie/packets/tlp_rules.h"
#include "rtl_models/sim/gauge_visitor.h"

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
  const unsigned port = i + 1;
  to_device(i).cut(core_.pool());
  const std::uint64_t t = domain().edge_at_or_after(engine().now());
  ports_[port].leaving.drain([&](const EgressQueue::Entry& entry) { leave(t, port, entry); });
  wake(engine().now() + 1);
}

Cycle RootComplex::tick(Cycle now) {
  const std::uint64_t t = domain().edge_at_or_after(now);
  writers_->arrive(now);
  // Room first, then what wants it: a packet that is left for want of room is looked at again when what took
  // the room goes on.
  for (unsigned p = 0; p < ports_.size(); ++p) forward(t, p);
  for (unsigned p = 0; p < ports_.size(); ++p) {
    Port& port = ports_[p];
    const auto fits = [&](const Tlp& tlp) {
      const TlpClass of = class_of(tlp.kind);
      if (of == TlpClass::posted && port.held.size() >= core_.parameters().outside_queue) return false;
      return of == TlpClass::completion ||
             port.waiting[static_cast<unsigned>(of)] < core_.parameters().forward_queue;
    };
    while (Tlp* const tlp = port.link->next(now, fits)) {
      port.link->take(now, tlp);
      take(t, p, tlp);
    }
  }
  std::uint64_t next = effects_.empty() ? kNever : effects_.begin()->first;
  Cycle wake = kNever;
  for (Port& port : ports_) {
    next = std::min(next, port.leaving.next());
    wake = std::min(wake, port.link->transmit(now));
  }
  return next == kNever ? wake : std::min(wake, domain().cycle_of(next));
}

void RootComplex::take(std::uint64_t t, unsigned from, Tlp* tlp) {
  if (from != 0 && !core_.up(from - 1)) return core_.pool().release(tlp);
  const TlpRoute route = core_.route(route_of(from), *tlp, domain().cycle_of(t));
  switch (route.to) {
    case TlpRoute::To::memory: {
      const unsigned distance = core_.channel_of(tlp->address) * core_.parameters().channel_distance;
      const std::uint64_t at = effect_edge(t, from, *tlp, distance);
      effects_.emplace(at, Effect{{at, from, false, tlp, downs(from)}});
      return;
    }
    case TlpRoute::To::interrupts: {
      const std::uint64_t at = effect_edge(t, from, *tlp, 0);
      return ports_[0].leaving.push({at, from, false, tlp});
    }
    case TlpRoute::To::port: return cut_and_delay(t, from, number_of(route.port), tlp);
    case TlpRoute::To::unsupported:
    case TlpRoute::To::refused: return refuse(t, from, tlp);
    case TlpRoute::To::dropped: return core_.pool().release(tlp);
  }
}

/// When a packet takes effect in memory, or goes on as an interrupt: in the order that is promised.
std::uint64_t RootComplex::effect_edge(std::uint64_t t, unsigned from, const Tlp& tlp, unsigned distance) {
  std::uint64_t at = t + core_.parameters().memory_latency + distance;
  Port& port = ports_[from];
  if (!tlp.relaxed_ordering) at = std::max(at, port.ordered);
  if (tlp.posted()) port.ordered = std::max(port.ordered, at);
  return at;
}

/// A write or a completion that is too long for the link that it leaves by goes on as several.
void RootComplex::cut_and_delay(std::uint64_t t, unsigned from, unsigned to, Tlp* tlp) {
  if (!too_long(*tlp, to)) return delay(t, from, to, tlp);
  const unsigned boundary = ports_[to].link->parameters().completion_boundary;
  for (const ByteRun& part : tlp->posted()
                                 ? split_request(tlp->address, tlp->bytes, most_payload(to))
                                 : split_completion(tlp->address, tlp->bytes, most_payload(to), boundary)) {
    Tlp* const piece = core_.pool().allocate();
    *piece = part_of(*tlp, part);
    delay(t, from, to, piece);
  }
  core_.pool().release(tlp);
}

/// On to a port: who sees an answer, or a word from a peer, sees what was written before it, in memory, too.
/// What goes back to where it came from is an answer of the root complex itself, which pushes
/// nothing.
void RootComplex::delay(std::uint64_t t, unsigned from, unsigned to, Tlp* tlp) {
  tlp->route = to;
  Port& port = ports_[from];
  std::uint64_t at = t + core_.parameters().forward_latency;
  if (to != from && !tlp->relaxed_ordering) at = std::max(at, port.ordered);
  const TlpClass of = class_of(tlp->kind);
  const bool counted = of != TlpClass::completion;
  if (counted) ++port.waiting[static_cast<unsigned>(of)];
  const EgressQueue::Entry entry{at, from, counted, tlp, downs(from)};
  // By then memory outside may still have a write under way that came before it.
  if (core_.reaches_outside() && from != 0 && to != 0 && to != from && !tlp->relaxed_ordering) {
    effects_.emplace(at, Effect{entry, true});
  } else {
    ports_[to].leaving.push(entry);
  }
}

/// Moves on what is to leave by a port, has waited long enough and finds room.
void RootComplex::forward(std::uint64_t t, unsigned to) {
  const auto fits = [&](const Tlp& tlp) {
    return tlp.kind == TlpKind::completion || !leads_on(to) ||
           ports_[to].link->waiting(class_of(tlp.kind)) < core_.parameters().forward_queue;
  };
  ports_[to].leaving.move(t, fits, [&](const EgressQueue::Entry& entry) { leave(t, to, entry); });
}

void RootComplex::leave(std::uint64_t t, unsigned to, const EgressQueue::Entry& entry) {
  if (entry.counted) --ports_[entry.from].waiting[static_cast<unsigned>(class_of(entry.tlp->kind))];
  if (leads_on(to)) {
    send(to, entry.tlp);
  } else if (entry.tlp->kind == TlpKind::completion || entry.downs != downs(entry.from)) {
    core_.pool().release(entry.tlp);
  } else {
    refuse(t, entry.from, entry.tlp);
  }
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
  for (; !effects_.empty() && effects_.begin()->first <= t; effects_.erase(effects_.begin())) {
    const Effect& effect = effects_.begin()->second;
    Port& port = ports_[effect.entry.from];
    if (port.unfinished != 0) {
      // What is held takes no room on the way: answers of the device, which are to go on, would wait behind
      // it.
      Effect held = effect;
      if (held.entry.counted) --port.waiting[static_cast<unsigned>(class_of(held.entry.tlp->kind))];
      held.entry.counted = false;
      port.held.push_back(held);
    } else {
      take_effect(effect, now);
    }
  }
}

void RootComplex::take_effect(const Effect& effect, Cycle now) {
  const EgressQueue::Entry& entry = effect.entry;
  if (effect.goes_on) return ports_[entry.tlp->route].leaving.push(entry);
  if (const auto status = core_.perform(*entry.tlp, true, now))
    return answer(entry, *status, domain().edge_at_or_after(now));
  ports_[entry.from].unfinished += entry.tlp->posted();
  outside_.push_back(entry);
}

/// The answer to a request that has taken effect in memory leaves from edge `t` on.
void RootComplex::answer(const EgressQueue::Entry& effect, CompletionStatus status, std::uint64_t t) {
  completions_.clear();
  core_.complete(route_of(effect.from), effect.tlp, status, completions_);
  for (Tlp* c : completions_) {
    if (effect.downs != downs(effect.from)) {
      core_.pool().release(c);
    } else {
      ports_[effect.from].leaving.push({t, effect.from, false, c});
    }
  }
}

void RootComplex::finish_outside(const Tlp& request, CompletionStatus status) {
  const auto is_it = [&](const EgressQueue::Entry& entry) { return entry.tlp == &request; };
  const auto found = std::find_if(outside_.begin(), outside_.end(), is_it);
  WARPLINE_EXPECT(found != outside_.end(), "what memory outside is done with was under way there");
  const EgressQueue::Entry effect = *found;
  outside_.erase(found);
  const Cycle now = engine().now() + 1;
  core_.note_outside(request, status, now);
  Port& port = ports_[effect.from];
  port.unfinished -= request.posted();
  answer(effect, status, domain().edge_at_or_after(now));
  while (port.unfinished == 0 && !port.held.empty()) {
    const Effect next = port.held.front();
    port.held.pop_front();
    take_effect(next, now);
  }
  wake(now);
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
      tlp.status = *core_.perform(tlp, false, at);
      t += p.memory_latency + core_.channel_of(tlp.address) * p.channel_distance;
      break;
    case TlpRoute::To::interrupts:
    case TlpRoute::To::port: {
      const unsigned to = route.to == TlpRoute::To::port ? number_of(route.port) : 0;
      Port& port = ports_[to];
      WARPLINE_EXPECT(port.loose != nullptr, "somebody performs what is loosely timed");
      at = domain().cycle_of(t + p.forward_latency + port.link->parameters().cycles_of(tlp.payload()));
      if (too_long(tlp, to)) {
        for (const ByteRun& part : split_request(tlp.address, tlp.bytes, most_payload(to))) {
          Tlp piece = part_of(tlp, part);
          port.loose->perform(piece, at);
        }
      } else {
        port.loose->perform(tlp, at);
      }
      if (to != 0) core_.note_loose_refusal(route_of(from), route.port, tlp, at);
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

bool RootComplex::busy() const {
  return !effects_.empty() || !outside_.empty() ||
         std::any_of(ports_.begin(), ports_.end(),
                     [](const Port& p) { return p.link->busy() || !p.leaving.empty(); });
}

void RootComplex::explain(std::vector<Wait>& waits) const {
  if (!effects_.empty())
    waits.push_back({name(), std::to_string(effects_.size()) + " packets to reach memory"});
  if (!outside_.empty())
    waits.push_back({name(), std::to_string(outside_.size()) + " answers of memory outside of the model"});
  for (const Port& port : ports_) {
    if (const std::size_t n = port.held.size(); n != 0)
      waits.push_back({name(), std::to_string(n) + " packets behind a write of memory outside of the model"});
    if (const std::size_t n = port.leaving.size(); n != 0)
      waits.push_back({name(), std::to_string(n) + " packets to go on to another port"});
    port.link->explain(waits);
  }
}

void RootComplex::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("effects", effects_.size(), kUnlimitedGauge, "packets on their way to system memory");
  std::size_t forwarded = 0;
  for (const Port& port : ports_) forwarded += port.leaving.size();
  std::size_t held = 0;
  for (const Port& port : ports_) held += port.held.size();
  visitor.gauge("held", held, kUnlimitedGauge, "packets behind writes that memory outside has under way");
  visitor.gauge("forwarded", forwarded, kUnlimitedGauge, "packets on their way to another port");
}

}  // namespace warpline
