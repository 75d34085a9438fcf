#include "platform/programs/ptx_syntax/parser.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "platform/programs/ptx_syntax/token_stream.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/isa/qualifiers.h"

namespace warpline::ptx {
namespace {

const std::vector<std::string>& top_level_words() {
  static const std::vector<std::string> kWords = {
      ".version", ".target", ".address_size", ".visible", ".extern",  ".weak",   ".common", ".entry", ".func",
      ".global",  ".const",  ".shared",       ".file",    ".section", ".pragma", ".loc",    ".alias"};
  return kWords;
}

/// What `.target` may say beside the target itself.
constexpr std::array<std::string_view, 4> kTargetOptions = {"texmode_unified", "texmode_independent", "debug",
                                                            "map_f64_to_f32"};

/// The space that `t` declares a variable in, if it declares one.
std::optional<Space> declared_space(const Token& t) {
  if (t.kind != TokenKind::dotted || t.text.find(':') != std::string_view::npos) return std::nullopt;
  return value_named<Space>(t.text.substr(1));
}

/// `real` as a variable of `type` holds it.
std::uint64_t bits_of_real(DataType type, double real) {
  return type == DataType::f64 ? bits_as<std::uint64_t>(real)
                               : bits_as<std::uint32_t>(static_cast<float>(real));
}

/// Whether `t` is the type of a handle that the driver fills in: of a texture, a sampler or a surface.
bool is_reference_type(const Token& t) {
  return t.is(".texref") || t.is(".samplerref") || t.is(".surfref");
}

/// A formal parameter, and the register that it is, where it lies in one.
struct Formal {
  VariableDecl variable;
  std::optional<RegisterDecl> in_register;
};

/// Reads declarations: variables with their initial contents, formal parameters, registers. What is lawful
/// and not modelled is read, too, and says so in VariableDecl::unsupported.
class VariableReader {
 public:
  /// Both outlive it. `dated`: see ModuleDecl.
  VariableReader(TokenStream& tokens, std::vector<Token>& dated) : tokens_(tokens), dated_(dated) {}

  /// Whether the declaration of a variable comes next.
  [[nodiscard]] bool at_variable() const {
    return tokens_.peek().is(".attribute") || declared_space(tokens_.peek()).has_value();
  }

  /// `.global .b32 a, b[4] = {1, 2};`
  std::vector<VariableDecl> variable_list(bool is_extern) {
    std::vector<VariableDecl> list;
    VariableDecl pattern;
    pattern.is_extern = is_extern;
    const std::size_t before = dated_.size();
    attributes();
    const std::optional<Space> space = declared_space(tokens_.peek());
    if (!space) tokens_.fail(tokens_.peek(), "expected the state space of a variable");
    pattern.space = *space;
    tokens_.take();
    declarator(pattern);
    for (std::size_t n = before; n < dated_.size(); ++n) pattern.managed |= dated_[n].is(".managed");
    if (space != Space::global)
      for (std::size_t n = before; n < dated_.size(); ++n)
        if (dated_[n].is(".managed") || dated_[n].is(".unified"))
          tokens_.fail(dated_[n], quoted(dated_[n].text) + " belongs to a variable in .global");
    for (;;) {
      VariableDecl v = pattern;
      if (!list.empty()) name(v);
      const std::uint64_t family = family_size();
      dimensions(v);
      const bool modelled = account(v, family);
      if (tokens_.accept('=')) {
        if (family != 0) tokens_.fail(v.place, "a family of variables takes no initialiser");
        if (v.is_reference) {
          reference_initializer(0);
        } else if (modelled) {
          initializer(v);
        } else {
          VariableDecl dropped = v;
          initializer(dropped);
        }
      } else if (v.bytes == 0 && modelled && !v.is_extern) {
        tokens_.faults().add(v.place, "array " + quoted(v.name) + " needs an extent");
      }
      if (v.space == Space::global || v.space == Space::constant) v.initial.resize(v.bytes);
      if (family == 0) {
        list.push_back(std::move(v));
      } else {
        for (std::uint64_t n = 0; n < family; ++n) {
          list.push_back(v);
          list.back().name += std::to_string(n);
        }
      }
      if (!tokens_.accept(',')) break;
    }
    tokens_.expect(';', "after the declaration");
    return list;
  }

  /// `.attribute(.managed, .unified(1, 2))`, any number of them or none.
  void attributes() {
    while (tokens_.accept(".attribute")) {
      tokens_.expect('(', "after '.attribute'");
      do {
        const Token t = tokens_.take();
        if (t.is(".unified")) {
          tokens_.expect('(', "after '.unified'");
          tokens_.count();
          tokens_.expect(',', "between the halves of an identifier");
          tokens_.count();
          tokens_.expect(')', "after the identifier");
        } else if (!t.is(".managed")) {
          tokens_.fail(t, "unknown attribute " + quoted(t.text),
                       suggestion(t.text, {".managed", ".unified"}));
        }
        dated_.push_back(t);
      } while (tokens_.accept(','));
      tokens_.expect(')', "after the attributes");
    }
  }

