#pragma once

#include <systemc>
#include <tlm>

namespace warpline {

/// Joins two sockets of the base protocol whose types name different bus widths, in bits: an initiator of
/// kFrom bits, such as a processor of 32, and a target of kTo, such as a block of ours with its 256; or the
/// other way round.
///
/// Everything passes at once and as it is, both ways: the payload itself, phases, annotated time, answers,
/// debug access, direct memory access and what takes it back. So it takes no time, and adds no rule to those
/// of its two neighbours: what a target does with a payload longer than its bus is wide, the payload's length
/// and streaming width say (a target of 256 bits takes 4 bytes as such; one of 32 bits takes 32 bytes as a
/// burst, or refuses with TLM_BURST_ERROR_RESPONSE). Where the wider bus is faster, who counts beats accounts
/// for it.
///
/// No byte moves, as a payload means the same at every width on a host that is little-endian: byte i of its
/// data is the one at address + i (IEEE 1666, "Endianness" of the generic payload). A model of a big-endian
/// component has brought its payload into that order before, for the width of its own socket.
template <unsigned kFrom, unsigned kTo>
class WidthAdapter final : public sc_core::sc_module,
                           private tlm::tlm_fw_transport_if<>,
                           private tlm::tlm_bw_transport_if<> {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                "on a big-endian host bytes would have to change places");

 public:
  explicit WidthAdapter(const sc_core::sc_module_name& name) : sc_module(name) {
    from_initiator.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    to_target.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  tlm::tlm_target_socket<kFrom> from_initiator{"from_initiator"};
  tlm::tlm_initiator_socket<kTo> to_target{"to_target"};
  [[nodiscard]] const char* kind() const override { return "warpline::WidthAdapter"; }

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
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    from_initiator->invalidate_direct_mem_ptr(first, last);
  }
};

}  // namespace warpline
