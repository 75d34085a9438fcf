#include "atomics.h"

#include "warpline/rtl_models/sim/atomics.h"
#include "warpline/rtl_models/tlm/payload.h"

namespace {

using warpline::Command;

warpline::RequestExtension* extension_of(const tlm::tlm_generic_payload& payload) {
  auto* extension = payload.get_extension<warpline::RequestExtension>();
  const bool ours = payload.get_command() == tlm::TLM_IGNORE_COMMAND && extension != nullptr &&
                    extension->request != nullptr;
  return ours ? extension : nullptr;
}

bool asks_for_nothing(const warpline::Request& request) {
  return request.command == Command::maintain || request.command == Command::control;
}

bool enabled(const tlm::tlm_generic_payload& payload, unsigned i) {
  const unsigned char* enables = payload.get_byte_enable_ptr();
  return enables == nullptr || enables[i % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED;
}

}  // namespace

bool is_maintenance(const tlm::tlm_generic_payload& payload) {
  const warpline::RequestExtension* extension = extension_of(payload);
  return extension != nullptr && asks_for_nothing(*extension->request);
}

bool perform(tlm::tlm_generic_payload& payload, std::uint8_t* memory, std::uint64_t bytes) {
  warpline::RequestExtension* extension = extension_of(payload);
  const std::uint64_t address = payload.get_address();
  const unsigned length = payload.get_data_length();
  const bool inside = address < bytes && length <= bytes - address;
  if (extension != nullptr) {
    warpline::Request& request = *extension->request;
    extension->accepted = true;
    const bool nothing = asks_for_nothing(request);
    const bool changes = !nothing && inside;
    if (changes) warpline::perform_atomics(*request.atomics, memory + request.line.value);
    request.status = changes || nothing ? warpline::Status::ok : warpline::Status::address_error;
    payload.set_response_status(request.status == warpline::Status::ok ? tlm::TLM_OK_RESPONSE
                                                                       : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return changes;
  }
  if (!inside) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return false;
  }
  for (unsigned i = 0; i < length; ++i) {
    if (!enabled(payload, i)) continue;
    std::uint8_t& byte = memory[address + i];
    if (payload.is_write()) {
      byte = payload.get_data_ptr()[i];
    } else {
      payload.get_data_ptr()[i] = byte;
    }
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return payload.is_write();
}