  /// `.param .u64 p`, or `.reg .u32 p` of a device function.
  Formal formal(bool of_entry) {
    Formal f;
    VariableDecl& v = f.variable;
    v.space = Space::param;
    const Token at = tokens_.peek();
    if (!of_entry && tokens_.accept(".reg")) {
      RegisterDecl& r = f.in_register.emplace();
      r.vector = declarator(v);
      r.type = v.type;
      r.place = v.place;
      v.unsupported = "parameters in registers are not modelled in this version";
    } else if (!tokens_.accept(".param")) {
      tokens_.fail(at, "expected '.param'");
    } else {
      declarator(v);
    }
    if (v.is_reference && !of_entry)
      tokens_.fail(at, "only kernel entries take a reference of a texture or surface");
    dimensions(v);
    account(v, 0, of_entry);
    return f;
  }

  /// `.reg .b32 %r<20>;`
  void registers(BlockScope& scope) {
    tokens_.take();
    RegisterDecl r;
    bool typed = false;
    while (tokens_.peek().kind == TokenKind::dotted) {
      const Token t = tokens_.take();
      const DataType type = data_type_from(t.text.substr(1));
      if (t.is(".v2") || t.is(".v4")) {
        r.vector = t.is(".v2") ? 2 : 4;
      } else if (t.is(".align")) {
        alignment();  // of no meaning where there is no memory
      } else if (type != DataType::none) {
        r.type = type;
        typed = true;
        if (type == DataType::b128) dated_.push_back(t);
      } else {
        tokens_.fail(t, "unknown register type " + quoted(t.text));
      }
    }
    if (!typed) tokens_.fail(tokens_.peek(), "expected the type of a register");
    do {
      const Token& name = tokens_.expect_word("the name of a register");
      r.place = name.place();
      r.count = 0;
      if (tokens_.accept('<')) {
        const Token& at = tokens_.peek();
        const std::uint64_t count = tokens_.count();
        if (count == 0 || count > Limits::kFamilyRegisters)
          tokens_.fail(at, "a family has 1 to " + std::to_string(Limits::kFamilyRegisters) + " registers");
        r.count = static_cast<std::uint32_t>(count);
        tokens_.expect('>', "after the number of registers");
      }
      auto& names = r.count != 0 ? scope.families : scope.registers;
      if (!names.emplace(std::string(name.text), r).second)
        tokens_.faults().add(name.place(), "register " + quoted(name.text) + " is declared twice");
    } while (tokens_.accept(','));
    tokens_.expect(';', "after the registers");
  }

 private:
  /// What follows the state space, to the name; the elements of a vector.
  unsigned declarator(VariableDecl& v) {
    unsigned vector = 1;
    std::uint64_t aligned = 0;
    while (tokens_.peek().kind == TokenKind::dotted) {
      const Token t = tokens_.peek();
      const DataType type = data_type_from(t.text.substr(1));
      if (t.is(".attribute")) {
        attributes();
        continue;
      }
      tokens_.take();
      if (t.is(".align")) {
        aligned = alignment();
      } else if (t.is(".v2") || t.is(".v4")) {
        vector = t.is(".v2") ? 2 : 4;
      } else if (t.is(".ptr")) {
        while ((at_variable() && !tokens_.peek().is(".param")) || is_reference_type(tokens_.peek()))
          tokens_.take();
      } else if (is_reference_type(t)) {
        if (v.space != Space::global && v.space != Space::param)
          tokens_.fail(t, "references of textures and surfaces lie in .global, or are parameters");
        v.is_reference = true;
        v.type = DataType::b64;
        v.unsupported = "texture and surface references are not modelled in this version";
        if (t.is(".samplerref")) dated_.push_back(t);
      } else if (type != DataType::none && type != DataType::pred) {
        v.type = type;
        if (type == DataType::b128) dated_.push_back(t);
      } else {
        tokens_.fail(t, quoted(t.text) + " is not supported in the declaration of a variable");
      }
    }
    v.bytes = std::uint64_t{size_of(v.type)} * vector;
    v.alignment = std::max<std::uint64_t>(aligned, aligned == 0 ? v.bytes : 1);
    if (v.alignment > Limits::kAlignment) {
      v.unsupported =
          "alignments beyond " + std::to_string(Limits::kAlignment) + " are not modelled in this version";
      v.alignment = 1;
    }
    name(v);
    return vector;
  }

  std::uint64_t alignment() {
    const Token& at = tokens_.peek();
    const std::uint64_t bytes = tokens_.count();
    if (!is_power_of_two(bytes)) tokens_.fail(at, "an alignment is a power of two");
    return bytes;
  }

  void name(VariableDecl& v) {
    const Token& word = tokens_.expect_word("the name of a variable");
    v.name = std::string(word.text);
    v.place = word.place();
  }

  /// `<4>` after the name: how many variables it declares; 0: it is one.
  std::uint64_t family_size() {
    if (!tokens_.accept('<')) return 0;
    const Token& at = tokens_.peek();
    const std::uint64_t count = tokens_.count();
    if (count == 0 || count > Limits::kFamilyVariables - family_variables_)
      tokens_.fail(at, "a family has one variable at least, and all families of a module " +
                           std::to_string(Limits::kFamilyVariables));
    family_variables_ += count;
    tokens_.expect('>', "after the number of variables");
    return count;
  }

