#include "rtl_models/sim/probe.h"

#include "rtl_models/base/contract.h"

namespace warpline {

Probe::Probe(Component& original, bool gauges, const std::vector<PortProbe>& ports, Recorder& recorder,
             std::uint32_t& order)
    : Component(original, StandIn{}), original_(original), recorder_(recorder), gauges_(gauges) {
  if (gauges) visit(Purpose::declare, 0);
  for (const PortProbe& p : ports) {
    WARPLINE_EXPECT(p.port->channel() != nullptr && &p.port->owner() == &original,
                    "the receiving ports of a component are observed with it");
    Port port;
    port.what = p;
    port.order = order++;
    if (p.signals) {
      port.occupancy =
          recorder.add_signal({p.port->path() + ".occupancy", 1, "messages sent and not yet taken"});
      port.busy = recorder.add_signal({p.port->path() + ".busy", 1, "a beat is on the wire"});
    }
    ports_.push_back(std::move(port));
  }
  recorder.add_source(*this);
  original.engine().tick_in_place(original, *this);
}

void Probe::describe(std::vector<Signal>& signals) {
  for (const Port& p : ports_)
    if (p.what.signals) signals[p.occupancy].most = p.what.port->channel()->depth;
}

void Probe::gauge(std::string_view name, std::uint64_t value, std::uint64_t most,
                  std::string_view description) {
  switch (purpose_) {
    case Purpose::declare:
      signals_.push_back(
          recorder_.add_signal({original_.name() + "." + std::string(name), most, std::string(description)}));
      values_.push_back(0);
      return;
    case Purpose::initial:
      recorder_.set_initial(signals_[index_], value);
      values_[index_++] = value;
      return;
    case Purpose::change:
      if (values_[index_] != value) recorder_.set(now_, signals_[index_], value);
      values_[index_++] = value;
      return;
  }
}

void Probe::visit(Purpose purpose, Cycle now) {
  purpose_ = purpose;
  index_ = 0;
  now_ = now;
  original_.visit_gauges(*this);
}

/// Pre: the component has not been ticked in the window yet.
void Probe::open() {
  stage_ = Stage::open;
  if (gauges_) visit(Purpose::initial, 0);
  look();
}

void Probe::look(Port& port) {
  for (std::size_t count = port.what.port->occupancy(); port.seen.size() < count;)
    note_begun(port, port.what.port->queued(port.seen.size()));
}

void Probe::note_begun(Port& port, const QueuedMessage& message) {
  Port::Seen seen;
  seen.arrives = message.arrives;
  if (port.what.signals) {
    recorder_.add(message.begun, port.occupancy, 1);
    recorder_.add(message.begun, port.busy, 1);
    recorder_.add(message.wire_free, port.busy, ~std::uint64_t{0});
  }
  if (port.what.messages && message.request != nullptr) {
    const Request& r = *message.request;
    MessageEvent& e = seen.event;
    e.cycle = message.begun;
    e.port = port.what.port;
    e.order = port.order;
    e.response = port.what.responses;
    e.request = &r;
    e.maker = r.maker;
    e.id = r.id;
    e.line = r.line;
    e.command = r.command;
    e.sectors = r.sectors;
    e.status = r.status;
    e.answered_by = r.answered_by;
    e.region = r.region;
    e.sm = r.sm;
    e.warp = r.warp;
    recorder_.message(e);
  }
  port.seen.push_back(seen);
}

/// Pre: the queue was looked at before the tick of cycle `now`, which has been made.
void Probe::note_taken(Port& port, Cycle now) {
  // Others may have begun a message meanwhile, so the count does not tell; arrivals are all different.
  const bool empty = port.what.port->occupancy() == 0;
  const Cycle front = empty ? kNever : port.what.port->queued(0).arrives;
  while (!port.seen.empty() && port.seen.front().arrives < front) {
    if (port.what.signals) recorder_.add(now, port.occupancy, ~std::uint64_t{0});
    MessageEvent& e = port.seen.front().event;
    if (e.port != nullptr) {
      e.cycle = now;
      e.taken = true;
      recorder_.message(e);
    }
    port.seen.pop_front();
  }
}

Cycle Probe::tick(Cycle now) {
  const Window& window = recorder_.window();
  if (stage_ == Stage::after || now < window.first) return original_.tick(now);
  if (stage_ == Stage::before) open();
  look();
  if (now > window.last) {
    stage_ = Stage::after;
    return original_.tick(now);
  }
  const Cycle next = original_.tick(now);
  for (Port& p : ports_)
    if (!p.seen.empty()) note_taken(p, now);
  if (gauges_) visit(Purpose::change, now);
  recorder_.hand_on_settled();
  return next;
}

void Probe::catch_up(Cycle settled) {
  if (stage_ == Stage::after) return;
  if (stage_ == Stage::before) {
    if (settled < recorder_.window().first) return;
    open();
  }
  look();
}

}  // namespace warpline
