#ifndef BUS_H
#define BUS_H

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <cstring>

/// Memory of 50 ns.
struct Ram final : sc_core::sc_module {
  explicit Ram(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Ram::transport);
  }
  void transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    delay += sc_core::sc_time(50, sc_core::SC_NS);
    if (p.get_address() + p.get_data_length() > bytes.size())
      return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    std::uint8_t* const at = &bytes[p.get_address()];
    if (p.is_read()) std::memcpy(p.get_data_ptr(), at, p.get_data_length());
    if (p.is_write()) std::memcpy(at, p.get_data_ptr(), p.get_data_length());
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm_utils::simple_target_socket<Ram, 64> socket{"socket"};
  alignas(64) std::array<std::uint8_t, 1U << 20U> bytes{};
};

/// A processor and a device that is a master, too; RAM from 0 on, the device's window from kDevice on.
struct Bus final : sc_core::sc_module {
  static constexpr std::uint64_t kDevice = 0x8000'0000;
  explicit Bus(const sc_core::sc_module_name& name) : sc_module(name) {
    from_processor.register_b_transport(this, &Bus::transport);
    from_device.register_b_transport(this, &Bus::transport);
  }
  void transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    const std::uint64_t address = p.get_address();
    if (address < kDevice) return to_ram->b_transport(p, delay);
    p.set_address(address - kDevice);
    to_device->b_transport(p, delay);
    p.set_address(address);
  }
  tlm_utils::simple_target_socket<Bus, 64> from_processor{"from_processor"}, from_device{"from_device"};
  tlm_utils::simple_initiator_socket<Bus, 64> to_ram{"to_ram"}, to_device{"to_device"};
};

#endif
