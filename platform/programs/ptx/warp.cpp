#include "warpline/programs/ptx/warp.h"

#include <algorithm>
#include <tuple>

namespace warpline::ptx {
namespace {

/// Backward branches after which a group gives way to others; a spin loop's cost as many as kSpin.
constexpr std::uint32_t kPatience = 1024;
constexpr std::uint32_t kSpin = 128;
constexpr std::uint64_t kLongestSleep = 1'000'000;

unsigned first_lane(LaneMask mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

}  // namespace

void sleep(const Op& op, Frame& f) {
  const auto* t = f.in<std::uint32_t>(op.r[1]);
  std::uint64_t longest = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if ((f.active & kLaneBit[i]) != 0) longest = std::max<std::uint64_t>(longest, t[i]);
  f.issue->sleep_cycles = std::min(longest, kLongestSleep);
}

Warp::Warp(const Program& program) : program_(program), file_(program.file_bytes / sizeof(Block)) {
  if (!program.calls.empty()) lanes_.resize(kWarpLanes);
}

void Warp::begin(LaneMask threads) {
  std::fill(file_.begin(), file_.end(), Block{});
  for (Lane& lane : lanes_) {
    lane.calls.clear();
    lane.saved.clear();
    lane.local_top = program_.local_bytes;
  }
  alive_ = threads;
  groups_[0] = Group{};
  groups_[0].mask = threads;
  groups_[0].pc = program_.functions[0].entry;
  count_ = threads != 0 ? 1 : 0;
  settle();
}

WarpState Warp::state() const {
  if (alive_ == 0) return WarpState::exited;
  return current_ == kNobody ? WarpState::at_barrier : WarpState::runnable;
}

void Warp::kill() {
  leave(alive_);
}

void Warp::merge() {
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t k = i + 1; k < count_;) {
      Group& a = groups_[i];
      const Group& b = groups_[k];
      const bool waits = a.status == Group::Status::barrier || b.status == Group::Status::barrier;
      const bool alike = a.status == b.status && a.barrier == b.barrier;
      if (a.pc != b.pc || (waits && !alike)) {
        ++k;
        continue;
      }
      // A newcomer at a warp operation makes the group look at its members again.
      if (a.status != b.status) a.status = Group::Status::ready;
      a.mask |= b.mask;
      if (std::tie(a.epoch, a.patience) < std::tie(b.epoch, b.patience)) {
        a.epoch = b.epoch;
        a.patience = b.patience;
      }
      a.spun |= b.spun;
      groups_[k] = groups_[--count_];
    }
  }
}

void Warp::settle() {
  if (count_ > 1) merge();
  for (;;) {
    current_ = kNobody;
    bool at_barrier = false;
    std::size_t stuck = kNobody;
    for (std::size_t i = 0; i < count_; ++i) {
      const Group& g = groups_[i];
      at_barrier |= g.status == Group::Status::barrier;
      if (g.status == Group::Status::converging && (stuck == kNobody || g.pc < groups_[stuck].pc)) stuck = i;
      if (g.status != Group::Status::ready) continue;
      if (current_ == kNobody ||
          std::tie(g.epoch, g.pc) < std::tie(groups_[current_].epoch, groups_[current_].pc))
        current_ = i;
    }
    if (current_ != kNobody || stuck == kNobody || at_barrier) return;
    // Members that never come: the program's mask names lanes that wait elsewhere in the warp.
    groups_[stuck].status = Group::Status::ready;
    groups_[stuck].forced = true;
  }
}

void Warp::move(LaneMask lanes, std::uint32_t target) {
  Group& g = groups_[current_];
  if (lanes == g.mask) {
    g.pc = target;
    return;
  }
  if (lanes == 0) return;
  Group moved = g;
  moved.mask = lanes;
  moved.pc = target;
  g.mask &= ~lanes;
  groups_[count_++] = moved;
}

void Warp::leave(LaneMask lanes) {
  alive_ &= ~lanes;
  for (std::size_t i = 0; i < count_;) {
    groups_[i].mask &= ~lanes;
    if (groups_[i].status == Group::Status::converging) groups_[i].status = Group::Status::ready;
    if (groups_[i].mask == 0)
      groups_[i] = groups_[--count_];
    else
      ++i;
  }
  settle();
}

void Warp::trap(Issue& issue, const char* why) {
  issue.fault = why;
  leave(alive_);
}

