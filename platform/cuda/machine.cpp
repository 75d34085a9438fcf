#include "platform/cuda/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "platform/machine/gpu_memories.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sm/fault.h"

namespace warpline::cuda {
namespace {

/// Cycles after which a grid that runs lets calls have the platform that wait for it.
constexpr Cycle kPause = 20'000;
/// Of a cooperative grid: two words, of which its barrier is one.
constexpr std::uint64_t kWorkspaceBytes = 8;

RunOptions options() {
  RunOptions o;
  o.in_process = true;
  return o;
}

/// The error that CUDA makes of a fault (CUDA Driver API, "CUresult").
Status status_of(const FaultRecord& fault) {
  const auto is = [&fault](FaultKind kind) { return fault.kind == name_of(kind); };
  if (is(FaultKind::misaligned)) return Status::misaligned_address;
  if (is(FaultKind::not_global) || is(FaultKind::not_shared)) return Status::invalid_address_space;
  if (fault.address) return Status::illegal_address;
  return Status::launch_failure;
}

std::string text_of(const Dim3& d) {
  return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

std::string text_of(const FaultRecord& f) {
  std::string out = f.kind;
  if (const std::string access = access_text(f); !access.empty()) out += ", " + access;
  if (f.address) out += " at " + hexadecimal(*f.address);
  if (const std::string distance = distance_text(f); !distance.empty()) out += ", " + distance;
  return out + fmt::format(", by thread {} of block {}, {}", text_of(f.thread), text_of(f.cta), f.where);
}

/// Bytes from the first to the last of rows.
std::uint64_t extent(std::uint64_t width, std::uint64_t height, std::uint64_t pitch) {
  return width == 0 || height == 0 ? 0 : (height - 1) * pitch + width;
}

}  // namespace

Machine::Machine(const GpuConfig& config)
    : config_(config), platform_(config_, options()), schedule_(config.gpus, 2) {
  platform_.build();
  for (unsigned device = 0; device < config_.gpus; ++device) {
    legacy_.push_back(&add_stream(device, true, 0));
    schedule_.make_legacy(legacy_.back()->id);
  }
}

Machine::~Machine() {
  executor_.stop();
}

void Machine::tell(const std::string& line) {
  {
    const std::lock_guard lock(mutex_);
    if (!told_.insert(line).second) return;
  }
  std::fputs(("warpline: " + line + "\n").c_str(), stderr);
}

// ---- Memory

Status Machine::allocate(Allocation::Kind kind, std::uint64_t bytes, std::uint32_t flags, unsigned device,
                         std::uint64_t& address) {
  if (const Status s = fault(); s != Status::success) return s;
  address = 0;
  if (bytes == 0) return Status::success;
  {
    const Executor::Shared::Hold hold(platform_use_);
    switch (kind) {
      case Allocation::Kind::device: address = platform_.allocate("", bytes, Aperture::vidmem, device); break;
      case Allocation::Kind::managed:
        // One GPU's memory is as near as it gets, and of several all must reach it.
        address =
            platform_.allocate_shared(bytes, config_.gpus == 1 ? Aperture::vidmem : Aperture::sysmem, device);
        break;
      case Allocation::Kind::host:
        address = platform_.allocate_shared(bytes, Aperture::sysmem, device);
        break;
    }
  }
  if (address == 0) {
    tell(fmt::format(
        "out of memory: {} of {} are asked for; a GPU has {} (vidmem_bytes), the host {} (sysmem_bytes)",
        counted(bytes, "byte"), kind == Allocation::Kind::host ? "host memory" : "GPU memory",
        config_.vidmem_bytes, config_.sysmem_bytes));
    return Status::memory_allocation;
  }
  const std::lock_guard lock(mutex_);
  allocations_.add({address, bytes, kind, device, flags});
  return Status::success;
}

Status Machine::free(std::uint64_t address, std::initializer_list<Allocation::Kind> kinds) {
  if (address == 0) return fault();
  std::optional<Allocation> found;
  {
    const std::lock_guard lock(mutex_);
    const Allocation* const a = allocations_.find(address);
    if (a == nullptr || a->address != address ||
        std::find(kinds.begin(), kinds.end(), a->kind) == kinds.end())
      return Status::invalid_value;
    found = *a;
  }
  const Status waited = synchronize(found->device);
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  if (!allocations_.remove(address)) return Status::invalid_value;
  platform_.free(address);
  return waited;
}

void Machine::memory_info(unsigned device, std::uint64_t& free, std::uint64_t& total) {
  const Executor::Shared::Hold hold(platform_use_);
  free = platform_.free_bytes(device);
  total = config_.vidmem_bytes;
}

std::optional<Allocation> Machine::allocation_of(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const Allocation* const a = allocations_.find(address);
  return a == nullptr ? std::nullopt : std::optional(*a);
}

double Machine::copy_ns(CopyKind kind, std::uint64_t bytes) const {
  if (kind == CopyKind::host_to_host) return 0;
  if (kind == CopyKind::device_to_device) {
    // Every sector is read and written once.
    const double sectors_per_cycle = double(config_.dram.channels) / config_.dram.sector_cycles;
    return 2.0 * static_cast<double>(bytes) / kSectorBytes / sectors_per_cycle * 1000.0 / config_.clocks.dram;
  }
  const double packets =
      static_cast<double>((bytes + config_.pcie.max_payload - 1) / config_.pcie.max_payload);
  const double cycles =
      config_.pcie.latency +
      (static_cast<double>(bytes) + packets * config_.pcie.tlp_overhead) / config_.pcie.bytes_per_cycle;
  return cycles * 1000.0 / config_.clocks.link;
}

Status Machine::check_copy(const Copy& c, CopyKind& kind) {
  const std::lock_guard lock(mutex_);
  const Allocation* const to = allocations_.find(c.to);
  const Allocation* const from = allocations_.find(c.from);
  const auto is_device = [](const Allocation* a) {
    return a != nullptr && a->kind != Allocation::Kind::host;
  };
  const auto only_device = [](const Allocation* a) {
    return a != nullptr && a->kind == Allocation::Kind::device;
  };
  const std::uint64_t to_bytes = extent(c.width, c.height, c.to_pitch),
                      from_bytes = extent(c.width, c.height, c.from_pitch);
  if (to != nullptr && !allocations_.holds(c.to, to_bytes)) return Status::invalid_value;
  if (from != nullptr && !allocations_.holds(c.from, from_bytes)) return Status::invalid_value;
  const bool wants_to = c.kind == CopyKind::host_to_device || c.kind == CopyKind::device_to_device;
  const bool wants_from = c.kind == CopyKind::device_to_host || c.kind == CopyKind::device_to_device;
  if (c.kind != CopyKind::by_address &&
      ((wants_to && to == nullptr) || (!wants_to && only_device(to)) || (wants_from && from == nullptr) ||
       (!wants_from && only_device(from))))
    return Status::invalid_value;
  kind = is_device(to) ? (is_device(from) ? CopyKind::device_to_device : CopyKind::host_to_device)
                       : (is_device(from) ? CopyKind::device_to_host : CopyKind::host_to_host);
  return Status::success;
}

Status Machine::copy(const Copy& c, Stream& stream, bool asynchronous) {
  if (const Status s = fault(); s != Status::success) return s;
  if (c.width == 0 || c.height == 0) return Status::success;
  if (c.height > 1 && (c.width > c.to_pitch || c.width > c.from_pitch)) return Status::invalid_pitch_value;
  CopyKind kind{};
  if (const Status s = check_copy(c, kind); s != Status::success) return s;
  const bool all_ours = allocation_of(c.to) && allocation_of(c.from);
  const auto work = [this, c, kind] {
    const Executor::Shared::Hold hold(platform_use_);
    const auto place = [this](std::uint64_t address, std::uint64_t bytes, bool device, bool writes) {
      return device ? platform_.memory().bytes_at(address, bytes, writes)
                    : reinterpret_cast<std::uint8_t*>(address);
    };
    const bool to_device = kind == CopyKind::host_to_device || kind == CopyKind::device_to_device;
    const bool from_device = kind == CopyKind::device_to_host || kind == CopyKind::device_to_device;
    std::uint8_t* const to = place(c.to, extent(c.width, c.height, c.to_pitch), to_device, true);
    const std::uint8_t* const from =
        place(c.from, extent(c.width, c.height, c.from_pitch), from_device, false);
    for (std::uint64_t row = 0; row < c.height; ++row)
      std::memmove(to + row * c.to_pitch, from + row * c.from_pitch, c.width);
    Done done;
    done.engine = kind == CopyKind::host_to_device   ? Engine::copy_in
                  : kind == CopyKind::device_to_host ? Engine::copy_out
                                                     : Engine::none;
    const std::uint64_t bytes = c.width * c.height;
    done.duration_ns = copy_ns(kind, bytes);
    static constexpr const char* kNames[] = {"copy within the host", "copy to the GPU", "copy to the host",
                                             "copy within the GPU"};
    done.record = WorkRecord{kNames[static_cast<unsigned>(kind)], false, 0, {}, 0, bytes};
    return done;
  };
  const Executor::Ticket ticket = submit(stream, work);
  return asynchronous && all_ours ? Status::success : wait(ticket);
}

Status Machine::fill(std::uint64_t to, std::uint32_t value, unsigned element_bytes, std::uint64_t width,
                     std::uint64_t height, std::uint64_t pitch, Stream& stream, bool asynchronous) {
  if (const Status s = fault(); s != Status::success) return s;
  const std::uint64_t row_bytes = width * element_bytes;
  if (row_bytes == 0 || height == 0) return Status::success;
  if (height > 1 && row_bytes > pitch) return Status::invalid_pitch_value;
  if (to % element_bytes != 0 || pitch % element_bytes != 0) return Status::invalid_value;
  {
    const std::lock_guard lock(mutex_);
    if (!allocations_.holds(to, extent(row_bytes, height, pitch))) return Status::invalid_value;
  }
  const auto work = [=] {
    const Executor::Shared::Hold hold(platform_use_);
    std::uint8_t* const first = platform_.memory().bytes_at(to, extent(row_bytes, height, pitch), true);
    for (std::uint64_t row = 0; row < height; ++row) {
      std::uint8_t* const at = first + row * pitch;
      if (element_bytes == 1) {
        std::memset(at, static_cast<int>(value & 0xFFU), width);
      } else {
        for (std::uint64_t i = 0; i < width; ++i) std::memcpy(at + i * element_bytes, &value, element_bytes);
      }
    }
    Done done;
    done.duration_ns = copy_ns(CopyKind::device_to_device, row_bytes * height) / 2;
    done.record = WorkRecord{"fill", false, 0, {}, 0, row_bytes * height};
    return done;
  };
  const Executor::Ticket ticket = submit(stream, work);
  return asynchronous ? Status::success : wait(ticket);
}

// ---- Modules

Library& Machine::add_library(std::function<Result<std::vector<PtxText>>(unsigned)> texts) {
  const std::lock_guard lock(mutex_);
  libraries_.push_back(std::make_unique<Library>());
  libraries_.back()->texts = std::move(texts);
  return *libraries_.back();
}

void Machine::remove_library(Library& library) {
  for (unsigned device = 0; device < devices(); ++device) synchronize(device);
  const Executor::Shared::Hold hold(platform_use_);
  kernel_.reset();
  const std::lock_guard lock(mutex_);
  for (auto f = functions_.begin(); f != functions_.end();)
    f = f->second->library == &library ? functions_.erase(f) : std::next(f);
  for (const auto& [device, module] : library.on_device)
    for (const ModuleOnDevice::Variable& v : module->variables()) allocations_.remove(v.address);
  const auto is_it = [&library](const auto& l) { return l.get() == &library; };
  libraries_.erase(std::remove_if(libraries_.begin(), libraries_.end(), is_it), libraries_.end());
}

Function& Machine::add_function(Library& library, const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto function = std::make_unique<Function>();
  function->library = &library;
  function->name = name;
  Function& added = *function;
  functions_[&added] = std::move(function);
  return added;
}

bool Machine::is_function(const void* handle) {
  const std::lock_guard lock(mutex_);
  return functions_.count(handle) != 0;
}

Status Machine::module_on(Library& library, unsigned device, ModuleOnDevice*& module) {
  const Executor::Shared::Hold hold(platform_use_);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = library.on_device.find(device); found != library.on_device.end()) {
      module = found->second.get();
      return Status::success;
    }
    if (const auto failed = library.failed.find(device); failed != library.failed.end())
      return failed->second;
  }
  const auto fail = [&](const Diagnostics& faults, Status status) {
    for (const Diagnostic& d : faults) tell(d.text());
    const std::lock_guard lock(mutex_);
    library.failed[device] = status;
    return status;
  };
  const Result<std::vector<PtxText>> texts = library.texts(config_.compute_capability);
  if (!texts.ok()) return fail(texts.faults(), Status::no_kernel_image_for_device);
  Result<std::unique_ptr<ModuleOnDevice>> loaded =
      ModuleOnDevice::load(texts.value(), platform_, device, device_memory_, DeviceMemorySizes{});
  if (!loaded.ok()) return fail(loaded.faults(), Status::invalid_ptx);
  const std::lock_guard lock(mutex_);
  module = loaded.value().get();
  for (const ModuleOnDevice::Variable& v : module->variables())
    if (v.bytes != 0) allocations_.add({v.address, v.bytes, Allocation::Kind::device, device, 0});
  library.on_device[device] = std::move(loaded.value());
  return Status::success;
}

