#include "platform/programs/ptx_syntax/statement_reader.h"

namespace warpline::ptx {

Statement StatementReader::statement(int scope) {
  Statement s;
  s.scope = scope;
  if (tokens_.accept('@')) {
    s.guard_negated = tokens_.accept('!');
    const Token& guard = tokens_.expect_word("a predicate register after '@'");
    s.guard = std::string(guard.text);
    s.guard_place = guard.place();
  }
  s.opcode = tokens_.expect_word("an instruction");
  while (tokens_.peek().kind == TokenKind::dotted) s.qualifiers.push_back(tokens_.take());
  if (check_ != nullptr && !check_(s, tokens_.faults())) throw SyntaxError{};
  if (!tokens_.peek().is(';') && tokens_.peek().kind != TokenKind::end) {
    do {
      s.operands.push_back(operand());
    } while (tokens_.accept(','));
  }
  tokens_.expect(';', "after the instruction");
  return s;
}

std::vector<Operand> StatementReader::operand_list(char close, unsigned depth) {
  std::vector<Operand> list;
  if (tokens_.accept(close)) return list;
  do {
    list.push_back(operand(depth + 1));
  } while (tokens_.accept(','));
  tokens_.expect(close, "after the list");
  return list;
}

Operand StatementReader::operand(unsigned depth) {
  const Token t = tokens_.peek();
  if (depth > 4) tokens_.fail(t, "these operands are nested too deeply");
  Operand o;
  o.token = t;
  if (t.is('[')) return address(depth);
  if (tokens_.accept('{')) {
    o.kind = Operand::Kind::vector;
    o.elements = operand_list('}', depth);
    return o;
  }
  if (tokens_.accept('(')) {
    o.kind = Operand::Kind::list;
    o.elements = operand_list(')', depth);
    return o;
  }
  o = simple_operand();
  if (tokens_.accept('|')) {
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.token = t;
    pair.elements.push_back(std::move(o));
    pair.elements.push_back(simple_operand());
    return pair;
  }
  return o;
}

Operand StatementReader::simple_operand() {
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
  if (t.kind != TokenKind::word || minus) tokens_.fail(t, "expected an operand, found " + quoted(t.text));
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

Operand StatementReader::address(unsigned depth) {
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

}  // namespace warpline::ptx
