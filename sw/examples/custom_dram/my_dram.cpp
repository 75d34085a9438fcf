#include "my_dram.h"

#include <algorithm>

namespace {

// A step of a request that is nobody else's business.
DECLARE_EXTENDED_PHASE(SERVED);

}  // namespace

MyDram::MyDram(const sc_core::sc_module_name& name, const Parameters& parameters)
    : sc_module(name),
      parameters_(parameters),
      banks_(parameters.banks),
      inputs_(parameters.inputs),
      steps_(this, &MyDram::step) {
  for (unsigned i = 0; i < parameters.inputs; ++i) {
    auto& socket =
        *from_l2.emplace_back(std::make_unique<tlm_utils::simple_target_socket_tagged<MyDram, 256>>(
            ("from_l2_" + std::to_string(i)).c_str()));
    socket.register_nb_transport_fw(this, &MyDram::nb_transport_fw, static_cast<int>(i));
    socket.register_b_transport(this, &MyDram::b_transport, static_cast<int>(i));
    socket.register_transport_dbg(this, &MyDram::transport_dbg, static_cast<int>(i));
  }
}

// Data.

std::uint8_t& MyDram::at(std::uint64_t address) {
  return pages_[address / kPage][address % kPage];
}

void MyDram::move(Payload& payload) {
  const unsigned char* const enables = payload.get_byte_enable_ptr();
  for (unsigned i = 0; i < payload.get_data_length(); ++i) {
    if (enables != nullptr && enables[i % payload.get_byte_enable_length()] != TLM_BYTE_ENABLED) continue;
    if (payload.is_write()) {
      at(payload.get_address() + i) = payload.get_data_ptr()[i];
      ++counters_.bytes_written;
    } else if (payload.is_read()) {
      payload.get_data_ptr()[i] = at(payload.get_address() + i);
    }
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

// Here L2 has its bytes from, and here come those that a host has written.
unsigned MyDram::transport_dbg(int /*input*/, Payload& payload) {
  ++counters_.looks;
  move(payload);
  return payload.get_data_length();
}

// Time.

sc_core::sc_time MyDram::serve(const Payload& payload, const sc_core::sc_time& now) {
  const std::uint64_t row = payload.get_address() / parameters_.row_bytes;
  Bank& bank = banks_[row % banks_.size()];
  ++(payload.is_write() ? counters_.writes : counters_.reads);
  sc_core::sc_time ready = std::max(now, bank.free);
  if (bank.row == row) {
    ++counters_.row_hits;
  } else {
    bank.row = row;
    ready += parameters_.open;
  }
  bank.free = ready;
  const sc_core::sc_time on_bus = std::max(ready + parameters_.column, bus_free_);
  bus_free_ = on_bus + parameters_.line;
  return bus_free_ - now;
}

void MyDram::b_transport(int /*input*/, Payload& payload, sc_core::sc_time& delay) {
  delay += serve(payload, sc_core::sc_time_stamp() + delay);
  move(payload);
}

tlm::tlm_sync_enum MyDram::nb_transport_fw(int input, Payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    payload.acquire();
    asked_by_[&payload] = input;
    move(payload);  // writes take effect in their order
    steps_.notify(payload, SERVED, delay + serve(payload, sc_core::sc_time_stamp() + delay));
    phase = tlm::END_REQ;
    delay += parameters_.line;
    return tlm::TLM_UPDATED;
  }
  if (phase == tlm::END_RESP) {
    steps_.notify(payload, phase, delay);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;
}

void MyDram::step(Payload& payload, const tlm::tlm_phase& phase) {
  const int number = asked_by_.at(&payload);
  Input& input = inputs_[static_cast<std::size_t>(number)];
  if (phase == SERVED) {
    input.answers.push_back(&payload);
  } else {  // END_RESP
    input.responding = nullptr;
    asked_by_.erase(&payload);
    payload.release();
  }
  respond(number);
}

void MyDram::respond(int number) {
  Input& input = inputs_[static_cast<std::size_t>(number)];
  if (input.responding != nullptr || input.answers.empty()) return;
  Payload& payload = *input.answers.front();
  input.answers.pop_front();
  input.responding = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum status =
      (*from_l2[static_cast<std::size_t>(number)])->nb_transport_bw(payload, phase, delay);
  // Who answers at once says when its END_RESP takes effect.
  if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP))
    steps_.notify(payload, tlm::END_RESP, delay);
}
