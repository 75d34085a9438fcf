#pragma once

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

class Engine;
class Netlist;
class Recorder;
class Selection;
class TlpPort;

/// What the hops of a platform's netlists are made of, and who runs their engine: chosen by
/// RunOptions::backend. the default joins ports in plain C++; SystemCBackend runs the
/// platform in a SystemC simulation. A platform has a backend of its own, and calls it; users make one and
/// hand it over.
class WARPLINE_PUBLIC NetlistBackend {
 public:
  virtual ~NetlistBackend() = default;
  [[nodiscard]] virtual Engine& engine() = 0;
  /// Whether connect() puts L2 slices into the netlist that are not the netlist's own.
  [[nodiscard]] virtual bool brings_slices() const { return false; }
  /// Whether it puts DRAM channels there that are not the netlist's own.
  [[nodiscard]] virtual bool brings_dram() const { return false; }
  /// Makes the hops of a netlist. Called once for each, before the first run.
  virtual void connect(Netlist& netlist) = 0;
  /// Makes the hops of a link of PCI Express: root complex to host, device or GPU. Called once for each,
  /// before connect(). The default joins them port to port.
  virtual void connect_link(TlpPort& root, TlpPort& other);
  /// Makes sure that the hops of the netlists are bound, as where SystemC binds them they are not before its
  /// world starts. Pre: connected.
  virtual void bind() {}
  /// The engine's time was set anew: it goes on from there, beside whatever else there is. Pre: at rest.
  virtual void time_was_set() {}
  /// Switches between loosely timed requests and timed ones. Pre: connected; quiescent.
  virtual void set_loose(Netlist& netlist, bool loose) = 0;
  /// Records what the hops show beyond their ports: wires. Pre: connected, and not run yet.
  virtual void record_wires(const Selection& /*selection*/, Recorder& /*recorder*/) {}
  /// A host has written `count` bytes of a GPU's video memory, from `first` on, past the GPU: memories with
  /// bytes of their own are to hear of it. Pre: connected.
  virtual void host_wrote(unsigned /*gpu*/, std::uint64_t /*first*/, std::uint64_t /*count*/) {}
  /// Grids are about to start, from whatever process: the engine's time comes up to that of the world around
  /// it, if others have something under way there.
  virtual void catch_up() {}
  /// Grids have been started: they run as time passes, whoever lets it.
  virtual void wake() {}
  /// The first cycle in which something can happen: a component is ticked, or what lies on wires or in
  /// foreign modules moves. kNever: nothing does any more. run_until() gets there.
  [[nodiscard]] virtual Cycle next_activity() = 0;
  /// Runs as Engine::run_until does.
  virtual RunOutcome run_until(Cycle limit) = 0;
  /// Whether nobody but the platform's own blocks can change what its programs see while it runs.
  [[nodiscard]] virtual bool is_alone() const { return true; }
  /// Every request in flight and all other waits, wherever a run stands.
  [[nodiscard]] virtual Standstill standstill() const = 0;
};

}  // namespace warpline
