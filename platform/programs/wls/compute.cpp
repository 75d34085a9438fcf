// What instructions compute, and the addresses and data of memory accesses.
#include <cstring>

#include "warpline/programs/wls/warp.h"

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
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
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
  }
  if (op.code == Code::compare && op.d != kAlways) {
    LaneMask& p = predicates_.at(op.d);
    p = (p & ~lanes) | result;
  }
}

/// Without a register that the thread has, the offset, zero-extended; a sum of 32 bits, zero-extended; or
/// with
/// `.E` one of 64 (the seed on CCTL).
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
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    a.address[lane] = address(op, constant, lane);
    if (op.code != Code::store) continue;
    for (unsigned w = 0; w * 4 < bytes; ++w) {
      const std::uint32_t v = op.d == kZero ? 0 : value(op.d + w, lane);
      std::memcpy(a.lane_data(lane) + std::size_t{w} * 4, &v, std::min(4U, bytes));
    }
  }
}

void Warp::finish_load(const Op& op, const MemOp& mem, const MemoryAccess& access) {
  if (op.d == kZero) return;
  const unsigned bytes = mem.bytes_per_lane();
  const std::uint32_t sign = is_signed(mem.type) ? 1U << (8 * bytes - 1) : 0;
  for (LaneMask m = access.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    for (unsigned w = 0; w * 4 < bytes; ++w) {
      std::uint32_t v = 0;
      std::memcpy(&v, access.lane_data(lane) + std::size_t{w} * 4, std::min(4U, bytes));
      set(op.d + w, lane, (v ^ sign) - sign);
    }
  }
}

}  // namespace warpline::wls