Status Machine::entry_of(Function& function, unsigned device, const programs::Entry*& entry) {
  ModuleOnDevice* module = nullptr;
  if (const Status s = module_on(*function.library, device, module); s != Status::success) return s;
  entry = module->entry(function.name);
  return entry == nullptr ? Status::invalid_device_function : Status::success;
}

Status Machine::variable_of(Library& library, const std::string& name, unsigned device,
                            ModuleOnDevice::Variable& variable) {
  ModuleOnDevice* module = nullptr;
  if (const Status s = module_on(library, device, module); s != Status::success) return s;
  const std::optional<ModuleOnDevice::Variable> found = module->variable(name);
  if (!found) return Status::invalid_symbol;
  variable = *found;
  return Status::success;
}

Status Machine::check_shape(const GridRequest& r, const programs::Entry& entry) const {
  constexpr std::uint64_t kMostX = 0x7FFFFFFF, kMostYz = 65535, kMostThreads = 1024, kMostBlockZ = 64;
  const auto count = [](const Dim3& d) { return std::uint64_t{d.x} * d.y * d.z; };
  if (count(r.grid) == 0 || count(r.block) == 0 || r.grid.x > kMostX || r.grid.y > kMostYz ||
      r.grid.z > kMostYz || r.block.z > kMostBlockZ || count(r.block) > kMostThreads)
    return Status::invalid_configuration;
  if (count(r.block) > entry.maximum_threads) return Status::launch_out_of_resources;
  if (entry.required_block && !(*entry.required_block == r.block)) return Status::invalid_configuration;
  const std::uint64_t shared = std::uint64_t{entry.static_shared_bytes} + r.shared_bytes;
  if (r.shared_bytes > r.function->most_dynamic_shared || shared > config_.sm.shared_bytes)
    return Status::invalid_value;
  return Status::success;
}

