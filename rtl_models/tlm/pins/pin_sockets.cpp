#include "rtl_models/tlm/pins/pin_sockets.h"

#include <tlm>

#include "rtl_models/tlm/pins/pins.h"

namespace warpline {

struct PinsOfInitiator::State final : tlm::tlm_fw_transport_if<> {
  State(EngineProcess& engine, InitiatorSocket& socket, const InitiatorSocket::Ports& ports,
        const HopParameters& parameters, const ClockDomain& responder)
      : wires("wires", engine, socket.name(), parameters, ports.out.owner().domain(), responder),
        end("end", engine, wires, ports.out, ports.in, ports.with_data) {
    stub.bind(*this);
    socket.bind(stub);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& delay) override {
    b_transport(payload, delay);
    return tlm::TLM_COMPLETED;
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) override {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& /*payload*/) override { return 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) override {
    dmi.allow_none();
    return false;
  }

  tlm::tlm_target_socket<kBusBits> stub{"stub"};
  PinWires wires;
  PinInitiator end;
};

PinsOfInitiator::PinsOfInitiator(const sc_core::sc_module_name& name, EngineModule& engine,
                                 InitiatorSocket& socket, const HopParameters& parameters,
                                 const ClockDomain& responder)
    : sc_module(name),
      state_(std::make_unique<State>(process_of(engine), socket, socket.hand_over(), parameters, responder)) {
}

PinsOfInitiator::~PinsOfInitiator() = default;

PinWires& PinsOfInitiator::wires() {
  return state_->wires;
}

struct PinsOfTarget::State final : tlm::tlm_bw_transport_if<> {
  State(EngineProcess& engine, TargetSocket& socket, const TargetSocket::Ports& ports,
        const HopParameters& parameters, const ClockDomain& requester)
      : wires("wires", engine, socket.name(), parameters, requester, ports.out.owner().domain()),
        end("end", engine, wires, ports.in, ports.out, ports.with_data) {
    stub.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    stub.bind(socket);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& /*delay*/) override {
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}

  tlm::tlm_initiator_socket<kBusBits> stub{"stub"};
  PinWires wires;
  PinTarget end;
};

PinsOfTarget::PinsOfTarget(const sc_core::sc_module_name& name, EngineModule& engine, TargetSocket& socket,
                           const HopParameters& parameters, const ClockDomain& requester)
    : sc_module(name),
      state_(std::make_unique<State>(process_of(engine), socket, socket.hand_over(), parameters, requester)) {
}

PinsOfTarget::~PinsOfTarget() = default;

PinWires& PinsOfTarget::wires() {
  return state_->wires;
}

}  // namespace warpline
