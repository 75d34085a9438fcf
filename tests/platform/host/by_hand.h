#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

namespace warpline::test {

/// Does one access at a time, from outside the simulation.
class ByHand final : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  explicit ByHand(const sc_core::sc_module_name& name)
      : sc_module(name), payload_(static_cast<tlm::tlm_mm_interface*>(this)) {
    socket.register_nb_transport_bw(this, &ByHand::nb_transport_bw);
    socket.register_invalidate_direct_mem_ptr(this, &ByHand::invalidate);
    payload_.acquire();
  }
  tlm_utils::simple_initiator_socket<ByHand, 256> socket{"socket"};
  std::uint32_t access(tlm::tlm_command command, std::uint64_t address, std::uint32_t value = 0) {
    describe(command, address, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    // What is refused at the door takes no time.
    if (socket->nb_transport_fw(payload_, phase, delay) == tlm::TLM_COMPLETED) {
      EXPECT_NE(expected, tlm::TLM_OK_RESPONSE);
    }
    sc_core::sc_start();
    EXPECT_EQ(payload_.get_response_status(), expected);
    return value;
  }
  std::uint32_t loosely(tlm::tlm_command command, std::uint64_t address, std::uint32_t value = 0) {
    describe(command, address, value);
    sc_core::sc_time delay;
    socket->b_transport(payload_, delay);
    EXPECT_EQ(payload_.get_response_status(), expected);
    if (expected == tlm::TLM_OK_RESPONSE) {
      EXPECT_GT(delay, sc_core::SC_ZERO_TIME);
    }
    return value;
  }
  std::uint32_t debug(tlm::tlm_command command, std::uint64_t address, std::uint32_t value = 0) {
    describe(command, address, value);
    EXPECT_EQ(socket->transport_dbg(payload_), expected == tlm::TLM_OK_RESPONSE ? 4U : 0U);
    return value;
  }
  bool ask(tlm::tlm_dmi& dmi, std::uint64_t address) {
    std::uint32_t unused = 0;
    describe(tlm::TLM_READ_COMMAND, address, unused);
    return socket->get_direct_mem_ptr(payload_, dmi);
  }
  tlm::tlm_response_status expected = tlm::TLM_OK_RESPONSE;  ///< of every access
  unsigned invalidations = 0;

 private:
  void describe(tlm::tlm_command command, std::uint64_t address, std::uint32_t& value) {
    payload_.set_command(command);
    payload_.set_address(address);
    payload_.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload_.set_data_length(4);
    payload_.set_streaming_width(4);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }
  void invalidate(sc_dt::uint64, sc_dt::uint64) { ++invalidations; }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
    return phase == tlm::BEGIN_RESP ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
  }
  void free(tlm::tlm_generic_payload*) override {}
  tlm::tlm_generic_payload payload_;
};

}  // namespace warpline::test
