#include "platform/machine/gpu_platform.h"

#include <algorithm>
#include <deque>
#include <map>

#include "platform/config/config_entries.h"
#include "platform/machine/attachment.h"
#include "platform/machine/cache_registers.h"
#include "platform/machine/carveout.h"
#include "platform/machine/checkpoint.h"
#include "platform/machine/checkpoint_file.h"
#include "platform/machine/direct_backend.h"
#include "platform/machine/fault_record.h"
#include "platform/machine/gpu_memories.h"
#include "platform/machine/pcie_system.h"
#include "platform/machine/rank_results.h"
#include "platform/machine/system.h"
#include "platform/machine/watched_run.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/base/text.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/sim/exchange.h"
#include "rtl_models/sim/jitter.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/fault.h"
#include "rtl_models/sm/kernel.h"

namespace warpline {
namespace {

/// After so many cycles all credits for CTAs are back at the distributor.
constexpr Cycle kLaunchCredits = 32;
/// Bytes that ranks tell each other at once of what the host reads.
constexpr std::size_t kToldAtOnce = std::size_t{1} << 24U;
constexpr std::uint64_t kConstantBytes = std::uint64_t{ConstantBanks::kBanks} * ConstantBanks::kBankBytes;

/// Why the GPU cannot run clusters of the kernel's shape, of which an SM holds `resident` CTAs; or nothing.
std::string cluster_refusal(const GpuConfig& config, const KernelInfo& info, unsigned resident) {
  const Dim3 &size = info.cluster.size, &grid = info.grid;
  const std::uint64_t ctas = size.count();
  if (ctas == 1) return {};
  const std::string text = "a cluster of " + std::to_string(ctas) + " CTAs (" + std::to_string(size.x) +
                           " x " + std::to_string(size.y) + " x " + std::to_string(size.z) + ")";
  if (ctas == 0) return "a cluster has at least 1 x 1 x 1 CTAs";
  if (!config.sm_network.present)
    return text + " needs a network between SMs, which " + config.name +
           " has not (sm_network.present); h100 has one";
  const unsigned portable = config.sm_network.cluster_ctas;
  const unsigned most = info.cluster.non_portable ? kMaxClusterCtas : portable;
  if (ctas > most)
    return text + " is larger than " + std::to_string(most) + ", the most that this GPU takes" +
           (info.cluster.non_portable || ctas > kMaxClusterCtas
                ? ""
                : "; more, up to " + std::to_string(kMaxClusterCtas) + ", with non_portable_cluster = true");
  if (grid.x % size.x != 0 || grid.y % size.y != 0 || grid.z % size.z != 0)
    return "the grid of " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " +
           std::to_string(grid.z) + " CTAs is no multiple of its clusters of " + std::to_string(size.x) +
           " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
  const std::uint64_t room =
      WorkDistributor::most_ctas(config.sms, {config.gpcs, config.sms_per_tpc}, resident);
  if (ctas > room && resident != 0)
    return text + " does not fit a GPC, whose SMs hold " + std::to_string(room) + " of these CTAs at once";
  return {};
}

}  // namespace

/// What a platform consists of, and what it does before a launch.
struct GpuPlatform::State {
  State(const GpuConfig& c, const RunOptions& o);

  /// What the driver keeps of each GPU.
  struct Gpu {
    Gpu(State& state, unsigned number);
    std::uint32_t local_bytes_laid_out = 0;  ///< per thread, of the last grid
    std::uint64_t local_base = 0;            ///< where its local memory began, in video memory
    Cycle started = 0;                       ///< the grids that are under way on it
    /// Those have ended, and what they wrote is on its way to where all see it.
    bool releasing = false;
    std::vector<std::uint64_t>
        constants;  ///< of dependent grids, by number from 1 on: their copies of all banks
    CacheRegisters registers;
  };

  GpuConfig config;
  RunOptions options;
  std::shared_ptr<NetlistBackend> backend;
  GpuMemories memory{config, options.in_process, options.page_slack};
  ImageTable images;
  std::unique_ptr<System> system;                     ///< made by the first launch
  std::unique_ptr<PcieSystem> pcie;                   ///< likewise; null: there is none
  std::vector<std::unique_ptr<Attachment>> attached;  ///< to the system
  std::deque<Gpu> gpus;
  std::optional<Jitter> jitter;  ///< made by the first launch that wants it
  std::uint64_t launches = 0;    ///< so far
  std::vector<GridLaunch> under_way;
  Cycle progress_every = kNever;
  Cycle progress_at = kNever;  ///< when it is due at the latest; kNever, or past: nobody has asked
  std::function<bool(double)> progress;