Status Machine::launch(const GridRequest& request, Stream& stream) {
  if (const Status s = fault(); s != Status::success) return s;
  const unsigned device = stream.device;
  ModuleOnDevice* module = nullptr;
  if (const Status s = module_on(*request.function->library, device, module); s != Status::success) return s;
  const programs::Entry* const entry = module->entry(request.function->name);
  if (entry == nullptr) return Status::invalid_device_function;
  if (!entry->refused.empty()) {
    for (const Diagnostic& d : entry->refused) tell(d.text());
    tell("kernel " + entry->name + " cannot be run");
    return Status::not_supported;
  }
  if (const Status s = check_shape(request, *entry); s != Status::success) return s;
  const auto parameters = request.parameters(*entry);
  if (request.cooperative || request.cluster.count() > 1) {
    // Whether all its blocks fit at once takes a kernel to say.
    const Executor::Shared::Hold hold(platform_use_);
    std::unique_ptr<Kernel> kernel;
    if (const Status s = make_kernel(*module, *entry, request, parameters, device, kernel);
        s != Status::success)
      return s;
  }
  const auto work = [this, module, entry, request, parameters, device] {
    return run_grid(*module, *entry, request, parameters, device);
  };
  submit(stream, work);
  return Status::success;
}

Status Machine::make_kernel(ModuleOnDevice& module, const programs::Entry& entry, const GridRequest& r,
                            const std::vector<std::uint8_t>& parameters, unsigned device,
                            std::unique_ptr<Kernel>& kernel) {
  ClusterShape cluster;
  cluster.size = r.cluster;
  cluster.given = r.cluster.count() > 1;
  try {
    kernel = module.program().make_kernel(entry.name, r.grid, r.block, r.shared_bytes, parameters, cluster);
  } catch (const InputError& error) {
    tell(error.diagnostic.text());
    return Status::invalid_configuration;
  }
  LaunchAttributes attributes;
  attributes.cooperative = r.cooperative;
  attributes.grid_number = ++grids_;
  if (r.cooperative) {
    std::uint64_t& workspace = workspaces_[device];
    if (workspace == 0) workspace = platform_.allocate("", kWorkspaceBytes, Aperture::vidmem, device);
    if (workspace == 0) return Status::memory_allocation;
    platform_.name_memory(workspace, "the barrier of the cooperative grid");
    const std::uint64_t zeros = 0;
    platform_.write(workspace, &zeros, sizeof zeros);
    attributes.grid_workspace = workspace;
  }
  kernel->set_attributes(attributes);
  platform_.load(kernel->info(), device);
  const std::vector<std::string> refusals = platform_.refusals(kernel->info(), device);
  for (const std::string& why : refusals) tell("kernel " + entry.name + " cannot run on this GPU: " + why);
  if (refusals.empty()) return Status::success;
  return r.cooperative ? Status::cooperative_launch_too_large : Status::launch_out_of_resources;
}

