// What a platform does before a launch: whether the kernel fits, where its memory lies, what is invalidated.
#include "warpline/gpu/gpu_platform_state.h"

#include <algorithm>

namespace warpline {

GpuPlatform::State::State(const GpuConfig& c, const RunOptions& o)
    : config(c),
      options(o),
      driver(o.driver != nullptr ? o.driver : std::make_shared<DirectDriver>(o.tick_mode, o.seed)) {
  for (unsigned i = 0; i < config.gpus; ++i) gpus.emplace_back(*this, i);
}

GpuPlatform::State::Gpu::Gpu(State& state, unsigned number)
    : registers({CacheRegisters::kL1Global | CacheRegisters::kTexture | CacheRegisters::kConstant |
                     CacheRegisters::kInstruction,
                 [&state] { return state.system != nullptr && !state.driver->engine().quiescent(); },
                 [&state, number](std::uint32_t caches) { state.invalidate(number, caches); }}) {}

unsigned GpuPlatform::State::fastest_mhz() const {
  const ClockParameters& c = config.clocks;
  return std::max({c.sm, c.l2, c.dram, c.link});
}

void GpuPlatform::State::set_loose(bool loose) {
  for (unsigned i = 0; i < config.gpus; ++i) driver->set_loose(system->gpu(i), loose);
  if (pcie != nullptr) pcie->set_loose(loose);
}

void GpuPlatform::State::build() {
  if (system != nullptr) return;
  std::vector<MemoryImage*> vidmem;
  for (unsigned i = 0; i < config.gpus && !options.tags_only; ++i) vidmem.push_back(&memory.vidmem(i));
  MemoryImage* const sysmem = options.tags_only ? nullptr : &memory.sysmem();
  system = std::make_unique<System>(config, driver->engine(), vidmem, sysmem, memory.peer(),
                                    driver->brings_slices() ? Slices::foreign : Slices::ours);
  if (config.pcie_system.peers != 0) {
    WARPLINE_EXPECT(!options.tags_only, "a host's software needs data");
    std::vector<PcieLink*> links;
    for (unsigned i = 0; i < config.gpus; ++i) links.push_back(&system->gpu(i).link());
    pcie = std::make_unique<PcieSystem>(links, fastest_mhz(), config.pcie_system, *sysmem);
    pcie->run_by([this](Cycle limit) { return driver->run_until(limit); });
  }
  for (unsigned i = 0; i < config.gpus; ++i) driver->connect(system->gpu(i));
  if (options.loose) set_loose(true);
}

void GpuPlatform::State::invalidate(unsigned gpu, std::uint32_t caches) {
  build();
  for (Netlist::SmCluster& c : system->gpu(gpu).clusters()) {
    if ((caches & CacheRegisters::kL1Global) != 0) c.l1_lg->invalidate_global();
    if ((caches & CacheRegisters::kTexture) != 0) c.texture->invalidate();
    if ((caches & CacheRegisters::kConstant) != 0) c.constant->invalidate();
    if ((caches & CacheRegisters::kInstruction) != 0) {
      c.sm->empty_instruction_buffer();
      c.instruction->invalidate();
    }
  }
}

std::uint64_t GpuPlatform::State::local_bytes(const KernelInfo& info) const {
  return std::uint64_t{config.sms} * config.sm.warp_slots * kWarpLanes * info.local_window_bytes(config.sm);
}

unsigned GpuPlatform::State::resident(const KernelInfo& info) const {
  unsigned n = std::min(config.sm.cta_slots, config.sm.warp_slots / std::max(1U, info.warps_per_cta()));
  if (info.shared_bytes != 0) n = std::min(n, config.sm.shared_bytes / info.shared_bytes);
  return n;
}

std::uint64_t GpuPlatform::State::code_to_place(const KernelInfo& info, unsigned gpu) const {
  if (info.code_bytes == 0) return 0;
  return memory.code_to_place(gpu, info.code_name, info.code_bytes, !options.tags_only);
}

std::optional<std::uint64_t> GpuPlatform::State::place_code(const KernelInfo& info, unsigned gpu) {
  if (info.code_bytes == 0) return 0;
  return memory.place_code(gpu, info.code_name, info.code_bytes, !options.tags_only);
}

void GpuPlatform::State::prepare(const KernelInfo& info, unsigned gpu, bool invalidate_l1) {
  build();
  Gpu& g = gpus[gpu];
  system->set_regions(memory.buffers().size());
  // Written back later, the last grid's local lines would land in what is other memory by now.
  const std::uint32_t window = info.local_window_bytes(config.sm);
  const std::uint64_t base = memory.local_base(gpu, local_bytes(info), !options.tags_only);
  const bool lays_out = window != g.local_bytes_laid_out || base != g.local_base;
  g.local_bytes_laid_out = window;
  g.local_base = base;
  if (lays_out)
    for (Netlist::SmCluster& c : system->gpu(gpu).clusters()) c.l1_lg->forget_local();
  // Every launch writes its parameters to bank 0, so constants are never left stale.
  g.registers.write(CacheRegisters::kInvalidate,
                    CacheRegisters::kConstant |
                        (invalidate_l1 ? CacheRegisters::kL1Global | CacheRegisters::kTexture : 0U));
  if (!options.tags_only)
    memory.write_constant(
        gpu, ConstantBanks::address(ConstantBanks::kParameterBank, ConstantBanks::kParameterOffset),
        info.parameters.data(), info.parameters.size());
}

void GpuPlatform::State::start(const GridLaunch& grid) {
  const KernelInfo& info = grid.kernel->info();
  Netlist& netlist = system->gpu(grid.gpu);
  MemoryMap map;
  map.space = &memory.space(grid.gpu);
  map.images = &images;
  map.constant_base = physical(Aperture::vidmem, 0);
  map.local_bytes = info.local_window_bytes(config.sm);
  map.with_data = !options.tags_only;
  map.code_base = physical(Aperture::vidmem, place_code(info, grid.gpu).value_or(0));
  const std::uint64_t per_sm = std::uint64_t{config.sm.warp_slots} * kWarpLanes * map.local_bytes;
  for (unsigned i = 0; i < config.sms; ++i) {
    map.local_base = physical(Aperture::vidmem, gpus[grid.gpu].local_base + i * per_sm);
    std::unique_ptr<InstructionSource> source = grid.kernel->make_source(i, config.sm.warp_slots);
    if (recorder != nullptr) source = recorder->watch(std::move(source), i, config.sm.warp_slots);
    netlist.clusters()[i].sm->start(info, std::move(source), map, resident(info));
  }
  netlist.distributor().start(info.grid, resident(info));
}

std::vector<std::string> GpuPlatform::State::refusals(const KernelInfo& info, unsigned gpu) const {
  std::vector<std::string> out;
  const SmParameters& sm = config.sm;
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
  const std::uint64_t code = code_to_place(info, gpu);
  const std::uint64_t free = memory.free_vidmem(gpu);
  if (code > free)
    out.push_back("its " + std::to_string(info.code_bytes) + " bytes of code do not fit video memory");
  else if (info.carries_data && local_bytes(info) > free - code)
    out.push_back("local memory of " + std::to_string(info.local_window_bytes(sm)) + " bytes per thread" +
                  (info.calls ? ", the call-return stack's included," : "") + " does not fit video memory");
  if (!info.carries_data && !options.tags_only)
    out.emplace_back("the program carries no data; it runs on a platform without data only");
  return out;
}

}  // namespace warpline
