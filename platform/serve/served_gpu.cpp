#include "platform/serve/served_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/launch/device_memory.h"
#include "platform/launch/module_memory.h"
#include "platform/machine/cache_registers.h"
#include "platform/machine/gpu_memories.h"
#include "platform/machine/netlist_backend.h"
#include "platform/machine/pcie_system.h"
#include "platform/machine/system.h"
#include "platform/programs/ptx/module.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"
#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sm/fault.h"
#include "rtl_models/sm/kernel.h"

namespace warpline {
namespace {

using namespace regs::gpu;

/// Of video memory, what kernels have for themselves.
constexpr std::uint64_t kPartForKernels = 8;
/// Cycles between looks for faults, by which a kernel ends.
constexpr Cycle kBetweenLooks = 1024;
/// Threads of a block, and extents of a grid (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
constexpr std::uint64_t kMostThreadsOfBlock = 1024;
constexpr std::uint64_t kMostGridX = (std::uint64_t{1} << 31U) - 1, kMostGridYz = 65535;
constexpr std::uint64_t kMostBlockZ = 64;

/// Where software's part of video memory ends.
std::uint64_t end_of_software(std::uint64_t vidmem_bytes) {
  return align_up(vidmem_bytes - vidmem_bytes / kPartForKernels, std::uint64_t{4096});
}

std::string text_of(const Diagnostics& faults) {
  std::string out;
  for (const Diagnostic& fault : faults) out += (out.empty() ? "" : "\n") + fault.text();
  return out;
}

std::string text_of(const FaultRecord& fault) {
  std::string out = fault.kind;
  if (fault.address) out += " " + hexadecimal(*fault.address);
  for (const std::string& more : {access_text(fault), distance_text(fault), fault.where})
    if (!more.empty()) out += ", " + more;
  return out + fmt::format(", thread ({}, {}, {}) of block ({}, {}, {}), SM {}, cycle {}", fault.thread.x,
                           fault.thread.y, fault.thread.z, fault.cta.x, fault.cta.y, fault.cta.z, fault.sm,
                           fault.cycle);
}

FaultCode code_of(const FaultRecord& fault) {
  if (fault.kind == name_of(FaultKind::misaligned)) return kFaultCodeMisaligned;
  if (fault.kind == name_of(FaultKind::unmapped)) return kFaultCodeUnmapped;
  return kFaultCodeOther;
}

}  // namespace

/// A LAUNCH structure.
struct ServedGpu::Descriptor {
  std::uint64_t program = 0, entry = 0, parameters = 0, message = 0;
  std::uint32_t program_bytes = 0, entry_bytes = 0, parameter_bytes = 0, message_bytes = 0, shared_bytes = 0;
  Dim3 grid, block;
};

/// Why nothing runs.
struct ServedGpu::Refusal {
  LaunchError error = kLaunchErrorNone;
  std::string text;
};

/// What is under way.
struct ServedGpu::Launch {
  std::unique_ptr<programs::Module> module;
  std::unique_ptr<Kernel> kernel;
  std::vector<std::uint64_t> variables, windows;  ///< addresses of what is allocated and mapped for it
  std::uint64_t message = 0;                      ///< offset in video memory
  std::uint64_t message_bytes = 0;                ///< 0: nobody wants it
  std::uint64_t power_ons = 0;                    ///< of the registers, before it
  Cycle deadline = kNever;                        ///< when it has run for too long
  bool aborted = false;
  bool late = false;  ///< it was
  bool cut = false;   ///< it was told to end
};

std::string ServedGpu::problem_of(const GpuConfig& config) {
  constexpr std::uint64_t kConstants = std::uint64_t{ConstantBanks::kBanks} * ConstantBanks::kBankBytes;
  if (end_of_software(config.vidmem_bytes) <= kConstants)
    return fmt::format("vidmem_bytes: {} of constant banks and an eighth for kernels leave software nothing",
                       counted(kConstants, "byte"));
  if (config.pcie.bar_bytes < kConstants + kLaunchBytes)
    return fmt::format(
        "pcie.bar_bytes: software's part of video memory begins at byte {}, which is to lie in the BAR",
        kConstants);
  return {};
}

ServedGpu::ServedGpu(GpuPlatform& platform, unsigned number) : platform_(platform), number_(number) {
  platform_.build();
  const std::uint64_t all = platform_.config().vidmem_bytes;
  const std::uint64_t free = platform_.free_bytes(number_);
  first_ = all - free;
  end_ = end_of_software(all);
  WARPLINE_EXPECT(problem_of(platform_.config()).empty(), "software has a part of video memory");
  const std::uint64_t address = platform_.allocate("", end_ - first_, Aperture::vidmem, number_);
  platform_.name_memory(address, "video memory");
  registers().describe(
      {platform_.config().sms, platform_.fastest_mhz(), all, first_, end_, address - first_});
}

ServedGpu::~ServedGpu() = default;

unsigned ServedGpu::port() const {
  return platform_.pcie()->port_of_gpu(number_);
}

PcieLink& ServedGpu::link() {
  return platform_.system().gpu(number_).link();
}

GpuRegisters& ServedGpu::registers() {
  return *link().function()->registers();
}

bool ServedGpu::has_launch() {
  return launch_ != nullptr || registers().has_launch();
}

Cycle ServedGpu::deadline() const {
  return launch_ == nullptr || launch_->cut ? kNever : launch_->deadline;
}

bool ServedGpu::is_due(Act act, Cycle asked) {
  const Engine& engine = platform_.backend().engine();
  if ((launch_ == nullptr) != (act == Act::begin)) return false;
  switch (act) {
    case Act::begin:
      // Loosely timed, accesses are ahead of what is scheduled.
      return registers().has_launch() && link().inbound()->is_launch_in_order() && asked >= engine.now() &&
             engine.next_tick() > asked;
    case Act::abort: return is_heard() && registers().has_abort();
    case Act::cut:
      return !launch_->cut &&
             (!is_heard() || asked >= launch_->deadline || !platform_.faults(number_).empty());
    case Act::finish: return platform_.can_finish(number_);
  }
  return false;
}

std::optional<ServedGpu::Due> ServedGpu::next_act(Cycle asked) {
  if (launch_ == nullptr) {
    if (!registers().has_launch()) {
      rung_.reset();
      return std::nullopt;
    }
    // Loosely timed, software that looks again and again stays ahead of what other kernels do.
    if (!rung_) rung_ = asked;
    const Cycle from = std::max(*rung_, platform_.backend().engine().now());
    if (is_due(Act::begin, from)) return Due{Act::begin, from};
    return std::nullopt;
  }
  if (is_due(Act::abort, asked)) return Due{Act::abort, asked};
  // To look for faults takes long.
  const bool may_be_cut = !is_heard() || asked >= launch_->deadline || looks_for_faults();
  if (may_be_cut && is_due(Act::cut, asked)) return Due{Act::cut, asked};
  if (is_due(Act::finish, asked)) return Due{Act::finish, asked};
  return std::nullopt;
}

void ServedGpu::act(Act act, Cycle asked) {
  Engine& engine = platform_.backend().engine();
  switch (act) {
    case Act::begin:
      rung_.reset();
      engine.pass_to(asked);
      return begin(*registers().take_launch());
    case Act::abort: launch_->aborted = registers().take_abort(); return cut();
    case Act::cut:
      launch_->late = asked >= launch_->deadline;
      // Nothing may have moved for long.
      if (launch_->late && asked > engine.now() && engine.next_tick() > asked) engine.pass_to(asked);
      return cut();
    case Act::finish:
      if (const auto result = platform_.try_finish(number_)) end(result->cycles);
  }
}

/// Whether anybody hears of what becomes of the launch: its function was not reset since.
bool ServedGpu::is_heard() {
  return registers().power_ons() == launch_->power_ons;
}

/// Ends the grid where it is.
void ServedGpu::cut() {
  if (!std::exchange(launch_->cut, true)) platform_.end_grids(number_);
}

/// What a thread may not do ends the kernel, even if others go on, or wait, for ever: whether it is time to
/// look.
bool ServedGpu::looks_for_faults() {
  const bool stands = platform_.backend().engine().next_tick() == kNever;
  if (launch_->cut || (!stands && platform_.now() - looked_ < kBetweenLooks)) return false;
  looked_ = platform_.now();
  return true;
}

void ServedGpu::begin(std::uint64_t descriptor) {
  launch_ = std::make_unique<Launch>();
  launch_->power_ons = registers().power_ons();
  try {
    prepare(descriptor, *launch_);
  } catch (const Refusal& refusal) {
    GpuLaunchEnd end;
    end.state = kStateRefused;
    end.error = refusal.error;
    return finish(end, refusal.text);
  }
  platform_.forget_faults(number_);
  looked_ = platform_.now();
  if (const std::uint64_t limit = platform_.config().pcie.launch_limit_us; limit != 0)
    launch_->deadline = platform_.now() + limit * platform_.fastest_mhz();
  platform_.start({GridLaunch{launch_->kernel.get(), number_, true}});
}

void ServedGpu::check_range(std::uint64_t offset, std::uint64_t bytes, const char* what) const {
  if (offset >= first_ && offset <= end_ && bytes <= end_ - offset) return;
  throw Refusal{kLaunchErrorBadRange,
                fmt::format("{}: {} from {} on do not lie between MEMORY_FIRST and MEMORY_END", what,
                            counted(bytes, "byte"), hexadecimal(offset))};
}

std::string ServedGpu::text_at(std::uint64_t offset, std::uint64_t bytes) const {
  const auto* const from = reinterpret_cast<const char*>(platform_.memory().vidmem(number_).at(offset));
  return {from, strnlen(from, bytes)};
}

void ServedGpu::prepare(std::uint64_t descriptor, Launch& launch) {
  if (descriptor % 8 != 0 || descriptor < first_ || descriptor > end_ || end_ - descriptor < kLaunchBytes)
    throw Refusal{kLaunchErrorBadDescriptor, {}};
  const std::uint8_t* const at = platform_.memory().vidmem(number_).at(descriptor);
  const auto word = [at](unsigned offset) { return static_cast<std::uint32_t>(number_at(at + offset, 4)); };
  const auto wide = [at](unsigned offset) { return number_at(at + offset, 8); };
  // Where the text goes first, so that what else is wrong can be told.
  if (word(kLaunchMessageLength) != 0)
    check_range(wide(kLaunchMessage), word(kLaunchMessageLength), "MESSAGE");
  launch.message = wide(kLaunchMessage);
  launch.message_bytes = std::min(word(kLaunchMessageLength), kMessageLimit);
  if (word(kLaunchReserved) != 0) throw Refusal{kLaunchErrorBadDescriptor, "RESERVED is not 0"};
  Descriptor d;
  d.program = wide(kLaunchProgram);
  d.entry = wide(kLaunchEntry);
  d.parameters = wide(kLaunchParameters);
  d.program_bytes = word(kLaunchProgramLength);
  d.entry_bytes = word(kLaunchEntryLength);
  d.parameter_bytes = word(kLaunchParameterLength);
  d.shared_bytes = word(kLaunchSharedLength);
  d.grid = {word(kLaunchGridX), word(kLaunchGridY), word(kLaunchGridZ)};
  d.block = {word(kLaunchBlockX), word(kLaunchBlockY), word(kLaunchBlockZ)};
  check_range(d.program, d.program_bytes, "PROGRAM");
  check_range(d.entry, d.entry_bytes, "ENTRY");
  if (d.parameter_bytes != 0) check_range(d.parameters, d.parameter_bytes, "PARAMETERS");
  if (d.program_bytes > kProgramLimit)
    throw Refusal{kLaunchErrorNoResources, fmt::format("PROGRAM_LENGTH is {}; a program has up to {}",
                                                       d.program_bytes, counted(kProgramLimit, "byte"))};
  const Dim3 &grid = d.grid, &block = d.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > kMostGridX || grid.y > kMostGridYz ||
      grid.z > kMostGridYz)
    throw Refusal{kLaunchErrorBadShape,
                  fmt::format("a grid of {} x {} x {} blocks: 1 to {} x 1 to {} x 1 to {}", grid.x, grid.y,
                              grid.z, kMostGridX, kMostGridYz, kMostGridYz)};
  if (block.x > kMostThreadsOfBlock || block.y > kMostThreadsOfBlock || block.z > kMostBlockZ ||
      block.count() == 0 || block.count() > kMostThreadsOfBlock)
    throw Refusal{kLaunchErrorBadShape,
                  fmt::format("a block of {} x {} x {} threads: 1 to {} in all, z up to {}", block.x, block.y,
                              block.z, kMostThreadsOfBlock, kMostBlockZ)};
  load(d, launch);
  open_windows(launch);
}

