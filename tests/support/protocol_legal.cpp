// Unusual, and allowed by the base protocol.
#include <gtest/gtest.h>

#include "tests/support/protocol_bench.h"

namespace warpline::test {
namespace {

using tlm::BEGIN_REQ, tlm::BEGIN_RESP, tlm::END_REQ, tlm::END_RESP;

TLM_DECLARE_EXTENDED_PHASE(IGNORABLE);

struct Note final : tlm::tlm_extension<Note> {
  [[nodiscard]] tlm::tlm_extension_base* clone() const override { return new Note; }
  void copy_from(const tlm::tlm_extension_base&) override {}
};

void four_phases(Bench& b) {
  b.transfer(b.read());
  b.transfer(b.write());
  b.transfer(b.masked_write());
}

void everything_annotated(Bench& b) {
  Payload& first = b.read();
  Payload& second = b.write();
  b.forward(first, BEGIN_REQ, 3, updated(END_REQ, 5));
  b.forward(second, BEGIN_REQ, 5, updated(END_REQ, 5));
  b.respond(first, 10, updated(END_RESP, 12));
  b.respond(second, 12, updated(END_RESP, 12));
}

void request_ended_ahead_of_time(Bench& b) {
  Payload& first = b.read();
  b.forward(first, BEGIN_REQ);
  b.backward(first, END_REQ, 7);
  Payload& second = b.read();
  b.forward(second, BEGIN_REQ, 7);
  b.respond(first, 7);
  b.wait_ns(7);
  b.forward(first, END_RESP);
  b.respond(second);
  b.forward(second, END_RESP);
}

void response_ends_request(Bench& b) {
  Payload& first = b.read();
  Payload& second = b.read();
  b.forward(first, BEGIN_REQ);
  b.respond(first, 4);
  b.forward(second, BEGIN_REQ, 4);
  b.forward(first, END_RESP, 4);
  b.respond(second, 4);
  b.forward(second, END_RESP, 6);
}

void response_returned(Bench& b) {
  Payload& first = b.read();
  Payload& second = b.write();
  b.forward(first, BEGIN_REQ, 1, updated(BEGIN_RESP, 6, answer));
  b.forward(second, BEGIN_REQ, 6, updated(END_REQ, 6));
  b.forward(first, END_RESP, 9);
  b.respond(second, 9, completed(9));
}

void completed_at_once(Bench& b) {
  b.forward(b.read(), BEGIN_REQ, 2, completed(8, answer));
  b.forward(b.write(), BEGIN_REQ, 8, completed(8, answer));
}

/// A completion does not use the response channel.
void completed_during_a_response(Bench& b) {
  Payload& first = b.read();
  b.forward(first, BEGIN_REQ, 0, updated(BEGIN_RESP, 4, answer));
  b.forward(b.read(), BEGIN_REQ, 4, completed(4, answer));
  b.forward(first, END_RESP, 5);
}

void response_answered_with_completed(Bench& b) {
  Payload& first = b.read();
  Payload& second = b.read();
  b.forward(first, BEGIN_REQ, 0, updated(END_REQ));
  b.forward(second, BEGIN_REQ, 0, updated(END_REQ));
  b.respond(first, 0, completed(3));
  b.respond(second, 3, completed());
}

void end_of_response_answered_with_completed(Bench& b) {
  Payload& p = b.read();
  b.forward(p, BEGIN_REQ, 0, updated(BEGIN_RESP, 0, answer));
  b.forward(p, END_RESP, 2, completed());
}

void pipeline_out_of_order(Bench& b) {
  std::vector<Payload*> p;
  for (unsigned i = 0; i < 4; ++i) p.push_back(&b.read(0x100 + 8 * i));
  for (Payload* x : p) b.forward(*x, BEGIN_REQ, 0, updated(END_REQ));
  b.wait_ns(1);
  b.respond(*p[2]);
  b.forward(*p[2], END_RESP, 4);
  b.respond(*p[0], 4, updated(END_RESP, 5));
  b.respond(*p[3], 5);
  b.wait_ns(20);
  b.forward(*p[3], END_RESP);
  b.respond(*p[1], 0, completed());
}

void payload_used_again(Bench& b) {
  Payload& p = b.write();
  b.transfer(p);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  p.set_address(0xABC);
  p.get_data_ptr()[0] = 99;
  b.forward(p, BEGIN_REQ, 0, completed(5, answer));
  b.wait_ns(5);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  p.set_command(tlm::TLM_READ_COMMAND);
  b.forward(p, BEGIN_REQ);
  p.get_data_ptr()[0] = 98;
  b.respond(p, 0, completed());
}

void address_overwritten_by_an_interconnect(Bench& b) {
  b.checker.let_address_change();
  Payload& p = b.masked_write();
  b.forward(p, BEGIN_REQ, 1, updated(END_REQ, 2, [](Payload& q) { q.set_address(0x1000); }));
  b.respond(p, 3);
  b.forward(p, END_RESP, 4);
}

void called_back_from_within_the_call(Bench& b) {
  Payload& first = b.read();
  b.forward(first, BEGIN_REQ, 0, accepted([&b](Payload& p) { b.backward(p, END_REQ); }));
  b.respond(first, 0, accepted([&b](Payload& p) { b.forward(p, END_RESP); }));
  Payload& second = b.read();
  b.forward(second, BEGIN_REQ, 0, accepted([&b](Payload& p) { b.respond(p, 0, completed()); }));
}

/// The next request is sent from within the answer to the last.
void requests_from_within_responses(Bench& b) {
  Payload& first = b.read();
  Payload& second = b.read();
  b.forward(first, BEGIN_REQ);
  b.respond(first, 0, updated(END_RESP, 0, [&](Payload&) { b.forward(second, BEGIN_REQ); }));
  b.respond(second, 0, accepted([&](Payload& p) {
              b.forward(p, END_RESP);
              p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
              b.forward(p, BEGIN_REQ, 0, completed(0, answer));
            }));
}

/// Whoever ends a response has the payload and its bytes back at once.
void payload_given_back_with_the_end(Bench& b) {
  const auto consume = [](Payload& p) {
    p.get_data_ptr()[0] = 99;
    p.release();
  };
  Payload& first = b.read();
  b.forward(first, BEGIN_REQ);
  b.respond(first, 2, updated(END_RESP, 3, consume));
  Payload& second = b.write();
  b.forward(second, BEGIN_REQ, 2);
  b.respond(second, 3, completed(3, consume));
}

void failed_accesses(Bench& b) {
  for (const auto status : {tlm::TLM_ADDRESS_ERROR_RESPONSE, tlm::TLM_BURST_ERROR_RESPONSE}) {
    b.forward(b.read(), BEGIN_REQ, 0, completed(0, [status](Payload& p) { p.set_response_status(status); }));
  }
}

/// The data of a read are the target's until it answers.
void read_fills_its_data(Bench& b) {
  Payload& p = b.read();
  b.forward(p, BEGIN_REQ, 0, updated(END_REQ, 0, [](Payload& q) { q.get_data_ptr()[3] = 77; }));
  p.get_data_ptr()[4] = 78;
  b.respond(p);
  b.forward(p, END_RESP);
}

void hints_and_extensions(Bench& b) {
  Note note;
  Payload& p = b.read();
  b.forward(p, BEGIN_REQ, 0, accepted([](Payload& q) { q.set_dmi_allowed(true); }));
  p.set_extension(&note);
  answer(p);
  b.backward(p, IGNORABLE);
  b.respond(p);
  p.clear_extension(&note);
  b.forward(p, IGNORABLE);
  b.forward(p, END_RESP);
}

void calls_that_are_not_checked(Bench& b) {
  Payload& p = b.read();
  sc_core::sc_time delay(1, sc_core::SC_NS);
  b.initiator->b_transport(p, delay);
  EXPECT_EQ(delay, sc_core::sc_time(6, sc_core::SC_NS));
  EXPECT_EQ(b.initiator->transport_dbg(p), 7U);
  tlm::tlm_dmi dmi;
  EXPECT_TRUE(b.initiator->get_direct_mem_ptr(p, dmi));
  EXPECT_EQ(dmi.get_end_address(), 99U);
  b.target->invalidate_direct_mem_ptr(3, 5);
  const std::vector<std::string> calls{"b_transport", "transport_dbg", "get_direct_mem_ptr",
                                       "invalidate 3 5"};
  EXPECT_EQ(b.unchecked, calls);
  const ProtocolChecker::Unchecked& counts = b.checker.unchecked();
  EXPECT_EQ(counts.b_transport, 1U);
  EXPECT_EQ(counts.transport_dbg, 1U);
  EXPECT_EQ(counts.get_direct_mem_ptr, 1U);
  EXPECT_EQ(counts.invalidate_direct_mem_ptr, 1U);
}

}  // namespace

std::vector<Scenario> legal_scenarios() {
  return {{"four_phases", four_phases, {}},
          {"everything_annotated", everything_annotated, {}},
          {"request_ended_ahead_of_time", request_ended_ahead_of_time, {}},
          {"response_ends_request", response_ends_request, {}},
          {"response_returned", response_returned, {}},
          {"completed_at_once", completed_at_once, {}},
          {"completed_during_a_response", completed_during_a_response, {}},
          {"response_answered_with_completed", response_answered_with_completed, {}},
          {"end_of_response_answered_with_completed", end_of_response_answered_with_completed, {}},
          {"pipeline_out_of_order", pipeline_out_of_order, {}},
          {"payload_used_again", payload_used_again, {}},
          {"address_overwritten_by_an_interconnect", address_overwritten_by_an_interconnect, {}},
          {"called_back_from_within_the_call", called_back_from_within_the_call, {}},
          {"requests_from_within_responses", requests_from_within_responses, {}},
          {"payload_given_back_with_the_end", payload_given_back_with_the_end, {}},
          {"failed_accesses", failed_accesses, {}},
          {"read_fills_its_data", read_fills_its_data, {}},
          {"hints_and_extensions", hints_and_extensions, {}},
          {"calls_that_are_not_checked", calls_that_are_not_checked, {}}};
}

}  // namespace warpline::test
