#include "platform/consistency/search.h"

#include <algorithm>
#include <tuple>

namespace warpline::litmus {
namespace {

/// Events of an execution that is looked at, at most.
constexpr std::size_t kMostEvents = 128;

}  // namespace

Verdict Search::run() {
  for (const Thread& t : test_.threads) {
    Cut cut;
    all_paths_.push_back(unfold(t, options_.unroll, cut));
    verdict_.bounded = verdict_.bounded || cut.loops;
    if (cut.rest)
      verdict_.gave_up = "thread " + t.name + " has too many ways through its code, or too long ones";
  }
  looks_at_memory_ = std::any_of(question_.terms.begin(), question_.terms.end(),
                                 [](const Term& t) { return t.kind == Term::Kind::location; });
  paths_.assign(test_.threads.size(), nullptr);
  const bool found = combine(0);
  if (budget_.spent()) verdict_.gave_up = "there are too many executions to look at";
  verdict_.allowed = found && !budget_.spent();
  if (verdict_.allowed) verdict_.gave_up.clear();
  verdict_.bounded = verdict_.bounded || !verdict_.gave_up.empty();
  if (const auto most = std::max_element(rejected_.begin(), rejected_.end()); !verdict_.allowed && *most != 0)
    verdict_.axiom = name_of(static_cast<Axiom>(most - rejected_.begin()));
  return std::move(verdict_);
}

bool Search::combine(unsigned thread) {
  if (thread == all_paths_.size()) return judge_candidate();
  for (const Path& p : all_paths_[thread]) {
    paths_[thread] = &p;
    if (combine(thread + 1)) return true;
  }
  return false;
}

bool Search::judge_candidate() {
  std::size_t events = test_.memories.size();
  for (const Path* p : paths_) events += p->events.size();
  if (!budget_.spend(static_cast<unsigned>(events))) return true;
  if (events > kMostEvents) {
    verdict_.gave_up = "there are executions of more than " + std::to_string(kMostEvents) + " events";
    return false;
  }
  const Candidate c(test_, paths_);
  candidate_ = &c;
  slots_.clear();
  c.reads.each([&](unsigned read) { add_slots(read); });
  bool as_seen = true;
  if (question_.seen != nullptr)
    for (unsigned t = 0; t < paths_.size(); ++t) {
      std::size_t reads = 0;
      for (const PathEvent& e : paths_[t]->events) reads += e.kind == EventKind::read;
      as_seen = as_seen && reads == question_.seen->reads[t].size();
    }
  add_stretches();
  return as_seen && assign(0);
}

/// Cuts [from, to) of a memory into stretches that every write writes whole or not at all: where each begins,
/// and `to`.
std::vector<unsigned> Search::cuts(unsigned memory, unsigned from, unsigned to) const {
  std::vector<unsigned> out = {from, to};
  candidate_->writes.each([&](unsigned w) {
    const Event& e = candidate_->events[w];
    if (e.memory != memory) return;
    for (const unsigned edge : {e.offset, e.offset + e.bytes})
      if (edge > from && edge < to) out.push_back(edge);
  });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Search::add_slots(unsigned read) {
  const Event& e = candidate_->events[read];
  const std::vector<unsigned> edges = cuts(e.memory, e.offset, e.offset + e.bytes);
  for (std::size_t n = 0; n + 1 < edges.size(); ++n)
    slots_.push_back({read, edges[n], edges[n + 1] - edges[n], Event::kNone});
}

bool Search::was_seen(unsigned read, unsigned write) const {
  if (question_.seen == nullptr) return true;
  const auto ordinal = [&](const Event& e) {
    unsigned n = 0;
    for (unsigned k = 0; k < e.in_path; ++k) n += paths_[e.thread]->events[k].kind == e.kind;
    return n;
  };
  const Event& r = candidate_->events[read];
  const Event& w = candidate_->events[write];
  const auto& of_thread = question_.seen->reads[r.thread];
  const unsigned n = ordinal(r);
  if (n >= of_thread.size()) return false;
  const ObservedRun::Source& source = of_thread[n];
  if (w.thread == Event::kInitial) return source.thread == ObservedRun::Source::kInitial;
  return source.thread == w.thread && source.write == ordinal(w);
}

/// An access of up to 8 bytes is single-copy atomic: of two writes that each cover all of it, it never reads
/// a part of either.
bool Search::tears(const ReadsFrom& slot, unsigned write, std::size_t slots) const {
  const Event& r = candidate_->events[slot.read];
  if (!candidate_->events[write].covers(r)) return false;
  for (std::size_t n = 0; n < slots; ++n)
    if (slots_[n].read == slot.read && slots_[n].write != write &&
        candidate_->events[slots_[n].write].covers(r))
      return true;
  return false;
}

bool Search::may_read(const ReadsFrom& slot, unsigned write) const {
  const Event& w = candidate_->events[write];
  const Event& r = candidate_->events[slot.read];
  if (w.memory != r.memory || slot.offset < w.offset || slot.offset + slot.bytes > w.offset + w.bytes)
    return false;
  // What the thread itself writes later by the same proxy and address cannot be read yet (causality).
  if (w.thread == r.thread && write > slot.read && w.proxy == r.proxy && w.address == r.address) return false;
  return was_seen(slot.read, write);
}

bool Search::assign(std::size_t slot) {
  if (!budget_.spend(candidate_->size)) return true;
  constexpr std::size_t kCheckedEarly = 4;
  Values values(*candidate_, slots_);
  if (!values.possible()) return false;
  if (slot == slots_.size()) return judge_reads();
  if (slot >= kCheckedEarly && is_hopeless(slot)) return false;
  bool found = false;
  candidate_->writes.each([&](unsigned write) {
    if (found || !may_read(slots_[slot], write) || tears(slots_[slot], write, slot)) return;
    slots_[slot].write = write;
    found = assign(slot + 1);
  });
  slots_[slot].write = Event::kNone;
  return found;
}

/// Whether the first `slots` contradict the axioms whatever the others read.
bool Search::is_hopeless(std::size_t slots) const {
  const Candidate& c = *candidate_;
  // Of two morally strong atomics that read the same, the one that writes first intervenes in the other.
  for (std::size_t a = 0; a < slots; ++a)
    for (std::size_t b = a + 1; b < slots; ++b) {
      const auto& [read, other, write] = std::tie(slots_[a].read, slots_[b].read, slots_[a].write);
      const auto precedes = [&](unsigned e) {
        return c.initial.has(write) || c.morally_strong.has(write, e);
      };
      if (slots_[b].write == write && c.events[read].partner != Event::kNone &&
          c.events[other].partner != Event::kNone && c.morally_strong.has(read, other) && precedes(read) &&
          precedes(other))
        return true;
    }
  const Relation none(c.size);
  const Relation reads_from = reads_from_relation(c, slots_);
  return violated_without_coherence(c, reads_from, causality(c, reads_from, none, none)).has_value();
}

bool Search::judge_reads() {
  ++verdict_.executions;
  if (!looks_at_memory_ && !wanted()) return false;
  return order_fences(0, Relation(candidate_->size));
}

bool Search::order_fences(std::size_t pair, Relation order) {
  if (pair < candidate_->fence_pairs.size()) {
    const auto [a, b] = candidate_->fence_pairs[pair];
    if (order.has(a, b) || order.has(b, a)) return order_fences(pair + 1, order);
    const bool forward = candidate_->program_order.has(a, b);
    Relation swapped = order;
    order.extend(a, b);
    if (order_fences(pair + 1, order)) return true;
    if (forward) return false;
    swapped.extend(b, a);
    return order_fences(pair + 1, swapped);
  }
  Values values(*candidate_, slots_);
  return each_barrier_order(*candidate_, values,
                            [&](const Relation& barriers) { return judge_orders(order, barriers); });
}

bool Search::judge_orders(const Relation& fences, const Relation& barriers) {
  const Relation reads_from = reads_from_relation(*candidate_, slots_);
  const Causality all = causality(*candidate_, reads_from, fences, barriers);
  if (const auto axiom = violated_without_coherence(*candidate_, reads_from, all)) {
    reject(*axiom, all);
    return false;
  }
  std::optional<Axiom> why;
  const bool found = each_coherence_order(
      *candidate_, slots_, all,
      [&](const Relation& coherence) {
        if (!choose_last(coherence, 0)) return false;
        if (options_.draw) verdict_.graph = draw(*candidate_, slots_, coherence, all, std::nullopt);
        return true;
      },
      why, nullptr, &budget_);
  if (!found && why) reject(*why, all);
  return found;
}

void Search::reject(Axiom axiom, const Causality& causality) {
  // Of an end in memory it is not known yet whether it would be the one in question.
  if (looks_at_memory_ && !options_.draw) return;
  ++rejected_[static_cast<std::size_t>(axiom)];
  if (options_.draw && verdict_.graph.empty())
    verdict_.graph = draw(*candidate_, slots_, Relation(candidate_->size), causality, axiom);
}

void Search::add_stretches() {
  stretches_.clear();
  for (const Term& t : question_.terms) {
    if (t.kind != Term::Kind::location) continue;
    const unsigned memory = test_.locations[t.number].memory;
    if (std::any_of(stretches_.begin(), stretches_.end(),
                    [&](const Stretch& s) { return s.memory == memory; }))
      continue;
    const std::vector<unsigned> edges = cuts(memory, 0, test_.memories[memory].bytes);
    for (std::size_t n = 0; n + 1 < edges.size(); ++n)
      stretches_.push_back({memory, edges[n], edges[n + 1] - edges[n], Event::kNone});
  }
}

bool Search::choose_last(const Relation& coherence, std::size_t stretch) {
  if (!looks_at_memory_) return true;
  if (stretch == stretches_.size()) return wanted();
  Stretch& s = stretches_[stretch];
  bool found = false;
  const auto writes_it = [&](unsigned w) {
    const Event& e = candidate_->events[w];
    return e.memory == s.memory && e.offset <= s.offset && s.offset + s.bytes <= e.offset + e.bytes;
  };
  candidate_->writes.each([&](unsigned write) {
    if (found || !writes_it(write)) return;
    bool last = true;
    coherence.row(write).each([&](unsigned later) { last = last && !writes_it(later); });
    if (!last) return;
    s.write = write;
    found = choose_last(coherence, stretch + 1);
  });
  return found;
}

bool Search::wanted() {
  Values values(*candidate_, slots_);
  return question_.wanted([&](const Term& t) {
    std::int64_t out = 0;
    if (t.kind == Term::Kind::reg) {
      values.of(t.thread, paths_[t.thread]->registers[t.number], out);
      return out;
    }
    const unsigned memory = test_.locations[t.number].memory;
    std::uint64_t bits = 0;
    for (const Stretch& s : stretches_) {
      if (s.memory != memory) continue;
      std::uint64_t from = 0;
      values.written(s.write, from);
      from >>= 8 * (s.offset - candidate_->events[s.write].offset);
      if (s.bytes < 8) from &= (std::uint64_t{1} << (8 * s.bytes)) - 1;
      bits |= from << (8 * s.offset);
    }
    return test_.memories[memory].value(bits);
  });
}

}  // namespace warpline::litmus