Machine::Done Machine::run_grid(ModuleOnDevice& module, const programs::Entry& entry,
                                const GridRequest& request, const std::vector<std::uint8_t>& parameters,
                                unsigned device) {
  Done done;
  done.engine = Engine::compute;
  if (fault() != Status::success) return done;
  Executor::Shared::Hold hold(platform_use_);
  std::unique_ptr<Kernel> kernel;
  if (const Status s = make_kernel(module, entry, request, parameters, device, kernel);
      s != Status::success) {
    set_fault(s);
    return done;
  }
  module.lay_constants();
  platform_.begin_run();
  platform_.on_progress(kPause, [&](double) {
    hold.let_others();
    return !executor_.stopping();
  });
  LaunchResult result;
  try {
    result = platform_.launch({GridLaunch{kernel.get(), device, true}});
  } catch (const InputError& error) {
    tell(error.diagnostic.text());
    set_fault(Status::launch_failure);
  }
  kernel_ = std::move(kernel);
  take_printed();
  note_faults(entry.name, result);
  done.duration_ns = platform_.time_ns(result.cycles);
  done.record = WorkRecord{entry.name, true, device, {}, result.cycles, 0};
  return done;
}

void Machine::take_printed() {
  std::uint64_t lost = 0;
  for (const PrintedText& p : device_memory_.take_printed(platform_, lost)) {
    std::fputs(p.text.c_str(), p.assertion ? stderr : stdout);
    if (p.assertion) set_fault(Status::device_assert);
  }
}

