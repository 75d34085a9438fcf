#include "platform/consistency/model.h"

namespace warpline::litmus {

const char* name_of(Axiom axiom) {
  switch (axiom) {
    case Axiom::coherence: return "coherence";
    case Axiom::fence_sc: return "fence-SC";
    case Axiom::single_copy: return "single-copy atomicity";
    case Axiom::atomicity: return "atomicity";
    case Axiom::no_thin_air: return "no thin air";
    case Axiom::causality: return "causality";
  }
  return "";
}

Relation reads_from_relation(const Candidate& c, const std::vector<ReadsFrom>& reads_from) {
  Relation out(c.size);
  for (const ReadsFrom& r : reads_from)
    if (r.write != Event::kNone) out.add(r.write, r.read);
  return out;
}

namespace {

/// Morally strong reads-from, chained through atomics (PTX ISA, "Observation order").
Relation observation_of(const Candidate& c, const Relation& reads_from) {
  const Relation strong = reads_from & c.morally_strong;
  Relation out = strong;
  while (true) {
    const Relation more = out | out.then(c.atomic).then(strong);
    if ((more - out).empty()) return out;
    out = more;
  }
}

/// Base causality of what follows from program order and synchronization, and the ends of asynchronous
/// operations: a way through it may begin with what such an end tells of, and any way may end there.
Relation base_of(const Candidate& c, const Relation& order) {
  const Relation ends = c.covered | c.uncovered;
  if (ends.empty()) return order;
  const Relation begun = order | c.covered | c.covered.then(order);
  return begun | ends | begun.then(ends);
}

/// Base causality as each pair of accesses sees it through their proxies (PTX ISA, "Proxy-preserved base
/// causality order").
Relation proxy_preserved(const Candidate& c, const Relation& base) {
  const Relation by_one_proxy = c.same_proxy_and_cta & c.same_address & base;
  if (!c.has_proxy_fences) return (c.same_address & base.between(c.generic, c.generic)) | by_one_proxy;
  // From a memory operation to where it is in the generic proxy: itself, or a fence of its proxy behind it.
  Relation leaves(c.size);
  c.generic.each([&](unsigned e) { leaves.add(e, e); });
  const Relation enters_by_itself = leaves;
  leaves |= base & (c.proxy_fence_of | c.completion_of).inverse();
  const Relation enters = enters_by_itself | (base & c.proxy_fence_of);
  const Relation path = leaves.then(base).then(enters);
  const Relation to_alias = leaves.then(base.into(c.alias_fences));
  const Relation aliased = to_alias.then(base).then(enters);
  return (c.same_address & path) | by_one_proxy | (c.overlapping & aliased);
}

}  // namespace

Causality causality(const Candidate& c, const Relation& reads_from, const Relation& fence_order,
                    const Relation& barrier_order) {
  Causality out;
  out.observation = observation_of(c, reads_from);
  out.synchronizes = c.release_pattern.then(out.observation).then(c.acquire_pattern) & c.morally_strong;
  out.base = base_of(c, (c.program_order | out.synchronizes | fence_order | barrier_order).closure());
  const Relation preserved = proxy_preserved(c, out.base);
  out.cause = preserved | out.observation.then(preserved);
  return out;
}

std::optional<Axiom> violated_without_coherence(const Candidate& c, const Relation& reads_from,
                                                const Causality& causality) {
  if (!(reads_from | c.dependency).closure().irreflexive()) return Axiom::no_thin_air;
  for (const auto& [a, b] : c.fence_pairs)
    if (causality.base.has(a, a) || causality.base.has(b, b)) return Axiom::fence_sc;
  bool contradicts = false;
  for (unsigned write = 0; write < c.size; ++write)
    reads_from.row(write).each([&](unsigned read) { contradicts |= causality.cause.has(read, write); });
  if (contradicts) return Axiom::causality;
  return std::nullopt;
}

Relation from_reads(const Candidate& c, const std::vector<ReadsFrom>& reads_from, const Relation& coherence) {
  Relation out(c.size);
  for (const ReadsFrom& r : reads_from) {
    if (r.write == Event::kNone) continue;
    coherence.row(r.write).each([&](unsigned later) {
      if (c.events[later].overlaps(r)) out.add(r.read, later);
    });
  }
  return out;
}

std::optional<std::pair<unsigned, unsigned>> mixed_size_race(const Candidate& c, const Causality& causality) {
  for (unsigned a = 0; a < c.size; ++a) {
    const Event& x = c.events[a];
    if (x.thread == Event::kInitial || !x.accesses() || x.instruction->op.kind == MemKind::bulk_copy)
      continue;
    std::optional<std::pair<unsigned, unsigned>> race;
    c.overlapping.row(a).each([&](unsigned b) {
      const Event& y = c.events[b];
      const bool conflict = x.kind == EventKind::write || y.kind == EventKind::write;
      if (race || b < a || !conflict || y.thread == Event::kInitial || y.thread == x.thread) return;
      // A bulk copy has no size of access: it moves whole stretches of memory.
      if ((x.covers(y) && y.covers(x)) || y.instruction->op.kind == MemKind::bulk_copy) return;
      if (!causality.cause.has(a, b) && !causality.cause.has(b, a)) race.emplace(a, b);
    });
    if (race) return race;
  }
  return std::nullopt;
}

namespace {

class CoherenceSearch {
 public:
  CoherenceSearch(const Candidate& c, const std::vector<ReadsFrom>& reads_from, const Causality& causality,
                  const std::function<bool(const Relation&)>& f, std::optional<Axiom>& why, Budget* budget)
      : c_(c), reads_from_(reads_from), causality_(causality), f_(f), why_(why), budget_(budget) {}

