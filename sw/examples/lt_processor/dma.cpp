#include "dma.h"

Dma::Dma(const sc_core::sc_module_name& name, std::uint64_t doorbell) : sc_module(name), doorbell_(doorbell) {
  socket.register_nb_transport_bw(this, &Dma::nb_transport_bw);
  SC_HAS_PROCESS(Dma);
  SC_THREAD(run);
}

void Dma::run() {
  for (;;) {
    Doorbell doorbell;
    access(tlm::TLM_READ_COMMAND, doorbell_, &doorbell, sizeof doorbell);
    ++looks;
    if (doorbell.state == Doorbell::stop) break;
    if (doorbell.state == Doorbell::ring) {
      copy(doorbell);
      doorbell.state = Doorbell::idle;
      access(tlm::TLM_WRITE_COMMAND, doorbell_, &doorbell, sizeof doorbell);
    }
    wait(100, sc_core::SC_NS);
  }
  stopped = true;
}

void Dma::copy(const Doorbell& doorbell) {
  for (std::uint64_t at = 0; at < doorbell.bytes; at += kLineBytes) {
    access(tlm::TLM_READ_COMMAND, doorbell.source + at, line_.data(), kLineBytes);
    access(tlm::TLM_WRITE_COMMAND, doorbell.target + at, line_.data(), kLineBytes);
    copied += kLineBytes;
  }
}

/// One access, from BEGIN_REQ to the end of its response. With one in flight, requests and responses never
/// meet others.
void Dma::access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
  Payload payload(static_cast<tlm::tlm_mm_interface*>(this));
  payload.acquire();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char*>(data));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  answered_ = false;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  if (socket->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED) {
    wait(delay);
  } else {
    while (!answered_) wait(response_);
  }
  refused += payload.is_response_ok() ? 0 : 1;
  payload.release();
  wait(1, sc_core::SC_NS);
}

tlm::tlm_sync_enum Dma::nb_transport_bw(Payload& /*payload*/, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  answered_ = true;
  response_.notify(delay);
  return tlm::TLM_COMPLETED;
}
