#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/pcie/packets/tlp.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

class AccessLog;
class CounterVisitor;
class Engine;
class HostBridge;
class MemoryImage;
class NetlistBackend;
class NvmeDevice;
class FarDevice;
class PcieLink;
class EndpointCore;
class EndpointDevice;
class EndpointFunction;
class GpuFunction;
class QueueDevice;
class RootComplex;
class TlpPort;

/// Joins the two ends of a link, that of the root complex first.
using LinkJoiner = std::function<void(TlpPort& root, TlpPort& other)>;

/// Host bridge, root complex, peer devices and NVMe controllers on one engine, joined by links. GPUs may be
/// beside the devices: their root ports come after those of the devices. Software reaches it by a Host, of
/// which it has one at most.
///
///     PcieSystem system(PcieSystemParameters{}, 1000, 64 << 20);
///     HostMachine host(system);
///     const wl_port& port = (host.enumerate(), host.port_of(0));
class WARPLINE_PUBLIC PcieSystem {
 public:
  /// With an engine and system memory of its own. `mhz`: of its only clock. Pre: the parameters have no
  /// problems, and a function.
  PcieSystem(const PcieSystemParameters& parameters, unsigned mhz, std::uint64_t memory_bytes);
  /// `mhz`: of the fastest clock. Engine and memory outlive it. `join`: makes its links; null: port to port.
  /// Pre: the parameters have no problems, and a function. Throws
  /// NamespaceFileError if a file that is to be a namespace cannot be: nvme_file_problems() says so before.
  PcieSystem(Engine& engine, ClockDomain domain, unsigned mhz, const PcieSystemParameters& parameters,
             MemoryImage& sysmem, LinkJoiner join = nullptr);
  /// With the GPUs at the far ends of these links, the memory beyond which `sysmem` is. The links live as
  /// long, and have no peer's memory.
  PcieSystem(const std::vector<PcieLink*>& gpus, unsigned mhz, const PcieSystemParameters& parameters,
             MemoryImage& sysmem, LinkJoiner join = nullptr);
  ~PcieSystem();
  PcieSystem(const PcieSystem&) = delete;
  PcieSystem& operator=(const PcieSystem&) = delete;

  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] MemoryImage& sysmem() { return sysmem_; }
  [[nodiscard]] RootComplex& root() { return *root_; }
  [[nodiscard]] HostBridge& bridge() { return *bridge_; }
  /// The functions that are no GPUs, each behind the root port of its number: the peers first,
  /// then the NVMe controllers.
  [[nodiscard]] unsigned functions() const { return static_cast<unsigned>(functions_.size()); }
  [[nodiscard]] EndpointDevice& function(unsigned i) { return *functions_[i]; }
  [[nodiscard]] const EndpointDevice& function(unsigned i) const { return *functions_[i]; }
  [[nodiscard]] unsigned peers() const { return static_cast<unsigned>(peers_.size()); }
  [[nodiscard]] QueueDevice& peer(unsigned i) { return *peers_[i]; }
  [[nodiscard]] const QueueDevice& peer(unsigned i) const { return *peers_[i]; }
  [[nodiscard]] unsigned nvmes() const { return static_cast<unsigned>(nvmes_.size()); }
  [[nodiscard]] NvmeDevice& nvme(unsigned i) { return *nvmes_[i]; }
  /// The one that is the function behind root port `port`; null: that is another kind.
  [[nodiscard]] NvmeDevice* nvme_at(unsigned port);
  /// The memory of namespaces that are memory, with their names.
  [[nodiscard]] std::vector<std::pair<std::string, MemoryImage*>> namespace_memories();
  /// A function with registers, be it a device's or a GPU's.
  struct AtPort {
    std::string name;  ///< "peer[1]", "gpu[0]"
    EndpointCore& endpoint;
    EndpointFunction& function;
    FarDevice& watched;
    const char* log_key;  ///< says how many accesses its log keeps
  };
  /// Root ports behind which such functions are: those of functions(), and then those of GPUs if they have
  /// registers.
  [[nodiscard]] unsigned ports() const;
  [[nodiscard]] AtPort at_port(unsigned port) const;
  /// What arrived at a function's BARs, oldest first.
  [[nodiscard]] const AccessLog& access_log(unsigned i) const;
  /// Asks of every packet that leaves the root complex by a port, for the devices 0 and up, or for the host.
  /// For tests of drivers and devices; loosely timed packets are not asked about.
  void inject(std::function<Injection(unsigned port, const Tlp& tlp)> decide);
  /// The root port of a GPU.
  [[nodiscard]] unsigned port_of_gpu(unsigned i) const { return functions() + i; }
  [[nodiscard]] unsigned mhz() const { return mhz_; }
  /// A host takes the system, to place its devices, or leaves it. False: it has one already.
  [[nodiscard]] bool take() { return !std::exchange(taken_, true); }
  void leave() { taken_ = false; }
  /// Runs the engine as Engine::run_until does, by the backend that run_by() was given, if any.
  RunOutcome run_until(Cycle limit);
  /// The first cycle in which something can happen, on wires and in foreign modules, too; kNever: nothing
  /// does any more. run_until() gets there.
  [[nodiscard]] Cycle next_activity();
  /// Has `backend`, whose engine it is, run it from now on.
  void run_by(NetlistBackend& backend) { backend_ = &backend; }
  /// Surprise removal of the function behind root port `i`, and its return: as new, with everything to be set
  /// up again. Of a GPU it is its function alone that is as new.
  void set_present(unsigned i, bool present);
  /// Hot reset of the function behind root port `i`, likewise.
  void hot_reset(unsigned i);
  /// Whether packets are loosely timed from now on. Pre: quiescent.
  void set_loose(bool loose);
  [[nodiscard]] bool is_loose() const { return loose_; }
  void visit(CounterVisitor& visitor) const;
  /// Memory accesses of devices and GPUs that were refused on the bus, oldest first, a sentence each: the
  /// first 1000 of them. Nobody is told otherwise of those that are posted.
  [[nodiscard]] std::vector<std::string> refused_accesses() const;
  /// How many there were.
  [[nodiscard]] std::uint64_t refusals() const;

 private:
  [[nodiscard]] GpuFunction& gpu_at(unsigned port) const;
  void add_root_of_peers(ClockDomain domain, const PcieSystemParameters& parameters);
  void add_host(ClockDomain domain, const PcieSystemParameters& parameters);
  void add(std::unique_ptr<EndpointDevice> function);
  [[nodiscard]] std::string name_of(FunctionId id) const;
  void join_ends(TlpPort& root, TlpPort& other);

  std::unique_ptr<Engine> own_engine_;       ///< null: somebody else's
  std::unique_ptr<MemoryImage> own_memory_;  ///< likewise
  Engine& engine_;
  NetlistBackend* backend_ = nullptr;  ///< null: nobody but the engine itself
  MemoryImage& sysmem_;
  unsigned mhz_;
  LinkJoiner join_;
  bool loose_ = false;
  bool taken_ = false;
  std::unique_ptr<TlpPool> pool_;
  std::unique_ptr<RootComplex> root_;
  std::unique_ptr<HostBridge> bridge_;
  std::vector<std::unique_ptr<EndpointDevice>> functions_;
  std::vector<QueueDevice*> peers_;  ///< the first of them
  std::vector<NvmeDevice*> nvmes_;   ///< the others
  std::vector<PcieLink*> gpus_;
};

}  // namespace warpline
