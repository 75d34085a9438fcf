#pragma once

#include <deque>

#include "warpline/constant/constant_module.h"
#include "warpline/crossbar/crossbar_module.h"
#include "warpline/dram/dram_module.h"
#include "warpline/gpu/netlist.h"
#include "warpline/l1_lg/l1_lg_module.h"
#include "warpline/l2/l2_module.h"
#include "warpline/pcie/pcie_module.h"
#include "warpline/sm/sm_module.h"
#include "warpline/texture/texture_module.h"

namespace warpline {

/// A GPU in SystemC: a module around each block of a netlist, bound socket to socket.
class GpuModule final : public sc_core::sc_module {
 public:
  /// `netlist` and `engine` outlive it; the netlist has no hops yet, and lives in that engine.
  GpuModule(const sc_core::sc_module_name& name, EngineModule& engine, Netlist& netlist);

 private:
  struct Cluster {
    Cluster(unsigned i, EngineModule& engine, Netlist::SmCluster& blocks, bool with_data);
    SmModule sm;
    L1LgModule l1_lg;
    TextureModule texture;
    ConstantModule constant;
  };
  std::deque<Cluster> clusters_;
  CrossbarModule crossbar_;
  std::deque<L2SliceModule> slices_;
  std::deque<DramModule> channels_;
  PcieModule pcie_;
};

}  // namespace warpline
