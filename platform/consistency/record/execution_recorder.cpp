#include "platform/consistency/record/execution_recorder.h"

#include <algorithm>
#include <cstring>

#include "platform/consistency/record/recording_source.h"
#include "rtl_models/isa/atomic.h"
#include "rtl_models/sim/cluster_address.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline {
namespace {

/// Accesses that no record can hold: their memory, or what they do to it, is not that of the memory model's
/// scalar accesses. Null: it can.
const char* unrecordable(const MemOp& op) {
  if (op.multimem) return "accesses to several GPUs' memory at once (multimem)";
  if (op.tile_passes != 0) return "asynchronous products of matrices";
  switch (op.kind) {
    case MemKind::async_copy: return "asynchronous copies";
    case MemKind::mbarrier:
      return op.mbarrier == MbarrierOperation::copies_arrive ? "asynchronous copies" : nullptr;
    case MemKind::bulk_copy: return "bulk copies";
    case MemKind::async_store: return "asynchronous stores";
    case MemKind::fill: return "fills of shared memory";
    case MemKind::discard: return "\"discard\", which leaves bytes undefined";
    case MemKind::texture_load: return "texture accesses";
    case MemKind::surface_load:
    case MemKind::surface_store: return "surface accesses";
    default:
      if (op.space == Space::surface && op.is_atomic()) return "surface accesses";
      return nullptr;
  }
}

bool moves_data(MemKind kind) {
  return kind == MemKind::load || kind == MemKind::store || kind == MemKind::atomic ||
         kind == MemKind::reduction || kind == MemKind::mbarrier;
}

bool makes_object(const MemOp& op) {
  return op.mbarrier == MbarrierOperation::init || op.mbarrier == MbarrierOperation::inval;
}

}  // namespace

void ExecutionRecorder::begin(const KernelInfo& kernel, const AddressSpace& space) {
  kernel_ = kernel;
  space_ = &space;
  hint_ = nullptr;
  full_ = false;
  now_ = meetings_ = 0;
  record_ = {};
  record_.kernel = kernel.name;
  record_.threads_per_cta = kernel.threads_per_cta();
  operands_.clear();
  instructions_.clear();
  threads_.clear();
  under_way_.clear();
  on_their_way_.clear();
  barriers_.clear();
  performing_.clear();
  phases_.clear();
  cluster_meetings_.clear();
}

/// A thread arrives, and waits, in turn: what it arrives at n-th it waits for n-th.
void ExecutionRecorder::meet_in_cluster(const Warp& w, const Instruction& i, const InstructionSource& source,
                                        LaneMask lanes, bool releases) {
  if (!takes(lane_count(lanes))) return;
  RecordedEvent e;
  e.kind = RecordedEvent::Kind::barrier;
  e.instruction = number_of(i, source);
  e.of_cluster = true;
  e.releases = releases;
  e.waits = i.kind == InstructionKind::cluster_wait;
  for_each_lane(lanes, [&](unsigned lane) {
    e.thread = thread_of(w, lane);
    unsigned& arrivals = phases_[e.thread];
    if (!e.waits) ++arrivals;
    std::uint64_t& meeting = cluster_meetings_[pair_key(record_.threads[e.thread].cluster, arrivals)];
    if (meeting == 0) meeting = ++meetings_;
    e.meeting = meeting;
    e.issued = ++now_;
    record_.events.push_back(e);
  });
}

/// The number of the CTA of rank `rank` in the cluster of a warp.
std::uint64_t ExecutionRecorder::cta_of_rank(const Warp& w, unsigned rank) const {
  const Dim3& size = kernel_.cluster.size;
  const Dim3 id{w.cta.x / size.x * size.x + rank % size.x, w.cta.y / size.y * size.y + rank / size.x % size.y,
                w.cta.z / size.z * size.z + rank / size.x / size.y};
  return id.number_in(kernel_.grid);
}

std::unique_ptr<InstructionSource> ExecutionRecorder::watch(std::unique_ptr<InstructionSource> source,
                                                            unsigned sm, unsigned slots) {
  return std::make_unique<RecordingSource>(std::move(source), *this, sm, slots, kernel_.grid);
}

void ExecutionRecorder::refuse(const std::string& what, const std::string& where) {
  // One instruction stands for all of its kind.
  for (const std::string& known : record_.refusals)
    if (known.compare(0, what.size(), what) == 0) return;
  record_.refusals.push_back(where.empty() ? what : what + " (" + where + ")");
}

bool ExecutionRecorder::takes(std::size_t more) {
  if (full_) return false;
  if (record_.events.size() + more <= most_) return true;
  full_ = true;
  refuse("more than " + std::to_string(most_) + " accesses, fences and barriers");
  return false;
}