  /// Local memory that the kernel needs: that of every warp slot of a GPU.
  [[nodiscard]] std::uint64_t local_bytes(const KernelInfo& info) const;
  /// CTAs that an SM holds at once, and what of L1's storage their shared memory takes.
  [[nodiscard]] Carveout carveout(const KernelInfo& info) const;
  [[nodiscard]] unsigned resident(const KernelInfo& info) const { return carveout(info).ctas; }
  /// L1 has what the grids on a GPU leave of its storage, those that run one behind the other together.
  void share_storage(const std::vector<GridLaunch>& grids);
  void set_loose(bool loose);
  void set_functional(bool functional);
  void build();
  void invalidate(unsigned gpu, std::uint32_t caches);  ///< bits of CacheRegisters::kInvalidate
  /// `local_window`: local memory per thread, at least the kernel's.
  void prepare(const KernelInfo& info, unsigned gpu, bool invalidate_l1, std::uint32_t local_window);
  /// The most local memory per thread that one of the grids on a GPU has.
  [[nodiscard]] std::uint32_t most_local(const std::vector<GridLaunch>& grids, unsigned gpu) const;
  /// Hands a kernel to the SMs and the distributor of its GPU.
  void start(const GridLaunch& grid, unsigned number);
  /// Constant memory as a dependent grid sees it: with its own parameters.
  void lay_constants(const KernelInfo& info, unsigned gpu, unsigned number);
  [[nodiscard]] PhysicalAddress constants_of(unsigned gpu, unsigned number) const;
  void report_progress(const std::vector<GridLaunch>& grids);
  void release_to_system(const std::vector<GridLaunch>& grids);
  void tell_ended(const std::vector<GridLaunch>& grids, bool were_over, RunOutcome outcome);
  [[nodiscard]] bool over(const GridLaunch& grid) const {
    const WorkDistributor& d = system->gpu(grid.gpu).distributor();
    return d.done() == d.total();
  }
  /// Why nothing can be saved or restored now, or nothing. Builds the hardware.
  [[nodiscard]] Diagnostics unfit_for_checkpoints();
  /// What has to be the same for a checkpoint to fit.
  [[nodiscard]] CheckpointKeys keys() const;
  [[nodiscard]] std::vector<CheckpointMemory> memories();
  [[nodiscard]] CheckpointContents contents() {
    return {keys(), memories(), [this](StateArchive& a) { archive(a); }};
  }
  /// Saves or restores all but the bytes of memories.
  void archive(StateArchive& a);
  /// The other ranks' exchange; null: there are none.
  [[nodiscard]] Exchange* exchange() const { return options.exchange.get(); }
  /// Does `part`, in which sources of instructions are asked for some.
  void ask_sources(const std::function<void()>& part) const;
  /// Whether this rank runs a GPU's hardware. Pre: it is built.
  [[nodiscard]] bool runs(unsigned gpu) const { return system->rank_of(gpu) == backend->engine().rank(); }
  /// Where the kernel's code lies in video memory, if it fits; 0 if it has none.
  [[nodiscard]] std::optional<std::uint64_t> place_code(const KernelInfo& info, unsigned gpu);
};

GpuPlatform::State::State(const GpuConfig& c, const RunOptions& o)
    : config(c),
      options(o),
      backend(o.backend != nullptr
                  ? o.backend
                  : std::make_shared<DirectBackend>(o.tick_mode, o.seed, o.threads, o.exchange)) {
  for (unsigned i = 0; i < config.gpus; ++i) gpus.emplace_back(*this, i);
}

GpuPlatform::State::Gpu::Gpu(State& state, unsigned number)
    : registers({CacheRegisters::kL1Global | CacheRegisters::kTexture | CacheRegisters::kConstant |
                     CacheRegisters::kInstruction,
                 [&state] { return state.system != nullptr && !state.backend->engine().quiescent(); },
                 [&state, number](std::uint32_t caches) { state.invalidate(number, caches); }}) {}

void GpuPlatform::State::ask_sources(const std::function<void()>& part) const {
  if (exchange() == nullptr) return part();
  do_on_all_ranks(*exchange(), part);
}

void GpuPlatform::State::set_loose(bool loose) {
  WARPLINE_EXPECT(!loose || exchange() == nullptr, "what ranks run together is timed");
  for (unsigned i = 0; i < config.gpus; ++i) backend->set_loose(system->gpu(i), loose);
  if (pcie != nullptr) pcie->set_loose(loose);
}

void GpuPlatform::State::set_functional(bool functional) {
  WARPLINE_EXPECT(!functional || !options.tags_only, "what has no data has no functions");
  // Others may have bytes of video memory of their own.
  if (backend->brings_slices() || backend->brings_dram()) functional = false;
  for (unsigned i = 0; i < config.gpus; ++i) system->gpu(i).set_functional(functional);
}

void GpuPlatform::State::build() {
  if (system != nullptr) return;
  std::vector<MemoryImage*> vidmem;
  for (unsigned i = 0; i < config.gpus && !options.tags_only; ++i) vidmem.push_back(&memory.vidmem(i));
  MemoryImage* const sysmem = options.tags_only ? nullptr : &memory.sysmem();
  system = std::make_unique<System>(config, backend->engine(), vidmem, sysmem, memory.peer(),
                                    backend->brings_slices() ? Slices::foreign : Slices::ours,
                                    backend->brings_dram() ? Channels::foreign : Channels::ours,
                                    &memory.multicasts());
  if (config.has_root_complex()) {
    WARPLINE_EXPECT(!options.tags_only, "a host's software needs data");
    std::vector<PcieLink*> links;
    for (unsigned i = 0; i < config.gpus; ++i) links.push_back(&system->gpu(i).link());
    const auto join = [this](TlpPort& root, TlpPort& other) { backend->connect_link(root, other); };
    pcie = std::make_unique<PcieSystem>(links, config.clocks.fastest(), config.pcie_system, *sysmem, join);
    pcie->run_by(*backend);
    // Packets of a link are looked at by who waits for them before they have arrived.
    backend->engine().keep_to_one_thread();
  }
  for (unsigned i = 0; i < config.gpus; ++i) backend->connect(system->gpu(i));
  if (options.functional) set_functional(true);
  if (options.loose) set_loose(true);
}

void GpuPlatform::State::invalidate(unsigned gpu, std::uint32_t caches) {
  build();
  for (Netlist::SmCluster& c : system->gpu(gpu).clusters()) {
    if ((caches & CacheRegisters::kL1Global) != 0) c.l1_lg->invalidate_global();
    if ((caches & CacheRegisters::kTexture) != 0) {
      if (c.texture != nullptr) {
        c.texture->invalidate();
      } else if ((caches & CacheRegisters::kL1Global) == 0) {
        c.l1_lg->invalidate_global();
      }
    }
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

Carveout GpuPlatform::State::carveout(const KernelInfo& info) const {
  unsigned n = std::min(config.sm.cta_slots, config.sm.warp_slots / std::max(1U, info.warps_per_cta()));
  if (info.shared_bytes != 0) n = std::min(n, config.sm.shared_bytes / info.shared_bytes);
  if (info.thread_registers == 0 && info.held_registers != 0)
    n = std::min(n, std::max(1U, config.sm.ctas_by_registers(info.held_registers, info.warps_per_cta())));
  if (info.thread_registers != 0)
    n = std::min(
        n, config.sm.registers / std::max(1U, info.thread_registers * info.warps_per_cta() * kWarpLanes));
  return carveout_for(config, info, n);
}

void GpuPlatform::State::share_storage(const std::vector<GridLaunch>& grids) {
  if (config.l1_lg.carveouts.empty()) return;
  for (unsigned gpu = 0; gpu < config.gpus; ++gpu) {
    std::uint64_t shared = 0;
    bool any = false;
    for (const GridLaunch& g : grids) {
      if (g.gpu != gpu) continue;
      any = true;
      shared = std::max(shared, carveout(g.kernel->info()).shared_bytes);
    }
    if (!any) continue;
    for (const Netlist::SmCluster& c : system->gpu(gpu).clusters()) c.l1_lg->leave_to_shared(shared);
  }
}

std::optional<std::uint64_t> GpuPlatform::State::place_code(const KernelInfo& info, unsigned gpu) {
  if (info.code_bytes == 0) return 0;
  return memory.place_code(gpu, info.code_name, info.code_bytes, !options.tags_only);
}

std::uint32_t GpuPlatform::State::most_local(const std::vector<GridLaunch>& grids, unsigned gpu) const {
  std::uint32_t most = 0;
  for (const GridLaunch& g : grids)
    if (g.gpu == gpu) most = std::max(most, g.kernel->info().local_window_bytes(config.sm));
  return most;
}

void GpuPlatform::State::prepare(const KernelInfo& info, unsigned gpu, bool invalidate_l1,
                                 std::uint32_t local_window) {
  build();
  Gpu& g = gpus[gpu];
  system->set_regions(memory.buffers().size());
  // Written back later, the last grid's local lines would land in what is other memory by now.
  const std::uint32_t window = local_window;
  const std::uint64_t base = memory.local_base(
      gpu, std::uint64_t{config.sms} * config.sm.warp_slots * kWarpLanes * window, !options.tags_only);
  const bool lays_out = window != g.local_bytes_laid_out || base != g.local_base;
  g.local_bytes_laid_out = window;
  g.local_base = base;
  if (lays_out)
    for (Netlist::SmCluster& c : system->gpu(gpu).clusters()) c.l1_lg->forget_local();
  // Every launch writes its parameters to bank 0, so constants are never left stale.
  g.registers.invalidate(CacheRegisters::kConstant |
                         (invalidate_l1 ? CacheRegisters::kL1Global | CacheRegisters::kTexture : 0U));
  Netlist& hardware = system->gpu(gpu);
  for (unsigned i = 0; options.in_process && !hardware.lacks_slices() && i < config.l2.slices; ++i)
    hardware.slice(i).forget_system_memory();
  if (!options.tags_only)
    memory.write_constant(
        gpu, ConstantBanks::address(ConstantBanks::kParameterBank, ConstantBanks::kParameterOffset),
        info.parameters.data(), info.parameters.size());
}

void GpuPlatform::State::lay_constants(const KernelInfo& info, unsigned gpu, unsigned number) {
  std::vector<std::uint8_t> bytes(kConstantBytes);
  std::copy_n(memory.vidmem(gpu).at(0), kConstantBytes, bytes.begin());
  constexpr auto kAt = static_cast<std::ptrdiff_t>(
      ConstantBanks::address(ConstantBanks::kParameterBank, ConstantBanks::kParameterOffset));
  std::copy(info.parameters.begin(), info.parameters.end(), bytes.begin() + kAt);
  memory.write(gpus[gpu].constants.at(number - 1), bytes.data(), bytes.size());
}

PhysicalAddress GpuPlatform::State::constants_of(unsigned gpu, unsigned number) const {
  if (number == 0) return physical(Aperture::vidmem, 0);
  const VirtualAddress copy{gpus[gpu].constants.at(number - 1)};
  const Mapping* hint = nullptr;
  return memory.space(gpu).find(copy, 1, hint)->translate(copy);
}

/// `number`: of the grid among those of its GPU.
void GpuPlatform::State::start(const GridLaunch& grid, unsigned number) {
  if (!runs(grid.gpu)) return;
  const KernelInfo& info = grid.kernel->info();
  Netlist& netlist = system->gpu(grid.gpu);
  MemoryMap map;
  map.space = &memory.space(grid.gpu);
  map.images = &images;
  map.constant_base = constants_of(grid.gpu, number);
  map.local_bytes = info.local_window_bytes(config.sm);
  map.with_data = !options.tags_only;
  map.code_base = physical(Aperture::vidmem, place_code(info, grid.gpu).value_or(0));
  const std::uint64_t per_sm =
      std::uint64_t{config.sm.warp_slots} * kWarpLanes * gpus[grid.gpu].local_bytes_laid_out;
  for (unsigned i = 0; i < config.sms; ++i) {
    map.local_base = physical(Aperture::vidmem, gpus[grid.gpu].local_base + i * per_sm);
    std::unique_ptr<InstructionSource> source =
        grid.kernel->make_source({i, config.sm.warp_slots, config.clocks.sm});
    for (const auto& a : attached) source = a->watched(std::move(source), grid.gpu, i, config.sm.warp_slots);
    Sm& sm = *netlist.clusters()[i].sm;
    if (number == 0)
      sm.start(info, std::move(source), map, resident(info));
    else
      sm.queue(info, std::move(source), map, resident(info));
  }
  // All CTAs of a cluster begin in one cycle, whatever time is drawn for other messages (Jitter).
  if (info.cluster.size.count() > 1)
    for (const Netlist::SmCluster& c : netlist.clusters()) c.sm->from_distributor.set_residence(0);
  if (number != 0) {
    netlist.distributor().queue(info.grid, resident(info), info.cluster.size);
  } else if (info.cluster.size.count() > 1) {
    netlist.distributor().start_clusters(info.grid, resident(info), info.cluster.size);
  } else {
    netlist.distributor().start(info.grid, resident(info));
  }
}

bool GpuPlatform::reserve_dependents(unsigned count, unsigned gpu) {
  std::vector<std::uint64_t>& constants = state_->gpus[gpu].constants;
  while (constants.size() < count) {
    const std::uint64_t copy = allocate("", kConstantBytes, Aperture::vidmem, gpu);
    if (copy == 0) return false;
    name_memory(copy, "the constants of a dependent grid");
    constants.push_back(copy);
  }
  return true;
}

Diagnostics GpuPlatform::State::unfit_for_checkpoints() {
  constexpr const char* kWhat = "checkpoint";
  if (exchange() != nullptr)
    return {Diagnostic::about(kWhat, "the platform is run by several ranks, of which each knows its part")};
  build();
  backend->bind();
  if (backend->brings_slices() || backend->brings_dram())
    return {Diagnostic::about(
        kWhat, "L2 or DRAM of this platform is not Warpline's, and what it holds is not known")};
  if (!config.pcie_system.nvme.files.empty())
    return {Diagnostic::about(kWhat, "namespaces of NVMe controllers are files, which go on changing",
                              "leave gpu.pcie_system.nvme.files empty")};
  const Engine& engine = backend->engine();
  if (under_way.empty() && engine.quiescent() && engine.next_tick() == kNever) return {};
  const std::size_t requests = backend->standstill().in_flight.size();
  return {Diagnostic::about(
      kWhat,
      "the platform is not at rest: " +
          (requests != 0                  ? counted(requests, "request") + " in flight"
           : engine.next_tick() != kNever ? "something is due in cycle " + std::to_string(engine.next_tick())
                                          : std::string("grids were started, and finish() was not called")),
      "save and restore between launches, when nothing moves any more")};
}

CheckpointKeys GpuPlatform::State::keys() const {
  CheckpointKeys keys;
  for (const ConfigEntry& e : config_entries(config))
    if (!e.value.empty() && e.path() != "name") keys.emplace_back("gpu." + e.path(), e.value);
  keys.emplace_back("tags_only", options.tags_only ? "true" : "false");
  keys.emplace_back("jitter", options.jitter ? std::to_string(*options.jitter) : "none");
  return keys;
}

std::vector<CheckpointMemory> GpuPlatform::State::memories() {
  std::vector<CheckpointMemory> all;
  for (unsigned i = 0; i < config.gpus && !options.tags_only; ++i)
    all.push_back({"video memory of GPU " + std::to_string(i), memory.vidmem(i)});
  if (!options.tags_only) all.push_back({"system memory", memory.sysmem()});
  if (memory.peer() != nullptr) all.push_back({"memory of the peer", memory.peer()->image()});
  if (pcie != nullptr)
    for (const auto& [name, image] : pcie->namespace_memories()) all.push_back({name, *image});
  return all;
}

void GpuPlatform::State::archive(StateArchive& a) {
  a.section("memory maps");
  a(memory, images, launches);
  for (Gpu& g : gpus) a(g.local_bytes_laid_out, g.local_base, g.registers);
  for (unsigned i = 0; i < config.gpus; ++i) a(system->gpu(i));
  backend->engine().archive(a);
  if (a.saves()) return;
  // By whatever carrier, a sender hears of its credits what it would have heard.
  system->for_each_hop([](const Hop& h) {
    h.request_out.end(h.request_in.free_from());
    h.response_out.end(h.response_in.free_from());
  });
}

std::vector<std::string> GpuPlatform::refusals(const KernelInfo& info, unsigned gpu) const {
  std::vector<std::string> out;
  const SmParameters& sm = config().sm;
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
  const std::string cluster = cluster_refusal(config(), info, state_->resident(info));
  if (!cluster.empty()) out.push_back(cluster);
  if (const std::uint64_t wanted = std::uint64_t{info.thread_registers} * info.warps_per_cta() * kWarpLanes;
      wanted > sm.registers)
    out.push_back("a CTA uses " + std::to_string(wanted) + " registers; an SM has " +
                  std::to_string(sm.registers));
  if (out.empty() && info.cooperative) {
    const unsigned per_sm = state_->resident(info);
    const std::uint64_t together = info.cluster.size.count();
    const std::uint64_t fit =
        WorkDistributor::resident_ctas(config().sms, {config().gpcs, config().sms_per_tpc}, per_sm, together);
    if (info.grid.count() > fit)
      out.push_back("it is cooperative, so all its " + std::to_string(info.grid.count()) +
                    " blocks are to be resident at once; " + std::to_string(fit) + " fit, " +
                    std::to_string(per_sm) + " on each of " + std::to_string(config().sms) + " SMs" +
                    (together > 1 ? ", in clusters of " + std::to_string(together) : ""));
  }
  if (info.parameters.size() > ConstantBanks::kBankBytes - ConstantBanks::kParameterOffset)
    out.emplace_back("the parameters do not fit constant bank 0");
  const GpuMemories& memory = state_->memory;
  const std::uint64_t code = memory.code_to_place(gpu, info.code_name, info.code_bytes, has_data());
  const std::uint64_t free = memory.free_vidmem(gpu);
  if (code > free)
    out.push_back("its " + std::to_string(info.code_bytes) + " bytes of code do not fit video memory");
  else if (info.carries_data && state_->local_bytes(info) > free - code)
    out.push_back("local memory of " + std::to_string(info.local_window_bytes(sm)) + " bytes per thread" +
                  (info.calls ? ", the call-return stack's included," : "") + " does not fit video memory");
  if (!info.carries_data && has_data())
    out.emplace_back("the program carries no data; it runs on a platform without data only");
  if (info.carries_data && !has_data())
    out.emplace_back("the program needs data, and the platform has none (tags only)");
  return out;
}

std::unique_ptr<InstructionSource> Attachment::watched(std::unique_ptr<InstructionSource> source,
                                                       unsigned /*gpu*/, unsigned /*sm*/,
                                                       unsigned /*slots*/) {
  return source;
}

GpuPlatform::GpuPlatform(const GpuConfig& config, const RunOptions& options)
    : state_(std::make_unique<State>(config, options)) {
  WARPLINE_EXPECT(options.exchange == nullptr || why_no_ranks(config, options).empty(),
                  "ranks run what they can run together");
}

std::string GpuPlatform::why_no_ranks(const GpuConfig& config, const RunOptions& options) {
  if (options.loose || options.functional) return "requests are not timed";
  if (options.backend != nullptr) return "hops are not joined directly";
  if (options.tick_mode != TickMode::lazy) return "blocks are ticked when nothing is due, too";
  if (options.in_process) return "software shares memory with the GPUs in one process";
  if (config.has_root_complex()) return "devices and the host are run by one";
  const unsigned ranks = options.exchange == nullptr ? 1 : options.exchange->ranks();
  if (ranks > config.gpus)
    return "the platform has " + counted(config.gpus, "GPU") + ", of which each rank needs one";
  return {};
}

GpuPlatform::~GpuPlatform() = default;

std::uint64_t GpuPlatform::allocate(const std::string& name, std::uint64_t bytes, Aperture aperture,
                                    unsigned gpu) {
  return state_->memory.allocate(name, bytes, aperture, gpu);
}

std::uint64_t GpuPlatform::allocate_shared(std::uint64_t bytes, Aperture aperture, unsigned gpu) {
  return state_->memory.allocate_shared(bytes, aperture, gpu);
}

bool GpuPlatform::share(std::uint64_t address, std::uint64_t bytes) {
  return state_->memory.share(address, bytes);
}

bool GpuPlatform::unshare(std::uint64_t address) {
  return state_->memory.unshare(address);
}

bool GpuPlatform::free(std::uint64_t address) {
  return state_->memory.free(address);
}

std::optional<PhysicalAddress> GpuPlatform::allocate_unmapped(std::uint64_t bytes, unsigned gpu) {
  return state_->memory.allocate_unmapped(bytes, gpu);
}

void GpuPlatform::free_unmapped(PhysicalAddress physical, std::uint64_t bytes, unsigned gpu) {
  state_->memory.free_unmapped(physical, bytes, gpu);
}

void GpuPlatform::map_at(std::uint64_t address, std::uint64_t bytes, PhysicalAddress physical, unsigned gpu) {
  state_->memory.map_at(address, bytes, physical, gpu);
}

void GpuPlatform::map_bus_at(std::uint64_t address, std::uint64_t bytes, std::uint64_t bus, unsigned gpu,
                             bool is_memory) {
  WARPLINE_EXPECT(state_->config.has_root_complex(), "a root complex leads to what lies on the bus");
  state_->memory.map_bus_at(address, bytes, bus, gpu, is_memory);
}

bool GpuPlatform::unmap(std::uint64_t address, unsigned gpu) {
  return state_->memory.unmap(address, gpu);
}

std::uint64_t GpuPlatform::free_bytes(unsigned gpu) const {
  return state_->memory.unallocated_vidmem(gpu);
}

std::uint64_t GpuPlatform::allocate_below_4g(std::uint64_t bytes, unsigned gpu) {
  return state_->memory.allocate_below_4g(bytes, gpu);
}

std::uint64_t GpuPlatform::bind_multicast(const std::string& name, std::uint64_t bytes,
                                          const std::vector<std::uint64_t>& replicas) {
  WARPLINE_EXPECT(state_->config.gpu_switch.count != 0, "a multicast object needs a switch between GPUs");
  return state_->memory.bind_multicast(name, bytes, replicas);
}

std::uint64_t GpuPlatform::map(Aperture aperture, std::uint64_t offset, std::uint64_t bytes,
                               bool prefetchable) {
  return state_->memory.map(aperture, offset, bytes, prefetchable);
}

void GpuPlatform::name_memory(std::uint64_t address, const std::string& name) {
  state_->memory.name(address, name);
}

void GpuPlatform::name_constant(std::uint64_t address, std::uint64_t bytes, const std::string& name,
                                unsigned gpu) {
  state_->memory.name_constant(gpu, {address, bytes, name});
}

std::optional<PhysicalAddress> GpuPlatform::physical_of(std::uint64_t address, unsigned gpu) const {
  const Mapping* hint = nullptr;
  const Mapping* const m = state_->memory.space(gpu).find(VirtualAddress{address}, 1, hint);
  if (m == nullptr || m->kind == MappingKind::multicast) return std::nullopt;
  return m->translate(VirtualAddress{address});
}

std::uint64_t GpuPlatform::take_slack_used(unsigned gpu) {
  return state_->memory.take_slack_used(gpu);
}

std::uint64_t GpuPlatform::add_image(const Image& image, bool distinct) {
  return state_->images.add(image, distinct);
}

bool GpuPlatform::remove_image(std::uint64_t handle) {
  return state_->images.remove(handle);
}

void GpuPlatform::build() {
  state_->build();
}

FarDevice* GpuPlatform::peer(unsigned i) {
  if (PcieSystem* const system = pcie(); system != nullptr)
    return i < system->peers() ? &system->peer(i) : nullptr;
  return i == 0 ? state_->memory.peer() : nullptr;
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
  GpuMemories& memory = state_->memory;
  Exchange* const exchange = state_->exchange();
  if (exchange == nullptr) return memory.read(address, bytes, count);
  // As the rank has it whose GPU's memory it is; what lies beyond the links is the first one's.
  const_cast<GpuPlatform*>(this)->build();
  for (auto* to = static_cast<char*>(bytes); count != 0;) {
    const std::size_t part = std::min(memory.contiguous(address, count), kToldAtOnce);
    const auto gpu = memory.vidmem_at(address);
    const unsigned rank = gpu ? state_->system->rank_of(*gpu) : 0;
    std::string said;
    if (rank == exchange->rank()) {
      said.resize(part);
      memory.read(address, said.data(), part);
    }
    said = exchange->hear("what the host reads", rank, std::move(said));
    if (said.size() != part) throw ExchangeError("ranks read different memory");
    to = std::copy(said.begin(), said.end(), to);
    address += part;
    count -= part;
  }
}

void GpuPlatform::leave_in_l2(std::uint64_t address, std::uint64_t count, unsigned gpu) {
  build();
  const GpuConfig& c = state_->config;
  const std::uint64_t room =
      std::uint64_t{c.l2.slices} * c.l2.geometry.sets * c.l2.geometry.ways * kLineBytes;
  if (count > room) {
    address += count - room;
    count = room;
  }
  Netlist& hardware = state_->system->gpu(gpu);
  if (hardware.lacks_slices()) return;
  const std::uint64_t end = address + count;
  while (address < end) {
    const std::uint64_t part = state_->memory.contiguous(address, end - address);
    const std::optional<PhysicalAddress> first = physical_of(address, gpu);
    if (first && aperture_of(*first) == Aperture::vidmem) hardware.leave_in_l2(*first, part);
    address += part;
  }
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
  for (const GridLaunch& g : grids)
    if (runs(g.gpu)) distributors.push_back(&system->gpu(g.gpu).distributor());
  backend->engine().on_progress(progress_every, [this, distributors](Cycle) {
    std::uint64_t done = 0, total = 0;
    for (const WorkDistributor* d : distributors) {
      done += d->done();
      total += d->total();
    }
    if (exchange() != nullptr) {
      done = exchange()->sum("CTAs done", done);
      total = exchange()->sum("CTAs in all", total);
    }
    return progress(static_cast<double>(done) / static_cast<double>(total));
  });
  if (progress_at > backend->engine().now()) backend->engine().report_progress_at(progress_at);
}

void GpuPlatform::end_grids(std::optional<unsigned> gpu) {
  for (const GridLaunch& g : state_->under_way)
    if (state_->runs(g.gpu) && g.gpu == gpu.value_or(g.gpu)) state_->system->gpu(g.gpu).distributor().end();
}

LaunchResult GpuPlatform::launch(const std::vector<GridLaunch>& grids) {
  start(grids);
  return finish();
}

std::string GpuPlatform::known_where(unsigned gpu, std::string here) const {
  Exchange* const exchange = state_->exchange();
  if (exchange == nullptr) return here;
  const_cast<GpuPlatform*>(this)->build();
  return exchange->hear("what a grid has left", state_->system->rank_of(gpu), std::move(here));
}

bool GpuPlatform::running() const {
  const std::vector<GridLaunch>& grids = state_->under_way;
  const bool over =
      std::all_of(grids.begin(), grids.end(), [this](const GridLaunch& g) { return state_->over(g); });
  return state_->exchange() == nullptr ? !over : !state_->exchange()->all("grids over", over);
}

void GpuPlatform::start(const std::vector<GridLaunch>& grids) {
  State& s = *state_;
  WARPLINE_EXPECT(s.under_way.empty() || !s.options.jitter, "time is drawn anew when no grid runs");
  for (const GridLaunch& old : s.under_way)
    WARPLINE_EXPECT(
        std::none_of(grids.begin(), grids.end(), [&old](const GridLaunch& g) { return g.gpu == old.gpu; }),
        "grids that were started on a GPU are finished before the next");
  std::map<unsigned, unsigned> before;  // grids, by GPU
  for (const GridLaunch& g : grids) {
    WARPLINE_EXPECT(g.gpu < s.config.gpus && refusals(g.kernel->info(), g.gpu).empty(),
                    "a kernel is launched on a GPU that can run it");
    static_cast<void>(s.place_code(g.kernel->info(), g.gpu));
    const unsigned number = before[g.gpu]++;
    WARPLINE_EXPECT((number != 0) == g.dependent,
                    "of the grids on a GPU, all but the first depend on another");
    if (number == 0)
      s.prepare(g.kernel->info(), g.gpu, g.invalidate_l1, s.most_local(grids, g.gpu));
    else
      s.lay_constants(g.kernel->info(), g.gpu, number);
  }
  if (s.options.jitter) {
    if (!s.jitter) {
      // Hops that SystemC binds are bound when its world starts, and not before: this starts it.
      s.set_loose(s.options.loose);
      s.jitter.emplace(s.backend->engine());
    }
    const std::uint64_t seed = *s.options.jitter + s.launches++;
    const bool idle = s.backend->engine().quiescent() ||
                      s.backend->run_until(s.options.max_cycles) == RunOutcome::quiescent;
    if (idle) s.jitter->draw(seed);
  }
  for (unsigned gpu = 0; gpu < s.config.gpus; ++gpu)
    for (const auto& [first, end] : s.memory.take_written(gpu))
      s.backend->host_wrote(gpu, first, end - first);
  s.backend->catch_up();
  for (const GridLaunch& g : grids) s.gpus[g.gpu].started = s.backend->engine().now();
  for (const auto& a : s.attached) a->grids_start(grids);
  s.share_storage(grids);
  std::map<unsigned, unsigned> numbers;  // of grids, by GPU
  s.ask_sources([&] {
    for (const GridLaunch& g : grids) s.start(g, numbers[g.gpu]++);
  });
  s.report_progress(grids);
  s.under_way.insert(s.under_way.end(), grids.begin(), grids.end());
  s.backend->wake();
}

/// The end of a grid is a release at system scope: the host sees what the grid wrote. Where another GPU may
/// write before this one's next grid, nobody keeps copies until then.
void GpuPlatform::State::release_to_system(const std::vector<GridLaunch>& grids) {
  const unsigned what = maintenance::kDrain | maintenance::kWriteBackSysmem |
                        (config.gpus > 1 ? maintenance::kDiscardSysmem : 0U);
  for (const GridLaunch& g : grids)
    if (runs(g.gpu)) system->gpu(g.gpu).clusters()[0].sm->maintain(static_cast<std::uint8_t>(what));
}

/// `were_over`: a host may have gone on after the grids.
void GpuPlatform::State::tell_ended(const std::vector<GridLaunch>& grids, bool were_over,
                                    RunOutcome outcome) {
  std::vector<GridRun> runs;
  for (const GridLaunch& g : grids) {
    const Cycle last = were_over ? system->gpu(g.gpu).distributor().last_done() : backend->engine().now();
    runs.push_back({g, gpus[g.gpu].started + 1, last});
  }
  for (const auto& a : attached) {
    if (outcome == RunOutcome::quiescent) a->at_rest();
    a->grids_ended(runs, outcome);
  }
}

LaunchResult GpuPlatform::finish() {
  State& s = *state_;
  const bool were_over = !running();
  // Until this ends, however it does, nobody else may start any.
  struct UnderWay {
    ~UnderWay() { grids.clear(); }
    std::vector<GridLaunch>& grids;
  };
  const UnderWay under_way{s.under_way};
  const std::vector<GridLaunch> grids = s.under_way;
  LaunchResult result;
  // L2's copies of system memory are old where another GPU writes it, until they are evicted.
  const bool alone = s.pcie == nullptr && s.backend->is_alone() && !s.options.in_process &&
                     (s.config.gpus == 1 || !s.memory.uses_links());
  s.ask_sources([&] {
    result.outcome = alone ? run_watched(*s.backend, *s.system, s.options.max_cycles, result.standstill)
                           : s.backend->run_until(s.options.max_cycles);
  });
  if (result.outcome == RunOutcome::quiescent && s.memory.uses_links()) {
    for (const auto& a : s.attached) a->at_rest();
    s.release_to_system(grids);
    result.outcome = s.backend->run_until(s.options.max_cycles);
  }
  for (const GridLaunch& g : grids)
    result.cycles = std::max(result.cycles, s.backend->engine().now() - s.gpus[g.gpu].started);
  s.tell_ended(grids, were_over, result.outcome);
  if (result.outcome != RunOutcome::quiescent && !result.standstill.repeats)
    result.standstill = s.backend->standstill();
  return result;
}

bool GpuPlatform::can_finish(unsigned gpu) {
  State& s = *state_;
  // What was started in this cycle shows nothing of it yet.
  if (now() == s.gpus[gpu].started) return false;
  for (const GridLaunch& g : s.under_way)
    if (g.gpu == gpu && !s.over(g)) return false;
  Netlist& netlist = s.system->gpu(gpu);
  if (netlist.distributor().busy()) return false;
  // Loads of warps that were ended come back to caches that the next grid begins with.
  return std::none_of(netlist.clusters().begin(), netlist.clusters().end(), [](const auto& c) {
    return c.sm->busy() || c.l1_lg->busy() || c.constant->busy() || c.instruction->busy() ||
           (c.texture != nullptr && c.texture->busy());
  });
}

std::optional<LaunchResult> GpuPlatform::try_finish(unsigned gpu) {
  State& s = *state_;
  const auto its = std::stable_partition(s.under_way.begin(), s.under_way.end(),
                                         [gpu](const GridLaunch& g) { return g.gpu != gpu; });
  WARPLINE_EXPECT(its != s.under_way.end(), "what was started is finished");
  if (!can_finish(gpu)) return std::nullopt;
  State::Gpu& driver = s.gpus[gpu];
  const std::vector<GridLaunch> grids(its, s.under_way.end());
  if (!std::exchange(driver.releasing, true)) {
    s.release_to_system(grids);
    s.backend->wake();
    return std::nullopt;
  }
  driver.releasing = false;
  LaunchResult result;
  result.cycles = now() - driver.started;
  s.under_way.erase(its, s.under_way.end());
  s.tell_ended(grids, true, result.outcome);
  return result;
}

bool GpuPlatform::is_loose() const {
  return state_->options.loose;
}

void GpuPlatform::set_loose(bool loose) {
  state_->options.loose = loose;
  if (state_->system != nullptr) state_->set_loose(loose);
}

void GpuPlatform::set_functional(bool functional) {
  state_->options.functional = functional;
  if (state_->system != nullptr) state_->set_functional(functional);
}

Diagnostics GpuPlatform::save(std::ostream& out, std::string_view note) {
  State& s = *state_;
  if (Diagnostics faults = s.unfit_for_checkpoints(); !faults.empty()) return faults;
  return save_checkpoint(out, note, s.contents());
}

Diagnostics GpuPlatform::restore(const Checkpoint& checkpoint) {
  State& s = *state_;
  if (Diagnostics faults = s.unfit_for_checkpoints(); !faults.empty()) return faults;
  if (Diagnostics faults = restore_checkpoint(checkpoint.file(), s.contents()); !faults.empty())
    return faults;
  s.backend->time_was_set();
  return {};
}

Diagnostics GpuPlatform::reset() {
  State& s = *state_;
  if (s.exchange() != nullptr)
    return {Diagnostic::about("reset", "the platform is run by several ranks, of which each knows its part")};
  s.build();
  s.backend->bind();
  Engine& engine = s.backend->engine();
  engine.on_progress(kNever - engine.now(), [](Cycle) { return true; });
  for (unsigned gpu = 0; gpu < s.config.gpus; ++gpu) {
    Netlist& netlist = s.system->gpu(gpu);
    netlist.distributor().cut_short();
    for (Netlist::SmCluster& c : netlist.clusters())
      if (c.sm->busy() || netlist.distributor().busy()) c.sm->end_kernel();
  }
  s.backend->wake();
  const RunOutcome outcome = s.backend->run_until(kNever);
  std::vector<GridRun> runs;
  for (const GridLaunch& g : s.under_way) runs.push_back({g, s.gpus[g.gpu].started + 1, engine.now()});
  if (!runs.empty())
    for (const auto& a : s.attached) a->grids_ended(runs, RunOutcome::stopped);
  s.under_way.clear();
  for (State::Gpu& g : s.gpus) g.releasing = false;
  if (outcome != RunOutcome::quiescent) {
    const std::vector<Wait> waits = s.backend->standstill().waits;
    return {Diagnostic::about(
        "reset", "what is in flight does not come back" +
                     (waits.empty() ? "" : ": " + waits[0].who + " waits for " + waits[0].what))};
  }
  engine.restart();
  // Credits come back meanwhile: every channel is as free as a new one.
  Cycle free = engine.now() + kLaunchCredits;
  s.system->for_each_hop([&free](const Hop& h) {
    free = std::max({free, h.request_in.free_from(), h.response_in.free_from()});
  });
  engine.pass_to(free);
  return {};
}

void GpuPlatform::begin_run(Cycle max_cycles) {
  build();
  state_->options.max_cycles = max_cycles < kNever - now() ? now() + max_cycles : kNever;
  for (unsigned gpu = 0; gpu < config().gpus; ++gpu) forget_faults(gpu);
}

void GpuPlatform::forget_faults(unsigned gpu) {
  for (Netlist::SmCluster& c : system().gpu(gpu).clusters()) c.sm->forget_faults();
}

void GpuPlatform::on_progress(Cycle cycles, std::function<bool(double)> callback) {
  state_->progress_every = cycles;
  state_->progress = std::move(callback);
}

void GpuPlatform::report_progress_at(Cycle cycle) {
  state_->progress_at = cycle;
  state_->backend->engine().report_progress_at(cycle);
}

void GpuPlatform::keep(std::unique_ptr<Attachment> attachment) {
  WARPLINE_EXPECT(state_->exchange() == nullptr, "of what ranks run together, no one of them sees all");
  if (attachment->needs_order()) state_->backend->engine().keep_to_one_thread();
  state_->attached.push_back(std::move(attachment));
}

std::string GpuPlatform::why_one_thread() {
  State& s = *state_;
  if (s.options.threads == 1) return {};
  if (s.options.loose) return "requests are not timed";
  if (s.options.backend != nullptr) return "hops are not joined directly";
  if (s.options.tick_mode != TickMode::lazy) return "blocks are ticked when nothing is due, too";
  if (std::any_of(s.attached.begin(), s.attached.end(), [](const auto& a) { return a->needs_order(); }))
    return "what is watched is watched in the order in which it happens";
  if (s.config.has_root_complex()) return "devices and the host see packets before they have arrived";
  s.build();
  Engine& engine = s.backend->engine();
  if (engine.runs_side_by_side()) return {};
  if (engine.clusters() < std::size_t{Engine::kLeastPerThread} * s.options.threads)
    return "the hardware falls into " + std::to_string(engine.clusters()) + " parts, which is fewer than " +
           std::to_string(Engine::kLeastPerThread) + " for each thread";
  return "a hop takes less than " + std::to_string(Engine::kShortestWindow) +
         " cycles, or its credits are back sooner";
}

void GpuPlatform::host_did(const std::string& what, const std::string& where, Cycle first, Cycle last) {
  for (const auto& a : state_->attached) a->host_did(what, where, first, last);
}

System& GpuPlatform::system() {
  WARPLINE_EXPECT(state_->system != nullptr, "the platform is built");
  return *state_->system;
}

GpuMemories& GpuPlatform::memory() {
  return state_->memory;
}

NetlistBackend& GpuPlatform::backend() {
  return *state_->backend;
}

bool GpuPlatform::has_data() const {
  return !state_->options.tags_only;
}

Standstill GpuPlatform::standstill() const {
  return state_->system == nullptr ? Standstill{} : state_->backend->standstill();
}

const GpuConfig& GpuPlatform::config() const {
  return state_->config;
}

Cycle GpuPlatform::now() const {
  return state_->backend->engine().now();
}

unsigned GpuPlatform::fastest_mhz() const {
  return state_->config.clocks.fastest();
}

double GpuPlatform::time_ns(Cycle cycles) const {
  return static_cast<double>(cycles) * 1000.0 / fastest_mhz();
}

std::vector<FaultRecord> GpuPlatform::faults(std::optional<unsigned> of) const {
  std::vector<FaultRecord> out;
  if (state_->system == nullptr) return out;
  for (unsigned gpu = of.value_or(0); gpu < (of ? *of + 1 : state_->config.gpus); ++gpu)
    for (unsigned i = 0; i < state_->config.sms; ++i)
      for (const FaultReport& f : state_->system->gpu(gpu).clusters()[i].sm->faults())
        out.push_back(fault_record(f, gpu, i, state_->memory, state_->images));
  if (Exchange* const exchange = state_->exchange(); exchange != nullptr)
    out = faults_of_ranks(*exchange, std::move(out));
  std::stable_sort(out.begin(), out.end(),
                   [](const FaultRecord& a, const FaultRecord& b) { return a.cycle < b.cycle; });
  return out;
}

std::optional<FaultRecord> GpuPlatform::unmapped_control() const {
  if (state_->system == nullptr) return std::nullopt;
  std::vector<FaultRecord> first;
  for (unsigned gpu = 0; gpu < state_->config.gpus && first.empty(); ++gpu)
    for (unsigned i = 0; i < state_->config.sms && first.empty(); ++i)
      if (const auto& f = state_->system->gpu(gpu).clusters()[i].sm->unmapped_control())
        first.push_back(fault_record(*f, gpu, i, state_->memory, state_->images));
  if (Exchange* const exchange = state_->exchange(); exchange != nullptr)
    first = faults_of_ranks(*exchange, std::move(first));
  return first.empty() ? std::nullopt : std::optional<FaultRecord>(first.front());
}

void GpuPlatform::visit(CounterVisitor& visitor) const {
  if (state_->system == nullptr) return;
  Exchange* const exchange = state_->exchange();
  if (exchange == nullptr)
    state_->system->visit(visitor);
  else
    visit_all_ranks(*exchange, state_->backend->engine(), *state_->system, visitor);
  if (state_->pcie != nullptr) state_->pcie->visit(visitor);
  const std::vector<std::string>& buffers = state_->memory.buffers();
  std::vector<std::uint64_t> regions;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const RegionCounters c = state_->system->region(i + 1);
    regions.insert(regions.end(), {c.sector_accesses, c.sector_hits});
  }
  // Those of a slice that another rank runs have counted nothing here.
  if (exchange != nullptr) regions = sum_of_ranks(*exchange, std::move(regions));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::string block = "buffer." + buffers[i] + ".l2";
    if (!visitor.wants(block)) continue;
    visitor.counter(block, "sector_accesses", regions[2 * i], "sectors",
                    "look-ups of this buffer's lines in L2");
    visitor.counter(block, "sector_hits", regions[2 * i + 1], "sectors", "of those, found valid");
  }
}

std::vector<std::string> GpuPlatform::unreconciled() const {
  if (state_->system == nullptr) return {};
  Exchange* const exchange = state_->exchange();
  return exchange == nullptr ? state_->system->unreconciled()
                             : unreconciled_of_ranks(*exchange, *state_->system);
}

}  // namespace warpline
