#include "warpline/sm/sm.h"

#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/base/mutation.h"

namespace warpline {
namespace {

/// A release, a fence and a barrier wait for the thread's loads (R2, R4, R8).
bool waits_for_loads(const Instruction& i) {
  if (i.kind == InstructionKind::memory) return !mutated(Mutation::release_ignores_loads);
  if (i.kind == InstructionKind::barrier) return !mutated(Mutation::barrier_ignores_loads);
  return i.mem.kind == MemKind::proxy_fence ? !mutated(Mutation::proxy_fence_ignores_loads)
                                            : !mutated(Mutation::fence_ignores_loads);
}

}  // namespace

Sm::Sm(Engine& engine, std::string name, ClockDomain domain, const SmParameters& parameters, SmNumber number)
    : Component(engine, std::move(name), domain),
      parameters_(parameters),
      lsu_(parameters, *this, {to_l1_lg, to_texture, to_constant}, number),
      fetch_(parameters, *this, to_instruction, number),
      warps_(parameters.warp_slots),
      copies_(parameters.warp_slots),
      stacks_(parameters.warp_slots, CallReturnStack(parameters.stack_entries)),
      dependences_(parameters.warp_slots),
      partition_(parameters.partitions, 0),
      turn_(parameters.partitions, 0) {
  for (unsigned s = 0; s < parameters.warp_slots; ++s)
    partition_[s % parameters.partitions] |= std::uint64_t{1} << s;
}

void Sm::start(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
               unsigned resident) {
  WARPLINE_EXPECT(!busy(), "a kernel starts on an idle SM");
  info_ = info;
  source_ = std::move(source);
  with_data_ = map.with_data;
  local_window_ = map.local_bytes;
  stack_base_ = info.calls ? local_window_ - parameters_.stack_bytes_per_thread() : kNoStack;
  program_local_ = info.calls && !info.sees_stack ? stack_base_ : local_window_;
  lsu_.start(map);
  fetch_.start(map.code_base, parameters_.fetch_instructions ? info.code_bytes : 0);
  scoreboard_.start(parameters_.warp_slots, std::max(1U, info.registers));
  ctas_.assign(resident, Cta{});
  ready_.reset(domain().edge_at_or_after(engine().now()));
}

void Sm::maintain(std::uint8_t what) {
  unsigned index = 0;
  LoadStoreUnit::Entry& e = lsu_.take(index);
  e.maintenance = what;
  e.scope = Scope::sys;
  e.slot = parameters_.warp_slots;  // nobody's
  e.at = 0;
  lsu_.queue(index);
  wake(engine().now() + 1);
}

/// The edge from which on the warp's next instruction can issue; kNever if something else has to
/// happen first, after which it will be asked again.
std::uint64_t Sm::earliest_issue(unsigned slot) {
  Warp& w = warps_[slot];
  if (w.hold != Hold::none || source_->state(slot) != WarpState::runnable) return kNever;
  const Instruction& i = source_->next(slot);
  w.next = &i;
  if (const std::uint64_t line = fetch_.line_of(i.pc); line != w.line && !come_to(slot, line)) return kNever;
  const std::uint64_t bit = std::uint64_t{1} << slot;
  memory_next_ &= ~bit;
  if (i.kind != InstructionKind::alu && i.kind != InstructionKind::sleep) {
    if (i.kind >= InstructionKind::call) {
      memory_next_ |= bit;
    } else if (i.kind >= InstructionKind::commit_copies) {
      if (i.kind == InstructionKind::wait_copies && !copies_[slot].may_pass(i.groups_left)) return kNever;
    } else {
      const bool orders = i.kind != InstructionKind::memory || i.mem.releases();
      if (orders && ((w.loads != 0 && waits_for_loads(i)) || w.stores != 0)) {
        if (i.kind != InstructionKind::barrier) begin_ordering(w, i.mem);
        return kNever;
      }
      if (i.kind != InstructionKind::barrier) memory_next_ |= bit;
    }
  }
  Cycle at = scoreboard_.ready(slot, i);
  if (i.required != 0) at = std::max(at, dependences_[slot].free(i.required));
  return at == kNever ? kNever : std::max(w.issue_edge, domain().edge_at_or_after(at));
}

/// Something about the warp has changed: schedules its next issue, or retires it.
void Sm::evaluate(unsigned slot) {
  Warp& w = warps_[slot];
  if (!w.active) return;
  const std::uint64_t edge = earliest_issue(slot);
  if (edge != w.scheduled) {
    if (w.scheduled != kNever) ready_.remove(slot);
    w.scheduled = edge;
    if (edge != kNever) ready_.at(slot, edge);
  }
  if (edge == kNever && w.hold == Hold::none && w.loads == 0 && w.stores == 0 && w.copies == 0 &&
      source_->state(slot) == WarpState::exited)
    retire(slot);
}

void Sm::issue_all(Cycle now) {
  for (unsigned p = 0; p < partition_.size(); ++p) {
    std::uint64_t candidates = ready_.ready() & partition_[p];
    if (!lsu_.has_room()) candidates &= ~memory_next_;
    if (candidates == 0) continue;
    const std::uint64_t later = candidates & ~((std::uint64_t{1} << turn_[p]) - 1);
    const auto slot = static_cast<unsigned>(__builtin_ctzll(later != 0 ? later : candidates));
    turn_[p] = (slot + 1) % 64;
    ready_.issued(slot);
    warps_[slot].scheduled = kNever;
    warps_[slot].issue_edge = edge_ + warps_[slot].next->wait;
    issue(now, slot);
    note_exits(slot);
    evaluate(slot);
  }
}

void Sm::issue(Cycle now, unsigned slot) {
  Warp& w = warps_[slot];
  const Instruction& i = *w.next;
  if (i.read_counter != DependenceCounters::kNone)
    dependences_[slot].hold_until(i.read_counter, domain().after(now, parameters_.issue_latency));
  if (i.kind == InstructionKind::memory) {
    issue_memory(now, slot, i);
    return;
  }
  if (i.kind >= InstructionKind::call) {
    issue_stack(now, slot, i);
    return;
  }
  Issue issue;
  issue.clock = edge_;
  source_->execute(slot, issue);
  count_issue(issue);
  if (issue.fault != nullptr) record_fault(now, slot, i, issue);
  switch (i.kind) {
    case InstructionKind::alu: scoreboard_.set(slot, i, domain().after(now, i.latency)); break;
    case InstructionKind::sleep: w.issue_edge = edge_ + std::max<std::uint64_t>(1, issue.sleep_cycles); break;
    case InstructionKind::barrier: issue_barrier(slot, issue); break;
    case InstructionKind::fence: issue_fence(now, slot, i.mem); break;
    case InstructionKind::commit_copies:
      if (issue.active != 0) copies_[slot].commit();
      break;
    case InstructionKind::invalidate_constants: constant_invalidations_ += issue.active != 0; break;
    case InstructionKind::invalidate_instructions:
      w.issue_edge = std::max(w.issue_edge, edge_ + i.latency);
      if (issue.active != 0) invalidate_instructions();
      break;
    default: break;
  }
}

void Sm::issue_memory(Cycle now, unsigned slot, const Instruction& i) {
  Warp& w = warps_[slot];
  if (i.mem.releases()) {
    if (i.mem.scope > Scope::cta && !w.drained && !mutated(Mutation::release_skips_drain)) {
      begin_ordering(w, i.mem);
      issue_maintenance(now, slot, release_of(i.mem.scope), i.mem.scope, Hold::drain);
      return;
    }
    end_ordering(w);
  }
  w.drained = false;
  unsigned index = 0;
  LoadStoreUnit::Entry& e = lsu_.take(index);
  Issue issue;
  issue.clock = edge_;
  issue.access = &e.access;
  source_->execute(slot, issue);
  count_issue(issue);
  if (e.access.active == 0) {
    source_->complete(slot, i, e.access, with_data_);
    lsu_.give_back(index);
    return;
  }
  e.instruction = &i;
  e.slot = slot;
  e.at = domain().after(now, parameters_.issue_latency);
  e.shared_base = std::uint64_t{w.cta} * info_.shared_bytes;
  e.shared_bytes = info_.shared_bytes;
  e.local_bytes = program_local_;
  e.maintenance = maintenance_of(i.mem, e.maintained);
  lsu_.queue(index);
  ++in_flight(w, i.mem.kind);
  if (i.mem.kind == MemKind::async_copy) e.copy_group = copies_[slot].start();
  scoreboard_.set(slot, i, kNever);
  if (i.write_counter != DependenceCounters::kNone) dependences_[slot].hold(i.write_counter);
  if (!i.mem.acquires() || mutated(Mutation::acquire_does_not_block)) return;
  w.hold = Hold::acquire;
  begin_ordering(w, i.mem);
}

void Sm::handle_events(Cycle now) {
  for (const LsuEvent& event : events_) handle(event, now);
  events_.clear();
}

void Sm::take_response(Cycle now, In<ResponseMessage>& port) {
  lsu_.respond(now, *port.pop(now).request, events_);
  handle_events(now);
}

Cycle Sm::tick(Cycle now) {
  edge_ = domain().edge_at_or_after(now);
  ready_.advance(edge_);
  if (from_l1_lg.ready(now)) take_response(now, from_l1_lg);
  if (from_texture.ready(now)) take_response(now, from_texture);
  if (from_constant.ready(now)) take_response(now, from_constant);
  if (constant_invalidations_ != 0 && lsu_.invalidate_constants(now)) --constant_invalidations_;
  if (from_instruction.ready(now)) take_instructions(now);
  lsu_.advance(now, events_);
  handle_events(now);
  if (flushing_ != 0) advance_flushes(now);
  if (from_distributor.ready(now)) start_cta(from_distributor.pop(now));
  if (ready_.ready() != 0) issue_all(now);
  if (dones_ != 0 && to_distributor.ready(now)) {
    to_distributor.send(now, {});
    --dones_;
  }
  Cycle next = lsu_.next_work(now);
  if (fetch_.has_queued()) next = std::min(next, fetch_.advance(now));
  const std::uint64_t issuable = lsu_.has_room() ? ready_.ready() : ready_.ready() & ~memory_next_;
  if (issuable != 0 || dones_ != 0 || constant_invalidations_ != 0 || (flushing_ != 0 && lsu_.has_room()))
    return std::min(next, domain().after(now, 1));
  if (const std::uint64_t edge = ready_.next_edge(); edge != kNever)
    next = std::min(next, domain().cycle_of(edge));
  return next;
}

bool Sm::busy() const {
  return active_warps_ != 0 || dones_ != 0 || constant_invalidations_ != 0 || !lsu_.idle() || !fetch_.idle();
}

}  // namespace warpline
