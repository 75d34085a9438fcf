#include "warpline/litmus/parser_state.h"

namespace warpline::litmus {

void Parser::condition() {
  const bool negated = accept("~");
  Condition& c = test_->condition;
  if (accept("exists")) {
    c.kind = negated ? Condition::Kind::not_exists : Condition::Kind::exists;
  } else if (!negated && accept("forall")) {
    c.kind = Condition::Kind::forall;
  } else {
    fail(peek(), "a condition is missing", "exists, ~exists or forall");
    return;
  }
  const std::size_t first = at_;
  if (!disjunction(c.proposition)) return;
  for (std::size_t n = first; n < at_; ++n) {
    const std::string_view text = tokens_[n].text;
    const bool spaced = text == "==" || text == "=" || text == "!=" || text == "/\\" || text == "\\/";
    c.text += spaced ? " " + std::string(text) + " " : std::string(text);
  }
  if (peek().kind != TokenKind::end)
    fail(peek(), ptx::quoted(peek().text) + " stands behind the end of the condition");
}

bool Parser::disjunction(Proposition& p) {
  p.kind = Proposition::Kind::disjunction;
  do {
    if (!conjunction(p.parts.emplace_back())) return false;
  } while (accept("\\/"));
  return true;
}

bool Parser::conjunction(Proposition& p) {
  p.kind = Proposition::Kind::conjunction;
  do {
    if (!negation(p.parts.emplace_back())) return false;
  } while (accept("/\\"));
  return true;
}

bool Parser::negation(Proposition& p) {
  const bool negated = accept("~");
  if (!negated && !accept("(")) return comparison(p);
  // What nests deeper is no condition that anybody wrote.
  constexpr unsigned kDeepest = 200;
  if (++depth_ > kDeepest) return fail(peek(), "this condition nests too deep");
  if (negated) p.kind = Proposition::Kind::negation;
  const bool good = negated ? negation(p.parts.emplace_back()) : disjunction(p) && expect(")");
  --depth_;
  return good;
}

bool Parser::comparison(Proposition& p) {
  if (!term(p.left)) return false;
  if (accept("!=")) {
    p.kind = Proposition::Kind::not_equal;
  } else if (accept("==") || accept("=")) {
    p.kind = Proposition::Kind::equal;
  } else {
    return fail(peek(), "a comparison is missing", "== or !=");
  }
  return term(p.right);
}

bool Parser::term(Term& t) {
  const Token first = peek();
  if (peek(1).is(":")) {
    take();
    take();
    const Token reg = take();
    t.kind = Term::Kind::reg;
    t.thread = thread_named(first);
    if (t.thread == kNone) return fail(first, "there is no thread " + ptx::quoted(first.text));
    const auto& names = test_->threads[t.thread].registers;
    for (t.number = 0; t.number < names.size(); ++t.number)
      if (names[t.number] == reg.text) return true;
    return fail(reg,
                "no instruction of thread " + test_->threads[t.thread].name + " names register " +
                    ptx::quoted(reg.text),
                ptx::suggestion(reg.text, names));
  }
  if (first.kind == TokenKind::word || first.is("[")) {
    const bool bracket = accept("[");
    const Token name = take();
    t.kind = Term::Kind::location;
    for (t.number = 0; t.number < test_->locations.size(); ++t.number)
      if (test_->locations[t.number].name == name.text) return !bracket || expect("]");
    return fail(name, "there is no location " + ptx::quoted(name.text));
  }
  const auto value = number();
  t.value = value.value_or(0);
  return value.has_value();
}

}  // namespace warpline::litmus
