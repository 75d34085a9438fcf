#include "platform/programs/ptx_syntax/variable_reader.h"

#include <algorithm>
#include <cstring>

#include "rtl_models/base/bits.h"
#include "rtl_models/isa/qualifiers.h"

namespace warpline::ptx {
namespace {

/// The space that `t` declares a variable in, if it declares one.
std::optional<Space> declared_space(const Token& t) {
  if (t.kind != TokenKind::dotted || t.text.find(':') != std::string_view::npos) return std::nullopt;
  return value_named<Space>(t.text.substr(1));
}

}  // namespace

bool VariableReader::at_variable() const {
  return declared_space(tokens_.peek()).has_value();
}

void VariableReader::account(const VariableDecl& v) {
  std::uint64_t limit = Limits::kVariableBytes;
  if (v.space == Space::shared || v.space == Space::local) limit = Limits::kWindowBytes;
  if (v.space == Space::constant) limit = Limits::kConstantBytes;
  if (v.space == Space::param) limit = Limits::kParameterBytes;
  if (v.bytes > limit || (variable_bytes_ += v.bytes) > Limits::kVariableBytes) {
    tokens_.faults().add(v.place, "variable " + quoted(v.name) + " is too large: its space takes " +
                                      std::to_string(limit) + " bytes, a module " +
                                      std::to_string(Limits::kVariableBytes));
    throw SyntaxError{};
  }
}

void VariableReader::dimensions(VariableDecl& v) {
  std::uint64_t count = 1;
  bool open_ended = false;
  while (tokens_.accept('[')) {
    const Token& at = tokens_.peek();
    if (at.is(']')) {
      open_ended = true;
    } else {
      const std::uint64_t extent = tokens_.constant();
      if (extent == 0 || extent > Limits::kVariableBytes || count > Limits::kVariableBytes)
        tokens_.fail(at, "an array of " + quoted(at.text) + " elements cannot be modelled");
      count *= extent;
    }
    tokens_.expect(']', "after an array's extent");
  }
  v.bytes = open_ended ? 0 : v.bytes * count;
}

VariableDecl VariableReader::declarator(Space space, bool is_extern) {
  VariableDecl v;
  v.space = space;
  v.is_extern = is_extern;
  unsigned vector = 1;
  std::uint64_t alignment = 0;
  while (tokens_.peek().kind == TokenKind::dotted) {
    const Token t = tokens_.take();
    const DataType type = data_type_from(t.text.substr(1));
    if (t.is(".align")) {
      const Token& at = tokens_.peek();
      alignment = tokens_.constant();
      if (!is_power_of_two(alignment) || alignment > 4096)
        tokens_.fail(at, "an alignment is a power of two up to 4096");
    } else if (t.is(".v2") || t.is(".v4")) {
      vector = t.is(".v2") ? 2 : 4;
    } else if (t.is(".ptr")) {
      while (at_variable() && !tokens_.peek().is(".param")) tokens_.take();
    } else if (type != DataType::none && type != DataType::pred) {
      v.type = type;
    } else {
      tokens_.fail(t, quoted(t.text) + " is not supported in the declaration of a variable");
    }
  }
  v.bytes = std::uint64_t{size_of(v.type)} * vector;
  v.alignment = std::max<std::uint64_t>(alignment, alignment == 0 ? v.bytes : 1);
  const Token& name = tokens_.expect_word("the name of a variable");
  v.name = std::string(name.text);
  v.place = name.place();
  return v;
}

VariableDecl VariableReader::formal() {
  if (!tokens_.accept(".param"))
    tokens_.fail(tokens_.peek(), "expected '.param': parameters in registers are not supported");
  VariableDecl v = declarator(Space::param, false);
  dimensions(v);
  account(v);
  return v;
}

std::vector<VariableDecl> VariableReader::variable_list(bool is_extern) {
  const Space space = *declared_space(tokens_.take());
  std::vector<VariableDecl> list;
  const VariableDecl pattern = declarator(space, is_extern);
  for (;;) {
    VariableDecl v = pattern;
    if (!list.empty()) {
      const Token& name = tokens_.expect_word("the name of a variable");
      v.name = std::string(name.text);
      v.place = name.place();
    }
    if (tokens_.accept('<')) {
      tokens_.fail(tokens_.peek(), "families of variables are not supported");
    }
    dimensions(v);
    account(v);
    if (tokens_.accept('=')) {
      initializer(v);
    } else if (v.bytes == 0 && !(v.is_extern && v.space == Space::shared)) {
      tokens_.faults().add(v.place, "array " + quoted(v.name) + " needs an extent");
    }
    if (v.space == Space::global || v.space == Space::constant) v.initial.resize(v.bytes);
    list.push_back(std::move(v));
    if (!tokens_.accept(',')) break;
  }
  tokens_.expect(';', "after the declaration");
  return list;
}

void VariableReader::registers(BlockScope& scope) {
  tokens_.take();
  RegisterDecl r;
  bool typed = false;
  while (tokens_.peek().kind == TokenKind::dotted) {
    const Token t = tokens_.take();
    const DataType type = data_type_from(t.text.substr(1));
    if (t.is(".v2") || t.is(".v4")) {
      r.vector = t.is(".v2") ? 2 : 4;
    } else if (type != DataType::none) {
      r.type = type;
      typed = true;
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
      const std::uint64_t count = tokens_.constant();
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

void VariableReader::initializer(VariableDecl& v) {
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
    account(v);
  } else if (end > v.bytes) {
    tokens_.fail(at, "the initialiser of " + quoted(v.name) + " has more elements than the variable");
  }
}

void VariableReader::initializer_list(VariableDecl& v, std::uint64_t& at, unsigned depth) {
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

void VariableReader::address_element(VariableDecl& v, std::uint64_t at, unsigned shift, unsigned bytes) {
  Relocation r;
  const bool generic = tokens_.accept("generic");
  if (generic) tokens_.expect('(', "after 'generic'");
  const Token& name = tokens_.expect_word("the name of a variable");
  r.symbol = std::string(name.text);
  r.place = name.place();
  if (generic) tokens_.expect(')', "after the variable's name");
  r.addend = tokens_.offset();
  r.offset = at;
  r.bytes = bytes;
  r.shift = shift;
  v.relocations.push_back(std::move(r));
}

void VariableReader::initializer_element(VariableDecl& v, std::uint64_t& at) {
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
    bits = tokens_.constant();
    if (tokens_.accept('(')) {  // mask(address): one byte of it
      unsigned shift = 0;
      while (shift < 64 && bits != (std::uint64_t{0xFF} << shift)) shift += 8;
      if (shift == 64) tokens_.fail(t, "a mask selects one byte, as 0xFF00 does");
      address_element(v, at, shift, size);
      tokens_.expect(')', "after the masked address");
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
