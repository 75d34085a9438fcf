#include "platform/observe/watcher.h"

#include <deque>
#include <unordered_set>

#include "platform/machine/gpu_memories.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/netlist_backend.h"
#include "platform/machine/pcie_system.h"
#include "platform/machine/selection.h"
#include "platform/machine/system.h"
#include "platform/observe/device_timeline.h"
#include "platform/observe/latency_writer.h"
#include "platform/observe/reuse_writer.h"
#include "platform/observe/selected_probes.h"
#include "platform/observe/timeline_writer.h"
#include "platform/observe/vcd_writer.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/output_file.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/probe.h"
#include "rtl_models/sm/kernel.h"

namespace warpline {
namespace {

/// Whether a file is to be JSON, by its name, behind which the number of a process may stand.
bool is_json(std::string_view path) {
  const std::size_t dot = path.find_last_not_of("0123456789");
  if (dot != std::string_view::npos && dot + 1 < path.size() && path[dot] == '.') path = path.substr(0, dot);
  return ends_with(path, ".json");
}

class PlatformWatcher final : public Watcher, private Observer {
 public:
  PlatformWatcher(GpuPlatform& platform, WatchOptions options);

  [[nodiscard]] Diagnostics start() override;
  void sampled(const std::string& name, const std::string& unit, Cycle first, double value) override;
  [[nodiscard]] std::vector<std::string> finish() override;
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
  void add_hops();
  void add_rows();

