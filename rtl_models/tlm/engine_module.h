#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

class EngineProcess;
class Pins;

/// How messages cross hops between two Warpline modules.
enum class HopTransport : std::uint8_t {
  direct,  ///< port to port, negotiated over the socket binding
  socket,  ///< nb_transport, as if the other side were foreign
};

/// How an InitiatorSocket tells a foreign target that it has taken a response. Cycles and counters are the
/// same; between two Warpline modules without a foreign one between, nobody sees which.
enum class EndResponse : std::uint8_t {
  /// BEGIN_RESP is answered with TLM_ACCEPTED; END_RESP comes by a call of nb_transport_fw, when it takes
  /// effect. All targets of the base protocol know that.
  by_call,
  /// TLM_UPDATED with END_RESP and its time, wherever that is known at once; else a call, as soon as it is.
  /// It
  /// is less to do, and as legal, but some public targets stop at it.
  by_return,
};

/// What all Warpline modules of one netlist share: the engine that ticks their components in SystemC time, in
/// the middle of each cycle in which one has work. Made by make_engine() before them; it has no sockets.
///
/// Time: at first timed, and never ahead of SystemC's; see set_loose() and run_ahead() for the other ways.
///
/// Mistakes of the caller are SystemC error reports that name it.
class WARPLINE_PUBLIC EngineModule : public sc_core::sc_module {
 public:
  /// Lets it tick up to `cycles` cycles ahead of SystemC time, for those who never pause a simulation to look
  /// at it: fewer processes to run. Where all sockets are bound to ours, everything ticks ahead as far as
  /// nobody in the simulation has anything pending; else all clusters (Engine::begin_cluster) that no foreign
  /// module or pin leads to, as far as they cannot feel them. The default is 0: after sc_start(duration),
  /// exactly the ticks before the time reached are done. (What is due at that very time SystemC leaves to the
  /// next sc_start.)
  virtual void run_ahead(Cycle cycles) = 0;
  /// Whether time is loose: requests are performed by calls ("lt"), and the engine runs ahead of SystemC by
  /// up to the global quantum, in a thread process, as foreign models below may wait. Otherwise hops are
  /// timed.
  /// The two change over at rest only: an attempt while something is under way is a SystemC error report.
  virtual void set_loose(bool loose) = 0;
  [[nodiscard]] virtual bool is_loose() const = 0;
  /// How responses of foreign targets are ended from now on, by all sockets of the engine that are not told
  /// otherwise (InitiatorSocket::set_end_response). At first by calls.
  virtual void set_end_response(EndResponse form) = 0;
  /// Whether nothing is under way: no request, timed or not, and nobody has work left.
  [[nodiscard]] virtual bool at_rest() const = 0;
  /// Resets every block of the netlist, at any time. What is in flight is answered with an error where it
  /// came from a foreign module, and so is, at once, what comes before all of it is
  /// (TLM_GENERIC_ERROR_RESPONSE; in the phases of the base protocol). Then caches are empty, what was dirty
  /// is lost, open rows are closed, turns and registers as at first. Memory, counters and time go on.
  virtual void reset() = 0;
  /// Whether a reset still waits for what is in flight.
  [[nodiscard]] virtual bool resetting() const = 0;
  /// Whether every hop is direct. Pre: elaboration has ended.
  [[nodiscard]] virtual bool is_direct() const = 0;
  /// The hops that are opened as pins, and their clocks.
  [[nodiscard]] virtual Pins& pins() = 0;
  /// Every request in flight, where it is and what it waits for, and all other waits, those of sockets and
  /// foreign modules included. Callable whenever a simulation is paused.
  [[nodiscard]] virtual Standstill standstill() const = 0;

 private:
  friend class EngineProcess;  // there is no other kind
  explicit EngineModule(const sc_core::sc_module_name& name) : sc_module(name) {}
};

/// `mhz`: of the fastest clock, which counts cycles. An unfit one is a SystemC error report.
WARPLINE_PUBLIC [[nodiscard]] std::unique_ptr<EngineModule> make_engine(
    const char* name, unsigned mhz, HopTransport transport = HopTransport::direct);

}  // namespace warpline
