#include "rtl_models/sm/sm.h"

#include <algorithm>

#include "rtl_models/base/contract.h"
#include "rtl_models/sim/gauge_visitor.h"
#include "rtl_models/sm/sm_mutations.h"
#include "rtl_models/sm/warp_waits.h"

namespace warpline {
namespace {

/// What CCTL asks of a whole cache, and of which.
CacheMaintenance maintenance_of(const MemOp& op) {
  if (op.kind != MemKind::cache_control) return {};
  switch (op.cache_target) {
    case CctlTarget::indexed_constants: return {maintenance::kInvalidate, SmCache::constant};
    case CctlTarget::global_lines: return {maintenance::kInvalidate | maintenance::kInvalidateSurfaces};
    case CctlTarget::local_lines: return {maintenance::kInvalidateLocal};
    default: return {};
  }
}

/// Of those that say the space; where others go is known in the load/store unit, which paces them, too.
bool is_shared_atomic(const Instruction& i) {
  return i.mem.space == Space::shared && i.mem.is_atomic();
}

/// Those beside the first of `count`.
std::deque<L1Port> make_l1_ports(Component& sm, unsigned count) {
  std::deque<L1Port> ports;
  for (unsigned n = 1; n < count; ++n) ports.emplace_back(sm, n);
  return ports;
}

/// All of them.
std::vector<Out<RequestMessage>*> ports_to_l1(Out<RequestMessage>& first, std::deque<L1Port>& more) {
  std::vector<Out<RequestMessage>*> ports = {&first};
  for (L1Port& port : more) ports.push_back(&port.to_l1_lg);
  return ports;
}

}  // namespace

Sm::Sm(Engine& engine, std::string name, ClockDomain domain, const SmParameters& parameters, SmNumber number)
    : Component(engine, std::move(name), domain),
      parameters_(parameters),
      more_l1_(make_l1_ports(*this, parameters.l1_ports)),
      core_(parameters, counters_),
      lsu_(parameters, *this, {ports_to_l1(to_l1_lg, more_l1_), to_texture, to_constant}, number),
      bulk_(parameters.bulk_copy, *this, to_crossbar, lsu_, number),
      fetch_(parameters, *this, to_instruction, number),
      pipes_(parameters),
      scheduler_(parameters.partitions, pipes_),
      tensor_(parameters),
      ordering_(parameters.warp_slots, counters_.ordering),
      dependences_(parameters.warp_slots),
      pace_(parameters.warp_slots),
      barrier_taken_(parameters.cta_slots) {
  lsu_.set_bulk_copies(bulk_);
  from_caches_.push_back(&from_l1_lg);
  for (L1Port& port : more_l1_) from_caches_.push_back(&port.from_l1_lg);
  from_caches_.push_back(&from_texture);
  from_caches_.push_back(&from_constant);
  for (unsigned n = 0; n < from_caches_.size(); ++n) from_caches_[n]->mark_in(inputs_, n);
  from_instruction.mark_in(inputs_, kFromInstruction);
  from_distributor.mark_in(inputs_, kFromDistributor);
}

void Sm::start(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
               unsigned resident) {
  WARPLINE_EXPECT(!busy(), "a kernel starts on an idle SM");
  ending_ = false;
  queued_.clear();
  grid_ = 0;
  core_.restart();
  begin_kernel(info, std::move(source), map, resident);
}

void Sm::queue(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
               unsigned resident) {
  queued_.push_back({info, std::move(source), map, resident});
}

void Sm::begin_kernel(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
                      unsigned resident) {
  watch_ = nullptr;
  if (profile_ != nullptr) profile_->begin_kernel(info, *source);
  core_.start(info, std::move(source), map, resident);
  lsu_.start(map);
  bulk_.start(map);
  fetch_.start(map.code_base, parameters_.fetch_instructions ? info.code_bytes : 0);
  scoreboard_.start(parameters_.warp_slots, std::max(1U, info.registers));
  tensor_.start();
  const std::uint64_t edge = domain().edge_at_or_after(engine().now());
  pipes_.start(edge);
  scheduler_.reset(edge);
}

void Sm::maintain(std::uint8_t what) {
  unsigned index = 0;
  LsuEntry& e = lsu_.entries().take(index);
  e.maintenance = {what, SmCache::l1_lg, Scope::sys};
  e.slot = parameters_.warp_slots;  // nobody's
  e.at = 0;
  lsu_.entries().queue(index);
  wake(engine().now() + 1);
}

// When warps issue.

/// The edge from which on its pace and the operands of `i` let the warp issue it; kNever if not all of these
/// are under way to be there in a known cycle.
std::uint64_t Sm::edge_of_operands(unsigned slot, const Instruction& i) const {
  Cycle at = scoreboard_.ready(slot, i);
  if (i.required != 0) at = std::max(at, dependences_[slot].free(i.required));
  if (at == kNever) return kNever;
  return std::max(pace_[slot].edge, domain().edge_at_or_after(at));
}

/// The edge from which on the warp's next instruction can issue; kNever if something else has to
/// happen first, after which it will be asked again.
std::uint64_t Sm::earliest_issue(unsigned slot) {
  const Instruction* const next = core_.next(slot);
  if (next == nullptr) return kNever;
  const Instruction& i = *next;
  if (!functional_) {
    const std::uint64_t line = fetch_.line_of(i.pc);
    if (line != pace_[slot].line && !come_to(slot, line)) return kNever;
  }
  scheduler_.set_needs_room(slot, SmCore::needs_room(i));
  if (pipes_.present()) pipes_.want(slot, functional_ ? PipeClass::none : i.pipe);
  if (!core_.may_issue(slot, i)) {
    if (i.kind == InstructionKind::memory || i.kind == InstructionKind::fence)
      ordering_.begin(slot, i.mem, edge_);
    return kNever;
  }
  const std::uint64_t edge = edge_of_operands(slot, i);
  if (edge == kNever) return kNever;
  if (i.kind == InstructionKind::memory && is_shared_atomic(i))
    return std::max(edge, pace_[slot].shared_atomic);
  if (i.kind < InstructionKind::matrix) return edge;
  if (i.kind == InstructionKind::matrix) return std::max(edge, tensor_.free_from(slot));
  if (i.kind != InstructionKind::wait_products) return edge;
  return std::max(edge, domain().edge_at_or_after(core_.products(slot).ready(i.groups_left)));
}

/// Something about the warp has changed: schedules its next issue, or retires it.
void Sm::evaluate(unsigned slot) {
  if (!core_.warp(slot).active) return;
  const std::uint64_t edge = earliest_issue(slot);
  scheduler_.schedule(slot, edge);
  if (profile_ != nullptr) charge(slot, edge);
  if (edge != kNever || !core_.may_end(slot)) return;
  if (profile_ != nullptr) profile_->end_warp(slot, edge_);
  const bool triggered = core_.ctas()[core_.warp(slot).cta].triggered;
  if (core_.end_warp(slot)) dones_.add({CtaDone::Kind::ended, triggered, 0});
}

/// Barriers have released warps.
void Sm::evaluate_released() {
  for (const SmCore::Released& r : released_) {
    if (r.waited) not_before(r.slot, edge_ + 1);
    // Of a diverged warp that had lanes running, those released may be the ones that run next.
    evaluate(r.slot);
  }
  released_.clear();
}

/// Whether the kernel of the CTA that comes runs here. Another one makes room when nothing of it is left.
bool Sm::has_begun(Cycle now, const CtaLaunch& launch) {
  if (launch.grid == grid_) return true;
  if (core_.active_warps() != 0 || !lsu_.idle() || !bulk_.idle() || !fetch_.idle() ||
      !core_.signals().empty() || constant_invalidations_ != 0)
    return false;
  const std::size_t passed = launch.grid - grid_ - 1;  // that had no CTA here
  WARPLINE_EXPECT(passed < queued_.size(), "grids begin in the order in which they were queued");
  queued_.erase(queued_.begin(), queued_.begin() + static_cast<std::ptrdiff_t>(passed));
  Queued next = std::move(queued_.front());
  queued_.erase(queued_.begin());
  grid_ = launch.grid;
  begin_kernel(next.info, std::move(next.source), next.map, next.resident);
  // Its parameters and constants lie elsewhere, and texture lines may be older than what they are read from.
  ++constant_invalidations_;
  send_maintenance(now, {maintenance::kInvalidate, SmCache::texture, Scope::gpu}, parameters_.warp_slots);
  return true;
}

/// The warp has given up registers: others of its CTA may have waited for them.
void Sm::offer_registers(unsigned slot) {
  const SmCore::Cta& cta = core_.ctas()[core_.warp(slot).cta];
  for (const unsigned other : cta.slots) {
    if (other == slot || !core_.is_of(cta, other) || scheduler_.is_scheduled(other)) continue;
    not_before(other, edge_ + 1);
    evaluate(other);
  }
}

/// Asks for maintenance in the name of `slot`, which is no warp's. Pre: the load/store unit has room.
void Sm::send_maintenance(Cycle now, const CacheMaintenance& maintenance, unsigned slot) {
  unsigned index = 0;
  take_entry(now, slot, index).maintenance = maintenance;
  lsu_.entries().queue(index);
}

/// Everything that its CTAs have written is performed at L2 before the distributor hears of it.
void Sm::flush(Cycle now) {
  if (flush_ != Flush::asked || !lsu_.entries().has_room()) return;
  send_maintenance(now, {maintenance::kDrain | maintenance::kDrainSurfaces, SmCache::l1_lg, Scope::gpu},
                   flushing_slot());
  flush_ = Flush::sent;
}

void Sm::take_launch(Cycle now) {
  const CtaLaunch& next = from_distributor.front();
  launch_waits_ = next.kind == CtaLaunch::Kind::start && !has_begun(now, next);
  if (launch_waits_) return;
  const CtaLaunch launch = from_distributor.pop(now);
  switch (launch.kind) {
    case CtaLaunch::Kind::start: return start_cta(launch);
    case CtaLaunch::Kind::end: return end_warps();
    case CtaLaunch::Kind::flush: flush_ = Flush::asked; return;
    case CtaLaunch::Kind::answer:
      bulk_.answer_cancel(now, launch.ticket, launch.cancelled ? std::optional(launch.cta) : std::nullopt,
                          bulk_events_, events_);
      return handle_bulk_events(now);
    case CtaLaunch::Kind::release:
      core_.set_released(true);
      for (unsigned slot = 0; slot < core_.warps().size(); ++slot)
        if (!scheduler_.is_scheduled(slot)) evaluate(slot);
      return;
  }
}

CtaDone Sm::Reports::take() {
  const CtaDone first = take_first();
  any_ = ends_grid_ || triggered_ != 0 || flushed_ || !ended_.empty();
  return first;
}

CtaDone Sm::Reports::take_first() {
  using Kind = CtaDone::Kind;
  if (std::exchange(ends_grid_, false)) return {Kind::ends_grid, false, 0};
  if (triggered_ != 0) {
    --triggered_;
    return {Kind::triggered, false, 0};
  }
  if (std::exchange(flushed_, false)) return {Kind::flushed, false, 0};
  const CtaDone first = ended_.front();
  ended_.erase(ended_.begin());
  return first;
}

void Sm::start_cta(const CtaLaunch& launch) {
  core_.set_released(launch.released);
  if (launch.ranks == 0) return start_cta(launch.cta, nullptr);
  const Dim3& size = core_.cluster_size();
  for (std::uint32_t ranks = launch.ranks; ranks != 0; ranks &= ranks - 1) {
    const auto rank = static_cast<unsigned>(__builtin_ctz(ranks));
    ClusterPlace place = launch.place;
    place.rank = static_cast<std::uint8_t>(rank);
    const Dim3 id{launch.cta.x + rank % size.x, launch.cta.y + rank / size.x % size.y,
                  launch.cta.z + rank / size.x / size.y};
    start_cta(id, &place);
  }
}

void Sm::start_cta(Dim3 id, const ClusterPlace* cluster) {
  const SmCore::Cta& cta = core_.begin_cta(id, cluster);
  lsu_.shared().clear(core_.shared_base(cta.slots.front()), core_.shared_bytes());
  barrier_taken_[core_.warp(cta.slots.front()).cta] = 0;
  for (const unsigned slot : cta.slots) {
    scoreboard_.clear(slot);
    dependences_[slot].clear();
    ordering_.forget(slot);
    pace_[slot] = {edge_ + parameters_.cta_launch_latency, fetch_.no_line(), 0};
    fetch_.forget(slot);
    if (profile_ != nullptr) profile_->begin_warp(slot, edge_);
  }
  for (const unsigned slot : cta.slots) evaluate(slot);
  if (ending_) end_warps();
}

/// Every lane of the warp exits; what it has under way goes nowhere.
void Sm::kill(unsigned slot) {
  lsu_.kill(slot);
  bulk_.kill(slot);
  fetch_.forget(slot);
  scheduler_.schedule(slot, kNever);
  ordering_.forget(slot);
  core_.kill(slot, released_);
  wake_released();
}

void Sm::end_warps() {
  for (unsigned slot = 0; slot < core_.warps().size(); ++slot) {
    if (!core_.warp(slot).active) continue;
    kill(slot);
    evaluate(slot);
  }
  wake(engine().now() + 1);
}

// Issue.

void Sm::take_pace(Cycle now, unsigned slot, const Instruction& i) {
  pace_[slot].edge = edge_ + i.wait;
  if (i.read_counter != DependenceCounters::kNone)
    dependences_[slot].hold_until(i.read_counter, domain().after(now, parameters_.issue_latency));
}

/// What issues has been computed ahead, as mostly the next has: of all that an instruction may wait for and
/// change, only registers and pipes are left, and nobody else is concerned.
void Sm::issue_ahead(Cycle now, unsigned slot) {
  const Instruction& i = *core_.warp(slot).next;
  take_pace(now, slot, i);
  const Instruction* const next = core_.execute_ahead(slot);
  note_results(now, slot, i);
  if (next == nullptr) return evaluate(slot);
  if (const std::uint64_t line = fetch_.line_of(next->pc); line != pace_[slot].line && !come_to(slot, line))
    return;
  if (pipes_.present()) pipes_.want(slot, next->pipe);
  scheduler_.schedule_anew(slot, edge_of_operands(slot, *next));
}

void Sm::issue(Cycle now, unsigned slot) {
  const Instruction& i = *core_.warp(slot).next;
  // Another warp of the CTA may have had the registers since this one saw that they are there.
  if (i.kind == InstructionKind::reallocate_registers && core_.registers_missing(slot, i.groups_left) != 0)
    return;
  take_pace(now, slot, i);
  if (i.kind == InstructionKind::alu) return issue_alu(now, slot, i);
  if (i.kind == InstructionKind::memory) return issue_memory(now, slot, i);
  issue_other(now, slot, i);
}

/// One that neither computes nor accesses memory.
void Sm::issue_other(Cycle now, unsigned slot, const Instruction& i) {
  if (i.kind >= InstructionKind::call) return issue_stack(now, slot, i);
  Issue issue;
  issue.clock = edge_;
  core_.execute(slot, issue);
  if (issue.fault != nullptr) {
    core_.keep_program_fault(now, slot, i, issue);
    if (issue.ends_grid) dones_.add_end_of_grid();
  }
  switch (i.kind) {
    case InstructionKind::matrix:
      if (issue.active != 0) issue_matrix(now, slot, i);
      break;
    case InstructionKind::commit_products:
      if (issue.active != 0) core_.products(slot).commit();
      break;
    case InstructionKind::wait_products:
      if (issue.active != 0) core_.products(slot).forget(i.groups_left);
      break;
    case InstructionKind::sleep:
      pace_[slot].edge = edge_ + std::max<std::uint64_t>(1, issue.sleep_cycles);
      break;
    case InstructionKind::barrier:
      core_.arrive(slot, issue, released_);
      keep_at_barrier(slot);
      wake_released();
      break;
    case InstructionKind::fence:
      if (i.mem.kind == MemKind::fence && i.mem.scope > Scope::cluster && !i.waits_for_grid)
        not_before(slot, edge_ + parameters_.fence_latency);
      issue_fence(now, slot, i.mem);
      break;
    case InstructionKind::commit_copies:
      if (issue.active != 0) core_.commit_copies(slot);
      break;
    case InstructionKind::commit_bulk:
      if (issue.active != 0) core_.commit_bulk(slot);
      break;
    case InstructionKind::wait_bulk:
      if (issue.active != 0 && core_.end_bulk_wait(slot)) issue_invalidation(now, slot);
      break;
    case InstructionKind::reallocate_registers:
      if (issue.active != 0 && core_.reallocate_registers(slot, i.groups_left)) offer_registers(slot);
      break;
    case InstructionKind::trigger_dependents:
      if (issue.active != 0 && core_.trigger(slot)) dones_.add_trigger();
      break;
    case InstructionKind::invalidate_constants: constant_invalidations_ += issue.active != 0; break;
    case InstructionKind::invalidate_instructions:
      not_before(slot, edge_ + i.latency);
      if (issue.active != 0) invalidate_instructions();
      break;
    default: break;
  }
}

/// Functional: the warp's next instructions, a cycle each, up to one that is not performed as it issues, or
/// until others have waited for long.
void Sm::issue_many(Cycle now, unsigned slot) {
  constexpr unsigned kTurn = 2048;
  constexpr unsigned kLook = 500;  // about what a look at memory takes
  const ResidentWarp& w = core_.warp(slot);
  unsigned count = 0;
  while (count < kTurn) {
    if (w.loads != 0 || w.stores != 0) break;
    Issue issue;
    count += core_.run_ahead(slot, issue, kTurn - count);
    if (issue.fault != nullptr) core_.keep_program_fault(now, slot, *issue.at_fault, issue);
    const Instruction* const next = core_.next(slot);
    if (next == nullptr || count == kTurn) break;
    if (next->kind != InstructionKind::memory || next->mem.releases() || !lsu_.entries().has_room()) break;
    // Who waits for others would else look again as often as they compute.
    const MemOp& op = next->mem;
    const bool looks = (op.kind == MemKind::load && op.beyond_cta()) ||
                       (op.kind == MemKind::atomic && op.atomic == AtomicOperation::compare_and_swap);
    issue_memory(now, slot, *next);
    ++count;
    if (!looks) continue;
    count += kLook;
    break;
  }
  if (count == 0) return issue(now, slot);
  not_before(slot, edge_ + count);
}

void Sm::issue_profiled(Cycle now, unsigned slot) {
  const Instruction& i = *core_.warp(slot).next;
  const std::uint64_t instructions = counters_.instructions, threads = counters_.thread_instructions;
  profile_->take_turn(slot, edge_);
  issue(now, slot);
  if (counters_.instructions != instructions) {
    profile_->issued(slot, i, counters_.thread_instructions - threads);
  } else {
    profile_->put_off(i);
  }
}

/// An instruction goes to its pipe, if it has one, which is free.
void Sm::issue_alu(Cycle now, unsigned slot, const Instruction& i) {
  issue_.clock = edge_;
  issue_.access = nullptr;
  core_.execute(slot, issue_);
  if (issue_.fault != nullptr) {
    core_.keep_program_fault(now, slot, i, issue_);
    if (issue_.ends_grid) dones_.add_end_of_grid();
    issue_ = {};
  }
  note_results(now, slot, i);
}

/// What `i` computes is there when its pipe, if it has one, is through with it.
void Sm::note_results(Cycle now, unsigned slot, const Instruction& i) {
  unsigned latency = i.latency;
  if (i.reads_short_clock && parameters_.clock_latency != 0) {
    latency = parameters_.clock_latency;
    not_before(slot, edge_ + parameters_.clock_cycles);
  } else if (pipes_.present()) {
    const ArithmeticPipes::Taken taken = pipes_.take(slot, i, scheduler_.ready_since(), edge_);
    counters_.pipe_wait_cycles += taken.waited;
    counters_.pipe_cycles += taken.cycles;
    latency = pipes_.latency(i);
  }
  scoreboard_.set(slot, i, domain().after(now, latency));
}

void Sm::issue_matrix(Cycle now, unsigned slot, const Instruction& i) {
  const std::uint64_t free = take_tensor_pipe(slot, i, edge_);
  scoreboard_.set(slot, i, domain().after(now, free - edge_ + tensor_.latency()));
}

/// A product takes its pipe from `edge` on, or from when it is free. Returns the edge from which on it is
/// free again: the partition's other warps that would multiply matrices wait for that.
std::uint64_t Sm::take_tensor_pipe(unsigned slot, const Instruction& i, std::uint64_t edge) {
  counters_.tensor_cycles += tensor_.take(slot, i, edge);
  ++counters_.matrix_products;
  counters_.matrix_multiply_adds += i.products;
  const std::uint64_t free = tensor_.free_from(slot);
  for (unsigned s = slot % parameters_.partitions; s < parameters_.warp_slots; s += parameters_.partitions)
    if (scheduler_.is_scheduled(s) && core_.warp(s).next->kind == InstructionKind::matrix) {
      const std::uint64_t before = std::max(scheduler_.scheduled(s), edge_);
      scheduler_.delay(s, free);
      if (profile_ != nullptr && before < free)
        profile_->stall_later(s, before, StallReason::tensor_pipe, *core_.warp(s).next);
    }
  return free;
}

/// An entry of the load/store unit that the warp fills now. Pre: there is one.
LsuEntry& Sm::take_entry(Cycle now, unsigned slot, unsigned& index) {
  LsuEntry& e = lsu_.entries().take(index);
  e.slot = slot;
  e.at = domain().after(now, parameters_.issue_latency);
  return e;
}

/// An arrival at the barrier of the warp's cluster, or a wait. Their order is fences' beside them.
void Sm::issue_at_cluster_barrier(Cycle now, unsigned slot, const Instruction& i) {
  const bool waits = i.kind == InstructionKind::cluster_wait;
  Issue issue;
  issue.clock = edge_;
  issue.cluster_passes = core_.passes_in_cluster(slot);
  if (mutated(SmMutation::cluster_wait_does_not_wait)) issue.cluster_passes = ~LaneMask{0};
  core_.execute(slot, issue);
  const LaneMask wrong = waits ? core_.wait_in_cluster(slot, issue.active)
                               : core_.arrive_in_cluster(slot, issue.active, released_);
  wake_released();
  if (wrong == 0) return;
  issue.fault = waits ? "barrier.cluster.wait of a thread that has not arrived"
                      : "barrier.cluster.arrive of a thread that has arrived and not waited";
  issue.fault_lanes = wrong;
  core_.keep_program_fault(now, slot, i, issue);
  kill(slot);
}

/// The warp's arrival takes its turn among those of its CTA, and whom it releases goes on a latency later.
void Sm::keep_at_barrier(unsigned slot) {
  if (parameters_.barrier_latency == 0 && parameters_.barrier_arrival_cycles == 0) return;
  std::uint64_t& taken = barrier_taken_[core_.warp(slot).cta];
  taken = std::max(taken, edge_) + parameters_.barrier_arrival_cycles;
  for (const SmCore::Released& r : released_)
    if (r.waited) not_before(r.slot, taken + parameters_.barrier_latency);
}

void Sm::issue_memory(Cycle now, unsigned slot, const Instruction& i) {
  ResidentWarp& w = core_.warp(slot);
  const bool plain = i.mem.is_plain_load();
  if (!plain && i.mem.releases()) {
    if (const auto drain = step_before_release(i.mem); drain && !w.drained) {
      ordering_.begin(slot, i.mem, edge_);
      send_step(now, slot, *drain);
      return;
    }
    ordering_.end(slot, edge_);
  }
  w.drained = false;
  const bool alone = w.loads == 0 && w.stores == 0;
  unsigned index = 0;
  LsuEntry& e = take_entry(now, slot, index);
  issue_.clock = edge_;
  issue_.access = &e.access;
  core_.execute(slot, issue_);
  if (issue_.fault != nullptr) {
    if (e.access.active == 0) core_.keep_program_fault(now, slot, i, issue_);
    issue_ = {};
  }
  if (e.access.active == 0) {
    core_.complete_empty(slot, i, e.access);
    lsu_.entries().free(index);
    return;
  }
  e.instruction = &i;
  e.shared_base = core_.shared_base(slot);
  e.limits = core_.limits(slot);
  e.plain = plain;
  if (plain) {
    ++w.loads;
  } else {
    begin_access(slot, i, e);
  }
  scoreboard_.set(slot, i, kNever);
  if (i.write_counter != DependenceCounters::kNone) dependences_[slot].hold(i.write_counter);
  if (functional_ && alone && lsu_.perform_now(now, index, events_))
    handle_events(now);
  else
    lsu_.entries().queue(index);
}

/// An access that may be more than a plain load: notes all that it asks for.
void Sm::begin_access(unsigned slot, const Instruction& i, LsuEntry& e) {
  e.maintenance = maintenance_of(i.mem);
  e.bulk_left = i.mem.kind == MemKind::bulk_copy ? e.access.active : 0;
  e.copy_group = core_.begin_access(slot, i.mem, e.access.active);
  if (e.bulk_left != 0 && is_grouped(i.mem.bulk) && mutated(SmMutation::bulk_read_told_early))
    for (unsigned n = lane_count(e.bulk_left); n-- > 0;) core_.finish_bulk_read(slot, e.copy_group);
  if (parameters_.shared_atomic_interval != 0 && is_shared_atomic(i))
    pace_[slot].shared_atomic = edge_ + parameters_.shared_part_cycles + parameters_.shared_atomic_interval;
  if (blocks(i.mem)) {
    core_.warp(slot).hold = Hold::acquire;
    ordering_.begin(slot, i.mem, edge_);
  }
}

void Sm::issue_fence(Cycle now, unsigned slot, const MemOp& fence) {
  ordering_.begin(slot, fence, edge_);
  if (fence.kind == MemKind::proxy_fence && fence.proxy == Proxy::tensormap && fence.acquires())
    bulk_.forget_tensor_maps();
  const auto step = step_of_fence(fence);
  if (!step) return ordering_.end(slot, edge_);
  core_.warp(slot).proxy = fence.proxy;
  send_step(now, slot, *step);
}

/// What bulk copies have written past L1, their warp finds from now on. Pre: the load/store unit has room.
void Sm::issue_invalidation(Cycle now, unsigned slot) {
  const auto step = step_after_bulk_wait();
  if (!step) return;
  MemOp fence;
  fence.kind = MemKind::proxy_fence;
  ordering_.begin(slot, fence, edge_);
  send_step(now, slot, *step);
}

/// The warp stands still until a cache has done what order asks of it. Pre: the load/store unit has room.
void Sm::send_step(Cycle now, unsigned slot, const OrderingStep& step) {
  unsigned index = 0;
  take_entry(now, slot, index).maintenance = step.maintenance;
  lsu_.entries().queue(index);
  core_.warp(slot).hold = step.hold;
}

/// A call, a return, SETCRSPTR or a write-back of the stack. Pre: the load/store unit has room.
void Sm::issue_stack(Cycle now, unsigned slot, const Instruction& i) {
  if (i.kind >= InstructionKind::cluster_arrive) return issue_at_cluster_barrier(now, slot, i);
  if (const auto move = core_.move_before(slot, i)) {
    move_tokens(now, slot, *move);
    if (!move->spill) return;
  }
  Issue issue;
  issue.clock = edge_;
  const SmCore::StackOutcome outcome = core_.execute_stack(slot, i, issue);
  if (issue.fault != nullptr) {
    core_.keep_program_fault(now, slot, i, issue);
    if (outcome == SmCore::StackOutcome::overflown) kill(slot);
    return;
  }
  scoreboard_.set(slot, i, domain().after(now, i.latency));
  if (outcome == SmCore::StackOutcome::flushing) advance_flush(now, slot);
}

/// Sends a group of tokens to local memory, or for them. Pre: the load/store unit has room.
void Sm::move_tokens(Cycle now, unsigned slot, const TokenMove& move) {
  unsigned index = 0;
  LsuEntry& e = take_entry(now, slot, index);
  e.instruction = &CallStacks::instruction_of(move);
  e.tokens = true;
  e.limits = core_.token_limits();
  core_.begin_move(slot, move, e.access);
  lsu_.entries().queue(index);
}

/// Goes on with writing a warp's tokens back, one group at a time; when L1 has accepted them all, the warp
/// goes on.
void Sm::advance_flush(Cycle now, unsigned slot) {
  if ((core_.flushing() >> slot & 1U) == 0) return;
  if (!core_.has_to_write(slot)) {
    if (core_.end_flush(slot)) evaluate(slot);
  } else if (lsu_.entries().has_room()) {
    move_tokens(now, slot, core_.write_back(slot));
  }
}

// Profiles.

/// The warp can issue from `edge` on, by itself; until then it waits for what is charged here.
void Sm::charge(unsigned slot, std::uint64_t edge) {
  const ResidentWarp& w = core_.warp(slot);
  if (w.next == nullptr) return;  // it has not run yet, and its launch is charged
  const Instruction& i = *w.next;
  const WarpState state = core_.source().state(slot);
  if (w.hold != Hold::none || state != WarpState::runnable) return charge_held(slot);
  if (fetch_.waits(slot)) return profile_->stall(slot, edge_, StallReason::no_instruction, i);
  if (!core_.may_issue(slot, i)) return charge_unready(slot, i);
  const Cycle registers = scoreboard_.ready(slot, i);
  const Cycle counters = i.required != 0 ? dependences_[slot].free(i.required) : 0;
  const Cycle results = std::max(registers, counters);
  const std::uint64_t there = results == kNever ? kNever : domain().edge_at_or_after(results);
  if (there > pace_[slot].edge) {
    charge_result(slot, i, registers >= counters ? registers : kNever);
  } else {
    profile_->hold_back(slot, edge_, i);
  }
  const std::uint64_t free = std::max(there, pace_[slot].edge);
  if (edge <= free || there == kNever) return;
  // Then for a pipe, for products, or between two atomics of shared memory.
  const StallReason reason = i.kind == InstructionKind::matrix          ? StallReason::tensor_pipe
                             : i.kind == InstructionKind::wait_products ? StallReason::copies
                                                                        : StallReason::shared;
  profile_->stall_later(slot, std::max(free, edge_), reason, i);
}

/// It stands at a barrier or for the sake of order, or has exited.
void Sm::charge_held(unsigned slot) {
  const ResidentWarp& w = core_.warp(slot);
  // The value of an acquire comes first, and then what has to be done for it.
  if (w.hold == Hold::acquire) return profile_->await_access(slot, edge_, *w.next);
  StallReason reason = StallReason::ordering;
  if (w.hold == Hold::refill || w.hold == Hold::flush) {
    reason = StallReason::call_stack;
  } else if (w.hold == Hold::none) {
    reason = core_.source().state(slot) == WarpState::exited ? StallReason::exit : StallReason::barrier;
  }
  profile_->stall(slot, edge_, reason, *w.next);
}

/// What it has in flight, or others, keep its next instruction from issuing.
void Sm::charge_unready(unsigned slot, const Instruction& i) {
  StallReason reason = StallReason::copies;
  switch (i.kind) {
    case InstructionKind::memory:
    case InstructionKind::fence:
    case InstructionKind::barrier:
      reason = i.waits_for_grid && !core_.released() ? StallReason::grid : StallReason::ordering;
      break;
    case InstructionKind::reallocate_registers: reason = StallReason::registers; break;
    default: break;
  }
  profile_->stall(slot, edge_, reason, i);
}

/// The first of its registers that is there at `at` only, or else of the counters that it names, is what it
/// waits for.
void Sm::charge_result(unsigned slot, const Instruction& i, Cycle at) {
  if (const auto number = scoreboard_.last_of(slot, i, at))
    return profile_->await_register(slot, edge_, *number);
  const Cycle free = dependences_[slot].free(i.required);
  for (unsigned n = 0; n < DependenceCounters::kCounters; ++n)
    if ((i.required >> n & 1U) != 0 && dependences_[slot].free(1U << n) == free)
      return profile_->await_counter(slot, edge_, n);
}

/// Those that could have issued, and did not.
void Sm::charge_unselected() {
  SmProfile::Unselected u;
  u.other = scheduler_.ready();
  u.pipe = scheduler_.kept_by_pipes();
  u.other &= ~u.pipe;
  if (!lsu_.entries().has_room()) u.queue = u.other & scheduler_.need_room();
  u.other &= ~u.queue;
  profile_->could_issue(edge_, u, core_.warps());
}

// What comes back.

/// A plain load of a warp that lives, and of which nobody is told, is done; the results can be read from
/// `ready` on.
void Sm::complete_plain(unsigned index, const LsuEntry& e, Cycle ready) {
  const Instruction& i = *e.instruction;
  const unsigned slot = e.slot;
  if (i.write_counter != DependenceCounters::kNone) dependences_[slot].release(i.write_counter, ready);
  --core_.warp(slot).loads;
  if (core_.complete_load(slot, i, e.access)) scoreboard_.set(slot, i, ready);
  lsu_.entries().free(index);
  // A warp whose next instruction is scheduled already gains nothing by a result.
  if (!scheduler_.is_scheduled(slot)) evaluate(slot);
}

void Sm::take_response(Cycle now, In<ResponseMessage>& port) {
  Request& r = *port.pop(now).request;
  if (lsu_.is_plain(r)) {
    const unsigned index = r.token;
    if (lsu_.respond_plainly(now, r)) {
      const LsuEntry& e = lsu_.entries()[index];
      complete_plain(index, e, e.ready);
    }
    return;
  }
  lsu_.respond(now, r, events_);
  handle_events(now);
}

void Sm::complete(const LsuEvent& event, Cycle now) {
  const LsuEntry& e = lsu_.entries()[event.entry];
  const Instruction& i = *e.instruction;
  const unsigned slot = event.slot;
  ResidentWarp& w = core_.warp(slot);
  const bool killed = e.killed;
  if (profile_ != nullptr && !killed)
    profile_->completed(
        e, edge_,
        domain().edge_at_or_after(event.ready) + parameters_.issue_latency - domain().edge_at_or_after(e.at));
  if (e.plain && !killed) return complete_plain(event.entry, e, event.ready);
  if (i.write_counter != DependenceCounters::kNone) dependences_[slot].release(i.write_counter, event.ready);
  // What a copy wrote can be read then.
  if (i.mem.kind == MemKind::async_copy && !scheduler_.is_scheduled(slot) &&
      w.next->kind == InstructionKind::wait_copies)
    not_before(slot, domain().edge_at_or_after(event.ready));
  if (e.bulk_left != 0) core_.cancel_bulk(slot, i.mem, lane_count(e.bulk_left), e.copy_group);
  const bool alive = core_.complete_access(slot, i, e.access, e.copy_group, killed);
  if (alive) scoreboard_.set(slot, i, event.ready);
  if (i.mem.tile_passes != 0) {
    Cycle ready = event.ready;
    if (alive) {
      const std::uint64_t free = take_tensor_pipe(slot, i, domain().edge_at_or_after(event.ready));
      ready = domain().cycle_of(free + tensor_.latency());
    }
    core_.products(slot).finish(e.copy_group, ready);
  }
  lsu_.entries().free(event.entry);
  if (!killed && ends_order(i.mem, w.hold)) {
    w.hold = Hold::none;
    // The entry just retired makes sure that there is room.
    if (const auto step = i.mem.acquires() ? step_after_acquire(i.mem) : std::nullopt)
      send_step(now, slot, *step);
    if (w.hold == Hold::none) ordering_.end(slot, edge_);
  }
  // A warp whose next instruction is scheduled already gains nothing by a result.
  if (!scheduler_.is_scheduled(slot)) evaluate(slot);
}

void Sm::handle_events(Cycle now) {
  for (const LsuEvent& event : events_) {
    const LsuEntry& e = lsu_.entries()[event.entry];
    switch (event.kind) {
      case LsuEvent::Kind::completed:
        if (e.tokens) {
          complete_move(event, now);
        } else {
          complete(event, now);
        }
        break;
      case LsuEvent::Kind::maintained:
        lsu_.entries().free(event.entry);
        if (event.slot < core_.warps().size()) maintained(now, event.slot);
        if (event.slot == flushing_slot()) {
          flush_ = Flush::none;
          dones_.add_flush();
        }
        break;
      case LsuEvent::Kind::unmapped: core_.keep_unmapped_control(lsu_.last_fault()); break;
      case LsuEvent::Kind::faulted: {
        Fault fault = lsu_.last_fault();
        // The program knows nothing of token accesses; the return that wants the tokens is its next
        // instruction.
        if (e.tokens) fault.instruction = core_.warp(event.slot).next;
        core_.keep_fault(name_of(fault.kind), fault);
        kill(event.slot);
        break;
      }
    }
  }
  events_.clear();
}

/// Bulk copies go on: before the load/store unit, which may hand over more where there is room now.
void Sm::advance_bulk_copies(Cycle now) {
  // Each tells of one fault at most, and the next one takes its place.
  if (from_crossbar.ready(now)) {
    bulk_.respond(now, *from_crossbar.pop(now).request, bulk_events_, events_);
    handle_bulk_events(now);
  }
  bulk_.advance(now, bulk_events_, events_);
  handle_bulk_events(now);
  for (; !bulk_.cancels().empty(); bulk_.cancels().pop_front())
    dones_.add({CtaDone::Kind::cancel, false, bulk_.cancels().front()});
}

void Sm::handle_bulk_events(Cycle now) {
  handle_events(now);
  for (const BulkEvent& event : bulk_events_) {
    switch (event.kind) {
      case BulkEvent::Kind::read:
        if (!mutated(SmMutation::bulk_read_told_early)) core_.finish_bulk_read(event.slot, event.group);
        if (mutated(SmMutation::bulk_wait_ignores_writes)) core_.pass_bulk(event.slot, event.group);
        break;
      case BulkEvent::Kind::done:
        core_.finish_bulk(event.slot, event.group,
                          event.grouped && !mutated(SmMutation::bulk_wait_ignores_writes));
        break;
      case BulkEvent::Kind::faulted:
        lsu_.count_fault();
        core_.keep_fault(name_of(bulk_.last_fault().kind), bulk_.last_fault());
        kill(event.slot);
        break;
    }
    if (!scheduler_.is_scheduled(event.slot)) evaluate(event.slot);
  }
  bulk_events_.clear();
}

/// A group of tokens has passed L1, or has come.
void Sm::complete_move(const LsuEvent& event, Cycle now) {
  const LsuEntry& e = lsu_.entries()[event.entry];
  const bool spill = e.instruction->mem.kind == MemKind::store;
  if (core_.complete_move(event.slot, spill, e.access, e.killed))
    not_before(event.slot, domain().edge_at_or_after(event.ready));
  lsu_.entries().free(event.entry);
  advance_flush(now, event.slot);
  if (!scheduler_.is_scheduled(event.slot)) evaluate(event.slot);
}

/// What the warp's fence, release or acquire asked of a cache is done.
void Sm::maintained(Cycle now, unsigned slot) {
  ResidentWarp& w = core_.warp(slot);
  if (w.hold == Hold::proxy_drain) {
    if (const auto step = step_after_proxy_drain(w.proxy)) {
      // The entry just retired makes sure that there is room.
      send_step(now, slot, *step);
      return;
    }
  }
  w.drained = counts_as_drain(w.hold);
  if (w.hold != Hold::drain) ordering_.end(slot, edge_);
  w.hold = Hold::none;
  evaluate(slot);
}

// Code.

/// The warp's next instruction lies in another line than its last: whether that is there.
bool Sm::come_to(unsigned slot, std::uint64_t line) {
  const bool there = fetch_.come_to(slot, line);
  // Of a diverged warp, other lanes may run next than those that wait. Coming back to the line that they ran
  // in, they ask for it, and what the others asked for no longer counts as theirs.
  pace_[slot].line = there ? line : fetch_.no_line();
  return there;
}

void Sm::take_instructions(Cycle now) {
  const InstructionFetch::Arrival arrival = fetch_.respond(*from_instruction.pop(now).request);
  for (std::uint64_t slots = arrival.slots; slots != 0; slots &= slots - 1) {
    const auto slot = static_cast<unsigned>(__builtin_ctzll(slots));
    if (arrival.failed) {
      fail_fetch(now, slot);
    } else {
      pace_[slot].line = arrival.line;
      evaluate(slot);
      // A dead line serves what waited for it: one instruction. A warp that could stay in it, in a loop,
      // would run old code for good.
      if (!arrival.live) pace_[slot].line = fetch_.no_line();
    }
  }
}

/// The code that the warp waits for cannot be read: that ends it.
void Sm::fail_fetch(Cycle now, unsigned slot) {
  const Instruction& next = *core_.warp(slot).next;
  ++counters_.program_faults;
  const unsigned lane = first_lane(core_.source().live_lanes(slot));
  core_.keep_fault(name_of(FaultKind::no_code), {FaultKind::no_code, now, slot, lane, next.pc, &next});
  kill(slot);
  evaluate(slot);
}

/// Takes its line from every warp. What is about to issue has been fetched and does.
void Sm::invalidate_instructions() {
  fetch_.invalidate();
  for (Pace& pace : pace_) pace.line = fetch_.no_line();
}

// Clusters.

void Sm::join_network() {
  network_ = std::make_unique<Network>(*this);
  network_->from_cluster.perform_by(*this);
  lsu_.join_network(network_->to_network, network_->from_cluster, core_.cluster_counters());
}

void Sm::take_answer(Cycle now) {
  In<ResponseMessage>& port = network_->from_network;
  const unsigned token = port.front().request->token;
  if (LoadStoreUnit::is_of_bulk(token)) {
    bulk_.hear(now, *port.pop(now).request, bulk_events_);
    return handle_bulk_events(now);
  }
  if (token != LoadStoreUnit::kSignal) return take_response(now, port);
  Request* const r = port.pop(now).request;
  const unsigned cta = r->warp;
  pool().release(r);
  if (core_.end_signal(cta)) dones_.add({CtaDone::Kind::ended, core_.ctas()[cta].triggered, 0});
}

/// What others told CTAs here takes effect.
void Sm::hear(Cycle now) {
  for (std::size_t n = 0; n < heard_.size();) {
    if (heard_[n].at > now) {
      ++n;
      continue;
    }
    const ClusterAddress to = heard_[n].to;
    heard_.erase(heard_.begin() + static_cast<std::ptrdiff_t>(n));
    core_.take_signal(to, released_);
    wake_released();
  }
}

/// Takes answers, and what others ask; answers that, and tells others what CTAs have to tell. Returns when
/// there is more to be done.
Cycle Sm::serve(Cycle now) {
  Network& n = *network_;
  Cycle next = kNever;
  if (n.from_network.ready(now)) take_answer(now);
  auto& served = lsu_.served();
  if (!served.empty() && served.front().at <= now && n.to_cluster.ready(now)) {
    n.to_cluster.send(now, {served.front().request});
    served.pop_front();
  }
  if (n.from_cluster.ready(now) && lsu_.takes_requests()) {
    Request& r = *n.from_cluster.front().request;
    const ClusterAddress at = ClusterAddress::of(r.line);
    const bool signal = at.signal != ClusterAddress::Signal::none;
    // Of a CTA that has ended nothing is left; one that has yet to begin is waited for.
    const bool early = !signal && core_.begins_later(at);
    if (early) {
      next = domain().after(now, 1);
    } else if (!signal && lsu_.banks_free() > now) {
      next = lsu_.banks_free();
    } else {
      n.from_cluster.pop(now);
      const auto base = signal ? std::nullopt : core_.shared_of(at);
      if (signal) heard_.push_back({now, at});
      if (!signal && !base) r.status = Status::address_error;
      if (base) {
        lsu_.serve(now, r, *base + at.offset);
      } else {
        lsu_.answer(r, domain().after(now, 1));
      }
    }
  }
  hear(now);
  for (const Heard& h : heard_) next = std::min(next, h.at);
  tell(now);
  if (!served.empty() && (served.front().at > now || n.to_cluster.ready(now)))
    next = std::min(next, std::max(served.front().at, domain().after(now, 1)));
  return next;
}

/// Tells another CTA what one has to tell. What warps access waits for that.
void Sm::tell(Cycle now) {
  Out<RequestMessage>& out = network_->to_network;
  auto& signals = core_.signals();
  if (!signals.empty() && out.ready(now)) {
    lsu_.send_signal(now, signals.front().to, signals.front().cta);
    signals.pop_front();
    static_cast<void>(out.ready(now));  // not yet: asks for the wake
  }
  lsu_.hold_network(!signals.empty());
}

void Sm::perform(Request& r, Cycle& at) {
  const ClusterAddress to = ClusterAddress::of(r.line);
  if (to.signal != ClusterAddress::Signal::none) {
    heard_.push_back({at, to});
    wake(std::max(at, engine().now() + 1));
  } else if (const auto base = core_.shared_of(to)) {
    at = lsu_.serve_loosely(at, r, *base + to.offset);
    if (lsu_.waits_due() != kNever) wake(std::max(lsu_.waits_due(), engine().now() + 1));
    return;
  } else {
    r.status = Status::address_error;
  }
  at = domain().after(at, 1);
}

void Sm::in_flight(std::vector<InFlight>& rows) const {
  for (const LoadStoreUnit::Served& s : lsu_.served())
    rows.emplace_back(*s.request, name(), name(),
                      s.at > engine().now() ? "cycle " + std::to_string(s.at) + ", when its answer is due"
                                            : network_->to_cluster.room());
}

Cycle Sm::tick(Cycle now) {
  edge_ = domain().edge_at_or_after(now);
  scheduler_.advance(edge_);
  for (std::uint64_t m = inputs_ & kFromCaches; m != 0; m &= m - 1) {
    In<ResponseMessage>& port = *from_caches_[static_cast<unsigned>(__builtin_ctzll(m))];
    if (port.ready(now)) take_response(now, port);
  }
  if (constant_invalidations_ != 0 && lsu_.invalidate_constants(now)) --constant_invalidations_;
  if (has_input(kFromInstruction) && from_instruction.ready(now)) take_instructions(now);
  if (!bulk_.idle()) advance_bulk_copies(now);
  lsu_.advance(now, events_);
  if (!events_.empty()) handle_events(now);
  for (std::uint64_t m = core_.flushing(); m != 0; m &= m - 1)
    advance_flush(now, static_cast<unsigned>(__builtin_ctzll(m)));
  if (has_input(kFromDistributor) && from_distributor.ready(now)) take_launch(now);
  scheduler_.issue([this] { return lsu_.entries().has_room(); },
                   [this, now](unsigned slot) {
                     if (goes_ahead_ && core_.is_ahead(slot)) return issue_ahead(now, slot);
                     if (functional_)
                       issue_many(now, slot);
                     else if (profile_ != nullptr)
                       issue_profiled(now, slot);
                     else
                       issue(now, slot);
                     core_.note_exits(slot, released_);
                     wake_released();
                     evaluate(slot);
                   });
  if (profile_ != nullptr) charge_unselected();
  if (dones_.any() && to_distributor.ready(now)) to_distributor.send(now, dones_.take());
  const bool held = launch_waits_ || flush_ == Flush::asked;
  if (held) flush(now);
  Cycle next = network_ != nullptr ? serve(now) : kNever;
  next = std::min(next, lsu_.next_work(now));
  if (!bulk_.idle()) next = std::min(next, bulk_.next_work(now));
  if (fetch_.has_queued()) next = std::min(next, fetch_.advance(now));
  if (scheduler_.any(lsu_.entries().has_room()) || dones_.any() || held || constant_invalidations_ != 0 ||
      (core_.flushing() != 0 && lsu_.entries().has_room()))
    return std::min(next, domain().after(now, 1));
  if (const std::uint64_t edge = scheduler_.next_edge(); edge != kNever)
    next = std::min(next, domain().cycle_of(edge));
  return next;
}

// Standstills.

void Sm::begin_watch() {
  if (watch_ != nullptr || !core_.has_source()) return;
  core_.wrap_source([this](std::unique_ptr<InstructionSource> source) {
    auto watch = std::make_unique<LoopWatch>(std::move(source), core_.warps());
    watch_ = watch.get();
    return watch;
  });
}

void Sm::end_watch() {
  if (watch_ == nullptr) return;
  core_.wrap_source([this](const std::unique_ptr<InstructionSource>& /*watch*/) { return watch_->take(); });
  watch_ = nullptr;
}

bool Sm::changes_nothing() const {
  if (dones_.any() || flush_ != Flush::none || constant_invalidations_ != 0 || core_.flushing() != 0 ||
      !cluster_idle() || !bulk_.idle())
    return false;
  // What comes back to an SM without warps may be the last thing that its grid, or the next CTA, waits for.
  if (core_.active_warps() == 0 && busy()) return false;
  const auto& warps = core_.warps();
  return std::all_of(warps.begin(), warps.end(),
                     [](const ResidentWarp& w) { return !w.active || (w.stores == 0 && w.copies == 0); });
}

bool Sm::only_repeats() const {
  if (watch_->changed()) return false;
  for (unsigned slot = 0; slot < core_.warps().size(); ++slot)
    if (core_.warps()[slot].active && !watch_->repeats(slot) &&
        (watch_->moved(slot) || !core_.waits_for_others(slot)))
      return false;
  return true;
}

void Sm::explain(std::vector<Wait>& waits) const {
  const auto pace = [this](unsigned slot) {
    return domain().cycle_of(std::max(pace_[slot].edge, pipes_.free_from(slot)));
  };
  explain_warps(*this, core_, lsu_, fetch_, pace, watch_, waits);
  if (lsu_.entries().queued() != 0 || core_.active_warps() == 0) lsu_.explain(name() + ".lsu", waits);
  fetch_.explain(name() + ".fetch", waits);
  bulk_.explain(name() + ".bulk_copy", waits);
  if (dones_.any()) waits.push_back({name(), to_distributor.room(), {to_distributor.other_side()}});
}

void Sm::visit_gauges(GaugeVisitor& visitor) const {
  const auto slots = core_.warps().size();
  unsigned loads = 0, stores = 0, copies = 0, held = 0;
  for (const ResidentWarp& w : core_.warps()) {
    if (!w.active) continue;
    loads += w.loads;
    stores += w.stores;
    copies += w.copies;
    held += w.hold != Hold::none;
  }
  const auto ctas =
      std::count_if(core_.ctas().begin(), core_.ctas().end(), [](const SmCore::Cta& c) { return c.active; });
  visitor.gauge("ctas", static_cast<std::uint64_t>(ctas), parameters_.cta_slots, "CTAs resident");
  visitor.gauge("warps", core_.active_warps(), slots, "warps resident");
  visitor.gauge("warps_held", held, slots,
                "of them, standing still for a fence, an acquire or their call-return stack");
  visitor.gauge("loads", loads, lsu_.entries().capacity() + slots,
                "loads and atomics issued whose values are not back");
  visitor.gauge("stores", stores, lsu_.entries().capacity(),
                "stores and reductions issued that have not passed L1");
  visitor.gauge("copies", copies, kUnlimitedGauge,
                "asynchronous copies and products issued that are not done, bulk copies lane by lane");
  visitor.gauge("memory_instructions", lsu_.entries().in_use(), lsu_.entries().capacity(),
                "entries of the load/store unit in use");
  visitor.gauge("bulk_copies", bulk_.under_way(), parameters_.bulk_copy.copies,
                "bulk copies under way or waiting for their turn");
  visitor.gauge("bulk_requests", bulk_.requests_under_way(), parameters_.bulk_copy.requests,
                "lines that they have under way");
  visitor.gauge("fetches", fetch_.under_way(), kUnlimitedGauge, "lines of code being fetched");
  visitor.gauge("memory_queue", lsu_.entries().queued(), parameters_.lsu_queue,
                "of them, lines not yet all sent");
  if (network_ == nullptr) return;
  visitor.gauge("answers", lsu_.served().size(), LoadStoreUnit::kMostServed,
                "to requests of other SMs, not yet sent");
  visitor.gauge(
      "bulk_messages", bulk_.messages(), kUnlimitedGauge,
      "lines of bulk copies for other CTAs, and copies whose mbarriers there are to be told, to be sent");
  visitor.gauge("signals", core_.signals().size(), kUnlimitedGauge,
                "of CTAs to others of their cluster, to be sent");
}

}  // namespace warpline