void Machine::note_faults(const std::string& kernel, const LaunchResult& result) {
  constexpr std::size_t kTold = 5;
  const std::vector<FaultRecord> faults = platform_.faults();
  for (std::size_t n = 0; n < std::min(faults.size(), kTold); ++n)
    tell(fmt::format("kernel {}: {}", kernel, text_of(faults[n])));
  if (faults.size() > kTold)
    tell(fmt::format("kernel {}: and {} more", kernel, counted(faults.size() - kTold, "fault")));
  if (!faults.empty()) set_fault(status_of(faults.front()));
  if (result.outcome == RunOutcome::deadlock) {
    tell(fmt::format("kernel {} is stuck: nothing can ever move in it", kernel));
    set_fault(Status::launch_timeout);
  }
}

// ---- Streams and events

Executor::Ticket Machine::submit(Stream& stream, std::function<Done()> work,
                                 std::function<void(const Span&)> then) {
  const std::lock_guard lock(mutex_);
  const double asked_ns = schedule_.host_now();
  const StreamId id = stream.id;
  stream.last = executor_.submit([this, id, asked_ns, work = std::move(work), then = std::move(then)] {
    Done done = work();
    const std::lock_guard own(mutex_);
    const Span span = schedule_.add(id, done.engine, done.duration_ns, asked_ns);
    if (done.record) {
      done.record->time = span;
      records_.push_back(*done.record);
    }
    if (then) then(span);
  });
  return stream.last;
}

Status Machine::wait(Executor::Ticket ticket) {
  if (executor_.is_own_thread()) return Status::not_permitted;
  if (!executor_.wait(ticket)) return Status::cudart_unloading;
  return fault();
}

Stream& Machine::add_stream(unsigned device, bool blocking, int priority) {
  const std::lock_guard lock(mutex_);
  auto stream = std::make_shared<Stream>();
  stream->id = StreamId{++streams_made_};
  stream->device = device;
  stream->blocking = blocking;
  stream->priority = priority;
  schedule_.add_stream(stream->id, device, blocking);
  return *(streams_[stream.get()] = stream);
}

