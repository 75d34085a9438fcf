#pragma once

#include <systemc>
#include <tlm>

#include "platform/machine/cache_registers.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// CacheRegisters behind a TLM-2.0 target socket: aligned accesses of 4 bytes, little-endian, without
/// latency. Other shapes are TLM_BURST_ERROR_RESPONSE (byte enables TLM_BYTE_ENABLE_ERROR_RESPONSE), an
/// offset without a register TLM_ADDRESS_ERROR_RESPONSE, an access that the register does not take
/// TLM_COMMAND_ERROR_RESPONSE. Debug access reads; it writes nothing, as a write has effects.
class WARPLINE_PUBLIC CacheRegistersTarget final : public tlm::tlm_fw_transport_if<> {
 public:
  /// May be left unbound.
  using Socket = tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

  CacheRegistersTarget(const char* name, CacheRegisters& registers) : socket(name), registers_(registers) {
    socket.bind(*this);
  }
  CacheRegistersTarget(const CacheRegistersTarget&) = delete;
  CacheRegistersTarget& operator=(const CacheRegistersTarget&) = delete;

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;

  Socket socket;

 private:
  CacheRegisters& registers_;
};

}  // namespace warpline
