#include "rtl_models/tlm/pins/pin_sockets.h"

namespace warpline {

PinsOfInitiator::PinsOfInitiator(const sc_core::sc_module_name& name, EngineModule& engine,
                                 InitiatorSocket& socket, const HopParameters& parameters,
                                 const ClockDomain& responder)
    : PinsOfInitiator(name, engine, socket, socket.hand_over(), parameters, responder) {}

PinsOfInitiator::PinsOfInitiator(const sc_core::sc_module_name& name, EngineModule& engine,
                                 InitiatorSocket& socket, const InitiatorSocket::Ports& ports,
                                 const HopParameters& parameters, const ClockDomain& responder)
    : sc_module(name),
      wires_("wires", engine, socket.name(), parameters, ports.out.owner().domain(), responder),
      end_("end", engine, wires_, ports.out, ports.in, ports.with_data) {
  stub_.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  socket.bind(stub_);
}

tlm::tlm_sync_enum PinsOfInitiator::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                                    sc_core::sc_time&) {
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  return tlm::TLM_COMPLETED;
}

void PinsOfInitiator::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
}

bool PinsOfInitiator::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  return false;
}

PinsOfTarget::PinsOfTarget(const sc_core::sc_module_name& name, EngineModule& engine, TargetSocket& socket,
                           const HopParameters& parameters, const ClockDomain& requester)
    : PinsOfTarget(name, engine, socket, socket.hand_over(), parameters, requester) {}

PinsOfTarget::PinsOfTarget(const sc_core::sc_module_name& name, EngineModule& engine, TargetSocket& socket,
                           const TargetSocket::Ports& ports, const HopParameters& parameters,
                           const ClockDomain& requester)
    : sc_module(name),
      wires_("wires", engine, socket.name(), parameters, requester, ports.out.owner().domain()),
      end_("end", engine, wires_, ports.in, ports.out, ports.with_data) {
  stub_.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  stub_.bind(socket);
}

}  // namespace warpline