  GpuPlatform& platform_;
  WatchOptions options_;
  Selection selection_;
  Recorder recorder_;
  OutputFile wave_file_, timeline_file_, latency_file_, reuse_file_;
  std::unique_ptr<VcdWriter> vcd_;
  std::unique_ptr<TimelineWriter> timeline_;
  std::unique_ptr<LatencyWriter> latency_;
  std::unique_ptr<ReuseWriter> reuse_;
  ToldPorts told_;
  std::unordered_set<const Component*> shown_;  ///< blocks at either end of these
  std::deque<Probe> probes_;
  std::deque<DeviceTimeline> devices_;
};

PlatformWatcher::PlatformWatcher(GpuPlatform& platform, WatchOptions options)
    : platform_(platform),
      options_(std::move(options)),
      selection_(options_.probes),
      recorder_(platform.backend().engine(), options_.window, *this) {}

Diagnostics PlatformWatcher::open_files() {
  Diagnostics faults;
  const auto open = [&faults](OutputFile& file, const char* option, const std::string& path) {
    if (path.empty()) return false;
    const std::string failure = file.open(path);
    if (failure.empty()) return true;
    faults.push_back(Diagnostic::about(option, failure));
    return false;
  };
  const unsigned mhz = platform_.fastest_mhz();
  if (open(wave_file_, "--wave", options_.wave)) vcd_ = std::make_unique<VcdWriter>(wave_file_, mhz);
  if (open(timeline_file_, "--timeline", options_.timeline))
    timeline_ = std::make_unique<TimelineWriter>(timeline_file_, options_.window, mhz);
  if (open(latency_file_, "--latency", options_.latency))
    latency_ = std::make_unique<LatencyWriter>(latency_file_, is_json(options_.latency), mhz);
  if (open(reuse_file_, "--reuse", options_.reuse))
    reuse_ = std::make_unique<ReuseWriter>(
        reuse_file_, is_json(options_.reuse), [this] { return platform_.memory().buffers(); },
        [this](std::uint64_t gpu, PhysicalAddress line) {
          return platform_.memory().name_at(static_cast<unsigned>(gpu), line);
        });
  return faults;
}

Diagnostics PlatformWatcher::start() {
  platform_.build();
  NetlistBackend& backend = platform_.backend();
  if (Diagnostics faults = selection_.faults(backend.engine()); !faults.empty()) return faults;
  if (Diagnostics faults = open_files(); !faults.empty()) return faults;
  if (timeline_ != nullptr || latency_ != nullptr || reuse_ != nullptr) add_hops();
  if (timeline_ != nullptr) add_rows();
  add_probes(backend.engine(), selection_, vcd_ != nullptr, told_, recorder_, probes_);
  if (vcd_ != nullptr) backend.record_wires(selection_, recorder_);
  return {};
}

void PlatformWatcher::add_hops() {
  platform_.system().for_each_hop([&](const Hop& h) {
    TimelineWriter::Hop hop;
    hop.request = &h.request_in;
    hop.response = &h.response_in;
    hop.sender_shown = selection_.takes(h.response_in);
    hop.receiver_shown = selection_.takes(h.request_in);
    // What adds up over all hops hears of all of them.
    const bool all = latency_ != nullptr || reuse_ != nullptr;
    const bool shown = hop.sender_shown || hop.receiver_shown;
    if (!shown && !all) return;
    if (timeline_ != nullptr && shown) timeline_->add_hop(hop);
    if (latency_ != nullptr) latency_->add_hop(h.request_in, h.response_in);
    if (reuse_ != nullptr) reuse_->add_hop(h.request_in, h.response_in.owner());
    if (hop.sender_shown) shown_.insert(&h.response_in.owner());
    if (hop.receiver_shown) shown_.insert(&h.request_in.owner());
    // Both ends tell of a request: where it arrives, and where its answer does.
    told_[&h.request_in] = false;
    told_[&h.response_in] = true;
  });
}

void PlatformWatcher::add_rows() {
  PcieSystem* const pcie = platform_.pcie();
  if (pcie != nullptr) timeline_->show_host();
  std::vector<EndpointDevice*> devices;
  for (unsigned i = 0; pcie != nullptr && i < pcie->functions(); ++i)
    if (selection_.takes(pcie->function(i))) devices.push_back(&pcie->function(i));
  shown_.insert(devices.begin(), devices.end());
  for (const Component* c : platform_.backend().engine().components())
    if (shown_.count(c) != 0) timeline_->show(*c);
  for (EndpointDevice* device : devices)
    devices_.emplace_back(*device, *timeline_, options_.window, DeviceTimeline::Loosely::hidden);
}

void PlatformWatcher::grids_ended(const std::vector<GridRun>& runs, RunOutcome /*outcome*/) {
  // A program may free memory now, whose name is asked for when its lines are heard of.
  if (reuse_ != nullptr) recorder_.hand_on_batch();
  if (timeline_ == nullptr) return;
  for (const GridRun& run : runs) timeline_->kernel(run.grid.kernel->info().name, run.first, run.last);
}

void PlatformWatcher::host_did(const std::string& what, const std::string& where, Cycle first, Cycle last) {
  if (timeline_ != nullptr) timeline_->host(what, where, first, last);
}

void PlatformWatcher::sampled(const std::string& name, const std::string& unit, Cycle first, double value) {
  if (timeline_ != nullptr) timeline_->sampled(name, unit, first, value);
}

std::vector<std::string> PlatformWatcher::finish() {
  recorder_.finish();
  probes_.clear();
  std::vector<std::string> failures;
  const auto close = [&failures](OutputFile& file, const std::string& option) {
    if (const std::string failure = file.close(); !failure.empty())
      failures.push_back(option + ": " + failure);
  };
  if (vcd_ != nullptr) close(wave_file_, "--wave");
  if (timeline_ != nullptr) close(timeline_file_, "--timeline");
  if (latency_ != nullptr) close(latency_file_, "--latency");
  if (reuse_ != nullptr) close(reuse_file_, "--reuse");
  return failures;
}

void PlatformWatcher::start(Cycle first, const std::vector<Signal>& signals,
                            const std::vector<std::uint64_t>& values) {
  if (vcd_ != nullptr) vcd_->start(first, signals, values);
  if (timeline_ != nullptr) timeline_->start(first, signals, values);
}

void PlatformWatcher::change(Cycle cycle, std::uint32_t signal, std::uint64_t value) {
  vcd_->change(cycle, signal, value);
}

void PlatformWatcher::message(const MessageEvent& event) {
  if (timeline_ != nullptr && timeline_->wants(*event.port)) timeline_->message(event);
  if (latency_ != nullptr) latency_->message(event);
  if (reuse_ != nullptr) reuse_->message(event);
}

void PlatformWatcher::finish(Cycle last) {
  if (vcd_ != nullptr) vcd_->finish(last);
  for (DeviceTimeline& device : devices_) device.finish(last);
  if (timeline_ != nullptr) timeline_->finish(last);
  if (latency_ != nullptr) latency_->finish(last);
  if (reuse_ != nullptr) reuse_->finish(last);
}

}  // namespace

std::unique_ptr<Watcher> make_watcher(GpuPlatform& platform, WatchOptions options) {
  return std::make_unique<PlatformWatcher>(platform, std::move(options));
}

}  // namespace warpline
