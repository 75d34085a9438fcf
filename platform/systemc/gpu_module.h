#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/machine/netlist.h"
#include "platform/systemc/dram_bytes.h"
#include "platform/systemc/hop_opener.h"
#include "platform/systemc/interposer_module.h"
#include "platform/systemc/slice_maker_module.h"
#include "rtl_models/cache/read_only_cache_module.h"
#include "rtl_models/crossbar/crossbar_module.h"
#include "rtl_models/dram/dram_module.h"
#include "rtl_models/gpu_switch/gpu_switch_module.h"
#include "rtl_models/l1_lg/l1_lg_module.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/pcie/gpu_link/pcie_module.h"
#include "rtl_models/sm/sm_module.h"
#include "rtl_models/sm_network/sm_network_module.h"

namespace warpline {

/// What a GPU in SystemC is to have that is not ours, and how its hops are made.
struct GpuParts {
  SliceMaker make_slice;             ///< of the slices that the netlist lacks
  DramMaker make_dram;               ///< of the DRAM channels that it lacks
  std::vector<std::string> pins;     ///< patterns of hops between two blocks of ours to open (Hop::matches)
  Interposer interpose;              ///< puts modules into hops, those at foreign blocks too
  std::vector<HopOpening> openings;  ///< hops between two blocks of ours to open for hardware
};

/// A GPU in SystemC: a module around each block of a netlist, bound socket to socket.
class GpuModule final : public sc_core::sc_module {
 public:
  /// `netlist`, `engine` and `switches`, the modules of GpuPlace::switches, outlive it; the netlist has no
  /// hops yet, and lives in that engine. Makers whose sockets do not fit the site are std::invalid_argument,
  /// and so is a hop that is opened as pins and has a module put into it besides, or that is given one socket
  /// only, or is opened for hardware twice.
  GpuModule(const sc_core::sc_module_name& name, EngineProcess& engine, Netlist& netlist,
            std::deque<GpuSwitchModule>& switches, const GpuParts& parts = {});
  /// A host has written these bytes of video memory past the GPU. Pre: elaboration has ended.
  void host_wrote(std::uint64_t first, std::uint64_t count);

 private:
  void start_of_simulation() override;
  struct Cluster {
    Cluster(unsigned i, EngineProcess& engine, Netlist::SmCluster& blocks, bool with_data);
    SmModule sm;
    L1LgModule l1_lg;
    std::deque<TargetSocket> more_l1;         ///< its other ports, where the SM has several to it
    std::deque<ReadOnlyCacheModule> texture;  ///< one, unless L1 serves its requests
    ReadOnlyCacheModule constant, instruction;
  };
  using Targets = std::unordered_map<const void*, TargetSocket*>;
  using ForeignInitiator = tlm::tlm_base_initiator_socket_b<kBusBits>;
  using ForeignTarget = tlm::tlm_base_target_socket_b<kBusBits>;
  void bind_hop(const Hop& h, InitiatorSocket& initiator, TargetSocket& target, bool pins,
                const Interposer& interpose);
  /// Makes foreign DRAM channels, and keeps their sockets for bind_slice_to_dram().
  void make_foreign_dram(Netlist& netlist, const DramMaker& make_dram);
  /// Binds slices to DRAM where one of the two is foreign: our slice `s`, or the sockets of a foreign one.
  void bind_slice_to_dram(unsigned s, Netlist& netlist, const std::vector<ForeignInitiator*>& to_dram,
                          const Interposer& interpose, const Targets& targets);
  /// Binds a foreign slice to crossbar, DRAM channels and link.
  void bind_foreign_slice(unsigned s, Netlist& netlist, const GpuParts& parts, const Targets& targets);
  void bind_foreign(ForeignInitiator* initiator, TargetSocket& target, const HopSite& site,
                    const ChannelParameters& request, const Interposer& interpose);

  std::deque<Cluster> clusters_;
  std::deque<SmNetworkModule> sm_network_;  ///< one, if there is one
  CrossbarModule crossbar_;
  std::deque<L2SliceModule> slices_;
  std::deque<DramModule> channels_;
  PcieModule pcie_;
  std::deque<IdleInitiatorSocket<kBusBits>> idle_;
  std::vector<std::vector<ForeignTarget*>> foreign_dram_;  ///< sockets, by channel; none: DRAM is ours
  std::deque<DramBytes> dram_bytes_;                       ///< of each slice, where foreign DRAM keeps them
  const MemoryImage* vidmem_ = nullptr;
  std::vector<unsigned> used_inputs_;  ///< of each channel, where a side is foreign
  HopOpener opener_;
};

}  // namespace warpline
