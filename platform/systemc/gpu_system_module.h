#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "platform/machine/gpu_platform.h"
#include "platform/systemc/hop_hardware_module.h"
#include "platform/systemc/interposer_module.h"
#include "platform/systemc/pcie_system_module.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// What a GPU on a host's bus is made of.
struct WARPLINE_PUBLIC GpuSystemOptions {
  std::string gpu = "mini";  ///< a preset, or the path of a GPU file
  /// Keys of it to change, as `--set` does: "sms=8", "gpus=2". The queue devices beside the GPUs are as many
  /// as pcie_system.peers says; where it says 0, there is one.
  std::vector<std::string> settings;
  unsigned processors = 1;                 ///< sockets from_cpu
  Interposer interpose = {};               ///< puts modules of one's own into the hops of the GPU
  std::vector<HopOpening> open_hops = {};  ///< opens hops of the GPU for hardware of one's own
};

/// GPUs as cards in somebody else's machine: whole GPUs with their SMs, system memory, root complex and the
/// queue devices, behind standard TLM-2.0 target sockets for processors (base protocol, 64 bits). Everything
/// is in SystemC time on one engine.
///
/// Sockets, addresses, payloads: those of PcieSystemModule. The GPUs are the devices behind the queue
/// devices: GPU i is device 0 of bus pcie_system.peers + i + 1; its memory BAR is video memory.
///
/// Software: a HostCpu made on host_bus() enumerates, places BARs and takes interrupts; kernels are loaded,
/// given memory (GpuPlatform::map, allocate) and launched by platform() from an SC_THREAD, one launch at a
/// time, which waits until the grid is done and nothing is under way in this machine, while everybody else
/// goes on:
///
///     GpuSystemModule card("card", {"v100", {"sms=8"}});
///     HostCpu cpu("cpu", card.host_bus());
///     cpu.to_memory().bind(card.from_cpu());
///     card.to_interrupts().bind(cpu.from_interrupts());
///     cpu.add_thread([&](HostCpu&) { card.platform().launch(*kernel); });
///     sc_core::sc_start();
///
/// Parameters: the keys of its GPUs under its name, for ParameterBroker.
///
/// Time: timed at first; see set_loose().
class WARPLINE_PUBLIC GpuSystemModule final : public sc_core::sc_module {
 public:
  /// Throws std::invalid_argument with every fault of `options`: an unknown preset or key, a broken rule, no
  /// queue device; a hop that is given one socket only; what SystemCBackend::open_hops() refuses.
  explicit GpuSystemModule(const sc_core::sc_module_name& name, const GpuSystemOptions& options = {});
  ~GpuSystemModule() override;

  /// Throws std::out_of_range where there is no such socket.
  [[nodiscard]] PcieSystemModule::Socket& from_cpu(unsigned i = 0) { return host_bus().from_cpu(i); }
  [[nodiscard]] PcieSystemModule::Interrupts& to_interrupts() { return host_bus().to_interrupts(); }
  /// The host's side alone: what a HostCpu is made on.
  [[nodiscard]] PcieSystemModule& host_bus();
  /// The GPUs: their memory, kernels, counters.
  [[nodiscard]] GpuPlatform& platform();

  /// Whether everything is loosely timed from now on, or from the start of the simulation on: accesses of
  /// processors (PcieSystemModule::set_loose), requests of SMs. Pre: host_bus().idle().
  void set_loose(bool loose) { host_bus().set_loose(loose); }

 private:
  void start_of_simulation() override;
  struct WARPLINE_INTERNAL State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
