#include "rtl_models/tlm/pin_clock.h"

#include <algorithm>

#include "rtl_models/tlm/engine_process.h"

namespace warpline {

PinClock::PinClock(const sc_core::sc_module_name& name, EngineProcess& engine, const ClockDomain& domain)
    : sc_module(name), engine_(engine), domain_(domain) {
  SC_HAS_PROCESS(PinClock);
  SC_METHOD(toggle);
  dont_initialize();
  sensitive << toggle_;
}

void PinClock::hold() {
  ++holds_;
  start();
}

void PinClock::start() {
  if (running_) return;
  running_ = true;
  wait_for_edge();
}

void PinClock::rephase() {
  if (!running_) return;
  toggle_.cancel();
  if (signal.read()) {
    toggle_.notify(sc_core::SC_ZERO_TIME);  // falls at once, so that no edge of the new time is missed
  } else {
    wait_for_edge();
  }
}

Cycle PinClock::next_edge() const {
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  const Cycle edge = domain_.align(engine_.cycle_of(now));
  // A run may have ended just before an edge: then that is the first of the next.
  const sc_core::sc_time at = engine_.start_of(edge);
  return at < now || at == risen_ ? domain_.after(edge, 1) : edge;
}

void PinClock::wait_for_edge() {
  toggle_.notify(engine_.start_of(next_edge()) - sc_core::sc_time_stamp());
}

void PinClock::toggle() {
  if (signal.read()) {
    signal.write(false);
    running_ = holds_ != 0 || engine_.active();
    if (running_) wait_for_edge();
    return;
  }
  signal.write(true);
  risen_ = sc_core::sc_time_stamp();
  engine_.note_clock();
  const Cycle c = engine_.cycle_of(sc_core::sc_time_stamp());
  const sc_core::sc_time period = engine_.start_of(domain_.after(c, 1)) - engine_.start_of(c);
  toggle_.notify(sc_core::sc_time::from_value(period.value() / 2));
}

PinClock& Pins::clock(const ClockDomain& domain) {
  for (PinClock& c : clocks_)
    if (c.domain() == domain) return c;
  return clocks_.emplace_back(sc_core::sc_gen_unique_name("domain"), engine_, domain);
}

Cycle Pins::next_edge() const {
  Cycle first = kNever;
  if (in_flight())
    for (const PinClock& c : clocks_) first = std::min(first, c.next_edge());
  return first;
}

void Pins::start_clocks() {
  for (PinClock& c : clocks_) c.start();
}

void Pins::rephase() {
  for (PinClock& c : clocks_) c.rephase();
}

}  // namespace warpline
