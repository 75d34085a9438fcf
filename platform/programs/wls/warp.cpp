#include "warpline/programs/wls/warp.h"

#include <algorithm>

namespace warpline::wls {
namespace {

constexpr LaneMask bit(unsigned lane) {
  return LaneMask{1} << lane;
}

}  // namespace

Warp::Warp(const Program& program, const std::vector<Op>& ops)
    : program_(program), ops_(ops), registers_(std::size_t{program.registers} * kWarpLanes) {}

void Warp::begin(const WarpIdentity& who, LaneMask threads) {
  who_ = who;
  std::fill(registers_.begin(), registers_.end(), 0U);
  predicates_.fill(0);
  predicates_[kAlways] = ~LaneMask{0};
  alive_ = threads;
  groups_.clear();
  aside_.clear();
  if (threads != 0) groups_.push_back({threads, 0, 0, Group::Status::ready, 0});
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
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (std::size_t k = i + 1; k < groups_.size();) {
      Group& a = groups_[i];
      const Group& b = groups_[k];
      if (a.pc != b.pc || a.level != b.level || a.status != b.status || a.barrier != b.barrier) {
        ++k;
        continue;
      }
      a.mask |= b.mask;
      groups_[k] = groups_.back();
      groups_.pop_back();
    }
}

/// Chooses the group that runs next.
void Warp::settle() {
  if (groups_.size() > 1) merge();
  current_ = kNobody;
  const auto before = [](const Group& a, const Group& b) {
    return a.level != b.level ? a.level > b.level : a.pc < b.pc;
  };
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& g = groups_[i];
    if (g.status == Group::Status::returning) {
      // Once the lanes that it waited for have exited, it returns.
      const bool waits = std::any_of(groups_.begin(), groups_.end(), [&g](const Group& o) {
        return o.level > g.level || (o.level == g.level && o.status != Group::Status::returning);
      });
      if (waits) continue;
    } else if (g.status != Group::Status::ready) {
      continue;
    }
    if (current_ == kNobody || before(g, groups_[current_])) current_ = i;
  }
}

void Warp::jump(LaneMask lanes, std::uint32_t target, std::uint32_t level) {
  const Group from = groups_[current_];
  const LaneMask stay = from.mask & ~lanes;
  groups_[current_].mask = stay;
  groups_[current_].pc = from.pc + 1;
  Group moved = from;
  moved.mask = lanes;
  moved.pc = target;
  moved.level = level;
  if (stay == 0) {
    groups_[current_] = moved;
  } else if (lanes != 0) {
    groups_.push_back(moved);
  }
}

void Warp::leave(LaneMask lanes) {
  alive_ &= ~lanes;
  for (Group& g : groups_) g.mask &= ~lanes;
  groups_.erase(std::remove_if(groups_.begin(), groups_.end(), [](const Group& g) { return g.mask == 0; }),
                groups_.end());
  settle();
}

void Warp::fault(Issue& issue, const char* why) {
  issue.fault = why;
  leave(alive_);
}

void Warp::release(std::uint32_t barrier) {
  for (Group& g : groups_)
    if (g.status == Group::Status::barrier && g.barrier == barrier) {
      g.status = Group::Status::ready;
      g.barrier = 0;
    }
  settle();
}

void Warp::execute(Issue& issue) {
  Group& g = groups_[current_];
  const Op& op = ops_[g.pc];
  const LaneMask holds = predicates_.at(op.predicate);
  const LaneMask lanes = g.mask & (op.unless ? ~holds : holds);
  issue.active = lanes;
  switch (op.code) {
    case Code::branch: jump(lanes, op.target, g.level); break;
    case Code::call: return call(op, lanes, issue);
    case Code::ret: return ret(lanes, issue);
    case Code::set_stack: return set_stack(op, lanes, issue);
    case Code::barrier: barrier(op, lanes, issue); break;
    case Code::exit: ++g.pc; return leave(lanes);
    case Code::load:
    case Code::store:
    case Code::cache_control:
      access(op, program_.instructions[g.pc].mem, lanes, issue);
      ++g.pc;
      break;
    default: compute(op, lanes, issue); ++g.pc;
  }
  settle();
}

