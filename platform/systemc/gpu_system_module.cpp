#include "platform/systemc/gpu_system_module.h"

#include <stdexcept>

#include "platform/config/parameter_broker.h"
#include "platform/systemc/parameter_report.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/tlm/cycle_time.h"

namespace warpline {
namespace {

GpuConfig configuration_of(const std::string& module, const GpuSystemOptions& options) {
  ParameterBroker& broker = ParameterBroker::global();
  std::vector<std::string> settings = options.settings;
  Result<GpuConfig> config = broker.load_gpu(module, options.gpu, settings);
  if (config.ok() && !config.value().has_root_complex()) {
    settings.emplace_back("pcie_system.peers=1");
    config = broker.load_gpu(module, options.gpu, settings);
  }
  std::string all = options.processors == 0 ? "processors: must be at least 1" : "";
  if (!config.ok())
    for (const Diagnostic& d : config.faults()) all += (all.empty() ? "" : "\n") + d.text();
  if (config.ok()) {
    if (!config.value().has_root_complex())
      all += module + ".pcie_system.peers: must be at least 1, as GPUs are cards on a bus here";
    if (const std::string p = CycleTime::problem(config.value().clocks.fastest()); !p.empty()) all += p;
  }
  if (!all.empty()) throw std::invalid_argument(all);
  return std::move(config.value());
}

RunOptions run_by(std::shared_ptr<NetlistBackend> backend) {
  RunOptions options;
  options.backend = std::move(backend);
  return options;
}

}  // namespace

struct GpuSystemModule::State {
  State(const std::string& module, const GpuSystemOptions& options)
      : published(module),
        config(configuration_of(module, options)),
        backend(std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct)),
        platform(config, run_by(backend)) {
    if (options.interpose) backend->interpose(options.interpose);
    for (const HopOpening& opening : options.open_hops) backend->open_hops(opening.pattern, opening.make);
    backend->keep_pace();
    platform.build();
    host_bus = std::make_unique<PcieSystemModule>("host_bus", *platform.pcie(), backend->module(),
                                                  options.processors, [this](bool to) { set_loose(to); });
  }
  /// Hops are bound when elaboration has ended: what is asked for before waits until then.
  void set_loose(bool to) {
    if (sc_core::sc_get_status() < sc_core::SC_START_OF_SIMULATION) {
      loose = to;
    } else if (backend->module().at_rest()) {
      platform.set_loose(to);
    } else {
      backend->module().set_loose(to);  // refuses, and reports
    }
  }

  PublishedParameters published;
  GpuConfig config;
  std::shared_ptr<SystemCBackend> backend;
  GpuPlatform platform;
  std::unique_ptr<PcieSystemModule> host_bus;
  bool loose = false;
};

GpuSystemModule::GpuSystemModule(const sc_core::sc_module_name& name, const GpuSystemOptions& options)
    : sc_module(name), state_(std::make_unique<State>(this->name(), options)) {}

GpuSystemModule::~GpuSystemModule() = default;

void GpuSystemModule::start_of_simulation() {
  report_unconsumed_presets();
  if (state_->loose) state_->platform.set_loose(true);
}

PcieSystemModule& GpuSystemModule::host_bus() {
  return *state_->host_bus;
}

GpuPlatform& GpuSystemModule::platform() {
  return state_->platform;
}

}  // namespace warpline
