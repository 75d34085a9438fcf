#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "warpline/base/counter.h"
#include "warpline/pcie/host_bridge.h"
#include "warpline/pcie/root_complex.h"
#include "warpline/peer/peer.h"

namespace warpline {

/// A host's PCI Express: what its root complex and the devices behind it are.
struct PcieSystemParameters {
  RootComplexParameters root;
  LinkParameters host;    ///< between host bridge and root complex
  LinkParameters device;  ///< of every device
  PeerParameters peer;
  unsigned peers = 1;

  PcieSystemParameters() {
    host.latency = 20;
    host.bytes_per_cycle = 64;
  }
  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("root", root, "root complex");
    f("host", host, "link between host bridge and root complex");
    f("device", device, "links between root complex and devices");
    f("peer", peer, "peer devices");
    f("peers", peers, "number of peer devices");
  }
};

/// Host bridge, root complex and peer devices on one engine, joined port to port.
class PcieSystem {
 public:
  /// `mhz`: of the fastest clock. Engine and memory outlive it. Pre: the parameters have no problems.
  PcieSystem(Engine& engine, ClockDomain domain, unsigned mhz, const PcieSystemParameters& parameters,
             MemoryImage& sysmem);

  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] MemoryImage& sysmem() { return sysmem_; }
  [[nodiscard]] RootComplex& root() { return *root_; }
  [[nodiscard]] HostBridge& bridge() { return *bridge_; }
  [[nodiscard]] unsigned peers() const { return static_cast<unsigned>(peers_.size()); }
  [[nodiscard]] Peer& peer(unsigned i) { return *peers_[i]; }
  [[nodiscard]] unsigned mhz() const { return mhz_; }
  /// Surprise removal of a device, and its return: as new, with everything to be set up again.
  void set_present(unsigned i, bool present);
  /// Hot reset of a device by its root port.
  void hot_reset(unsigned i) { peers_[i]->hot_reset(); }
  /// Whether packets are loosely timed from now on. Pre: quiescent.
  void set_loose(bool loose);
  void visit(CounterVisitor& visitor) const;

 private:
  Engine& engine_;
  MemoryImage& sysmem_;
  unsigned mhz_;
  TlpPool pool_;
  std::unique_ptr<RootComplex> root_;
  std::unique_ptr<HostBridge> bridge_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace warpline
