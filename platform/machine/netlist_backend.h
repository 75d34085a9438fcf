#pragma once

#include <string>
#include <vector>

#include "rtl_models/sim/engine.h"

namespace warpline {

class Netlist;
class Recorder;
class Selection;

/// What the hops of netlists are made of, and who runs their engine.
class NetlistBackend {
 public:
  virtual ~NetlistBackend() = default;
  [[nodiscard]] virtual Engine& engine() = 0;
  /// Whether connect() puts L2 slices into the netlist that are not the netlist's own.
  [[nodiscard]] virtual bool brings_slices() const { return false; }
  /// Makes the hops of a netlist. Called once for each, before the first run.
  virtual void connect(Netlist& netlist) = 0;
  /// Switches between loosely timed requests and timed ones. Pre: connected; quiescent.
  virtual void set_loose(Netlist& netlist, bool loose) = 0;
  /// Whether all hops take loosely timed requests.
  [[nodiscard]] virtual bool takes_loose() const { return true; }
  /// Records what the hops show beyond their ports: wires. Pre: connected, and not run yet.
  virtual void record_wires(const Selection& /*selection*/, Recorder& /*recorder*/) {}
  /// Runs as Engine::run_until does.
  virtual RunOutcome run_until(Cycle limit) = 0;
  /// Every request in flight and all other waits, wherever a run stands.
  [[nodiscard]] virtual Standstill standstill() const = 0;
};

/// Port to port, in plain C++.
class DirectBackend final : public NetlistBackend {
 public:
  explicit DirectBackend(TickMode mode = TickMode::lazy, std::uint64_t seed = 1) : engine_(mode, seed) {}
  [[nodiscard]] Engine& engine() override { return engine_; }
  void connect(Netlist& netlist) override;
  void set_loose(Netlist& netlist, bool loose) override;
  RunOutcome run_until(Cycle limit) override { return engine_.run_until(limit); }
  [[nodiscard]] Standstill standstill() const override { return engine_.standstill(); }

 private:
  Engine engine_;
};

}  // namespace warpline
