#include "platform/consistency/relation.h"

namespace warpline::litmus {

bool Relation::empty() const {
  for (unsigned a = 0; a < size_; ++a)
    if (!rows_[a].empty()) return false;
  return true;
}

bool Relation::irreflexive() const {
  for (unsigned a = 0; a < size_; ++a)
    if (rows_[a].has(a)) return false;
  return true;
}

Relation& Relation::operator|=(const Relation& o) {
  for (unsigned a = 0; a < size_; ++a) rows_[a] |= o.rows_[a];
  return *this;
}

Relation& Relation::operator&=(const Relation& o) {
  for (unsigned a = 0; a < size_; ++a) rows_[a] &= o.rows_[a];
  return *this;
}

Relation operator-(Relation a, const Relation& b) {
  for (unsigned n = 0; n < a.size_; ++n) a.rows_[n] -= b.rows_[n];
  return a;
}

Relation Relation::then(const Relation& b) const {
  Relation out(size_);
  for (unsigned a = 0; a < size_; ++a)
    rows_[a].each([&](unsigned middle) { out.rows_[a] |= b.rows_[middle]; });
  return out;
}

Relation Relation::inverse() const {
  Relation out(size_);
  for (unsigned a = 0; a < size_; ++a) rows_[a].each([&](unsigned b) { out.add(b, a); });
  return out;
}

Relation Relation::closure() const {
  Relation out = *this;
  for (unsigned middle = 0; middle < size_; ++middle)
    for (unsigned a = 0; a < size_; ++a)
      if (out.rows_[a].has(middle)) out.rows_[a] |= out.rows_[middle];
  return out;
}

void Relation::extend(unsigned a, unsigned b) {
  EventSet after = rows_[b];
  after.add(b);
  for (unsigned n = 0; n < size_; ++n)
    if (n == a || rows_[n].has(a)) rows_[n] |= after;
}

Relation Relation::into(const EventSet& to) const {
  Relation out(size_);
  for (unsigned a = 0; a < size_; ++a) out.rows_[a] = rows_[a] & to;
  return out;
}

Relation Relation::between(const EventSet& from, const EventSet& to) const {
  Relation out(size_);
  from.each([&](unsigned a) { out.rows_[a] = rows_[a] & to; });
  return out;
}

}  // namespace warpline::litmus
