#include "warpline/programs/ptx/legality/operands.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "warpline/base/contract.h"
#include "warpline/base/types.h"

namespace warpline::ptx {
namespace {

enum class Width : std::uint8_t { exact, or_wider };

bool is_bits(DataType t) {
  return t >= DataType::b8 && t <= DataType::b128;
}

/// Whether a register of type `r` holds a value of type `t` (PTX ISA, "Operand Size Exceeding
/// Instruction-Type Size"; the assembler takes an untyped register for a float of its size or less).
bool fits(DataType r, DataType t, Width width) {
  if (r == DataType::pred || t == DataType::pred) return r == t;
  if (width == Width::exact ? size_of(r) != size_of(t) : size_of(r) < size_of(t)) return false;
  if (is_bits(r)) return true;
  if (is_float(r)) return is_bits(t) || (is_float(t) && size_of(r) == size_of(t));
  return !is_float(t);
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

/// Whether an access to `named` reaches a variable in `own`.
bool reaches(Space own, Space named) {
  return own == named || (own == Space::shared && named == Space::shared_cluster);
}

std::string type_text(DataType t) {
  return "." + std::string(name_of(t));
}

/// Judges one operand.
class OperandJudge {
 public:
  OperandJudge(const Operand& o, const Accessed& a, std::vector<Remark>& faults)
      : o_(o), a_(a), faults_(faults) {}

  void destination(Width width, bool may_be_sink) {
    if (o_.kind == Operand::Kind::sink && may_be_sink && a_.vector == 1) return;
    elements([&](const Operand& e) {
      if (e.kind == Operand::Kind::sink && a_.vector > 1) return;
      if (e.kind != Operand::Kind::name) return fault(e, "expected a register to load into");
      value(e, a_.type, width);
    });
    if (o_.kind == Operand::Kind::vector &&
        std::all_of(o_.elements.begin(), o_.elements.end(),
                    [](const Operand& e) { return e.kind == Operand::Kind::sink; }))
      fault(o_, "one element at least must be a register");
  }

  void source(Width width) {
    const bool wide = size_of(a_.type) * a_.vector == 32;
    bool one_register = false;
    elements([&](const Operand& e) {
      one_register |= e.kind != Operand::Kind::sink;
      if (e.kind == Operand::Kind::sink && wide) return;
      if (e.kind == Operand::Kind::sink) return fault(e, "'_' is stored by accesses of 32 bytes only");
      value(e, a_.type, width);
    });
    if (!one_register) fault(o_, "one element at least must be a register");
  }

  /// A scalar of `type`: a register, or a literal where `literals`.
  void scalar(DataType type, Width width, bool literals) {
    if (!literals && o_.kind != Operand::Kind::name) return fault(o_, "expected a register");
    value(o_, type, width);
  }

  void address(Space space, bool of_32_bits = false) {
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
    if (m.kind == Meaning::Kind::reg) return address_register(m, of_32_bits ? Space::shared : space);
    if (m.kind == Meaning::Kind::variable) return address_variable(m, space);
    if (m.kind != Meaning::Kind::nothing) fault(o_, quoted(o_.name) + " is no address");
  }

  void literal(std::uint64_t value) {
    if (o_.kind != Operand::Kind::integer || o_.bits != value)
      fault(o_, "expected the literal " + std::to_string(value));
  }

  void any_integer() {
    if (o_.kind != Operand::Kind::integer) fault(o_, "expected an integer literal");
  }

  /// A literal that is a multiple of `step`, or a register of `type`.
  void multiple(std::uint64_t step, DataType type) {
    if (o_.kind == Operand::Kind::integer && o_.bits % step != 0)
      return fault(o_, "expected a multiple of " + std::to_string(step));
    value(o_, type, Width::exact);
  }

  void barrier_number() {
    if (o_.kind == Operand::Kind::integer && o_.bits > 15) return fault(o_, "barriers are 0 to 15");
    value(o_, DataType::u32, Width::exact);
  }

  void predicate() {
    if (o_.kind != Operand::Kind::name) return fault(o_, "expected a predicate");
    if (meaning(o_).type != DataType::pred) fault(o_, quoted(o_.name) + " is no predicate register");
  }

  /// Not below the operand before it, where both are literals.
  void total_size() {
    value(o_, DataType::u32, Width::exact);
    const Operand* part = a_.before;
    if (part != nullptr && part->kind == Operand::Kind::integer && o_.kind == Operand::Kind::integer &&
        static_cast<std::uint32_t>(part->bits) > static_cast<std::uint32_t>(o_.bits))
      fault(o_, "the total size is not below the primary size");
  }

  /// What mov reads or writes: registers, constants, addresses of variables and functions.
  void moved(bool written) {
    if (o_.kind == Operand::Kind::vector) {
      const std::size_t n = o_.elements.size();
      if (n != 2 && n != 4 && n != 8) fault(o_, "a vector has 2, 4 or 8 elements");
      for (const Operand& e : o_.elements)
        if (e.kind == Operand::Kind::name) meaning(e);
      return;
    }
    if (o_.kind != Operand::Kind::name) {
      if (written) return fault(o_, "expected a register");
      return value(o_, a_.type, Width::exact);
    }
    const Meaning m = meaning(o_);
    if (m.kind == Meaning::Kind::reg || m.kind == Meaning::Kind::nothing)
      return m.vector == 1 && m.kind == Meaning::Kind::reg ? value(o_, a_.type, Width::exact) : void();
    if (written) return fault(o_, "expected a register");
    if (m.kind == Meaning::Kind::special_register) return;
    if (is_float(a_.type)) fault(o_, "an address is no floating-point value");
    if (size_of(a_.type) == 4 && m.space == Space::global) fault(o_, "a global address has 64 bits");
  }

  void fraction() {
    if (o_.kind == Operand::Kind::real) {
      // Measured in single precision, which is what it becomes.
      if (!(real() > 0.0F && real() <= 1.0F)) fault(o_, "a fraction is more than 0 and at most 1");
    } else if (o_.kind != Operand::Kind::name) {
      fault(o_, "expected a fraction such as 0.5");
    } else {
      value(o_, DataType::f32, Width::exact);
    }
  }

  void pointer() {
    if (o_.kind == Operand::Kind::integer) return;
    if (o_.kind != Operand::Kind::name) return fault(o_, "expected a register or a variable");
    const Meaning m = meaning(o_);
    if (m.kind == Meaning::Kind::variable) {
      if (a_.space != Space::generic && !reaches(m.space, a_.space))
        fault(o_, quoted(o_.name) + " is in another state space");
    } else {
      value(o_, a_.type, Width::exact);
    }
  }

  void object() {
    if (o_.kind != Operand::Kind::address) return fault(o_, "expected [object, {coordinates}]");
    if (o_.elements.size() != 1) fault(o_, "expected coordinates after the object");
    if (o_.offset != 0) fault(o_, "a handle takes no offset");
    const Meaning m = meaning(o_);
    if (m.kind == Meaning::Kind::reg && (is_float(m.type) || size_of(m.type) != 8 || m.vector != 1))
      fault(o_, "a " + type_text(m.type) + " register holds no handle", "it has 64 bits");
  }

  void any() {
    if (o_.kind == Operand::Kind::name) meaning(o_);
  }

  void copy_size() {
    const bool bypass = (a_.words & words_named(".cg")).any();
    const bool good =
        o_.kind == Operand::Kind::integer && (o_.bits == 16 || (!bypass && (o_.bits == 4 || o_.bits == 8)));
    if (!good) fault(o_, bypass ? "'.cg' copies 16 bytes" : "4, 8 or 16 bytes are copied");
  }

  void zero_fill() {
    const Operand* copied = a_.before;
    if (copied != nullptr && copied->kind == Operand::Kind::integer && o_.kind == Operand::Kind::integer &&
        o_.bits > copied->bits)
      return fault(o_, "no more bytes are read than are copied");
    if (o_.kind == Operand::Kind::name && meaning(o_).type == DataType::pred) return;
    value(o_, DataType::u32, Width::exact);
  }

  void any_address_register() {
    if (o_.kind == Operand::Kind::integer) return;
    const Meaning m = o_.kind == Operand::Kind::name ? meaning(o_) : Meaning{};
    if (m.kind != Meaning::Kind::reg || is_float(m.type) || (size_of(m.type) != 4 && size_of(m.type) != 8))
      fault(o_, "expected a register of 32 or 64 bits");
  }

 private:
  template <class F>
  void elements(F&& each) {
    const bool vector = o_.kind == Operand::Kind::vector;
    const std::size_t count = vector ? o_.elements.size() : 1;
    if (count != a_.vector || (a_.vector > 1 && !vector))
      return fault(o_, "expected " + std::to_string(a_.vector) + (a_.vector == 1 ? " element" : " elements") +
                           ", found " + std::to_string(count));
    if (!vector) return each(o_);
    std::for_each(o_.elements.begin(), o_.elements.end(), each);
    same_size();
  }

  void same_size() {
    unsigned bytes = 0;
    for (const Operand& e : o_.elements) {
      if (e.kind != Operand::Kind::name) continue;
      const Meaning m = a_.names->find(e.name);
      if (m.kind != Meaning::Kind::reg) continue;
      if (bytes != 0 && size_of(m.type) != bytes) return fault(e, "the registers of a vector have one size");
      bytes = size_of(m.type);
    }
  }

  void value(const Operand& e, DataType type, Width width) {
    if (e.kind == Operand::Kind::integer || e.kind == Operand::Kind::real) {
      if (!literal_fits(e, type)) fault(e, quoted(e.token.text) + " is no literal of " + type_text(type));
      return;
    }
    if (e.kind != Operand::Kind::name) return fault(e, "expected a register of " + type_text(type));
    const Meaning m = meaning(e);
    if (m.kind == Meaning::Kind::nothing) return;
    if (m.kind != Meaning::Kind::reg || m.vector != 1 || e.negated || e.offset != 0)
      return fault(e, "expected a register, found " + quoted(e.token.text));
    if (!fits(m.type, type, width))
      fault(e, "register " + quoted(e.name) + " is " + type_text(m.type) + ", the instruction wants " +
                   type_text(type));
  }

  void address_register(const Meaning& m, Space space) {
    if (is_float(m.type) || m.type == DataType::pred || size_of(m.type) > 8 || m.vector != 1)
      return fault(o_, "a " + type_text(m.type) + " register holds no address");
    if (size_of(m.type) == 4 && (space == Space::global || space == Space::generic))
      fault(o_, "a global or generic address has 64 bits, " + quoted(o_.name) + " has 32");
  }

  void address_variable(const Meaning& m, Space space) {
    const bool generic = space == Space::generic && m.space != Space::constant && m.space != Space::param;
    if (!reaches(m.space, space) && !generic)
      fault(o_, quoted(o_.name) + " is not in the state space that the instruction names");
  }

  Meaning meaning(const Operand& e) {
    const Meaning m = a_.names->find(e.name);
    if (m.kind == Meaning::Kind::nothing)
      fault(e, quoted(e.name) + " is not declared", suggestion(e.name, a_.names->all()));
    return m;
  }

  [[nodiscard]] float real() const {
    double d = 0;
    float f = 0;
    const auto low = static_cast<std::uint32_t>(o_.bits);
    static_assert(sizeof d == sizeof o_.bits && sizeof f == sizeof low);
    std::memcpy(&f, &low, sizeof f);
    std::memcpy(&d, &o_.bits, sizeof d);
    return o_.single ? f : static_cast<float>(d);
  }

  void fault(const Operand& e, std::string message, std::string hint = {}) {
    faults_.push_back({e.token.place(), std::move(message), std::move(hint)});
  }

  const Operand& o_;
  const Accessed& a_;
  std::vector<Remark>& faults_;
};

struct OperandName {
  std::string_view name;
  void (*judge)(OperandJudge&, const Accessed&);
};

/// What the signatures call their operands.
constexpr OperandName kOperandNames[] = {
    // Of the instruction's type, in a vector of its size: of its width or more; "=" of just its width, or
    // `_` for a result; "-" of just its width.
    {"d", [](OperandJudge& j, const Accessed&) { j.destination(Width::or_wider, false); }},
    {"d=", [](OperandJudge& j, const Accessed&) { j.destination(Width::exact, true); }},
    {"d-", [](OperandJudge& j, const Accessed&) { j.destination(Width::exact, false); }},
    {"s", [](OperandJudge& j, const Accessed&) { j.source(Width::or_wider); }},
    {"s=", [](OperandJudge& j, const Accessed&) { j.source(Width::exact); }},
    // Addresses: in the space that is named first or second, or in one.
    {"a", [](OperandJudge& j, const Accessed& a) { j.address(a.space); }},
    {"a2", [](OperandJudge& j, const Accessed& a) { j.address(a.second_space); }},
    {"shared", [](OperandJudge& j, const Accessed&) { j.address(Space::shared_cluster); }},
    {"global", [](OperandJudge& j, const Accessed&) { j.address(Space::global); }},
    {"any-address", [](OperandJudge& j, const Accessed& a) { j.address(a.space, true); }},
    {"any-address2", [](OperandJudge& j, const Accessed& a) { j.address(a.second_space, true); }},
    {"pointer", [](OperandJudge& j, const Accessed&) { j.pointer(); }},
    {"any-int", [](OperandJudge& j, const Accessed&) { j.any_address_register(); }},
    {"object", [](OperandJudge& j, const Accessed&) { j.object(); }},
    // Values of one type; "=" to be written.
    {"policy", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u64, Width::exact, true); }},
    {"b64", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u64, Width::exact, true); }},
    {"b32", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u32, Width::exact, true); }},
    {"b16", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u16, Width::exact, true); }},
    {"b64=", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u64, Width::exact, false); }},
    {"b32=", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u32, Width::exact, false); }},
    {"pred", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::pred, Width::exact, false); }},
    {"size", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u32, Width::exact, true); }},
    {"total-size", [](OperandJudge& j, const Accessed&) { j.total_size(); }},
    {"bulk-size", [](OperandJudge& j, const Accessed&) { j.multiple(16, DataType::u32); }},
    {"st-bulk-size", [](OperandJudge& j, const Accessed&) { j.multiple(8, DataType::u64); }},
    {"threads", [](OperandJudge& j, const Accessed&) { j.multiple(kWarpLanes, DataType::u32); }},
    {"barrier", [](OperandJudge& j, const Accessed&) { j.barrier_number(); }},
    {"predicate", [](OperandJudge& j, const Accessed&) { j.predicate(); }},
    {"moved", [](OperandJudge& j, const Accessed&) { j.moved(false); }},
    {"moved-to", [](OperandJudge& j, const Accessed&) { j.moved(true); }},
    {"fraction", [](OperandJudge& j, const Accessed&) { j.fraction(); }},
    {"int", [](OperandJudge& j, const Accessed&) { j.any_integer(); }},
    {"128", [](OperandJudge& j, const Accessed&) { j.literal(128); }},
    {"0", [](OperandJudge& j, const Accessed&) { j.literal(0); }},
    {"copy-size", [](OperandJudge& j, const Accessed&) { j.copy_size(); }},
    {"zero-fill", [](OperandJudge& j, const Accessed&) { j.zero_fill(); }},
    {"any", [](OperandJudge& j, const Accessed&) { j.any(); }},
};

}  // namespace

void judge_operand(std::string_view name, const Operand& o, const Accessed& a, std::vector<Remark>& faults) {
  if (name.back() == '?') name.remove_suffix(1);
  const auto* const found = std::find_if(std::begin(kOperandNames), std::end(kOperandNames),
                                         [&](const OperandName& n) { return n.name == name; });
  WARPLINE_EXPECT(found != std::end(kOperandNames), "signatures name operands that are known");
  OperandJudge judge(o, a, faults);
  found->judge(judge, a);
}

DataType register_type(std::string_view qualifier) {
  struct Narrow {
    std::string_view text;
    DataType type;
  };
  constexpr std::array<Narrow, 7> kNarrow = {{{".e4m3x4", DataType::b32},
                                              {".e5m2x4", DataType::b32},
                                              {".e4m3x2", DataType::b16},
                                              {".e5m2x2", DataType::b16},
                                              {".e4m3", DataType::b8},
                                              {".e5m2", DataType::b8},
                                              {".tf32", DataType::b32}}};
  for (const Narrow& n : kNarrow)
    if (n.text == qualifier) return n.type;
  return data_type_from(qualifier.substr(1));
}

}  // namespace warpline::ptx
