#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/sim/arrivals.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/sm_network/sm_network_core.h"

namespace warpline {

/// Connects the SMs of each graphics processing cluster with each other's shared memory, both ways.
///
/// In a cycle every SM's shared memory is given at most one request, and every SM at most one answer; all of
/// them at once. Each input is a queue: what one SM sends to another arrives in order, and a head that waits
/// holds up what is behind it. A request for an SM of another GPC, or for none, is answered with an error.
///
/// Owns `route` of the requests that pass. Latency: none of its own beyond its channels'.
class SmNetwork final : public Component, public LooseTarget {
 public:
  /// Pre: SMs are 1 to 2047.
  SmNetwork(Engine& engine, std::string name, ClockDomain domain, unsigned sms, const GpcShape& shape,
            SmNetworkWidths widths);

  /// What SM `i` asks of others, and its answers.
  [[nodiscard]] In<RequestMessage>& from_sm(unsigned i) { return *from_sm_[i]; }
  [[nodiscard]] Out<ResponseMessage>& to_sm(unsigned i) { return *to_sm_[i]; }
  /// What is asked of SM `i`, and what it answers.
  [[nodiscard]] Out<RequestMessage>& to_shared(unsigned i) { return *to_shared_[i]; }
  [[nodiscard]] In<ResponseMessage>& from_shared(unsigned i) { return *from_shared_[i]; }

  Cycle tick(Cycle now) override;
  void perform(Request& r, Cycle& at) override;
  void restart() override { core_.restart(); }
  void archive(StateArchive& a) override { a(core_); }
  [[nodiscard]] bool busy() const override { return refused_ != 0; }
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void draw_turns(Random& random) override { core_.draw_turns(random); }
  void in_flight(std::vector<InFlight>& rows) const override;
  [[nodiscard]] const SmNetworkCounters& counters() const { return core_.counters(); }

 private:
  void enter_request(Cycle now, unsigned from);
  void send_request(Cycle now, unsigned sm);
  void send_response(Cycle now, unsigned sm);

  SmNetworkCore core_;
  std::vector<std::unique_ptr<In<RequestMessage>>> from_sm_;
  std::vector<std::unique_ptr<Out<ResponseMessage>>> to_sm_;
  std::vector<std::unique_ptr<Out<RequestMessage>>> to_shared_;
  std::vector<std::unique_ptr<In<ResponseMessage>>> from_shared_;
  Arrivals request_arrivals_, response_arrivals_;
  std::vector<RequestList> refusals_;  ///< of each SM: answered by the network itself, not yet sent
  std::size_t refused_ = 0;            ///< in all of them
};

}  // namespace warpline