std::uint32_t ExecutionRecorder::thread_of(const Warp& w, unsigned lane) {
  const unsigned number = w.first_thread + lane;
  const auto [at, fresh] = threads_.try_emplace(pair_key(w.cta_number, number),
                                                static_cast<std::uint32_t>(record_.threads.size()));
  if (fresh) record_.threads.push_back({w.cta, w.cta_number, number, cta_of_rank(w, 0)});
  return at->second;
}

std::uint32_t ExecutionRecorder::number_of(const Instruction& i, const InstructionSource& source) {
  const auto [at, fresh] =
      instructions_.try_emplace(&i, static_cast<std::uint32_t>(record_.instructions.size()));
  if (fresh) record_.instructions.push_back({with_default_order(i.mem), source.where(i)});
  return at->second;
}

/// Finds the memory at `address`, as the program wrote it. False: it is private, or a fault.
bool ExecutionRecorder::place(RecordedEvent& e, const MemOp& op, const Warp& w, std::uint64_t address,
                              unsigned bytes) {
  Space space = op.space;
  if (space == Space::generic) {
    space = AddressWindows::space_of(address);
    address = AddressWindows::from_generic(space, address);
  }
  e.address = e.physical = address;
  if (space == Space::shared || space == Space::shared_cluster) {
    const auto code = static_cast<unsigned>(AddressWindows::rank_code(address));
    e.space = 1 + (code == 0 ? w.cta_number : cta_of_rank(w, code - 1));
    e.address = e.physical = AddressWindows::own_offset(address);
    return e.address + bytes <= kernel_.shared_bytes;
  }
  if (space != Space::global) return false;
  const Mapping* m = space_->find(VirtualAddress{address}, bytes, hint_);
  if (m == nullptr) return false;
  e.space = 0;
  e.physical = m->physical.value + (address - m->base);
  return true;
}

/// Keeps what the bytes of `e` held before the grid: the first access to them finds these values.
void ExecutionRecorder::touch(const RecordedEvent& e) {
  const std::uint64_t line = e.physical & ~std::uint64_t{kLineBytes - 1};
  const auto offset = static_cast<unsigned>(e.physical - line);
  RecordedLine& l = record_.lines[{e.space, line}];
  for (unsigned n = offset; n < offset + e.bytes; ++n)
    if (!l.touched.test(n) && e.space == 0) read_(PhysicalAddress{line + n}, &l.before[n], 1);
  l.touched.set(offset, e.bytes);
}

void ExecutionRecorder::access(const Warp& w, const Instruction& i, const InstructionSource& source,
                               const MemoryAccess& access) {
  const MemOp& op = i.mem;
  if (access.active == 0) return;
  if (const char* what = unrecordable(op); what != nullptr) refuse(what, source.where(i));
  if (!moves_data(op.kind) || op.tile_passes != 0 ||
      !takes(std::size_t{lane_count(access.active)} * op.vector))
    return;
  Run run;
  run.first = record_.events.size();
  RecordedEvent e;
  e.instruction = number_of(i, source);
  e.reads = op.kind != MemKind::store && !(op.kind == MemKind::mbarrier && makes_object(op));
  e.writes = op.kind != MemKind::load && !op.waits_for_phase();
  for_each_lane(access.active, [&](unsigned lane) { add_lane(e, op, w, access, lane, run); });
  // What goes to the own CTA's shared memory takes effect in its turn there, all else elsewhere.
  bool own = false;
  for (std::size_t n = run.first; n < record_.events.size(); ++n) {
    const bool is_own = record_.events[n].space == w.cta_number + 1;
    own = own || is_own;
    run.left += record_.events[n].writes && !is_own;
  }
  if (op.kind == MemKind::mbarrier && run.left != 0)
    refuse("operations on another CTA's mbarrier", source.where(i));
  under_way_.erase(&access);
  performing_.erase(&access);
  if (run.offsets.empty()) return;
  if (op.reads()) under_way_[&access] = run;
  if (own) performing_[&access] = run;
  if (run.left != 0) on_their_way_[pair_key(w.sm, w.slot)].push_back(run);
}

