#include "platform/consistency/condition.h"

#include <algorithm>

namespace warpline::litmus {
namespace {

std::int64_t value(const Term& t, const ValueOf& value_of) {
  return t.kind == Term::Kind::constant ? t.value : value_of(t);
}

bool holds(const Proposition& p, const ValueOf& value_of) {
  const auto part = [&](const Proposition& x) { return holds(x, value_of); };
  switch (p.kind) {
    case Proposition::Kind::equal: return value(p.left, value_of) == value(p.right, value_of);
    case Proposition::Kind::not_equal: return value(p.left, value_of) != value(p.right, value_of);
    case Proposition::Kind::conjunction: return std::all_of(p.parts.begin(), p.parts.end(), part);
    case Proposition::Kind::disjunction: return std::any_of(p.parts.begin(), p.parts.end(), part);
    case Proposition::Kind::negation: return !part(p.parts.front());
  }
  return false;
}

void collect(const Proposition& p, std::vector<Term>& terms) {
  for (const Term* t : {&p.left, &p.right})
    if (t->kind != Term::Kind::constant && std::find(terms.begin(), terms.end(), *t) == terms.end())
      terms.push_back(*t);
  for (const Proposition& part : p.parts) collect(part, terms);
}

}  // namespace

const char* Condition::kind_name() const {
  constexpr const char* kNames[] = {"exists", "~exists", "forall"};
  return kNames[static_cast<unsigned>(kind)];
}

std::vector<Term> Condition::terms() const {
  std::vector<Term> out;
  collect(proposition, out);
  return out;
}

bool Condition::in_question(const ValueOf& value_of) const {
  return holds(proposition, value_of) != (kind == Kind::forall);
}

}  // namespace warpline::litmus
