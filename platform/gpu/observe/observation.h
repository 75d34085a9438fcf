#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "warpline/document/output_file.h"
#include "warpline/fabric/probe.h"
#include "warpline/gpu/observe/device_timeline.h"
#include "warpline/gpu/observe/selection.h"
#include "warpline/gpu/observe/timeline_writer.h"
#include "warpline/gpu/observe/vcd_writer.h"

namespace warpline {

class PcieSystem;
class System;

/// What is to be written about a run while it goes on.
struct ObservationOptions {
  std::string wave;                 ///< VCD file, or empty
  std::string timeline;             ///< file of Chrome trace events, or empty
  std::vector<std::string> probes;  ///< patterns of blocks and ports (Selection); none: everything
  Window window;                    ///< cycles since reset
  [[nodiscard]] bool wanted() const { return !wave.empty() || !timeline.empty(); }
};

/// Watches a platform's netlists and writes a wave, a timeline, or both. What is not selected is not touched
/// and pays nothing; what is watched behaves as if it were not.
class Observation final : private Observer {
 public:
  /// `mhz`: of the clock that counts the engine's cycles. Pre: options.wanted().
  Observation(ObservationOptions options, unsigned mhz, Engine& engine);

  /// Begins to watch; `pcie`: the devices beside it, or null. Returns what is wrong with the patterns and
  /// files: nothing is watched then. Called once, before the first run; the system outlives this object.
  [[nodiscard]] Diagnostics attach(System& system, PcieSystem* pcie = nullptr);
  /// What is selected, and where signals of others than blocks can be recorded, too: before the first run.
  [[nodiscard]] const Selection& selection() const { return selection_; }
  [[nodiscard]] Recorder& recorder() { return recorder_; }
  [[nodiscard]] bool has_wave() const { return vcd_ != nullptr; }
  /// The netlist is at rest; its time goes on from engine.now().
  void settle() { recorder_.settle(); }
  /// A kernel ran in the cycles from `first` to `last`.
  void kernel_ended(const std::string& name, Cycle first, Cycle last);
  /// The host did `what`, as line `where` of its program says. Pre: there are devices.
  void host_did(const std::string& what, const std::string& where, Cycle first, Cycle last);
  /// Puts the files in their places, complete however the run ended. Returns why that failed, a sentence
  /// per file. Nothing is watched any more.
  [[nodiscard]] std::vector<std::string> finish();

 private:
  void start(Cycle first, const std::vector<Signal>& signals,
             const std::vector<std::uint64_t>& values) override;
  void change(Cycle cycle, std::uint32_t signal, std::uint64_t value) override;
  void message(const MessageEvent& event) override;
  void finish(Cycle last) override;
  [[nodiscard]] Diagnostics open_files();
  void add_probes();
  void add_rows(System& system, PcieSystem* pcie);

  ObservationOptions options_;
  unsigned mhz_;
  Engine& engine_;
  Selection selection_;
  Recorder recorder_;
  OutputFile wave_file_, timeline_file_;
  std::unique_ptr<VcdWriter> vcd_;
  std::unique_ptr<TimelineWriter> timeline_;
  std::unordered_map<const PortBase*, bool>
      told_;  ///< ports whose messages the timeline needs: of responses?
  std::deque<Probe> probes_;
  std::deque<DeviceTimeline> devices_;
};

}  // namespace warpline