void ExecutionRecorder::add_lane(RecordedEvent e, const MemOp& op, const Warp& w, const MemoryAccess& access,
                                 unsigned lane, Run& run) {
  const unsigned size = size_of(op.type);
  e.bytes = static_cast<std::uint8_t>(size);
  e.thread = thread_of(w, lane);
  for (unsigned n = 0; n < op.vector; ++n) {
    if (!op.has_element(n)) continue;
    if (!place(e, op, w, access.address_of(lane) + std::uint64_t{n} * size, size)) continue;
    e.issued = ++now_;
    const std::uint8_t* data = access.lane_data(lane) + std::size_t{n} * size;
    if (op.kind == MemKind::store) {
      std::copy_n(data, size, e.written.begin());
    } else if (e.writes && op.kind != MemKind::mbarrier) {
      Operands& o = operands_[record_.events.size()];
      std::copy_n(data, size, o.b.begin());
      if (op.atomic == AtomicOperation::compare_and_swap) {
        const auto* second = reinterpret_cast<const std::uint8_t*>(&access.second[lane]);
        std::copy_n(size > sizeof access.second[lane] ? data + size : second, size, o.c.begin());
      }
    }
    touch(e);
    record_.events.push_back(e);
    run.offsets.push_back(static_cast<std::uint16_t>(data - access.data));
  }
}

void ExecutionRecorder::answer(const MemoryAccess& access) {
  const auto found = under_way_.find(&access);
  if (found == under_way_.end()) return;
  const Run& run = found->second;
  for (std::size_t n = 0; n < run.offsets.size(); ++n) {
    RecordedEvent& e = record_.events[run.first + n];
    const std::uint8_t* const answer = access.data + run.offsets[n];
    e.answered = ++now_;
    // What an mbarrier object was is known since then. A wait for a phase that is not complete tells nothing.
    const MemOp& op = record_.instructions[e.instruction].op;
    e.returned = op.kind != MemKind::mbarrier || !op.waits_for_phase() || *answer != 0;
    if (op.kind != MemKind::mbarrier) std::copy_n(answer, e.bytes, e.read.begin());
  }
  under_way_.erase(found);
}

void ExecutionRecorder::fence(Warp& w, const Instruction& i, const InstructionSource& source,
                              LaneMask lanes) {
  // Asynchronous copies are recorded by nobody, so a fence of their proxy orders nothing.
  if (i.mem.kind == MemKind::proxy_fence && i.mem.proxy == Proxy::async) return;
  if (!takes(lane_count(lanes))) return;
  RecordedEvent e;
  e.kind = RecordedEvent::Kind::fence;
  w.fence = record_.events.size();
  w.fencing = lane_count(lanes);
  e.instruction = number_of(i, source);
  add_lanes(e, w, lanes);
}

/// Appends `e` for each lane.
void ExecutionRecorder::add_lanes(RecordedEvent e, const Warp& w, LaneMask lanes) {
  for_each_lane(lanes, [&](unsigned lane) {
    e.thread = thread_of(w, lane);
    e.issued = ++now_;
    record_.events.push_back(e);
  });
}

void ExecutionRecorder::pass_fence(Warp& w) {
  for (; w.fencing != 0; --w.fencing, ++w.fence)
    if (w.fence < record_.events.size()) record_.events[w.fence].answered = ++now_;
}

void ExecutionRecorder::arrive(const Warp& w, const Instruction& i, const InstructionSource& source,
                               const Issue& issue) {
  if (!takes(lane_count(issue.active))) return;
  std::uint64_t& meeting = barriers_[pair_key(w.cta_number, issue.barrier.id)];
  if (meeting == 0) meeting = ++meetings_;
  RecordedEvent e;
  e.kind = RecordedEvent::Kind::barrier;
  e.instruction = number_of(i, source);
  e.meeting = meeting;
  e.expected = issue.barrier.threads;
  e.waits = issue.barrier.waits;
  add_lanes(e, w, issue.active);
}

void ExecutionRecorder::release(const Warp& w, std::uint32_t barrier) {
  barriers_.erase(pair_key(w.cta_number, barrier));
}

void ExecutionRecorder::shared_performed(const MemoryAccess& access) {
  const auto found = performing_.find(&access);
  if (found == performing_.end()) return;
  const Run& run = found->second;
  for (std::size_t n = run.first; n < run.first + run.offsets.size(); ++n) {
    RecordedEvent& e = record_.events[n];
    // An access may have lanes elsewhere, too.
    if (e.writes && e.space == record_.threads[e.thread].cta_number + 1) e.coherent = ++now_;
  }
  performing_.erase(found);
}

void ExecutionRecorder::mbarrier_performed(const MemoryAccess& access, unsigned lane, std::uint64_t before,
                                           std::uint64_t after) {
  const auto found = performing_.find(&access);
  if (found == performing_.end()) return;
  const Run& run = found->second;
  for (std::size_t n = run.first; n < run.first + run.offsets.size(); ++n) {
    RecordedEvent& e = record_.events[n];
    if (record_.threads[e.thread].number % kWarpLanes != lane) continue;
    std::memcpy(e.read.data(), &before, sizeof before);
    std::memcpy(e.written.data(), &after, sizeof after);
    e.coherent = e.writes ? ++now_ : 0;
  }
}

