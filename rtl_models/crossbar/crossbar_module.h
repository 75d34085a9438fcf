#pragma once

#include <memory>

#include "rtl_models/crossbar/crossbar.h"
#include "rtl_models/tlm/block_module.h"

namespace warpline {

/// The crossbar as a TLM-2.0 module: clients on one side, L2 slices on the other.
class CrossbarModule final : public BlockModule {
 public:
  /// A crossbar of its own; see Crossbar.
  CrossbarModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                 const CrossbarParameters& parameters, unsigned clients, unsigned slices,
                 CrossbarWidths widths, bool with_data);
  /// Around a crossbar of a netlist with that many ports, which outlives it.
  CrossbarModule(const sc_core::sc_module_name& name, EngineModule& engine, Crossbar& crossbar,
                 unsigned clients, unsigned slices, bool with_data);

  std::deque<TargetSocket> from_client;
  std::deque<InitiatorSocket> to_l2;
  [[nodiscard]] Crossbar& crossbar() { return crossbar_; }

 private:
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  CrossbarModule(const sc_core::sc_module_name& name, EngineModule& engine,
                 std::unique_ptr<Crossbar> crossbar, unsigned clients, unsigned slices, bool with_data);
  std::unique_ptr<Crossbar> own_;
  Crossbar& crossbar_;
};

}  // namespace warpline