  void dimensions(VariableDecl& v) {
    // Beyond every limit, and small enough to be multiplied by the size of an element.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
    std::uint64_t count = 1;
    bool open_ended = false;
    while (tokens_.accept('[')) {
      const Token& at = tokens_.peek();
      if (at.is(']')) {
        open_ended = true;
      } else {
        const std::uint64_t extent = tokens_.count();
        if (extent == 0 && !v.is_extern) tokens_.fail(at, "an array has one element at least");
        open_ended |= extent == 0;
        count = extent != 0 && count > kMost / extent ? kMost : count * extent;
      }
      tokens_.expect(']', "after an array's extent");
    }
    v.bytes = open_ended ? 0 : v.bytes * count;
  }

  /// Whether the variable, or the whole `family` of it, has room in what is modelled. Where it has not,
  /// nothing of it is kept; it is a fault where the assembler has no room either.
  bool account(VariableDecl& v, std::uint64_t family, bool of_entry = false) {
    std::uint64_t limit = Limits::kVariableBytes;
    if (v.space == Space::shared || v.space == Space::local) limit = Limits::kWindowBytes;
    if (v.space == Space::constant) limit = Limits::kConstantBytes;
    if (v.space == Space::param) limit = Limits::kParameterBytes;
    const std::uint64_t all = v.bytes * std::max<std::uint64_t>(family, 1);
    if (v.bytes <= limit && all <= Limits::kVariableBytes - variable_bytes_) {
      variable_bytes_ += all;
      return true;
    }
    const std::string why = "it is too large: its space takes " + std::to_string(limit) +
                            " bytes, all variables of a module " + std::to_string(Limits::kVariableBytes);
    if (v.space == Space::constant || of_entry)
      tokens_.fail(v.place, "variable " + quoted(v.name) + " cannot be declared: " + why);
    v.unsupported = why;
    v.bytes = 0;
    return false;
  }

  /// `{ width = 4, filter_mode = linear }`, or such lists of an array's elements.
  void reference_initializer(unsigned depth) {
    if (depth > Limits::kDepth) tokens_.fail(tokens_.peek(), "this initialiser is nested too deeply");
    tokens_.expect('{', "before the properties of a reference");
    while (!tokens_.accept('}')) {
      if (tokens_.peek().is('{')) {
        reference_initializer(depth + 1);
      } else {
        tokens_.expect_word("the name of a property");
        tokens_.expect('=', "after the name of a property");
        if (!tokens_.accept_word()) tokens_.count();
      }
      if (!tokens_.accept(',') && !tokens_.peek().is('}'))
        tokens_.fail(tokens_.peek(), "expected ',' or '}' in an initialiser");
    }
  }

  void initializer(VariableDecl& v) {
    const Token& at = tokens_.peek();
    if (v.space != Space::global && v.space != Space::constant)
      tokens_.fail(at, "only .global and .const variables take an initialiser");
    const bool open_ended = v.bytes == 0;
    if (!open_ended) v.initial.resize(v.bytes);
    std::uint64_t end = 0;
    if (tokens_.peek().is('{'))
      initializer_list(v, end, 0);
    else
      initializer_element(v, end);
    if (open_ended) {
      v.bytes = v.initial.size();
      account(v, 0);
    } else if (end > v.bytes) {
      tokens_.fail(at, "the initialiser of " + quoted(v.name) + " has more elements than the variable");
    }
  }

  void initializer_list(VariableDecl& v, std::uint64_t& at, unsigned depth) {
    if (depth > Limits::kDepth) tokens_.fail(tokens_.peek(), "this initialiser is nested too deeply");
    tokens_.expect('{', "before the elements");
    while (!tokens_.accept('}')) {
      if (tokens_.peek().is('{'))
        initializer_list(v, at, depth + 1);
      else
        initializer_element(v, at);
      if (!tokens_.accept(',') && !tokens_.peek().is('}'))
        tokens_.fail(tokens_.peek(), "expected ',' or '}' in an initialiser");
    }
  }

  void initializer_element(VariableDecl& v, std::uint64_t& at) {
    const unsigned size = size_of(v.type);
    const Token& t = tokens_.peek();
    if (at + size > Limits::kVariableBytes) tokens_.fail(t, "this initialiser is too long");
    if (v.initial.size() < at + size) v.initial.resize(at + size);
    const bool minus = t.is('-') && tokens_.peek(1).kind == TokenKind::number;
    const Token& literal = minus ? tokens_.peek(1) : t;
    std::uint64_t bits = 0;
    if (literal.kind == TokenKind::number && read_number(literal.text).is_float) {
      const Number n = read_number(literal.text);
      if (!n.ok) tokens_.fail(literal, "this literal has the wrong number of digits");
      tokens_.take();
      if (minus) tokens_.take();
      const double real = minus ? -n.real : n.real;
      const bool exact = n.is_single && v.type != DataType::f64;
      bits = exact ? n.integer ^ (minus ? 0x80000000U : 0U) : bits_of_real(v.type, real);
    } else if (t.kind == TokenKind::word && !t.is("WARP_SZ")) {
      address_element(v, at, 0, size);
    } else {
      bits = tokens_.constant();
      if (tokens_.accept('(')) {  // mask(address): one byte of it
        unsigned shift = 0;
        while (shift < 64 && bits != (std::uint64_t{0xFF} << shift)) shift += 8;
        if (shift == 64) tokens_.fail(t, "a mask selects one byte, as 0xFF00 does");
        address_element(v, at, shift, size);
        tokens_.expect(')', "after the masked address");
        bits = 0;
      } else if (v.type == DataType::f32 || v.type == DataType::f64) {
        bits = bits_of_real(v.type, static_cast<double>(static_cast<std::int64_t>(bits)));
      }
    }
    std::memcpy(&v.initial[at], &bits, std::min<std::size_t>(size, sizeof bits));
    at += size;
  }

