#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device.h"

namespace warpline {

/// Host bridge, root complex and peer devices on one engine, joined port to port. GPUs may be beside the
/// devices: their root ports come after those of the devices.
class PcieSystem {
 public:
  /// `mhz`: of the fastest clock. Engine and memory outlive it. Pre: the parameters have no problems, and a
  /// peer.
  PcieSystem(Engine& engine, ClockDomain domain, unsigned mhz, const PcieSystemParameters& parameters,
             MemoryImage& sysmem);
  /// With the GPUs at the far ends of these links, the memory beyond which `sysmem` is. The links live as
  /// long, and have no peer's memory.
  PcieSystem(const std::vector<PcieLink*>& gpus, unsigned mhz, const PcieSystemParameters& parameters,
             MemoryImage& sysmem);

  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] MemoryImage& sysmem() { return sysmem_; }
  [[nodiscard]] RootComplex& root() { return *root_; }
  [[nodiscard]] HostBridge& bridge() { return *bridge_; }
  [[nodiscard]] unsigned peers() const { return static_cast<unsigned>(peers_.size()); }
  [[nodiscard]] QueueDevice& peer(unsigned i) { return *peers_[i]; }
  [[nodiscard]] const QueueDevice& peer(unsigned i) const { return *peers_[i]; }
  /// The root port of a GPU.
  [[nodiscard]] unsigned port_of_gpu(unsigned i) const { return peers() + i; }
  [[nodiscard]] unsigned mhz() const { return mhz_; }
  /// A host takes the system, to place its devices, or leaves it. False: it has one already.
  [[nodiscard]] bool take() { return !std::exchange(taken_, true); }
  void leave() { taken_ = false; }
  /// Runs the engine as Engine::run_until does, by the function that run_by() was given, if any.
  RunOutcome run_until(Cycle limit) { return run_until_ ? run_until_(limit) : engine_.run_until(limit); }
  /// Has `run_until` run the engine from now on.
  void run_by(std::function<RunOutcome(Cycle)> run_until) { run_until_ = std::move(run_until); }
  /// Surprise removal of a device, and its return: as new, with everything to be set up again.
  void set_present(unsigned i, bool present);
  /// Hot reset of a device by its root port.
  void hot_reset(unsigned i);
  /// Whether packets are loosely timed from now on. Pre: quiescent.
  void set_loose(bool loose);
  [[nodiscard]] bool is_loose() const { return loose_; }
  void visit(CounterVisitor& visitor) const;

 private:
  void add_host(ClockDomain domain, const PcieSystemParameters& parameters);

  Engine& engine_;
  std::function<RunOutcome(Cycle)> run_until_;
  MemoryImage& sysmem_;
  unsigned mhz_;
  bool loose_ = false;
  bool taken_ = false;
  TlpPool pool_;
  std::unique_ptr<RootComplex> root_;
  std::unique_ptr<HostBridge> bridge_;
  std::vector<std::unique_ptr<QueueDevice>> peers_;
};

}  // namespace warpline
