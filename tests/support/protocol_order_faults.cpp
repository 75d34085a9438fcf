// One thing wrong each: the phases of one transaction.
#include "tests/support/protocol_bench.h"

namespace warpline::test {

std::vector<Scenario> faults_of_order() {
  using tlm::BEGIN_REQ, tlm::BEGIN_RESP, tlm::END_REQ, tlm::END_RESP;
  return {
      {"end_req_twice",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.backward(p, END_REQ);
         b.backward(p, END_REQ);
         b.end(p);
       },
       {"END_REQ of transaction 1 (read 0x40) at 0 s: the request has ended already"}},
      {"end_req_after_begin_resp",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.respond(p);
         b.backward(p, END_REQ);
         b.forward(p, END_RESP);
       },
       {"END_REQ of transaction 1 (read 0x40) at 0 s: the request has ended already"}},
      {"begin_resp_twice",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.respond(p);
         b.respond(p);
         b.forward(p, END_RESP);
       },
       {"the response has begun already"}},
      {"end_resp_before_begin_resp",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.forward(p, END_RESP);
         b.end(p);
       },
       {"the response has not begun"}},
      {"end_resp_twice",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.respond(p);
         b.forward(p, END_RESP);
         b.forward(p, END_RESP);
       },
       {"END_RESP of transaction 1 (read 0x40) at 0 s: the transaction has finished"}},
      {"end_resp_returned_and_called",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.respond(p, 0, updated(END_RESP, 4));
         b.forward(p, END_RESP, 4);
       },
       {"the transaction has finished"}},
      {"begin_resp_after_completion",
       [](Bench& b) {
         Payload& p = b.read();
         b.forward(p, BEGIN_REQ, 0, completed(0, answer));
         b.respond(p);
       },
       {"BEGIN_RESP of transaction 1 (read 0x40) at 0 s: the transaction has finished"}},
      {"end_req_for_nothing",
       [](Bench& b) { b.backward(b.read(), END_REQ); },
       {"END_REQ of an unknown payload at 0 s: there was no BEGIN_REQ"}},
      {"begin_req_while_in_flight",
       [](Bench& b) {
         Payload& p = b.read();
         b.forward(p, BEGIN_REQ, 0, updated(END_REQ));
         b.forward(p, BEGIN_REQ, 0, updated(END_REQ));
         b.end(p);
       },
       {"the payload is in flight already"}},
      {"begin_req_while_its_request_has_not_ended",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.forward(p, BEGIN_REQ);
         b.end(p);
       },
       {"the payload is in flight already"}},
      {"begin_req_from_the_target",
       [](Bench& b) { b.backward(b.read(), BEGIN_REQ); },
       {"BEGIN_REQ of an unknown payload at 0 s: was sent by the target"}},
      {"begin_req_returned_by_the_initiator",
       [](Bench& b) {
         b.respond(b.begin_read(), 0, updated(BEGIN_REQ));
         b.checker.finish();
       },
       {"BEGIN_REQ of transaction 1 (read 0x40) at 0 s: was returned; a transaction begins with a call",
        "transaction 1 (read 0x40) was never finished"}},
      {"end_req_from_the_initiator",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.forward(p, END_REQ);
         b.end(p);
       },
       {"END_REQ of transaction 1 (read 0x40) at 0 s: was sent by the initiator"}},
      {"updated_to_the_same_phase",
       [](Bench& b) {
         Payload& p = b.read();
         b.forward(p, BEGIN_REQ, 0, updated(BEGIN_REQ));
         b.end(p);
       },
       {"BEGIN_REQ of transaction 1 (read 0x40) at 0 s: was sent by the target"}},
      {"updated_end_resp_to_end_req",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.backward(p, END_REQ, 0, updated(END_RESP));
         b.end(p);
       },
       {"the response has not begun"}},
      {"updated_after_the_end",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.respond(p);
         b.forward(p, END_RESP, 0, updated(BEGIN_RESP));
       },
       {"BEGIN_RESP of transaction 1 (read 0x40) at 0 s: the transaction has finished"}},
      {"no_phase",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.backward(p, tlm::UNINITIALIZED_PHASE);
         b.end(p);
       },
       {"is no phase to be sent"}},
      {"updated_for_a_former_use",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.respond(p, 0, updated(END_RESP, 0, [&b](Payload& q) {
                     b.forward(q, END_RESP);
                     q.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
                     b.forward(q, BEGIN_REQ, 0, completed(0, answer));
                   }));
       },
       {"END_RESP of transaction 2 (read 0x40) at 0 s: was returned for a transaction that had finished"}},
      {"never_finished",
       [](Bench& b) {
         b.forward(b.read(), BEGIN_REQ, 0, completed(0, answer));
         Payload& p = b.write();
         b.forward(p, BEGIN_REQ, 0, updated(BEGIN_RESP, 1, answer));
         b.forward(b.read(), BEGIN_REQ, 2, updated(END_REQ, 3));
         b.begin_read(4);
         b.checker.finish();
       },
       {"transaction 2 (write 0x80) was never finished: nothing came after its BEGIN_RESP at 1 ns",
        "transaction 3 (read 0x40) was never finished: nothing came after its END_REQ at 3 ns",
        "transaction 4 (read 0x40) was never finished: nothing came after its BEGIN_REQ at 4 ns"}}};
}

}  // namespace warpline::test
