// One thing wrong each: exclusion, times, return values.
#include "tests/support/protocol_bench.h"

namespace warpline::test {
namespace {

using tlm::BEGIN_REQ, tlm::BEGIN_RESP, tlm::END_REQ, tlm::END_RESP;

/// Two transactions whose requests have ended.
struct Pair {
  explicit Pair(Bench& b) : first(b.read()), second(b.write()) {
    b.forward(first, BEGIN_REQ, 0, updated(END_REQ));
    b.forward(second, BEGIN_REQ, 0, updated(END_REQ));
  }
  Payload& first;
  Payload& second;
};

std::vector<Scenario> exclusion() {
  return {
      {"request_before_end_req",
       [](Bench& b) {
         Payload& first = b.begin_read();
         b.wait_ns(3);
         b.forward(b.read(0x48), BEGIN_REQ, 2, completed(2, answer));
         b.end(first);
       },
       {"BEGIN_REQ of transaction 2 (read 0x48) at 5 ns: another request has not ended"}},
      {"request_before_annotated_end_req",
       [](Bench& b) {
         Payload& first = b.read();
         b.forward(first, BEGIN_REQ, 0, updated(END_REQ, 5));
         b.forward(b.read(), BEGIN_REQ, 4, completed(4, answer));
         b.respond(first, 5, completed(5));
       },
       {"BEGIN_REQ of transaction 2 (read 0x40) at 4 ns: another request ends later, at 5 ns"}},
      {"request_before_annotated_completion",
       [](Bench& b) {
         b.forward(b.read(), BEGIN_REQ, 0, completed(5, answer));
         b.forward(b.read(), BEGIN_REQ, 4, completed(4, answer));
       },
       {"BEGIN_REQ of transaction 2 (read 0x40) at 4 ns: another request ends later, at 5 ns"}},
      {"request_before_an_earlier_one",
       [](Bench& b) {
         b.forward(b.read(), BEGIN_REQ, 5, completed(5, answer));
         b.forward(b.read(), BEGIN_REQ, 4, completed(4, answer));
       },
       {"BEGIN_REQ of transaction 2 (read 0x40) at 4 ns: another request was begun for a later time, 5 ns"}},
      {"response_before_end_resp",
       [](Bench& b) {
         Pair p(b);
         b.respond(p.first);
         b.respond(p.second, 1, completed());
         b.forward(p.first, END_RESP, 1);
       },
       {"BEGIN_RESP of transaction 2 (write 0x80) at 1 ns: another response has not ended"}},
      {"response_before_annotated_end_resp",
       [](Bench& b) {
         Pair p(b);
         b.respond(p.first, 0, updated(END_RESP, 5));
         b.respond(p.second, 4, completed());
       },
       {"BEGIN_RESP of transaction 2 (write 0x80) at 4 ns: another response ends later, at 5 ns"}},
      {"response_before_an_earlier_one",
       [](Bench& b) {
         Pair p(b);
         b.respond(p.first, 5, completed(5));
         b.respond(p.second, 4, completed(4));
       },
       {"BEGIN_RESP of transaction 2 (write 0x80) at 4 ns: another response was begun for a later time, 5 "
        "ns"}},
      {"response_returned_before_end_resp",
       [](Bench& b) {
         Payload& first = b.begin_read();
         b.respond(first);
         Payload& second = b.read();
         b.forward(second, BEGIN_REQ, 0, updated(BEGIN_RESP, 2, answer));
         b.forward(first, END_RESP, 2);
         b.forward(second, END_RESP, 2);
       },
       {"BEGIN_RESP of transaction 2 (read 0x40) at 2 ns: another response has not ended"}}};
}

std::vector<Scenario> times_and_return_values() {
  return {
      {"end_req_before_its_begin_req",
       [](Bench& b) {
         Payload& p = b.begin_read(5);
         b.backward(p, END_REQ, 4);
         b.respond(p, 5, completed());
       },
       {"END_REQ of transaction 1 (read 0x40) at 4 ns: the transaction's phase before it takes effect later, "
        "at 5 ns"}},
      {"end_resp_before_its_begin_resp",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.respond(p, 5, updated(END_RESP, 4));
       },
       {"END_RESP of transaction 1 (read 0x40) at 4 ns: the transaction's phase before it takes effect "
        "later, at 5 ns"}},
      {"completed_before_its_begin_req",
       [](Bench& b) { b.forward(b.read(), BEGIN_REQ, 5, completed(4, answer)); },
       {"TLM_COMPLETED to BEGIN_REQ of transaction 1 (read 0x40) at 4 ns: the transaction's phase before "
        "it"}},
      {"completed_before_its_end_resp",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.respond(p);
         b.forward(p, END_RESP, 5, completed(4));
       },
       {"TLM_COMPLETED to END_RESP of transaction 1 (read 0x40) at 4 ns: the transaction's phase before it"}},
      {"accepted_with_another_phase",
       [](Bench& b) {
         Payload& p = b.read();
         b.forward(p, BEGIN_REQ, 0, {tlm::TLM_ACCEPTED, END_REQ, -1, {}});
         b.end(p);
       },
       {"TLM_ACCEPTED to BEGIN_REQ of transaction 1 (read 0x40) at 0 s: the phase or the delay was changed"}},
      {"accepted_with_another_delay",
       [](Bench& b) {
         Payload& p = b.begin_read();
         b.respond(p, 0, {tlm::TLM_ACCEPTED, {}, 1, {}});
         b.forward(p, END_RESP, 1);
       },
       {"TLM_ACCEPTED to BEGIN_RESP of transaction 1 (read 0x40) at 0 s: the phase or the delay was "
        "changed"}},
      {"accepted_with_a_status",
       [](Bench& b) {
         Payload& p = b.read();
         b.forward(p, BEGIN_REQ, 0, accepted(answer));
         b.end(p);
       },
       {"TLM_ACCEPTED to BEGIN_REQ of transaction 1 (read 0x40) at 0 s: the response status was set"}},
      {"completed_to_end_req",
       [](Bench& b) { b.backward(b.begin_read(), END_REQ, 0, completed()); },
       {"TLM_COMPLETED to END_REQ of transaction 1 (read 0x40) at 0 s: the initiator completed a transaction "
        "that has "
        "no response"}},
      {"completed_after_begin_resp",
       [](Bench& b) { b.forward(b.read(), BEGIN_REQ, 0, completed(0, [&b](Payload& p) { b.respond(p); })); },
       {"TLM_COMPLETED to BEGIN_REQ of transaction 1 (read 0x40) at 0 s: the target completed a transaction "
        "after "
        "BEGIN_RESP"}}};
}

}  // namespace

std::vector<Scenario> faults_of_time() {
  std::vector<Scenario> all = exclusion();
  for (const Scenario& s : times_and_return_values()) all.push_back(s);
  return all;
}

}  // namespace warpline::test
