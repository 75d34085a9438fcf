#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <systemc>
#include <tlm>
#include <vector>

/// Memory of the board: every access takes the same time.
class Ram final : public sc_core::sc_module {
 public:
  Ram(const sc_core::sc_module_name& name, std::uint64_t bytes) : sc_module(name), bytes_(bytes) {
    socket.register_b_transport(this, &Ram::b_transport);
    socket.register_transport_dbg(this, &Ram::access);
  }
  tlm_utils::simple_target_socket<Ram, 256> socket{"socket"};

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_byte_enable_ptr() != nullptr) {
      payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
      return;
    }
    const bool whole = access(payload) == payload.get_data_length();
    payload.set_response_status(whole ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += sc_core::sc_time(40, sc_core::SC_NS);
  }
  /// Moves what lies inside; returns how much that is.
  unsigned access(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address(), length = payload.get_data_length();
    if (address >= bytes_.size()) return 0;
    const auto count =
        static_cast<unsigned>(length < bytes_.size() - address ? length : bytes_.size() - address);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &bytes_[address], count);
    if (payload.is_write()) std::memcpy(&bytes_[address], payload.get_data_ptr(), count);
    return count;
  }
  std::vector<std::uint8_t> bytes_;
};
