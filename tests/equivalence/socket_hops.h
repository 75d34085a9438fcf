#pragma once

#include <memory>
#include <string>
#include <vector>

#include "netlist.h"
#include "warpline/fabric/tlm_initiator.h"
#include "warpline/fabric/tlm_target.h"

namespace warpline::testing {

/// Somebody else's module in the middle of a hop: passes everything on, and makes the hop a foreign one.
class Passer final : public sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
 public:
  explicit Passer(const sc_core::sc_module_name& name) : sc_module(name) {
    target.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    initiator.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  tlm::tlm_target_socket<kBusBits> target{"target"};
  tlm::tlm_initiator_socket<kBusBits> initiator{"initiator"};

 private:
  using Payload = tlm::tlm_generic_payload;
  tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) override {
    return initiator->nb_transport_fw(p, phase, t);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& t) override {
    return target->nb_transport_bw(p, phase, t);
  }
  void b_transport(Payload& p, sc_core::sc_time& t) override { initiator->b_transport(p, t); }
  unsigned transport_dbg(Payload& p) override { return initiator->transport_dbg(p); }
  bool get_direct_mem_ptr(Payload& p, tlm::tlm_dmi& dmi) override {
    return initiator->get_direct_mem_ptr(p, dmi);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 a, sc_dt::uint64 b) override {
    target->invalidate_direct_mem_ptr(a, b);
  }
};

/// Nothing but time passes here.
class NoUntimedAccess final : public UntimedAccess {
 public:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) override {
    p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
};

/// Makes hops of sockets: bound to each other, or through a foreign module with the given chance in percent.
class SocketHops final : public HopMaker {
 public:
  SocketHops(EngineModule& engine, unsigned foreign_percent, std::uint64_t seed)
      : engine_(engine), foreign_percent_(foreign_percent), random_(seed) {}

  void hop(Out<RequestMessage>& request_out, In<RequestMessage>& request_in, const ChannelParameters& request,
           Out<ResponseMessage>& response_out, In<ResponseMessage>& response_in,
           const ChannelParameters& response) override {
    hops_.push_back(std::make_unique<Hop>(sc_core::sc_gen_unique_name("hop"), engine_, untimed_, request_out,
                                          request_in, request, response_out, response_in, response));
    Hop& h = *hops_.back();
    if (random_.below(100) >= foreign_percent_) {
      h.initiator.bind(h.target);
      return;
    }
    passers_.push_back(std::make_unique<Passer>(sc_core::sc_gen_unique_name("passer")));
    h.initiator.bind(passers_.back()->target);
    passers_.back()->initiator.bind(h.target);
  }

 private:
  struct Hop final : sc_core::sc_module {
    Hop(const sc_core::sc_module_name& name, EngineModule& engine, UntimedAccess& untimed,
        Out<RequestMessage>& request_out, In<RequestMessage>& request_in, const ChannelParameters& request,
        Out<ResponseMessage>& response_out, In<ResponseMessage>& response_in,
        const ChannelParameters& response)
        : sc_module(name),
          initiator("initiator", engine, request_out, response_in),
          target("target", engine, request_in, response_out, untimed) {
      initiator.set_channel(response, response_out.owner().domain());
      target.set_channel(request, request_out.owner().domain());
    }
    InitiatorSocket initiator;
    TargetSocket target;
  };
  EngineModule& engine_;
  unsigned foreign_percent_;
  Random random_;
  NoUntimedAccess untimed_;
  std::vector<std::unique_ptr<Hop>> hops_;
  std::vector<std::unique_ptr<Passer>> passers_;
};

}  // namespace warpline::testing
