#include "rtl_models/sm/loop_watch.h"

#include <algorithm>

namespace warpline {
namespace {

bool is_swap(const MemOp& op) {
  return op.kind == MemKind::atomic && op.atomic == AtomicOperation::compare_and_swap &&
         op.bytes_per_lane() <= sizeof(std::uint64_t);
}

/// Whether the access leaves memory as it is, and shows what has been written to it: no copy in a cache that
/// is dropped some day, and nothing that answers as it likes.
bool only_looks(const MemOp& op) {
  if (op.kind == MemKind::mbarrier) return op.waits_for_phase();
  if (op.kind != MemKind::load || op.is_mmio || op.is_noncoherent || op.proxy != Proxy::generic) return false;
  switch (op.space) {
    case Space::shared:
    case Space::shared_cluster:
    case Space::local:
    case Space::constant:
    case Space::param: return true;
    case Space::generic:
    case Space::global: return op.beyond_cta();
    case Space::texture:
    case Space::surface: break;
  }
  return false;
}

/// Whether the instruction may be part of what a warp repeats.
bool may_repeat(const Instruction& i) {
  switch (i.kind) {
    case InstructionKind::alu: return !i.reads_time;
    case InstructionKind::memory: return only_looks(i.mem) || is_swap(i.mem);
    case InstructionKind::fence:
    case InstructionKind::sleep:
    case InstructionKind::matrix:
    case InstructionKind::wait_copies:
    case InstructionKind::wait_products:
    case InstructionKind::wait_bulk:
    case InstructionKind::wait_bulk_reads: return true;
    default: return false;
  }
}

/// What the lane has, or gets, as an operand of a compare-and-swap.
std::uint64_t word_of(const MemoryAccess& access, unsigned lane, unsigned bytes) {
  std::uint64_t word = 0;
  __builtin_memcpy(&word, access.lane_data(lane), bytes);
  return word;
}

}  // namespace

void LoopWatch::arm() {
  std::fill(tracks_.begin(), tracks_.end(), Track{});
  armed_ = true;
}

void LoopWatch::renew() {
  for (Track& t : tracks_) t.comparisons = kComparisons;
}

void LoopWatch::execute(unsigned slot, Issue& issue) {
  if (changed_) return source_->execute(slot, issue);
  const Instruction& i = source_->next(slot);
  if (!may_repeat(i)) {
    changed_ = true;
    return source_->execute(slot, issue);
  }
  Track& t = tracks_[slot];
  t.moved = true;
  // What is in flight is state, too.
  if (armed_ && !t.repeats && warps_[slot].quiet()) compare(slot, i.pc);
  const LaneMask live = source_->live_lanes(slot);
  source_->execute(slot, issue);
  if (issue.access != nullptr && issue.access->active != 0) note_access(slot, i, *issue.access);
  changed_ |= issue.fault != nullptr || source_->live_lanes(slot) != live;
}

/// As far as no state is to be compared or taken on the way.
unsigned LoopWatch::run_ahead(unsigned slot, Issue& issue, unsigned most, std::uint64_t& threads) {
  if (changed_) return source_->run_ahead(slot, issue, most, threads);
  Track& t = tracks_[slot];
  const bool counts = armed_ && !t.repeats && warps_[slot].quiet();
  if (counts) {
    if (!t.taken || t.comparisons != 0) return 0;
    most = static_cast<unsigned>(std::min<std::uint64_t>(most, t.most_steps - t.steps - 1));
  }
  const LaneMask live = source_->live_lanes(slot);
  const unsigned count = source_->run_ahead(slot, issue, most, threads);
  if (counts) t.steps += count;
  t.moved |= count != 0;
  changed_ |= issue.fault != nullptr || source_->live_lanes(slot) != live;
  return count;
}

void LoopWatch::compare(unsigned slot, std::uint32_t pc) {
  Track& t = tracks_[slot];
  const bool takes = !t.taken || ++t.steps >= t.most_steps;
  const bool compares = t.taken && t.pc == pc && t.comparisons != 0;
  if (!compares && !takes) return;
  const auto digest = source_->digest(slot);
  if (!digest) {
    changed_ = true;
    return;
  }
  if (compares) {
    --t.comparisons;
    t.repeats = *digest == t.digest;
  }
  if (!takes) return;
  t.digest = *digest;
  t.pc = pc;
  t.taken = true;
  t.steps = 0;
  t.most_steps *= 2;
}

void LoopWatch::note_access(unsigned slot, const Instruction& i, const MemoryAccess& access) {
  tracks_[slot].look = {&i, access.address_of(first_lane(access.active))};
  if (!is_swap(i.mem)) return;
  Swap& swap = swaps_.emplace_back();
  swap.access = &access;
  for_each_lane(access.active, [&](unsigned lane) {
    swap.expected.at(lane) = word_of(access, lane, i.mem.bytes_per_lane());
  });
}

void LoopWatch::complete(unsigned slot, const Instruction& i, const MemoryAccess& access, bool with_data) {
  if (i.mem.kind == MemKind::atomic) {
    const auto swap =
        std::find_if(swaps_.begin(), swaps_.end(), [&](const Swap& s) { return s.access == &access; });
    if (swap == swaps_.end()) {
      // One from before the watch, whose end arm() comes after.
      changed_ |= armed_;
    } else {
      for_each_lane(access.active, [&](unsigned lane) {
        changed_ |= word_of(access, lane, i.mem.bytes_per_lane()) == swap->expected.at(lane);
      });
      swaps_.erase(swap);
    }
  }
  source_->complete(slot, i, access, with_data);
}

}  // namespace warpline