  bool run(const Relation* known) {
    const Relation writes = c_.overlapping.between(c_.writes, c_.writes);
    Relation forced = causality_.cause.between(c_.writes, c_.writes) & c_.overlapping;
    c_.initial.each([&](unsigned e) {
      forced.row(e) |= writes.row(e);
      forced.row(e).remove(e);
    });
    if (known != nullptr) forced |= *known;
    // An atomic that reads what another has written comes behind it.
    for (const ReadsFrom& r : reads_from_)
      if (r.write != Event::kNone && c_.events[r.write].partner != Event::kNone &&
          c_.events[r.read].partner != Event::kNone && c_.indivisible.has(r.write, r.read))
        forced.add(r.write, c_.events[r.read].partner);
    const Relation strong = writes & c_.indivisible;
    for (unsigned a = 0; a < c_.size; ++a)
      strong.row(a).each([&](unsigned b) {
        if (a < b) pairs_.emplace_back(a, b);
      });
    return search(forced.closure(), 0);
  }

 private:
  bool search(const Relation& order, std::size_t next) {
    if (budget_ != nullptr && !budget_->spend(c_.size)) return true;
    if (!order.irreflexive()) return reject(Axiom::coherence);
    const Relation before = from_reads(c_, reads_from_, order);
    bool contradicts = false;
    for (unsigned read = 0; read < c_.size; ++read)
      before.row(read).each([&](unsigned write) { contradicts |= causality_.cause.has(write, read); });
    if (contradicts) return reject(Axiom::causality);
    if (!whole(before)) return reject(Axiom::single_copy);
    if (!atomic(order, before)) return reject(Axiom::atomicity);
    while (next < pairs_.size() && (order.has(pairs_[next].first, pairs_[next].second) ||
                                    order.has(pairs_[next].second, pairs_[next].first)))
      ++next;
    if (next == pairs_.size()) return f_(order);
    for (const bool swapped : {false, true}) {
      const auto [a, b] = pairs_[next];
      Relation more = order;
      more.extend(swapped ? b : a, swapped ? a : b);
      if (search(more, next + 1)) return true;
    }
    return false;
  }

  /// Who reads any byte of a write that is one with it reads no byte from before that write.
  [[nodiscard]] bool whole(const Relation& before) const {
    for (const ReadsFrom& r : reads_from_)
      if (r.write != Event::kNone && c_.indivisible.has(r.write, r.read) && before.has(r.read, r.write))
        return false;
    return true;
  }

  [[nodiscard]] bool atomic(const Relation& order, const Relation& before) const {
    bool intervenes = false;
    for (unsigned read = 0; read < c_.size; ++read)
      c_.atomic.row(read).each([&](unsigned write) {
        (before.row(read) & c_.indivisible.row(read)).each([&](unsigned other) {
          intervenes |= c_.indivisible.has(other, write) && order.has(other, write);
        });
      });
    return !intervenes;
  }

  bool reject(Axiom axiom) {
    why_ = axiom;
    return false;
  }

  const Candidate& c_;
  const std::vector<ReadsFrom>& reads_from_;
  const Causality& causality_;
  const std::function<bool(const Relation&)>& f_;
  std::optional<Axiom>& why_;
  Budget* budget_;
  std::vector<std::pair<unsigned, unsigned>> pairs_;
};

}  // namespace

bool each_coherence_order(const Candidate& c, const std::vector<ReadsFrom>& reads_from,
                          const Causality& causality, const std::function<bool(const Relation&)>& f,
                          std::optional<Axiom>& why, const Relation* known, Budget* budget) {
  return CoherenceSearch(c, reads_from, causality, f, why, budget).run(known);
}

}  // namespace warpline::litmus
