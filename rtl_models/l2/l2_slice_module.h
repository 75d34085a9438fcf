#pragma once

#include <memory>

#include "rtl_models/l2/l2_slice.h"
#include "rtl_models/tlm/block_module.h"

namespace warpline {

/// An L2 slice as a TLM-2.0 module. The bytes of video memory live in the backing store that the
/// slice is given: what lies behind `to_dram` costs time, and sees addresses only.
class L2SliceModule final : public BlockModule {
 public:
  /// A slice of its own; see L2Slice. A null `vidmem` means tags only.
  L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                const L2Parameters& parameters, MemoryImage* vidmem, unsigned dram_ports);
  /// Around a slice of a netlist, which outlives it.
  L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine, L2Slice& slice, bool with_data);

  TargetSocket from_crossbar;
  std::deque<InitiatorSocket> to_dram;
  InitiatorSocket to_pcie;
  [[nodiscard]] L2Slice& slice() { return slice_; }

 private:
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine, std::unique_ptr<L2Slice> slice,
                bool with_data);
  std::unique_ptr<L2Slice> own_;
  L2Slice& slice_;
};

}  // namespace warpline
