// One thing wrong each: what a payload says, who keeps it, and its response status.
#include <gtest/gtest.h>

#include "tests/support/protocol_bench.h"

namespace warpline::test {
namespace {

using tlm::BEGIN_REQ, tlm::BEGIN_RESP, tlm::END_REQ, tlm::END_RESP;
using Change = std::function<void(Payload&)>;

unsigned char other_bytes[8];

/// Whatever `change` does to a write is noticed, whoever does it and when.
void add_changes(std::vector<Scenario>& all, const std::string& what, const Change& change) {
  std::string name = what;
  for (char& c : name) c = c == ' ' ? '_' : c;
  const std::string sentence = " of transaction 1 (write 0x80) at 1 ns: changed in flight: " + what;
  all.push_back({name + "_changed_by_the_target_that_accepts",
                 [change](Bench& b) {
                   Payload& p = b.masked_write();
                   b.forward(p, BEGIN_REQ, 1, accepted(change));
                   b.respond(p, 1, completed());
                 },
                 {"TLM_ACCEPTED to BEGIN_REQ" + sentence}});
  all.push_back({name + "_changed_by_the_target_that_completes",
                 [change](Bench& b) {
                   b.forward(b.masked_write(), BEGIN_REQ, 1, completed(1, [change](Payload& p) {
                               answer(p);
                               change(p);
                             }));
                 },
                 {"TLM_COMPLETED to BEGIN_REQ" + sentence}});
  all.push_back({name + "_changed_before_end_req",
                 [change](Bench& b) {
                   Payload& p = b.masked_write();
                   b.forward(p, BEGIN_REQ, 1);
                   change(p);
                   b.backward(p, END_REQ, 1);
                   b.respond(p, 1, completed());
                 },
                 {"END_REQ" + sentence}});
  all.push_back({name + "_changed_before_end_resp",
                 [change](Bench& b) {
                   Payload& p = b.masked_write();
                   b.forward(p, BEGIN_REQ, 1);
                   b.respond(p, 1);
                   change(p);
                   b.forward(p, END_RESP, 1);
                 },
                 {"END_RESP" + sentence}});
}

std::vector<Scenario> changes() {
  std::vector<Scenario> all;
  add_changes(all, "address", [](Payload& p) { p.set_address(0x88); });
  add_changes(all, "command", [](Payload& p) { p.set_command(tlm::TLM_READ_COMMAND); });
  add_changes(all, "data pointer", [](Payload& p) { p.set_data_ptr(other_bytes); });
  add_changes(all, "data length", [](Payload& p) { p.set_data_length(4); });
  add_changes(all, "byte enable pointer", [](Payload& p) { p.set_byte_enable_ptr(other_bytes); });
  add_changes(all, "byte enable length", [](Payload& p) { p.set_byte_enable_length(4); });
  add_changes(all, "streaming width", [](Payload& p) { p.set_streaming_width(4); });
  add_changes(all, "data", [](Payload& p) { p.get_data_ptr()[7] ^= 1U; });
  add_changes(all, "byte enables", [](Payload& p) { p.get_byte_enable_ptr()[7] ^= 0xFFU; });
  all.push_back({"read_data_changed_after_begin_resp",
                 [](Bench& b) {
                   Payload& p = b.read();
                   b.forward(p, BEGIN_REQ);
                   b.respond(p);
                   p.get_data_ptr()[0] = 99;
                   b.forward(p, END_RESP);
                 },
                 {"END_RESP of transaction 1 (read 0x40) at 0 s: changed in flight: data"}});
  all.push_back({"address_changed_once_the_response_has_begun",
                 [](Bench& b) {
                   b.checker.let_address_change();
                   Payload& p = b.masked_write();
                   b.forward(p, BEGIN_REQ, 1, accepted([](Payload& q) { q.set_address(0x88); }));
                   b.respond(p, 1);
                   p.set_address(0x90);
                   b.forward(p, END_RESP, 1);
                 },
                 {"END_RESP of transaction 1 (write 0x88) at 1 ns: changed in flight: address"}});
  all.push_back(
      {"changed_by_the_initiator_that_completes",
       [](Bench& b) { b.respond(b.begin_read(), 0, completed(0, [](Payload& q) { q.set_address(0); })); },
       {"TLM_COMPLETED to BEGIN_RESP of transaction 1 (read 0x40) at 0 s: changed in flight: address"}});
  all.push_back({"changed_by_the_initiator_that_ends",
                 [](Bench& b) {
                   Payload& p = b.read();
                   b.forward(p, BEGIN_REQ);
                   b.respond(p, 0, updated(END_RESP, 0, [](Payload& q) { q.set_address(0); }));
                 },
                 {"END_RESP of transaction 1 (read 0x40) at 0 s: changed in flight: address"}});
  return all;
}

/// A request that should never have been sent.
Scenario bad_request(const std::string& name, const Change& change, const std::string& what) {
  return {name,
          [change](Bench& b) {
            Payload& p = b.read();
            change(p);
            b.forward(p, BEGIN_REQ, 0, completed(0, answer));
          },
          {"BEGIN_REQ of transaction 1 (read 0x40) at 0 s: " + what}};
}

std::vector<Scenario> bad_requests() {
  return {bad_request(
              "no_data_pointer", [](Payload& p) { p.set_data_ptr(nullptr); }, "the data pointer is null"),
          bad_request(
              "no_data_length", [](Payload& p) { p.set_data_length(0); }, "the data length is 0"),
          bad_request(
              "no_streaming_width", [](Payload& p) { p.set_streaming_width(0); }, "the streaming width is 0"),
          bad_request(
              "no_byte_enable_length", [](Payload& p) { p.set_byte_enable_ptr(other_bytes); },
              "there are byte enables, of length 0"),
          bad_request("status_of_the_last_use", answer, "the response status is TLM_OK_RESPONSE")};
}

std::vector<Scenario> status() {
  return {
      {"begin_resp_without_a_status",
       [](Bench& b) {
         Payload& p = b.read();
         b.forward(p, BEGIN_REQ);
         b.backward(p, BEGIN_RESP, 0, completed());
       },
       {"BEGIN_RESP of transaction 1 (read 0x40) at 0 s: the response status is still "
        "TLM_INCOMPLETE_RESPONSE"}},
      {"begin_resp_returned_without_a_status",
       [](Bench& b) {
         Payload& p = b.read();
         b.forward(p, BEGIN_REQ, 0, updated(BEGIN_RESP));
         b.forward(p, END_RESP);
       },
       {"the response status is still TLM_INCOMPLETE_RESPONSE"}},
      {"completed_without_a_status",
       [](Bench& b) { b.forward(b.read(), BEGIN_REQ, 0, completed()); },
       {"TLM_COMPLETED to BEGIN_REQ of transaction 1 (read 0x40) at 0 s: the response status is still "
        "TLM_INCOMPLETE_RESPONSE"}},
      {"status_changed_after_begin_resp",
       [](Bench& b) {
         Payload& p = b.read();
         b.forward(p, BEGIN_REQ);
         b.respond(p);
         p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
         b.forward(p, END_RESP);
       },
       {"END_RESP of transaction 1 (read 0x40) at 0 s: the response status was changed after BEGIN_RESP"}}};
}

std::vector<Scenario> life() {
  return {{"no_memory_manager",
           [](Bench& b) { b.forward(b.unmanaged(), BEGIN_REQ, 0, completed(0, answer)); },
           {"the payload has no memory manager"}},
          {"no_reference",
           [](Bench& b) {
             Payload& p = b.read();
             b.forward(p, BEGIN_REQ);
             b.respond(p);
             b.recycles = false;
             p.release();
             b.forward(p, END_RESP);
             EXPECT_EQ(b.freed, 1U) << "the checker must not free it again";
           },
           {"END_RESP of transaction 1 (read 0x40) at 0 s: nobody holds a reference to the payload"}},
          {"reference_dropped_by_the_target",
           [](Bench& b) {
             Payload& p = b.read();
             b.recycles = false;
             b.forward(p, BEGIN_REQ, 0, accepted([](Payload& q) { q.release(); }));
             p.acquire();
             b.respond(p, 0, completed());
           },
           {"BEGIN_REQ of transaction 1 (read 0x40) at 0 s: nobody holds a reference to the payload"}},
          {"used_again_before_end_resp_takes_effect",
           [](Bench& b) {
             Payload& p = b.read();
             b.forward(p, BEGIN_REQ);
             b.respond(p, 0, updated(END_RESP, 5));
             p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
             b.wait_ns(4);
             b.forward(p, BEGIN_REQ, 1, completed(1, answer));
           },
           {"BEGIN_REQ of transaction 1 (read 0x40) at 5 ns: the payload is used again before the end of its "
            "last "
            "transaction takes effect at 5 ns"}}};
}

}  // namespace

std::vector<Scenario> faults_of_payloads() {
  std::vector<Scenario> all = changes();
  for (const auto& more : {bad_requests(), status(), life()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace warpline::test