  void address_element(VariableDecl& v, std::uint64_t at, unsigned shift, unsigned bytes) {
    Relocation r;
    const bool generic = tokens_.accept("generic");
    if (generic) tokens_.expect('(', "after 'generic'");
    const Token& name = tokens_.expect_word("the name of a variable");
    r.symbol = std::string(name.text);
    r.place = name.place();
    r.generic = generic;
    if (generic) tokens_.expect(')', "after the variable's name");
    r.addend = tokens_.offset();
    r.offset = at;
    r.bytes = bytes;
    r.shift = shift;
    v.relocations.push_back(std::move(r));
  }

  TokenStream& tokens_;
  std::vector<Token>& dated_;
  std::uint64_t variable_bytes_ = 0;    ///< of all variables so far
  std::uint64_t family_variables_ = 0;  ///< of all families so far
};

/// Reads instructions with their operands.
class StatementReader {
 public:
  /// `tokens` outlives it. `check`: as of parse_module().
  StatementReader(TokenStream& tokens, OpcodeCheck check) : tokens_(tokens), check_(check) {}
  /// `@%p ld.global.u32 %r1, [%rd1+4];` in block `scope` of its function; what this has that is left out goes
  /// to `unsupported`.
  Statement statement(int scope, std::vector<Unsupported>& unsupported) {
    Statement s;
    s.scope = scope;
    if (tokens_.accept('@')) {
      s.guard_negated = tokens_.accept('!');
      const Token& guard = tokens_.expect_word("a predicate register after '@'");
      s.guard = std::string(guard.text);
      s.guard_place = guard.place();
    }
    s.opcode = tokens_.expect_word("an instruction");
    takes_minus_ = s.opcode.is("vmad");
    while (tokens_.peek().kind == TokenKind::dotted) s.qualifiers.push_back(tokens_.take());
    if (check_ != nullptr && !check_(s, tokens_.faults(), unsupported)) throw SyntaxError{};
    if (!tokens_.peek().is(';') && tokens_.peek().kind != TokenKind::end) {
      do {
        s.operands.push_back(operand());
      } while (tokens_.accept(','));
    }
    tokens_.expect(';', "after the instruction");
    return s;
  }

 private:
  Operand operand(unsigned depth = 0) {
    const Token t = tokens_.peek();
    if (depth > 4) tokens_.fail(t, "these operands are nested too deeply");
    Operand o;
    o.token = t;
    if (t.is('[')) return address(depth);
    if (tokens_.accept('{')) {
      o.kind = Operand::Kind::vector;
      o.elements = operand_list('}', depth);
      return paired(std::move(o));
    }
    if (tokens_.accept('(')) {
      o.kind = Operand::Kind::list;
      o.elements = operand_list(')', depth);
      return o;
    }
    return paired(simple_operand());
  }

  /// `first` alone, or with the second operand that '|' adds to it.
  Operand paired(Operand first) {
    if (!tokens_.accept('|')) return first;
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.token = first.token;
    pair.elements.push_back(std::move(first));
    pair.elements.push_back(simple_operand());
    return pair;
  }

  Operand simple_operand() {
    Operand o;
    const bool negated = tokens_.accept('!');
    const bool minus = !negated && tokens_.accept('-');
    o.token = tokens_.peek();
    const Token t = tokens_.take();
    o.negated = negated;
    if (t.kind == TokenKind::number || t.is("WARP_SZ")) {
      Number n = read_number(t.text);
      if (t.is("WARP_SZ")) n = Number{false, kWarpLanes, 0, false, true};
      if (!n.ok) tokens_.fail(t, quoted(t.text) + " is not a number");
      o.kind = n.is_float ? Operand::Kind::real : Operand::Kind::integer;
      o.single = n.is_single;
      o.bits = n.integer;
      if (minus)
        o.bits = !n.is_float ? std::uint64_t{0} - n.integer
                             : n.integer ^ (std::uint64_t{1} << (n.is_single ? 31U : 63U));
      return o;
    }
    if (t.kind != TokenKind::word || (minus && !takes_minus_))
      tokens_.fail(t, "expected an operand, found " + quoted(t.text));
    o.minus = minus;
    if (t.is("_")) {
      o.kind = Operand::Kind::sink;
      return o;
    }
    o.name = std::string(t.text);
    if (tokens_.peek().kind == TokenKind::dotted && tokens_.peek().offset == t.offset + t.text.size())
      o.name += tokens_.take().text;
    if (tokens_.peek().is('[')) {
      tokens_.take();
      o.kind = Operand::Kind::address;
      o.indexed = true;
      if (tokens_.peek().text.substr(0, 1) == "%")
        o.index = tokens_.take().text;
      else
        o.offset = static_cast<std::int64_t>(tokens_.constant());
      tokens_.expect(']', "after the index");
    } else {
      o.offset = tokens_.offset(&o.subtracts);
    }
    return o;
  }

