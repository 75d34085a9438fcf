#include "platform/programs/wls/instruction_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "platform/programs/wls/lower.h"
#include "rtl_models/isa/qualifiers.h"
#include "rtl_models/isa/sass_cctl_text.h"
#include "rtl_models/isa/sass_words.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::wls {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

bool begins_statement(const Token& t) {
  return t.kind == TokenKind::word || t.kind == TokenKind::directive || t.is('@');
}

/// The widths that programs write, among those of SASS.
constexpr std::string_view kSizes[] = {"U8", "S8", "8", "U16", "S16", "16", "32", "64", "128"};

}  // namespace

void InstructionReader::guard(Op& op) {
  if (!tokens_.take('@')) return;
  op.unless = tokens_.take('!');
  op.predicate = predicate_register(false);
}

void InstructionReader::instruction() {
  const std::size_t start = tokens_.taken();
  Statement s;
  guard(s.op);
  const Token word = tokens_.peek();
  if (word.kind != TokenKind::word)
    tokens_.fail(word.place(), "an instruction, a label or a directive is expected here");
  const std::string_view name = word.text.substr(0, word.text.find('.'));
  if (name == "CCTL" || name == "CCTLL") {
    tokens_.go_to(start);
    return cache_control();
  }
  tokens_.take();
  Modifiers modifiers;
  for (std::size_t at = name.size(); at < word.text.size();) {
    const std::size_t end = std::min(word.text.find('.', at + 1), word.text.size());
    Token m = word;
    m.text = word.text.substr(at, end - at);
    m.offset = word.offset + static_cast<std::uint32_t>(at);
    modifiers.push_back(m);
    at = end;
  }
  const auto& all = opcodes();
  const auto opcode = std::find_if(all.begin(), all.end(), [&](const Opcode& o) { return o.name == name; });
  if (opcode == all.end()) {
    std::vector<std::string> names = {"CCTL", "CCTLL"};
    for (const Opcode& o : all) names.emplace_back(o.name);
    tokens_.fail({word.offset, static_cast<std::uint32_t>(name.size())},
                 text::quoted(name) + " is no instruction that is known",
                 text::suggestion(upper(name), names));
  }
  (this->*opcode->read)(s, modifiers, opcode->form);
  if (!modifiers.empty())
    tokens_.fail(modifiers.front().place(),
                 text::quoted(name) + " takes no " + text::quoted(modifiers.front().text) + " here");
  controls(s);
  tokens_.expect(';', "at the end of an instruction");
  append(s, word.place());
}

/// CCTL and CCTLL have a parser of their own, which gets the statement's text.
void InstructionReader::cache_control() {
  const Token first = tokens_.peek();
  do tokens_.take();
  while (!tokens_.peek().is(';') && !(tokens_.peek().first_on_line && begins_statement(tokens_.peek())) &&
         tokens_.peek().kind != TokenKind::end);
  tokens_.expect(';', "at the end of an instruction");
  const std::uint32_t end = tokens_.previous().offset + 1;
  const auto parsed = parse_cctl(std::string_view(plain_).substr(first.offset, end - first.offset));
  if (!parsed.ok()) {
    const Diagnostic& d = parsed.faults().front();
    tokens_.fail({first.offset + d.column - 1, d.length}, d.message, d.hint);
  }
  const Cctl& c = parsed.value();
  Statement s;
  s.op.cctl = c;
  s.op.predicate = c.predicate;
  s.op.unless = c.unless;
  s.op.a = c.address_register;
  s.op.extended = c.extended;
  s.instruction.required = c.required;
  s.instruction.wait = c.wait;
  s.instruction.read_counter = c.read_scoreboard;
  const CctlTarget target = target_of(c);
  switch (target) {
    case CctlTarget::call_return_stack: s.op.code = Code::flush_stack; break;
    case CctlTarget::constants: s.op.code = Code::invalidate_constants; break;
    case CctlTarget::instructions: s.op.code = Code::invalidate_instructions; break;
    default: s.op.code = Code::cache_control;
  }
  s.mem.kind = MemKind::cache_control;
  s.mem.space = c.local ? Space::local : Space::generic;
  s.mem.cache_operation = c.operation;
  s.mem.cache_target = target;
  note_address_register(s.op);
  append(s, first.place());
}

