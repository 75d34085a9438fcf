#pragma once

#include <string>
#include <tlm>

#include "rtl_models/tlm/initiator_socket.h"
#include "rtl_models/tlm/pins/pins.h"
#include "rtl_models/tlm/target_socket.h"

namespace warpline {

/// Opens the initiator socket of a Warpline block as pins, to put hardware behind it. It binds the socket:
/// who uses the block loosely timed gets an error response, and debug access finds nothing.
class PinsOfInitiator final : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  /// `parameters` and `responder`: the channels of the hop, and the clock of the hardware, which sends
  /// answers.
  PinsOfInitiator(const sc_core::sc_module_name& name, EngineModule& engine, InitiatorSocket& socket,
                  const HopParameters& parameters = {}, const ClockDomain& responder = {});
  /// What the hardware is to be connected to.
  [[nodiscard]] PinWires& wires() { return wires_; }

 private:
  PinsOfInitiator(const sc_core::sc_module_name& name, EngineModule& engine, InitiatorSocket& socket,
                  const InitiatorSocket::Ports& ports, const HopParameters& parameters,
                  const ClockDomain& responder);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& /*payload*/) override { return 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;

  tlm::tlm_target_socket<kBusBits> stub_{"stub"};
  PinWires wires_;
  PinInitiator end_;
};

/// Opens the target socket of a Warpline block as pins, to put hardware before it. It binds the socket.
class PinsOfTarget final : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
 public:
  /// `parameters` and `requester`: the channels of the hop, and the clock of the hardware, which sends
  /// requests.
  PinsOfTarget(const sc_core::sc_module_name& name, EngineModule& engine, TargetSocket& socket,
               const HopParameters& parameters = {}, const ClockDomain& requester = {});
  [[nodiscard]] PinWires& wires() { return wires_; }

 private:
  PinsOfTarget(const sc_core::sc_module_name& name, EngineModule& engine, TargetSocket& socket,
               const TargetSocket::Ports& ports, const HopParameters& parameters,
               const ClockDomain& requester);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& /*delay*/) override {
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}

  tlm::tlm_initiator_socket<kBusBits> stub_{"stub"};
  PinWires wires_;
  PinTarget end_;
};

}  // namespace warpline
