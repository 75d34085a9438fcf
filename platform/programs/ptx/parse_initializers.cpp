// The initial contents of module variables: numbers, and addresses of other variables.
#include <algorithm>
#include <cstring>

#include "warpline/programs/ptx/parser_state.h"

namespace warpline::ptx {

void Parser::initializer(VariableDecl& v) {
  const Token& at = peek();
  if (v.space != Space::global && v.space != Space::constant)
    fail(at, "only .global and .const variables take an initialiser");
  const bool open_ended = v.bytes == 0;
  if (!open_ended) v.initial.resize(v.bytes);
  std::uint64_t end = 0;
  if (peek().is('{'))
    initializer_list(v, end, 0);
  else
    initializer_element(v, end);
  if (open_ended) {
    v.bytes = v.initial.size();
    account(v);
  } else if (end > v.bytes) {
    fail(at, "the initialiser of " + quoted(v.name) + " has more elements than the variable");
  }
}

void Parser::initializer_list(VariableDecl& v, std::uint64_t& at, unsigned depth) {
  if (depth > Limits::kDepth) fail(peek(), "this initialiser is nested too deeply");
  expect('{', "before the elements");
  while (!accept('}')) {
    if (peek().is('{'))
      initializer_list(v, at, depth + 1);
    else
      initializer_element(v, at);
    if (!accept(',') && !peek().is('}')) fail(peek(), "expected ',' or '}' in an initialiser");
  }
}

void Parser::address_element(VariableDecl& v, std::uint64_t at, unsigned shift, unsigned bytes) {
  Relocation r;
  const bool generic = accept("generic");
  if (generic) expect('(', "after 'generic'");
  const Token& name = expect_word("the name of a variable");
  r.symbol = std::string(name.text);
  r.place = name.place();
  if (generic) expect(')', "after the variable's name");
  r.addend = offset();
  r.offset = at;
  r.bytes = bytes;
  r.shift = shift;
  v.relocations.push_back(std::move(r));
}

void Parser::initializer_element(VariableDecl& v, std::uint64_t& at) {
  const unsigned size = size_of(v.type);
  const Token& t = peek();
  if (at + size > Limits::kVariableBytes) fail(t, "this initialiser is too long");
  if (v.initial.size() < at + size) v.initial.resize(at + size);
  const bool minus = t.is('-') && peek(1).kind == TokenKind::number;
  const Token& literal = minus ? peek(1) : t;
  std::uint64_t bits = 0;
  if (literal.kind == TokenKind::number && read_number(literal.text).is_float) {
    const Number n = read_number(literal.text);
    if (!n.ok) fail(literal, "this literal has the wrong number of digits");
    take();
    if (minus) take();
    const double real = minus ? -n.real : n.real;
    if (v.type == DataType::f64) {
      std::memcpy(&bits, &real, sizeof real);
    } else if (n.is_single) {
      bits = n.integer ^ (minus ? 0x80000000U : 0U);
    } else {
      const auto single = static_cast<float>(real);
      std::memcpy(&bits, &single, sizeof single);
    }
  } else if (t.kind == TokenKind::word && !t.is("WARP_SZ")) {
    address_element(v, at, 0, size);
  } else {
    bits = constant();
    if (accept('(')) {  // mask(address): one byte of it
      unsigned shift = 0;
      while (shift < 64 && bits != (std::uint64_t{0xFF} << shift)) shift += 8;
      if (shift == 64) fail(t, "a mask selects one byte, as 0xFF00 does");
      address_element(v, at, shift, size);
      expect(')', "after the masked address");
      bits = 0;
    } else if (v.type == DataType::f32 || v.type == DataType::f64) {
      const auto real = static_cast<double>(static_cast<std::int64_t>(bits));
      const auto single = static_cast<float>(real);
      bits = 0;
      if (v.type == DataType::f64)
        std::memcpy(&bits, &real, sizeof real);
      else
        std::memcpy(&bits, &single, sizeof single);
    }
  }
  std::memcpy(&v.initial[at], &bits, std::min<std::size_t>(size, sizeof bits));
  at += size;
}

}  // namespace warpline::ptx
