#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/tlm/pins/pin_through.h"
#include "rtl_models/tlm/pins/pins.h"
#include "rtl_models/tlm/sockets.h"
#include "tests/equivalence/hop_maker.h"
#include "tests/support/protocol_checker.h"

namespace warpline::test {

/// Nothing but time passes here.
class NoUntimedAccess final : public UntimedAccess {
 public:
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
};

/// Makes hops of sockets: bound to each other, or, with the given chance in percent, through a foreign
/// module: a checker of the protocol; or, with another chance, hops of pins, which are opened for hardware
/// that lets everything through, if wanted.
class SocketHops final : public HopMaker {
 public:
  SocketHops(EngineProcess& engine, unsigned foreign_percent, unsigned pins_percent, std::uint64_t seed,
             bool opened = false)
      : engine_(engine),
        foreign_percent_(foreign_percent),
        pins_percent_(pins_percent),
        opened_(opened),
        random_(seed) {}

  void hop(Out<RequestMessage>& request_out, In<RequestMessage>& request_in, const ChannelParameters& request,
           Out<ResponseMessage>& response_out, In<ResponseMessage>& response_in,
           const ChannelParameters& response) override {
    if (random_.below(100) < pins_percent_) {
      const char* name = sc_core::sc_gen_unique_name("pins");
      const PinHop::Ports ports{request_out, request_in, response_out, response_in, {request, response}};
      PinHop& p = *pins_.emplace_back(
          std::make_unique<PinHop>(name, engine_, name, ports, PinHop::Data{},
                                   opened_ ? PinHop::Wiring::cut : PinHop::Wiring::through));
      if (!opened_) return;
      hardware_.push_back(std::make_unique<PinThrough>(sc_core::sc_gen_unique_name("down"), p.near().request,
                                                       p.far().request));
      hardware_.push_back(std::make_unique<PinThrough>(sc_core::sc_gen_unique_name("up"), p.far().response,
                                                       p.near().response));
      return;
    }
    hops_.push_back(std::make_unique<Hop>(sc_core::sc_gen_unique_name("hop"), engine_, untimed_, request_out,
                                          request_in, request, response_out, response_in, response));
    Hop& h = *hops_.back();
    if (random_.below(100) >= foreign_percent_) {
      h.initiator.bind(h.target);
      return;
    }
    checkers_.push_back(std::make_unique<ProtocolChecker>(sc_core::sc_gen_unique_name("checker")));
    h.initiator.bind(checkers_.back()->from_initiator);
    checkers_.back()->to_target.bind(h.target);
  }
  [[nodiscard]] const std::vector<std::unique_ptr<ProtocolChecker>>& checkers() const { return checkers_; }

  /// How many of the hops are direct. Pre: elaboration has ended.
  [[nodiscard]] std::size_t direct() const {
    std::size_t n = 0;
    for (const auto& h : hops_) n += h->initiator.is_direct();
    return n;
  }
  /// Hops of sockets.
  [[nodiscard]] std::size_t hops() const { return hops_.size(); }
  [[nodiscard]] std::size_t pins() const { return pins_.size(); }

 private:
  struct Hop final : sc_core::sc_module {
    Hop(const sc_core::sc_module_name& name, EngineProcess& engine, UntimedAccess& untimed,
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
  EngineProcess& engine_;
  unsigned foreign_percent_;
  unsigned pins_percent_;
  bool opened_;
  Random random_;
  NoUntimedAccess untimed_;
  std::vector<std::unique_ptr<Hop>> hops_;
  std::vector<std::unique_ptr<PinHop>> pins_;
  std::vector<std::unique_ptr<PinThrough>> hardware_;
  std::vector<std::unique_ptr<ProtocolChecker>> checkers_;
};

}  // namespace warpline::test
