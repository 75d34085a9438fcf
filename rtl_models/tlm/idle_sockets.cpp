#include "rtl_models/tlm/idle_sockets.h"

namespace warpline {

tlm::tlm_sync_enum IdleInitiatorCalls::nb_transport_bw(tlm::tlm_generic_payload& /*payload*/,
                                                       tlm::tlm_phase& /*phase*/,
                                                       sc_core::sc_time& /*delay*/) {
  return tlm::TLM_COMPLETED;
}

void IdleInitiatorCalls::invalidate_direct_mem_ptr(sc_dt::uint64 /*from*/, sc_dt::uint64 /*to*/) {}

tlm::tlm_sync_enum IdleTargetCalls::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                    sc_core::sc_time& /*delay*/) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return tlm::TLM_COMPLETED;
}

void IdleTargetCalls::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

unsigned IdleTargetCalls::transport_dbg(tlm::tlm_generic_payload& /*payload*/) {
  return 0;
}

bool IdleTargetCalls::get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  return false;
}

}  // namespace warpline
