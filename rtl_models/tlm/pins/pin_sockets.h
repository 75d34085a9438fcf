#pragma once

#include <memory>
#include <systemc>

#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/channel_parameters.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/tlm/pins/pin_wires.h"
#include "rtl_models/tlm/sockets.h"

namespace warpline {

/// Opens the initiator socket of a Warpline block as pins, to put hardware behind it. It binds the socket:
/// who uses the block loosely timed gets an error response, and debug access finds nothing.
///
/// The wires lack what an atomic, a reduction (commands 2 and 3) and cache maintenance (4) consist of, and
/// the scope and hints of an access: hardware must answer such a command with `error`. So it is with control
/// of lines (5), but there it need do nothing, and may answer either way.
class WARPLINE_PUBLIC PinsOfInitiator final : public sc_core::sc_module {
 public:
  /// `parameters` and `responder`: the channels of the hop, and the clock of the hardware, which sends
  /// answers.
  PinsOfInitiator(const sc_core::sc_module_name& name, EngineModule& engine, InitiatorSocket& socket,
                  const HopParameters& parameters = {}, const ClockDomain& responder = {});
  ~PinsOfInitiator() override;
  /// What the hardware is to be connected to.
  [[nodiscard]] PinWires& wires();

 private:
  struct WARPLINE_INTERNAL State;
  std::unique_ptr<State> state_;
};

/// Opens the target socket of a Warpline block as pins, to put hardware before it. It binds the socket.
/// A request of the hardware is a weak read or write, with an identifier that none of its unanswered requests
/// has.
class WARPLINE_PUBLIC PinsOfTarget final : public sc_core::sc_module {
 public:
  /// `parameters` and `requester`: the channels of the hop, and the clock of the hardware, which sends
  /// requests.
  PinsOfTarget(const sc_core::sc_module_name& name, EngineModule& engine, TargetSocket& socket,
               const HopParameters& parameters = {}, const ClockDomain& requester = {});
  ~PinsOfTarget() override;
  [[nodiscard]] PinWires& wires();

 private:
  struct WARPLINE_INTERNAL State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
