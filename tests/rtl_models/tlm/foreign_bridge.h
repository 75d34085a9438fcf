#pragma once

#include <array>
#include <memory>
#include <systemc>
#include <tlm>
#include <unordered_map>

namespace warpline::test {

/// An interconnect that passes on a deep copy of each payload, extensions included, at another address, and
/// copies the answer back.
class ForeignBridge final : public sc_core::sc_module,
                            private tlm::tlm_fw_transport_if<>,
                            private tlm::tlm_bw_transport_if<>,
                            private tlm::tlm_mm_interface {
 public:
  ForeignBridge(const sc_core::sc_module_name& name, std::uint64_t offset)
      : sc_module(name), offset_(offset) {
    from.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    to.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  tlm::tlm_target_socket<256> from{"from"};
  tlm::tlm_initiator_socket<256> to{"to"};

 private:
  struct Copy {
    std::array<std::uint8_t, 128> data{};
    std::array<std::uint8_t, 128> enables{};
    tlm::tlm_generic_payload payload;
    tlm::tlm_generic_payload* original = nullptr;
  };
  void answer(Copy& c) { c.original->update_original_from(c.payload); }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    Copy* c = nullptr;
    if (phase == tlm::BEGIN_REQ) {
      copies_.push_back(std::make_unique<Copy>());
      c = copies_.back().get();
      c->original = &p;
      c->payload.set_mm(static_cast<tlm::tlm_mm_interface*>(this));
      c->payload.acquire();
      c->payload.set_data_ptr(c->data.data());
      if (p.get_byte_enable_ptr() != nullptr) c->payload.set_byte_enable_ptr(c->enables.data());
      c->payload.deep_copy_from(p);
      c->payload.set_address(p.get_address() + offset_);
      by_original_[&p] = c;
    } else {
      c = by_original_.at(&p);
    }
    const tlm::tlm_sync_enum status = to->nb_transport_fw(c->payload, phase, delay);
    const bool answered =
        status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP);
    if (answered && c->payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) answer(*c);
    return status;
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    for (const auto& c : copies_) {
      if (&c->payload != &p || by_original_[c->original] != c.get()) continue;
      if (phase == tlm::BEGIN_RESP) answer(*c);
      return from->nb_transport_bw(*c->original, phase, delay);
    }
    return tlm::TLM_COMPLETED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload*) override {}

  std::uint64_t offset_;
  std::vector<std::unique_ptr<Copy>> copies_;
  std::unordered_map<tlm::tlm_generic_payload*, Copy*> by_original_;
};

}  // namespace warpline::test
