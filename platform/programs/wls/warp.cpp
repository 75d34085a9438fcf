#include "platform/programs/wls/warp.h"

#include <algorithm>
#include <cstring>

namespace warpline::wls {
namespace {

bool holds(Comparison c, bool is_unsigned, std::uint32_t a, std::uint32_t b) {
  // Signed comparison is unsigned comparison with the sign bits turned over.
  const std::uint32_t turn = is_unsigned ? 0 : 0x8000'0000U;
  const std::uint32_t x = a ^ turn, y = b ^ turn;
  switch (c) {
    case Comparison::equal: return x == y;
    case Comparison::not_equal: return x != y;
    case Comparison::less: return x < y;
    case Comparison::less_equal: return x <= y;
    case Comparison::greater: return x > y;
    case Comparison::greater_equal: return x >= y;
  }
  return false;
}

std::uint32_t shift_right(std::uint32_t a, std::uint32_t by, bool is_unsigned) {
  if (is_unsigned) return by > 31 ? 0 : a >> by;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> (by > 31 ? 31U : by));
}

std::uint64_t product(std::uint32_t a, std::uint32_t b, bool is_unsigned) {
  if (is_unsigned) return std::uint64_t{a} * b;
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a)} *
                                    static_cast<std::int32_t>(b));
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

/// The call level of the lanes that pushed `token`, which leaves the stack with all tokens above it. It is
/// the number of tokens below, less those of calls made while other lanes of the warp waited at a barrier in
/// a call of their own.
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
    const std::uint32_t depth = second(op, first_lane(lanes));
    bool differs = false;
    for_each_lane(lanes, [&](unsigned lane) { differs |= second(op, lane) != depth; });
    if (differs) return fault(issue, "SETCRSPTR to several values");
    static_cast<void>(level_below(depth));
    issue.stack_depth = depth;
    g.level = depth;
  }
  settle();
}

std::uint32_t Warp::special(Special which, unsigned lane, const Issue& issue) const {
  const unsigned thread = who_.warp * kWarpLanes + lane;
  const Dim3& n = who_.block;
  switch (which) {
    case Special::tid_x: return thread % n.x;
    case Special::tid_y: return thread / n.x % n.y;
    case Special::tid_z: return thread / n.x / n.y;
    case Special::ctaid_x: return who_.cta.x;
    case Special::ctaid_y: return who_.cta.y;
    case Special::ctaid_z: return who_.cta.z;
    case Special::ntid_x: return n.x;
    case Special::ntid_y: return n.y;
    case Special::ntid_z: return n.z;
    case Special::nctaid_x: return who_.grid.x;
    case Special::nctaid_y: return who_.grid.y;
    case Special::nctaid_z: return who_.grid.z;
    case Special::lane: return lane;
    case Special::warp: return who_.warp;
    case Special::sm: return who_.sm;
    case Special::clock: return static_cast<std::uint32_t>(issue.clock);
  }
  return 0;
}

void Warp::compute(const Op& op, LaneMask lanes, const Issue& issue) {
  LaneMask result = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint32_t a = value(op.a, lane), b = second(op, lane);
    switch (op.code) {
      case Code::move: set(op.d, lane, b); break;
      case Code::add: set(op.d, lane, a + b); break;
      case Code::multiply_add: set(op.d, lane, a * b + value(op.c, lane)); break;
      case Code::multiply_wide: {
        const unsigned high = op.c == kZero ? kZero : op.c + 1U;
        const std::uint64_t sum =
            product(a, b, op.is_unsigned) + (std::uint64_t{value(high, lane)} << 32U | value(op.c, lane));
        set(op.d, lane, static_cast<std::uint32_t>(sum));
        if (op.d != kZero) set(op.d + 1U, lane, static_cast<std::uint32_t>(sum >> 32U));
        break;
      }
      case Code::shift_left: set(op.d, lane, b > 31 ? 0 : a << b); break;
      case Code::shift_right: set(op.d, lane, shift_right(a, b, op.is_unsigned)); break;
      case Code::logic_and: set(op.d, lane, a & b); break;
      case Code::logic_or: set(op.d, lane, a | b); break;
      case Code::logic_xor: set(op.d, lane, a ^ b); break;
      case Code::compare:
        if (holds(op.comparison, op.is_unsigned, a, b)) result |= LaneMask{1} << lane;
        break;
      case Code::special: set(op.d, lane, special(op.special, lane, issue)); break;
      case Code::get_stack: set(op.d, lane, issue.stack_depth); break;
      default: break;
    }
  });
  if (op.code == Code::compare && op.d != kAlways) {
    LaneMask& p = predicates_.at(op.d);
    p = (p & ~lanes) | result;
  }
}

/// Without a register that the thread has, the offset, zero-extended; a sum of 32 bits, zero-extended; or
/// with
/// `.E` one of 64 (SASS, CCTL).
std::uint64_t Warp::address(const Op& op, bool constant, unsigned lane) const {
  if (op.code == Code::cache_control)
    return effective_address(op.cctl, value(op.a, lane), value(op.a + 1U, lane), program_.registers);
  if (op.a >= program_.registers) return op.b.constant;
  if (!op.extended || constant) return static_cast<std::uint32_t>(value(op.a, lane) + op.b.constant);
  const std::uint64_t pair = std::uint64_t{value(op.a + 1U, lane)} << 32U | value(op.a, lane);
  return pair + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(op.b.constant)});
}

void Warp::access(const Op& op, const MemOp& mem, LaneMask lanes, Issue& issue) {
  MemoryAccess& a = *issue.access;
  a.active = lanes;
  a.form = AddressForm::per_lane;
  const bool constant = mem.space == Space::constant;
  const unsigned bytes = mem.bytes_per_lane();
  for_each_lane(lanes, [&](unsigned lane) {
    a.address[lane] = address(op, constant, lane);
    if (op.code != Code::store) return;
    for (unsigned w = 0; w * 4 < bytes; ++w) {
      const std::uint32_t v = op.d == kZero ? 0 : value(op.d + w, lane);
      std::memcpy(a.lane_data(lane) + std::size_t{w} * 4, &v, std::min(4U, bytes));
    }
  });
}

void Warp::finish_load(const Op& op, const MemOp& mem, const MemoryAccess& access) {
  if (op.d == kZero) return;
  const unsigned bytes = mem.bytes_per_lane();
  const std::uint32_t sign = is_signed(mem.type) ? 1U << (8 * bytes - 1) : 0;
  for_each_lane(access.active, [&](unsigned lane) {
    for (unsigned w = 0; w * 4 < bytes; ++w) {
      std::uint32_t v = 0;
      std::memcpy(&v, access.lane_data(lane) + std::size_t{w} * 4, std::min(4U, bytes));
      set(op.d + w, lane, (v ^ sign) - sign);
    }
  });
}

}  // namespace warpline::wls
