#pragma once

#include <memory>
#include <string>
#include <vector>

#include "warpline/constant/constant_cache.h"
#include "warpline/crossbar/crossbar.h"
#include "warpline/dram/dram.h"
#include "warpline/gpu/gpu_platform.h"
#include "warpline/l1_lg/l1_lg.h"
#include "warpline/l2/l2.h"
#include "warpline/pcie/pcie.h"
#include "warpline/sm/sm.h"
#include "warpline/sm/work_distributor.h"
#include "warpline/texture/texture_cache.h"

namespace warpline {

/// The blocks of one GPU and the channels between them.
///
/// Crossbar clients: 3n is the L1 of SM n, 3n+1 its texture cache, 3n+2 its constant cache. Slice
/// s meets DRAM channels s mod channels (fewer channels than slices) or every channel c with
/// c mod slices = s.
class Netlist {
 public:
  /// Null memories: tags only.
  Netlist(const GpuConfig& config, Engine& engine, MemoryImage* vidmem, MemoryImage* sysmem);

  struct SmCluster {
    std::unique_ptr<Sm> sm;
    std::unique_ptr<L1Lg> l1_lg;
    std::unique_ptr<TextureCache> texture;
    std::unique_ptr<ConstantCache> constant;
  };
  [[nodiscard]] std::vector<SmCluster>& clusters() { return clusters_; }
  [[nodiscard]] WorkDistributor& distributor() { return *distributor_; }
  void set_regions(std::size_t count);
  void visit(CounterVisitor& visitor) const;
  /// Look-ups and hits of region `region` in all slices.
  [[nodiscard]] RegionCounters region(std::size_t region) const;
  /// Each sum between and within levels that does not hold, as a sentence. Pre: quiescent.
  [[nodiscard]] std::vector<std::string> unreconciled() const;

 private:
  void build_clusters(const GpuConfig& config, Engine& engine, bool with_data);
  void build_memory(const GpuConfig& config, Engine& engine, MemoryImage* vidmem, MemoryImage* sysmem);
  void connect_clusters(const GpuConfig& config);
  void connect_memory(const GpuConfig& config);

  std::vector<SmCluster> clusters_;
  std::unique_ptr<WorkDistributor> distributor_;
  std::unique_ptr<Crossbar> crossbar_;
  std::vector<std::unique_ptr<L2Slice>> slices_;
  std::vector<std::unique_ptr<DramChannel>> channels_;
  std::unique_ptr<PcieLink> pcie_;
};

}  // namespace warpline
