#pragma once

#include <cstdint>
#include <vector>

#include "platform/config/gpu_config.h"
#include "rtl_models/base/types.h"

namespace warpline {
class GpuPlatform;
}

namespace warpline::cuda {

/// How the GPUs of a machine reach each other's memory: each has a BAR onto all of its own, behind one root
/// complex. A kernel's access goes out over its GPU's link, and comes in over the other one's to that one's
/// L2.
class PeerLinks {
 public:
  /// The configuration with a root complex where several GPUs are to reach each other.
  [[nodiscard]] static GpuConfig joined(const GpuConfig& config);
  /// Builds the platform, and does as firmware and driver do: gives the BARs their addresses, and opens them
  /// to all GPUs.
  explicit PeerLinks(GpuPlatform& platform);

  /// False: there is one GPU, or BARs show less than all memory (pcie.bar_bytes), or root ports pass nothing
  /// on to each other (pcie_system.root.peer_to_peer).
  [[nodiscard]] bool exist() const { return !bars_.empty(); }
  /// Where on the bus video memory of a GPU lies. Pre: they exist.
  [[nodiscard]] std::uint64_t bus_address(unsigned gpu, PhysicalAddress of) const {
    return bars_[gpu] + offset_in_aperture(of);
  }

 private:
  std::vector<std::uint64_t> bars_;  ///< by GPU
};

}  // namespace warpline::cuda
