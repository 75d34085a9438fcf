#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

namespace warpline::test {

/// What stands before a memory of somebody else's that is 32 bits wide and ignores byte enables: passes on a
/// payload of its own for each, without enables, at an address from 0 on. Bytes that a write leaves alone are
/// written as they are.
class Narrow final : public sc_core::sc_module,
                     private tlm::tlm_fw_transport_if<>,
                     private tlm::tlm_bw_transport_if<>,
                     private tlm::tlm_mm_interface {
 public:
  Narrow(const sc_core::sc_module_name& name, std::uint64_t bytes) : sc_module(name), size_(bytes) {
    from.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    to.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  tlm::tlm_target_socket<256> from{"from"};
  tlm::tlm_initiator_socket<32> to{"to"};
  std::uint64_t reads = 0, writes = 0;

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Copy {
    std::array<std::uint8_t, 128> data{};
    Payload payload;
    Payload* original = nullptr;
  };
  static bool enabled(const Payload& p, unsigned i) {
    return p.get_byte_enable_ptr() == nullptr ||
           p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] == TLM_BYTE_ENABLED;
  }
  Copy& copy(Payload& p) {
    auto& c = copies_[&p] = std::make_unique<Copy>();
    c->original = &p;
    c->payload.set_mm(this);
    c->payload.acquire();
    c->payload.set_command(p.get_command());
    c->payload.set_address(p.get_address() % size_);
    c->payload.set_data_ptr(c->data.data());
    c->payload.set_data_length(p.get_data_length());
    c->payload.set_streaming_width(p.get_data_length());
    c->payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    (p.is_read() ? reads : writes) += 1;
    if (!p.is_write()) return *c;
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      std::uint8_t& byte = bytes_[c->payload.get_address() + i];
      if (enabled(p, i)) byte = p.get_data_ptr()[i];
      c->data[i] = byte;
    }
    return *c;
  }
  static void answer(Copy& c) {
    Payload& p = *c.original;
    p.set_response_status(c.payload.get_response_status());
    if (!p.is_read()) return;
    for (unsigned i = 0; i < p.get_data_length(); ++i)
      if (enabled(p, i)) p.get_data_ptr()[i] = c.data[i];
  }
  tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    Copy& c = phase == tlm::BEGIN_REQ ? copy(p) : *copies_.at(&p);
    const tlm::tlm_sync_enum status = to->nb_transport_fw(c.payload, phase, delay);
    if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
      if (p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) answer(c);
    }
    return status;
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    for (const auto& [original, c] : copies_) {
      if (&c->payload != &p) continue;
      if (phase == tlm::BEGIN_RESP) answer(*c);
      return from->nb_transport_bw(*original, phase, delay);
    }
    return tlm::TLM_COMPLETED;
  }
  void b_transport(Payload& p, sc_core::sc_time& delay) override {
    Copy& c = copy(p);
    to->b_transport(c.payload, delay);
    answer(c);
  }
  unsigned transport_dbg(Payload&) override { return 0; }
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(Payload*) override {}

  std::uint64_t size_;
  std::map<Payload*, std::unique_ptr<Copy>> copies_;  ///< the last of each original
  std::map<std::uint64_t, std::uint8_t> bytes_;
};

}  // namespace warpline::test
