// A test that sees nothing wrong itself, while an initiator breaks the base protocol: its process must fail.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "tests/support/checked_binding.h"

namespace warpline::test {
namespace {

struct Ends final : sc_core::sc_module {
  explicit Ends(const sc_core::sc_module_name& name) : sc_module(name) {
    target.register_nb_transport_fw(this, &Ends::nb_transport_fw);
    bind_checked(initiator, target);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& /*delay*/) {
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  tlm_utils::simple_initiator_socket<Ends, 256> initiator{"initiator"};
  tlm_utils::simple_target_socket<Ends, 256> target{"target"};
};

TEST(CheckedBinding, APayloadThatNobodyManages) {
  Ends ends("ends");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  unsigned char byte = 0;
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_data_ptr(&byte);
  payload.set_data_length(1);
  payload.set_streaming_width(1);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  EXPECT_EQ(ends.initiator->nb_transport_fw(payload, phase, delay), tlm::TLM_COMPLETED);
}

}  // namespace
}  // namespace warpline::test
