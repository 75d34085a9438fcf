#pragma once

#include <systemc>
#include <tlm>

namespace warpline::test {

/// Joins sockets whose types name different bus widths; every call passes as it is. So a monitor of one width
/// stands on a bus of another.
template <unsigned From, unsigned To>
class WidthAdapter final : public sc_core::sc_module,
                           private tlm::tlm_fw_transport_if<>,
                           private tlm::tlm_bw_transport_if<> {
 public:
  explicit WidthAdapter(const sc_core::sc_module_name& name) : sc_module(name) {
    from_initiator.bind(*this);
    to_target.bind(*this);
  }
  tlm::tlm_target_socket<From> from_initiator{"from_initiator"};
  tlm::tlm_initiator_socket<To> to_target{"to_target"};

 private:
  using Payload = tlm::tlm_generic_payload;
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return to_target->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return from_initiator->nb_transport_bw(payload, phase, delay);
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override {
    to_target->b_transport(payload, delay);
  }
  unsigned transport_dbg(Payload& payload) override { return to_target->transport_dbg(payload); }
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override {
    return to_target->get_direct_mem_ptr(payload, dmi);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
    from_initiator->invalidate_direct_mem_ptr(start, end);
  }
};

}  // namespace warpline::test
