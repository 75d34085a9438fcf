#include "rtl_models/sm/sm_profile.h"

#include <algorithm>
#include <utility>

#include "rtl_models/base/bits.h"
#include "rtl_models/sm/lsu_entries.h"

namespace warpline {

void InstructionProfile::Memory::add(const Memory& other) {
  accesses += other.accesses;
  lanes += other.lanes;
  lane_bytes += other.lane_bytes;
  lines += other.lines;
  sectors += other.sectors;
  for (std::size_t n = 0; n < kAnsweredBy; ++n) answered[n] += other.answered[n];
  shared_passes += other.shared_passes;
  shared_conflicts += other.shared_conflicts;
  latency.add(other.latency);
}

void InstructionProfile::add(const InstructionProfile& other) {
  issued += other.issued;
  lanes += other.lanes;
  for (std::size_t n = 0; n < kStallReasons; ++n) stalls[n] += other.stalls[n];
  if (other.memory == nullptr) return;
  if (memory == nullptr) memory = std::make_unique<Memory>();
  memory->add(*other.memory);
}

std::uint64_t InstructionProfile::stall_cycles() const {
  std::uint64_t sum = 0;
  for (std::size_t n = 1; n < kStallReasons; ++n) sum += stalls[n];
  return sum;
}

void KernelProfile::add(const KernelProfile& other) {
  warps += other.warps;
  warp_cycles += other.warp_cycles;
  std::unordered_map<std::uint32_t, std::size_t> at;
  for (std::size_t n = 0; n < rows.size(); ++n) at.emplace(rows[n].pc, n);
  for (const Row& row : other.rows) {
    const auto [known, fresh] = at.emplace(row.pc, rows.size());
    if (fresh) rows.push_back({row.pc, row.where, {}});
    rows[known->second].profile.add(row.profile);
  }
}

void SmProfile::begin_kernel(const KernelInfo& info, const InstructionSource& source) {
  source_ = &source;
  const auto known = std::find_if(kernels_.begin(), kernels_.end(),
                                  [&info](const KernelProfile& k) { return k.is_of(info); });
  KernelProfile* const before = kernel_;
  kernel_ = known != kernels_.end() ? &*known : &kernels_.emplace_back();
  owners_ = kCounters + std::max(1U, info.registers);
  unselected_ = {};
  if (kernel_ == before && known != kernels_.end()) return;
  kernel_->name = info.name;
  kernel_->code_name = info.code_name;
  rows_.clear();
  cached_.fill({});
  for (std::uint32_t n = 0; n < kernel_->rows.size(); ++n) rows_.emplace(kernel_->rows[n].pc, n);
}

std::uint32_t SmProfile::row_of(const Instruction& i) {
  Cached& cached = cached_[i.pc / 16 % kCached];
  if (cached.pc == i.pc) return cached.row;
  const auto [known, fresh] = rows_.emplace(i.pc, static_cast<std::uint32_t>(kernel_->rows.size()));
  if (fresh) kernel_->rows.push_back({i.pc, source_->where(i), {}});
  cached = {i.pc, known->second};
  return cached.row;
}

InstructionProfile::Memory& SmProfile::memory_of(const Instruction& i) {
  std::unique_ptr<InstructionProfile::Memory>& memory = kernel_->rows[row_of(i)].profile.memory;
  if (memory == nullptr) memory = std::make_unique<InstructionProfile::Memory>();
  return *memory;
}

void SmProfile::begin_warp(unsigned slot, std::uint64_t edge) {
  ++kernel_->warps;
  Warp& w = warps_[slot];
  w.resident = true;
  w.start = w.since = edge;
  w.later = kNever;
  w.row = w.last = 0;
  w.reason = w.after = StallReason::dispatch;
  w.pending = w.has_issued = false;
  w.open.clear();
  w.owners.assign(owners_, Owner{});
  for (std::vector<std::uint32_t>& holders : w.holders) holders.clear();
}

/// Charges what has passed since it was charged last.
void SmProfile::settle(Warp& w, std::uint64_t edge) {
  if (edge <= w.since) return;
  if (w.later < edge) {
    const std::uint64_t later = std::max(w.later, w.since);
    charge(w, later - w.since);
    w.since = later;
    w.later = kNever;
    w.reason = w.later_reason;
    w.row = w.later_row;
    w.pending = false;
  }
  charge(w, edge - w.since);
  w.since = edge;
}

/// So many cycles to what is charged now.
void SmProfile::charge(Warp& w, std::uint64_t cycles) {
  if (cycles == 0) return;
  if (!w.pending) {
    kernel_->rows[w.row].profile.stalls[static_cast<std::size_t>(w.reason)] += cycles;
    return;
  }
  const auto open =
      std::find_if(w.open.begin(), w.open.end(), [&w](const Open& o) { return o.row == w.row; });
  if (open == w.open.end()) {
    w.open.push_back({w.row, cycles});
  } else {
    open->cycles += cycles;
  }
}

void SmProfile::change(unsigned slot, std::uint64_t edge, StallReason reason, std::uint32_t row,
                       bool pending) {
  const std::uint64_t others = ~(std::uint64_t{1} << slot);
  unselected_.other &= others;
  unselected_.pipe &= others;
  unselected_.queue &= others;
  Warp& w = warps_[slot];
  if (w.later == kNever && w.reason == reason && w.row == row && w.pending == pending) return;
  settle(w, edge);
  w.later = kNever;
  w.reason = reason;
  w.row = row;
  w.pending = pending;
}

void SmProfile::end_warp(unsigned slot, std::uint64_t edge) {
  Warp& w = warps_[slot];
  settle(w, edge);
  for (const Open& o : w.open)
    kernel_->rows[o.row].profile.stalls[static_cast<std::size_t>(StallReason::cut_off)] += o.cycles;
  w.open.clear();
  kernel_->warp_cycles += w.since - w.start;
  w.start = w.since;
  w.resident = false;
}

void SmProfile::close(std::uint64_t edge) {
  for (unsigned slot = 0; slot < warps_.size(); ++slot) {
    if (!warps_[slot].resident) continue;
    end_warp(slot, edge);
    warps_[slot].resident = true;
  }
}

void SmProfile::stall(unsigned slot, std::uint64_t edge, StallReason reason, const Instruction& at) {
  change(slot, edge, reason, row_of(at), false);
}

void SmProfile::stall_later(unsigned slot, std::uint64_t edge, StallReason reason, const Instruction& at) {
  Warp& w = warps_[slot];
  w.later = edge;
  w.later_reason = reason;
  w.later_row = row_of(at);
}

void SmProfile::hold_back(unsigned slot, std::uint64_t edge, const Instruction& next) {
  const Warp& w = warps_[slot];
  change(slot, edge, w.after, w.has_issued ? w.last : row_of(next), false);
}

void SmProfile::await(unsigned slot, std::uint64_t edge, std::size_t owner) {
  const Owner& o = warps_[slot].owners[owner];
  change(slot, edge, o.reason, o.row, o.pending);
}

void SmProfile::take_turn(unsigned slot, std::uint64_t edge) {
  Warp& w = warps_[slot];
  settle(w, edge);
  w.later = kNever;
  w.since = edge + 1;
}

void SmProfile::issued(unsigned slot, const Instruction& i, std::uint64_t lanes) {
  const std::uint32_t row = row_of(i);
  InstructionProfile& p = kernel_->rows[row].profile;
  ++p.issued;
  p.lanes += lanes;
  ++p.stalls[static_cast<std::size_t>(StallReason::selected)];
  Warp& w = warps_[slot];
  w.has_issued = true;
  w.last = row;
  w.after = i.kind == InstructionKind::sleep ? StallReason::sleep : StallReason::dispatch;
  const bool pending = i.kind == InstructionKind::memory && lanes != 0;
  const Owner owner{row, StallReason::arithmetic, pending};
  const std::uint16_t* const to = i.registers.begin() + i.source_count;
  for (unsigned n = 0; n < i.destination_count; ++n) w.owners[kCounters + to[n]] = owner;
  if (i.read_counter != DependenceCounters::kNone)
    w.owners[i.read_counter] = {row, StallReason::dispatch, false};
  if (i.write_counter == DependenceCounters::kNone) return;
  w.owners[i.write_counter] = owner;
  if (pending) w.holders[i.write_counter].push_back(row);
}

void SmProfile::put_off(const Instruction& i) {
  const StallReason reason = i.kind == InstructionKind::reallocate_registers ? StallReason::registers
                             : i.kind >= InstructionKind::call               ? StallReason::call_stack
                                                                             : StallReason::ordering;
  ++kernel_->rows[row_of(i)].profile.stalls[static_cast<std::size_t>(reason)];
}

/// What an access that is done was answered from.
StallReason SmProfile::level_of(const LsuEntry& e) const {
  switch (e.answered_by) {
    case AnsweredBy::l2: return StallReason::l2;
    case AnsweredBy::dram: return StallReason::dram;
    case AnsweredBy::link: return StallReason::link;
    case AnsweredBy::first_level: break;
  }
  const MemOp& op = e.instruction->mem;
  if (op.kind == MemKind::mbarrier) return StallReason::mbarrier;
  if (e.resolved.remote().lanes() != 0) return StallReason::cluster_shared;
  if (e.resolved.shared().lanes() != 0) return StallReason::shared;
  if (e.resolved.constant().lanes() != 0) return StallReason::constant;
  return !unified_l1_ && (op.kind == MemKind::texture_load || op.is_noncoherent) ? StallReason::texture
                                                                                 : StallReason::l1;
}

void SmProfile::completed(const LsuEntry& e, std::uint64_t edge, std::uint64_t latency) {
  const Instruction& i = *e.instruction;
  const std::uint32_t row = row_of(i);
  InstructionProfile::Memory& memory = memory_of(i);
  ++memory.accesses;
  memory.lanes += lane_count(e.access.active);
  memory.lane_bytes += std::uint64_t{lane_count(e.access.active)} * i.mem.bytes_per_lane();
  memory.latency.add(latency);
  Warp& w = warps_[e.slot];
  const Owner owner{row, level_of(e), false};
  // What another access has taken over since is that one's.
  const std::uint16_t* const to = i.registers.begin() + i.source_count;
  for (unsigned n = 0; n < i.destination_count; ++n)
    if (Owner& known = w.owners[kCounters + to[n]]; known.pending && known.row == row) known = owner;
  if (i.write_counter != DependenceCounters::kNone) {
    std::vector<std::uint32_t>& holders = w.holders[i.write_counter];
    if (const auto own = std::find(holders.begin(), holders.end(), row); own != holders.end())
      holders.erase(own);
    w.owners[i.write_counter] = owner;
  }
  if (w.pending && w.row == row) {
    settle(w, edge);
    w.pending = false;
    w.reason = owner.reason;
  }
  const auto open = std::find_if(w.open.begin(), w.open.end(), [row](const Open& o) { return o.row == row; });
  if (open == w.open.end()) return;
  kernel_->rows[row].profile.stalls[static_cast<std::size_t>(owner.reason)] += open->cycles;
  w.open.erase(open);
}

void SmProfile::sent(const Instruction& i, unsigned sectors) {
  InstructionProfile::Memory& memory = memory_of(i);
  ++memory.lines;
  memory.sectors += sectors;
}

void SmProfile::answered(const Instruction& i, const Request& r) {
  if (r.command == Command::read || r.command == Command::atomic)
    memory_of(i).answered[static_cast<std::size_t>(r.answered_by)] += sector_count(r.sectors);
}

void SmProfile::shared(const Instruction& i, const SharedMemory::Passes& passes) {
  InstructionProfile::Memory& memory = memory_of(i);
  memory.shared_passes += passes.all();
  memory.shared_conflicts += passes.conflicts;
}

void SmProfile::could_issue(std::uint64_t edge, const Unselected& now,
                            const std::vector<ResidentWarp>& warps) {
  const Unselected before = std::exchange(unselected_, {});
  const auto note = [&](std::uint64_t slots, StallReason reason) {
    for (; slots != 0; slots &= slots - 1) {
      const auto slot = static_cast<unsigned>(__builtin_ctzll(slots));
      change(slot, edge, reason, row_of(*warps[slot].next), false);
    }
  };
  note(now.other & ~before.other, StallReason::not_selected);
  note(now.pipe & ~before.pipe, StallReason::pipe);
  note(now.queue & ~before.queue, StallReason::memory_queue);
  unselected_ = now;
}

}  // namespace warpline
