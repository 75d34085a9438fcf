#include "platform/programs/ptx_legality/operands.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/types.h"

namespace warpline::ptx {
namespace {

enum class Width : std::uint8_t { exact, or_wider };
/// How many elements an operand has: as many as the instruction's vector, or any number where the instruction
/// names no vector.
enum class Count : std::uint8_t { of_vector, any };
/// Whether an address stands in a register of 16 bits, too.
enum class AddressWidth : std::uint8_t { any, no_half };
/// Which memory a register of 32 bits addresses: that of the spaces so small, or global and generic, too.
enum class Windows : std::uint8_t { of_space, any };

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

/// Whether an access to `named` reaches a variable in `own`.
bool reaches(Space own, Space named) {
  return own == named || (own == Space::shared && named == Space::shared_cluster);
}

struct Geometry {
  const char* word;
  std::size_t coordinates;  ///< at least; more are read over
  bool layered;             ///< the first coordinate is the layer of an array, an integer
};
constexpr std::array<Geometry, 9> kGeometries = {{{".1d", 1, false},
                                                  {".2d", 2, false},
                                                  {".3d", 4, false},
                                                  {".a1d", 2, true},
                                                  {".a2d", 4, true},
                                                  {".cube", 4, false},
                                                  {".acube", 4, true},
                                                  {".2dms", 4, false},
                                                  {".a2dms", 4, true}}};

const Geometry* geometry_of(const WordSet& words) {
  const auto* const found = std::find_if(kGeometries.begin(), kGeometries.end(), [&](const Geometry& g) {
    return (words & words_named(g.word)).any();
  });
  return found == kGeometries.end() ? nullptr : found;
}

/// Whether a register of type `r` holds a value of type `t` (PTX ISA, "Operand Size Exceeding
/// Instruction-Type Size"; the assembler takes an untyped register for a float of its size or less).
bool fits(DataType r, DataType t, Width width) {
  if (r == DataType::pred || t == DataType::pred) return r == t;
  if (width == Width::exact ? size_of(r) != size_of(t) : size_of(r) < size_of(t)) return false;
  if (is_bits(r)) return true;
  if (is_float(r)) return is_bits(t) || (is_float(t) && !is_half_pair(t) && size_of(r) == size_of(t));
  return !is_float(t);
}

/// Judges one operand against what an instruction wants of it. Each function finds all faults of one kind of
/// operand.
class OperandJudge {
 public:
  OperandJudge(const Operand& o, const Accessed& a, std::vector<Remark>& faults)
      : o_(o), a_(a), faults_(faults) {}