  Operand address(unsigned depth) {
    Operand o;
    o.kind = Operand::Kind::address;
    o.token = tokens_.take();
    if (tokens_.peek().kind == TokenKind::word && !tokens_.peek().is("WARP_SZ")) {
      o.token = tokens_.take();
      o.name = std::string(o.token.text);
      if (tokens_.peek().kind == TokenKind::dotted &&
          tokens_.peek().offset == o.token.offset + o.token.text.size())
        o.name += tokens_.take().text;  // an element of a vector register
    } else {
      o.offset = static_cast<std::int64_t>(tokens_.constant());
    }
    o.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(o.offset) +
                                         static_cast<std::uint64_t>(tokens_.offset(&o.subtracts)));
    while (tokens_.accept(',')) o.elements.push_back(operand(depth + 1));
    tokens_.expect(']', "after the address");
    if (tokens_.peek().is(".unified")) o.unified = tokens_.take().place();
    return o;
  }

  std::vector<Operand> operand_list(char close, unsigned depth) {
    std::vector<Operand> list;
    if (tokens_.accept(close)) return list;
    do {
      list.push_back(operand(depth + 1));
    } while (tokens_.accept(','));
    tokens_.expect(close, "after the list");
    return list;
  }

  TokenStream& tokens_;
  OpcodeCheck check_;
  bool takes_minus_ = false;  ///< whether a register may be negated
};

/// The declarations and functions of a module.
class Parser {
 public:
  Parser(std::vector<Token> tokens, FaultList& faults, OpcodeCheck check)
      : tokens_(std::move(tokens), faults), variables_(tokens_, module_.dated), statements_(tokens_, check) {}
  ModuleDecl module() {
    module_.malformed = !tokens_.peek().is(".version");
    if (module_.malformed)
      tokens_.faults().add(tokens_.peek().place(), "a PTX module begins with '.version'",
                           "for example '.version 8.0'");
    while (tokens_.peek().kind != TokenKind::end && !tokens_.faults().full()) {
      const std::size_t before = tokens_.taken();
      try {
        top_level();
      } catch (const SyntaxError&) {
        module_.malformed = true;
        tokens_.skip_top_level();
      }
      if (tokens_.taken() == before) tokens_.take();
    }
    return std::move(module_);
  }

  /// The whole text as one statement.
  std::optional<Statement> lone_statement() {
    try {
      std::vector<Unsupported> unsupported;
      Statement s = statements_.statement(0, unsupported);
      if (tokens_.peek().kind == TokenKind::end) return s;
      tokens_.faults().add(tokens_.peek().place(), "expected one instruction, found more");
    } catch (const SyntaxError&) {
    }
    return std::nullopt;
  }

 private:
  void top_level() {
    bool is_extern = false;
    if (debug_directive()) return;
    if (tokens_.accept(".version")) {
      const Token& t = tokens_.take();
      if (t.kind != TokenKind::number || !read_number(t.text).is_float)
        tokens_.fail(t, "expected a version such as '8.0'");
      if (module_.version != 0) tokens_.fail(t, "the version is said twice");
      const std::optional<unsigned> version = version_from(t.text);
      if (!version) tokens_.fail_unsupported(t, unknown_version_text(t.text));
      module_.version = *version;
      return;
    }
    if (tokens_.accept(".target")) {
      if (!module_.target.empty()) tokens_.fail(tokens_.previous(), "the target is said twice");
      do {
        const Token& t = tokens_.expect_word("a target such as 'sm_80'");
        module_.independent_textures |= t.is("texmode_independent");
        if (t.text.substr(0, 3) != "sm_" &&
            std::find(kTargetOptions.begin(), kTargetOptions.end(), t.text) == kTargetOptions.end())
          tokens_.fail(t, "unknown target " + quoted(t.text));
        if (t.text.substr(0, 3) != "sm_" || !module_.target.empty()) continue;
        module_.target = std::string(t.text);
        module_.target_place = t.place();
      } while (tokens_.accept(','));
      return;
    }
    if (tokens_.peek().is(".alias")) return alias();
    if (tokens_.accept(".address_size")) {
      const Token& t = tokens_.take();
      if (t.text == "32") {
        tokens_.faults().add_unsupported(t.place(), "only '.address_size 64' is modelled");
        module_.malformed = true;
      } else if (t.text != "64") {
        tokens_.fail(t, "an address has 64 bits, or 32");
      }
      return;
    }
    Linkage linkage = Linkage::internal;
    while (tokens_.peek().is(".visible") || tokens_.peek().is(".extern") || tokens_.peek().is(".weak") ||
           tokens_.peek().is(".common")) {
      const Token& t = tokens_.take();
      linkage = t.is(".visible")  ? Linkage::visible
                : t.is(".extern") ? Linkage::external
                : t.is(".weak")   ? Linkage::weak
                                  : Linkage::common;
      is_extern |= linkage == Linkage::external;
    }
    if (tokens_.peek().is(".entry") || tokens_.peek().is(".func")) return function(is_extern, linkage);
    if (!variables_.at_variable()) {
      const Token& t = tokens_.peek();
      tokens_.fail(t, "expected a declaration, found " + quoted(t.text),
                   suggestion(t.text, top_level_words()));
    }
    for (VariableDecl& v : variables_.variable_list(is_extern)) {
      v.linkage = linkage;
      const auto [entry, fresh] =
          module_.variable_index.emplace(v.name, static_cast<int>(module_.variables.size()));
      if (fresh) {
        module_.variables.push_back(std::move(v));
      } else {
        VariableDecl& old = module_.variables[static_cast<std::size_t>(entry->second)];
        if (!old.is_extern && !v.is_extern)
          tokens_.fail(tokens_.previous(), "variable " + quoted(v.name) + " is defined twice");
        if (old.is_extern) old = std::move(v);
      }
    }
  }