/// `&req=0xNN`, `&rd=N`, `&wr=N` and `?WAITn`, each once, in any order.
void InstructionReader::controls(Statement& s) {
  Instruction& i = s.instruction;
  bool required = false, read = false, write = false, waits = false;
  const auto once = [this](bool& seen, const Token& name) {
    if (seen) tokens_.fail(name.place(), text::quoted(name.text) + " stands here a second time");
    seen = true;
  };
  for (;;) {
    if (tokens_.take('?')) {
      const Token name = tokens_.take();
      once(waits, name);
      unsigned n = 0;
      for (const char c :
           name.text.substr(0, 4) == "WAIT" && name.text.size() <= 6 ? name.text.substr(4) : "x")
        n = c >= '0' && c <= '9' ? n * 10 + static_cast<unsigned>(c - '0') : 99;
      if (n == 0 || n > Cctl::kLongestWait)
        tokens_.fail(name.place(), "a schedule is written ?WAIT1 to ?WAIT15");
      i.wait = static_cast<std::uint8_t>(n);
      continue;
    }
    if (!tokens_.take('&')) return;
    const Token name = tokens_.take();
    const auto counter = [&] {
      tokens_.expect('=', "behind the name of a scoreboard");
      return static_cast<std::uint8_t>(tokens_.whole("a scoreboard", 0, DependenceCounters::kCounters - 1));
    };
    if (name.text == "req") {
      once(required, name);
      tokens_.expect('=', "behind &req");
      i.required =
          static_cast<std::uint8_t>(tokens_.whole("&req", 0, (1U << DependenceCounters::kCounters) - 1));
    } else if (name.text == "rd") {
      once(read, name);
      if (!s.takes_read)
        tokens_.fail(name.place(),
                     "&rd belongs to loads, stores and cache control: they read their operands late");
      i.read_counter = counter();
    } else if (name.text == "wr") {
      once(write, name);
      if (!s.takes_write) tokens_.fail(name.place(), "&wr belongs to loads: their results come late");
      i.write_counter = counter();
    } else {
      tokens_.fail(name.place(), text::quoted(name.text) + " is no scoreboard field",
                   text::suggestion(name.text, {"req", "rd", "wr"}));
    }
  }
}

const std::vector<InstructionReader::Opcode>& InstructionReader::opcodes() {
  constexpr auto form = [](Code code) { return static_cast<int>(code); };
  static const std::vector<Opcode> kOpcodes = {
      {"NOP", &InstructionReader::read_plain, form(Code::nop)},
      {"RET", &InstructionReader::read_plain, form(Code::ret)},
      {"EXIT", &InstructionReader::read_plain, form(Code::exit)},
      {"MOV", &InstructionReader::read_move},
      {"IADD", &InstructionReader::read_binary, form(Code::add)},
      {"SHL", &InstructionReader::read_binary, form(Code::shift_left)},
      {"SHR", &InstructionReader::read_binary, form(Code::shift_right)},
      {"IMAD", &InstructionReader::read_multiply},
      {"LOP", &InstructionReader::read_logic},
      {"ISETP", &InstructionReader::read_compare},
      {"S2R", &InstructionReader::read_special},
      {"BRA", &InstructionReader::read_jump, form(Code::branch)},
      {"CAL", &InstructionReader::read_jump, form(Code::call)},
      {"BAR", &InstructionReader::read_barrier},
      {"MEMBAR", &InstructionReader::read_fence},
      {"SETCRSPTR", &InstructionReader::read_stack, form(Code::set_stack)},
      {"GETCRSPTR", &InstructionReader::read_stack, form(Code::get_stack)},
      {"LD", &InstructionReader::read_load, static_cast<int>(Space::generic)},
      {"LDG", &InstructionReader::read_load, static_cast<int>(Space::global)},
      {"LDL", &InstructionReader::read_load, static_cast<int>(Space::local)},
      {"LDC", &InstructionReader::read_constant},
      {"ST", &InstructionReader::read_store, static_cast<int>(Space::generic)},
      {"STG", &InstructionReader::read_store, static_cast<int>(Space::global)},
      {"STL", &InstructionReader::read_store, static_cast<int>(Space::local)},
  };
  return kOpcodes;
}

bool InstructionReader::take_modifier(Modifiers& m, std::string_view name) {
  const auto found = std::find_if(m.begin(), m.end(), [name](const Token& t) { return t.text == name; });
  if (found == m.end()) return false;
  m.erase(found);
  return true;
}

