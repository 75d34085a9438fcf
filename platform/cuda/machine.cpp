#include "platform/cuda/machine.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "platform/config/host_copy.h"
#include "platform/cuda/arrays.h"
#include "platform/cuda/contexts.h"
#include "platform/cuda/kernel_facts.h"
#include "platform/cuda/occupancy.h"
#include "platform/cuda/shortcomings.h"
#include "platform/launch/launched_grids.h"
#include "platform/machine/gpu_memories.h"
#include "platform/profile/profile_file.h"
#include "platform/profile/profiler.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sm/fault.h"

namespace warpline::cuda {
namespace {

/// Cycles after which a grid that runs lets calls have the platform that wait for it.
constexpr Cycle kPause = 20'000;
/// Of a cooperative grid: two words, of which its barrier is one.
constexpr std::uint64_t kWorkspaceBytes = 8;
constexpr std::uint64_t kPage = 4096;

RunOptions run_options(const MachineOptions& options) {
  RunOptions o;
  o.in_process = true;
  o.functional = !options.keep_warm;
  o.page_slack = !options.exact_bounds;
  o.threads = options.threads;
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
  // What the device library ends, it does for the program, and has said where.
  const bool ours = f.where.rfind("device library", 0) == 0;
  return out + fmt::format(", by thread {} of block {}{}{}", text_of(f.thread), text_of(f.cta),
                           ours ? "" : ", ", ours ? "" : f.where);
}

/// What programs call such a piece of work in a graph.
GraphNode::Kind kind_of(const Operation& operation) {
  static constexpr GraphNode::Kind kKinds[] = {GraphNode::Kind::empty,      GraphNode::Kind::copy,
                                               GraphNode::Kind::fill,       GraphNode::Kind::kernel,
                                               GraphNode::Kind::host,       GraphNode::Kind::record_event,
                                               GraphNode::Kind::wait_event, GraphNode::Kind::free};
  static_assert(std::size(kKinds) == std::variant_size_v<Operation>);
  return kKinds[operation.index()];
}

/// Whether the program has memory at an address; of a GPU that was given back it has not.
bool is_memory_of_process(std::uint64_t address) {
  char byte = 0;
  iovec here = {&byte, 1}, there = {reinterpret_cast<void*>(address), 1};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) >= 0 || errno != EFAULT;
}

/// Why pages of the program cannot be those of the platform, too; empty: they can.
std::string why_not_shareable(std::uint64_t first, std::uint64_t bytes) {
  std::ifstream maps("/proc/self/maps");
  std::uint64_t at = first;
  for (std::string line; at < first + bytes && std::getline(maps, line);) {
    std::uint64_t begin = 0, end = 0;
    char access[5] = {};
    int name = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %*s %n", &begin, &end, access, &name) != 3 ||
        end <= at)
      continue;
    if (begin > at) break;
    const std::string what = line.substr(static_cast<std::size_t>(name));
    if (access[1] != 'w' || access[3] != 'p')
      return "it cannot be written, or is shared with other processes";
    if (what.rfind("[stack", 0) == 0) return "it lies in the stack";
    at = end;
  }
  return at < first + bytes ? "a part of it is no memory of the program" : "";
}

/// Events that a graph records are recorded by its launch.
void note_records(const GraphExec::Steps& steps, Executor::Ticket launch) {
  for (const GraphExec::Step& step : steps) {
    if (step.child != nullptr) note_records(*step.child, launch);
    for (const auto& body : step.bodies) note_records(*body, launch);
    if (const auto* const record = std::get_if<RecordEvent>(&step.operation)) {
      record->event->recorded = true;
      record->event->capture = nullptr;
      record->event->last = launch;
    }
  }
}

/// Whether a launch would run a grid of a module that was unloaded.
bool runs_unloaded(const GraphExec::Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const GraphExec::Step& step) {
    if (step.child != nullptr) return runs_unloaded(*step.child);
    const auto* const grid = std::get_if<Grid>(&step.operation);
    if (grid != nullptr && step.enabled && grid->is_gone()) return true;
    return std::any_of(step.bodies.begin(), step.bodies.end(),
                       [](const auto& body) { return runs_unloaded(*body); });
  });
}

/// Bytes from the first to the last of rows.
std::uint64_t extent(std::uint64_t width, std::uint64_t height, std::uint64_t pitch) {
  return width == 0 || height == 0 ? 0 : (height - 1) * pitch + width;
}

}  // namespace

