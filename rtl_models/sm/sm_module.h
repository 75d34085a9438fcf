#pragma once

#include <memory>

#include "rtl_models/sm/sm.h"
#include "rtl_models/tlm/block_module.h"

namespace warpline {

/// A streaming multiprocessor as a TLM-2.0 module: the initiator of everything. Work comes by the ports of
/// the SM itself, from a WorkDistributor of the same engine.
class SmModule final : public BlockModule {
 public:
  /// An SM of its own; see Sm.
  SmModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
           const SmParameters& parameters, unsigned index, bool with_data);
  /// Around an SM of somebody's netlist, which outlives it.
  SmModule(const sc_core::sc_module_name& name, EngineModule& engine, Sm& sm, bool with_data);

  InitiatorSocket to_l1_lg, to_texture, to_constant, to_instruction;
  [[nodiscard]] Sm& sm() { return sm_; }

 private:
  SmModule(const sc_core::sc_module_name& name, EngineModule& engine, std::unique_ptr<Sm> sm, bool with_data);
  std::unique_ptr<Sm> own_;
  Sm& sm_;
};

}  // namespace warpline
