#include "warpline/gpu/gpu_platform.h"

#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/gpu/gpu_platform_state.h"

namespace warpline {

GpuPlatform::GpuPlatform(const GpuConfig& config, const RunOptions& options)
    : state_(std::make_unique<State>(config, options)) {}

GpuPlatform::~GpuPlatform() = default;

std::uint64_t GpuPlatform::allocate(const std::string& name, std::uint64_t bytes, Aperture aperture) {
  return state_->memory.allocate(name, bytes, aperture);
}

std::uint64_t GpuPlatform::add_image(const Image& image) {
  return state_->images.add(image);
}

void GpuPlatform::build() {
  state_->build();
}

CacheRegisters& GpuPlatform::registers() {
  return state_->registers;
}

void GpuPlatform::map_everything() {
  WARPLINE_EXPECT(state_->netlist == nullptr || state_->options.tags_only,
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

void GpuPlatform::write_constant(std::uint64_t address, const void* bytes, std::size_t count) {
  state_->memory.write_constant(address, bytes, count);
}

void GpuPlatform::load(const KernelInfo& info) {
  static_cast<void>(state_->place_code(info));
}

std::vector<std::string> GpuPlatform::refusals(const KernelInfo& info) const {
  return state_->refusals(info);
}

LaunchResult GpuPlatform::launch(Kernel& kernel, bool invalidate_l1) {
  const KernelInfo& info = kernel.info();
  WARPLINE_EXPECT(refusals(info).empty(), "a kernel is launched on a GPU that can run it");
  State& s = *state_;
  const std::uint64_t code = s.place_code(info).value_or(0);
  s.prepare(info, invalidate_l1);
  if (s.options.jitter) {
    if (!s.jitter) s.jitter.emplace(s.driver->engine());
    s.jitter->draw(*s.options.jitter + s.launches++);
  }
  MemoryMap map;
  map.space = &s.memory.space();
  map.images = &s.images;
  map.constant_base = physical(Aperture::vidmem, 0);
  map.local_bytes = info.local_window_bytes(s.config.sm);
  map.with_data = !s.options.tags_only;
  map.code_base = physical(Aperture::vidmem, code);
  const std::uint64_t per_sm = std::uint64_t{s.config.sm.warp_slots} * kWarpLanes * map.local_bytes;
  const unsigned resident = s.resident(info);
  for (unsigned i = 0; i < s.config.sms; ++i) {
    map.local_base = physical(Aperture::vidmem, s.local_base + i * per_sm);
    s.netlist->clusters()[i].sm->start(info, kernel.make_source(i, s.config.sm.warp_slots), map, resident);
  }
  WorkDistributor& distributor = s.netlist->distributor();
  if (s.progress)
    s.driver->engine().on_progress(s.progress_every, [&s, &distributor](Cycle) {
      return s.progress(static_cast<double>(distributor.done()) / static_cast<double>(distributor.total()));
    });
  const Cycle start = s.driver->engine().now();
  distributor.start(info.grid, resident);
  LaunchResult result;
  result.outcome = s.driver->run_until(s.options.max_cycles);
  if (result.outcome == RunOutcome::quiescent && s.memory.uses_sysmem()) {
    if (s.observation != nullptr) s.observation->settle();
    // The end of a grid is a release at system scope: the host sees what the grid wrote.
    s.netlist->clusters()[0].sm->maintain(maintenance::kDrain | maintenance::kWriteBackSysmem);
    result.outcome = s.driver->run_until(s.options.max_cycles);
  }
  result.cycles = s.driver->engine().now() - start;
  if (s.observation != nullptr) {
    if (result.outcome == RunOutcome::quiescent) s.observation->settle();
    s.observation->kernel_ended(info.name, start + 1);
  }
  if (result.outcome != RunOutcome::quiescent) result.standstill = s.driver->standstill();
  return result;
}

void GpuPlatform::set_loose(bool loose) {
  state_->options.loose = loose;
  if (state_->netlist != nullptr) state_->driver->set_loose(*state_->netlist, loose);
}

void GpuPlatform::on_progress(Cycle cycles, std::function<bool(double)> callback) {
  state_->progress_every = cycles;
  state_->progress = std::move(callback);
}

Diagnostics GpuPlatform::observe(const ObservationOptions& options) {
  State& s = *state_;
  WARPLINE_EXPECT(s.netlist == nullptr, "a GPU is observed from its first launch on");
  s.build();
  s.observation = std::make_unique<Observation>(options, s.fastest_mhz(), s.driver->engine());
  Diagnostics faults = s.observation->attach(*s.netlist);
  if (!faults.empty()) {
    s.observation.reset();
  } else if (s.observation->has_wave()) {
    s.driver->record_wires(s.observation->selection(), s.observation->recorder());
  }
  return faults;
}

std::vector<std::string> GpuPlatform::finish_observation() {
  if (state_->observation == nullptr) return {};
  const std::unique_ptr<Observation> observation = std::move(state_->observation);
  return observation->finish();
}

Standstill GpuPlatform::standstill() const {
  return state_->netlist == nullptr ? Standstill{} : state_->driver->standstill();
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
  if (state_->netlist == nullptr) return out;
  for (unsigned i = 0; i < state_->config.sms; ++i)
    for (const FaultReport& f : state_->netlist->clusters()[i].sm->faults())
      out.push_back({f.kind, f.fault.cycle, i, f.fault.slot, f.cta, f.fault.lane, f.where, f.fault.address});
  std::stable_sort(out.begin(), out.end(),
                   [](const FaultRecord& a, const FaultRecord& b) { return a.cycle < b.cycle; });
  return out;
}

void GpuPlatform::visit(CounterVisitor& visitor) const {
  if (state_->netlist == nullptr) return;
  state_->netlist->visit(visitor);
  const std::vector<std::string>& buffers = state_->memory.buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const RegionCounters c = state_->netlist->region(i + 1);
    const std::string block = "buffer." + buffers[i] + ".l2";
    visitor.counter(block, "sector_accesses", c.sector_accesses, "sectors",
                    "look-ups of this buffer's lines in L2");
    visitor.counter(block, "sector_hits", c.sector_hits, "sectors", "of those, found valid");
  }
}

std::vector<std::string> GpuPlatform::unreconciled() const {
  return state_->netlist == nullptr ? std::vector<std::string>{} : state_->netlist->unreconciled();
}

}  // namespace warpline
