#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/machine/netlist.h"
#include "platform/systemc/interposer_module.h"
#include "platform/systemc/slice_maker_module.h"
#include "rtl_models/cache/read_only_cache_module.h"
#include "rtl_models/crossbar/crossbar_module.h"
#include "rtl_models/dram/dram_module.h"
#include "rtl_models/l1_lg/l1_lg_module.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/pcie/gpu_link/pcie_module.h"
#include "rtl_models/sm/sm_module.h"
#include "rtl_models/tlm/pins/pins.h"

namespace warpline {

/// A GPU in SystemC: a module around each block of a netlist, bound socket to socket.
class GpuModule final : public sc_core::sc_module {
 public:
  /// `netlist` and `engine` outlive it; the netlist has no hops yet, and lives in that engine. Where it
  /// lacks slices, `make_slice` makes them; a SliceMaker whose sockets do not fit the site throws
  /// std::invalid_argument. Hops between two blocks of the netlist that match one of the patterns `pins` are
  /// opened as pins (see Hop::matches). `interpose` puts modules into hops, those at foreign slices too; one
  /// that is opened as pins besides, or that is given one socket only, is std::invalid_argument.
  GpuModule(const sc_core::sc_module_name& name, EngineProcess& engine, Netlist& netlist,
            const SliceMaker& make_slice = {}, const std::vector<std::string>& pins = {},
            const Interposer& interpose = {});

 private:
  struct Cluster {
    Cluster(unsigned i, EngineProcess& engine, Netlist::SmCluster& blocks, bool with_data);
    SmModule sm;
    L1LgModule l1_lg;
    ReadOnlyCacheModule texture, constant, instruction;
  };
  using Targets = std::unordered_map<const void*, TargetSocket*>;
  void bind_hop(const Hop& h, InitiatorSocket& initiator, TargetSocket& target, bool pins,
                const Interposer& interpose);
  void open_as_pins(const Hop& h, InitiatorSocket& initiator, TargetSocket& target);
  /// Binds a foreign slice to crossbar, DRAM channels and link. `used`: inputs taken of each DRAM channel.
  void bind_foreign_slice(unsigned s, Netlist& netlist, const SliceMaker& make_slice,
                          const Interposer& interpose, const Targets& targets, std::vector<unsigned>& used);
  void bind_foreign(tlm::tlm_base_initiator_socket_b<kBusBits>* initiator, TargetSocket& target,
                    const HopSite& site, const ChannelParameters& request, const Interposer& interpose);

  EngineProcess& engine_;
  std::deque<Cluster> clusters_;
  CrossbarModule crossbar_;
  std::deque<L2SliceModule> slices_;
  std::deque<DramModule> channels_;
  PcieModule pcie_;
  std::deque<IdleInitiator> idle_;
  std::vector<std::unique_ptr<PinHop>> pins_;
};

}  // namespace warpline