void ServedGpu::load(const Descriptor& what, Launch& launch) {
  const std::string program = text_at(what.program, what.program_bytes);
  auto parsed = ptx::parse(program, "PROGRAM");
  if (!parsed.ok())
    throw Refusal{ptx::kernels_that_run(program, "PROGRAM").malformed ? kLaunchErrorBadProgram
                                                                      : kLaunchErrorUnsupported,
                  text_of(parsed.faults())};
  launch.module = std::move(parsed.value());
  programs::Module& module = *launch.module;
  const std::string name = text_at(what.entry, what.entry_bytes);
  const auto& entries = module.entries();
  const auto entry =
      std::find_if(entries.begin(), entries.end(), [&name](const auto& e) { return e.name == name; });
  if (entry == entries.end()) {
    std::vector<std::string> names;
    for (const programs::Entry& e : entries) names.push_back(e.name);
    throw Refusal{kLaunchErrorNoEntry,
                  "there is no kernel \"" + name + "\" in the module, which has " + joined(names)};
  }
  if (!entry->refused.empty()) throw Refusal{kLaunchErrorUnsupported, text_of(entry->refused)};
  if (entry->needs_cluster || entry->blocks_are_clusters)
    throw Refusal{kLaunchErrorUnsupported, "the kernel wants a launch that says how large its clusters are"};
  if (what.parameter_bytes != entry->parameter_bytes)
    throw Refusal{kLaunchErrorBadParameters,
                  fmt::format("the parameters of \"{}\" have {}, not {}", name,
                              counted(entry->parameter_bytes, "byte"), what.parameter_bytes)};
  if (what.shared_bytes > platform_.config().sm.shared_bytes)
    throw Refusal{kLaunchErrorNoResources,
                  fmt::format("a CTA uses {} bytes of shared memory; an SM has {}", what.shared_bytes,
                              platform_.config().sm.shared_bytes)};
  std::uint64_t constants = 0;
  std::vector<std::pair<const programs::Variable*, std::uint64_t>> placed;
  for (const programs::Variable& v : module.variables()) {
    if (!v.refused.empty()) continue;
    if (is_shared_by_modules(v.name))
      throw Refusal{kLaunchErrorUnsupported,
                    "the kernel calls the library of printf, malloc and launches from the device"};
    const bool constant = v.space == Space::constant;
    const GlobalPlace place =
        constant ? GlobalPlace{place_constant(v, constants), 0} : place_global(v, platform_, number_);
    if (place.address == 0)
      throw Refusal{kLaunchErrorNoResources, fmt::format("variable \"{}\" of {} does not fit", v.name,
                                                         counted(v.initial.size(), "byte"))};
    module.place(v.name, place.address);
    placed.emplace_back(&v, place.address);
    if (constant) continue;
    platform_.name_memory(place.memory, "variable " + v.name);
    launch.variables.push_back(place.memory);
  }
  // What they begin with may be where others lie.
  for (const auto& [v, address] : placed)
    fill_variable(*v, address, module.initial_bytes(v->name), platform_, number_);
  const std::uint8_t* const parameters = platform_.memory().vidmem(number_).at(what.parameters);
  try {
    launch.kernel = module.make_kernel(name, what.grid, what.block, what.shared_bytes,
                                       {parameters, parameters + what.parameter_bytes});
  } catch (const InputError& error) {
    throw Refusal{kLaunchErrorBadShape, error.what()};
  }
  if (const auto refusals = platform_.refusals(launch.kernel->info(), number_); !refusals.empty())
    throw Refusal{kLaunchErrorNoResources, joined(refusals, "\n")};
}

