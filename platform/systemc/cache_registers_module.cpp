#include "platform/systemc/cache_registers_module.h"

namespace warpline {
namespace {

constexpr unsigned kRegisterBytes = 4;

std::uint32_t load(const unsigned char* bytes) {
  std::uint32_t value = 0;
  for (unsigned n = kRegisterBytes; n-- > 0;) value = value << 8U | bytes[n];
  return value;
}

void store(unsigned char* bytes, std::uint32_t value) {
  for (unsigned n = 0; n < kRegisterBytes; ++n) bytes[n] = static_cast<unsigned char>(value >> 8 * n);
}

tlm::tlm_response_status status_of(CacheRegisters::Outcome outcome) {
  switch (outcome) {
    case CacheRegisters::Outcome::done: return tlm::TLM_OK_RESPONSE;
    case CacheRegisters::Outcome::no_register: return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    case CacheRegisters::Outcome::read_only:
    case CacheRegisters::Outcome::write_only: break;
  }
  return tlm::TLM_COMMAND_ERROR_RESPONSE;
}

}  // namespace

void CacheRegistersTarget::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  const std::uint64_t address = payload.get_address();
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (payload.get_data_length() != kRegisterBytes || payload.get_streaming_width() < kRegisterBytes ||
             address % kRegisterBytes != 0) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else if (address >= CacheRegisters::kBytes) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else if (payload.is_write()) {
    payload.set_response_status(
        status_of(registers_.write(static_cast<std::uint32_t>(address), load(payload.get_data_ptr()))));
  } else if (payload.is_read()) {
    std::uint32_t value = 0;
    const auto outcome = registers_.read(static_cast<std::uint32_t>(address), value);
    if (outcome == CacheRegisters::Outcome::done) store(payload.get_data_ptr(), value);
    payload.set_response_status(status_of(outcome));
  } else {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
}

tlm::tlm_sync_enum CacheRegistersTarget::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                         tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) b_transport(payload, delay);
  return tlm::TLM_COMPLETED;
}

bool CacheRegistersTarget::get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  dmi.set_start_address(0);
  dmi.set_end_address(~sc_dt::uint64{0});
  return false;
}

unsigned CacheRegistersTarget::transport_dbg(tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  if (!payload.is_read() || address % kRegisterBytes != 0) return 0;
  unsigned done = 0;
  for (std::uint32_t value = 0; done + kRegisterBytes <= payload.get_data_length(); done += kRegisterBytes) {
    const std::uint64_t at = address + done;
    if (at >= CacheRegisters::kBytes ||
        registers_.read(static_cast<std::uint32_t>(at), value) != CacheRegisters::Outcome::done)
      break;
    store(payload.get_data_ptr() + done, value);
  }
  return done;
}

}  // namespace warpline
