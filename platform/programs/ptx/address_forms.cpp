#include "platform/programs/ptx/address_forms.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace warpline::ptx {

AddressForms::AddressForms(const Program& program) : program_(program) {
  std::map<int, std::uint32_t> variables;
  for (const PoolFix& fix : program.fixes) {
    const auto [base, fresh] = variables.emplace(fix.variable, bases_ + 1);
    if (fresh) ++bases_;
    fixes_[fix.offset] = {base->second, fix.addend};
  }
}

SumForm AddressForms::of(Ref ref, unsigned bytes) {
  const auto bits = static_cast<std::uint32_t>(ref);
  if ((bits & kPoolBit) == 0) {
    const auto [known, fresh] = registers_.emplace(ref, SumForm{});
    if (fresh) known->second = unknown();
    return known->second;
  }
  if (const auto fix = fixes_.find(bits & ~kPoolBit); fix != fixes_.end()) return fix->second;
  SumForm constant;
  std::memcpy(&constant.offset, program_.pool.data() + (bits & ~kPoolBit), bytes);
  return constant;
}

SumForm AddressForms::sum(const SumForm& a, const SumForm& b) {
  const std::uint64_t offset = a.offset + b.offset;
  if (a.base == 0 || b.base == 0) return {a.base | b.base, offset};
  const std::uint64_t key = std::uint64_t{std::min(a.base, b.base)} << 32U | std::max(a.base, b.base);
  const auto [known, fresh] = sums_.emplace(key, bases_ + 1);
  if (fresh) ++bases_;
  return {known->second, offset};
}

SumForm AddressForms::result_of(const Op& op, unsigned bytes) {
  if (op.guarded || (bytes != 4 && bytes != 8)) return unknown();
  switch (op.effect) {
    case Effect::offset: {
      SumForm v = of(op.r[1], bytes);
      v.offset += static_cast<std::uint64_t>(op.immediate);
      return v;
    }
    case Effect::sum: return sum(of(op.r[1], bytes), of(op.r[2], bytes));
    case Effect::difference: {
      const SumForm from = of(op.r[1], bytes), what = of(op.r[2], bytes);
      return what.base != 0 ? unknown() : SumForm{from.base, from.offset - what.offset};
    }
    case Effect::other:
    case Effect::parameter:
    case Effect::together: break;
  }
  return unknown();
}

void AddressForms::execute(std::size_t index) {
  const Instruction& i = program_.instructions[index];
  if (i.destination_count == 1) {
    const std::uint16_t r = i.registers[i.source_count];
    const SumForm result = result_of(program_.ops[index], program_.register_bytes[r]);
    registers_[program_.register_refs[r]] = result;
    return;
  }
  for (unsigned n = 0; n < i.destination_count; ++n)
    registers_[program_.register_refs[i.registers[i.source_count + n]]] = unknown();
}

}  // namespace warpline::ptx