  void function(bool is_extern, Linkage linkage) {
    auto f = std::make_unique<FunctionDecl>();
    f->linkage = linkage;
    f->is_entry = tokens_.take().is(".entry");
    f->scopes.emplace_back();
    if (!f->is_entry) variables_.attributes();
    function_directives(*f);
    if (!f->is_entry && tokens_.peek().is('(')) formals(*f, f->results);
    const Token name = tokens_.expect_word("the name of the function");
    f->name = std::string(name.text);
    f->place = name.place();
    if (tokens_.peek().is('(')) formals(*f, f->parameters);
    function_directives(*f);
    if (!tokens_.accept(';')) {
      if (!tokens_.peek().is('{'))
        tokens_.fail(tokens_.peek(), "expected '{' or ';' after the signature of " + quoted(f->name));
      if (is_extern) tokens_.faults().add(f->place, "an '.extern' function has no body");
      f->has_body = true;
      body(*f);
    }
    declare_function(std::move(f));
  }

  /// `.alias b, a;`: function b, which has no body, is function a.
  void alias() {
    module_.dated.push_back(tokens_.take());
    const Token name = tokens_.expect_word("the name of a function");
    tokens_.expect(',', "between the names");
    const Token meant = tokens_.expect_word("the name of the function that is meant");
    tokens_.expect(';', "after the alias");
    const auto function = [this](const Token& t) {
      const auto found = module_.function_index.find(t.text);
      if (found == module_.function_index.end())
        tokens_.fail(t, "function " + quoted(t.text) + " is not declared");
      return found;
    };
    const auto from = function(name), to = function(meant);
    const FunctionDecl& old = *module_.functions[static_cast<std::size_t>(from->second)];
    const FunctionDecl& f = *module_.functions[static_cast<std::size_t>(to->second)];
    if (old.name != name.text) tokens_.fail(name, quoted(name.text) + " is an alias already");
    if (old.has_body) tokens_.fail(name, quoted(name.text) + " has a body, and cannot be an alias");
    if (old.is_entry || f.is_entry) tokens_.fail(meant, "a kernel entry has no alias");
    if (sizes(old, old.parameters) != sizes(f, f.parameters) ||
        sizes(old, old.results) != sizes(f, f.results))
      tokens_.fail(name,
                   quoted(name.text) + " was declared with other parameters than " + quoted(meant.text));
    from->second = to->second;
  }

  static std::vector<std::uint64_t> sizes(const FunctionDecl& f, const std::vector<int>& formals) {
    std::vector<std::uint64_t> out;
    for (const int v : formals) out.push_back(f.variables[static_cast<std::size_t>(v)].bytes);
    return out;
  }

  void formals(FunctionDecl& f, std::vector<int>& list) {
    tokens_.expect('(', "before the parameters");
    if (tokens_.accept(')')) return;
    do {
      Formal formal = variables_.formal(f.is_entry);
      VariableDecl& v = formal.variable;
      if (!v.unsupported.empty()) f.unsupported.push_back({v.place, v.unsupported});
      if (formal.in_register) f.scopes[0].registers.emplace(v.name, *formal.in_register);
      if (v.name != "_" && f.scopes[0].variables.count(v.name) != 0)
        tokens_.faults().add(v.place, "parameter " + quoted(v.name) + " is declared twice");
      list.push_back(static_cast<int>(f.variables.size()));
      declare_local(f, 0, std::move(v));
    } while (tokens_.accept(','));
    tokens_.expect(')', "after the parameters");
  }

  void function_directives(FunctionDecl& f) {
    while (tokens_.peek().kind == TokenKind::dotted) {
      const Token directive = tokens_.take();
      if (!f.is_entry && is_entry_directive(directive))
        tokens_.fail(directive, quoted(directive.text) + " belongs to a kernel entry");
      if (directive.is(".reqntid") || directive.is(".maxntid")) {
        (directive.is(".reqntid") ? f.required_block : f.maximum_block) = extents();
        if (f.required_block && f.maximum_block)
          tokens_.faults().add(directive.place(), "'.reqntid' does not go with '.maxntid'");
      } else if (directive.is(".maxnreg") || directive.is(".minnctapersm")) {
        // Advice to the assembler's register allocator, of which kernels see what setmaxnreg begins with.
        std::uint64_t& number = directive.is(".maxnreg") ? f.maximum_registers : f.resident_ctas;
        number = tokens_.count();
        if (number == 0) tokens_.fail(directive, quoted(directive.text) + " takes a number from 1 on");
      } else if (!f.is_entry && is_abi_directive(directive)) {
        abi_directive(directive);
      } else if (directive.is(".pragma")) {
        if (tokens_.take().kind != TokenKind::text)
          tokens_.fail(directive, "expected a string after '.pragma'");
        tokens_.accept(';');
      } else if (is_cluster_directive(directive)) {
        f.cluster_directives.push_back(directive);
        if (directive.is(".maxclusterrank")) f.maximum_cluster = cluster_extent();
        if (directive.is(".reqnctapercluster")) f.required_cluster = cluster_extents();
        if (directive.is(".explicitcluster")) f.explicit_cluster = true;
        if (directive.is(".blocksareclusters")) f.blocks_are_clusters = true;
      } else if (directive.is(".maxnctapersm")) {
        tokens_.faults().add_unsupported(directive.place(),
                                         "directive '.maxnctapersm' is not modelled: '.minnctapersm' is");
        static_cast<void>(tokens_.count());
        module_.malformed = true;
      } else if (f.is_entry || !directive.is(".noreturn")) {
        tokens_.fail(directive, "directive " + quoted(directive.text) + " is not supported on a function");
      }
    }
  }