Machine::Machine(const GpuConfig& config, MachineOptions options)
    : config_(PeerLinks::joined(config)),
      options_(std::move(options)),
      platform_(config_, run_options(options_)),
      peer_links_(platform_),
      schedule_(config.gpus, 2),
      arrays_(std::make_unique<Arrays>(*this)) {
  if (options_.profile) profiler_ = &platform_.attach(std::make_unique<Profiler>(platform_));
  const auto begin = [this](auto& what) {
    const Diagnostics faults = what.start();
    for (const Diagnostic& d : faults) tell(d.text());
    return faults.empty() ? &what : nullptr;
  };
  if (options_.watching.wanted())
    watcher_ = begin(platform_.attach(make_watcher(platform_, options_.watching)));
  if (!options_.sampling.series.empty())
    sampler_ =
        begin(platform_.attach(std::make_unique<FigureSampler>(platform_, options_.sampling, nullptr)));
  for (unsigned device = 0; device < config_.gpus; ++device) {
    legacy_.push_back(&add_stream(device, true, 0));
    schedule_.make_legacy(legacy_.back()->id);
    default_pools_.push_back(&add_pool(device));
    current_pools_.push_back(default_pools_.back());
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
  say(line);
}

// ---- Memory

Status Machine::take_memory(Allocation wanted, std::uint64_t& address) {
  const Allocation::Kind kind = wanted.kind;
  const std::uint64_t bytes = wanted.bytes;
  const unsigned device = wanted.device;
  if (const Status s = fault(); s != Status::success) return s;
  address = 0;
  if (bytes == 0) return Status::success;
  const auto take = [&] {
    const Executor::Shared::Hold hold(platform_use_);
    // One GPU's memory is as near to the host as it gets; of several all must reach it.
    const bool near = kind == Allocation::Kind::managed && config_.gpus == 1;
    address = kind == Allocation::Kind::device || kind == Allocation::Kind::array
                  ? platform_.allocate("", bytes, Aperture::vidmem, device)
                  : platform_.allocate_shared(bytes, near ? Aperture::vidmem : Aperture::sysmem, device);
  };
  take();
  if (address == 0) {
    wait_for_all();  // for what is given back in the order of a stream
    take();
  }
  if (address == 0) {
    Shortcomings::instance().note(
        "memory: more than there is",
        fmt::format(
            "out of memory: {} of {} are asked for; a GPU has {} (vidmem_bytes), the host {} (sysmem_bytes)",
            counted(bytes, "byte"), kind == Allocation::Kind::host ? "host memory" : "GPU memory",
            config_.vidmem_bytes, config_.sysmem_bytes));
    return Status::memory_allocation;
  }
  const std::lock_guard lock(mutex_);
  wanted.address = address;
  allocations_.add(std::move(wanted));
  return Status::success;
}

Status Machine::allocate(Allocation::Kind kind, std::uint64_t bytes, std::uint32_t flags, unsigned device,
                         std::uint64_t& address) {
  const Status s = take_memory({0, bytes, kind, device, flags}, address);
  if (s != Status::success || address == 0 || !peer_links_.exist()) return s;
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  if (Allocation* const a = allocations_.find(address)) let_peers_in(*a);
  return s;
}

std::optional<Allocation> Machine::take_away(std::uint64_t address) {
  std::optional<Allocation> taken = allocations_.remove(address);
  if (taken && taken->kind == Allocation::Kind::managed) advice_.forget(*taken, allocations_);
  return taken;
}

Status Machine::free(std::uint64_t address, std::initializer_list<Allocation::Kind> kinds) {
  if (address == 0) return fault();
  std::optional<Allocation> found;
  {
    const std::lock_guard lock(mutex_);
    const Allocation* const a = allocations_.find(address);
    if (a == nullptr || a->address != address || a->registered || a->of_module || a->mapped ||
        std::find(kinds.begin(), kinds.end(), a->kind) == kinds.end())
      return Status::invalid_value;
    found = *a;
  }
  if (found->of_graph) return Status::success;
  const Status waited = found->peers.empty() ? synchronize(found->device) : wait_for_all();
  if (waited == Status::not_permitted) return waited;
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  const std::optional<Allocation> removed = take_away(address);
  if (!removed) return Status::invalid_value;
  if (removed->pool != nullptr) removed->pool->used -= removed->bytes;
  platform_.free(address);
  return waited;
}

Status Machine::allocate_from(Pool& pool, std::uint64_t bytes, Stream& stream, std::uint64_t& address) {
  if (bytes == 0) return Status::invalid_value;
  if (stream.capture != nullptr) {
    GraphNode* node = nullptr;
    const Status s = allocate_in_graph(*stream.capture->graph, stream.frontier, pool.device, bytes, node);
    if (s != Status::success) return s;
    address = node->address;
    stream.frontier = {node};
    for (const auto& [peer, access] : pool.access) share_with_peer(*node, peer);
    return s;
  }
  Allocation wanted{0, bytes, Allocation::Kind::device, pool.device};
  {
    const std::lock_guard lock(mutex_);
    wanted.pool = pools_.at(&pool);
  }
  if (const Status s = take_memory(std::move(wanted), address); s != Status::success) return s;
  std::optional<Executor::Shared::Hold> hold;
  if (peer_links_.exist()) hold.emplace(platform_use_);
  const std::lock_guard lock(mutex_);
  if (Allocation* const a = allocations_.find(address)) let_peers_in(*a);
  pool.used += bytes;
  pool.most_used = std::max(pool.most_used, pool.used);
  return Status::success;
}

Status Machine::allocate_in_graph(Graph& graph, const std::vector<GraphNode*>& after, unsigned device,
                                  std::uint64_t bytes, GraphNode*& node) {
  if (bytes == 0) return Status::invalid_value;
  std::uint64_t address = 0;
  Allocation wanted{0, bytes, Allocation::Kind::device, device};
  wanted.of_graph = true;
  if (const Status s = take_memory(std::move(wanted), address); s != Status::success) return s;
  const std::lock_guard lock(mutex_);
  node = &graph.add(GraphNode::Kind::allocate, Nothing{}, after);
  node->address = address;
  node->bytes = bytes;
  node->memory = memory_of_graph(address);
  most_graph_bytes_[device] = std::max(most_graph_bytes_[device], graph_bytes(device));
  return Status::success;
}

std::uint64_t Machine::graph_bytes(unsigned device) const {
  std::uint64_t bytes = 0;
  for (const auto& [address, a] : allocations_.all())
    if (a.of_graph && !a.is_condition && a.device == device) bytes += a.bytes;
  return bytes;
}

void Machine::graph_memory(unsigned device, std::uint64_t& now, std::uint64_t& most) {
  const std::lock_guard lock(mutex_);
  now = graph_bytes(device);
  most = most_graph_bytes_[device];
}

void Machine::forget_most_graph_memory(unsigned device) {
  const std::lock_guard lock(mutex_);
  most_graph_bytes_[device] = graph_bytes(device);
}

Status Machine::add_condition(Graph& graph, unsigned device, std::optional<std::uint32_t> initial,
                              std::uint64_t& address) {
  const Status s = take_memory({0, sizeof(std::uint32_t), Allocation::Kind::device, device}, address);
  if (s != Status::success) return s;
  {
    const std::lock_guard lock(mutex_);
    Allocation& a = *allocations_.find(address);
    a.of_graph = a.is_condition = true;
  }
  const std::uint32_t value = initial.value_or(0);
  {
    const Executor::Shared::Hold hold(platform_use_);
    platform_.write(address, &value, sizeof value);
  }
  graph.add(std::make_shared<const Condition>(Condition{address, initial, memory_of_graph(address)}));
  return Status::success;
}

std::shared_ptr<void> Machine::memory_of_graph(std::uint64_t address) {
  return {reinterpret_cast<void*>(address), [this, address](void*) {
            const Executor::Shared::Hold hold(platform_use_);
            const std::lock_guard lock(mutex_);
            if (allocations_.remove(address)) platform_.free(address);
          }};
}

Status Machine::free_in_order(std::uint64_t address, Stream& stream) {
  if (address == 0) return fault();
  {
    const std::lock_guard lock(mutex_);
    const Allocation* const a = allocations_.find(address);
    if (a == nullptr || a->address != address || a->mapped || a->of_module || a->registered ||
        (a->kind != Allocation::Kind::device && a->kind != Allocation::Kind::managed))
      return Status::invalid_value;
    if (stream.capture != nullptr) {
      GraphNode& node = stream.capture->graph->add(GraphNode::Kind::free, Nothing{}, stream.frontier);
      node.address = address;
      stream.frontier = {&node};
      return Status::success;
    }
    if (a->of_graph) return Status::success;
    if (a->pool != nullptr) a->pool->used -= a->bytes;
    take_away(address);
  }
  return issue(FreeMemory{address}, stream, true);
}

Pool& Machine::add_pool(unsigned device) {
  const std::lock_guard lock(mutex_);
  auto pool = std::make_shared<Pool>();
  pool->device = device;
  Pool& added = *pool;
  pools_[&added] = std::move(pool);
  return added;
}

bool Machine::is_pool(const void* handle) {
  const std::lock_guard lock(mutex_);
  return pools_.count(handle) != 0;
}

Status Machine::remove_pool(Pool& pool) {
  const std::lock_guard lock(mutex_);
  if (default_pools_[pool.device] == &pool) return Status::invalid_value;
  if (current_pools_[pool.device] == &pool) current_pools_[pool.device] = default_pools_[pool.device];
  pools_.erase(&pool);  // which what came from it keeps
  return Status::success;
}

Pool& Machine::pool_of(unsigned device) {
  const std::lock_guard lock(mutex_);
  return *current_pools_[device];
}

void Machine::set_pool(unsigned device, Pool& pool) {
  const std::lock_guard lock(mutex_);
  current_pools_[device] = &pool;
}

Status Machine::reset(unsigned device) {
  if (executor_.is_own_thread()) return Status::not_permitted;
  if (peer_links_.exist())
    wait_for_all();  // others may use its memory
  else
    synchronize(device);
  arrays_->reset(device);
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  if (fault_device_ == device) fault_ = Status::success;
  std::vector<Allocation> all;
  for (const auto& [address, a] : allocations_.all()) all.push_back(a);
  for (const Allocation& a : all) {
    // CUDA Runtime API, "cudaDeviceReset": memory that was allocated in the order of streams stays.
    if (a.device != device || a.of_module || a.of_graph || a.mapped || a.pool != nullptr) continue;
    take_away(a.address);
    if (a.registered) {
      platform_.unshare(a.address / kPage * kPage);
    } else {
      platform_.free(a.address);
    }
  }
  for (auto pair = enabled_peers_.begin(); pair != enabled_peers_.end();)
    pair = pair->first == device || pair->second == device ? enabled_peers_.erase(pair) : std::next(pair);
  allocations_.for_each([this](Allocation& a) {
    const std::set<unsigned> peers = a.peers;
    for (const unsigned peer : peers)
      if (!a.mapped && !a.of_graph && !is_for_peer(a, peer)) keep_out(a, peer);
  });
  prints_.erase(device);
  allocates_.erase(device);
  if (devices() == 1) {
    limits_ = usual_limits();
    device_memory_.resize(sizes_of_device_memory(), platform_);
  }
  for (const auto& library : libraries_)
    if (const auto module = library->on_device.find(device); module != library->on_device.end())
      module->second->renew_variables();
  return Status::success;
}

Status Machine::set_limit(int limit, std::uint64_t value) {
  constexpr int kPrintf = 1, kHeap = 2, kLaunches = 4;
  if (limit == kLaunches)  // grids that run have launched some
    if (const Status s = wait_for_all(); s == Status::not_permitted) return s;
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  const auto found = limits_.find(limit);
  if (found == limits_.end()) return Status::unsupported_limit;
  if (value == found->second) return Status::success;
  if (limit == kPrintf || limit == kHeap || limit == kLaunches) {
    if ((limit == kPrintf && !prints_.empty()) || (limit == kHeap && !allocates_.empty()))
      return Status::invalid_value;
    if (value > config_.vidmem_bytes) return Status::memory_allocation;
    const std::uint64_t before = std::exchange(found->second, value);
    if (device_memory_.resize(sizes_of_device_memory(), platform_)) return Status::success;
    found->second = before;
    return Status::memory_allocation;
  }
  found->second = value;
  return Status::success;
}

DeviceMemorySizes Machine::sizes_of_device_memory() const {
  DeviceMemorySizes sizes;
  sizes.printf_bytes = (limits_.at(1) + 15) / 16 * 16;
  sizes.heap_bytes = (limits_.at(2) + 15) / 16 * 16;
  sizes.launches = limits_.at(4);
  return sizes;
}

std::optional<std::uint64_t> Machine::limit(int limit) {
  const std::lock_guard lock(mutex_);
  const auto found = limits_.find(limit);
  return found == limits_.end() ? std::nullopt : std::optional(found->second);
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

double Machine::copy_ns(CopyKind kind, std::uint64_t bytes, bool page_locked) const {
  if (kind == CopyKind::host_to_host) return 0;
  if (kind == CopyKind::device_to_device) {
    // Every sector is read and written once.
    const double sectors_per_cycle = double(config_.dram.channels) / config_.dram.sector_cycles;
    return 2.0 * static_cast<double>(bytes) / kSectorBytes / sectors_per_cycle * 1000.0 / config_.clocks.dram;
  }
  return host_copy_ns(config_, bytes, kind == CopyKind::host_to_device, page_locked);
}

Status Machine::check(CopyRequest& c) {
  if (!c.has_size()) return Status::invalid_value;
  if (c.height > 1 && (c.width > c.to_pitch || c.width > c.from_pitch)) return Status::invalid_pitch_value;
  const std::lock_guard lock(mutex_);
  const Allocation* const to = allocations_.find(c.to);
  const Allocation* const from = allocations_.find(c.from);
  const auto is_device = [](const Allocation* a) {
    return a != nullptr && a->kind != Allocation::Kind::host;
  };
  const auto only_device = [](const Allocation* a) {
    return a != nullptr && (a->kind == Allocation::Kind::device || a->kind == Allocation::Kind::array);
  };
  if (to != nullptr && !allocations_.holds(c.to, c.to_extent())) return Status::invalid_value;
  if (from != nullptr && !allocations_.holds(c.from, c.from_extent())) return Status::invalid_value;
  if ((to == nullptr && !is_memory_of_process(c.to)) || (from == nullptr && !is_memory_of_process(c.from)))
    return Status::invalid_value;
  const bool wants_to = c.kind == CopyKind::host_to_device || c.kind == CopyKind::device_to_device;
  const bool wants_from = c.kind == CopyKind::device_to_host || c.kind == CopyKind::device_to_device;
  if (c.kind != CopyKind::by_address &&
      ((wants_to && to == nullptr) || (!wants_to && only_device(to)) || (wants_from && from == nullptr) ||
       (!wants_from && only_device(from))))
    return Status::invalid_value;
  c.kind = is_device(to) ? (is_device(from) ? CopyKind::device_to_device : CopyKind::host_to_device)
                         : (is_device(from) ? CopyKind::device_to_host : CopyKind::host_to_host);
  c.page_locked = to != nullptr && from != nullptr;
  c.between_gpus = only_device(to) && only_device(from) && to->device != from->device;
  return Status::success;
}

Status Machine::copy(const CopyRequest& request, Stream& stream, bool asynchronous) {
  if (const Status s = fault(); s != Status::success) return s;
  if (request.width == 0 || request.height == 0 || request.depth == 0) return Status::success;
  CopyRequest c = request;
  if (const Status s = check(c); s != Status::success) return s;
  const bool all_ours = allocation_of(c.to) && allocation_of(c.from);
  const bool by_link = c.kind == CopyKind::host_to_device || c.kind == CopyKind::device_to_host;
  const double call_ns =
      !asynchronous && by_link && config_.host_copy.is_given() ? config_.host_copy.call_ns : 0;
  return issue(c, stream, asynchronous && all_ours, call_ns);
}

bool Machine::is_mapped(std::uint64_t address, std::uint64_t bytes) {
  while (bytes != 0) {
    unsigned gpu = 0;
    const auto has_it = [&] {
      const std::optional<PhysicalAddress> at = platform_.physical_of(address, gpu);
      return at && aperture_of(*at) != Aperture::peer;
    };
    while (gpu < devices() && !has_it()) ++gpu;
    if (gpu == devices()) return false;
    const std::uint64_t here = platform_.memory().contiguous(address, bytes);
    address += here;
    bytes -= here;
  }
  return true;
}

void Machine::leave_in_l2(std::uint64_t address, std::uint64_t bytes) {
  if (grid_runs_) return;
  for (unsigned device = 0; device < devices(); ++device) platform_.leave_in_l2(address, bytes, device);
}

Machine::Done Machine::perform_copy(const CopyRequest& c) {
  const Executor::Shared::Hold hold(platform_use_);
  const auto place = [this](std::uint64_t address, std::uint64_t bytes, bool device, bool writes) {
    return device ? platform_.memory().bytes_at(address, bytes, writes)
                  : reinterpret_cast<std::uint8_t*>(address);
  };
  const bool to_device = c.kind == CopyKind::host_to_device || c.kind == CopyKind::device_to_device;
  const bool from_device = c.kind == CopyKind::device_to_host || c.kind == CopyKind::device_to_device;
  // As much at once as lies next to each other on both sides: all of it, but for blocks that are mapped.
  const auto run = [this](std::uint64_t address, std::uint64_t bytes, bool device) {
    return device ? platform_.memory().contiguous(address, bytes) : bytes;
  };
  const std::uint64_t to_bytes = c.to_extent(), from_bytes = c.from_extent();
  // Graphs may outlive memory that they name.
  if ((to_device && !is_mapped(c.to, to_bytes)) || (from_device && !is_mapped(c.from, from_bytes))) {
    set_fault(Status::illegal_address);
    return {};
  }
  if (run(c.to, to_bytes, to_device) == to_bytes && run(c.from, from_bytes, from_device) == from_bytes) {
    std::uint8_t* const to = place(c.to, to_bytes, to_device, true);
    const std::uint8_t* const from = place(c.from, from_bytes, from_device, false);
    for (std::uint64_t slice = 0; slice < c.depth; ++slice)
      for (std::uint64_t row = 0; row < c.height; ++row)
        std::memmove(to + slice * c.to_slice_pitch + row * c.to_pitch,
                     from + slice * c.from_slice_pitch + row * c.from_pitch, c.width);
  } else {
    for (std::uint64_t n = 0; n < c.depth * c.height; ++n) {
      const std::uint64_t slice = n / c.height, row = n % c.height;
      for (std::uint64_t at = 0; at < c.width;) {
        const std::uint64_t to = c.to + slice * c.to_slice_pitch + row * c.to_pitch + at,
                            from = c.from + slice * c.from_slice_pitch + row * c.from_pitch + at;
        const std::uint64_t part =
            std::min(run(to, c.width - at, to_device), run(from, c.width - at, from_device));
        std::memmove(place(to, part, to_device, true), place(from, part, from_device, false), part);
        at += part;
      }
    }
  }
  if (to_device && c.bytes() == to_bytes) {
    leave_in_l2(c.to, to_bytes);
  } else if (to_device) {
    for (std::uint64_t n = 0; n < c.depth * c.height; ++n)
      leave_in_l2(c.to + n / c.height * c.to_slice_pitch + n % c.height * c.to_pitch, c.width);
  }
  Done done;
  done.engine = c.kind == CopyKind::host_to_device                     ? Engine::copy_in
                : c.kind == CopyKind::device_to_host || c.between_gpus ? Engine::copy_out
                : c.kind == CopyKind::device_to_device                 ? Engine::within
                                                                       : Engine::none;
  const std::uint64_t bytes = c.bytes();
  done.duration_ns = copy_ns(c.between_gpus ? CopyKind::device_to_host : c.kind, bytes, c.page_locked);
  static constexpr const char* kNames[] = {"copy within the host", "copy to the GPU", "copy to the host",
                                           "copy within the GPU"};
  const char* const name = c.between_gpus ? "copy between GPUs" : kNames[static_cast<unsigned>(c.kind)];
  done.record = WorkRecord{name, false, 0, {}, 0, bytes, true, {}};
  return done;
}

Status Machine::check(const FillRequest& f) {
  constexpr double kMost = 1e15;
  const auto d = [](std::uint64_t n) { return static_cast<double>(n); };
  if (d(f.width) * f.element_bytes + d(f.height) * d(f.pitch) > kMost) return Status::invalid_value;
  const std::uint64_t row_bytes = f.width * f.element_bytes;
  if (f.height > 1 && row_bytes > f.pitch) return Status::invalid_pitch_value;
  if (f.to % f.element_bytes != 0 || (f.height > 1 && f.pitch % f.element_bytes != 0))
    return Status::invalid_value;
  const std::lock_guard lock(mutex_);
  return allocations_.holds(f.to, extent(row_bytes, f.height, f.pitch)) ? Status::success
                                                                        : Status::invalid_value;
}

Status Machine::fill(const FillRequest& f, Stream& stream, bool asynchronous) {
  if (const Status s = fault(); s != Status::success) return s;
  if (f.width == 0 || f.height == 0) return Status::success;
  if (const Status s = check(f); s != Status::success) return s;
  return issue(f, stream, asynchronous);
}

Machine::Done Machine::perform_fill(const FillRequest& f) {
  const Executor::Shared::Hold hold(platform_use_);
  const std::uint64_t row_bytes = f.width * f.element_bytes;
  if (!is_mapped(f.to, extent(row_bytes, f.height, f.pitch))) {
    set_fault(Status::illegal_address);
    return {};
  }
  for (std::uint64_t row = 0; row < f.height; ++row) {
    for (std::uint64_t filled = 0; filled < row_bytes;) {
      const std::uint64_t from = f.to + row * f.pitch + filled;
      const std::uint64_t part = platform_.memory().contiguous(from, row_bytes - filled);
      std::uint8_t* const at = platform_.memory().bytes_at(from, part, true);
      if (f.element_bytes == 1) {
        std::memset(at, static_cast<int>(f.value & 0xFFU), part);
      } else {
        for (std::uint64_t i = 0; i < part; i += f.element_bytes)
          std::memcpy(at + i, &f.value, f.element_bytes);
      }
      filled += part;
    }
    if (f.height > 1 && f.pitch != row_bytes) leave_in_l2(f.to + row * f.pitch, row_bytes);
  }
  if (f.height == 1 || f.pitch == row_bytes) leave_in_l2(f.to, row_bytes * f.height);
  Done done;
  done.engine = Engine::within;
  done.duration_ns = copy_ns(CopyKind::device_to_device, row_bytes * f.height, true) / 2;
  done.record = WorkRecord{"fill", false, 0, {}, 0, row_bytes * f.height, true, {}};
  return done;
}

Status Machine::register_host(std::uint64_t address, std::uint64_t bytes, std::uint32_t flags,
                              unsigned device) {
  if (address == 0 || bytes == 0) return Status::invalid_value;
  const std::uint64_t first = address / kPage * kPage;
  const std::uint64_t pages = (address + bytes - first + kPage - 1) / kPage * kPage;
  {
    const std::lock_guard lock(mutex_);
    const auto next = allocations_.all().lower_bound(first);
    const bool before = next != allocations_.all().begin() &&
                        std::prev(next)->second.address + std::prev(next)->second.bytes > first;
    if (before || (next != allocations_.all().end() && next->first < first + pages))
      return Status::host_memory_already_registered;
  }
  if (const std::string why = why_not_shareable(first, pages); !why.empty()) {
    tell("host memory of " + counted(bytes, "byte") + " cannot be registered: " + why);
    return Status::not_supported;
  }
  const Executor::Shared::Hold hold(platform_use_);
  if (!platform_.share(first, pages)) {
    tell(fmt::format("{} of host memory cannot be registered: the platform's has {} (sysmem_bytes)",
                     counted(bytes, "byte"), config_.sysmem_bytes));
    return Status::memory_allocation;
  }
  Allocation a;
  a.address = address;
  a.bytes = bytes;
  a.kind = Allocation::Kind::host;
  a.device = device;
  a.flags = flags;
  a.registered = true;
  const std::lock_guard lock(mutex_);
  allocations_.add(a);
  return Status::success;
}

Status Machine::unregister_host(std::uint64_t address) {
  {
    const std::lock_guard lock(mutex_);
    const Allocation* const a = allocations_.find(address);
    if (a == nullptr || a->address != address || !a->registered) return Status::host_memory_not_registered;
  }
  const Status waited = wait_for_all();
  if (waited == Status::not_permitted) return waited;
  const Executor::Shared::Hold hold(platform_use_);
  const std::lock_guard lock(mutex_);
  allocations_.remove(address);
  platform_.unshare(address / kPage * kPage);
  return waited;
}

void Machine::after_fork() {
  platform_.memory().after_fork();
}

// ---- Images

std::uint64_t Machine::add_image(const Image& image) {
  const Executor::Shared::Hold hold(platform_use_);
  return platform_.add_image(image, true);
}

void Machine::remove_image(std::uint64_t handle) {
  executor_.submit([this, handle] {
    const Executor::Shared::Hold hold(platform_use_);
    platform_.remove_image(handle);
  });
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
    for (const auto& [name, v] : module->variables()) take_away(v.address);
  for (const auto& [name, address] : library.managed_at) platform_.free(address);
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
  const auto known = [&]() -> std::optional<Status> {
    const std::lock_guard lock(mutex_);
    if (const auto found = library.on_device.find(device); found != library.on_device.end()) {
      module = found->second.get();
      return Status::success;
    }
    if (const auto failed = library.failed.find(device); failed != library.failed.end())
      return failed->second;
    return std::nullopt;
  };
  // Launches do not wait for the platform: a grid that runs has it nearly always.
  if (const auto status = known()) return *status;
  const Executor::Shared::Hold hold(platform_use_);
  if (const auto status = known()) return *status;
  const auto fail = [&](const Diagnostics& faults, Status status) {
    for (const Diagnostic& d : faults) Shortcomings::instance().note("code for this GPU", d.text());
    const std::lock_guard lock(mutex_);
    for (const Diagnostic& d : faults) library.fault_text += d.text() + "\n";
    library.failed[device] = status;
    return status;
  };
  const Result<std::vector<PtxText>> texts = library.texts(config_.compute_capability);
  if (!texts.ok()) return fail(texts.faults(), Status::no_kernel_image_for_device);
  DeviceMemorySizes sizes;
  {
    const std::lock_guard lock(mutex_);
    sizes = sizes_of_device_memory();
  }
  if (profiler_ != nullptr)
    for (const PtxText& t : texts.value())
      // Of several texts of one name, nobody can tell which line is whose.
      if (const auto [source, fresh] = sources_.emplace(t.name, t.text); !fresh && source->second != t.text)
        source->second.clear();
  Result<std::unique_ptr<programs::Module>> program = ModuleOnDevice::read(texts.value(), options_.schedule);
  if (!program.ok()) return fail(program.faults(), Status::invalid_ptx);
  // All GPUs have the variables that the host has, too.
  const bool first = library.on_device.empty();
  if (first) {
    for (const programs::Variable& v : program.value()->variables())
      if (v.managed && v.refused.empty()) library.managed[v.name] = v.initial.size();
    for (const auto& [name, bytes] : library.managed) {
      const std::uint64_t at =
          platform_.allocate_shared(bytes, config_.gpus == 1 ? Aperture::vidmem : Aperture::sysmem, device);
      if (at == 0)
        return fail({Diagnostic::about(name, "this managed variable does not fit the memory")},
                    Status::memory_allocation);
      library.managed_at[name] = at;
    }
  }
  Result<std::unique_ptr<ModuleOnDevice>> loaded =
      ModuleOnDevice::load(std::move(program.value()), texts.value().front().name,
                           {platform_, device, device_memory_, sizes}, library.managed_at, first);
  if (!loaded.ok()) return fail(loaded.faults(), Status::invalid_ptx);
  const std::lock_guard lock(mutex_);
  module = loaded.value().get();
  for (const auto& [name, v] : module->variables()) {
    const bool managed = library.managed_at.count(name) != 0;
    if (v.bytes == 0 || (managed && !first)) continue;
    Allocation a;
    a.address = v.address;
    a.bytes = v.bytes;
    a.kind = managed ? Allocation::Kind::managed : Allocation::Kind::device;
    a.device = device;
    a.of_module = true;
    allocations_.add(a);
    let_peers_in(*allocations_.find(a.address));
  }
  library.on_device[device] = std::move(loaded.value());
  return Status::success;
}

Status Machine::entry_of(Function& function, unsigned device, const programs::Entry*& entry) {
  ModuleOnDevice* module = nullptr;
  if (const Status s = module_on(*function.library, device, module); s != Status::success) return s;
  entry = module->entry(function.name);
  return entry == nullptr ? Status::invalid_device_function : Status::success;
}

unsigned Machine::registers_of(Function& function) {
  const std::lock_guard lock(mutex_);
  // All GPUs are alike, and have the same text.
  if (!function.registers) {
    ModuleOnDevice& module = *function.library->on_device.begin()->second;
    const programs::Entry* const entry = module.entry(function.name);
    function.registers = entry->refused.empty() ? module.program().registers(function.name) : 0;
  }
  return *function.registers;
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

Status Machine::check_shape(const GridShape& r, const Function& function,
                            const programs::Entry& entry) const {
  constexpr std::uint64_t kMostX = 0x7FFFFFFF, kMostYz = 65535, kMostThreads = 1024, kMostBlockZ = 64;
  const auto count = [](const Dim3& d) { return std::uint64_t{d.x} * d.y * d.z; };
  if (count(r.grid) == 0 || count(r.block) == 0 || r.grid.x > kMostX || r.grid.y > kMostYz ||
      r.grid.z > kMostYz || r.block.z > kMostBlockZ || count(r.block) > kMostThreads)
    return Status::invalid_configuration;
  if (count(r.block) > entry.maximum_threads) return Status::launch_out_of_resources;
  if (entry.required_block && !(*entry.required_block == r.block)) return Status::invalid_configuration;
  const std::uint64_t shared = std::uint64_t{entry.static_shared_bytes} + r.shared_bytes;
  if (r.shared_bytes > function.most_dynamic_shared(entry) || shared > config_.sm.shared_bytes)
    return Status::invalid_value;
  return Status::success;
}

/// What the kernel prefers, or else the context.
std::optional<unsigned> Machine::carveout_of(const Function& function) {
  if (function.carveout || function.cache_preference != 0)
    return function.carveout ? function.carveout : carveout_of_preference(function.cache_preference);
  const Context* const context = Contexts::instance().find(Contexts::current());
  return context == nullptr ? std::nullopt : carveout_of_preference(context->cache_preference);
}

Status Machine::prepare(const GridRequest& request, unsigned device, Grid& grid) {
  if (const Status s = module_on(*request.function->library, device, grid.module); s != Status::success)
    return s;
  grid.function = request.function;
  grid.life = request.function->library->life;
  grid.entry = grid.module->entry(request.function->name);
  grid.shape = request.shape;
  if (!grid.shape.carveout) grid.shape.carveout = carveout_of(*request.function);
  grid.device = device;
  if (grid.entry == nullptr) return Status::invalid_device_function;
  if (!grid.entry->refused.empty()) {
    for (const Diagnostic& d : grid.entry->refused) tell(d.text());
    Shortcomings::instance().note("kernel " + grid.entry->name,
                                  "kernel " + grid.entry->name + " cannot be run");
    return Status::not_supported;
  }
  if (const Status s = check_shape(request.shape, *request.function, *grid.entry); s != Status::success)
    return s;
  std::optional<std::vector<std::uint8_t>> parameters = request.parameters(*grid.entry);
  if (!parameters || parameters->size() < grid.entry->parameter_bytes) return Status::invalid_value;
  grid.parameters = std::move(*parameters);
  const bool has_cluster =
      request.shape.cluster.count() > 1 || grid.entry->required_cluster || grid.entry->needs_cluster;
  note_use(*grid.module, device);
  if (!request.shape.cooperative && !has_cluster) return Status::success;
  // Whether all its blocks fit at once takes a kernel to say.
  const Executor::Shared::Hold hold(platform_use_);
  std::unique_ptr<Kernel> kernel;
  return make_kernel(grid, kernel);
}

Status Machine::launch(const GridRequest& request, Stream& stream) {
  show_printed();
  if (const Status s = fault(); s != Status::success) return s;
  Grid grid;
  if (const Status s = prepare(request, stream.device, grid); s != Status::success) return s;
  return issue(std::move(grid), stream, true);
}

void Machine::note_use(const ModuleOnDevice& module, unsigned device) {
  const std::lock_guard lock(mutex_);
  if (module.uses(DeviceMemory::Part::ring)) prints_.insert(device);
  if (module.uses(DeviceMemory::Part::heap)) allocates_.insert(device);
}

std::map<int, std::uint64_t> Machine::usual_limits() {
  return {{0, 1024}, {1, 1U << 20U}, {2, 8U << 20U}, {3, 2}, {4, 2048}, {5, 64}, {6, 0}};
}

LaunchAttributes Machine::usual_attributes() {
  LaunchAttributes attributes;
  if (!options_.exact_bounds) attributes.shared_unit = shared_unit(config_);
  constexpr std::uint64_t kDeepest = 512U << 10U;
  attributes.stack_bytes = static_cast<std::uint32_t>(std::min(*limit(0), kDeepest));
  return attributes;
}

Status Machine::make_kernel(const Grid& grid, std::unique_ptr<Kernel>& kernel) {
  const GridShape& r = grid.shape;
  ClusterShape cluster;
  cluster.size = r.cluster;
  cluster.given = r.cluster.count() > 1;
  try {
    kernel = grid.module->program().make_kernel(grid.entry->name, r.grid, r.block, r.shared_bytes,
                                                grid.parameters, cluster);
  } catch (const InputError& error) {
    tell(error.diagnostic.text());
    return Status::invalid_configuration;
  }
  LaunchAttributes attributes = usual_attributes();
  attributes.cooperative = r.cooperative;
  attributes.carveout = r.carveout;
  attributes.grid_number = ++grids_;
  if (r.cooperative) {
    std::uint64_t& workspace = workspaces_[grid.device];
    if (workspace == 0) workspace = platform_.allocate("", kWorkspaceBytes, Aperture::vidmem, grid.device);
    if (workspace == 0) return Status::memory_allocation;
    platform_.name_memory(workspace, "the barrier of the cooperative grid");
    attributes.grid_workspace = workspace;
  }
  kernel->set_attributes(attributes);
  platform_.load(kernel->info(), grid.device);
  const std::vector<std::string> refusals = platform_.refusals(kernel->info(), grid.device);
  for (const std::string& why : refusals)
    Shortcomings::instance().note("kernel " + grid.entry->name,
                                  "kernel " + grid.entry->name + " cannot run on this GPU: " + why);
  if (refusals.empty()) return Status::success;
  return r.cooperative ? Status::cooperative_launch_too_large : Status::launch_out_of_resources;
}

Machine::Done Machine::run_grid(const Grid& grid) {
  Done done;
  done.engine = Engine::compute;
  if (fault() != Status::success) return done;
  Executor::Shared::Hold hold(platform_use_);
  std::unique_ptr<Kernel> kernel;
  if (const Status s = make_kernel(grid, kernel); s != Status::success) {
    set_fault(s);
    return done;
  }
  if (grid.shape.cooperative) {  // not sooner: the grid before it may still be at its barrier
    const std::uint64_t zeros = 0;
    platform_.write(workspaces_.at(grid.device), &zeros, sizeof zeros);
  }
  grid.module->lay_constants();
  if (grid.module->asks_for_facts()) lay_facts(*grid.module, *grid.function->library);
  const bool timed = options_.measuring.takes(grid.entry->name);
  if (timed == loose_) {
    loose_ = !timed;
    platform_.set_loose(loose_);
  }
  if (timed && options_.threads != 1 && !std::exchange(threads_looked_at_, true))
    if (const std::string why = platform_.why_one_thread(); !why.empty())
      say(fmt::format("note: --threads {}: the run keeps to one, as {}", options_.threads, why));
  CounterTable::Values before;
  if (options_.counts) before = read_counters();
  platform_.begin_run();
  bool ended = false;
  platform_.on_progress(kPause, [&](double) {
    // A fault ends a program's grids, others that wait for what that warp would have done included.
    if (!ended && !platform_.faults().empty()) {
      ended = true;
      platform_.end_grids();
    }
    hold.let_others();
    hold.without([&] { executor_.do_short(); });
    return !executor_.stopping();
  });
  LaunchResult result;
  grid_runs_ = true;
  try {
    result = platform_.launch({GridLaunch{kernel.get(), grid.device, true}});
  } catch (const InputError& error) {
    tell(error.diagnostic.text());
    set_fault(Status::launch_failure);
  }
  kernel_ = std::move(kernel);
  take_printed();
  if (result.outcome == RunOutcome::quiescent && platform_.faults().empty()) {
    LaunchedGrids launched(
        platform_, device_memory_, grids_, kernel_,
        [this](const std::string& why, bool faults) {
          if (!why.empty()) tell("a launch from the device failed: " + why);
          if (faults) set_fault(Status::illegal_address);
          take_printed();
        },
        usual_attributes());
    launched.run(grid.device, grid.module->program(), result);
  }
  grid_runs_ = false;
  note_slack(grid.entry->name, grid.device);
  note_faults(grid, result);
  done.duration_ns = platform_.time_ns(result.cycles);
  done.record = WorkRecord{grid.entry->name, true, grid.device, {}, result.cycles, 0, timed, {}};
  if (options_.counts) done.record->counted = CounterTable::changes(read_counters(), before);
  return done;
}

void Machine::lay_facts(ModuleOnDevice& module, const Library& library) {
  if (module.facts.empty()) module.facts = facts_of(config_, module.program());
  {
    const std::lock_guard lock(mutex_);
    update_facts(module.facts, module.program(), limits_, [&](const std::string& name) {
      const Function* found = nullptr;
      for (const auto& [handle, f] : functions_)
        if (f->library == &library && f->name == name) found = f.get();
      return found;
    });
  }
  if (!module.lay_facts(module.facts))
    tell("what kernels ask of their GPU (cudaDeviceGetAttribute and the like) does not fit its memory");
}

CounterTable::Values Machine::read_counters() {
  return table_.read([this](CounterVisitor& v) { platform_.visit(v); });
}

void Machine::take_printed() {
  std::uint64_t lost = 0;
  for (const PrintedText& p : device_memory_.take_printed(platform_, lost)) {
    if (p.assertion) {
      std::fputs(p.text.c_str(), stderr);
      set_fault(Status::device_assert);
    } else {
      const std::lock_guard lock(mutex_);
      printed_ += p.text;
    }
  }
}

void Machine::show_printed() {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text.swap(printed_);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Machine::note_slack(const std::string& kernel, unsigned device) {
  const std::uint64_t address = platform_.take_slack_used(device);
  if (address == 0) return;
  std::string where;
  {
    const std::lock_guard lock(mutex_);
    if (!kernels_with_slack_.insert(kernel).second) return;
    const auto& all = allocations_.all();
    if (const auto after = all.upper_bound(address); after != all.begin()) {
      const Allocation& a = std::prev(after)->second;
      where = address < a.address + a.bytes
                  ? ", and on past the end of what was allocated at " + hexadecimal(a.address)
                  : fmt::format(", {} what was allocated at {}",
                                address == a.address + a.bytes
                                    ? "right behind"
                                    : counted(address - a.address - a.bytes, "byte") + " past the end of",
                                hexadecimal(a.address));
    }
  }
  say(fmt::format("note: kernel {}: an access at {}{}: GPUs let it pass, --exact-bounds makes it a fault",
                  kernel, hexadecimal(address), where));
}

void Machine::note_faults(const Grid& grid, const LaunchResult& result) {
  constexpr std::size_t kTold = 5;
  const std::string& kernel = grid.entry->name;
  const std::vector<FaultRecord> faults = platform_.faults();
  for (std::size_t n = 0; n < std::min(faults.size(), kTold); ++n) {
    std::string line = fmt::format("kernel {}: {}", kernel, text_of(faults[n]));
    if (faults[n].address) {
      const std::lock_guard lock(mutex_);
      line += owner_of(*faults[n].address, grid.device);
    }
    tell(line);
  }
  if (faults.size() > kTold)
    tell(fmt::format("kernel {}: and {} more", kernel, counted(faults.size() - kTold, "fault")));
  if (!faults.empty()) set_fault(status_of(faults.front()));
  if (result.outcome == RunOutcome::deadlock) {
    tell(fmt::format("kernel {} is stuck: nothing can ever move in it", kernel));
    set_fault(Status::launch_timeout);
  }
}

// ---- Streams and events

void Machine::wait_for_room(const Stream& stream) {
  {
    const std::lock_guard lock(mutex_);
    if (stream.capture != nullptr) return;  // nothing is queued
  }
  executor_.wait_for_room();
}

Status Machine::issue(Operation operation, Stream& stream, bool asynchronous, double call_ns) {
  if (!asynchronous && executor_.is_own_thread()) return Status::not_permitted;
  wait_for_room(stream);
  Executor::Ticket ticket = 0;
  // Other threads may have taken the stream away when the work is done, or have given it more.
  const auto end_ns = std::make_shared<double>(0);
  const StreamId id = stream.id;
  {
    const std::lock_guard lock(mutex_);
    if (stream.capture != nullptr) {
      GraphNode& node = stream.capture->graph->add(kind_of(operation), std::move(operation), stream.frontier);
      stream.frontier = {&node};
      return Status::success;
    }
    auto* const record = std::get_if<RecordEvent>(&operation);
    const std::shared_ptr<Event> recorded = record == nullptr ? nullptr : record->event;
    if (record != nullptr) record->number = ++recorded->asked;
    const double asked_ns = schedule_.host_now();
    Executor::Turn turn = turn_of(stream);
    turn.is_short = is_short(operation);
    if (const auto* const awaited = std::get_if<WaitForEvent>(&operation)) turn.after = awaited->event->last;
    ticket = executor_.submit(
        [this, id, asked_ns, end_ns, operation = std::move(operation)] {
          *end_ns = do_next(operation, id, asked_ns).end_ns;
        },
        turn);
    stream.last = ticket;
    if (recorded != nullptr) recorded->last = ticket;
  }
  if (asynchronous) return Status::success;
  const Status status = wait(ticket);
  const std::lock_guard lock(mutex_);
  schedule_.host_waits(*end_ns + call_ns);
  return status;
}

Machine::Done Machine::perform(const Operation& operation) {
  struct Visitor {
    Machine& machine;
    Done operator()(const CopyRequest& c) { return machine.perform_copy(c); }
    Done operator()(const FillRequest& f) { return machine.perform_fill(f); }
    Done operator()(const Grid& g) { return machine.run_grid(g); }
    Done operator()(const HostCall& c) {
      machine.show_printed();
      c.function();
      return {};
    }
    Done operator()(const FreeMemory& f) {
      const Executor::Shared::Hold hold(machine.platform_use_);
      machine.platform_.free(f.address);
      return {};
    }
    Done operator()(const Nothing&) { return {}; }
    Done operator()(const RecordEvent&) { return {}; }
    Done operator()(const WaitForEvent&) { return {}; }
  };
  return std::visit(Visitor{*this}, operation);
}

Span Machine::do_next(const Operation& operation, StreamId stream, double asked_ns) {
  const auto device_of_stream = [&] {
    const std::lock_guard lock(mutex_);
    return schedule_.device_of(stream);
  };
  const unsigned before = std::exchange(device_in_turn_, device_of_stream());
  const Done done = perform(operation);
  device_in_turn_ = before;
  const std::lock_guard lock(mutex_);
  if (const auto* const awaited = std::get_if<WaitForEvent>(&operation))
    schedule_.wait(stream, awaited->event->time_ns);
  const Span span = schedule_.add(stream, done.engine, done.duration_ns, asked_ns);
  if (const auto* const recorded = std::get_if<RecordEvent>(&operation))
    if (Event& event = *recorded->event; recorded->number == 0 || recorded->number > event.recorded_last) {
      event.time_ns = span.end_ns;
      event.recorded_last = recorded->number;
    }
  if (done.record) {
    records_.push_back(*done.record);
    records_.back().time = span;
  }
  return span;
}

Status Machine::wait(Executor::Ticket ticket) {
  if (executor_.is_own_thread()) return Status::not_permitted;
  return after_waiting(executor_.wait(ticket));
}

Status Machine::wait_for_all() {
  if (executor_.is_own_thread()) return Status::not_permitted;
  return after_waiting(executor_.wait_for_all());
}

Status Machine::after_waiting(bool is_done) {
  show_printed();
  return is_done ? fault() : Status::cudart_unloading;
}

Executor::Turn Machine::turn_of(const Stream& stream) const {
  Executor::Turn turn;
  turn.stream = static_cast<std::uint64_t>(stream.id);
  turn.device = stream.device;
  turn.legacy = &stream == legacy_[stream.device];
  turn.blocking = stream.blocking;
  return turn;
}

bool Machine::is_short(const Operation& operation) {
  if (const auto* const call = std::get_if<HostCall>(&operation)) return !call->waits;
  return !std::holds_alternative<Grid>(operation) && !std::holds_alternative<FreeMemory>(operation);
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
  std::shared_ptr<Stream> removed;  // what its capture holds goes without the lock
  const std::lock_guard lock(mutex_);
  const Executor::Turn turn = turn_of(stream);
  if (const auto found = streams_.find(&stream); found != streams_.end()) {
    removed = std::move(found->second);
    streams_.erase(found);
  }
  executor_.submit(
      [this, id] {
        const std::lock_guard own(mutex_);
        schedule_.remove_stream(id);
      },
      turn);
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
  std::shared_ptr<Event> removed;  // likewise
  const std::lock_guard lock(mutex_);
  if (const auto found = events_.find(&event); found != events_.end()) {
    removed = std::move(found->second);
    events_.erase(found);
  }
}

std::shared_ptr<Event> Machine::kept(Event& event) {
  const std::lock_guard lock(mutex_);
  return events_.at(&event);
}

bool Machine::is_capturing(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  return stream.capture != nullptr;
}

Status Machine::record(Event& event, Stream& stream, bool external) {
  if (const Status s = fault(); s != Status::success) return s;
  if (external)
    return is_capturing(stream) ? issue(RecordEvent{kept(event)}, stream, true) : Status::invalid_value;
  {
    const std::lock_guard lock(mutex_);
    event.capture = stream.capture;
    event.frontier = stream.frontier;
    // Within a capture it is a place in the graph, and no work.
    if (stream.capture != nullptr) return Status::success;
    event.recorded = true;
  }
  return issue(RecordEvent{kept(event)}, stream, true);
}

Status Machine::wait_for(Event& event, Stream& stream, bool external) {
  if (external)
    return is_capturing(stream) ? issue(WaitForEvent{kept(event)}, stream, true) : Status::invalid_value;
  {
    const std::lock_guard lock(mutex_);
    if (event.capture != nullptr) {
      if (&stream == legacy_[stream.device]) {
        event.capture->invalid = true;
        return Status::stream_capture_implicit;
      }
      if (stream.capture != nullptr && stream.capture != event.capture) {
        stream.capture->invalid = event.capture->invalid = true;
        return Status::stream_capture_merge;
      }
      if (stream.capture == nullptr) stream.frontier.clear();
      stream.capture = event.capture;
      for (GraphNode* node : event.frontier)
        if (std::find(stream.frontier.begin(), stream.frontier.end(), node) == stream.frontier.end())
          stream.frontier.push_back(node);
      return Status::success;
    }
    if (!event.recorded) return Status::success;
    if (stream.capture != nullptr) {
      stream.capture->invalid = true;
      return Status::stream_capture_isolation;
    }
  }
  // The event was recorded before, so that its time is known when this is looked at.
  return issue(WaitForEvent{kept(event)}, stream, true);
}

Status Machine::query(const Event& event) {
  if (const Status s = fault(); s != Status::success) return s;
  const std::lock_guard lock(mutex_);
  if (event.capture != nullptr) return Status::captured_event;
  return !event.recorded || executor_.is_done(event.last) ? Status::success : Status::not_ready;
}

Status Machine::synchronize(Event& event) {
  Executor::Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    if (event.capture != nullptr) return Status::captured_event;
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
  if (stream.capture != nullptr) {
    stream.capture->invalid = true;
    return Status::stream_capture_unsupported;
  }
  return executor_.is_done(stream.last) ? Status::success : Status::not_ready;
}

Status Machine::synchronize(Stream& stream) {
  Executor::Ticket ticket = 0;
  const StreamId id = stream.id;
  {
    const std::lock_guard lock(mutex_);
    if (stream.capture != nullptr) {
      stream.capture->invalid = true;
      return Status::stream_capture_unsupported;
    }
    ticket = stream.last;
  }
  const Status status = wait(ticket);
  const std::lock_guard lock(mutex_);
  schedule_.host_waits(schedule_.done(id));
  return status;
}

Status Machine::synchronize(unsigned device) {
  const Status status = wait_for_all();
  const std::lock_guard lock(mutex_);
  schedule_.host_waits(schedule_.device_done(device));
  return status;
}

Status Machine::call(std::function<void()> function, Stream& stream) {
  if (const Status s = fault(); s != Status::success) return s;
  return issue(HostCall{std::move(function)}, stream, true);
}

// ---- Graphs

Graph& Machine::add_graph(std::unique_ptr<Graph> graph) {
  const std::lock_guard lock(mutex_);
  Graph& added = *graph;
  graphs_[&added] = std::move(graph);
  return added;
}

bool Machine::is_graph(const void* handle) {
  return Graph::exists(handle);
}

void Machine::remove_graph(Graph& graph) {
  std::unique_ptr<Graph> removed;  // what it holds of the platform goes without the lock
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(&graph);
  if (found == graphs_.end()) return;  // a part of something else
  removed = std::move(found->second);
  graphs_.erase(found);
}

GraphExec& Machine::add_exec(const Graph& graph) {
  auto exec = std::make_unique<GraphExec>(graph);
  const std::lock_guard lock(mutex_);
  GraphExec& added = *exec;
  execs_[&added] = std::move(exec);
  return added;
}

bool Machine::is_exec(const void* handle) {
  const std::lock_guard lock(mutex_);
  return execs_.count(handle) != 0;
}

void Machine::remove_exec(GraphExec& exec) {
  std::unique_ptr<GraphExec> removed;
  const std::lock_guard lock(mutex_);
  const auto found = execs_.find(&exec);
  removed = std::move(found->second);
  execs_.erase(found);
}

Span Machine::do_steps(const GraphExec::Steps& steps, unsigned device, double begin_ns) {
  std::vector<double> ends;
  Span all{begin_ns, begin_ns};
  for (const GraphExec::Step& step : steps) {
    double begin = begin_ns;
    for (const std::size_t before : step.after) begin = std::max(begin, ends[before]);
    double end = begin;
    if (step.child != nullptr) {
      end = do_steps(*step.child, device, begin).end_ns;
    } else if (step.condition != nullptr) {
      end = do_choice(step, device, begin);
    } else if (step.enabled) {
      // Steps that do not wait for each other are done at the same time, as engines allow: each has a
      // stream of its own.
      StreamId own{};
      {
        const std::lock_guard lock(mutex_);
        own = StreamId{++streams_made_};
        schedule_.add_stream(own, device, false);
      }
      end = do_next(step.operation, own, begin).end_ns;
      const std::lock_guard lock(mutex_);
      schedule_.remove_stream(own);
    }
    ends.push_back(end);
    all.end_ns = std::max(all.end_ns, end);
  }
  return all;
}

double Machine::do_choice(const GraphExec::Step& step, unsigned device, double begin_ns) {
  const auto value = [&] {
    const Executor::Shared::Hold hold(platform_use_);
    std::uint32_t now = 0;
    platform_.read(step.condition->address, &now, sizeof now);
    return now;
  };
  std::size_t body = 0;
  switch (step.choice) {
    case GraphNode::Choice::loop: {
      double end = begin_ns;
      while (value() != 0 && fault() == Status::success && !executor_.stopping())
        end = do_steps(*step.bodies.front(), device, end).end_ns;
      return end;
    }
    case GraphNode::Choice::if_else: body = value() != 0 ? 0 : 1; break;
    case GraphNode::Choice::select: body = value(); break;
  }
  return body < step.bodies.size() ? do_steps(*step.bodies[body], device, begin_ns).end_ns : begin_ns;
}

void Machine::set_conditions(const GraphExec::Steps& steps) {
  for (const GraphExec::Step& step : steps) {
    if (step.child != nullptr) set_conditions(*step.child);
    for (const auto& body : step.bodies) set_conditions(*body);
    if (step.condition == nullptr || !step.condition->initial) continue;
    const Executor::Shared::Hold hold(platform_use_);
    platform_.write(step.condition->address, &*step.condition->initial, sizeof(std::uint32_t));
  }
}

Status Machine::launch(const GraphExec& exec, Stream& stream) {
  show_printed();
  if (const Status s = fault(); s != Status::success) return s;
  if (runs_unloaded(*exec.steps())) {
    tell("a graph cannot be launched: the module of one of its kernels was unloaded");
    return Status::invalid_resource_handle;
  }
  wait_for_room(stream);
  const std::lock_guard lock(mutex_);
  if (stream.capture != nullptr) {
    GraphNode& node = stream.capture->graph->add(GraphNode::Kind::child, Nothing{}, stream.frontier);
    node.steps = exec.steps();
    stream.capture->graph->objects().add(*exec.objects());
    stream.frontier = {&node};
    return Status::success;
  }
  const double asked_ns = schedule_.host_now();
  stream.last = executor_.submit(
      [this, steps = exec.steps(), held = exec.objects(), id = stream.id, device = stream.device, asked_ns] {
        const double begin = do_next(Nothing{}, id, asked_ns).end_ns;
        set_conditions(*steps);
        const Span span = do_steps(*steps, device, begin);
        {
          const std::lock_guard own(mutex_);
          schedule_.wait(id, span.end_ns);
        }
        do_next(Nothing{}, id, asked_ns);
      },
      turn_of(stream));
  note_records(*exec.steps(), stream.last);
  return Status::success;
}

Status Machine::begin_capture(Stream& stream, int mode, Graph* into, const std::vector<GraphNode*>& after) {
  const std::lock_guard lock(mutex_);
  if (stream.capture != nullptr) return Status::illegal_state;
  if (&stream == legacy_[stream.device]) return Status::stream_capture_unsupported;
  auto capture = std::make_shared<Capture>();
  if (into == nullptr) capture->own = std::make_unique<Graph>();
  capture->graph = into == nullptr ? capture->own.get() : into;
  capture->origin = &stream;
  capture->id = ++captures_;
  capture->mode = mode;
  stream.capture = std::move(capture);
  stream.frontier = after;
  return Status::success;
}

Status Machine::end_capture(Stream& stream, Graph*& graph) {
  graph = nullptr;
  std::unique_ptr<Graph> made;
  std::shared_ptr<Capture> capture;  // what it holds of the platform goes without the lock
  {
    const std::lock_guard lock(mutex_);
    capture = stream.capture;
    if (capture == nullptr) return Status::illegal_state;
    if (capture->origin != &stream) return Status::stream_capture_unmatched;
    // What other streams did for it comes before the end.
    std::set<const GraphNode*> reached;
    std::vector<const GraphNode*> left(stream.frontier.begin(), stream.frontier.end());
    while (!left.empty()) {
      const GraphNode* const node = left.back();
      left.pop_back();
      if (reached.insert(node).second) left.insert(left.end(), node->after.begin(), node->after.end());
    }
    bool joined = true;
    for (const auto& [handle, other] : streams_) {
      if (other->capture != capture) continue;
      for (const GraphNode* node : other->frontier) joined = joined && reached.count(node) != 0;
      other->capture = nullptr;
      other->frontier.clear();
    }
    for (const auto& [handle, event] : events_)
      if (event->capture == capture) {
        event->capture = nullptr;
        event->frontier.clear();
      }
    if (capture->invalid) return Status::stream_capture_invalidated;
    if (!joined) return Status::stream_capture_unjoined;
    graph = capture->graph;
    made = std::move(capture->own);
  }
  if (made != nullptr) add_graph(std::move(made));
  return Status::success;
}

Status Machine::fault() {
  const std::lock_guard lock(mutex_);
  return fault_;
}

void Machine::set_fault(Status status) {
  const std::lock_guard lock(mutex_);
  if (fault_ != Status::success) return;
  fault_ = status;
  fault_device_ = device_in_turn_;
}

std::string Machine::profile() {
  const std::vector<KernelProfile> kernels = profiler_->kernels();
  for (const KernelProfile& kernel : kernels)
    for (const std::string& sentence : unreconciled(kernel)) tell("profile: " + sentence);
  return profile_text(kernels, config_.name, "fast", sources_);
}

std::vector<std::string> Machine::finish_files() {
  std::vector<std::string> failures;
  if (watcher_ != nullptr) failures = watcher_->finish();
  if (sampler_ != nullptr)
    if (const std::string failure = sampler_->finish(); !failure.empty())
      failures.push_back("--series: " + failure);
  return failures;
}

std::vector<WorkRecord> Machine::finish() {
  executor_.stop();
  show_printed();
  const std::lock_guard lock(mutex_);
  return records_;
}

}  // namespace warpline::cuda
