#include "platform/cuda/peer_links.h"

#include "platform/host/host_machine.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/pcie_system.h"
#include "platform/machine/system.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/gpu_link/gpu_function.h"

namespace warpline::cuda {
namespace {

bool fit_for_peers(const GpuConfig& config) {
  return config.gpus > 1 && config.pcie.bar_bytes >= config.vidmem_bytes &&
         config.pcie_system.root.peer_to_peer;
}

}  // namespace

GpuConfig PeerLinks::joined(const GpuConfig& config) {
  GpuConfig out = config;
  if (!fit_for_peers(config) || config.has_root_complex()) return out;
  // There is a root complex where there is a device for it, which stays idle; plain memory has no place
  // there.
  out.pcie_system.peers = 1;
  out.peer_bytes = 0;
  return out;
}

PeerLinks::PeerLinks(GpuPlatform& platform) {
  platform.build();
  if (!fit_for_peers(platform.config()) || platform.pcie() == nullptr) return;
  const unsigned gpus = platform.config().gpus, first = platform.pcie()->functions();
  HostMachine host(*platform.pcie());
  host.enumerate();
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    bars_.push_back(host.devices()[first + gpu].bars[GpuFunction::kMemoryBar].address);
    for (unsigned other = 0; other < gpus; ++other)
      if (other != gpu)
        WARPLINE_EXPECT(host.open_bar(first + gpu, first + other, GpuFunction::kMemoryBar),
                        "BARs of 64 bits are placed");
  }
  // Kernels write to nothing else on the bus. So writes may be relaxed; and as each BAR is aligned to its
  // size, those to one GPU are flushed at once, not page by page.
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    platform.system().gpu(gpu).link().relax_writes();
    for (unsigned slice = 0; slice < platform.config().l2.slices; ++slice)
      platform.system().gpu(gpu).slice(slice).set_peer_block(platform.config().pcie.bar_bytes);
  }
}

}  // namespace warpline::cuda
