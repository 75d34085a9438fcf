#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/equivalence/naive_mesh.h"
#include "tests/equivalence/socket_hops.h"
#include "tests/equivalence/socket_probe.h"
#include "tests/support/checked_binding.h"

namespace warpline::test {

/// Makes hops of sockets, with the given chance in percent through a probe.
class ProbedHops final : public HopMaker {
 public:
  ProbedHops(EngineProcess& engine, unsigned probed_percent, std::uint64_t seed, EndRule rule)
      : engine_(engine), probed_percent_(probed_percent), random_(seed), rule_(rule) {}

  void hop(Out<RequestMessage>& request_out, In<RequestMessage>& request_in, const ChannelParameters& request,
           Out<ResponseMessage>& response_out, In<ResponseMessage>& response_in,
           const ChannelParameters& response) override {
    const ClockDomain& above = request_out.owner().domain();
    const ClockDomain& below = response_out.owner().domain();
    hops_.push_back(std::make_unique<Hop>(sc_core::sc_gen_unique_name("probed_hop"), engine_, request_out,
                                          response_in, request_in, response_out, untimed_));
    Hop& h = *hops_.back();
    h.initiator.set_channel(response, below);
    h.target.set_channel(request, above);
    if (random_.below(100) >= probed_percent_) {
      h.initiator.bind(h.target);
      return;
    }
    h.probe = std::make_unique<SocketProbe>(sc_core::sc_gen_unique_name("probe"), engine_,
                                            SocketProbe::Channel{request.width, above, below},
                                            SocketProbe::Channel{response.width, below, above}, rule_);
    if (rule_ == end_rules::faithful) {
      bind_checked(h.initiator, h.probe->from_initiator);
      bind_checked(h.probe->to_target, h.target);
    } else {
      h.initiator.bind(h.probe->from_initiator);
      h.probe->to_target.bind(h.target);
    }
  }

  /// A line for every message on every probed hop: as seen there, and as the naive model has it.
  [[nodiscard]] std::vector<std::string> seen() const {
    return lines([](unsigned, const SocketProbe& probe) {
      return NaiveMesh::Logs{probe.down(), probe.up()};
    });
  }
  [[nodiscard]] std::vector<std::string> predicted(const NaiveMesh& naive) const {
    return lines([&naive](unsigned hop, const SocketProbe&) { return naive.logs(hop); });
  }

 private:
  struct Hop final : sc_core::sc_module {
    Hop(const sc_core::sc_module_name& name, EngineProcess& engine, Out<RequestMessage>& request_out,
        In<ResponseMessage>& response_in, In<RequestMessage>& request_in, Out<ResponseMessage>& response_out,
        UntimedAccess& untimed)
        : sc_module(name),
          initiator("initiator", engine, request_out, response_in),
          target("target", engine, request_in, response_out, untimed) {}
    InitiatorSocket initiator;
    TargetSocket target;
    std::unique_ptr<SocketProbe> probe;
  };
  template <class F>
  [[nodiscard]] std::vector<std::string> lines(F&& logs) const {
    std::vector<std::string> all;
    for (unsigned i = 0; i < hops_.size(); ++i) {
      if (hops_[i]->probe == nullptr) continue;
      const NaiveMesh::Logs of = logs(i, *hops_[i]->probe);
      describe_occupancy("hop " + std::to_string(i) + " down", of.down, all);
      describe_occupancy("hop " + std::to_string(i) + " up", of.up, all);
    }
    return all;
  }

  EngineProcess& engine_;
  unsigned probed_percent_;
  Random random_;
  EndRule rule_;
  NoUntimedAccess untimed_;
  std::vector<std::unique_ptr<Hop>> hops_;
};

}  // namespace warpline::test