  /// How many registers a function leaves as they are: advice to the assembler, nothing to model.
  static bool is_abi_directive(const Token& t) {
    return t.is(".abi_preserve") || t.is(".abi_preserve_control");
  }
  void abi_directive(const Token& t) {
    module_.dated.push_back(t);
    tokens_.count();
  }

  /// PTX ISA, "Cluster Dimension Directives".
  static bool is_cluster_directive(const Token& t) {
    return t.is(".reqnctapercluster") || t.is(".explicitcluster") || t.is(".maxclusterrank") ||
           t.is(".blocksareclusters");
  }

  static bool is_entry_directive(const Token& t) {
    return t.is(".reqntid") || t.is(".maxntid") || t.is(".maxnreg") || t.is(".minnctapersm") ||
           is_cluster_directive(t);
  }

  /// The assembler takes any number of 32 bits, 0 too.
  std::uint32_t cluster_extent() {
    const Token& at = tokens_.peek();
    const std::uint64_t extent = tokens_.count();
    if (extent > 0xFFFFFFFF) tokens_.fail(at, "expected a number of 32 bits");
    return static_cast<std::uint32_t>(extent);
  }
  /// Up to three.
  Dim3 cluster_extents() {
    std::array<std::uint32_t, 3> n = {cluster_extent(), 1, 1};
    for (unsigned i = 1; i < 3 && tokens_.accept(','); ++i) n.at(i) = cluster_extent();
    return {n[0], n[1], n[2]};
  }

  Dim3 extents() {
    std::array<std::uint32_t, 3> n = {1, 1, 1};
    for (std::uint32_t& extent : n) {
      const Token& at = tokens_.peek();
      const std::uint64_t value = tokens_.count();
      if (value == 0 || value > 0x7FFFFFFF) tokens_.fail(at, "expected an extent from 1 to 2147483647");
      extent = static_cast<std::uint32_t>(value);
      if (!tokens_.accept(',')) break;
    }
    return {n[0], n[1], n[2]};
  }

  void declare_function(std::unique_ptr<FunctionDecl> f) {
    const auto [entry, fresh] =
        module_.function_index.emplace(f->name, static_cast<int>(module_.functions.size()));
    if (fresh) {
      module_.functions.push_back(std::move(f));
      return;
    }
    std::unique_ptr<FunctionDecl>& old = module_.functions[static_cast<std::size_t>(entry->second)];
    if (old->has_body && f->has_body)
      tokens_.faults().add(f->place, "function " + quoted(f->name) + " is defined twice");
    if (old->parameters.size() != f->parameters.size() || old->results.size() != f->results.size())
      tokens_.faults().add(f->place, "function " + quoted(f->name) + " was declared with other parameters");
    if (f->has_body && !old->has_body) {
      // A declaration before it may have said who sees the function.
      if (f->linkage == Linkage::internal && old->linkage != Linkage::external) f->linkage = old->linkage;
      old = std::move(f);
    }
  }

  void declare_local(FunctionDecl& f, int scope, VariableDecl v) {
    const int index = static_cast<int>(f.variables.size());
    const auto [entry, fresh] = f.scopes[static_cast<std::size_t>(scope)].variables.emplace(v.name, index);
    if (!fresh && v.name != "_" && f.has_body)
      tokens_.faults().add(v.place, "variable " + quoted(v.name) + " is defined twice");
    f.variables.push_back(std::move(v));
  }

  void body(FunctionDecl& f) {
    tokens_.expect('{', "before the body");
    block(f, 0, 0);
  }

  void block(FunctionDecl& f, int scope, unsigned depth) {
    if (depth > Limits::kDepth) tokens_.fail(tokens_.previous(), "these braces are nested too deeply");
    while (!tokens_.peek().is('}')) {
      if (tokens_.peek().kind == TokenKind::end || tokens_.faults().full())
        tokens_.fail(tokens_.peek(), "the body of " + quoted(f.name) + " has no end");
      if (tokens_.accept('{')) {
        f.scopes.emplace_back();
        f.scopes.back().parent = scope;
        block(f, static_cast<int>(f.scopes.size()) - 1, depth + 1);
        continue;
      }
      try {
        block_item(f, scope);
      } catch (const SyntaxError&) {
        tokens_.skip_statement();
      }
    }
    tokens_.take();
  }

  void block_item(FunctionDecl& f, int scope) {
    const Token& t = tokens_.peek();
    if (tokens_.accept(';') || debug_directive()) return;
    if (t.is(".reg")) return variables_.registers(f.scopes[static_cast<std::size_t>(scope)]);
    if (variables_.at_variable() || t.is(".extern")) {
      const bool is_extern = tokens_.accept(".extern");
      const Space global_space = Space::global;
      for (VariableDecl& v : variables_.variable_list(is_extern)) {
        if (v.is_reference) tokens_.fail(v.place, "a reference is declared outside of functions");
        if ((v.space == global_space || v.space == Space::constant) && v.unsupported.empty())
          v.unsupported =
              "variables in .global and .const inside a function are not modelled in this version";
        declare_local(f, scope, std::move(v));
      }
      return;
    }
    if (t.kind == TokenKind::word && tokens_.peek(1).is(':')) return label(f, scope);
    f.statements.push_back(statements_.statement(scope, f.unsupported));
  }

