#include "platform/consistency/record/execution_recorder.h"

#include <algorithm>
#include <cstring>

#include "platform/consistency/record/recording_source.h"
#include "rtl_models/bulk_copy/bulk_walk.h"
#include "rtl_models/isa/atomic.h"
#include "rtl_models/sim/cluster_address.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/copy_groups.h"
#include "rtl_models/sm/load_store_unit.h"
#include "rtl_models/sm/mbarrier.h"

namespace warpline {
namespace {

/// Accesses that no record can hold: their memory, or what they do to it, is not that of the memory model's
/// scalar accesses. Null: it can.
const char* unrecordable(const MemOp& op) {
  if (op.multimem) return "accesses to several GPUs' memory at once (multimem)";
  if (op.tile_passes != 0) return "asynchronous products of matrices";
  switch (op.kind) {
    case MemKind::bulk_copy:
      if (op.dimensions != 0) return "bulk copies of tensors";
      if (op.multicast) return "bulk copies to several CTAs";
      if (op.bulk == BulkDirection::cancel) return "\"clusterlaunchcontrol\"";
      return op.atomic != AtomicOperation::none ? "bulk reductions" : nullptr;
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
         kind == MemKind::reduction || kind == MemKind::mbarrier || kind == MemKind::async_copy ||
         kind == MemKind::async_store || kind == MemKind::bulk_copy;
}

bool is_told(const RecordedEvent& e) {
  return e.operation != 0 && e.part == RecordedEvent::Part::told && e.kind == RecordedEvent::Kind::access;
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
  arrivals_.clear();
  copying_.clear();
  bulk_copying_.clear();
  bulk_.clear();
  operations_ = 0;
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
  constexpr unsigned kMostEvents = 3;  // of an element: what it reads and writes, and what is told
  if (op.kind == MemKind::bulk_copy && (unrecordable(op) != nullptr || op.bulk == BulkDirection::prefetch))
    return;
  if (!moves_data(op.kind) || op.tile_passes != 0 ||
      !takes(std::size_t{kMostEvents} * lane_count(access.active) * op.vector))
    return;
  Run run;
  run.first = record_.events.size();
  RecordedEvent e;
  e.instruction = number_of(i, source);
  under_way_.erase(&access);
  performing_.erase(&access);
  if (op.kind == MemKind::mbarrier && op.mbarrier == MbarrierOperation::copies_arrive) {
    // Without `.noinc` one more arrival is expected at once, by an operation of its own.
    e.reads = e.writes = true;
    if (op.mbarrier_form != MbarrierForm::no_increment) {
      for_each_lane(access.active, [&](unsigned lane) { add_lane(e, op, w, access, lane, run); });
      performing_[&access] = run;
    }
    return await_copies(e, i, w, access);
  }
  e.reads = op.kind != MemKind::store && !(op.kind == MemKind::mbarrier && makes_object(op));
  e.writes = op.kind != MemKind::load && !op.waits_for_phase();
  for_each_lane(access.active, [&](unsigned lane) {
    if (op.kind == MemKind::async_copy) {
      add_copy(e, op, w, access, lane, run);
    } else if (op.kind == MemKind::bulk_copy) {
      add_bulk(e, i, w, access, lane, run);
    } else if (op.kind == MemKind::async_store) {
      add_store(e, op, w, access, lane, run);
    } else {
      add_lane(e, op, w, access, lane, run);
    }
  });
  if (run.offsets.empty()) return;
  if (op.kind == MemKind::async_copy) {
    performing_[&access] = run;
    return;
  }
  // What goes to the own CTA's shared memory takes effect in its turn there, all else elsewhere.
  bool own = false;
  for (std::size_t n = run.first; n < record_.events.size(); ++n) {
    const bool is_own = record_.events[n].space == w.cta_number + 1;
    if (record_.events[n].kind != RecordedEvent::Kind::access) continue;
    own = own || is_own;
    run.left += record_.events[n].writes && !is_own;
  }
  if (op.reads()) under_way_[&access] = run;
  if (own && op.kind != MemKind::bulk_copy) performing_[&access] = run;
  if (run.left != 0) on_their_way_[pair_key(w.sm, w.slot)].push_back(run);
}

std::size_t ExecutionRecorder::append(RecordedEvent e, Run& run) {
  e.issued = ++now_;
  touch(e);
  record_.events.push_back(e);
  run.offsets.push_back(0);
  return record_.events.size() - 1;
}

/// An asynchronous copy of a lane: it reads, and writes what it has read to shared memory of its CTA.
void ExecutionRecorder::add_copy(RecordedEvent e, const MemOp& op, const Warp& w, const MemoryAccess& access,
                                 unsigned lane, Run& run) {
  const CopyTarget to = CopyTarget::of(access.second[lane]);
  e.bytes = static_cast<std::uint8_t>(op.bytes_per_lane());
  if (op.fills && to.bytes < e.bytes)
    return refuse("asynchronous copies that fill with zeros", record_.instructions[e.instruction].where);
  e.thread = thread_of(w, lane);
  e.operation = ++operations_;
  e.reads = e.returned = true;
  e.writes = false;
  if (!place(e, op, w, access.address_of(lane), e.bytes)) return;
  RecordedEvent target = e;
  MemOp shared = op;
  shared.space = Space::shared;
  target.part = RecordedEvent::Part::target;
  target.reads = target.returned = false;
  target.writes = true;
  if (!place(target, shared, w, to.offset, e.bytes)) return;
  Copying& copying = copying_[e.thread];
  for (const RecordedEvent& part : {e, target}) copying.left.emplace_back(append(part, run), copying.open);
}

/// `st.async`, `red.async` of a lane: what it writes, and the mbarrier object that is told of it.
void ExecutionRecorder::add_store(RecordedEvent e, const MemOp& op, const Warp& w, const MemoryAccess& access,
                                  unsigned lane, Run& run) {
  const unsigned size = size_of(op.type);
  e.bytes = static_cast<std::uint8_t>(size);
  e.thread = thread_of(w, lane);
  e.operation = ++operations_;
  e.part = RecordedEvent::Part::target;
  e.reads = op.atomic != AtomicOperation::none;
  e.writes = true;
  for (unsigned n = 0; n < op.vector; ++n) {
    e.element = n;
    if (!place(e, op, w, access.address_of(lane) + std::uint64_t{n} * size, size)) continue;
    const std::uint8_t* const data = access.lane_data(lane) + std::size_t{n} * size;
    std::copy_n(data, size, e.written.begin());
    const std::size_t at = append(e, run);
    if (e.reads) std::copy_n(data, size, operands_[at].b.begin());
  }
  RecordedEvent told = e;
  told.part = RecordedEvent::Part::told;
  told.reads = true;
  told.bytes = Mbarrier::kBytes;
  if (place(told, op, w, access.second[lane], Mbarrier::kBytes))
    operands_[append(told, run)].b[0] = static_cast<std::uint8_t>(op.bytes_per_lane());
}

/// Lanes that arrive at one object do so together, as the SM has it: those of the lowest lane first.
void ExecutionRecorder::await_copies(RecordedEvent e, const Instruction& i, const Warp& w,
                                     const MemoryAccess& access) {
  Run run;
  e.follows_copies = true;
  e.bytes = Mbarrier::kBytes;
  std::vector<Arrival>& arrivals = arrivals_[pair_key(w.sm, w.slot)];
  for (LaneMask left = access.active; left != 0;) {
    const unsigned first = first_lane(left);
    Arrival arrival{&i, first, {}};
    for_each_lane(left, [&](unsigned lane) {
      if (access.address_of(lane) != access.address_of(first)) return;
      left &= ~(LaneMask{1} << lane);
      e.thread = thread_of(w, lane);
      if (place(e, i.mem, w, access.address_of(lane), e.bytes)) arrival.events.push_back(append(e, run));
    });
    arrivals.push_back(std::move(arrival));
  }
}

/// A lane's bulk copy, in pieces as the hardware moves them. An mbarrier of the own CTA is told of each, that
/// of another CTA of all together.
void ExecutionRecorder::add_bulk(RecordedEvent e, const Instruction& i, const Warp& w,
                                 const MemoryAccess& access, unsigned lane, Run& run) {
  using Part = RecordedEvent::Part;
  const BulkDirection way = i.mem.bulk;
  BulkOperands o;
  std::memcpy(&o, access.lane_data(lane), sizeof o);
  const bool out = way == BulkDirection::to_global, between = way == BulkDirection::to_cluster;
  MemOp global, shared;
  global.space = Space::global;
  shared.space = Space::shared_cluster;
  const std::uint64_t from =
      between ? AddressWindows::own_offset(static_cast<std::uint32_t>(access.address_of(lane)))
              : access.address_of(lane);
  const auto pieces = o.bytes / BulkWalk::kLine + 2;
  if (!takes(2 * std::size_t{o.bytes} / RecordedEvent::kMostBytes + 4 * std::size_t{pieces})) return;
  e.thread = thread_of(w, lane);
  e.bytes = RecordedEvent::kMostBytes;
  e.operation = ++operations_;
  RecordedEvent told = e;
  told.bytes = Mbarrier::kBytes;
  told.part = Part::told;
  told.reads = told.writes = true;
  if (!out && !place(told, shared, w, o.mbarrier, told.bytes)) return;
  const bool home = !out && told.space == w.cta_number + 1;
  BulkCopy copy{&i, lane, from, AddressWindows::own_offset(o.shared), record_.events.size(), 0, 0};
  const auto tell = [&](std::uint32_t bytes) {
    told.operation = e.operation;
    std::memcpy(operands_[append(told, run)].b.data(), &bytes, sizeof bytes);
    copy.left += home;
  };
  BulkWalk walk = BulkWalk::of_bytes(from, o.bytes);
  for (BulkPiece piece; walk.next(piece);) {
    if (home && piece.offset != 0) e.operation = ++operations_;
    told.element = piece.offset;
    for (const Part part : {Part::source, Part::target}) {
      const bool reads = part == Part::source;
      RecordedEvent chunk = e;
      chunk.part = part;
      chunk.reads = chunk.returned = reads;
      chunk.writes = !reads;
      for (std::uint32_t at = piece.offset; at < piece.offset + piece.bytes; at += e.bytes) {
        chunk.element = at;
        const bool in_shared = reads ? between || out : !out;
        const std::uint64_t first = in_shared ? (reads && between ? from : std::uint64_t{o.shared}) : from;
        if (!place(chunk, in_shared ? shared : global, w, first + at, chunk.bytes)) return;
        append(chunk, run);
        copy.left += reads;
      }
      chunk.kind = RecordedEvent::Kind::completion;
      chunk.reads = chunk.returned = chunk.writes = false;
      chunk.issued = ++now_;
      record_.events.push_back(chunk);
      run.offsets.push_back(0);
    }
    if (home) tell(piece.bytes);
  }
  if (!out && !home) tell(o.bytes);
  copy.end = record_.events.size();
  if (out)
    for (std::size_t n = copy.first; n < copy.end; ++n)
      bulk_copying_[e.thread].left.emplace_back(n, bulk_copying_[e.thread].open);
  bulk_[pair_key(w.sm, w.slot)].push_back(copy);
}

void ExecutionRecorder::commit(std::unordered_map<std::uint32_t, Copying>& copying, std::uint32_t thread) {
  if (const auto found = copying.find(thread); found != copying.end()) ++found->second.open;
}

void ExecutionRecorder::wait(std::unordered_map<std::uint32_t, Copying>& all, std::uint32_t thread,
                             std::uint32_t groups, bool reads) {
  const auto found = all.find(thread);
  if (found == all.end()) return;
  Copying& copying = found->second;
  const bool every = groups == CopyGroups::kWaitForAll;
  const std::uint32_t finished = copying.open > groups ? copying.open - groups : 0;
  const auto goes_on = [&](const std::pair<std::size_t, std::uint32_t>& c) {
    return (!every && c.second >= finished) ||
           (reads && record_.events[c.first].part != RecordedEvent::Part::source);
  };
  const auto end = std::stable_partition(copying.left.begin(), copying.left.end(), goes_on);
  for (auto c = end; c != copying.left.end(); ++c) record_.events[c->first].waited = now_;
  copying.left.erase(end, copying.left.end());
}

void ExecutionRecorder::commit_copies(const Warp& w, LaneMask lanes) {
  for_each_lane(lanes, [&](unsigned lane) { commit(copying_, thread_of(w, lane)); });
}

void ExecutionRecorder::wait_for_copies(const Warp& w, LaneMask lanes, std::uint32_t groups) {
  ++now_;
  for_each_lane(lanes, [&](unsigned lane) { wait(copying_, thread_of(w, lane), groups, false); });
}

void ExecutionRecorder::commit_bulk(const Warp& w, LaneMask lanes) {
  for_each_lane(lanes, [&](unsigned lane) { commit(bulk_copying_, thread_of(w, lane)); });
}

void ExecutionRecorder::wait_for_bulk(const Warp& w, LaneMask lanes, std::uint32_t groups, bool reads) {
  ++now_;
  for_each_lane(lanes, [&](unsigned lane) { wait(bulk_copying_, thread_of(w, lane), groups, reads); });
}

bool ExecutionRecorder::is_of(const BulkCopy& copy, const BulkOrder& order) {
  return copy.instruction == order.instruction && copy.lane == order.lane && copy.address == order.address &&
         copy.shared == AddressWindows::own_offset(order.operands.shared);
}

void ExecutionRecorder::bulk_moved(unsigned sm, const BulkOrder& order, std::uint32_t offset,
                                   const std::uint8_t* bytes, std::uint32_t count, bool landed) {
  bool moved = false;
  std::vector<BulkCopy>& copies = bulk_[pair_key(sm, order.slot)];
  for (BulkCopy& copy : copies) {
    if (moved || !is_of(copy, order)) continue;
    for (std::size_t n = copy.first; n < copy.end; ++n) {
      RecordedEvent& e = record_.events[n];
      if (e.kind != RecordedEvent::Kind::access || is_told(e) || e.element < offset ||
          e.element >= offset + count)
        continue;
      RecordedEvent::Bytes& to = e.reads ? e.read : e.written;
      if (e.reads && e.answered != ~Moment{0}) break;  // of another copy from and to the same place
      std::copy_n(bytes + (e.element - offset), e.bytes, to.begin());
      if (e.reads) e.answered = ++now_;
      if (e.writes && landed) e.coherent = ++now_;
      copy.left -= e.reads;
      moved = true;
    }
  }
  copies.erase(
      std::remove_if(copies.begin(), copies.end(), [](const BulkCopy& copy) { return copy.left == 0; }),
      copies.end());
}

void ExecutionRecorder::bulk_told(unsigned sm, const BulkOrder& order, std::uint32_t offset,
                                  std::uint64_t before, std::uint64_t after) {
  std::vector<BulkCopy>& copies = bulk_[pair_key(sm, order.slot)];
  for (auto copy = copies.begin(); copy != copies.end(); ++copy) {
    if (!is_of(*copy, order)) continue;
    for (std::size_t n = copy->first; n < copy->end; ++n) {
      RecordedEvent& e = record_.events[n];
      if (!is_told(e) || e.coherent != 0 || e.element != offset) continue;
      change_object(e, before, after);
      if (--copy->left == 0) copies.erase(copy);
      return;
    }
  }
}

void ExecutionRecorder::copies_landed(const MemoryAccess& access, const Request& r,
                                      const std::uint8_t* shared) {
  const auto found = performing_.find(&access);
  if (found == performing_.end()) return;
  const Run& run = found->second;
  for (std::size_t n = run.first; n + 1 < run.first + run.offsets.size(); n += 2) {
    RecordedEvent& source = record_.events[n];
    RecordedEvent& target = record_.events[n + 1];
    if (source.address - r.virtual_line.value >= kLineBytes || target.coherent != 0) continue;
    std::copy_n(shared + target.address, target.bytes, target.written.begin());
    source.read = target.written;
    source.answered = ++now_;
    target.coherent = ++now_;
  }
}

void ExecutionRecorder::change_object(RecordedEvent& e, std::uint64_t before, std::uint64_t after) {
  std::memcpy(e.read.data(), &before, sizeof before);
  std::memcpy(e.written.data(), &after, sizeof after);
  e.coherent = ++now_;
}

void ExecutionRecorder::copies_arrived(unsigned sm, unsigned slot, const Instruction& i, unsigned lane,
                                       std::uint64_t before, std::uint64_t /*after*/) {
  const auto found = arrivals_.find(pair_key(sm, slot));
  if (found == arrivals_.end()) return;
  std::vector<Arrival>& arrivals = found->second;
  const auto at = std::find_if(arrivals.begin(), arrivals.end(),
                               [&](const Arrival& a) { return a.instruction == &i && a.lane == lane; });
  if (at == arrivals.end()) return;
  Mbarrier object(before);
  for (const std::size_t n : at->events) {
    const std::uint64_t was = object.word();
    static_cast<void>(object.arrive(1, true));
    change_object(record_.events[n], was, object.word());
  }
  arrivals.erase(at);
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
    } else if (op.kind == MemKind::mbarrier) {
      if (e.writes)
        std::copy_n(data, sizeof(MbarrierOperands::count), operands_[record_.events.size()].b.begin());
    } else if (e.writes) {
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
    // An access may have lanes elsewhere, too, and objects are told when the data is there.
    if (is_told(e) || e.space != record_.threads[e.thread].cta_number + 1) continue;
    if (e.writes) e.coherent = ++now_;
  }
  if (record_.events[run.first].operation == 0) performing_.erase(found);
}

void ExecutionRecorder::mbarrier_told(const MemoryAccess& access, unsigned lane, std::uint64_t before,
                                      std::uint64_t after) {
  const auto found = performing_.find(&access);
  if (found == performing_.end()) return;
  const Run& run = found->second;
  for (std::size_t n = run.first; n < run.first + run.offsets.size(); ++n) {
    RecordedEvent& e = record_.events[n];
    if (is_told(e) && e.coherent == 0 && record_.threads[e.thread].number % kWarpLanes == lane)
      change_object(e, before, after);
  }
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

/// Arrivals, or bytes of transactions, of an operation on an mbarrier object.
std::uint32_t ExecutionRecorder::count_of(const RecordedEvent& e) const {
  const auto found = operands_.find(static_cast<std::size_t>(&e - record_.events.data()));
  std::uint32_t count = 1;
  if (found != operands_.end()) std::memcpy(&count, found->second.b.data(), sizeof count);
  return count;
}

/// Lanes that ask the same of one object are one part of the request: each of them is as good as the others.
void ExecutionRecorder::remote_mbarrier_performed(const Request& r, const LaneAtomic& part,
                                                  std::uint64_t before, std::uint64_t after) {
  const auto found = on_their_way_.find(pair_key(r.sm, r.warp));
  if (found == on_their_way_.end()) return;
  const std::uint64_t offset = ClusterAddress::of(r.line).offset + part.offset;
  std::vector<Run>& runs = found->second;
  for (auto run = runs.begin(); run != runs.end(); ++run)
    for (std::size_t n = run->first; n < run->first + run->offsets.size(); ++n) {
      RecordedEvent& e = record_.events[n];
      const bool of_object = is_told(e) || record_.instructions[e.instruction].op.kind == MemKind::mbarrier;
      const bool of_bulk = record_.instructions[e.instruction].op.kind == MemKind::bulk_copy;
      if (!of_object || of_bulk != LoadStoreUnit::is_of_bulk(r.token) || !e.writes || e.coherent != 0 ||
          e.physical != offset || !is_of_cta(r, e) || count_of(e) != part.operand)
        continue;
      change_object(e, before, after);
      if (--run->left == 0) runs.erase(run);
      return;
    }
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

/// Whether the request goes to the CTA whose shared memory `e` accesses.
bool ExecutionRecorder::is_of_cta(const Request& r, const RecordedEvent& e) const {
  Warp w;
  w.cta = record_.threads[e.thread].cta;
  return cta_of_rank(w, ClusterAddress::of(r.line).rank) + 1 == e.space;
}

bool ExecutionRecorder::is_in(const Request& r, const RecordedEvent& e) const {
  const bool remote = ClusterAddress::is(r.line);
  const RecordedThread& thread = record_.threads[e.thread];
  if (!e.writes || e.coherent != 0 || remote != (e.space != 0) || e.space == thread.cta_number + 1)
    return false;
  const bool of_bulk = record_.instructions[e.instruction].op.kind == MemKind::bulk_copy;
  if (is_told(e) || (remote && of_bulk != LoadStoreUnit::is_of_bulk(r.token))) return false;
  std::uint64_t offset = e.physical - r.line.value;
  if (remote) {
    if (!is_of_cta(r, e)) return false;
    offset = e.physical - ClusterAddress::of(r.line).offset;
  }
  if (offset >= kLineBytes) return false;
  // Of stores and bulk copies of one warp to one place, the bytes tell which it is.
  if (r.command == Command::write)
    return !e.reads && r.bytes.test(static_cast<unsigned>(offset)) &&
           std::equal(e.written.begin(), e.written.begin() + e.bytes, r.data.begin() + offset);
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
    if (e.reads && op.kind != MemKind::mbarrier && !is_told(e)) {
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