void ServedGpu::open_windows(Launch& launch) {
  const std::vector<GpuRegisters::Window> windows = registers().windows();
  const auto refuse = [](const GpuRegisters::Window& w, const std::string& what) {
    throw Refusal{kLaunchErrorBadWindow, fmt::format("window {} {}", w.number, what)};
  };
  for (const GpuRegisters::Window& w : windows) {
    if ((w.bus | w.address | w.bytes) % kWindowAlignment != 0)
      refuse(w, fmt::format("is not made of multiples of {} bytes", kWindowAlignment));
    if (w.bytes == 0) refuse(w, "is empty");
    if (w.address < kWindowFirst || w.address > kWindowEnd || w.bytes > kWindowEnd - w.address)
      refuse(w, fmt::format("does not lie between {} and {}", hexadecimal(kWindowFirst),
                            hexadecimal(kWindowEnd)));
    constexpr std::uint64_t kBusEnd = std::uint64_t{1} << 56U;
    if (w.bus >= kBusEnd || w.bytes > kBusEnd - w.bus) refuse(w, "reaches beyond the addresses of the bus");
    for (const GpuRegisters::Window& other : windows)
      if (other.number < w.number && other.address < w.address + w.bytes &&
          w.address < other.address + other.bytes)
        refuse(w, fmt::format("overlaps window {}", other.number));
  }
  for (const GpuRegisters::Window& w : windows) {
    platform_.map_bus_at(w.address, w.bytes, w.bus, number_, w.prefetchable);
    // Several GPUs may have theirs at one address.
    platform_.name_memory(w.address, "a window");
    launch.windows.push_back(w.address);
  }
}

