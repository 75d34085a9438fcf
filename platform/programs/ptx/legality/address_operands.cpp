// Addresses in brackets, and pointers as values.

#include "warpline/programs/ptx/legality/operand_judge.h"

namespace warpline::ptx {
namespace {

/// Whether an access to `named` reaches a variable in `own`.
bool reaches(Space own, Space named) {
  return own == named || (own == Space::shared && named == Space::shared_cluster);
}

}  // namespace

void OperandJudge::address(Space space, AddressWidth width, Windows windows) {
  if (o_.kind != Operand::Kind::address) {
    const std::string name(o_.token.text);
    return fault(o_, "expected an address, found " + quoted(name),
                 o_.kind == Operand::Kind::name ? "write [" + name + "]" : "");
  }
  if (o_.subtracts) fault(o_, "an address adds its offset: '-' is not taken", "write [" + o_.name + "+-n]");
  if (!o_.elements.empty()) fault(o_.elements[0], "this instruction takes no coordinates");
  if (o_.name.empty()) {
    if (space != Space::local) fault(o_, "only a local address may be a literal");
    return;
  }
  const Meaning m = meaning(o_);
  if (!o_.index.empty()) index_register();
  switch (m.kind) {
    case Meaning::Kind::reg:
      return address_register(m, windows == Windows::any ? Space::shared : space, width);
    case Meaning::Kind::variable: return address_variable(m, space);
    case Meaning::Kind::nothing: return;
    case Meaning::Kind::special_register:  // the rules say where one may stand
      if (o_.name.find('.') != std::string::npos) fault(o_, quoted(o_.name) + " is no address");
      return;
    case Meaning::Kind::function:
    case Meaning::Kind::label: fault(o_, quoted(o_.name) + " is no address");
  }
}

void OperandJudge::any_address() {
  if (o_.kind != Operand::Kind::address) return fault(o_, "expected an address");
  if (!o_.name.empty()) meaning(o_);
}

void OperandJudge::address_register(const Meaning& m, Space space, AddressWidth width) {
  if (is_float(m.type) || m.type == DataType::pred || size_of(m.type) > 8 || m.vector != 1 ||
      (width == AddressWidth::no_half && size_of(m.type) < 4))
    return fault(o_, "a " + type_text(m.type) + " register holds no address");
  if (size_of(m.type) == 4 && (space == Space::global || space == Space::generic))
    fault(o_, "a global or generic address has 64 bits, " + quoted(o_.name) + " has 32");
}

void OperandJudge::address_variable(const Meaning& m, Space space) {
  const bool generic = space == Space::generic && m.space != Space::constant && m.space != Space::param;
  if (!reaches(m.space, space) && !generic)
    fault(o_, quoted(o_.name) + " is not in the state space that the instruction names");
}

void OperandJudge::index_register() {
  const Meaning m = a_.names->find(o_.index);
  if (m.kind != Meaning::Kind::reg || is_float(m.type) || m.type == DataType::pred || size_of(m.type) < 4 ||
      size_of(m.type) > 8)
    fault(o_, quoted(o_.index) + " is no index: an integer or a register of 32 or 64 bits is");
}

void OperandJudge::pointer(Space space) {
  if (o_.kind == Operand::Kind::integer) return;
  if (o_.kind != Operand::Kind::name) return fault(o_, "expected a register or a variable");
  const Meaning m = meaning(o_);
  if (m.kind == Meaning::Kind::variable) {
    if (space != Space::generic && !reaches(m.space, space))
      fault(o_, quoted(o_.name) + " is in another state space");
    return;
  }
  if (m.kind == Meaning::Kind::reg && o_.offset != 0 && !is_float(m.type)) return;
  if (is_address_constant(o_)) return;
  value(o_, a_.type, Width::exact);
}

void OperandJudge::any_address_register() {
  if (o_.kind == Operand::Kind::integer) return;
  const Meaning m = o_.kind == Operand::Kind::name ? meaning(o_) : Meaning{};
  if (m.kind == Meaning::Kind::variable && o_.offset != 0) return;
  if (m.kind != Meaning::Kind::reg || is_float(m.type) || (size_of(m.type) != 4 && size_of(m.type) != 8))
    fault(o_, "expected a register of 32 or 64 bits");
}

}  // namespace warpline::ptx
