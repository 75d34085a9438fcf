#pragma once

#include "rtl_models/base/visibility.h"
#include "rtl_models/pcie/gpu_link/pcie_parameters.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/tlm/block_module.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

class MemoryImage;
class PcieLink;

/// The PCIe link with system memory behind it as a TLM-2.0 module.
///
/// Sockets
/// - from_l2[n]: reads, writes and atomics of one 128-byte line each; anything else is answered with
///   TLM_COMMAND_ERROR_RESPONSE.
/// - to_crossbar: one, if requests for video memory come in by the link.
///
/// Addresses: system memory from 2 << 60; one that nobody has is answered with TLM_ADDRESS_ERROR_RESPONSE.
/// Debug access sees and changes system memory. Direct memory access is never granted.
class WARPLINE_PUBLIC PcieModule final : public BlockModule {
 public:
  /// A link of its own with `inputs` sockets. Engine and `sysmem` outlive it; a null `sysmem` means tags
  /// only. Pre: the parameters have no problems.
  PcieModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
             const PcieParameters& parameters, MemoryImage* sysmem, unsigned inputs);
  /// Around a link of somebody's netlist with that many inputs.
  PcieModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<PcieLink> link,
             MemoryImage* sysmem, unsigned inputs);

  std::deque<TargetSocket> from_l2;
  std::deque<InitiatorSocket> to_crossbar;
  [[nodiscard]] PcieLink& link() { return *link_; }

 private:
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  Held<PcieLink> link_;
  MemoryImage* sysmem_;
};

}  // namespace warpline
