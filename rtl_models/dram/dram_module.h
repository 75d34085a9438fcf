#pragma once

#include "rtl_models/base/visibility.h"
#include "rtl_models/dram/dram_parameters.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/tlm/block_module.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

class DramChannel;

/// A DRAM channel as a TLM-2.0 module: the time of video memory, not its bytes (see L2SliceModule).
///
/// Sockets
/// - from_l2[n]: reads and writes of one 128-byte line each, of which it sees the addresses only. Any
///   other command is answered with TLM_COMMAND_ERROR_RESPONSE.
///
/// Debug access serves no byte, and direct memory access is never granted.
class WARPLINE_PUBLIC DramModule final : public BlockModule {
 public:
  /// A channel of its own with `inputs` sockets. The engine outlives it. Pre: the parameters have no
  /// problems.
  DramModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
             const DramParameters& parameters, unsigned inputs);
  /// Around a channel of a netlist with that many inputs.
  DramModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<DramChannel> channel,
             unsigned inputs);

  std::deque<TargetSocket> from_l2;
  [[nodiscard]] DramChannel& channel() { return *channel_; }

 private:
  Held<DramChannel> channel_;
};

}  // namespace warpline
