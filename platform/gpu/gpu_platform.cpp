#include "warpline/gpu/gpu_platform.h"

#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/gpu/device_memory.h"
#include "warpline/gpu/netlist.h"
#include "warpline/gpu/observe/observation.h"

namespace warpline {

struct GpuPlatform::State {
  State(const GpuConfig& c, const RunOptions& o)
      : config(c),
        options(o),
        driver(o.driver != nullptr ? o.driver : std::make_shared<DirectDriver>(o.tick_mode, o.seed)) {}

  GpuConfig config;
  RunOptions options;
  std::shared_ptr<NetlistDriver> driver;
  DeviceMemory memory{config};
  ImageTable images;
  std::unique_ptr<Netlist> netlist;          ///< made by the first launch
  std::unique_ptr<Observation> observation;  ///< of the netlist; null: none
  std::uint32_t local_bytes_laid_out = 0;    ///< per thread, of the last grid
  std::uint64_t local_base = 0;              ///< likewise, in video memory
  Cycle progress_every = kNever;
  std::function<bool(double)> progress;

  [[nodiscard]] std::uint64_t local_bytes(const KernelInfo& info) const {
    return std::uint64_t{config.sms} * config.sm.warp_slots * kWarpLanes * info.local_window_bytes(config.sm);
  }
  [[nodiscard]] unsigned resident(const KernelInfo& info) const {
    unsigned n = std::min(config.sm.cta_slots, config.sm.warp_slots / std::max(1U, info.warps_per_cta()));
    if (info.shared_bytes != 0) n = std::min(n, config.sm.shared_bytes / info.shared_bytes);
    return n;
  }
  [[nodiscard]] unsigned fastest_mhz() const {
    const ClockParameters& c = config.clocks;
    return std::max({c.sm, c.l2, c.dram, c.link});
  }
  CacheRegisters registers{{CacheRegisters::kL1Global | CacheRegisters::kTexture | CacheRegisters::kConstant |
                                CacheRegisters::kInstruction,
                            [this] { return netlist != nullptr && !driver->engine().quiescent(); },
                            [this](std::uint32_t caches) { invalidate(caches); }}};

  void build();
  void invalidate(std::uint32_t caches);
  void prepare(const KernelInfo& info, bool invalidate_l1);
  [[nodiscard]] std::uint64_t code_to_place(const KernelInfo& info) const {
    if (info.code_bytes == 0) return 0;
    return memory.code_to_place(info.code_name, info.code_bytes, !options.tags_only);
  }
  /// Where the kernel's code lies in video memory, if it fits; 0 if it has none.
  [[nodiscard]] std::optional<std::uint64_t> place_code(const KernelInfo& info) {
    if (info.code_bytes == 0) return 0;
    return memory.place_code(info.code_name, info.code_bytes, !options.tags_only);
  }
};

void GpuPlatform::State::build() {
  if (netlist != nullptr) return;
  MemoryImage* const vidmem_image = options.tags_only ? nullptr : &memory.image(Aperture::vidmem);
  MemoryImage* const sysmem_image = options.tags_only ? nullptr : &memory.image(Aperture::sysmem);
  netlist = std::make_unique<Netlist>(config, driver->engine(), vidmem_image, sysmem_image,
                                      driver->brings_slices() ? Slices::foreign : Slices::ours);
  driver->connect(*netlist);
  if (options.loose) driver->set_loose(*netlist, true);
}

void GpuPlatform::State::invalidate(std::uint32_t caches) {
  build();
  for (Netlist::SmCluster& c : netlist->clusters()) {
    if ((caches & CacheRegisters::kL1Global) != 0) c.l1_lg->invalidate_global();
    if ((caches & CacheRegisters::kTexture) != 0) c.texture->invalidate();
    if ((caches & CacheRegisters::kConstant) != 0) c.constant->invalidate();
    if ((caches & CacheRegisters::kInstruction) != 0) {
      c.sm->empty_instruction_buffer();
      c.instruction->invalidate();
    }
  }
}

void GpuPlatform::State::prepare(const KernelInfo& info, bool invalidate_l1) {
  build();
  netlist->set_regions(memory.buffers().size());
  // Written back later, the last grid's local lines would land in what is other memory by now.
  const std::uint32_t window = info.local_window_bytes(config.sm);
  const std::uint64_t base = memory.local_base(local_bytes(info), !options.tags_only);
  const bool lays_out = window != local_bytes_laid_out || base != local_base;
  local_bytes_laid_out = window;
  local_base = base;
  if (lays_out)
    for (Netlist::SmCluster& c : netlist->clusters()) c.l1_lg->forget_local();
  // Every launch writes its parameters to bank 0, so constants are never left stale.
  registers.write(CacheRegisters::kInvalidate,
                  CacheRegisters::kConstant |
                      (invalidate_l1 ? CacheRegisters::kL1Global | CacheRegisters::kTexture : 0U));
  if (!options.tags_only)
    memory.write_constant(
        ConstantBanks::address(ConstantBanks::kParameterBank, ConstantBanks::kParameterOffset),
        info.parameters.data(), info.parameters.size());
}

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
  std::vector<std::string> out;
  const SmParameters& sm = state_->config.sm;
  const std::uint64_t threads = info.block.count();
  if (threads == 0 || threads > 1024)
    out.push_back("a CTA has 1 to 1024 threads, not " + std::to_string(threads));
  if (info.grid.count() == 0) out.emplace_back("the grid has no CTA");
  if (threads <= 1024 && info.warps_per_cta() > sm.warp_slots)
    out.push_back("a CTA of " + std::to_string(info.warps_per_cta()) + " warps does not fit an SM of " +
                  std::to_string(sm.warp_slots) + " warp slots");
  if (info.shared_bytes > sm.shared_bytes)
    out.push_back("a CTA uses " + std::to_string(info.shared_bytes) + " bytes of shared memory; an SM has " +
                  std::to_string(sm.shared_bytes));
  if (info.parameters.size() > ConstantBanks::kBankBytes - ConstantBanks::kParameterOffset)
    out.emplace_back("the parameters do not fit constant bank 0");
  const std::uint64_t code = state_->code_to_place(info);
  const std::uint64_t free = state_->memory.free_vidmem();
  if (code > free)
    out.push_back("its " + std::to_string(info.code_bytes) + " bytes of code do not fit video memory");
  else if (info.carries_data && state_->local_bytes(info) > free - code)
    out.push_back("local memory of " + std::to_string(info.local_window_bytes(sm)) + " bytes per thread" +
                  (info.calls ? ", the call-return stack's included," : "") + " does not fit video memory");
  if (!info.carries_data && !state_->options.tags_only)
    out.emplace_back("the program carries no data; it runs on a platform without data only");
  return out;
}

LaunchResult GpuPlatform::launch(Kernel& kernel, bool invalidate_l1) {
  const KernelInfo& info = kernel.info();
  WARPLINE_EXPECT(refusals(info).empty(), "a kernel is launched on a GPU that can run it");
  State& s = *state_;
  const std::uint64_t code = s.place_code(info).value_or(0);
  s.prepare(info, invalidate_l1);
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