/// The grid has ended, and what it wrote is where all see it.
void ServedGpu::end(Cycle cycles) {
  GpuLaunchEnd end;
  end.cycles = cycles;
  std::string text;
  const std::vector<FaultRecord> faults = platform_.faults(number_);
  if (!faults.empty()) {
    const FaultRecord& first = faults.front();
    end.state = kStateFaulted;
    end.fault = code_of(first);
    end.fault_address = first.address.value_or(0);
    end.fault_sm = first.sm;
    text = text_of(first);
  } else if (launch_->late) {
    end.state = kStateFaulted;
    end.fault = kFaultCodeTimeout;
    text = fmt::format("the kernel has run for longer than {} microseconds (pcie.launch_limit_us)",
                       platform_.config().pcie.launch_limit_us);
  } else if (launch_->aborted) {
    end.state = kStateAborted;
  }
  finish(end, text);
}

void ServedGpu::finish(const GpuLaunchEnd& end, const std::string& text) {
  if (is_heard()) {
    if (launch_->message_bytes != 0) {
      const std::size_t bytes = std::min<std::size_t>(text.size(), launch_->message_bytes - 1);
      std::uint8_t* const to = platform_.memory().vidmem(number_).at(launch_->message);
      std::memcpy(to, text.data(), bytes);
      to[bytes] = 0;
    }
    registers().ended(end);
    link().wake(platform_.now() + 1);
    platform_.backend().wake();
  }
  release();
}

void ServedGpu::release() {
  for (const std::uint64_t address : launch_->windows) platform_.unmap(address, number_);
  for (const std::uint64_t address : launch_->variables) platform_.free(address);
  // The next program lies where this one did.
  platform_.memory().forget_code(number_);
  platform_.registers(number_).invalidate(CacheRegisters::kInstruction);
  launch_.reset();
}

void ServedGpu::visit(CounterVisitor& visitor) const {
  platform_.system().visit(visitor);
}

bool ServedGpu::settle() {
  rung_.reset();
  if (launch_ != nullptr) {
    cut();
    if (!platform_.try_finish(number_)) return false;
    release();
  }
  if (link().inbound()->busy()) return false;
  platform_.memory().vidmem(number_).clear();
  return true;
}

}  // namespace warpline
