#include "platform/observe/pcie_watcher.h"

#include <deque>
#include <utility>

#include "platform/machine/pcie_system.h"
#include "platform/machine/selection.h"
#include "platform/observe/device_timeline.h"
#include "platform/observe/selected_probes.h"
#include "platform/observe/timeline_writer.h"
#include "platform/observe/vcd_writer.h"
#include "rtl_models/document/output_file.h"
#include "rtl_models/sim/engine.h"

namespace warpline {
namespace {

class SystemWatcher final : public PcieWatcher, private Observer {
 public:
  SystemWatcher(PcieSystem& system, WatchOptions options)
      : system_(system),
        options_(std::move(options)),
        selection_(options_.probes),
        recorder_(system.engine(), options_.window, *this) {}

  [[nodiscard]] Diagnostics start() override;
  [[nodiscard]] std::vector<std::string> finish() override;

 private:
  void start(Cycle first, const std::vector<Signal>& signals,
             const std::vector<std::uint64_t>& values) override;
  void change(Cycle cycle, std::uint32_t signal, std::uint64_t value) override;
  void message(const MessageEvent& /*event*/) override {}
  void finish(Cycle last) override;
  [[nodiscard]] Diagnostics open_files();
  [[nodiscard]] std::vector<EndpointDevice*> shown_devices();
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

Diagnostics SystemWatcher::open_files() {
  if (!options_.wave.empty()) {
    if (const std::string failure = wave_file_.open(options_.wave); !failure.empty())
      return {Diagnostic::about("--wave", failure)};
    vcd_ = std::make_unique<VcdWriter>(wave_file_, system_.mhz());
  }
  if (!options_.timeline.empty()) {
    if (const std::string failure = timeline_file_.open(options_.timeline); !failure.empty())
      return {Diagnostic::about("--timeline", failure)};
    timeline_ = std::make_unique<TimelineWriter>(timeline_file_, options_.window, system_.mhz());
  }
  return {};
}

Diagnostics SystemWatcher::start() {
  if (Diagnostics faults = selection_.faults(system_.engine()); !faults.empty()) return faults;
  if (!options_.timeline.empty() && shown_devices().empty())
    return {Diagnostic::about("--timeline",
                              "it shows queue devices and NVMe controllers, and there is none to be shown",
                              "--wave shows what all blocks held")};
  if (Diagnostics faults = open_files(); !faults.empty()) return faults;
  if (timeline_ != nullptr) show_devices();
  if (vcd_ != nullptr) add_probes(system_.engine(), selection_, true, {}, recorder_, probes_);
  return {};
}

std::vector<EndpointDevice*> SystemWatcher::shown_devices() {
  std::vector<EndpointDevice*> shown;
  for (unsigned i = 0; i < system_.functions(); ++i)
    if (selection_.takes(system_.function(i))) shown.push_back(&system_.function(i));
  return shown;
}

void SystemWatcher::show_devices() {
  const std::vector<EndpointDevice*> shown = shown_devices();
  for (const EndpointDevice* device : shown) timeline_->show(*device);
  for (EndpointDevice* device : shown)
    devices_.emplace_back(*device, *timeline_, options_.window, DeviceTimeline::Loosely::shown);
  // It has nothing but what the devices tell, which may be much before anything of a wave is.
  timeline_->start(0, {}, {});
}

std::vector<std::string> SystemWatcher::finish() {
  recorder_.finish();
  probes_.clear();
  devices_.clear();
  std::vector<std::string> failures;
  const auto close = [&failures](OutputFile& file, const char* option) {
    if (const std::string failure = file.close(); !failure.empty())
      failures.push_back(std::string(option) + ": " + failure);
  };
  if (vcd_ != nullptr) close(wave_file_, "--wave");
  if (timeline_ != nullptr) close(timeline_file_, "--timeline");
  return failures;
}

void SystemWatcher::start(Cycle first, const std::vector<Signal>& signals,
                          const std::vector<std::uint64_t>& values) {
  if (vcd_ != nullptr) vcd_->start(first, signals, values);
}

void SystemWatcher::change(Cycle cycle, std::uint32_t signal, std::uint64_t value) {
  vcd_->change(cycle, signal, value);
}

void SystemWatcher::finish(Cycle last) {
  if (vcd_ != nullptr) vcd_->finish(last);
  for (DeviceTimeline& device : devices_) device.finish(last);
  if (timeline_ != nullptr) timeline_->finish(last);
}

}  // namespace

std::unique_ptr<PcieWatcher> make_pcie_watcher(PcieSystem& system, WatchOptions options) {
  return std::make_unique<SystemWatcher>(system, std::move(options));
}

}  // namespace warpline
