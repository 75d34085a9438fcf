// Sizes, counts, barriers, predicates and fractions.

#include <cstring>

#include "warpline/base/types.h"
#include "warpline/programs/ptx/legality/operand_judge.h"

namespace warpline::ptx {

void OperandJudge::multiple(std::uint64_t step, DataType type) {
  if (o_.kind == Operand::Kind::integer && o_.bits % step != 0)
    return fault(o_, "expected a multiple of " + std::to_string(step));
  value(o_, type, Width::exact);
}

void OperandJudge::threads(bool may_be_zero) {
  if (!may_be_zero && o_.kind == Operand::Kind::integer && o_.bits == 0)
    return fault(o_, "who arrives says how many threads there are: not 0");
  multiple(kWarpLanes, DataType::u32);
}

void OperandJudge::barrier_number() {
  if (o_.kind == Operand::Kind::integer && o_.bits > 15) return fault(o_, "barriers are 0 to 15");
  value(o_, DataType::u32, Width::exact);
}

void OperandJudge::predicate() {
  if (o_.kind == Operand::Kind::integer) return;
  if (o_.kind != Operand::Kind::name) return fault(o_, "expected a predicate");
  if (meaning(o_).type != DataType::pred) fault(o_, quoted(o_.name) + " is no predicate register");
}

void OperandJudge::total_size() {
  value(o_, DataType::u32, Width::exact);
  const Operand* part = a_.before;
  if (part != nullptr && part->kind == Operand::Kind::integer && o_.kind == Operand::Kind::integer &&
      static_cast<std::uint32_t>(part->bits) > static_cast<std::uint32_t>(o_.bits))
    fault(o_, "the total size is not below the primary size");
}

void OperandJudge::fraction() {
  if (o_.kind == Operand::Kind::real) {
    // Measured in single precision, which is what it becomes.
    if (!(real() > 0.0F && real() <= 1.0F)) fault(o_, "a fraction is more than 0 and at most 1");
  } else if (o_.kind != Operand::Kind::name) {
    fault(o_, "expected a fraction such as 0.5");
  } else {
    value(o_, DataType::f32, Width::exact);
  }
}

float OperandJudge::real() const {
  double d = 0;
  float f = 0;
  const auto low = static_cast<std::uint32_t>(o_.bits);
  static_assert(sizeof d == sizeof o_.bits && sizeof f == sizeof low);
  std::memcpy(&f, &low, sizeof f);
  std::memcpy(&d, &o_.bits, sizeof d);
  return o_.single ? f : static_cast<float>(d);
}

void OperandJudge::copy_size() {
  const bool bypass = (a_.words & words_named(".cg")).any();
  const bool good =
      o_.kind == Operand::Kind::integer && (o_.bits == 16 || (!bypass && (o_.bits == 4 || o_.bits == 8)));
  if (!good) fault(o_, bypass ? "'.cg' copies 16 bytes" : "4, 8 or 16 bytes are copied");
}

void OperandJudge::zero_fill() {
  const Operand* copied = a_.before;
  if (copied != nullptr && copied->kind == Operand::Kind::integer && o_.kind == Operand::Kind::integer &&
      o_.bits > copied->bits)
    return fault(o_, "no more bytes are read than are copied");
  if (o_.kind == Operand::Kind::name && meaning(o_).type == DataType::pred) return;
  value(o_, DataType::u32, Width::exact);
}

}  // namespace warpline::ptx
