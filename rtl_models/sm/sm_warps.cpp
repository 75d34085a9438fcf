// What happens to warps between issues: results, barriers, exits, faults.
#include <algorithm>

#include "warpline/base/mutation.h"
#include "warpline/fabric/gauge.h"
#include "warpline/sm/sm.h"

namespace warpline {
namespace {

/// An acquire beyond the CTA has L1 drop its lines, whatever space its flag is in (R6).
bool invalidates(const MemOp& acquire) {
  return acquire.scope > Scope::cta && !mutated(Mutation::acquire_skips_invalidation) &&
         !(acquire.space == Space::shared && mutated(Mutation::shared_flag_skips_invalidation));
}

}  // namespace

void Sm::handle(const LsuEvent& event, Cycle now) {
  const unsigned slot = event.slot;
  switch (event.kind) {
    case LsuEvent::Kind::completed: complete(event, now); return;
    case LsuEvent::Kind::maintained:
      lsu_.retire(event.entry);
      if (slot < warps_.size()) maintained(now, slot);
      return;
    case LsuEvent::Kind::faulted: {
      Fault fault = lsu_.last_fault();
      // The program knows nothing of token accesses; the return that wants the tokens is its next
      // instruction.
      if (lsu_.entry(event.entry).tokens) fault.instruction = warps_[slot].next;
      keep_fault(name_of(fault.kind), fault);
      kill(slot);
      return;
    }
  }
}

/// Every lane of the warp exits; what it has under way goes nowhere.
void Sm::kill(unsigned slot) {
  source_->kill(slot);
  lsu_.kill(slot);
  fetch_.forget(slot);
  ready_.remove(slot);
  Warp& w = warps_[slot];
  w.scheduled = w.order_since = kNever;
  flushing_ &= ~(std::uint64_t{1} << slot);
  if (w.hold == Hold::acquire || w.hold >= Hold::refill) w.hold = Hold::none;
  lanes_exited(ctas_[w.cta]);
}

void Sm::end_warps() {
  for (unsigned slot = 0; slot < warps_.size(); ++slot) {
    if (!warps_[slot].active) continue;
    kill(slot);
    evaluate(slot);
  }
  wake(engine().now() + 1);
}

void Sm::restart() {
  std::fill(turn_.begin(), turn_.end(), 0U);
  fetch_.empty();
}

void Sm::keep_fault(std::string_view kind, const Fault& fault) {
  if (faults_.size() < kFaultsKept)
    faults_.push_back(
        {std::string(kind), fault, ctas_[warps_[fault.slot].cta].id, source_->where(*fault.instruction)});
}

/// The program has ended its own warp: trap, a call too deep.
void Sm::record_fault(Cycle now, unsigned slot, const Instruction& i, const Issue& issue) {
  ++counters_.program_faults;
  Fault fault;
  fault.cycle = now;
  fault.slot = slot;
  fault.lane = issue.active == 0 ? 0 : static_cast<unsigned>(__builtin_ctz(issue.active));
  fault.instruction = &i;
  keep_fault(issue.fault, fault);
}

/// The count of the warp's instructions in flight that one of this kind belongs to.
unsigned& Sm::in_flight(Warp& w, MemKind kind) {
  switch (kind) {
    case MemKind::store:
    case MemKind::surface_store:
    case MemKind::reduction:
    case MemKind::prefetch:
    case MemKind::prefetch_uniform:
    case MemKind::apply_priority:
    case MemKind::discard:
    case MemKind::cache_control: return w.stores;
    case MemKind::async_copy: return w.copies;
    default: return w.loads;
  }
}

void Sm::complete(const LsuEvent& event, Cycle now) {
  const LoadStoreUnit::Entry& e = lsu_.entry(event.entry);
  const Instruction& i = *e.instruction;
  if (e.tokens) {
    complete_tokens(event, now);
    return;
  }
  Warp& w = warps_[event.slot];
  const bool killed = e.killed;
  --in_flight(w, i.mem.kind);
  if (i.write_counter != DependenceCounters::kNone)
    dependences_[event.slot].release(i.write_counter, event.ready);
  if (i.mem.kind == MemKind::async_copy) {
    copies_[event.slot].finish(e.copy_group);
    // What the copy wrote can be read then.
    if (w.scheduled == kNever && w.next->kind == InstructionKind::wait_copies)
      w.issue_edge = std::max(w.issue_edge, domain().edge_at_or_after(event.ready));
  }
  if (!killed && source_->state(event.slot) != WarpState::exited) {
    source_->complete(event.slot, i, e.access, with_data_);
    scoreboard_.set(event.slot, i, event.ready);
  }
  lsu_.retire(event.entry);
  if (!killed && (w.hold == Hold::acquire || mutated(Mutation::acquire_does_not_block)) && i.mem.acquires()) {
    w.hold = Hold::none;
    const Hold hold = mutated(Mutation::acquire_ignores_invalidation) ? Hold::none : Hold::maintenance;
    // The entry just retired makes sure that there is room.
    if (invalidates(i.mem)) issue_maintenance(now, event.slot, acquire_of(i.mem.scope), i.mem.scope, hold);
    if (w.hold == Hold::none) end_ordering(w);
  }
  // A warp whose next instruction is scheduled already gains nothing by a result.
  if (w.scheduled == kNever) evaluate(event.slot);
}

void Sm::issue_barrier(unsigned slot, const Issue& issue) {
  Cta& cta = ctas_[warps_[slot].cta];
  ++counters_.barriers;
  cta.barrier_in_use = true;
  const auto lanes = lane_count(issue.active);
  if (cta.barriers.arrive(issue.barrier, slot, lanes, live_threads(cta)))
    release_barrier(cta, issue.barrier.id);
}

void Sm::release_barrier(Cta& cta, unsigned id) {
  for (const unsigned s : cta.slots) {
    if (!is_of(cta, s)) continue;
    const bool waited = source_->state(s) == WarpState::at_barrier;
    source_->release_barrier(s, id);
    if (waited) warps_[s].issue_edge = std::max(warps_[s].issue_edge, edge_ + 1);
    // Of a diverged warp that had lanes running, those released may be the ones that run next.
    evaluate(s);
  }
}

/// Lanes may have exited with the instruction just issued, of whatever kind.
void Sm::note_exits(unsigned slot) {
  Warp& w = warps_[slot];
  Cta& cta = ctas_[w.cta];
  if (!cta.barrier_in_use) return;
  const LaneMask live = source_->live_lanes(slot);
  if (live == w.live) return;
  w.live = live;
  lanes_exited(cta);
}

/// Barriers for all threads of the CTA expect fewer now.
void Sm::lanes_exited(Cta& cta) {
  for (;;) {
    const unsigned id = cta.barriers.exited(live_threads(cta));
    if (id == BarrierUnit::kBarriers) return;
    release_barrier(cta, id);
  }
}

unsigned Sm::live_threads(const Cta& cta) const {
  unsigned n = 0;
  for (const unsigned s : cta.slots)
    if (is_of(cta, s)) n += lane_count(source_->live_lanes(s));
  return n;
}

void Sm::draw_turns(Random& random) {
  for (unsigned& turn : turn_) turn = static_cast<unsigned>(random.below(64));
}

void Sm::visit_gauges(GaugeVisitor& visitor) const {
  const auto slots = warps_.size();
  unsigned loads = 0, stores = 0, copies = 0, held = 0;
  for (const Warp& w : warps_) {
    if (!w.active) continue;
    loads += w.loads;
    stores += w.stores;
    copies += w.copies;
    held += w.hold != Hold::none;
  }
  const auto ctas = std::count_if(ctas_.begin(), ctas_.end(), [](const Cta& c) { return c.active; });
  visitor.gauge("ctas", static_cast<std::uint64_t>(ctas), parameters_.cta_slots, "CTAs resident");
  visitor.gauge("warps", active_warps_, slots, "warps resident");
  visitor.gauge("warps_held", held, slots,
                "of them, standing still for a fence, an acquire or their call-return stack");
  visitor.gauge("loads", loads, lsu_.capacity(), "loads and atomics issued whose values are not back");
  visitor.gauge("stores", stores, lsu_.capacity(), "stores and reductions issued that have not passed L1");
  visitor.gauge("copies", copies, lsu_.capacity(),
                "asynchronous copies issued that have not written shared memory");
  visitor.gauge("memory_instructions", lsu_.in_flight(), lsu_.capacity(),
                "entries of the load/store unit in use");
  visitor.gauge("fetches", fetch_.under_way(), kUnlimitedGauge, "lines of code being fetched");
  visitor.gauge("memory_queue", lsu_.queued(), parameters_.lsu_queue, "of them, lines not yet all sent");
}

}  // namespace warpline
