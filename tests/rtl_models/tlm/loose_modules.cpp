#include "tests/rtl_models/tlm/loose_modules.h"

namespace warpline::test {

using tlm::tlm_generic_payload;

namespace {

/// A payload that asks for `a`.
struct Payload {
  Payload(Access& a, Request* model) {
    describe(p, a);
    if (model == nullptr) return;
    extension.request = model;
    p.set_extension(&extension);
  }
  ~Payload() { p.clear_extension<RequestExtension>(); }
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;
  tlm_generic_payload p;
  RequestExtension extension;
};

/// One that lives until nobody refers to it any more, as nb_transport wants it.
class ManagedPayload final : private tlm::tlm_mm_interface {
 public:
  ManagedPayload(Access& a, Request* model) : payload_(a, model) {
    payload_.p.set_mm(this);
    payload_.p.acquire();
  }
  tlm_generic_payload& operator*() { return payload_.p; }

 private:
  void free(tlm_generic_payload* /*payload*/) override { delete this; }
  Payload payload_;
};

}  // namespace

LooseInitiator::LooseInitiator(const sc_core::sc_module_name& name, Body body)
    : sc_module(name), body_(std::move(body)) {
  socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  SC_HAS_PROCESS(LooseInitiator);
  SC_THREAD(run);
}

void LooseInitiator::run() {
  body_(*this);
  done = true;
}

bool LooseInitiator::call(Access& a, sc_core::sc_time& delay, Request* model) {
  Payload payload(a, model);
  socket->b_transport(payload.p, delay);
  a.answered = true;
  a.status = payload.p.get_response_status();
  return payload.p.is_dmi_allowed();
}

sc_core::sc_time LooseInitiator::loose(Access& a, Request* model) {
  const sc_core::sc_time begun = sc_core::sc_time_stamp();
  sc_core::sc_time delay;
  call(a, delay, model);
  return sc_core::sc_time_stamp() + delay - begun;
}

sc_core::sc_time LooseInitiator::timed(Access& a, Request* model) {
  tlm_generic_payload& payload = **new ManagedPayload(a, model);
  const sc_core::sc_time begun = sc_core::sc_time_stamp();
  sc_core::sc_time delay;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  a.answered = true;
  if (socket->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED) {
    response_ = sc_core::sc_time_stamp() + delay;
  } else {
    wait(answered_);
  }
  a.status = payload.get_response_status();
  payload.release();
  return response_ - begun;
}

tlm::tlm_sync_enum LooseInitiator::nb_transport_bw(tlm_generic_payload& /*payload*/, tlm::tlm_phase& phase,
                                                   sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  response_ = sc_core::sc_time_stamp() + delay;
  answered_.notify(delay);
  return tlm::TLM_COMPLETED;
}

unsigned LooseInitiator::debug(Access& a) {
  Payload payload(a, nullptr);
  const unsigned moved = socket->transport_dbg(payload.p);
  a.status = payload.p.get_response_status();
  return moved;
}

bool LooseInitiator::direct(tlm::tlm_command command, std::uint64_t address, tlm::tlm_dmi& dmi) {
  tlm_generic_payload p;
  p.set_command(command);
  p.set_address(address);
  return socket->get_direct_mem_ptr(p, dmi);
}

LooseMemory::LooseMemory(const sc_core::sc_module_name& name, Habits habits)
    : sc_module(name), habits_(habits) {
  socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
}

void LooseMemory::move(tlm_generic_payload& p) {
  const unsigned char* enables = p.get_byte_enable_ptr();
  for (unsigned i = 0; i < p.get_data_length(); ++i) {
    if (enables != nullptr && enables[i % p.get_byte_enable_length()] != TLM_BYTE_ENABLED) continue;
    std::uint8_t& byte = bytes[p.get_address() + i];
    (p.is_write() ? byte : p.get_data_ptr()[i]) = p.is_write() ? p.get_data_ptr()[i] : byte;
  }
}

void LooseMemory::b_transport(tlm_generic_payload& p, sc_core::sc_time& delay) {
  ++calls;
  most_inside = std::max(most_inside, ++inside);
  if (p.is_read()) ++reads[p.get_address() / kLineBytes * kLineBytes];
  if (habits_.waits != sc_core::SC_ZERO_TIME) {
    wait(delay + habits_.waits);
    delay = sc_core::SC_ZERO_TIME;
  }
  delay += habits_.annotates;
  auto* extension = p.get_extension<RequestExtension>();
  const bool ignored = p.get_command() == tlm::TLM_IGNORE_COMMAND;
  if (ignored && extension != nullptr) extension->accepted = habits_.accepts;
  move(p);
  p.set_response_status(ignored && !habits_.accepts ? tlm::TLM_COMMAND_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
  --inside;
}

unsigned LooseMemory::transport_dbg(tlm_generic_payload& p) {
  move(p);
  return p.get_data_length();
}

bool LooseMemory::get_direct_mem_ptr(tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
  if (p.get_address() >= direct.size()) return false;
  dmi.set_dmi_ptr(direct.data());
  dmi.set_start_address(0);
  dmi.set_end_address(direct.size() - 1);
  dmi.allow_read_write();
  return true;
}

tlm::tlm_sync_enum LooseMemory::nb_transport_fw(tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
  ++calls;
  if (p.is_read()) ++reads[p.get_address() / kLineBytes * kLineBytes];
  move(p);
  delay += habits_.waits + habits_.annotates;
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  return tlm::TLM_COMPLETED;
}

}  // namespace warpline::test
