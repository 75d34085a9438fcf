#include "rtl_models/sm/sm_core.h"

#include <algorithm>

#include "rtl_models/base/contract.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/bulk_order.h"
#include "rtl_models/sm/sm_mutations.h"

namespace warpline {

void SmCore::start(const KernelInfo& info, std::unique_ptr<InstructionSource> source, const MemoryMap& map,
                   unsigned resident) {
  info_ = info;
  set_source(std::move(source));
  released_ = true;
  with_data_ = map.with_data;
  local_window_ = program_local_ = map.local_bytes;
  std::optional<std::uint32_t> stack_base;
  if (info.calls) stack_base = local_window_ - stack_bytes_;
  if (info.calls && !info.sees_stack) program_local_ = *stack_base;
  stacks_.start(stack_base);
  clustered_ = info.cluster.size.count() > 1;
  // The rest of a CTA is made when it begins.
  ctas_.resize(resident);
  if (active_ctas_ == 0) return;  // as after every grid that was not cut off
  for (Cta& c : ctas_) {
    c.active = false;
    c.signals = 0;
  }
  active_ctas_ = 0;
}

void SmCore::set_source(std::unique_ptr<InstructionSource> source) {
  source_ = std::move(source);
  for (unsigned slot = 0; slot < warps_.size(); ++slot) {
    warps_[slot].ahead = {};
    source_->keep_ahead_in(slot, &warps_[slot].ahead);
  }
}

const SmCore::Cta& SmCore::begin_cta(Dim3 id, const ClusterPlace* cluster) {
  const auto free_cta = std::find_if(ctas_.begin(), ctas_.end(), [](const Cta& c) { return !c.active; });
  WARPLINE_EXPECT(free_cta != ctas_.end(), "the distributor knows how many CTAs fit");
  Cta& cta = *free_cta;
  cta.active = true;
  ++active_ctas_;
  cta.id = id;
  cta.slots.clear();
  cta.barriers.reset();
  cta.barrier_in_use = false;
  cta.cluster = cluster != nullptr ? *cluster : ClusterPlace{};
  cta.cluster_barrier.reset(cta.cluster.ctas);
  cta.triggered = false;
  cta.free_registers = 0;
  cta.warps_left = info_.warps_per_cta();
  unsigned slot = 0;
  for (unsigned w = 0; w < info_.warps_per_cta(); ++w, ++slot) {
    while (warps_[slot].active) ++slot;
    const unsigned threads = std::min(info_.threads_per_cta() - w * kWarpLanes, kWarpLanes);
    const LaneMask lanes = threads == kWarpLanes ? ~LaneMask{0} : (LaneMask{1} << threads) - 1;
    stacks_[slot].clear();
    products_[slot].clear();
    warps_[slot] = ResidentWarp{};
    warps_[slot].active = true;
    warps_[slot].cta = static_cast<unsigned>(free_cta - ctas_.begin());
    warps_[slot].live = lanes;
    warps_[slot].registers = info_.thread_registers;
    ++active_warps_;
    cta.slots.push_back(slot);
    source_->begin_warp(slot, id, w, lanes);
  }
  if (clustered_) take_early_signals(cta);
  return cta;
}

bool SmCore::waits_for_others(unsigned slot) const {
  const ResidentWarp& w = warps_[slot];
  if (w.hold != Hold::none || !w.quiet()) return false;
  const WarpState state = source_->state(slot);
  if (state != WarpState::runnable) return state == WarpState::at_barrier;
  if (w.next == nullptr) return false;
  if (w.next->waits_for_grid) return !released_;
  return w.next->kind == InstructionKind::reallocate_registers &&
         registers_missing(slot, w.next->groups_left) != 0;
}

/// Others of the cluster, whose launch came sooner, may have told the CTA something.
void SmCore::take_early_signals(Cta& cta) {
  const auto is_for = [&](const ClusterAddress& to) {
    if (to.cluster != cta.cluster.number || to.rank != cta.cluster.rank) return false;
    note_signal(cta, to);
    return true;
  };
  early_.erase(std::remove_if(early_.begin(), early_.end(), is_for), early_.end());
}

bool SmCore::end_warp(unsigned slot) {
  ResidentWarp& w = warps_[slot];
  w.active = false;
  --active_warps_;
  ++counters_.warps;
  Cta& cta = ctas_[w.cta];
  if (--cta.warps_left != 0) return false;
  ++counters_.ctas;
  if (cta.cluster.ctas > 1) {
    // Whoever has not exited may still send it something, and nobody else.
    if (const std::uint32_t left = cta.cluster_barrier.others_left(cta.cluster.rank); left != 0)
      ended_[key_of(cta.cluster.number, cta.cluster.rank)] = left;
    tell_cluster(cta, ClusterAddress::Signal::exited);
    return false;
  }
  cta.active = false;
  --active_ctas_;
  return true;
}

void SmCore::tell_cluster(Cta& cta, ClusterAddress::Signal what) {
  ClusterAddress to;
  to.cluster = cta.cluster.number;
  to.signal = what;
  to.from = cta.cluster.rank;
  to.odd = cta.cluster_barrier.odd();
  for (to.rank = 0; to.rank < cta.cluster.ctas; ++to.rank) {
    if (to.rank == cta.cluster.rank) continue;
    to.sm = cta.cluster.sms.at(to.rank);
    signals_.push_back({to, static_cast<unsigned>(&cta - ctas_.data())});
    ++cta.signals;
    ++cluster_.signals;
  }
}

bool SmCore::end_signal(unsigned number) {
  Cta& cta = ctas_[number];
  if (--cta.signals != 0 || cta.warps_left != 0) return false;
  cta.active = false;
  --active_ctas_;
  return true;
}

LaneMask SmCore::arrive_in_cluster(unsigned slot, LaneMask lanes, std::vector<Released>& released) {
  ResidentWarp& w = warps_[slot];
  ++cluster_.barriers;
  if (const LaneMask again = lanes & w.cluster_waits; again != 0) return again;
  if (lanes == 0) return 0;
  w.cluster_arrived |= lanes;
  w.cluster_waits |= lanes;
  Cta& cta = ctas_[w.cta];
  cta.barrier_in_use = true;
  check_cluster_arrival(cta, released);
  return 0;
}

LaneMask SmCore::wait_in_cluster(unsigned slot, LaneMask lanes) {
  ResidentWarp& w = warps_[slot];
  const LaneMask never = lanes & ~w.cluster_waits;
  w.cluster_waits &= ~lanes;
  return never;
}

/// All threads of the CTA may have arrived by now.
void SmCore::check_cluster_arrival(Cta& cta, std::vector<Released>& released) {
  if (cta.cluster_barrier.has_arrived(cta.cluster.rank)) return;
  LaneMask arrived = 0;
  for (const unsigned s : cta.slots) {
    if (!is_of(cta, s)) continue;
    if ((source_->live_lanes(s) & ~warps_[s].cluster_arrived) != 0) return;
    arrived |= warps_[s].cluster_arrived;
  }
  if (arrived == 0) return;
  cta.cluster_barrier.arrive(cta.cluster.rank, cta.cluster_barrier.odd());
  tell_cluster(cta, ClusterAddress::Signal::arrived);
  settle_cluster_barrier(cta, released);
}

void SmCore::settle_cluster_barrier(Cta& cta, std::vector<Released>& released) {
  if (!cta.cluster_barrier.complete()) return;
  for (const unsigned s : cta.slots)
    if (is_of(cta, s)) warps_[s].cluster_arrived = 0;
  release_barrier(cta, kClusterBarrier, released);
}

const SmCore::Cta* SmCore::cta_of_cluster(const ClusterAddress& at) const {
  for (const Cta& cta : ctas_)
    if (cta.active && cta.warps_left != 0 && cta.cluster.ctas > 1 && cta.cluster.number == at.cluster &&
        cta.cluster.rank == at.rank)
      return &cta;
  return nullptr;
}

std::optional<std::uint64_t> SmCore::shared_of(const ClusterAddress& at) const {
  const Cta* const cta = cta_of_cluster(at);
  if (cta == nullptr || at.offset >= info_.shared_bytes) return std::nullopt;
  return static_cast<std::uint64_t>(cta - ctas_.data()) * info_.shared_bytes;
}

void SmCore::take_signal(const ClusterAddress& to, std::vector<Released>& released) {
  const Cta* const found = cta_of_cluster(to);
  if (found == nullptr) {
    // It has ended, and waits for nobody any more, or its launch is on its way.
    const auto ended = ended_.find(key_of(to.cluster, to.rank));
    if (ended == ended_.end()) {
      early_.push_back(to);
    } else if (to.signal == ClusterAddress::Signal::exited) {
      ended->second &= ~(1U << to.from);
      if (ended->second == 0) ended_.erase(ended);
    }
    return;
  }
  Cta& cta = ctas_[static_cast<std::size_t>(found - ctas_.data())];
  note_signal(cta, to);
  settle_cluster_barrier(cta, released);
}

void SmCore::note_signal(Cta& cta, const ClusterAddress& to) {
  if (to.signal == ClusterAddress::Signal::exited) {
    cta.cluster_barrier.exit(to.from);
  } else {
    const bool odd = mutated(SmMutation::cluster_arrival_forgets_phase) ? cta.cluster_barrier.odd() : to.odd;
    cta.cluster_barrier.arrive(to.from, odd);
  }
}

void SmCore::arrive(unsigned slot, const Issue& issue, std::vector<Released>& released) {
  Cta& cta = ctas_[warps_[slot].cta];
  ++counters_.barriers;
  // Lanes whose predicate does not hold, and those that a barrier that there is not has stopped, arrive
  // nowhere.
  if (issue.active == 0 || issue.fault != nullptr) return;
  cta.barrier_in_use = true;
  // Lanes whose last instruction this is exit after they have arrived.
  const unsigned exiting = lane_count(issue.active & ~source_->live_lanes(slot));
  if (cta.barriers.arrive(issue.barrier, slot, issue.active, live_threads(cta) + exiting))
    release_barrier(cta, issue.barrier.id, released);
}

void SmCore::release_barrier(Cta& cta, unsigned id, std::vector<Released>& released) {
  for (const unsigned s : cta.slots) {
    if (!is_of(cta, s)) continue;
    released.push_back({s, source_->state(s) == WarpState::at_barrier});
    source_->release_barrier(s, id);
  }
  // Lanes may have waited there with their last instruction.
  note_exits(cta, released);
}

void SmCore::note_exits(Cta& cta, std::vector<Released>& released) {
  // All are told before any barrier looks whether it is complete.
  bool any = false;
  for (const unsigned s : cta.slots) {
    if (!is_of(cta, s)) continue;
    const LaneMask live = source_->live_lanes(s);
    if (live == warps_[s].live) continue;
    cta.barriers.exit(s, warps_[s].live & ~live);
    warps_[s].live = live;
    any = true;
  }
  if (!any) return;
  check_cluster_arrival(cta, released);
  // Barriers for all threads of the CTA expect fewer now.
  for (;;) {
    const unsigned id = cta.barriers.first_complete(live_threads(cta));
    if (id == BarrierUnit::kBarriers) return;
    release_barrier(cta, id, released);
  }
}

void SmCore::kill(unsigned slot, std::vector<Released>& released) {
  source_->kill(slot);
  flushing_ &= ~(std::uint64_t{1} << slot);
  ResidentWarp& w = warps_[slot];
  if (w.hold == Hold::acquire || w.hold >= Hold::refill) w.hold = Hold::none;
  note_exits(ctas_[w.cta], released);
}

std::uint32_t SmCore::begin_bulk(unsigned slot, const MemOp& op, unsigned lanes) {
  warps_[slot].copies += lanes;
  if (!is_grouped(op.bulk)) return 0;
  warps_[slot].wrote_in_bulk = true;
  std::uint32_t group = 0;
  for (unsigned n = 0; n < lanes; ++n) {
    group = bulk_[slot].start();
    bulk_reads_[slot].start();
  }
  return group;
}

void SmCore::cancel_bulk(unsigned slot, const MemOp& op, unsigned lanes, std::uint32_t group) {
  for (unsigned n = 0; n < lanes; ++n) {
    if (is_grouped(op.bulk)) finish_bulk_read(slot, group);
    finish_bulk(slot, group, is_grouped(op.bulk));
  }
}

SmCore::StackOutcome SmCore::execute_stack(unsigned slot, const Instruction& i, Issue& issue) {
  CallReturnStack& stack = stacks_[slot];
  issue.stack_depth = stack.depth();
  if (i.kind == InstructionKind::ret && stack.depth() != 0) issue.token = stack.top();
  execute(slot, issue);
  if (issue.fault != nullptr) return StackOutcome::faulted;
  if (!stacks_.has_room_for(issue.stack_depth)) {
    issue.fault = "call-return stack overflow";
    return StackOutcome::overflown;
  }
  switch (i.kind) {
    case InstructionKind::call:
      counters_.calls += issue.active != 0;
      if (issue.stack_depth > stack.depth()) stack.push(issue.token);
      return StackOutcome::done;
    case InstructionKind::ret:
      counters_.returns += issue.active != 0;
      stack.pop_to(std::min(stack.depth(), issue.stack_depth));
      return StackOutcome::done;
    default:  // SETCRSPTR, WBALL
      if (issue.active == 0) return StackOutcome::done;
      if (issue.stack_depth < stack.depth()) stack.pop_to(issue.stack_depth);
      if (issue.stack_depth == stack.depth() && i.kind == InstructionKind::set_stack)
        return StackOutcome::done;
      // What L1 has of tokens that were written before may have been reset or overwritten since.
      if (i.kind == InstructionKind::flush_stack) stack.distrust_store();
      warps_[slot].hold = Hold::flush;
      warps_[slot].stack_goal = issue.stack_depth;
      flushing_ |= std::uint64_t{1} << slot;
      return StackOutcome::flushing;
  }
}

void SmCore::begin_move(unsigned slot, const TokenMove& move, MemoryAccess& access) {
  stacks_.write_lanes(move, access);
  ResidentWarp& w = warps_[slot];
  if (move.spill) {
    ++w.stores;
    ++w.spills;
    counters_.stack_spills += move.tokens.count;
  } else {
    ++w.loads;
    w.hold = Hold::refill;
    counters_.stack_refills += move.tokens.count;
  }
}

bool SmCore::complete_move(unsigned slot, bool spill, const MemoryAccess& access, bool killed) {
  ResidentWarp& w = warps_[slot];
  if (spill) {
    --w.stores;
    --w.spills;
    return false;
  }
  --w.loads;
  if (w.hold == Hold::refill) w.hold = Hold::none;
  if (!killed) stacks_.refill(slot, access);
  return !killed;
}

bool SmCore::end_flush(unsigned slot) {
  ResidentWarp& w = warps_[slot];
  if (w.spills != 0) return false;
  flushing_ &= ~(std::uint64_t{1} << slot);
  w.hold = Hold::none;
  if (w.stack_goal > stacks_[slot].depth()) stacks_[slot].raise_to(w.stack_goal);
  return true;
}

FaultReport SmCore::report_of(std::string_view kind, const Fault& fault) const {
  const Cta& cta = ctas_[warps_[fault.slot].cta];
  const auto warp = std::find(cta.slots.begin(), cta.slots.end(), fault.slot) - cta.slots.begin();
  const unsigned number = static_cast<unsigned>(warp) * kWarpLanes + fault.lane;
  const Dim3& block = info_.block;
  FaultReport report;
  report.kind = kind;
  report.fault = fault;
  report.cta = cta.id;
  report.thread = {number % block.x, number / block.x % block.y, number / block.x / block.y};
  report.where = source_->where(*fault.instruction);
  if (fault.has_address && fault.instruction->kind == InstructionKind::memory)
    report.access = fault.instruction->mem;
  switch (fault.space == Space::generic ? AddressWindows::space_of(fault.address) : fault.space) {
    case Space::shared:
    case Space::shared_cluster: report.limit = info_.shared_bytes; break;
    case Space::local: report.limit = program_local_; break;
    case Space::constant:
    case Space::param: report.limit = info_.parameters.size(); break;
    default: break;
  }
  return report;
}

void SmCore::keep_program_fault(Cycle now, unsigned slot, const Instruction& i, const Issue& issue) {
  ++counters_.program_faults;
  const LaneMask whose = issue.fault_lanes != 0 ? issue.fault_lanes : issue.active;
  const unsigned lane = whose == 0 ? 0 : first_lane(whose);
  keep_fault(issue.fault,
             {FaultKind::unmapped, now, slot, lane, issue.fault_address, &i, issue.fault_address != 0});
}

unsigned SmCore::live_threads(const Cta& cta) const {
  unsigned n = 0;
  for (const unsigned s : cta.slots)
    if (is_of(cta, s)) n += lane_count(source_->live_lanes(s));
  return n;
}

}  // namespace warpline
