#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rtl_models/crossbar/crossbar.h"
#include "rtl_models/dram/dram_channel.h"
#include "rtl_models/gpu_switch/gpu_switch.h"
#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/sm_network/sm_network.h"
#include "tests/equivalence/hop_maker.h"
#include "tests/support/mock_components.h"

namespace warpline::test {

/// Where L2 would be: sends reads and writes on to the memory they name, answers the rest itself
/// after a while, and notes when it took what.
class Bridge final : public Component {
 public:
  struct Seen {
    Cycle at = 0;
    std::uint64_t id = 0;
    char port = 'x';  ///< x: crossbar, d: DRAM, p: PCIe
    friend bool operator==(const Seen& a, const Seen& b) {
      return a.at == b.at && a.id == b.id && a.port == b.port;
    }
  };
  Bridge(Engine& engine, std::string name, ClockDomain domain, Cycle delay);

  Cycle tick(Cycle now) override;
  [[nodiscard]] bool busy() const override { return !own_.empty() || !replies_.empty(); }
  void explain(std::vector<Wait>& waits) const override {
    waits.push_back({name(), "its delay or its channel"});
  }
  void in_flight(std::vector<InFlight>& rows) const override {
    for (const auto& [at, r] : own_) rows.emplace_back(*r, name(), name() + " own", "its delay");
    for (const Request* r : replies_) rows.emplace_back(*r, name(), to_crossbar.path(), to_crossbar.room());
  }

  In<RequestMessage> from_crossbar;
  Out<ResponseMessage> to_crossbar;
  Out<RequestMessage> to_dram, to_pcie;
  In<ResponseMessage> from_dram, from_pcie;
  std::vector<Seen> seen;

 private:
  bool forward(Cycle now);

  Cycle delay_;
  std::vector<std::pair<Cycle, Request*>> own_;
  std::vector<Request*> replies_;
};

/// What became of a client's items, a line each.
void describe_answers(const std::vector<Answer>& answers, std::vector<std::string>& lines);

/// What a random netlist is built of; the same seed gives the same one.
struct Shape {
  explicit Shape(std::uint64_t seed);

  ClockDomain sm, l2, dram, link;
  ChannelParameters client_request, client_response, l2_request, l2_response, memory_request, memory_response;
  CrossbarParameters crossbar;
  std::vector<NetworkPlace> places;  ///< of the clients, in the crossbar's network; none: there is none
  DramParameters dram_parameters;
  PcieParameters pcie_parameters;
  unsigned slices = 1;
  unsigned channels = 1;
  Cycle client_gap = 1;
  Cycle bridge_delay = 1;
  std::vector<std::vector<Item>> items;  ///< of each client
  // Beside these, of some netlists: SMs around a network, each of which asks, and answers what others ask.
  GpcShape gpcs;
  ChannelParameters network_request, network_response;
  Cycle shared_delay = 1, shared_gap = 1;
  std::vector<std::vector<Item>> network_items;  ///< of each SM; none: there is no network
  // And of some: GPUs around a switch, each of which asks, and has a replica's memory.
  MulticastTable objects;
  ChannelParameters switch_request, switch_response;
  GpuSwitchParameters switch_parameters;
  Cycle replica_delay = 1, replica_gap = 1;
  std::vector<std::vector<Item>> switch_items;  ///< of each GPU; none: there is no switch
};

/// How the engine may run a netlist: all its components in lock step, or each ahead of the others as far
/// as the channels allow.
enum class Clusters { one, each };

/// Clients, a crossbar, bridges, DRAM channels and a link; some with a network between SMs, some with a
/// switch between GPUs.
class Netlist {
 public:
  Netlist(const Shape& shape, TickMode mode, std::uint64_t seed, Clusters clusters = Clusters::each);
  /// In an engine of somebody else's.
  Netlist(const Shape& shape, Engine& engine, HopMaker& hops, Clusters clusters = Clusters::each);
  /// The same without its first `outside` clients, whose ports at the crossbar somebody else binds.
  Netlist(const Shape& shape, Engine& engine, HopMaker& hops, unsigned outside);
  RunOutcome run() { return engine.run_until(50000000); }
  /// Everything that can be seen of a finished run: every message's cycles, every counter, memory.
  [[nodiscard]] std::vector<std::string> trace() const;

  std::unique_ptr<Engine> own_engine;
  Engine& engine;
  MemoryImage sysmem;
  std::vector<std::unique_ptr<Requester>> clients;  ///< null: one from outside
  std::unique_ptr<Crossbar> crossbar;
  std::vector<std::unique_ptr<Bridge>> bridges;
  std::vector<std::unique_ptr<DramChannel>> channels;
  std::unique_ptr<PcieLink> link;
  std::unique_ptr<SmNetwork> network;  ///< null: there is none
  MulticastTable objects;
  std::unique_ptr<GpuSwitch> gpu_switch;           ///< likewise
  std::vector<std::unique_ptr<Requester>> askers;  ///< around the two
  std::vector<std::unique_ptr<Target>> memories;

 private:
  void build_network(const Shape& shape, HopMaker& hops, Clusters clusters);
  void build_switch(const Shape& shape, HopMaker& hops, Clusters clusters);
  void build(const Shape& shape, HopMaker& hops, Clusters clusters, unsigned outside = 0);
};

}  // namespace warpline::test
