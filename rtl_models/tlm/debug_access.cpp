#include "rtl_models/tlm/debug_access.h"

#include <cstring>

namespace warpline {

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

unsigned debug_through(InitiatorSocket& socket, const tlm::tlm_generic_payload& like, PhysicalAddress address,
                       std::uint8_t* bytes, unsigned count) {
  tlm::tlm_generic_payload part;
  part.set_command(like.get_command());
  part.set_address(address.value);
  part.set_data_ptr(bytes);
  part.set_data_length(count);
  part.set_streaming_width(count);
  return socket->transport_dbg(part);
}

}  // namespace warpline
