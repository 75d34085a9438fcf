#pragma once

#include <memory>

#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/tlm/block_module.h"

namespace warpline {

/// The PCIe link with system memory behind it as a TLM-2.0 module.
class PcieModule final : public BlockModule {
 public:
  /// A link of its own with `inputs` sockets; see PcieLink. A null `sysmem` means tags only.
  PcieModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
             const PcieParameters& parameters, MemoryImage* sysmem, unsigned inputs);
  /// Around a link of somebody's netlist with that many inputs, which outlives it.
  PcieModule(const sc_core::sc_module_name& name, EngineModule& engine, PcieLink& link, MemoryImage* sysmem,
             unsigned inputs);

  std::deque<TargetSocket> from_l2;
  std::deque<InitiatorSocket> to_crossbar;  ///< one, if requests for video memory come in by the link
  [[nodiscard]] PcieLink& link() { return link_; }

 private:
  PcieModule(const sc_core::sc_module_name& name, EngineModule& engine, std::unique_ptr<PcieLink> link,
             MemoryImage* sysmem, unsigned inputs);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  std::unique_ptr<PcieLink> own_;
  PcieLink& link_;
  MemoryImage* sysmem_;
};

}  // namespace warpline
