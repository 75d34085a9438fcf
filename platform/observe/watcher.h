#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/machine/gpu_platform.h"
#include "platform/machine/selection.h"
#include "platform/observe/device_timeline.h"
#include "platform/observe/timeline_writer.h"
#include "platform/observe/vcd_writer.h"
#include "rtl_models/document/output_file.h"
#include "rtl_models/sim/probe.h"

namespace warpline {

/// What is to be written about a run while it goes on.
struct WatchOptions {
  std::string wave;                 ///< VCD file, or empty
  std::string timeline;             ///< file of Chrome trace events, or empty
  std::vector<std::string> probes;  ///< patterns of blocks and ports (Selection); none: everything
  Window window;                    ///< cycles since reset
  [[nodiscard]] bool wanted() const { return !wave.empty() || !timeline.empty(); }
};

/// Watches a platform's netlists and writes a wave, a timeline, or both. What is not selected is not touched
/// and pays nothing; what is watched behaves as if it were not.
///
///     Watcher& observation = platform.attach(std::make_unique<Watcher>(platform, options));
///     Diagnostics faults = observation.start();
///     ...
///     std::vector<std::string> failures = observation.finish();
class Watcher final : public Attachment, private Observer {
 public:
  /// Of a platform to which it is attached. Pre: options.wanted().
  Watcher(GpuPlatform& platform, WatchOptions options);

  /// Builds the platform and begins to watch. Returns what is wrong with the patterns and files: the patterns
  /// that match nothing, the files that cannot be written; nothing is watched then. Called once, before the
  /// first launch, and after map_everything() unless the run was without data from the start.
  [[nodiscard]] Diagnostics start();
  /// Puts the files in their places, complete however the run ended; without this call there are none.
  /// Returns why that failed, a sentence per file. Nothing is watched any more.
  [[nodiscard]] std::vector<std::string> finish();

  void at_rest() override { recorder_.settle(); }
  void grids_ended(const std::vector<GridRun>& runs, RunOutcome outcome) override;
  void host_did(const std::string& what, const std::string& where, Cycle first, Cycle last) override;

 private:
  void start(Cycle first, const std::vector<Signal>& signals,
             const std::vector<std::uint64_t>& values) override;
  void change(Cycle cycle, std::uint32_t signal, std::uint64_t value) override;
  void message(const MessageEvent& event) override;
  void finish(Cycle last) override;
  [[nodiscard]] Diagnostics open_files();
  void add_probes();
  void add_rows();

  GpuPlatform& platform_;
  WatchOptions options_;
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