void InstructionReader::read_plain(Statement& s, Modifiers&, int form) {
  s.op.code = static_cast<Code>(form);
}

void InstructionReader::read_move(Statement& s, Modifiers&, int) {
  s.op.code = Code::move;
  s.op.d = data_register("the destination");
  comma();
  s.op.b = operand();
}

void InstructionReader::read_binary(Statement& s, Modifiers& m, int form) {
  s.op.code = static_cast<Code>(form);
  if (s.op.code == Code::shift_right) s.op.is_unsigned = take_modifier(m, ".U32");
  s.op.d = data_register("the destination");
  comma();
  s.op.a = data_register("the first operand");
  comma();
  s.op.b = operand();
}

void InstructionReader::read_multiply(Statement& s, Modifiers& m, int) {
  const bool wide = take_modifier(m, ".WIDE");
  s.op.code = wide ? Code::multiply_wide : Code::multiply_add;
  if (wide) s.op.is_unsigned = take_modifier(m, ".U32");
  s.op.d = data_register("the destination", wide ? 2 : 1);
  comma();
  s.op.a = data_register("the first factor");
  comma();
  s.op.b = operand();
  comma();
  s.op.c = data_register("what is added", wide ? 2 : 1);
}

void InstructionReader::read_logic(Statement& s, Modifiers& m, int) {
  const Token at = tokens_.previous();
  if (take_modifier(m, ".AND")) {
    s.op.code = Code::logic_and;
  } else if (take_modifier(m, ".OR")) {
    s.op.code = Code::logic_or;
  } else if (take_modifier(m, ".XOR")) {
    s.op.code = Code::logic_xor;
  } else {
    tokens_.fail(at.place(), "'LOP' needs an operation", "LOP.AND, LOP.OR or LOP.XOR");
  }
  s.op.d = data_register("the destination");
  comma();
  s.op.a = data_register("the first operand");
  comma();
  s.op.b = operand();
}

void InstructionReader::read_compare(Statement& s, Modifiers& m, int) {
  constexpr std::string_view kNames[] = {".EQ", ".NE", ".LT", ".LE", ".GT", ".GE"};
  const Token at = tokens_.previous();
  s.op.code = Code::compare;
  bool found = false;
  for (unsigned n = 0; n < std::size(kNames) && !found; ++n) {
    found = take_modifier(m, kNames[n]);
    s.op.comparison = static_cast<Comparison>(n);
  }
  if (!found) tokens_.fail(at.place(), "'ISETP' needs a comparison", ".EQ, .NE, .LT, .LE, .GT or .GE");
  s.op.is_unsigned = take_modifier(m, ".U32");
  s.op.d = predicate_register(true);
  comma();
  s.op.a = data_register("the first operand");
  comma();
  s.op.b = operand();
}

void InstructionReader::read_special(Statement& s, Modifiers&, int) {
  static const std::vector<std::string> kNames = {
      "SR_TID.X",  "SR_TID.Y",  "SR_TID.Z",       "SR_CTAID.X",  "SR_CTAID.Y",  "SR_CTAID.Z",
      "SR_NTID.X", "SR_NTID.Y", "SR_NTID.Z",      "SR_NCTAID.X", "SR_NCTAID.Y", "SR_NCTAID.Z",
      "SR_LANEID", "SR_WARPID", "SR_VIRTUALSMID", "SR_CLOCKLO"};
  s.op.code = Code::special;
  s.op.d = data_register("the destination");
  comma();
  const Token name = tokens_.take();
  const auto found = std::find(kNames.begin(), kNames.end(), name.text);
  if (found == kNames.end()) {
    std::string hint = text::suggestion(name.text, kNames);
    if (hint.empty())
      for (const std::string& n : kNames) hint += (hint.empty() ? "there are " : ", ") + n;
    tokens_.fail(name.place(), text::quoted(name.text) + " is no special register", hint);
  }
  s.op.special = static_cast<Special>(found - kNames.begin());
}

void InstructionReader::read_jump(Statement& s, Modifiers&, int form) {
  s.op.code = static_cast<Code>(form);
  const Token name = tokens_.take();
  if (name.kind != TokenKind::word) tokens_.fail(name.place(), "expected a label");
  draft_.jumps.push_back({draft_.program.ops.size(), name});
}

