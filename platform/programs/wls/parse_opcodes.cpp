// One reader for each family of opcodes that compute or branch.
#include <algorithm>

#include "warpline/programs/wls/parser.h"

namespace warpline::wls {

const std::vector<Parser::Opcode>& Parser::opcodes() {
  constexpr auto form = [](Code code) { return static_cast<int>(code); };
  static const std::vector<Opcode> kOpcodes = {
      {"NOP", &Parser::read_plain, form(Code::nop)},
      {"RET", &Parser::read_plain, form(Code::ret)},
      {"EXIT", &Parser::read_plain, form(Code::exit)},
      {"MOV", &Parser::read_move},
      {"IADD", &Parser::read_binary, form(Code::add)},
      {"SHL", &Parser::read_binary, form(Code::shift_left)},
      {"SHR", &Parser::read_binary, form(Code::shift_right)},
      {"IMAD", &Parser::read_multiply},
      {"LOP", &Parser::read_logic},
      {"ISETP", &Parser::read_compare},
      {"S2R", &Parser::read_special},
      {"BRA", &Parser::read_jump, form(Code::branch)},
      {"CAL", &Parser::read_jump, form(Code::call)},
      {"BAR", &Parser::read_barrier},
      {"MEMBAR", &Parser::read_fence},
      {"SETCRSPTR", &Parser::read_stack, form(Code::set_stack)},
      {"GETCRSPTR", &Parser::read_stack, form(Code::get_stack)},
      {"LD", &Parser::read_load, static_cast<int>(Space::generic)},
      {"LDG", &Parser::read_load, static_cast<int>(Space::global)},
      {"LDL", &Parser::read_load, static_cast<int>(Space::local)},
      {"LDC", &Parser::read_constant},
      {"ST", &Parser::read_store, static_cast<int>(Space::generic)},
      {"STG", &Parser::read_store, static_cast<int>(Space::global)},
      {"STL", &Parser::read_store, static_cast<int>(Space::local)},
  };
  return kOpcodes;
}

bool Parser::take_modifier(Modifiers& m, std::string_view name) {
  const auto found = std::find_if(m.begin(), m.end(), [name](const Token& t) { return t.text == name; });
  if (found == m.end()) return false;
  m.erase(found);
  return true;
}

void Parser::read_plain(Statement& s, Modifiers&, int form) {
  s.op.code = static_cast<Code>(form);
}

void Parser::read_move(Statement& s, Modifiers&, int) {
  s.op.code = Code::move;
  s.op.d = data_register("the destination");
  comma();
  s.op.b = operand();
}

void Parser::read_binary(Statement& s, Modifiers& m, int form) {
  s.op.code = static_cast<Code>(form);
  if (s.op.code == Code::shift_right) s.op.is_unsigned = take_modifier(m, ".U32");
  s.op.d = data_register("the destination");
  comma();
  s.op.a = data_register("the first operand");
  comma();
  s.op.b = operand();
}

void Parser::read_multiply(Statement& s, Modifiers& m, int) {
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

void Parser::read_logic(Statement& s, Modifiers& m, int) {
  const Token at = tokens_[at_ - 1];
  if (take_modifier(m, ".AND")) {
    s.op.code = Code::logic_and;
  } else if (take_modifier(m, ".OR")) {
    s.op.code = Code::logic_or;
  } else if (take_modifier(m, ".XOR")) {
    s.op.code = Code::logic_xor;
  } else {
    fail(at.place(), "'LOP' needs an operation", "LOP.AND, LOP.OR or LOP.XOR");
  }
  s.op.d = data_register("the destination");
  comma();
  s.op.a = data_register("the first operand");
  comma();
  s.op.b = operand();
}

void Parser::read_compare(Statement& s, Modifiers& m, int) {
  constexpr std::string_view kNames[] = {".EQ", ".NE", ".LT", ".LE", ".GT", ".GE"};
  const Token at = tokens_[at_ - 1];
  s.op.code = Code::compare;
  bool found = false;
  for (unsigned n = 0; n < std::size(kNames) && !found; ++n) {
    found = take_modifier(m, kNames[n]);
    s.op.comparison = static_cast<Comparison>(n);
  }
  if (!found) fail(at.place(), "'ISETP' needs a comparison", ".EQ, .NE, .LT, .LE, .GT or .GE");
  s.op.is_unsigned = take_modifier(m, ".U32");
  s.op.d = predicate_register(true);
  comma();
  s.op.a = data_register("the first operand");
  comma();
  s.op.b = operand();
}

void Parser::read_special(Statement& s, Modifiers&, int) {
  static const std::vector<std::string> kNames = {
      "SR_TID.X",  "SR_TID.Y",  "SR_TID.Z",       "SR_CTAID.X",  "SR_CTAID.Y",  "SR_CTAID.Z",
      "SR_NTID.X", "SR_NTID.Y", "SR_NTID.Z",      "SR_NCTAID.X", "SR_NCTAID.Y", "SR_NCTAID.Z",
      "SR_LANEID", "SR_WARPID", "SR_VIRTUALSMID", "SR_CLOCKLO"};
  s.op.code = Code::special;
  s.op.d = data_register("the destination");
  comma();
  const Token name = take();
  const auto found = std::find(kNames.begin(), kNames.end(), name.text);
  if (found == kNames.end()) {
    std::string hint = ptx::suggestion(name.text, kNames);
    if (hint.empty())
      for (const std::string& n : kNames) hint += (hint.empty() ? "there are " : ", ") + n;
    fail(name.place(), ptx::quoted(name.text) + " is no special register", hint);
  }
  s.op.special = static_cast<Special>(found - kNames.begin());
}

void Parser::read_jump(Statement& s, Modifiers&, int form) {
  s.op.code = static_cast<Code>(form);
  const Token name = take();
  if (name.kind != TokenKind::word) fail(name.place(), "expected a label");
  jumps_.push_back({program_.ops.size(), name});
}

void Parser::read_barrier(Statement& s, Modifiers& m, int) {
  const Token at = tokens_[at_ - 1];
  if (!take_modifier(m, ".SYNC")) fail(at.place(), "'BAR' needs '.SYNC'");
  s.op.code = Code::barrier;
  if (peek().kind == TokenKind::number)
    s.op.b.constant = static_cast<std::uint32_t>(whole("a barrier's number", 0, 15));
}

void Parser::read_fence(Statement& s, Modifiers& m, int) {
  const Token at = tokens_[at_ - 1];
  s.op.code = Code::fence;
  s.mem.kind = MemKind::fence;
  s.mem.semantics = Semantics::sc;
  if (take_modifier(m, ".CTA")) {
    s.mem.scope = Scope::cta;
  } else if (take_modifier(m, ".GL")) {
    s.mem.scope = Scope::gpu;
  } else if (take_modifier(m, ".SYS")) {
    s.mem.scope = Scope::sys;
  } else {
    fail(at.place(), "'MEMBAR' needs a scope", ".CTA, .GL or .SYS");
  }
}

void Parser::read_stack(Statement& s, Modifiers&, int form) {
  s.op.code = static_cast<Code>(form);
  if (s.op.code == Code::set_stack) {
    s.op.b = operand();
  } else {
    s.op.d = data_register("the destination");
  }
}

}  // namespace warpline::wls
