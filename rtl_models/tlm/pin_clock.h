#pragma once

#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/clock_domain.h"

namespace warpline {

class EngineProcess;
class PinWires;

/// A clock domain as a signal: rises where its edges fall, at the start of their cycle, and falls half way to
/// the next. It runs while the engine has work, and while it is held (hold()); else it stands still, low.
class WARPLINE_PUBLIC PinClock final : public sc_core::sc_module {
 public:
  PinClock(const sc_core::sc_module_name& name, EngineProcess& engine, const ClockDomain& domain);

  sc_core::sc_signal<bool> signal{"clock"};
  [[nodiscard]] const ClockDomain& domain() const { return domain_; }
  /// Keeps it running until release() has been called as often.
  void hold();
  void release() { --holds_; }
  /// Lets it run, if it stands.
  void start();
  /// The cycle of the first edge of its domain that lies ahead, or is now and has not risen yet.
  [[nodiscard]] Cycle next_edge() const;
  /// The engine's cycles have been moved against SystemC's time: edges fall elsewhere from now on.
  void rephase();

 private:
  void toggle();
  void wait_for_edge();

  EngineProcess& engine_;
  ClockDomain domain_;
  unsigned holds_ = 0;
  bool running_ = false;
  sc_core::sc_time risen_;  ///< when it rose last; at time zero nothing does
  sc_core::sc_event toggle_;
};

/// The hops of an engine that are opened as pins: who looks at waves finds all signals here.
///
///     for (PinWires* hop : engine.pins().wires())
///       for (PinChannel* c : {&hop->request, &hop->response}) c->visit(...);
class WARPLINE_PUBLIC Pins {
 public:
  explicit Pins(EngineProcess& engine) : engine_(engine) {}

  /// Every bundle of wires, in the order in which they were made.
  [[nodiscard]] const std::vector<PinWires*>& wires() const { return wires_; }
  /// The clock of a domain. Pre: elaboration has not ended, or the same clock was asked for before.
  [[nodiscard]] PinClock& clock(const ClockDomain& domain);

  void add(PinWires& wires) { wires_.push_back(&wires); }
  /// The hops that have foreign hardware between two Warpline ends: only timed requests cross them.
  void add_hardware(const std::string& hop) { hardware_.push_back(hop); }
  [[nodiscard]] const std::vector<std::string>& hardware() const { return hardware_; }
  /// A message goes onto wires between two Warpline ends, or a credit is on its way back, and arrives:
  /// meanwhile the engine is not idle.
  void depart() { ++in_flight_; }
  void arrive() { --in_flight_; }
  [[nodiscard]] bool in_flight() const { return in_flight_ != 0; }
  /// The cycle of the first edge that moves what is in flight; kNever: nothing is.
  [[nodiscard]] Cycle next_edge() const;
  /// Called by the engine: it has work, and its time has moved.
  void start_clocks();
  void rephase();

 private:
  EngineProcess& engine_;
  std::vector<PinWires*> wires_;
  std::vector<std::string> hardware_;
  std::deque<PinClock> clocks_;
  std::size_t in_flight_ = 0;
};

}  // namespace warpline