  // Registers, vectors of them, and literals.
  void destination(Width width, bool may_be_sink, Count count = Count::of_vector) {
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

  /// The same, but no vector.
  void single_destination() {
    if (o_.kind == Operand::Kind::vector && a_.vector == 1)
      return fault(o_, "expected a register, not a vector");
    destination(Width::exact, true);
  }

  /// The same, but no vector of one. What brings sums of bfloat16 has them in a register of whatever type.
  void plain_destination(bool may_be_sink) {
    if (a_.type == DataType::bf16x2 && a_.vector == 1 && o_.kind == Operand::Kind::name) {
      const Meaning m = meaning(o_);
      if (m.kind == Meaning::Kind::reg && m.vector == 1 && element_size(m) == 4) return;
    }
    if (o_.kind == Operand::Kind::vector && a_.vector == 1 && o_.elements.size() == 1 && !is_float(a_.type))
      return fault(o_, "expected a register, not a vector");
    destination(Width::exact, may_be_sink);
  }

  /// A vector of one float is a float.
  void single_or_vector() {
    const bool one = o_.kind == Operand::Kind::vector && a_.vector == 1 && o_.elements.size() == 1;
    if (one && is_float(a_.type)) return OperandJudge(o_.elements[0], a_, faults_).source(Width::exact);
    source(Width::exact);
  }

  /// No vector of one.
  void single_source() {
    if (o_.kind == Operand::Kind::vector) return fault(o_, "expected one value, not a vector");
    source(Width::or_wider);
  }

  /// One value, or several of a type that is no bits: those would be packed.
  void several() {
    if (o_.kind == Operand::Kind::vector && a_.vector == 1 && o_.elements.size() > 1 && is_bits(a_.type))
      return fault(o_, "expected one value, found " + std::to_string(o_.elements.size()));
    source(Width::exact, Count::any);
  }

  void source(Width width, Count count = Count::of_vector) {
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

  /// One value of the type, or a vector of `count`.
  void values(std::size_t count, ValueRules rules) {
    const Width width = rules.or_wider ? Width::or_wider : Width::exact;
    if (count == 0) {
      if (rules.written && o_.kind != Operand::Kind::name) return fault(o_, "expected a register");
      if (o_.minus) return fault(o_, "this operand is not negated");
      return value(o_, a_.type, width, rules.written);
    }
    if (o_.kind != Operand::Kind::vector || o_.elements.size() != count)
      return fault(o_, "expected a vector of " + std::to_string(count) +
                           (o_.kind == Operand::Kind::vector
                                ? ", found " + std::to_string(o_.elements.size()) + " elements"
                                : ""));
    const bool one_double = count == 1 && a_.type == DataType::f64;
    if (!one_double && std::all_of(o_.elements.begin(), o_.elements.end(), is_literal))
      fault(o_, "one element at least must be a register");
    const bool bits = untyped(o_.elements) && !rules.each;
    for (const Operand& e : o_.elements) {
      const Meaning m = e.kind == Operand::Kind::name ? a_.names->find(e.name) : Meaning{};
      const bool predicate = m.kind == Meaning::Kind::reg && m.type == DataType::pred;
      if ((rules.written || rules.each) && e.kind != Operand::Kind::name)
        fault(e, "expected a register");
      else if (predicate && !rules.with_predicates)
        unfit(e, m, a_.type);
      else if (bits && !predicate)
        element(e, width, rules.written);
      else if (!predicate)
        value(e, a_.type, width, rules.written);
    }
    same_size();
  }

  /// What `set` makes of its first type, in one register.
  void set_to() {
    if (o_.kind == Operand::Kind::sink) return;
    const bool brain = a_.type == DataType::bf16 || a_.type == DataType::bf16x2;
    if (brain && o_.kind == Operand::Kind::vector && o_.elements.size() == 1)
      return value(o_.elements[0], a_.type, Width::exact, true);
    if (o_.kind != Operand::Kind::name) return fault(o_, "expected a register");
    value(o_, a_.type, Width::exact, true);
  }

  /// One predicate that is written, or `p|q`; of either may be `_`.
  void truth(bool pair) {
    if (o_.kind == Operand::Kind::sink) return;
    if (o_.kind != Operand::Kind::pair) return scalar(DataType::pred, Width::exact, false);
    if (!pair && o_.elements[1].kind != Operand::Kind::sink)
      return fault(o_, "a comparison of this type has one result");
    for (const Operand& e : o_.elements)
      if (e.kind == Operand::Kind::name)
        value(e, DataType::pred, Width::exact, true);
      else if (e.kind != Operand::Kind::sink)
        fault(e, "expected a predicate register");
  }

  /// A predicate that is read, and may be negated, or perhaps a literal.
  void condition(bool literals) {
    if (literals && o_.kind == Operand::Kind::integer) return;
    if (o_.kind != Operand::Kind::name) return fault(o_, "expected a predicate register");
    Operand plain = o_;
    plain.negated = false;
    value(plain, DataType::pred, Width::exact);
  }

  /// Shared memory, in brackets or without.
  void bare_shared() {
    if (o_.kind != Operand::Kind::name) return address(Space::shared_cluster);
    const Meaning m = meaning(o_);
    const bool in_register = m.kind == Meaning::Kind::reg && m.type != DataType::pred && m.vector == 1;
    if (m.kind == Meaning::Kind::variable)
      address_variable(m, Space::shared_cluster);
    else if (m.kind != Meaning::Kind::nothing && !in_register)
      fault(o_, quoted(o_.token.text) + " is no address");
  }

  /// The level of a texture: a number, or a vector of which the first is meant.
  void level() {
    if (o_.kind != Operand::Kind::vector) return scalar(a_.second_type, Width::exact, true);
    const std::size_t n = o_.elements.size();
    if (n != 1 && n != 2 && n != 4) return fault(o_, "expected one number");
    for (const Operand& e : o_.elements) {
      const Meaning m = e.kind == Operand::Kind::name ? meaning(e) : Meaning{};
      if (m.kind == Meaning::Kind::nothing && e.kind == Operand::Kind::name) continue;
      if (m.kind != Meaning::Kind::reg || m.type == DataType::pred || size_of(m.type) != 4)
        fault(e, "expected a register of 32 bits");
    }
  }

  /// What a texture is compared with; coordinates that are integers take no comparison.
  void reference() {
    if (a_.second_type != DataType::f32) return fault(o_, "only '.f32' coordinates take a comparison");
    scalar(DataType::f32, Width::exact, true);
  }

  /// A scalar of `type`: a register, or a literal where `literals`.
  void scalar(DataType type, Width width, bool literals) {
    if (!literals && o_.kind != Operand::Kind::name) return fault(o_, "expected a register");
    value(o_, type, width, !literals);
  }

  /// A policy: a register of 64 bits or perhaps a literal.
  void policy() {
    if (o_.kind == Operand::Kind::name && o_.offset != 0) return fault(o_, "expected a policy");
    value(o_, DataType::u64, Width::exact);
  }

  void literal(std::uint64_t value) {
    if (o_.kind != Operand::Kind::integer || o_.bits != value)
      fault(o_, "expected the literal " + std::to_string(value));
  }

  void one_of(std::uint64_t a, std::uint64_t b) {
    if (o_.kind != Operand::Kind::integer || (o_.bits != a && o_.bits != b))
      fault(o_, "expected " + std::to_string(static_cast<std::int64_t>(a)) + " or " +
                    std::to_string(static_cast<std::int64_t>(b)));
  }

  /// Four elements, perhaps with a predicate that says whether the texture is resident.
  void gathered() {
    if (o_.kind != Operand::Kind::pair) return destination(Width::exact, false);
    OperandJudge(o_.elements[0], a_, faults_).destination(Width::exact, false);
    OperandJudge(o_.elements[1], a_, faults_).value(o_.elements[1], DataType::pred, Width::exact, true);
  }

  void below(std::uint64_t limit) {
    if (o_.kind != Operand::Kind::integer || o_.bits >= limit)
      fault(o_, "expected a number below " + std::to_string(limit));
  }

  /// [handle] of a texture or surface.
  void handle() {
    if (o_.kind != Operand::Kind::address || !o_.elements.empty() || o_.offset != 0)
      return fault(o_, "expected the handle of a texture or surface in brackets");
    const Meaning m = o_.name.empty() ? Meaning{} : meaning(o_);
    const bool in_register =
        m.kind == Meaning::Kind::reg && !is_float(m.type) && size_of(m.type) == 8 && m.vector == 1;
    if (!in_register && !m.reference) fault(o_, quoted(o_.token.text) + " is no handle");
  }

  void any_integer() {
    if (o_.kind != Operand::Kind::integer) fault(o_, "expected an integer literal");
  }

  /// A register of 32 bits with a selector of its parts, such as `%r1.b0`, that `good` takes.
  void selected(bool (*good)(std::string_view), bool may_lack, bool literals = false,
                bool may_be_negative = false) {
    if (!literals && o_.kind != Operand::Kind::name) return fault(o_, "expected a register");
    if (o_.minus && !may_be_negative) return fault(o_, "this operand is not negated");
    const std::size_t dot = o_.name.rfind('.');
    Operand base = o_;
    if (o_.kind == Operand::Kind::name && dot != std::string::npos) {
      base.name.resize(dot);
      if (!good(std::string_view(o_.name).substr(dot + 1)))
        return fault(o_, quoted(o_.name.substr(dot)) + " selects no part here");
    } else if (!may_lack) {
      return fault(o_, "expected a part such as '.b0'");
    }
    value(base, DataType::u32, Width::exact);
  }

  void negative() {
    if (!o_.minus) return fault(o_, "expected a negated register");
    value(o_, DataType::u32, Width::exact);
  }

  /// PTX ISA, "setmaxnreg": from 24 to 256, a multiple of 8.
  void register_count() {
    if (o_.kind != Operand::Kind::integer || o_.bits < 24 || o_.bits > 256 || o_.bits % 8 != 0)
      fault(o_, "expected a number of registers from 24 to 256, a multiple of 8");
  }

  void any() {
    if (o_.kind == Operand::Kind::name) meaning(o_);
  }

  // What mov reads and writes: registers, constants, addresses of variables and functions, and vectors of
  // registers that are packed into one or unpacked from it.
  void moved(bool written) {
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

  // Sizes, counts, barriers, predicates and fractions.
  /// A literal that is a multiple of `step`, or a register of `type`.
  void multiple(std::uint64_t step, DataType type) {
    if (o_.kind == Operand::Kind::integer && o_.bits % step != 0)
      return fault(o_, "expected a multiple of " + std::to_string(step));
    value(o_, type, Width::exact);
  }

  void threads(bool may_be_zero) {
    if (!may_be_zero && o_.kind == Operand::Kind::integer && o_.bits == 0)
      return fault(o_, "who arrives says how many threads there are: not 0");
    multiple(kWarpLanes, DataType::u32);
  }

  void barrier_number() {
    if (o_.kind == Operand::Kind::integer && o_.bits > 15) return fault(o_, "barriers are 0 to 15");
    value(o_, DataType::u32, Width::exact);
  }

  void predicate() {
    if (o_.kind == Operand::Kind::integer) return;
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

  // Addresses in brackets, and pointers as values.
  void address(Space space, AddressWidth width = AddressWidth::any, Windows windows = Windows::of_space) {
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
    if (m.reference)
      return fault(o_, quoted(o_.name) + " is a reference, which no instruction reads as memory");
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

  /// Where something lies that is in shared memory, by a generic address, too.
  void shared_object() {
    address(a_.space);
    if (a_.space != Space::generic || o_.kind != Operand::Kind::address || o_.name.empty()) return;
    const Meaning m = a_.names->find(o_.name);
    if (m.kind == Meaning::Kind::variable && m.space != Space::shared)
      fault(o_, quoted(o_.name) + " is not in shared memory");
  }

  /// An address of whatever kind.
  void any_address() {
    if (o_.kind != Operand::Kind::address) return fault(o_, "expected an address");
    if (!o_.name.empty()) meaning(o_);
  }

  /// A pointer as value: a register of the instruction's type, or a variable in `space`.
  void pointer(Space space) {
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

  void any_address_register() {
    if (o_.kind == Operand::Kind::integer) return;
    const Meaning m = o_.kind == Operand::Kind::name ? meaning(o_) : Meaning{};
    if (m.kind == Meaning::Kind::variable && o_.offset != 0) return;
    if (m.kind != Meaning::Kind::reg || is_float(m.type) || (size_of(m.type) != 4 && size_of(m.type) != 8))
      fault(o_, "expected a register of 32 or 64 bits");
  }

  // Textures and surfaces with their coordinates (PTX ISA, "tex", "suld", "sust").
  /// [object, {coordinates}], a texture also [object, sampler, {coordinates}], coordinates of type
  /// `type`.
  void image(DataType type) {
    if (o_.kind != Operand::Kind::address) return fault(o_, "expected [object, {coordinates}]");
    if (o_.offset != 0) fault(o_, "a handle takes no offset");
    const Meaning m = meaning(o_);
    if (m.kind == Meaning::Kind::reg && (is_float(m.type) || size_of(m.type) != 8 || m.vector != 1))
      fault(o_, "a " + type_text(m.type) + " register holds no handle", "it has 64 bits");
    if (m.kind != Meaning::Kind::reg && m.kind != Meaning::Kind::nothing && !m.reference)
      fault(o_, quoted(o_.name) + " is neither texture nor surface",
            "a register of 64 bits holds its handle");
    const bool sampled = a_.second_type != DataType::none && o_.elements.size() == 2;
    if (o_.elements.size() != 1 && !sampled) return fault(o_, "expected coordinates after the object");
    if (sampled) value(o_.elements[0], DataType::u64, Width::exact);
    coordinates(o_.elements.back(), type);
  }

  /// What a texture load returns, and the predicate that says whether its memory is resident.
  void texels() {
    if (o_.kind != Operand::Kind::pair) return destination(Width::exact, false);
    OperandJudge(o_.elements[0], a_, faults_).destination(Width::exact, false);
    OperandJudge(o_.elements[1], a_, faults_).scalar(DataType::pred, Width::exact, false);
  }

  /// How far a coordinate vector moves: as many numbers as the geometry has coordinates, the layer aside.
  void gradient() {
    const Geometry* const geometry = geometry_of(a_.words);
    const bool one = has(".1d") || has(".a1d"), two = has(".2d") || has(".a2d");
    listed(o_, geometry == nullptr ? 0 : one ? 1 : two ? 2 : 4, "numbers", DataType::f32, false);
  }

  /// Behind the coordinates of a texture load: offsets in texels, or the reference of a comparison.
  void adjustment() {
    if (o_.kind == Operand::Kind::vector) {
      const bool one = has(".1d") || has(".a1d"), two = has(".2d") || has(".a2d");
      return listed(o_, one ? 1 : two ? 2 : 4, "offsets", DataType::s32, false);
    }
    const Meaning m = o_.kind == Operand::Kind::name ? meaning(o_) : Meaning{};
    const bool integer =
        o_.kind == Operand::Kind::integer || (m.kind == Meaning::Kind::reg && m.type == DataType::s32);
    if (integer) return;
    value(o_, DataType::f32, Width::exact);
    if (m.kind == Meaning::Kind::reg && is_float(m.type) && a_.second_type != DataType::f32)
      fault(o_, "only '.f32' coordinates take a comparison");
  }

  /// A tensor map and the coordinates in it. The assembler takes a register of whatever type.
  void tensor() {
    if (o_.kind != Operand::Kind::address || o_.elements.size() != 1)
      return fault(o_, "expected [tensor map, {coordinates}]");
    if (o_.offset != 0 || o_.indexed) fault(o_, "a tensor map takes no offset");
    const Meaning m = o_.name.empty() ? Meaning{} : meaning(o_);
    const bool in_register = m.kind == Meaning::Kind::reg && m.type != DataType::pred && m.vector == 1;
    const bool is_global = m.kind == Meaning::Kind::variable && m.space == Space::global;
    if (o_.name.empty() || (m.kind != Meaning::Kind::nothing && !in_register && !is_global))
      fault(o_, quoted(o_.token.text) + " is no tensor map",
            "a register or a .global variable holds its address");
    const std::size_t dimensions = dimension();
    const bool four_rows = has(".tile::gather4") || has(".tile::scatter4");
    listed(o_.elements[0], four_rows ? 5 : dimensions, "coordinates", DataType::u32, true);
  }

  /// Of a tensor copy: where in the image, one for each dimension between the channels and the images; or
  /// two.
  void offsets() {
    const std::size_t dimensions = dimension();
    listed(o_, has(".im2col") && dimensions > 2 ? dimensions - 2 : 2, "offsets", DataType::u16, false);
  }

 private:
  [[nodiscard]] bool has(std::string_view word) const { return (a_.words & words_named(word)).any(); }
  [[nodiscard]] std::size_t dimension() const {
    constexpr std::array<const char*, 5> kDimensions = {".1d", ".2d", ".3d", ".4d", ".5d"};
    for (std::size_t n = 0; n < kDimensions.size(); ++n)
      if (has(kDimensions[n])) return n + 1;
    return 0;  // a rule says that it is missing
  }

  /// A vector of `count` integers; 0: of any number. Where one register is untyped, the assembler takes all
  /// elements of its size.
  void listed(const Operand& list, std::size_t count, const char* what, DataType type, bool special) {
    if (list.kind != Operand::Kind::vector) return fault(list, std::string("expected {") + what + "}");
    if (count != 0 && list.elements.size() != count)
      return fault(list, "expected " + std::to_string(count) + " " + what + ", found " +
                             std::to_string(list.elements.size()));
    const bool bits = untyped(list.elements);
    for (const Operand& e : list.elements) {
      const Meaning m = e.kind == Operand::Kind::name ? meaning(e) : Meaning{};
      if (m.kind == Meaning::Kind::special_register && special) continue;
      const bool fits_as_bits = m.kind == Meaning::Kind::reg && m.vector == 1 && e.offset == 0 &&
                                (size_of(m.type) == size_of(type) || (special && m.type == DataType::pred));
      if (bits && (fits_as_bits || is_literal(e))) continue;
      if (e.kind == Operand::Kind::integer) continue;
      value(e, type, Width::exact);
    }
  }

  template <class F>
  void elements(Count count, F&& each) {
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

  void same_size() {
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

  /// Whether the assembler takes all elements for untyped, as it does where one register is.
  [[nodiscard]] bool untyped(const std::vector<Operand>& elements) const {
    return elements.size() > 1 && std::any_of(elements.begin(), elements.end(), [&](const Operand& e) {
             if (e.kind != Operand::Kind::name) return false;
             const Meaning m = a_.names->find(e.name);
             return m.kind == Meaning::Kind::special_register ||
                    (m.kind == Meaning::Kind::reg && is_bits(m.type) && m.vector == 1);
           });
  }

  /// Whether the assembler takes `e` for a constant of any type: a function's address.
  [[nodiscard]] bool is_address_constant(const Operand& e) const {
    return e.kind == Operand::Kind::name && a_.names->find(e.name).kind == Meaning::Kind::function;
  }

  /// An element of a vector whose elements are taken for untyped.
  void element(const Operand& e, Width width, bool written) {
    if (is_literal(e)) return;
    const Meaning m = e.kind == Operand::Kind::name ? meaning(e) : Meaning{};
    if (m.kind == Meaning::Kind::special_register) return;
    if (m.kind != Meaning::Kind::reg || m.vector != 1) return value(e, a_.type, width, written);
    if (!fits(bits_of_size(element_size(m)), a_.type, width)) unfit(e, m, a_.type);
  }

  void value(const Operand& e, DataType type, Width width, bool written = false) {
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
    if (!fits(m.type, type, width)) unfit(e, m, type);
  }

  void moved_vector(bool written) {
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
      if (m.kind == Meaning::Kind::nothing || (m.kind == Meaning::Kind::special_register && !written))
        continue;
      if (m.kind != Meaning::Kind::reg)
        fault(e, "expected a register, found " + quoted(e.token.text));
      else if (m.type == DataType::pred || size_of(m.type) * n != size_of(a_.type))
        fault(e, std::to_string(n) + " registers of " + type_text(m.type) + " do not make one of " +
                     type_text(a_.type));
    }
    if (!any) fault(o_, "one element at least must be a register");
  }

  void moved_name(bool written) {
    const Meaning m = meaning(o_);
    if (m.kind == Meaning::Kind::nothing) return;
    if (m.kind == Meaning::Kind::reg) {
      const bool sum = !written && o_.offset != 0 && !is_float(a_.type) && !is_float(m.type);
      if (sum && m.type == DataType::pred) return fault(o_, "a predicate takes no offset");
      return m.vector == 1 && !sum ? value(o_, a_.type, Width::exact, written) : void();
    }
    if (written) return fault(o_, "expected a register");
    const bool special = m.kind == Meaning::Kind::special_register;
    if (special && m.type == DataType::pred && a_.type == DataType::pred) return;
    if (a_.type == DataType::pred) return fault(o_, quoted(o_.name) + " is no predicate");
    if (m.kind == Meaning::Kind::function) return;
    if (special) {
      if (is_float(a_.type)) return fault(o_, "a special register holds no floating-point value");
      if ((m.sizes & size_of(a_.type)) == 0)
        fault(o_,
              quoted(o_.name) + " is " + type_text(m.type) + ", the instruction wants " + type_text(a_.type));
      return;
    }
    if (is_float(a_.type)) return fault(o_, "an address is no floating-point value");
    if (size_of(a_.type) == 4 && m.space == Space::global) fault(o_, "a global address has 64 bits");
  }

  void address_register(const Meaning& m, Space space, AddressWidth width) {
    if (is_float(m.type) || m.type == DataType::pred || size_of(m.type) > 8 || m.vector != 1 ||
        (width == AddressWidth::no_half && size_of(m.type) < 4))
      return fault(o_, "a " + type_text(m.type) + " register holds no address");
    if (size_of(m.type) == 4 && (space == Space::global || space == Space::generic))
      fault(o_, "a global or generic address has 64 bits, " + quoted(o_.name) + " has 32");
  }

  void address_variable(const Meaning& m, Space space) {
    const bool generic = space == Space::generic && m.space != Space::constant && m.space != Space::param;
    if (!reaches(m.space, space) && !generic)
      fault(o_, quoted(o_.name) + " is not in the state space that the instruction names");
  }

  void index_register() {
    const Meaning m = a_.names->find(o_.index);
    if (m.kind != Meaning::Kind::reg || is_float(m.type) || m.type == DataType::pred || size_of(m.type) < 4 ||
        size_of(m.type) > 8)
      fault(o_, quoted(o_.index) + " is no index: an integer or a register of 32 or 64 bits is");
  }

  void coordinates(const Operand& where, DataType type) {
    const Geometry* const geometry = geometry_of(a_.words);
    const std::vector<Operand> all =
        where.kind == Operand::Kind::vector ? where.elements : std::vector<Operand>{where};
    if (all.size() != 1 && all.size() != 2 && all.size() != 4)
      return fault(where, "coordinates are 1, 2 or 4");
    if (geometry != nullptr && where.kind == Operand::Kind::vector && all.size() < geometry->coordinates)
      return fault(where, quoted(geometry->word) + " takes " + std::to_string(geometry->coordinates) +
                              " coordinates, not " + std::to_string(all.size()));
    const bool textured = a_.second_type != DataType::none;
    const bool bits = untyped(all);
    for (const Operand& e : all) {
      const bool layer = geometry != nullptr && geometry->layered && textured && &e == all.data();
      const Meaning m = e.kind == Operand::Kind::name ? meaning(e) : Meaning{};
      if (m.kind == Meaning::Kind::special_register) continue;
      if (e.kind == Operand::Kind::name && (m.kind != Meaning::Kind::reg || e.offset != 0))
        fault(e, "expected a register, found " + quoted(e.token.text));
      else if (layer && (is_float(m.type) || m.type == DataType::pred || e.kind == Operand::Kind::real))
        fault(e, "the layer is an integer");
      else if (bits && m.kind == Meaning::Kind::reg && (m.type == DataType::pred || size_of(m.type) == 4))
        continue;
      else
        value(e, layer ? DataType::b32 : type, Width::exact);
    }
  }

  Meaning meaning(const Operand& e) {
    const Meaning m = a_.names->find(e.name);
    if (m.kind == Meaning::Kind::nothing)
      fault(e, quoted(e.name) + " is not declared", suggestion(e.name, a_.names->all()));
    return m;
  }

  [[nodiscard]] float real() const {
    return o_.single ? bits_as<float>(static_cast<std::uint32_t>(o_.bits))
                     : static_cast<float>(bits_as<double>(o_.bits));
  }

  void unfit(const Operand& e, const Meaning& m, DataType type) {
    fault(e, "register " + quoted(e.name) + " is " + type_text(m.type) + ", the instruction wants " +
                 type_text(type));
  }
  void fault(const Operand& e, std::string message, std::string hint = {}) {
    faults_.push_back({e.token.place(), std::move(message), std::move(hint)});
  }

  const Operand& o_;
  const Accessed& a_;
  std::vector<Remark>& faults_;
};

// PTX ISA, "Video Instructions": what selectors there are.
bool digits(std::string_view s, char letter, std::size_t count, char limit) {
  return s.size() == count + 1 && s[0] == letter &&
         std::all_of(s.begin() + 1, s.end(), [limit](char c) { return c >= '0' && c < limit; });
}
bool is_part(std::string_view s) {
  return digits(s, 'b', 1, '4') || digits(s, 'h', 1, '2');
}
bool is_pair(std::string_view s) {
  return digits(s, 'h', 2, '4');
}
bool is_quad(std::string_view s) {
  return digits(s, 'b', 4, '8');
}
bool is_pair_mask(std::string_view s) {
  return s == "h0" || s == "h1" || s == "h10";
}
bool is_quad_mask(std::string_view s) {
  for (std::size_t n = 1; n <= 4; ++n)
    if (digits(s, 'b', n, '4'))
      return std::adjacent_find(s.begin() + 1, s.end(), [](char a, char b) { return a <= b; }) == s.end();
  return false;
}

struct OperandName {
  std::string_view name;
  void (*judge)(OperandJudge&, const Accessed&);
};
using Judge = OperandJudge&;
using Over = const Accessed&;

/// What the signatures call their operands.
constexpr OperandName kOperandNames[] = {
    // Of the instruction's type, in a vector of its size: of its width or more; "=" of just its width, or
    // `_` for a result; "-" of just its width.
    {"d", [](Judge j, Over) { j.destination(Width::or_wider, false); }},
    {"d=", [](Judge j, Over) { j.single_destination(); }},
    {"d-", [](Judge j, Over) { j.plain_destination(false); }},
    {"s", [](Judge j, Over) { j.source(Width::or_wider); }},
    {"s=", [](Judge j, Over) { j.source(Width::exact); }},
    {"s-", [](Judge j, Over) { j.single_source(); }},
    // "*": of any number of elements, where the instruction names no vector.
    {"d*", [](Judge j, Over) { j.destination(Width::or_wider, false, Count::any); }},
    {"s*", [](Judge j, Over) { j.source(Width::or_wider, Count::any); }},
    {"s*=", [](Judge j, Over) { j.several(); }},
    {"s1", [](Judge j, Over) { j.single_or_vector(); }},
    // Addresses: in the space that is named first or second, or in one. "+": in a register of 32 bits or
    // more; "any-": one of 32 bits addresses global and generic memory, too.
    {"a", [](Judge j, Over a) { j.address(a.space); }},
    {"a+", [](Judge j, Over a) { j.address(a.space, AddressWidth::no_half); }},
    {"shared", [](Judge j, Over) { j.address(Space::shared_cluster); }},
    {"bare-shared", [](Judge j, Over) { j.bare_shared(); }},
    {"shared+", [](Judge j, Over) { j.address(Space::shared_cluster, AddressWidth::no_half); }},
    {"any-global", [](Judge j, Over) { j.address(Space::global, AddressWidth::any, Windows::any); }},
    {"any-address", [](Judge j, Over a) { j.address(a.space, AddressWidth::any, Windows::any); }},
    {"any-address+", [](Judge j, Over a) { j.address(a.space, AddressWidth::no_half, Windows::any); }},
    {"any-address2", [](Judge j, Over a) { j.address(a.second_space, AddressWidth::any, Windows::any); }},
    {"whatever-address", [](Judge j, Over) { j.any_address(); }},
    {"pointer", [](Judge j, Over a) { j.pointer(a.space); }},
    {"shared-pointer", [](Judge j, Over) { j.pointer(Space::shared_cluster); }},
    {"any-int", [](Judge j, Over) { j.any_address_register(); }},
    {"texture", [](Judge j, Over a) { j.image(a.second_type); }},
    {"texels", [](Judge j, Over) { j.texels(); }},
    {"gradient", [](Judge j, Over) { j.gradient(); }},
    {"adjustment", [](Judge j, Over) { j.adjustment(); }},
    {"reference", [](Judge j, Over) { j.reference(); }},
    {"level", [](Judge j, Over) { j.level(); }},
    {"bare-handle", [](Judge j, Over) { j.scalar(DataType::u64, Width::exact, false); }},
    {"surface", [](Judge j, Over) { j.image(DataType::s32); }},
    {"tensor", [](Judge j, Over) { j.tensor(); }},
    {"offsets", [](Judge j, Over) { j.offsets(); }},
    // Values of one type; "=" to be written.
    {"policy", [](Judge j, Over) { j.policy(); }},
    {"b64", [](Judge j, Over) { j.scalar(DataType::u64, Width::exact, true); }},
    {"b32", [](Judge j, Over) { j.scalar(DataType::u32, Width::exact, true); }},
    {"b16", [](Judge j, Over) { j.scalar(DataType::u16, Width::exact, true); }},
    {"b64=", [](Judge j, Over) { j.scalar(DataType::u64, Width::exact, false); }},
    {"b32=", [](Judge j, Over) { j.scalar(DataType::u32, Width::exact, false); }},
    {"pred", [](Judge j, Over) { j.scalar(DataType::pred, Width::exact, false); }},
    {"size", [](Judge j, Over) { j.scalar(DataType::u32, Width::exact, true); }},
    {"total-size", [](Judge j, Over) { j.total_size(); }},
    {"bulk-size", [](Judge j, Over) { j.multiple(16, DataType::u32); }},
    {"st-bulk-size", [](Judge j, Over) { j.multiple(8, DataType::u64); }},
    {"threads", [](Judge j, Over) { j.threads(true); }},
    {"some-threads", [](Judge j, Over) { j.threads(false); }},
    {"barrier", [](Judge j, Over) { j.barrier_number(); }},
    {"predicate", [](Judge j, Over) { j.predicate(); }},
    {"condition", [](Judge j, Over) { j.condition(true); }},
    {"condition!", [](Judge j, Over) { j.condition(false); }},
    {"truth", [](Judge j, Over) { j.truth(true); }},
    {"one-truth", [](Judge j, Over) { j.truth(false); }},
    {"set-to", [](Judge j, Over) { j.set_to(); }},
    {"moved", [](Judge j, Over) { j.moved(false); }},
    {"moved-to", [](Judge j, Over) { j.moved(true); }},
    {"fraction", [](Judge j, Over) { j.fraction(); }},
    {"int", [](Judge j, Over) { j.any_integer(); }},
    {"128", [](Judge j, Over) { j.literal(128); }},
    {"0", [](Judge j, Over) { j.literal(0); }},
    {"copy-size", [](Judge j, Over) { j.copy_size(); }},
    {"zero-fill", [](Judge j, Over) { j.zero_fill(); }},
    {"any", [](Judge j, Over) { j.any(); }},
    // Of forms: where matrices, mbarriers and tensor maps lie; signs and flags; how many registers.
    {"matrix", [](Judge j, Over a) { j.address(a.space, AddressWidth::any, Windows::any); }},
    {"wmma", [](Judge j, Over a) { j.address(a.space, AddressWidth::no_half, Windows::any); }},
    {"mbarrier", [](Judge j, Over) { j.shared_object(); }},
    {"mapped", [](Judge j, Over) { j.pointer(Space::shared_cluster); }},
    {"sign", [](Judge j, Over) { j.one_of(1, ~std::uint64_t{0}); }},
    {"bit", [](Judge j, Over) { j.one_of(0, 1); }},
    {"map", [](Judge j, Over a) { j.address(a.space, AddressWidth::no_half, Windows::any); }},
    {"gathered", [](Judge j, Over) { j.gathered(); }},
    {"dimension", [](Judge j, Over) { j.below(5); }},
    {"queried", [](Judge j, Over) { j.handle(); }},
    {"registers", [](Judge j, Over) { j.register_count(); }},
    // Of video instructions: a part, or one that must be named; elements of two registers; masks of them.
    // "-": it
    // may be negated.
    {"part", [](Judge j, Over) { j.selected(is_part, true, true); }},
    {"part-", [](Judge j, Over) { j.selected(is_part, true, true, true); }},
    {"chosen", [](Judge j, Over) { j.selected(is_part, false); }},
    {"pair", [](Judge j, Over) { j.selected(is_pair, true); }},
    {"quad", [](Judge j, Over) { j.selected(is_quad, true); }},
    {"pair-mask", [](Judge j, Over) { j.selected(is_pair_mask, true); }},
    {"quad-mask", [](Judge j, Over) { j.selected(is_quad_mask, true); }},
    {"negative", [](Judge j, Over) { j.negative(); }},
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

void judge_values(const Operand& o, DataType type, std::size_t count, ValueRules rules, const Accessed& a,
                  std::vector<Remark>& faults) {
  Accessed typed = a;
  typed.type = type;
  OperandJudge(o, typed, faults).values(count, rules);
}

std::string type_text(DataType t) {
  return "." + std::string(name_of(t));
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

DataType register_type(std::string_view qualifier) {
  if (const auto type = value_named<DataType>(qualifier.substr(1))) return *type;
  const std::string_view count = qualifier.substr(qualifier.size() - 2);
  if (qualifier == ".tf32" || count == "x4") return DataType::b32;
  return count == "x2" ? DataType::b16 : DataType::b8;
}

}  // namespace warpline::ptx
