// Registers, vectors of them, and literals.

#include <algorithm>

#include "warpline/programs/ptx/legality/operand_judge.h"

namespace warpline::ptx {
namespace {

bool is_bits(DataType t) {
  return t >= DataType::b8 && t <= DataType::b128;
}

bool is_half_pair(DataType t) {
  return t == DataType::f16x2 || t == DataType::bf16x2;
}

/// Whether a literal is a value of type `t`.
bool literal_fits(const Operand& o, DataType t) {
  const bool hex_float = o.token.text.size() > 1 && o.token.text[0] == '0' &&
                         std::string_view("fFdD").find(o.token.text[1]) != std::string_view::npos;
  if (o.kind == Operand::Kind::integer) return !is_float(t);
  if (is_float(t)) return size_of(t) >= 4;
  if (t == DataType::b32) return hex_float && o.single;
  return t == DataType::b64 && !o.single;
}

bool is_literal(const Operand& o) {
  return o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real;
}

/// Bytes of a register as an element of a vector.
unsigned element_size(const Meaning& m) {
  return m.type == DataType::pred ? 4 : size_of(m.type);
}

DataType bits_of_size(unsigned bytes) {
  switch (bytes) {
    case 1: return DataType::b8;
    case 2: return DataType::b16;
    case 8: return DataType::b64;
    case 16: return DataType::b128;
    default: return DataType::b32;
  }
}

}  // namespace

bool fits(DataType r, DataType t, Width width) {
  if (r == DataType::pred || t == DataType::pred) return r == t;
  if (width == Width::exact ? size_of(r) != size_of(t) : size_of(r) < size_of(t)) return false;
  if (is_bits(r)) return true;
  if (is_float(r)) return is_bits(t) || (is_float(t) && !is_half_pair(t) && size_of(r) == size_of(t));
  return !is_float(t);
}

std::string type_text(DataType t) {
  return "." + std::string(name_of(t));
}

void OperandJudge::destination(Width width, bool may_be_sink, Count count) {
  if (o_.kind == Operand::Kind::sink && may_be_sink && a_.vector == 1) return;
  const bool bits = untyped(o_.elements);
  elements(count, [&](const Operand& e) {
    if (e.kind == Operand::Kind::sink && a_.vector > 1) return;
    if (e.kind != Operand::Kind::name) return fault(e, "expected a register to load into");
    if (bits) return element(e, width, true);
    value(e, a_.type, width, true);
  });
  if (o_.kind == Operand::Kind::vector &&
      std::all_of(o_.elements.begin(), o_.elements.end(),
                  [](const Operand& e) { return e.kind == Operand::Kind::sink; }))
    fault(o_, "one element at least must be a register");
}

void OperandJudge::source(Width width, Count count) {
  const bool wide = size_of(a_.type) * a_.vector == 32;
  const bool vector = o_.kind == Operand::Kind::vector;
  if (vector && a_.vector == 1 && width == Width::exact && count == Count::of_vector)
    return fault(o_, "expected one value, not a vector");
  const bool bits = untyped(o_.elements);
  // A literal in first place leaves the type of the vector open.
  const bool open = bits && is_literal(o_.elements[0]);
  bool one_register = false;
  elements(count, [&](const Operand& e) {
    one_register |= e.kind != Operand::Kind::sink;
    if (e.kind == Operand::Kind::sink && wide) return;
    if (e.kind == Operand::Kind::sink) return fault(e, "'_' is stored by accesses of 32 bytes only");
    if (open) return;
    if (bits) return element(e, width, false);
    if (!vector && is_address_constant(e)) return;
    value(e, a_.type, width);
  });
  if (!one_register) fault(o_, "one element at least must be a register");
}

void OperandJudge::scalar(DataType type, Width width, bool literals) {
  if (!literals && o_.kind != Operand::Kind::name) return fault(o_, "expected a register");
  value(o_, type, width, !literals);
}

void OperandJudge::policy() {
  if (o_.kind == Operand::Kind::name && o_.offset != 0) return fault(o_, "expected a policy");
  value(o_, DataType::u64, Width::exact);
}

void OperandJudge::literal(std::uint64_t value) {
  if (o_.kind != Operand::Kind::integer || o_.bits != value)
    fault(o_, "expected the literal " + std::to_string(value));
}

void OperandJudge::any_integer() {
  if (o_.kind != Operand::Kind::integer) fault(o_, "expected an integer literal");
}

void OperandJudge::any() {
  if (o_.kind == Operand::Kind::name) meaning(o_);
}

template <class F>
void OperandJudge::elements(Count count, F&& each) {
  const bool vector = o_.kind == Operand::Kind::vector;
  const std::size_t found = vector ? o_.elements.size() : 1;
  const bool free = count == Count::any && a_.vector == 1 && (found == 2 || found == 4);
  if ((found != a_.vector && !free) || (a_.vector > 1 && !vector))
    return fault(o_, "expected " + std::to_string(a_.vector) + (a_.vector == 1 ? " element" : " elements") +
                         ", found " + std::to_string(found));
  if (!vector) return each(o_);
  std::for_each(o_.elements.begin(), o_.elements.end(), each);
  same_size();
}

void OperandJudge::same_size() {
  unsigned bytes = 0;
  bool floats = false;
  bool integers = false;
  for (const Operand& e : o_.elements) {
    integers |= e.kind == Operand::Kind::integer;
    if (e.kind != Operand::Kind::name) continue;
    const Meaning m = a_.names->find(e.name);
    floats |= m.kind == Meaning::Kind::reg && is_float(m.type);
    if (m.kind != Meaning::Kind::reg && m.kind != Meaning::Kind::special_register) continue;
    if (bytes != 0 && element_size(m) != bytes) return fault(e, "the registers of a vector have one size");
    bytes = element_size(m);
  }
  if (floats && integers && !untyped(o_.elements))
    fault(o_, "an integer literal does not go with floating-point registers");
}

bool OperandJudge::untyped(const std::vector<Operand>& elements) const {
  return elements.size() > 1 && std::any_of(elements.begin(), elements.end(), [&](const Operand& e) {
           if (e.kind != Operand::Kind::name) return false;
           const Meaning m = a_.names->find(e.name);
           return m.kind == Meaning::Kind::special_register ||
                  (m.kind == Meaning::Kind::reg && is_bits(m.type) && m.vector == 1);
         });
}

bool OperandJudge::is_address_constant(const Operand& e) const {
  return e.kind == Operand::Kind::name && a_.names->find(e.name).kind == Meaning::Kind::function;
}

void OperandJudge::element(const Operand& e, Width width, bool written) {
  if (is_literal(e)) return;
  const Meaning m = e.kind == Operand::Kind::name ? meaning(e) : Meaning{};
  if (m.kind == Meaning::Kind::special_register) return;
  if (m.kind != Meaning::Kind::reg || m.vector != 1) return value(e, a_.type, width, written);
  if (!fits(bits_of_size(element_size(m)), a_.type, width))
    fault(e, "register " + quoted(e.name) + " is " + type_text(m.type) + ", the instruction wants " +
                 type_text(a_.type));
}

void OperandJudge::value(const Operand& e, DataType type, Width width, bool written) {
  if (is_literal(e)) {
    if (!literal_fits(e, type)) fault(e, quoted(e.token.text) + " is no literal of " + type_text(type));
    return;
  }
  if (e.kind != Operand::Kind::name) return fault(e, "expected a register of " + type_text(type));
  const Meaning m = meaning(e);
  if (m.kind == Meaning::Kind::nothing) return;
  // What the linker adds up is an integer, whatever its size.
  if (!written && type != DataType::pred && !is_float(type) && e.offset != 0 &&
      m.kind == Meaning::Kind::variable && &e == &o_)
    return;
  if (m.kind != Meaning::Kind::reg || m.vector != 1 || e.negated || e.offset != 0)
    return fault(e, "expected a register, found " + quoted(e.token.text));
  if (!fits(m.type, type, width))
    fault(e, "register " + quoted(e.name) + " is " + type_text(m.type) + ", the instruction wants " +
                 type_text(type));
}

Meaning OperandJudge::meaning(const Operand& e) {
  const Meaning m = a_.names->find(e.name);
  if (m.kind == Meaning::Kind::nothing)
    fault(e, quoted(e.name) + " is not declared", suggestion(e.name, a_.names->all()));
  return m;
}

void OperandJudge::fault(const Operand& e, std::string message, std::string hint) {
  faults_.push_back({e.token.place(), std::move(message), std::move(hint)});
}

}  // namespace warpline::ptx
