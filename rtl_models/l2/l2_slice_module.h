#pragma once

#include "rtl_models/base/visibility.h"
#include "rtl_models/l2/l2_parameters.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/tlm/block_module.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

class L2Slice;
class MemoryImage;

/// An L2 slice as a TLM-2.0 module. The bytes of video memory live in the backing store that the
/// slice is given: what lies behind `to_dram` costs time.
///
/// Sockets
/// - from_crossbar: requests of one 128-byte line each, of the lines that are this slice's.
/// - to_dram[n]: lines of video memory that it fetches and writes back, spread over the channels. Writes
/// carry
///   their bytes wherever somebody who is not ours may see them; what reads are answered with is not looked
///   at.
/// - to_pcie: accesses to system memory and to devices.
///
/// Addresses: video memory from 0, system memory from 2 << 60, devices from 1 << 60; one beyond a memory is
/// answered with TLM_ADDRESS_ERROR_RESPONSE, but for writes that stay in a copy of what lies beyond system
/// memory: where that ends only the link knows, which counts the error (TargetSocket::set_memories answers
/// them so, too). Debug access sees and changes video memory, and system memory with the slice's copies of it
/// and what it is writing there. Direct memory access is granted to all of video memory while time is loose.
class WARPLINE_PUBLIC L2SliceModule final : public BlockModule {
 public:
  /// A slice of its own. Engine and `vidmem` outlive it; a null `vidmem` means tags only. Pre: the parameters
  /// have no problems.
  L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                const L2Parameters& parameters, MemoryImage* vidmem, unsigned dram_ports);
  /// Around a slice of a netlist.
  L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<L2Slice> slice,
                bool with_data);

 private:
  Held<L2Slice> slice_;

 public:
  TargetSocket from_crossbar;
  std::deque<InitiatorSocket> to_dram;
  InitiatorSocket to_pcie;
  [[nodiscard]] L2Slice& slice() { return *slice_; }

 private:
  void start_of_simulation() override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
};

}  // namespace warpline
