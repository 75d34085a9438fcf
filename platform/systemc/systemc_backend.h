#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/machine/netlist_backend.h"
#include "platform/systemc/hop_hardware_module.h"
#include "platform/systemc/interposer_module.h"
#include "platform/systemc/slice_maker_module.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

/// Runs the GPUs of a platform in SystemC. Elaboration comes once in a process, so every GPU is built before
/// any runs.
///
/// A launch from outside SystemC (from sc_main, say) lets simulated time pass until the grid is done. One
/// from an SC_THREAD makes that thread wait, while everybody else goes on; GpuPlatform::build() must have
/// been called before the simulation started.
class WARPLINE_PUBLIC SystemCBackend final : public NetlistBackend {
 public:
  /// `transport`: of hops both ends of which are ours; `pins`: patterns of the names of those that are opened
  /// as pins instead (see Hop::matches), links of PCI Express included ("root.from_device[0]"). A pattern
  /// that fits no hop, or one at which a slice is not ours, is refused when the GPU is built:
  /// std::invalid_argument, with the names.
  ///
  /// `name`: of its modules where it and the GPU are made: NAME is the GPU (of several NAME_0, NAME_1, ...),
  /// NAME_engine what ticks it. Empty: "gpu" and "engine"; where these are taken already, as by another
  /// backend, with a number behind. A name of yours that is taken is SystemC's to complain about.
  SystemCBackend(const ClockParameters& clocks, HopTransport transport, TickMode mode = TickMode::lazy,
                 std::uint64_t seed = 1, std::vector<std::string> pins = {}, const std::string& name = {});
  ~SystemCBackend() override;
  [[nodiscard]] Engine& engine() override;
  /// Puts foreign modules in the place of all L2 slices. A platform of several GPUs takes none:
  /// std::invalid_argument when it is built. Pre: it is not built yet.
  void replace_slices(SliceMaker make_slice);
  [[nodiscard]] bool brings_slices() const override;
  /// Puts foreign modules in the place of all DRAM channels, behind our slices or foreign ones. As above.
  void replace_dram(DramMaker make_dram);
  [[nodiscard]] bool brings_dram() const override;
  /// Puts foreign modules into hops: monitors, checkers, adapters. `interpose` is asked for every
  /// hop of the GPU, by name, and of PCI Express from the end of its link to host and devices, where there
  /// are any ("root.from_device[0].posted": payloads there are packets, see TlpExtension); those for which it
  /// returns no sockets stay direct.
  /// The first run, or GpuPlatform::build(), throws std::invalid_argument where a hop is opened as pins
  /// besides, or has one socket only. Pre: the GPU is not built yet.
  void interpose(Interposer interpose);
  /// Opens the hops that `pattern` fits (as `pins` above) for hardware, which `make` puts between the wires
  /// at their ends; no other hop notices. May be called for several patterns. The first run, or
  /// GpuPlatform::build(), throws std::invalid_argument where a pattern fits no hop, with the names that
  /// there are, or a hop at which a slice is not ours, and where a hop is opened twice or has a module put
  /// into it besides. Such a GPU runs timed only: set_loose(true) is a SystemC error report. Pre: the GPU is
  /// not built yet.
  void open_hops(const std::string& pattern, HardwareMaker make);
  /// Whether every hop is direct. Pre: it has run.
  [[nodiscard]] bool is_direct() const;
  /// The engine's module; its pins() are what a wave shows, once the hops are made.
  [[nodiscard]] EngineModule& module();
  void connect(Netlist& netlist) override;
  void connect_link(TlpPort& root, TlpPort& other) override;
  void bind() override;
  void time_was_set() override;
  /// Loosely timed, SMs run ahead of SystemC by TLM-2.0's global quantum; one microsecond if nobody has set
  /// it.
  void set_loose(Netlist& netlist, bool loose) override;
  /// Never ticks ahead of SystemC's time: other modules look at what this engine does while a grid runs that
  /// was launched from outside the simulation.
  void keep_pace();
  void host_wrote(unsigned gpu, std::uint64_t first, std::uint64_t count) override;
  void catch_up() override;
  void wake() override;
  void record_wires(const Selection& selection, Recorder& recorder) override;
  [[nodiscard]] Cycle next_activity() override;
  RunOutcome run_until(Cycle limit) override;
  [[nodiscard]] bool is_alone() const override;
  [[nodiscard]] Standstill standstill() const override;

 private:
  struct WARPLINE_INTERNAL State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
