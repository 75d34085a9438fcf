#include "tests/rtl_models/tlm/foreign_modules.h"

#include <algorithm>
#include <utility>

namespace warpline::test {

using tlm::tlm_generic_payload;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

ForeignInitiator::ForeignInitiator(const sc_core::sc_module_name& name, std::vector<Access> what,
                                   const Habits& habits)
    : sc_module(name), accesses(std::move(what)), habits_(habits) {
  socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  SC_HAS_PROCESS(ForeignInitiator);
  SC_METHOD(send);
  sensitive << send_;
  SC_METHOD(end_response);
  dont_initialize();
  sensitive << end_response_;
}

void ForeignInitiator::send() {
  if (requesting_ == nullptr) begin(sc_core::SC_ZERO_TIME);
}

void ForeignInitiator::begin(sc_core::sc_time delay) {
  if (next_ == accesses.size()) return;
  Access& a = accesses[next_++];
  tlm_generic_payload& p = payloads_.emplace_back(static_cast<tlm::tlm_mm_interface*>(this));
  p.acquire();
  describe(p, a);
  requesting_ = &p;
  tlm_phase phase = tlm::BEGIN_REQ;
  const tlm_sync_enum status = socket->nb_transport_fw(p, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;
  request_ended(delay);
  if (status == tlm::TLM_COMPLETED) finish(p);
}

void ForeignInitiator::request_ended(const sc_core::sc_time& delay) {
  requesting_ = nullptr;
  send_.notify(delay + sc_core::sc_time(1, sc_core::SC_PS));
}

tlm_sync_enum ForeignInitiator::nb_transport_bw(tlm_generic_payload& payload, tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  const bool ends = requesting_ == &payload;
  if (phase == tlm::END_REQ) {
    requesting_ = nullptr;
    if (habits_.nested) {
      begin(delay);
    } else {
      request_ended(delay);
    }
    return tlm::TLM_ACCEPTED;
  }
  if (ends) request_ended(delay);
  if (habits_.late == sc_core::SC_ZERO_TIME) {
    finish(payload);
    return tlm::TLM_COMPLETED;
  }
  responding_ = &payload;
  end_response_.notify(delay + habits_.late);
  return tlm::TLM_ACCEPTED;
}

void ForeignInitiator::end_response() {
  tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay;
  tlm_generic_payload& p = *responding_;
  responding_ = nullptr;
  static_cast<void>(socket->nb_transport_fw(p, phase, delay));
  finish(p);
}

void ForeignInitiator::finish(tlm_generic_payload& payload) {
  for (std::size_t i = 0; i < payloads_.size(); ++i) {
    if (&payloads_[i] != &payload) continue;
    accesses[i].answered = true;
    accesses[i].status = payload.get_response_status();
  }
  payload.release();
}

ForeignTarget::ForeignTarget(const sc_core::sc_module_name& name, Way way, const sc_core::sc_time& pace)
    : sc_module(name), way_(way), pace_(pace) {
  socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  SC_HAS_PROCESS(ForeignTarget);
  SC_METHOD(end_request);
  dont_initialize();
  sensitive << end_request_;
  SC_METHOD(respond);
  dont_initialize();
  sensitive << respond_;
}

void ForeignTarget::serve(tlm_generic_payload& p) {
  for (unsigned i = 0; i < p.get_data_length(); ++i) {
    const unsigned char* enables = p.get_byte_enable_ptr();
    if (enables != nullptr && enables[i % p.get_byte_enable_length()] != TLM_BYTE_ENABLED) continue;
    std::uint8_t& byte = memory[p.get_address() + i];
    (p.is_write() ? byte : p.get_data_ptr()[i]) = p.is_write() ? p.get_data_ptr()[i] : byte;
  }
  if (way_ == Way::narrow && p.get_data_length() > 4) {
    p.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else if (way_ == Way::nothing_there) {
    p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else if (way_ != Way::status_unset)
    p.set_response_status(tlm::TLM_OK_RESPONSE);
}

void ForeignTarget::queue(tlm_generic_payload& p) {
  waiting_.emplace_back(&p, sc_core::sc_time_stamp() + pace_);
  if (responding_ == nullptr) respond_.notify(pace_);
}

tlm_sync_enum ForeignTarget::nb_transport_fw(tlm_generic_payload& payload, tlm_phase& phase,
                                             sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    responding_ = nullptr;
    free_ = sc_core::sc_time_stamp() + delay;
    if (!waiting_.empty()) respond_.notify(delay);
    return tlm::TLM_COMPLETED;
  }
  if (way_ == Way::silent) return tlm::TLM_ACCEPTED;
  const bool busy = responding_ != nullptr || !waiting_.empty() || free_ > sc_core::sc_time_stamp();
  tlm_phase answer = tlm::BEGIN_RESP;
  sc_core::sc_time zero;
  switch (way_) {
    case Way::foreign_payload:
      static_cast<void>(socket->nb_transport_bw(stray_, answer, zero));
      [[fallthrough]];
    case Way::status_unset:
    case Way::narrow:
    case Way::nothing_there:
    case Way::completed:
      serve(payload);
      delay += pace_;
      return tlm::TLM_COMPLETED;
    case Way::updated_end:
      queue(payload);
      delay += pace_ / 2;
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    case Way::updated_answer:
      if (busy) break;
      serve(payload);
      responding_ = &payload;
      delay += pace_;
      phase = tlm::BEGIN_RESP;
      return tlm::TLM_UPDATED;
    case Way::called:
      unended_ = &payload;
      end_request_.notify(pace_ / 2);
      break;
    case Way::nested:
    case Way::answers_twice:
    case Way::responds_twice: {
      if (busy) break;
      serve(payload);
      responding_ = &payload;
      const tlm_sync_enum status = socket->nb_transport_bw(payload, answer, zero);
      if (status != tlm::TLM_ACCEPTED) {
        responding_ = nullptr;
        free_ = sc_core::sc_time_stamp() + zero;
      }
      answer = tlm::BEGIN_RESP;
      if (way_ == Way::responds_twice) static_cast<void>(socket->nb_transport_bw(payload, answer, zero));
      return way_ == Way::answers_twice ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
    }
    case Way::strange_phase: phase = tlm::END_RESP; return tlm::TLM_UPDATED;
    case Way::answer_only:
    case Way::silent: break;
  }
  queue(payload);
  return tlm::TLM_ACCEPTED;
}

void ForeignTarget::end_request() {
  tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay;
  tlm_generic_payload& p = *std::exchange(unended_, nullptr);
  static_cast<void>(socket->nb_transport_bw(p, phase, delay));
}

void ForeignTarget::respond() {
  if (waiting_.empty() || responding_ != nullptr) return;
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  if (const sc_core::sc_time from = std::max(waiting_.front().second, free_); from > now) {
    respond_.notify(from - now);
    return;
  }
  responding_ = waiting_.front().first;
  waiting_.pop_front();
  serve(*responding_);
  tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  if (socket->nb_transport_bw(*responding_, phase, delay) == tlm::TLM_ACCEPTED) return;
  responding_ = nullptr;
  free_ = sc_core::sc_time_stamp() + delay;
  respond_.notify(delay);
}

}  // namespace warpline::test
