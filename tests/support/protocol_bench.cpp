#include "tests/support/protocol_bench.h"

#include <gtest/gtest.h>

namespace warpline::test {

Reply accepted(std::function<void(Payload&)> first) {
  Reply reply;
  reply.first = std::move(first);
  return reply;
}

Reply updated(tlm::tlm_phase_enum phase, int ns, std::function<void(Payload&)> first) {
  return {tlm::TLM_UPDATED, phase, ns, std::move(first)};
}

Reply completed(int ns, std::function<void(Payload&)> first) {
  return {tlm::TLM_COMPLETED, {}, ns, std::move(first)};
}

void answer(Payload& payload) {
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

Bench::Bench(const sc_core::sc_module_name& name, Script script)
    : sc_module(name), script_(std::move(script)) {
  SC_HAS_PROCESS(Bench);
  initiator.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  target.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  initiator.bind(checker.from_initiator);
  checker.to_target.bind(target);
  SC_THREAD(run);
}

Payload& Bench::make(Payload& payload, tlm::tlm_command command, sc_dt::uint64 address) {
  Buffer& buffer = buffers_.emplace_back();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(buffer.data.data());
  payload.set_data_length(8);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_byte_enable_length(0);
  payload.set_streaming_width(8);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return payload;
}

Payload& Bench::read(sc_dt::uint64 address) {
  Payload& payload = managed_.emplace_back(static_cast<tlm::tlm_mm_interface*>(this));
  payload.acquire();
  return make(payload, tlm::TLM_READ_COMMAND, address);
}

Payload& Bench::write(sc_dt::uint64 address) {
  Payload& payload = read(address);
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  return payload;
}

Payload& Bench::masked_write() {
  Payload& payload = write();
  payload.set_byte_enable_ptr(buffers_.back().enables.data());
  payload.set_byte_enable_length(8);
  return payload;
}

Payload& Bench::unmanaged() {
  return make(unmanaged_.emplace_back(), tlm::TLM_READ_COMMAND, 0x40);
}

void Bench::forward(Payload& payload, tlm::tlm_phase phase, int ns, const Reply& reply) {
  call(true, payload, phase, ns, reply);
}

void Bench::backward(Payload& payload, tlm::tlm_phase phase, int ns, const Reply& reply) {
  call(false, payload, phase, ns, reply);
}

void Bench::respond(Payload& payload, int ns, const Reply& reply) {
  answer(payload);
  backward(payload, tlm::BEGIN_RESP, ns, reply);
}

Payload& Bench::begin_read(int ns) {
  Payload& payload = read();
  forward(payload, tlm::BEGIN_REQ, ns);
  return payload;
}

void Bench::transfer(Payload& payload) {
  forward(payload, tlm::BEGIN_REQ);
  wait_ns(1);
  backward(payload, tlm::END_REQ);
  wait_ns(1);
  respond(payload);
  wait_ns(1);
  forward(payload, tlm::END_RESP);
  wait_ns(1);
}

/// Whatever comes back must be what the other side returned.
void Bench::call(bool forward, Payload& payload, tlm::tlm_phase phase, int ns, const Reply& reply) {
  sc_core::sc_time delay(ns, sc_core::SC_NS);
  call_ = {&payload, phase, delay, reply};
  const tlm::tlm_phase phase_back = reply.phase == tlm::UNINITIALIZED_PHASE ? phase : reply.phase;
  const sc_core::sc_time delay_back = reply.ns < 0 ? delay : sc_core::sc_time(reply.ns, sc_core::SC_NS);
  const tlm::tlm_sync_enum status = forward ? initiator->nb_transport_fw(payload, phase, delay)
                                            : target->nb_transport_bw(payload, phase, delay);
  EXPECT_EQ(status, reply.status) << name();
  EXPECT_EQ(phase, phase_back) << name();
  EXPECT_EQ(delay, delay_back) << name();
}

tlm::tlm_sync_enum Bench::reply_to(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Call c = call_;
  EXPECT_EQ(&payload, c.payload) << name();
  EXPECT_EQ(phase, c.phase) << name();
  EXPECT_EQ(delay, c.delay) << name();
  if (c.reply.first) c.reply.first(payload);
  if (c.reply.phase != tlm::UNINITIALIZED_PHASE) phase = c.reply.phase;
  if (c.reply.ns >= 0) delay = sc_core::sc_time(c.reply.ns, sc_core::SC_NS);
  return c.reply.status;
}

void Bench::b_transport(Payload& payload, sc_core::sc_time& delay) {
  unchecked.emplace_back("b_transport");
  delay += sc_core::sc_time(5, sc_core::SC_NS);
  answer(payload);
}

unsigned Bench::transport_dbg(Payload&) {
  unchecked.emplace_back("transport_dbg");
  return 7;
}

bool Bench::get_direct_mem_ptr(Payload&, tlm::tlm_dmi& dmi) {
  unchecked.emplace_back("get_direct_mem_ptr");
  dmi.set_end_address(99);
  return true;
}

void Bench::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  unchecked.push_back("invalidate " + std::to_string(start) + " " + std::to_string(end));
}

}  // namespace warpline::test