void Warp::barrier(const Op& op, LaneMask lanes, Issue& issue) {
  issue.barrier.id = op.b.constant;
  const Group from = groups_[current_];
  jump(lanes, from.pc + 1, from.level);
  if (lanes == 0) return;
  Group& waiting = groups_[current_].mask == lanes ? groups_[current_] : groups_.back();
  waiting.status = Group::Status::barrier;
  waiting.barrier = static_cast<std::uint8_t>(op.b.constant);
}

/// A token: the address to return to, and in the upper half the lanes that called.
void Warp::call(const Op& op, LaneMask lanes, Issue& issue) {
  const Group from = groups_[current_];
  if (lanes != 0) {
    if (from.level != issue.stack_depth) aside_.emplace_back(issue.stack_depth, from.level);
    issue.token = std::uint64_t{lanes} << 32U | (from.pc + 1) << kPcShift;
    ++issue.stack_depth;
  }
  jump(lanes, op.target, issue.stack_depth);
  settle();
}

/// The level of those who pushed `token`, which leaves the stack with all above it: the tokens below it, but
/// for calls made while others of the warp stood at a barrier in a call of their own.
std::uint32_t Warp::level_below(std::uint32_t token) {
  std::uint32_t level = token;
  for (; !aside_.empty() && aside_.back().first >= token; aside_.pop_back())
    if (aside_.back().first == token) level = aside_.back().second;
  return level;
}

void Warp::ret(LaneMask lanes, Issue& issue) {
  const Group from = groups_[current_];
  if (lanes == 0) {
    jump(0, 0, from.level);
    return settle();
  }
  if (issue.stack_depth == 0) return fault(issue, "return with an empty call-return stack");
  const std::uint64_t token = issue.token;
  const auto callers = static_cast<LaneMask>(token >> 32U);
  const auto back = static_cast<std::uint32_t>(token);
  if (callers == 0 || back % (1U << kPcShift) != 0 || back >> kPcShift >= ops_.size())
    return fault(issue, "return to what is no address of the program");
  if ((callers & alive_) == 0) {
    // A call whose lanes have all exited: its token goes, and the instruction is executed once more.
    issue.active = 0;
    static_cast<void>(level_below(--issue.stack_depth));
    return;
  }
  jump(lanes, from.pc, from.level);
  Group& own = groups_[current_].mask == lanes ? groups_[current_] : groups_.back();
  own.status = Group::Status::returning;
  LaneMask back_again = 0;
  for (const Group& g : groups_) {
    if (g.level > from.level) return settle();
    if (g.level != from.level) continue;
    if (g.status != Group::Status::returning) return settle();
    back_again |= g.mask;
  }
  if (back_again != (callers & alive_)) return fault(issue, "return of other lanes than have called");
  const std::uint32_t level = level_below(--issue.stack_depth);
  groups_.erase(
      std::remove_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.level == from.level; }),
      groups_.end());
  groups_.push_back({back_again, back >> kPcShift, level, Group::Status::ready, 0});
  settle();
}

void Warp::set_stack(const Op& op, LaneMask lanes, Issue& issue) {
  Group& g = groups_[current_];
  ++g.pc;
  if (lanes != 0) {
    if (lanes != alive_) return fault(issue, "SETCRSPTR by a part of the warp");
    const auto first = static_cast<unsigned>(__builtin_ctz(lanes));
    const std::uint32_t depth = second(op, first);
    for (unsigned lane = first; lane < kWarpLanes; ++lane)
      if ((lanes & bit(lane)) != 0 && second(op, lane) != depth)
        return fault(issue, "SETCRSPTR to several values");
    static_cast<void>(level_below(depth));
    issue.stack_depth = depth;
    g.level = depth;
  }
  settle();
}

}  // namespace warpline::wls