void Warp::execute(Issue& issue, const std::byte* pool) {
  Group& g = groups_[current_];
  const Op& op = program_.ops[g.pc];
  Frame f;
  f.file = file();
  f.pool = pool;
  f.issue = &issue;
  f.active = g.mask;
  if (op.guarded) {
    const LaneMask holds = f.predicate(op.guard);
    f.active &= op.guard_negated ? ~holds : holds;
  }
  issue.active = f.active;
  g.spun |= op.spins;
  if (op.flow == Flow::next) {
    if (op.run != nullptr) op.run(op, f);
    ++g.pc;
    if (count_ > 1) settle();
    return;
  }
  const LaneMask lanes = f.active;
  switch (op.flow) {
    case Flow::next: break;
    case Flow::branch:
      issue.active = g.mask;
      branch(lanes, op);
      break;
    case Flow::branch_table: branch_table(lanes, op, f, issue); break;
    case Flow::call: call(lanes, op, f, issue); break;
    case Flow::back:
      move(g.mask & ~lanes, g.pc + 1);
      if (lanes != 0) back(lanes);
      break;
    case Flow::exit:
      if (lanes != g.mask) move(g.mask & ~lanes, g.pc + 1);
      if (lanes != 0) return leave(lanes);
      break;
    case Flow::trap:
      if (lanes != 0) return trap(issue, "trap");
      ++g.pc;
      break;
    case Flow::may_trap:
      if (lanes != 0) op.run(op, f);
      if (issue.fault != nullptr) return leave(alive_);
      ++g.pc;
      break;
    case Flow::barrier: barrier(lanes, op, f, issue); break;
    case Flow::converge: converge(lanes, op, f, issue); break;
  }
  settle();
}

void Warp::branch(LaneMask taken, const Op& op) {
  if (op.mode != 0) enter(taken);
  Group& g = groups_[current_];
  const bool backward = op.target <= g.pc && taken != 0;
  if (backward) {
    g.patience += g.spun ? kSpin : 1;
    g.spun = false;
    if (g.patience >= kPatience) {
      g.patience = 0;
      ++g.epoch;
    }
  }
  const LaneMask stay = g.mask & ~taken;
  const std::uint32_t next = g.pc + 1;
  move(taken, op.target);
  if (stay != 0) g.pc = next;
}

void Warp::branch_table(LaneMask lanes, const Op& op, Frame& f, Issue& issue) {
  const std::vector<std::uint32_t>& table = program_.tables[op.target];
  const auto* index = f.in<std::uint32_t>(op.r[0]);
  const LaneMask stay = groups_[current_].mask & ~lanes;
  const std::uint32_t next = groups_[current_].pc + 1;
  while (lanes != 0) {
    const std::uint32_t i = index[first_lane(lanes)];
    if (i >= table.size()) return trap(issue, "brx.idx: index beyond the list of targets");
    LaneMask same = 0;
    for (unsigned k = 0; k < kWarpLanes; ++k)
      if ((lanes & kLaneBit[k]) != 0 && index[k] == i) same |= kLaneBit[k];
    lanes &= ~same;
    move(same, table[i]);
  }
  if (stay != 0) groups_[current_].pc = next;
}

void Warp::barrier(LaneMask lanes, const Op& op, Frame& f, Issue& issue) {
  Group& g = groups_[current_];
  const std::uint32_t here = g.pc;
  if (lanes == 0) {
    ++g.pc;
    return;
  }
  const unsigned lane = first_lane(lanes);
  issue.barrier.id = f.in<std::uint32_t>(op.r[1])[lane];
  issue.barrier.threads = op.r[2] == kNoRef ? 0 : f.in<std::uint32_t>(op.r[2])[lane];
  issue.barrier.waits = op.mode == kBarrierWaits;
  if (issue.barrier.id > 15) return trap(issue, "a barrier number above 15");
  move(g.mask & ~lanes, here + 1);
  g.pc = here + 1;
  if (!issue.barrier.waits) return;
  g.status = Group::Status::barrier;
  g.barrier = static_cast<std::uint8_t>(issue.barrier.id);
  g.barrier_op = here;
}

void Warp::converge(LaneMask lanes, const Op& op, Frame& f, Issue& issue) {
  Group& g = groups_[current_];
  const auto* members = f.in<std::uint32_t>(op.r[Op::kMask]);
  LaneMask complete = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if ((members[i] & alive_ & ~g.mask) == 0) complete |= kLaneBit[i];
  if (g.forced) complete = ~LaneMask{0};
  const LaneMask go = lanes & complete;
  if (go != lanes) {
    if (go == 0) {
      issue.active = 0;
      g.status = Group::Status::converging;
      return;
    }
    const LaneMask wait = lanes & ~go;
    move(wait, g.pc);
    groups_[count_ - 1].status = Group::Status::converging;
  }
  f.active = go;
  issue.active = go;
  if (op.run != nullptr && go != 0) op.run(op, f);
  g.forced = false;
  ++g.pc;
}

}  // namespace warpline::ptx
