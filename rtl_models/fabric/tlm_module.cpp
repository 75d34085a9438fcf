#include "warpline/fabric/tlm_module.h"

#include <algorithm>
#include <cstring>

namespace warpline {

void BlockModule::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  SC_REPORT_ERROR("/warpline/lt", (std::string(name()) + ": loosely timed access (b_transport) is not built "
                                                         "yet; use nb_transport")
                                      .c_str());
}

unsigned BlockModule::transport_dbg(tlm::tlm_generic_payload& /*payload*/) {
  return 0;
}

bool BlockModule::get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  return false;
}

unsigned debug_access(tlm::tlm_generic_payload& payload, std::uint8_t* memory, std::uint64_t base,
                      std::uint64_t bytes) {
  const std::uint64_t address = payload.get_address();
  if (address < base || address - base >= bytes) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
  const auto count =
      static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), bytes - (address - base)));
  if (payload.is_read()) {
    std::memcpy(payload.get_data_ptr(), memory + (address - base), count);
  } else if (payload.is_write()) {
    std::memcpy(memory + (address - base), payload.get_data_ptr(), count);
  } else {
    return 0;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return count;
}

}  // namespace warpline
