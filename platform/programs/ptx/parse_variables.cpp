#include <algorithm>

#include "warpline/base/power_of_two.h"
#include "warpline/programs/ptx/parser_state.h"

namespace warpline::ptx {
namespace {

Space space_named(const Token& t) {
  if (t.is(".global")) return Space::global;
  if (t.is(".const")) return Space::constant;
  if (t.is(".shared")) return Space::shared;
  if (t.is(".local")) return Space::local;
  return Space::param;
}

}  // namespace

bool Parser::at_variable() const {
  const Token& t = peek();
  return t.is(".global") || t.is(".const") || t.is(".shared") || t.is(".local") || t.is(".param");
}

std::uint64_t Parser::constant() {
  bool minus = false;
  while (accept('-')) minus = !minus;
  const Token& t = peek();
  if (accept("WARP_SZ")) return minus ? std::uint64_t{0} - kWarpLanes : kWarpLanes;
  const Number n = read_number(t.text);
  if (t.kind != TokenKind::number || !n.ok || n.is_float)
    fail(t, "expected an integer, found " + quoted(t.text));
  take();
  return minus ? std::uint64_t{0} - n.integer : n.integer;
}

std::int64_t Parser::offset(bool* subtracts) {
  std::uint64_t sum = 0;
  while (peek().is('+') || peek().is('-')) {
    const bool minus = take().is('-');
    if (minus && subtracts != nullptr) *subtracts = true;
    const std::uint64_t term = constant();
    sum += minus ? std::uint64_t{0} - term : term;
  }
  return static_cast<std::int64_t>(sum);
}

void Parser::account(const VariableDecl& v) {
  std::uint64_t limit = Limits::kVariableBytes;
  if (v.space == Space::shared || v.space == Space::local) limit = Limits::kWindowBytes;
  if (v.space == Space::constant) limit = Limits::kConstantBytes;
  if (v.space == Space::param) limit = Limits::kParameterBytes;
  if (v.bytes > limit || (variable_bytes_ += v.bytes) > Limits::kVariableBytes) {
    faults_.add(v.place, "variable " + quoted(v.name) + " is too large: its space takes " +
                             std::to_string(limit) + " bytes, a module " +
                             std::to_string(Limits::kVariableBytes));
    throw SyntaxError{};
  }
}

void Parser::dimensions(VariableDecl& v) {
  std::uint64_t count = 1;
  bool open_ended = false;
  while (accept('[')) {
    const Token& at = peek();
    if (at.is(']')) {
      open_ended = true;
    } else {
      const std::uint64_t extent = constant();
      if (extent == 0 || extent > Limits::kVariableBytes || count > Limits::kVariableBytes)
        fail(at, "an array of " + quoted(at.text) + " elements cannot be modelled");
      count *= extent;
    }
    expect(']', "after an array's extent");
  }
  v.bytes = open_ended ? 0 : v.bytes * count;
}

VariableDecl Parser::declarator(Space space, bool is_extern) {
  VariableDecl v;
  v.space = space;
  v.is_extern = is_extern;
  unsigned vector = 1;
  std::uint64_t alignment = 0;
  while (peek().kind == TokenKind::dotted) {
    const Token t = take();
    const DataType type = data_type_from(t.text.substr(1));
    if (t.is(".align")) {
      const Token& at = peek();
      alignment = constant();
      if (!is_power_of_two(alignment) || alignment > 4096)
        fail(at, "an alignment is a power of two up to 4096");
    } else if (t.is(".v2") || t.is(".v4")) {
      vector = t.is(".v2") ? 2 : 4;
    } else if (t.is(".ptr")) {
      while (peek().is(".global") || peek().is(".const") || peek().is(".shared") || peek().is(".local"))
        take();
    } else if (type != DataType::none && type != DataType::pred) {
      v.type = type;
    } else {
      fail(t, quoted(t.text) + " is not supported in the declaration of a variable");
    }
  }
  v.bytes = std::uint64_t{size_of(v.type)} * vector;
  v.alignment = std::max<std::uint64_t>(alignment, alignment == 0 ? v.bytes : 1);
  const Token& name = expect_word("the name of a variable");
  v.name = std::string(name.text);
  v.place = name.place();
  return v;
}

VariableDecl Parser::formal() {
  if (!accept(".param")) fail(peek(), "expected '.param': parameters in registers are not supported");
  VariableDecl v = declarator(Space::param, false);
  dimensions(v);
  account(v);
  return v;
}

std::vector<VariableDecl> Parser::variable_list(bool is_extern) {
  const Space space = space_named(take());
  std::vector<VariableDecl> list;
  const VariableDecl pattern = declarator(space, is_extern);
  for (;;) {
    VariableDecl v = pattern;
    if (!list.empty()) {
      const Token& name = expect_word("the name of a variable");
      v.name = std::string(name.text);
      v.place = name.place();
    }
    if (accept('<')) {
      fail(peek(), "families of variables are not supported");
    }
    dimensions(v);
    account(v);
    if (accept('=')) {
      initializer(v);
    } else if (v.bytes == 0 && !(v.is_extern && v.space == Space::shared)) {
      faults_.add(v.place, "array " + quoted(v.name) + " needs an extent");
    }
    if (v.space == Space::global || v.space == Space::constant) v.initial.resize(v.bytes);
    list.push_back(std::move(v));
    if (!accept(',')) break;
  }
  expect(';', "after the declaration");
  return list;
}

void Parser::registers(BlockScope& scope) {
  take();
  RegisterDecl r;
  bool typed = false;
  while (peek().kind == TokenKind::dotted) {
    const Token t = take();
    const DataType type = data_type_from(t.text.substr(1));
    if (t.is(".v2") || t.is(".v4")) {
      r.vector = t.is(".v2") ? 2 : 4;
    } else if (type != DataType::none) {
      r.type = type;
      typed = true;
    } else {
      fail(t, "unknown register type " + quoted(t.text));
    }
  }
  if (!typed) fail(peek(), "expected the type of a register");
  do {
    const Token& name = expect_word("the name of a register");
    r.place = name.place();
    r.count = 0;
    if (accept('<')) {
      const Token& at = peek();
      const std::uint64_t count = constant();
      if (count == 0 || count > Limits::kFamilyRegisters)
        fail(at, "a family has 1 to " + std::to_string(Limits::kFamilyRegisters) + " registers");
      r.count = static_cast<std::uint32_t>(count);
      expect('>', "after the number of registers");
    }
    auto& names = r.count != 0 ? scope.families : scope.registers;
    if (!names.emplace(std::string(name.text), r).second)
      faults_.add(name.place(), "register " + quoted(name.text) + " is declared twice");
  } while (accept(','));
  expect(';', "after the registers");
}

}  // namespace warpline::ptx
