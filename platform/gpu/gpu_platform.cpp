#include "warpline/gpu/gpu_platform.h"

#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/gpu/gpu_platform_state.h"

namespace warpline {

GpuPlatform::GpuPlatform(const GpuConfig& config, const RunOptions& options)
    : state_(std::make_unique<State>(config, options)) {}

GpuPlatform::~GpuPlatform() = default;

std::uint64_t GpuPlatform::allocate(const std::string& name, std::uint64_t bytes, Aperture aperture,
                                    unsigned gpu) {
  return state_->memory.allocate(name, bytes, aperture, gpu);
}

std::uint64_t GpuPlatform::map(Aperture aperture, std::uint64_t offset, std::uint64_t bytes,
                               bool prefetchable) {
  return state_->memory.map(aperture, offset, bytes, prefetchable);
}

std::optional<PhysicalAddress> GpuPlatform::physical_of(std::uint64_t address, unsigned gpu) const {
  const Mapping* hint = nullptr;
  const Mapping* const m = state_->memory.space(gpu).find(address, 1, hint);
  if (m == nullptr) return std::nullopt;
  return PhysicalAddress{m->physical.value + (address - m->base)};
}

std::uint64_t GpuPlatform::add_image(const Image& image) {
  return state_->images.add(image);
}

void GpuPlatform::build() {
  state_->build();
}

std::vector<std::string> GpuPlatform::refusals(const KernelInfo& info, unsigned gpu) const {
  return state_->refusals(info, gpu);
}

PeerMemory* GpuPlatform::peer() {
  return state_->memory.peer();
}

PcieSystem* GpuPlatform::pcie() {
  return state_->pcie.get();
}

CacheRegisters& GpuPlatform::registers(unsigned gpu) {
  return state_->gpus[gpu].registers;
}

void GpuPlatform::map_everything() {
  WARPLINE_EXPECT(state_->system == nullptr || state_->options.tags_only,
                  "data and no data do not mix in one run");
  state_->options.tags_only = true;
  state_->memory.map_everything();
}

void GpuPlatform::write(std::uint64_t address, const void* bytes, std::size_t count) {
  state_->memory.write(address, bytes, count);
}

void GpuPlatform::read(std::uint64_t address, void* bytes, std::size_t count) const {
  state_->memory.read(address, bytes, count);
}

void GpuPlatform::write_constant(std::uint64_t address, const void* bytes, std::size_t count, unsigned gpu) {
  state_->memory.write_constant(gpu, address, bytes, count);
}

void GpuPlatform::load(const KernelInfo& info, unsigned gpu) {
  static_cast<void>(state_->place_code(info, gpu));
}

/// Has the callback told how much of these grids is done.
void GpuPlatform::State::report_progress(const std::vector<GridLaunch>& grids) {
  if (!progress) return;
  std::vector<const WorkDistributor*> distributors;
  for (const GridLaunch& g : grids) distributors.push_back(&system->gpu(g.gpu).distributor());
  driver->engine().on_progress(progress_every, [this, distributors](Cycle) {
    std::uint64_t done = 0, total = 0;
    for (const WorkDistributor* d : distributors) {
      done += d->done();
      total += d->total();
    }
    return progress(static_cast<double>(done) / static_cast<double>(total));
  });
}

LaunchResult GpuPlatform::launch(const std::vector<GridLaunch>& grids) {
  start(grids);
  return finish();
}

bool GpuPlatform::running() const {
  const std::vector<GridLaunch>& grids = state_->under_way;
  return std::any_of(grids.begin(), grids.end(), [this](const GridLaunch& g) {
    const WorkDistributor& d = state_->system->gpu(g.gpu).distributor();
    return d.done() != d.total();
  });
}

void GpuPlatform::start(const std::vector<GridLaunch>& grids) {
  State& s = *state_;
  WARPLINE_EXPECT(s.under_way.empty(), "grids that were started are finished before the next");
  for (const GridLaunch& g : grids) {
    WARPLINE_EXPECT(g.gpu < s.config.gpus && refusals(g.kernel->info(), g.gpu).empty(),
                    "a kernel is launched on a GPU that can run it");
    static_cast<void>(s.place_code(g.kernel->info(), g.gpu));
    s.prepare(g.kernel->info(), g.gpu, g.invalidate_l1);
  }
  if (s.options.jitter) {
    if (!s.jitter) {
      // Hops that SystemC binds are bound when its world starts, and not before: this starts it.
      s.set_loose(s.options.loose);
      s.jitter.emplace(s.driver->engine());
    }
    const std::uint64_t seed = *s.options.jitter + s.launches++;
    const bool idle =
        s.driver->engine().quiescent() || s.driver->run_until(s.options.max_cycles) == RunOutcome::quiescent;
    if (idle) s.jitter->draw(seed);
  }
  s.started = s.driver->engine().now();
  if (s.recorder != nullptr) s.begin_record(grids);
  for (const GridLaunch& g : grids) s.start(g);
  s.report_progress(grids);
  s.under_way = grids;
}

LaunchResult GpuPlatform::finish() {
  State& s = *state_;
  const bool were_over = !running();
  const std::vector<GridLaunch> grids = std::move(s.under_way);
  s.under_way.clear();
  LaunchResult result;
  result.outcome = s.driver->run_until(s.options.max_cycles);
  if (result.outcome == RunOutcome::quiescent && s.memory.uses_links()) {
    if (s.observation != nullptr) s.observation->settle();
    // The end of a grid is a release at system scope: the host sees what the grid wrote. Where another GPU
    // may write before this one's next grid, nobody keeps copies until then.
    const unsigned what = maintenance::kDrain | maintenance::kWriteBackSysmem |
                          (s.config.gpus > 1 ? maintenance::kDiscardSysmem : 0U);
    for (const GridLaunch& g : grids)
      s.system->gpu(g.gpu).clusters()[0].sm->maintain(static_cast<std::uint8_t>(what));
    result.outcome = s.driver->run_until(s.options.max_cycles);
  }
  result.cycles = s.driver->engine().now() - s.started;
  if (s.recorder != nullptr) s.end_record(grids, result.outcome);
  if (s.observation != nullptr) {
    if (result.outcome == RunOutcome::quiescent) s.observation->settle();
    for (const GridLaunch& g : grids) {
      // A host may have gone on after it.
      const Cycle last =
          were_over ? s.system->gpu(g.gpu).distributor().last_done() : s.driver->engine().now();
      s.observation->kernel_ended(g.kernel->info().name, s.started + 1, last);
    }
  }
  if (result.outcome != RunOutcome::quiescent) result.standstill = s.driver->standstill();
  return result;
}

void GpuPlatform::set_loose(bool loose) {
  state_->options.loose = loose;
  if (state_->system != nullptr) state_->set_loose(loose);
}

bool GpuPlatform::takes_loose() const {
  return state_->driver->takes_loose();
}

void GpuPlatform::on_progress(Cycle cycles, std::function<bool(double)> callback) {
  state_->progress_every = cycles;
  state_->progress = std::move(callback);
}

Diagnostics GpuPlatform::observe(const ObservationOptions& options) {
  State& s = *state_;
  WARPLINE_EXPECT(s.system == nullptr, "a GPU is observed from its first launch on");
  s.build();
  s.observation = std::make_unique<Observation>(options, s.fastest_mhz(), s.driver->engine());
  Diagnostics faults = s.observation->attach(*s.system, s.pcie.get());
  if (!faults.empty()) {
    s.observation.reset();
  } else if (s.observation->has_wave()) {
    s.driver->record_wires(s.observation->selection(), s.observation->recorder());
  }
  return faults;
}

void GpuPlatform::host_did(const std::string& what, const std::string& where, Cycle first, Cycle last) {
  if (state_->observation != nullptr) state_->observation->host_did(what, where, first, last);
}

std::vector<std::string> GpuPlatform::finish_observation() {
  if (state_->observation == nullptr) return {};
  const std::unique_ptr<Observation> observation = std::move(state_->observation);
  return observation->finish();
}

Standstill GpuPlatform::standstill() const {
  return state_->system == nullptr ? Standstill{} : state_->driver->standstill();
}

const GpuConfig& GpuPlatform::config() const {
  return state_->config;
}

Cycle GpuPlatform::now() const {
  return state_->driver->engine().now();
}

double GpuPlatform::time_ns(Cycle cycles) const {
  return static_cast<double>(cycles) * 1000.0 / state_->fastest_mhz();
}

std::vector<FaultRecord> GpuPlatform::faults() const {
  std::vector<FaultRecord> out;
  if (state_->system == nullptr) return out;
  for (unsigned gpu = 0; gpu < state_->config.gpus; ++gpu)
    for (unsigned i = 0; i < state_->config.sms; ++i)
      for (const FaultReport& f : state_->system->gpu(gpu).clusters()[i].sm->faults())
        out.push_back(
            {f.kind, f.fault.cycle, gpu, i, f.fault.slot, f.cta, f.fault.lane, f.where, f.fault.address});
  std::stable_sort(out.begin(), out.end(),
                   [](const FaultRecord& a, const FaultRecord& b) { return a.cycle < b.cycle; });
  return out;
}

void GpuPlatform::visit(CounterVisitor& visitor) const {
  if (state_->system == nullptr) return;
  state_->system->visit(visitor);
  if (state_->pcie != nullptr) state_->pcie->visit(visitor);
  const std::vector<std::string>& buffers = state_->memory.buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const RegionCounters c = state_->system->region(i + 1);
    const std::string block = "buffer." + buffers[i] + ".l2";
    visitor.counter(block, "sector_accesses", c.sector_accesses, "sectors",
                    "look-ups of this buffer's lines in L2");
    visitor.counter(block, "sector_hits", c.sector_hits, "sectors", "of those, found valid");
  }
}

std::vector<std::string> GpuPlatform::unreconciled() const {
  return state_->system == nullptr ? std::vector<std::string>{} : state_->system->unreconciled();
}

}  // namespace warpline
