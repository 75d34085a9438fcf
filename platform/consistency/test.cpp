#include "platform/consistency/test.h"

#include <algorithm>

namespace warpline::litmus {

bool holds(Comparison comparison, std::int64_t a, std::int64_t b) {
  switch (comparison) {
    case Comparison::equal: return a == b;
    case Comparison::not_equal: return a != b;
    case Comparison::less: return a < b;
    case Comparison::less_equal: return a <= b;
    case Comparison::greater: return a > b;
    case Comparison::greater_equal: return a >= b;
  }
  return false;
}

bool includes(Scope scope, const Placement& from, const Placement& to) {
  switch (scope) {
    case Scope::none: return false;
    case Scope::cta: return from.same_cta(to);
    case Scope::cluster: return from.same_cluster(to);
    case Scope::gpu: return from.gpu == to.gpu;
    case Scope::sys: return true;
  }
  return false;
}

unsigned Instruction::bytes() const {
  return op.type == DataType::none ? Test::kDefaultBytes : size_of(op.type);
}

std::uint32_t Instruction::offset_at(std::int64_t value) const {
  if (index == kNoRegister) return offset;
  const std::uint64_t at = (offset + static_cast<std::uint64_t>(value)) % Test::kBytes;
  return static_cast<std::uint32_t>(at / all_bytes() * all_bytes());
}

DataType Instruction::atomic_type() const {
  const bool bitwise = op.atomic == AtomicOperation::exchange ||
                       op.atomic == AtomicOperation::compare_and_swap ||
                       op.atomic == AtomicOperation::bit_and || op.atomic == AtomicOperation::bit_or ||
                       op.atomic == AtomicOperation::bit_xor;
  const bool wide = bytes() > Test::kDefaultBytes;
  if (bytes() == 2) return DataType::b16;
  if (bytes() == Test::kBulkBytes) return DataType::b128;
  if (bitwise) return wide ? DataType::b64 : DataType::b32;
  const bool compares = op.atomic == AtomicOperation::min || op.atomic == AtomicOperation::max;
  if (compares && (op.type == DataType::none || is_signed(op.type)))
    return wide ? DataType::s64 : DataType::s32;
  return wide ? DataType::u64 : DataType::u32;
}

unsigned shared_owner(const Test& test, unsigned m) {
  bool shared = false;
  for (const Location& l : test.locations) {
    if (l.memory != m) continue;
    if (l.owner != Location::kNoThread) return l.owner;
    shared = shared || l.home == Home::shared;
  }
  const auto is_of = [&](unsigned location) {
    return location != Instruction::kNoLocation && test.locations[location].memory == m;
  };
  for (unsigned t = 0; shared && t < test.threads.size(); ++t)
    for (const Instruction& i : test.threads[t].code)
      if (i.kind == InstructionKind::memory &&
          (is_of(i.location) || is_of(i.completes) || (i.copies() && is_of(i.copy_to))))
        return t;
  return Location::kNoThread;
}

std::int64_t Memory::value(std::uint64_t bits) const {
  return extended(bytes > Test::kDefaultBytes ? DataType::s64 : DataType::s32, bits);
}

std::int64_t extended(DataType type, std::uint64_t bits) {
  const unsigned unused = 64U - 8U * (type == DataType::none ? Test::kDefaultBytes : size_of(type));
  bits <<= unused;
  if (type != DataType::none && !is_signed(type)) return static_cast<std::int64_t>(bits >> unused);
  return static_cast<std::int64_t>(bits) >> unused;
}

BarrierUse barrier_use(const Test& test, const Thread& own, const Instruction& i) {
  const auto is_there = [&i](const Instruction& x) {
    return x.kind == InstructionKind::barrier &&
           (x.a.is_register || i.a.is_register || x.a.value == i.a.value);
  };
  const auto branches = [](const Instruction& x) {
    return x.kind == InstructionKind::branch || x.kind == InstructionKind::jump;
  };
  BarrierUse use;
  unsigned siblings = 0;
  bool known = true;
  for (const Thread& t : test.threads) {
    if (!t.place.same_cta(own.place)) continue;
    ++siblings;
    const auto n = static_cast<unsigned>(std::count_if(t.code.begin(), t.code.end(), is_there));
    use.threads += n != 0;
    use.arrivals += n;
    known = known && (n == 0 || std::none_of(t.code.begin(), t.code.end(), branches));
  }
  if (use.threads == siblings) use.threads = 0;
  if (!known) use.arrivals = 0;
  return use;
}

}  // namespace warpline::litmus
