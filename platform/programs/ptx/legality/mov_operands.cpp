// What mov reads and writes: registers, constants, addresses of variables and functions, and vectors of
// registers that are packed into one or unpacked from it.

#include "warpline/programs/ptx/legality/operand_judge.h"

namespace warpline::ptx {

void OperandJudge::moved(bool written) {
  if (o_.kind == Operand::Kind::vector) return moved_vector(written);
  if (written && a_.vector > 1) return fault(o_, "a vector is moved to a vector");
  if (o_.kind == Operand::Kind::name) return moved_name(written);
  if (o_.kind == Operand::Kind::address && o_.indexed && !written) {
    if (meaning(o_).kind != Meaning::Kind::variable) fault(o_, quoted(o_.name) + " is no variable");
    if (a_.type == DataType::pred) fault(o_, "an address is no predicate");
    if (!o_.index.empty()) fault(o_, "an address that is moved has a number as index");
    return;
  }
  if (written) return fault(o_, "expected a register");
  value(o_, a_.type, Width::exact);
}

void OperandJudge::moved_vector(bool written) {
  if (a_.vector > 1) return written ? destination(Width::exact, false) : source(Width::exact);
  const std::size_t n = o_.elements.size();
  if (n != 1 && n != 2 && n != 4) return fault(o_, "a vector that is packed has 1, 2 or 4 elements");
  if (a_.type < DataType::b8 || a_.type > DataType::b128)
    return fault(o_, "a vector is packed into an untyped value, not one of " + type_text(a_.type));
  const bool both = a_.before != nullptr && a_.before->kind == Operand::Kind::vector;
  if (both) fault(o_, "a vector is packed into a register, or unpacked from one");
  bool any = false;
  for (const Operand& e : o_.elements) {
    if (e.kind == Operand::Kind::sink && written) continue;
    any = true;
    if (e.kind != Operand::Kind::name) {
      if (written || e.kind == Operand::Kind::sink) fault(e, "expected a register");
      continue;
    }
    const Meaning m = meaning(e);
    if (m.kind == Meaning::Kind::nothing || (m.kind == Meaning::Kind::special_register && !written)) continue;
    if (m.kind != Meaning::Kind::reg)
      fault(e, "expected a register, found " + quoted(e.token.text));
    else if (m.type == DataType::pred || size_of(m.type) * n != size_of(a_.type))
      fault(e, std::to_string(n) + " registers of " + type_text(m.type) + " do not make one of " +
                   type_text(a_.type));
  }
  if (!any) fault(o_, "one element at least must be a register");
}

void OperandJudge::moved_name(bool written) {
  const Meaning m = meaning(o_);
  if (m.kind == Meaning::Kind::nothing) return;
  if (m.kind == Meaning::Kind::reg) {
    const bool sum = !written && o_.offset != 0 && !is_float(a_.type) && !is_float(m.type);
    if (sum && m.type == DataType::pred) return fault(o_, "a predicate takes no offset");
    return m.vector == 1 && !sum ? value(o_, a_.type, Width::exact, written) : void();
  }
  if (written) return fault(o_, "expected a register");
  if (a_.type == DataType::pred) return fault(o_, quoted(o_.name) + " is no predicate");
  if (m.kind == Meaning::Kind::function) return;
  if (m.kind == Meaning::Kind::special_register) {
    if (is_float(a_.type)) return fault(o_, "a special register holds no floating-point value");
    if (!m.any_size && size_of(m.type) != size_of(a_.type))
      fault(o_,
            quoted(o_.name) + " is " + type_text(m.type) + ", the instruction wants " + type_text(a_.type));
    return;
  }
  if (is_float(a_.type)) return fault(o_, "an address is no floating-point value");
  if (size_of(a_.type) == 4 && m.space == Space::global) fault(o_, "a global address has 64 bits");
}

}  // namespace warpline::ptx