void InstructionReader::read_barrier(Statement& s, Modifiers& m, int) {
  const Token at = tokens_.previous();
  if (!take_modifier(m, ".SYNC")) tokens_.fail(at.place(), "'BAR' needs '.SYNC'");
  s.op.code = Code::barrier;
  if (tokens_.peek().kind == TokenKind::number)
    s.op.b.constant = static_cast<std::uint32_t>(tokens_.whole("a barrier's number", 0, 15));
}

void InstructionReader::read_fence(Statement& s, Modifiers& m, int) {
  const Token at = tokens_.previous();
  s.op.code = Code::fence;
  s.mem.kind = MemKind::fence;
  s.mem.semantics = Semantics::sc;
  for (const std::string_view level : {".CTA", ".GL", ".SYS"})
    if (s.mem.scope == Scope::none && take_modifier(m, level))
      s.mem.scope = *find_sass(kSassScopes, level.substr(1));
  if (s.mem.scope == Scope::none) tokens_.fail(at.place(), "'MEMBAR' needs a scope", ".CTA, .GL or .SYS");
}

void InstructionReader::read_stack(Statement& s, Modifiers&, int form) {
  s.op.code = static_cast<Code>(form);
  if (s.op.code == Code::set_stack) {
    s.op.b = operand();
  } else {
    s.op.d = data_register("the destination");
  }
}

/// `{.E}{.cache}{.size}`; PTX ISA, "Cache Operators", says what each cache operator is for.
void InstructionReader::memory_modifiers(Statement& s, Modifiers& m, bool store) {
  MemOp& mem = s.mem;
  if (mem.space != Space::local && mem.space != Space::constant) s.op.extended = take_modifier(m, ".E");
  std::vector<std::string> names;
  for (const std::string_view size : kSizes) {
    const std::string modifier = "." + std::string(size);
    names.push_back(modifier);
    if (mem.type != DataType::none || !take_modifier(m, modifier)) continue;
    const SassWidth& width = *find_sass(kSassWidths, size);
    mem.type = width.type;
    mem.vector = width.vector;
  }
  if (mem.type == DataType::none) mem.type = DataType::b32;
  for (const auto& [word, value] : kSassCacheOperators) {
    if (store ? !is_of_stores(value) : !is_of_loads(value)) continue;
    const std::string modifier = "." + std::string(word);
    names.push_back(modifier);
    if (mem.space != Space::constant && mem.cache_operator == CacheOperator::none &&
        take_modifier(m, modifier))
      mem.cache_operator = value;
  }
  if (m.empty()) return;
  tokens_.fail(m.front().place(),
               text::quoted(m.front().text) + " is no modifier of this instruction, or one too many",
               text::suggestion(m.front().text, names));
}

void InstructionReader::read_load(Statement& s, Modifiers& m, int form) {
  s.op.code = Code::load;
  s.mem.kind = MemKind::load;
  s.mem.space = static_cast<Space>(form);
  s.takes_read = s.takes_write = true;
  memory_modifiers(s, m, false);
  s.op.d = data_register("the destination", words_of(s.mem));
  comma();
  address(s.op);
}

void InstructionReader::read_store(Statement& s, Modifiers& m, int form) {
  s.op.code = Code::store;
  s.mem.kind = MemKind::store;
  s.mem.space = static_cast<Space>(form);
  s.takes_read = true;
  memory_modifiers(s, m, true);
  address(s.op);
  comma();
  s.op.d = data_register("what is stored", words_of(s.mem));
}

void InstructionReader::read_constant(Statement& s, Modifiers& m, int) {
  s.op.code = Code::load;
  s.mem.kind = MemKind::load;
  s.mem.space = Space::constant;
  s.takes_read = s.takes_write = true;
  memory_modifiers(s, m, false);
  s.op.d = data_register("the destination", words_of(s.mem));
  comma();
  constant_address(s.op);
}

/// A register that holds data, of which `words` in a row are meant.
std::uint8_t InstructionReader::data_register(const char* what, unsigned words) {
  const Token t = tokens_.peek();
  const auto reg = register_named(t.text);
  if (t.kind != TokenKind::word || !reg)
    tokens_.fail(t.place(), std::string("expected ") + what + ", a register", "R0 to R254, or RZ");
  tokens_.take();
  if (*reg == kZero) return kZero;
  if (*reg + words > kMostRegisters)
    tokens_.fail(t.place(),
                 std::to_string(words) + " registers from " + std::string(t.text) + " on go beyond R254");
  draft_.note_register(*reg + words - 1, t.place());
  return *reg;
}

