#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/nvme/nvme_parameters.h"
#include "rtl_models/pcie/host_bridge/host_bridge_parameters.h"
#include "rtl_models/pcie/packets/link_parameters.h"
#include "rtl_models/pcie/root_complex/root_complex_parameters.h"
#include "rtl_models/queue_device/queue_device_parameters.h"

namespace warpline {

/// Peer devices of one system at most.
inline constexpr unsigned kMaxPeers = 8;

/// A host's PCI Express: what its root complex and the devices behind it are.
struct WARPLINE_PUBLIC PcieSystemParameters {
  /// Queue devices; with no NVMe controller either, nor registers of GPUs, there is no such system.
  unsigned peers = 1;
  RootComplexParameters root;
  HostBridgeParameters bridge;
  LinkParameters host;    ///< between host bridge and root complex
  LinkParameters device;  ///< of every device
  LinkParameters gpu;     ///< from the end of each GPU's link on; its length is PcieParameters::latency
  QueueDeviceParameters peer;
  NvmeParameters nvme;

  PcieSystemParameters() {
    host.latency = 20;
    host.bytes_per_cycle = 64;
    gpu.latency = 20;
    gpu.bytes_per_cycle = 64;
  }
  /// No devices.
  [[nodiscard]] static PcieSystemParameters none() {
    PcieSystemParameters p;
    p.peers = 0;
    return p;
  }
  /// Devices behind the root complex, GPUs apart: peers, then NVMe controllers.
  [[nodiscard]] unsigned functions() const { return peers + nvme.count; }
  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(peers <= kMaxPeers, "peers", "must be at most 8");
    rules.add_tables(*this);
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("peers", peers,
      "peer devices behind a root complex; where there is no NVMe controller either, and no GPU has "
      "registers, there is no root complex");
    f("root", root, "root complex");
    f("bridge", bridge, "host bridge");
    f("host", host, "link between host bridge and root complex");
    f("device", device, "links between root complex and devices");
    f("gpu", gpu, "what is between the GPUs' links and the root complex");
    f("peer", peer, "peer devices");
    f("nvme", nvme, "NVMe controllers");
  }
};

}  // namespace warpline