bool Machine::is_stream(const void* handle) {
  const std::lock_guard lock(mutex_);
  return streams_.count(handle) != 0;
}

void Machine::remove_stream(Stream& stream) {
  // Its work goes on.
  const StreamId id = stream.id;
  const std::lock_guard lock(mutex_);
  streams_.erase(&stream);
  executor_.submit([this, id] {
    const std::lock_guard own(mutex_);
    schedule_.remove_stream(id);
  });
}

Event& Machine::add_event(bool timed) {
  const std::lock_guard lock(mutex_);
  auto event = std::make_shared<Event>();
  event->timed = timed;
  return *(events_[event.get()] = event);
}

bool Machine::is_event(const void* handle) {
  const std::lock_guard lock(mutex_);
  return events_.count(handle) != 0;
}

void Machine::remove_event(Event& event) {
  const std::lock_guard lock(mutex_);
  events_.erase(&event);
}

Status Machine::record(Event& event, Stream& stream) {
  if (const Status s = fault(); s != Status::success) return s;
  std::shared_ptr<Event> kept;
  {
    const std::lock_guard lock(mutex_);
    kept = events_.at(&event);
  }
  const Executor::Ticket ticket = submit(
      stream, [] { return Done{}; }, [kept](const Span& span) { kept->time_ns = span.end_ns; });
  const std::lock_guard lock(mutex_);
  event.recorded = true;
  event.last = ticket;
  return Status::success;
}

Status Machine::wait_for(Event& event, Stream& stream) {
  std::shared_ptr<Event> kept;
  {
    const std::lock_guard lock(mutex_);
    if (!event.recorded) return Status::success;
    kept = events_.at(&event);
  }
  const StreamId id = stream.id;
  // The event was recorded before, so that its time is known when this is looked at.
  submit(stream, [this, kept, id] {
    const std::lock_guard own(mutex_);
    schedule_.wait(id, kept->time_ns);
    return Done{};
  });
  return Status::success;
}

Status Machine::query(const Event& event) {
  if (const Status s = fault(); s != Status::success) return s;
  const std::lock_guard lock(mutex_);
  return !event.recorded || executor_.is_done(event.last) ? Status::success : Status::not_ready;
}

Status Machine::synchronize(Event& event) {
  Executor::Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!event.recorded) return Status::success;
    ticket = event.last;
  }
  const Status status = wait(ticket);
  const std::lock_guard lock(mutex_);
  schedule_.host_waits(event.time_ns);
  return status;
}

Status Machine::elapsed_ms(const Event& first, const Event& last, float& ms) {
  const std::lock_guard lock(mutex_);
  if (!first.timed || !last.timed || !first.recorded || !last.recorded)
    return Status::invalid_resource_handle;
  if (!executor_.is_done(first.last) || !executor_.is_done(last.last)) return Status::not_ready;
  ms = static_cast<float>((last.time_ns - first.time_ns) / 1e6);
  return Status::success;
}

Status Machine::query(const Stream& stream) {
  if (const Status s = fault(); s != Status::success) return s;
  const std::lock_guard lock(mutex_);
  return executor_.is_done(stream.last) ? Status::success : Status::not_ready;
}

Status Machine::synchronize(Stream& stream) {
  Executor::Ticket ticket = 0;
  const StreamId id = stream.id;
  {
    const std::lock_guard lock(mutex_);
    ticket = stream.last;
  }
  const Status status = wait(ticket);
  const std::lock_guard lock(mutex_);
  schedule_.host_waits(schedule_.done(id));
  return status;
}

Status Machine::synchronize(unsigned device) {
  const Status status = wait(executor_.last());
  const std::lock_guard lock(mutex_);
  schedule_.host_waits(schedule_.device_done(device));
  return status;
}

Status Machine::call(std::function<void()> function, Stream& stream) {
  submit(stream, [function = std::move(function)] {
    function();
    return Done{};
  });
  return Status::success;
}

Status Machine::fault() {
  const std::lock_guard lock(mutex_);
  return fault_;
}

void Machine::set_fault(Status status) {
  const std::lock_guard lock(mutex_);
  if (fault_ == Status::success) fault_ = status;
}

std::vector<WorkRecord> Machine::finish() {
  executor_.stop();
  const std::lock_guard lock(mutex_);
  return records_;
}

}  // namespace warpline::cuda
