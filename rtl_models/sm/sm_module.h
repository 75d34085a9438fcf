#pragma once

#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/sm/sm_parameters.h"
#include "rtl_models/tlm/block_module.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

class Sm;

/// A streaming multiprocessor as a TLM-2.0 module: the initiator of everything. Work comes by the ports of
/// the SM itself, from a WorkDistributor of the same engine.
class SmModule final : public BlockModule {
 public:
  /// An SM of its own; see Sm.
  SmModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
           const SmParameters& parameters, unsigned index, bool with_data);
  /// Around an SM of somebody's netlist.
  SmModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<Sm> sm, bool with_data);

 private:
  Held<Sm> sm_;

 public:
  InitiatorSocket to_l1_lg, to_constant, to_instruction, to_crossbar;
  std::deque<InitiatorSocket> to_texture;     ///< one, unless L1 serves its requests
  std::deque<InitiatorSocket> more_to_l1_lg;  ///< where there are several ports to L1: number 1 and on
  std::deque<InitiatorSocket> to_network;     ///< one, where there is a network between SMs
  std::deque<TargetSocket> from_network;      ///< likewise: what other SMs ask of this one
  [[nodiscard]] Sm& sm() { return *sm_; }
};

}  // namespace warpline
