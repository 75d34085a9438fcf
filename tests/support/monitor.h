#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>

namespace warpline::test {

/// A module of somebody else's that knows nothing of ours: hands on all that passes, and counts it.
class Monitor final : public sc_core::sc_module,
                      private tlm::tlm_fw_transport_if<>,
                      private tlm::tlm_bw_transport_if<> {
 public:
  explicit Monitor(const sc_core::sc_module_name& name) : sc_module(name) {
    from_initiator.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    to_target.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  tlm::tlm_target_socket<256> from_initiator{"from_initiator"};
  tlm::tlm_initiator_socket<256> to_target{"to_target"};
  std::uint64_t requests = 0;  ///< BEGIN_REQs
  std::uint64_t calls = 0;     ///< of b_transport
  /// Called for each of both, on its way.
  std::function<void(const tlm::tlm_generic_payload&)> look = [](const tlm::tlm_generic_payload&) {};

 private:
  using Payload = tlm::tlm_generic_payload;
  tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) {
      ++requests;
      look(p);
    }
    return to_target->nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    return from_initiator->nb_transport_bw(p, phase, delay);
  }
  void b_transport(Payload& p, sc_core::sc_time& delay) override {
    ++calls;
    look(p);
    to_target->b_transport(p, delay);
  }
  unsigned transport_dbg(Payload& p) override { return to_target->transport_dbg(p); }
  bool get_direct_mem_ptr(Payload& p, tlm::tlm_dmi& dmi) override {
    return to_target->get_direct_mem_ptr(p, dmi);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    from_initiator->invalidate_direct_mem_ptr(first, last);
  }
};

}  // namespace warpline::test