  void label(FunctionDecl& f, int scope) {
    const Token name = tokens_.take();
    tokens_.take();
    if (tokens_.peek().is(".callprototype")) return prototype(f, name);
    if (tokens_.accept(".branchtargets"))
      return f.target_lists.insert_or_assign(std::string(name.text), targets(name, "a label")), void();
    if (tokens_.accept(".calltargets"))
      return f.call_targets.insert_or_assign(std::string(name.text), targets(name, "the name of a function")),
             void();
    const LabelDecl here{static_cast<std::uint32_t>(f.statements.size()), name.place(), scope};
    if (const LabelDecl* old = f.find_label(name.text, scope); old != nullptr && old->scope == scope)
      tokens_.faults().add(name.place(), "label " + quoted(name.text) + " is defined twice");
    f.labels.emplace(std::string(name.text), here);
  }

  /// The names that follow `.branchtargets` or `.calltargets`.
  TargetList targets(const Token& name, const char* what) {
    TargetList list;
    list.place = name.place();
    do {
      const Token& target = tokens_.expect_word(what);
      list.labels.emplace_back(std::string(target.text), target.place());
    } while (tokens_.accept(','));
    tokens_.expect(';', "after the list");
    return list;
  }

  void prototype(FunctionDecl& f, const Token& name) {
    tokens_.take();
    Prototype p;
    p.place = name.place();
    if (tokens_.peek().is('(')) p.results = prototype_list(f);
    tokens_.expect_word("'_' in a prototype");
    if (tokens_.peek().is('(')) p.parameters = prototype_list(f);
    while (tokens_.peek().is(".noreturn") || is_abi_directive(tokens_.peek())) {
      const Token t = tokens_.take();
      if (is_abi_directive(t)) abi_directive(t);
    }
    tokens_.expect(';', "after the prototype");
    f.prototypes.emplace(std::string(name.text), std::move(p));
  }

  std::vector<std::uint64_t> prototype_list(FunctionDecl& f) {
    std::vector<std::uint64_t> sizes;
    tokens_.expect('(', "before the parameters of a prototype");
    if (tokens_.accept(')')) return sizes;
    do {
      const VariableDecl v = variables_.formal(false).variable;
      if (!v.unsupported.empty()) f.unsupported.push_back({v.place, v.unsupported});
      sizes.push_back(v.bytes);
    } while (tokens_.accept(','));
    tokens_.expect(')', "after the parameters of a prototype");
    return sizes;
  }

  bool debug_directive() {
    if (tokens_.accept(".file") || tokens_.accept(".loc")) {
      while (tokens_.peek().kind == TokenKind::number || tokens_.peek().kind == TokenKind::text ||
             tokens_.peek().is(',') || tokens_.peek().is('+') || tokens_.peek().is("function_name") ||
             tokens_.peek().is("inlined_at") ||
             (tokens_.peek().kind == TokenKind::word && tokens_.previous().is("function_name")))
        tokens_.take();
      tokens_.accept(';');
      return true;
    }
    if (tokens_.accept(".section")) {
      while (!tokens_.peek().is('{') && tokens_.peek().kind != TokenKind::end) tokens_.take();
      tokens_.skip_braces();
      return true;
    }
    if (tokens_.accept(".pragma")) {
      do {
        if (tokens_.take().kind != TokenKind::text)
          tokens_.fail(tokens_.previous(), "expected a string after '.pragma'");
      } while (tokens_.accept(','));
      tokens_.expect(';', "after '.pragma'");
      return true;
    }
    return false;
  }

  ModuleDecl module_;
  TokenStream tokens_;
  VariableReader variables_;
  StatementReader statements_;
};

}  // namespace

ModuleDecl parse_module(std::string_view text, FaultList& faults, OpcodeCheck check, std::uint32_t start) {
  if (text.size() - start > Limits::kTextBytes) {
    faults.add({start, 1}, "the text is larger than " + std::to_string(Limits::kTextBytes >> 20) + " MiB");
    return {};
  }
  return Parser(tokenize(text, faults, start), faults, check).module();
}

void spread_unsupported(ModuleDecl& module) {
  for (bool again = true; again;) {
    again = false;
    for (VariableDecl& v : module.variables) {
      if (!v.unsupported.empty()) continue;
      for (const Relocation& r : v.relocations) {
        const auto found = module.variable_index.find(r.symbol);
        if (found == module.variable_index.end()) continue;
        const VariableDecl& t = module.variables[static_cast<std::size_t>(found->second)];
        if (t.unsupported.empty() && !t.is_extern) continue;
        v.unsupported = "it starts with the address of " + quoted(r.symbol) +
                        (t.is_extern ? ", which is '.extern' and defined nowhere in this module"
                                     : ", of which holds: " + t.unsupported);
        again = true;
        break;
      }
    }
  }
}

std::optional<Statement> parse_statement(std::string_view text, FaultList& faults) {
  return Parser(tokenize(text, faults), faults, nullptr).lone_statement();
}

}  // namespace warpline::ptx