void ExecutionRecorder::taken(const Request& r) {
  const bool writes =
      r.command == Command::write || r.command == Command::atomic || r.command == Command::reduce;
  if (writes && !r.local) take(r);
}

void ExecutionRecorder::remote_performed(const Request& r) {
  take(r);
}

/// One SM's requests to one sector take effect in the order in which it issued them, so the oldest run of the
/// warp that has bytes of the request still under way is the one that made it.
void ExecutionRecorder::take(const Request& r) {
  const auto found = on_their_way_.find(pair_key(r.sm, r.warp));
  if (found == on_their_way_.end()) return;
  std::vector<Run>& runs = found->second;
  for (auto run = runs.begin(); run != runs.end(); ++run) {
    const std::size_t left = run->left;
    take_lanes(r, *run);
    if (run->left == left) continue;
    if (run->left == 0) runs.erase(run);
    return;
  }
}

bool ExecutionRecorder::is_in(const Request& r, const RecordedEvent& e) const {
  const bool remote = ClusterAddress::is(r.line);
  const RecordedThread& thread = record_.threads[e.thread];
  if (!e.writes || e.coherent != 0 || remote != (e.space != 0) || e.space == thread.cta_number + 1)
    return false;
  std::uint64_t offset = e.physical - r.line.value;
  if (remote) {
    const ClusterAddress to = ClusterAddress::of(r.line);
    Warp w;
    w.cta = thread.cta;
    if (cta_of_rank(w, to.rank) + 1 != e.space) return false;
    offset = e.physical - to.offset;
  }
  if (offset >= kLineBytes) return false;
  if (r.command == Command::write) return !e.reads && r.bytes.test(static_cast<unsigned>(offset));
  const unsigned lane = thread.number % kWarpLanes;
  const LaneAtomic* const first = r.atomics->lanes.data();
  return e.reads && std::any_of(first, first + r.atomics->count,
                                [&](const LaneAtomic& part) { return part.lane == lane; });
}

void ExecutionRecorder::take_lanes(const Request& r, Run& run) {
  for (std::size_t n = run.first; n < run.first + run.offsets.size(); ++n) {
    RecordedEvent& e = record_.events[n];
    if (!is_in(r, e)) continue;
    e.coherent = ++now_;
    --run.left;
    if (r.exact) return;  // a transaction has one lane
  }
}

/// Goes through all writes in the order in which they took effect: what reductions found, and what atomics
/// left, follows from it.
void ExecutionRecorder::perform() {
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n < record_.events.size(); ++n) {
    const RecordedEvent& e = record_.events[n];
    if (!e.writes) continue;
    order.push_back(n);
    if (e.coherent == 0)
      refuse("a write that never took effect (" + record_.instructions[e.instruction].where + ")");
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return record_.events[a].coherent < record_.events[b].coherent;
  });
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::array<std::uint8_t, kLineBytes>> memory;
  for (const auto& [key, line] : record_.lines) memory[key] = line.before;
  for (const std::size_t n : order) {
    RecordedEvent& e = record_.events[n];
    const std::uint64_t line = e.physical & ~std::uint64_t{kLineBytes - 1};
    std::uint8_t* at = &memory[{e.space, line}][e.physical - line];
    const MemOp& op = record_.instructions[e.instruction].op;
    if (e.reads && op.kind != MemKind::mbarrier) {
      const Operands& o = operands_[n];
      if (!e.returned) std::copy_n(at, e.bytes, e.read.begin());
      e.written = e.read;
      RecordedEvent::Bytes old_value;
      perform_atomic(op.atomic, op.type, 1, e.written.data(), o.b.data(), o.c.data(), old_value.data(),
                     e.space == 0 ? Subnormals::flushed : Subnormals::kept);
      const bool swaps = op.atomic == AtomicOperation::compare_and_swap;
      e.writes = !swaps || std::equal(o.b.begin(), o.b.begin() + e.bytes, e.read.begin());
      if (!e.writes) continue;
    }
    std::copy_n(e.written.begin(), e.bytes, at);
  }
}

void ExecutionRecorder::read_ends() {
  for (auto& [key, line] : record_.lines)
    for (unsigned n = 0; n < kLineBytes; ++n)
      if (key.first == 0 && line.touched.test(n)) read_(PhysicalAddress{key.second + n}, &line.after[n], 1);
}

ExecutionRecord ExecutionRecorder::end(const std::string& broken) {
  if (!broken.empty()) record_.refusals.insert(record_.refusals.begin(), broken);
  if (full_) {
    record_.events.clear();
    record_.lines.clear();
  }
  if (record_.refusals.empty()) {
    perform();
    read_ends();
  }
  return std::move(record_);
}

}  // namespace warpline
