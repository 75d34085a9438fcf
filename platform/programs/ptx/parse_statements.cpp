#include <algorithm>

#include "warpline/programs/ptx/opcodes.h"
#include "warpline/programs/ptx/parser_state.h"

namespace warpline::ptx {

bool Parser::debug_directive() {
  if (accept(".file") || accept(".loc")) {
    while (peek().kind == TokenKind::number || peek().kind == TokenKind::text || peek().is(',') ||
           peek().is('+') || peek().is("function_name") || peek().is("inlined_at") ||
           (peek().kind == TokenKind::word && tokens_[at_ - 1].is("function_name")))
      take();
    accept(';');
    return true;
  }
  if (accept(".section")) {
    while (!peek().is('{') && peek().kind != TokenKind::end) take();
    skip_braces();
    return true;
  }
  if (accept(".pragma")) {
    do {
      if (take().kind != TokenKind::text) fail(tokens_[at_ - 1], "expected a string after '.pragma'");
    } while (accept(','));
    expect(';', "after '.pragma'");
    return true;
  }
  return false;
}

void Parser::declare_local(FunctionDecl& f, int scope, VariableDecl v) {
  const int index = static_cast<int>(f.variables.size());
  const auto [entry, fresh] = f.scopes[static_cast<std::size_t>(scope)].variables.emplace(v.name, index);
  if (!fresh && v.name != "_" && f.has_body)
    faults_.add(v.place, "variable " + quoted(v.name) + " is defined twice");
  f.variables.push_back(std::move(v));
}

void Parser::body(FunctionDecl& f) {
  expect('{', "before the body");
  block(f, 0, 0);
}

void Parser::block(FunctionDecl& f, int scope, unsigned depth) {
  if (depth > Limits::kDepth) fail(tokens_[at_ - 1], "these braces are nested too deeply");
  while (!peek().is('}')) {
    if (peek().kind == TokenKind::end || faults_.full())
      fail(peek(), "the body of " + quoted(f.name) + " has no end");
    if (accept('{')) {
      f.scopes.emplace_back();
      f.scopes.back().parent = scope;
      block(f, static_cast<int>(f.scopes.size()) - 1, depth + 1);
      continue;
    }
    try {
      block_item(f, scope);
    } catch (const SyntaxError&) {
      skip_statement();
    }
  }
  take();
}

void Parser::block_item(FunctionDecl& f, int scope) {
  const Token& t = peek();
  if (accept(';') || debug_directive()) return;
  if (t.is(".reg")) return registers(f.scopes[static_cast<std::size_t>(scope)]);
  if (at_variable() || t.is(".extern")) {
    const bool is_extern = accept(".extern");
    const Space global_space = Space::global;
    for (VariableDecl& v : variable_list(is_extern)) {
      if (v.space == global_space || v.space == Space::constant) {
        faults_.add(v.place, "variables inside a function are .local, .shared or .param");
        continue;
      }
      declare_local(f, scope, std::move(v));
    }
    return;
  }
  if (t.kind == TokenKind::word && peek(1).is(':')) return label(f, scope);
  f.statements.push_back(statement(scope));
}

void Parser::label(FunctionDecl& f, int scope) {
  const Token name = take();
  take();
  if (peek().is(".callprototype")) return prototype(f, name);
  if (accept(".branchtargets")) {
    TargetList list;
    list.place = name.place();
    do {
      const Token& target = expect_word("a label");
      list.labels.emplace_back(std::string(target.text), target.place());
    } while (accept(','));
    expect(';', "after the labels");
    f.target_lists.emplace(std::string(name.text), std::move(list));
    return;
  }
  const LabelDecl here{static_cast<std::uint32_t>(f.statements.size()), name.place(), scope};
  if (!f.labels.emplace(std::string(name.text), here).second)
    faults_.add(name.place(), "label " + quoted(name.text) + " is defined twice");
}

std::vector<std::uint64_t> Parser::prototype_list() {
  std::vector<std::uint64_t> sizes;
  expect('(', "before the parameters of a prototype");
  if (accept(')')) return sizes;
  do {
    sizes.push_back(formal().bytes);
  } while (accept(','));
  expect(')', "after the parameters of a prototype");
  return sizes;
}

void Parser::prototype(FunctionDecl& f, const Token& name) {
  take();
  Prototype p;
  p.place = name.place();
  if (peek().is('(')) p.results = prototype_list();
  expect_word("'_' in a prototype");
  if (peek().is('(')) p.parameters = prototype_list();
  accept(".noreturn");
  expect(';', "after the prototype");
  f.prototypes.emplace(std::string(name.text), std::move(p));
}

std::optional<Statement> Parser::lone_statement() {
  try {
    Statement s = statement(0);
    if (peek().kind == TokenKind::end) return s;
    faults_.add(peek().place(), "expected one instruction, found more");
  } catch (const SyntaxError&) {
  }
  return std::nullopt;
}

Statement Parser::statement(int scope) {
  Statement s;
  s.scope = scope;
  if (accept('@')) {
    s.guard_negated = accept('!');
    const Token& guard = expect_word("a predicate register after '@'");
    s.guard = std::string(guard.text);
    s.guard_place = guard.place();
  }
  s.opcode = expect_word("an instruction");
  while (peek().kind == TokenKind::dotted) s.qualifiers.push_back(take());
  if (opcodes_ == OpcodeSet::runnable) check_opcode(s);
  if (!peek().is(';') && peek().kind != TokenKind::end) {
    do {
      s.operands.push_back(operand());
    } while (accept(','));
  }
  expect(';', "after the instruction");
  return s;
}

void Parser::check_opcode(const Statement& s) {
  if (find_opcode(s.opcode.text) != nullptr) return;
  std::string full(s.opcode.text);
  for (const Token& q : s.qualifiers) full += q.text;
  if (is_known_but_unsupported(s.opcode.text)) fail(s.opcode, "opcode " + quoted(full) + " is not supported");
  fail(s.opcode, "unknown opcode " + quoted(s.opcode.text), suggestion(s.opcode.text, opcode_names()));
}

std::vector<Operand> Parser::operand_list(char close, unsigned depth) {
  std::vector<Operand> list;
  if (accept(close)) return list;
  do {
    list.push_back(operand(depth + 1));
  } while (accept(','));
  expect(close, "after the list");
  return list;
}

Operand Parser::operand(unsigned depth) {
  const Token t = peek();
  if (depth > 4) fail(t, "these operands are nested too deeply");
  Operand o;
  o.token = t;
  if (t.is('[')) return address(depth);
  if (accept('{')) {
    o.kind = Operand::Kind::vector;
    o.elements = operand_list('}', depth);
    return o;
  }
  if (accept('(')) {
    o.kind = Operand::Kind::list;
    o.elements = operand_list(')', depth);
    return o;
  }
  o = simple_operand();
  if (accept('|')) {
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.token = t;
    pair.elements.push_back(std::move(o));
    pair.elements.push_back(simple_operand());
    return pair;
  }
  return o;
}

Operand Parser::simple_operand() {
  Operand o;
  const bool negated = accept('!');
  const bool minus = !negated && accept('-');
  o.token = peek();
  const Token t = take();
  o.negated = negated;
  if (t.kind == TokenKind::number || t.is("WARP_SZ")) {
    Number n = read_number(t.text);
    if (t.is("WARP_SZ")) n = Number{false, kWarpLanes, 0, false, true};
    if (!n.ok) fail(t, quoted(t.text) + " is not a number");
    o.kind = n.is_float ? Operand::Kind::real : Operand::Kind::integer;
    o.single = n.is_single;
    o.bits = n.integer;
    if (minus)
      o.bits = !n.is_float ? std::uint64_t{0} - n.integer
                           : n.integer ^ (std::uint64_t{1} << (n.is_single ? 31U : 63U));
    return o;
  }
  if (t.kind != TokenKind::word || minus) fail(t, "expected an operand, found " + quoted(t.text));
  if (t.is("_")) {
    o.kind = Operand::Kind::sink;
    return o;
  }
  o.name = std::string(t.text);
  if (peek().kind == TokenKind::dotted && peek().offset == t.offset + t.text.size()) o.name += take().text;
  if (peek().is('[')) {
    take();
    o.kind = Operand::Kind::address;
    o.indexed = true;
    if (peek().text.substr(0, 1) == "%")
      o.index = take().text;
    else
      o.offset = static_cast<std::int64_t>(constant());
    expect(']', "after the index");
  } else {
    o.offset = offset(&o.subtracts);
  }
  return o;
}

Operand Parser::address(unsigned depth) {
  Operand o;
  o.kind = Operand::Kind::address;
  o.token = take();
  if (peek().kind == TokenKind::word && !peek().is("WARP_SZ")) {
    o.token = take();
    o.name = std::string(o.token.text);
    if (peek().kind == TokenKind::dotted && peek().offset == o.token.offset + o.token.text.size())
      o.name += take().text;  // an element of a vector register
  } else {
    o.offset = static_cast<std::int64_t>(constant());
  }
  o.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(o.offset) +
                                       static_cast<std::uint64_t>(offset(&o.subtracts)));
  while (accept(',')) o.elements.push_back(operand(depth + 1));
  expect(']', "after the address");
  if (peek().is(".unified")) o.unified = take().place();
  return o;
}

}  // namespace warpline::ptx