/// The upper half of an address in R254 is RZ, which is no register of the thread.
void InstructionReader::note_address_register(const Op& op) {
  if (op.a == kZero) return;
  draft_.highest = std::max(draft_.highest, std::min(op.a + (op.extended ? 2U : 1U), kMostRegisters));
}

std::uint8_t InstructionReader::predicate_register(bool destination) {
  const Token t = tokens_.take();
  if (t.text == "PT") return kAlways;
  if (t.kind == TokenKind::word && t.text.size() == 2 && t.text[0] == 'P' && t.text[1] >= '0' &&
      t.text[1] <= '6')
    return static_cast<std::uint8_t>(t.text[1] - '0');
  tokens_.fail(t.place(), text::quoted(t.text) + " is no predicate",
               destination ? "P0 to P6, or PT for none" : "P0 to P6, or PT");
}

/// A register, a number, or the half of an address: NAME.lo, NAME.hi.
Operand InstructionReader::operand() {
  Operand o;
  const Token t = tokens_.peek();
  if (t.kind != TokenKind::word) {
    if (t.kind != TokenKind::number && !t.is('-') && !t.is('+'))
      tokens_.fail(t.place(), "expected a register, a number, or NAME.lo or NAME.hi");
    o.constant = tokens_.signed_number();
    return o;
  }
  if (register_named(t.text)) {
    o.is_register = true;
    o.reg = data_register("an operand");
    return o;
  }
  tokens_.take();
  const std::size_t dot = std::min(t.text.find('.'), t.text.size());
  const std::string_view half = t.text.substr(dot);
  if (half != ".lo" && half != ".hi")
    tokens_.fail(t.place(), text::quoted(t.text) + " is neither a register nor half of an address",
                 "R0 to R254, RZ, or NAME.lo and NAME.hi of a variable");
  o.high = half == ".hi";
  Token name = t;
  name.text = t.text.substr(0, dot);
  draft_.symbols.push_back({draft_.program.ops.size(), name});
  return o;
}

/// `[Ra + imm]`, `[Ra]`, `[imm]`.
void InstructionReader::address(Op& op) {
  tokens_.expect('[', "before an address");
  const Token t = tokens_.peek();
  const auto reg = register_named(t.text);
  if (t.kind == TokenKind::word) {
    if (!reg) tokens_.fail(t.place(), "expected an address register or a number", "[R2 + 4], [R2] or [0x40]");
    tokens_.take();
    op.a = *reg;
    note_address_register(op);
    if (tokens_.peek().is('+') || tokens_.peek().is('-')) op.b.constant = tokens_.offset();
  } else {
    if (t.is('-')) tokens_.fail(t.place(), "an absolute address is unsigned");
    op.b.constant = tokens_.number();
  }
  tokens_.expect(']', "behind an address");
}

/// `c[slot][Ra + imm]`, or by name `c[NAME]` and `c[NAME][Ra + imm]`.
void InstructionReader::constant_address(Op& op) {
  const Token c = tokens_.take();
  if (c.text != "c") tokens_.fail(c.place(), "expected a constant address", "c[slot][Ra + imm] or c[NAME]");
  tokens_.expect('[', "before a constant slot");
  if (tokens_.peek().kind == TokenKind::word) {
    draft_.symbols.push_back({draft_.program.ops.size(), tokens_.take()});
    tokens_.expect(']', "behind the name of a constant");
    if (tokens_.peek().is('[')) address(op);
    return;
  }
  const auto slot = tokens_.whole("a constant slot", 0, ConstantBanks::kBanks - 1);
  tokens_.expect(']', "behind a constant slot");
  address(op);
  op.b.constant += static_cast<std::uint32_t>(ConstantBanks::address(static_cast<unsigned>(slot), 0));
}

void InstructionReader::comma() {
  tokens_.expect(',', "between operands");
}

void InstructionReader::append(const Statement& s, Place place) {
  draft_.append(s.op, s.instruction, s.mem, tokens_.faults().line_of(place.offset));
}

}  // namespace warpline::wls
