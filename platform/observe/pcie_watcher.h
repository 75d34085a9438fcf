#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "platform/machine/selection.h"
#include "platform/observe/device_timeline.h"
#include "platform/observe/timeline_writer.h"
#include "platform/observe/vcd_writer.h"
#include "platform/observe/watcher.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/document/output_file.h"
#include "rtl_models/sim/probe.h"
#include "rtl_models/sim/recorder.h"

namespace warpline {

class PcieSystem;

/// Watches a PCIe system without GPUs, and writes a wave, a timeline, or both. The timeline has what its queue
/// devices do. What is watched behaves as if it were not.
class PcieWatcher final : private Observer {
 public:
  /// The system outlives it. Pre: a wave or a timeline is wanted, and nothing else.
  PcieWatcher(PcieSystem& system, WatchOptions options);
  ~PcieWatcher() override;
  PcieWatcher(const PcieWatcher&) = delete;
  PcieWatcher& operator=(const PcieWatcher&) = delete;

  /// Begins to watch. What is wrong with patterns and files, and with what they are to show; nothing is watched
  /// then. Pre: the system's engine has not run.
  [[nodiscard]] Diagnostics start();
  /// Puts the files in their places; without this call there are none. Why that failed, a sentence per file.
  /// Nothing is watched any more.
  [[nodiscard]] std::vector<std::string> finish();

 private:
  void start(Cycle first, const std::vector<Signal>& signals,
             const std::vector<std::uint64_t>& values) override;
  void change(Cycle cycle, std::uint32_t signal, std::uint64_t value) override;
  void message(const MessageEvent& /*event*/) override {}
  void finish(Cycle last) override;
  [[nodiscard]] Diagnostics open_files();
  void show_devices();

  PcieSystem& system_;
  WatchOptions options_;
  Selection selection_;
  Recorder recorder_;
  OutputFile wave_file_, timeline_file_;
  std::unique_ptr<VcdWriter> vcd_;
  std::unique_ptr<TimelineWriter> timeline_;
  std::deque<Probe> probes_;
  std::deque<DeviceTimeline> devices_;
};

}  // namespace warpline
