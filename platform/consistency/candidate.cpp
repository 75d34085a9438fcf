#include <algorithm>
#include <optional>

#include "platform/consistency/execution.h"

namespace warpline::litmus {
namespace {

/// Where an event of an asynchronous operation goes, if it is not the instruction's location.
unsigned location_of(const Instruction& i, const PathEvent& p) {
  if (!p.copies || p.follows_copies) return i.location;
  if (p.part == AsyncPart::told) return i.completes;
  return p.part == AsyncPart::target && i.copies() ? i.copy_to : i.location;
}

Event event_of(const Test& test, unsigned thread, const PathEvent& p, unsigned number) {
  Event e;
  const Instruction& i = *p.instruction;
  e.kind = p.kind;
  e.thread = thread;
  e.in_path = number;
  e.instruction = &i;
  e.proxy = i.op.proxy;
  if (e.kind == EventKind::barrier) {
    e.proxy = Proxy::generic;
    return e;
  }
  if (e.kind == EventKind::completion) return e;
  const bool told = p.copies && p.part == AsyncPart::told;
  // What tells an mbarrier object of an asynchronous operation releases at the scope of the cluster (PTX ISA,
  // "cp.async.bulk", "st.async").
  const Semantics semantics = told ? Semantics::release : i.op.semantics;
  e.scope = told ? Scope::cluster : i.op.scope;
  e.strong = semantics != Semantics::weak;
  e.acquires = !told && i.op.acquires() && e.kind != EventKind::write;
  e.releases = (told || i.op.releases()) && e.kind != EventKind::read;
  e.sequential = e.kind == EventKind::fence && i.op.semantics == Semantics::sc;
  if (!e.accesses()) return e;
  const Location& l = test.locations[location_of(i, p)];
  e.memory = l.memory;
  e.address = l.address;
  e.shared = l.home == Home::shared;
  e.of_mbarrier = test.memories[l.memory].arrivals != 0;
  if (e.of_mbarrier) {
    e.proxy = Proxy::generic;
    e.bytes = Test::kBytes;
    return e;
  }
  const bool lands = i.op.kind == MemKind::bulk_copy && p.part == AsyncPart::target;
  e.offset = (lands ? i.copy_offset : i.offset) + static_cast<unsigned>(p.shift);
  e.bytes = i.bytes();
  return e;
}

bool same_place(const Test& test, const Event& a, const Event& b) {
  return a.thread != Event::kInitial && b.thread != Event::kInitial &&
         test.threads[a.thread].place.same_cta(test.threads[b.thread].place);
}

/// Whether both are strong and the scope of each includes the other's thread.
bool include_each_other(const Test& test, const Event& a, const Event& b) {
  const auto includes_other = [&](const Event& x, const Event& y) {
    return includes(x.scope, test.threads[x.thread].place, test.threads[y.thread].place);
  };
  return a.strong && b.strong && includes_other(a, b) && includes_other(b, a);
}

/// PTX ISA, "Morally strong operations".
bool are_morally_strong(const Test& test, const Event& a, const Event& b, bool ordered) {
  if (!ordered && !include_each_other(test, a, b)) return false;
  if (a.proxy != b.proxy) return false;
  return !a.accesses() || !b.accesses() ||
         (a.memory == b.memory && a.address == b.address && a.offset == b.offset && a.bytes == b.bytes);
}

/// Whether one part of an asynchronous operation comes before another: what it writes behind what it has
/// read; where its reads, or its writes, are done behind them; what an mbarrier object is told behind all.
bool precedes_in_chain(const PathEvent& x, const PathEvent& y) {
  if (x.part == y.part) return x.part == AsyncPart::told && x.element < y.element;
  if (x.part == AsyncPart::source_done && y.part == AsyncPart::target) return false;
  if (x.part == AsyncPart::source && y.part == AsyncPart::target) return x.element == y.element;
  return x.part < y.part;
}

/// How an event comes before what its thread does later: by program order; because that tells of it; or so
/// that nobody is told.
enum class Before : std::uint8_t { no, program_order, covered, uncovered };

/// How event `x` comes before what its thread does later, event `later`. An asynchronous operation does where
/// a wait has waited for it (PTX ISA, "cp.async").
Before before(const std::vector<const Path*>& paths, const Event& x, const Event& later) {
  const PathEvent& e = paths[x.thread]->events[x.in_path];
  const PathEvent& l = paths[later.thread]->events[later.in_path];
  const bool done = !e.copies || later.in_path >= e.done_at;
  if (l.follows_copies) {
    if (e.follows_copies && e.instruction == l.instruction && later.in_path == x.in_path + 1)
      return Before::program_order;
    if (e.copies && !e.bulk && !e.follows_copies) return Before::covered;
    return done ? Before::uncovered : Before::no;
  }
  const bool of_one = e.copies && !e.follows_copies && l.copies && l.chain == e.chain;
  if (l.copies && l.part == AsyncPart::told && !(of_one && e.part == AsyncPart::told)) {
    if (of_one) return Before::covered;
    return done ? Before::uncovered : Before::no;
  }
  return done || (of_one && precedes_in_chain(e, l)) ? Before::program_order : Before::no;
}

/// The elements of a vector are accessed in no order (PTX ISA, "Vector Data-types").
bool are_of_one_vector(const std::vector<const Path*>& paths, const Event& x, const Event& y) {
  const std::vector<PathEvent>& events = paths[x.thread]->events;
  const unsigned vector = events[x.in_path].vector;
  return vector != PathEvent::kNone && vector == events[y.in_path].vector;
}

/// Whether a proxy fence is about the space of `access`: those of the async proxy may name one.
bool orders_space(const Event& fence, const Event& access) {
  switch (fence.instruction->op.space) {
    case Space::global: return !access.shared;
    case Space::shared:
    case Space::shared_cluster: return access.shared;
    default: return true;
  }
}

/// Whether `done` is where the generic proxy knows of `access`, of the same asynchronous operation.
bool completes(const std::vector<const Path*>& paths, const Event& done, const Event& access) {
  const PathEvent& d = paths[done.thread]->events[done.in_path];
  const PathEvent& a = paths[access.thread]->events[access.in_path];
  const auto part = d.part == AsyncPart::source_done ? AsyncPart::source : AsyncPart::target;
  return a.copies && a.chain == d.chain && a.part == part;
}

bool is_atomic(const Event& e) {
  return e.instruction != nullptr && e.accesses() &&
         (e.instruction->op.is_atomic() || e.instruction->op.kind == MemKind::mbarrier);
}

/// Of two atomics whose scopes include each other one is done before the other begins, even where only some
/// of their bytes are common. So it is with all operations on an mbarrier object.
bool are_atomic_to_each_other(const Test& test, const Event& a, const Event& b) {
  if (a.of_mbarrier || b.of_mbarrier) return a.of_mbarrier && b.of_mbarrier && a.memory == b.memory;
  return is_atomic(a) && is_atomic(b) && a.thread != b.thread && a.proxy == b.proxy && a.overlaps(b) &&
         a.address == b.address && include_each_other(test, a, b);
}

}  // namespace

Candidate::Candidate(const Test& t, const std::vector<const Path*>& p) : test(t), paths(p) {
  for (unsigned m = 0; m < test.memories.size(); ++m) {
    Event e;
    e.memory = m;
    e.bytes = std::max(Test::kBulkBytes, test.memories[m].bytes);
    initial.add(static_cast<unsigned>(events.size()));
    events.push_back(e);
  }
  for (unsigned thread = 0; thread < paths.size(); ++thread) {
    first_event.push_back(static_cast<unsigned>(events.size()));
    for (unsigned n = 0; n < paths[thread]->events.size(); ++n)
      events.push_back(event_of(test, thread, paths[thread]->events[n], n));
  }
  first_value.push_back(0);
  for (const Path* path : paths)
    first_value.push_back(first_value.back() + static_cast<unsigned>(path->values.size()));
  size = static_cast<unsigned>(events.size());
  for (Relation* r : {&program_order, &covered, &uncovered, &dependency, &overlapping, &same_address,
                      &morally_strong, &indivisible, &atomic, &release_pattern, &acquire_pattern,
                      &same_proxy_and_cta, &proxy_fence_of, &completion_of})
    *r = Relation(size);

  for (unsigned n = 0; n < size; ++n) {
    Event& e = events[n];
    if (e.kind == EventKind::read) reads.add(n);
    if (e.kind == EventKind::write) writes.add(n);
    if (e.thread == Event::kInitial) continue;
    if (e.accesses() && e.proxy == Proxy::generic) generic.add(n);
    has_proxy_fences =
        has_proxy_fences || e.kind == EventKind::proxy_fence || e.kind == EventKind::completion;
    if (e.kind == EventKind::proxy_fence && e.proxy == Proxy::alias) alias_fences.add(n);
    const PathEvent& of_path = paths[e.thread]->events[e.in_path];
    for (const unsigned read : of_path.after) dependency.add(first_event[e.thread] + read, n);
    if (of_path.partner != PathEvent::kNone) {
      e.partner = first_event[e.thread] + of_path.partner;
      events[e.partner].partner = n;
      atomic.add(e.partner, n);
    }
  }
  for (unsigned a = 0; a < size; ++a)
    for (unsigned b = 0; b < size; ++b) {
      const Event& x = events[a];
      const Event& y = events[b];
      if (x.accesses() && y.accesses() && x.overlaps(y)) {
        overlapping.add(a, b);
        if (x.address == y.address) same_address.add(a, b);
      }
      if (a == b) continue;
      if (x.thread == Event::kInitial || y.thread == Event::kInitial) continue;
      if (x.thread == y.thread && a < b && !are_of_one_vector(paths, x, y)) {
        switch (before(paths, x, y)) {
          case Before::no: break;
          case Before::program_order: program_order.add(a, b); break;
          case Before::covered: covered.add(a, b); break;
          case Before::uncovered: uncovered.add(a, b); break;
        }
      }
      const auto comes_before = [&](unsigned c, unsigned d) {
        return program_order.has(c, d) || covered.has(c, d) || uncovered.has(c, d);
      };
      const bool ordered = comes_before(a, b) || comes_before(b, a);
      if (are_morally_strong(test, x, y, ordered)) morally_strong.add(a, b);
      if (morally_strong.has(a, b) || are_atomic_to_each_other(test, x, y)) indivisible.add(a, b);
      if (!same_place(test, x, y) || x.proxy != y.proxy || !y.accesses()) continue;
      if (x.accesses()) same_proxy_and_cta.add(a, b);
      if (x.kind == EventKind::proxy_fence && orders_space(x, y)) proxy_fence_of.add(a, b);
      if (x.kind == EventKind::completion && x.thread == y.thread && completes(paths, x, y))
        completion_of.add(a, b);
    }
  for (unsigned a = 0; a < size; ++a)
    for (unsigned b = 0; b < size; ++b) {
      const Event& x = events[a];
      const Event& y = events[b];
      const bool ordered = program_order.has(a, b);
      const bool fully = ordered && x.address == y.address && x.covers(y) && y.covers(x);
      if (y.kind == EventKind::write && y.strong && x.releases &&
          (x.kind == EventKind::fence ? ordered : a == b || (x.kind == EventKind::write && fully)))
        release_pattern.add(a, b);
      // The thread never receives what its reduction read, so that a fence behind it makes no acquire
      // pattern.
      const bool observes =
          x.kind == EventKind::read && x.strong && x.instruction->op.kind != MemKind::reduction;
      if (observes && y.acquires &&
          (y.kind == EventKind::fence ? ordered : a == b || (y.kind == EventKind::read && fully)))
        acquire_pattern.add(a, b);
      if (a < b && x.sequential && y.sequential && morally_strong.has(a, b)) fence_pairs.emplace_back(a, b);
    }
}

std::vector<Stretch> Candidate::cut(const Stretch& whole) const {
  const unsigned end = whole.offset + whole.bytes;
  std::vector<unsigned> edges = {whole.offset, end};
  // Values have 8 bytes.
  if (whole.bytes > Test::kBytes) edges.push_back(whole.offset + Test::kBytes);
  writes.each([&](unsigned w) {
    const Event& e = events[w];
    if (e.memory != whole.memory) return;
    const bool wide = e.thread != Event::kInitial && e.bytes > Test::kBytes;
    for (const unsigned edge : {e.offset, e.offset + (wide ? Test::kBytes : 0), e.offset + e.bytes})
      if (edge > whole.offset && edge < end) edges.push_back(edge);
  });
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<Stretch> out;
  for (std::size_t n = 0; n + 1 < edges.size(); ++n)
    out.push_back({whole.memory, edges[n], edges[n + 1] - edges[n]});
  return out;
}

bool Candidate::may_tear(unsigned read, const Stretch& stretch) const {
  std::vector<unsigned> sources;
  const bool is_end = read == kEnd;
  writes.each([&](unsigned w) {
    const bool own = !is_end && w == events[read].partner;
    if (!initial.has(w) && events[w].covers(stretch) && !own) sources.push_back(w);
  });
  for (std::size_t n = 0; n < sources.size(); ++n) {
    // What precedes it in coherence order and what is one with the read are never mixed.
    if (!is_end && !indivisible.has(sources[n], read)) return true;
    for (std::size_t m = 0; m < n; ++m)
      if (!indivisible.has(sources[n], sources[m])) return true;
  }
  return false;
}

namespace {

/// Whether no value of the candidate, read or computed, is greater than a byte's, because every access has
/// all bytes of those that it overlaps, and the constants are small and few.
bool values_are_bytes(const Candidate& c) {
  constexpr std::uint64_t kMost = 255;
  for (const Event& e : c.events) {
    if (e.instruction == nullptr || !e.accesses()) continue;
    for (const Event& o : c.events)
      if (o.instruction != nullptr && o.accesses() && e.overlaps(o) && !(e.covers(o) && o.covers(e)))
        return false;
    if (e.bytes == 1 && e.kind == EventKind::read && is_signed(e.instruction->op.type)) return false;
  }
  std::uint64_t largest = 0, added = 0;
  unsigned doublings = 0;
  const auto is_small = [&](std::int64_t constant) {
    const bool small = constant >= 0 && constant <= static_cast<std::int64_t>(kMost);
    if (small) largest = std::max(largest, static_cast<std::uint64_t>(constant));
    return small;
  };
  for (const Memory& m : c.test.memories)
    if (!is_small(m.initial)) return false;
  for (const Path* path : c.paths)
    for (const Value& v : path->values) {
      if (v.kind == Value::Kind::constant && !is_small(v.constant)) return false;
      if (v.kind == Value::Kind::subtract) return false;
      // Comparisons, offsets and phases are small, and the states of mbarrier objects go nowhere else.
      if (v.kind != Value::Kind::add && v.kind != Value::Kind::atomic) continue;
      if (v.kind == Value::Kind::atomic && v.instruction->subtracts) return false;
      // No value depends on itself, so each constant is added once.
      bool constant = false;
      for (const unsigned n : {v.a, v.b})
        if (const Value& term = path->values[n]; term.kind == Value::Kind::constant) {
          constant = true;
          added += static_cast<std::uint64_t>(term.constant);
        }
      if (!constant && ++doublings > 8) return false;
    }
  return (largest + added) << doublings <= kMost;
}

}  // namespace

std::vector<Stretch> Candidate::parts(unsigned read, bool all) const {
  return parts(events[read], read, all);
}

std::vector<Stretch> Candidate::parts(const Stretch& whole, unsigned read, bool all) const {
  // Operations on an mbarrier object are whole to each other, and nothing else accesses it.
  if (test.memories[whole.memory].arrivals != 0) return {whole};
  const auto are_bytes = [this] {
    if (!values_are_bytes_) values_are_bytes_ = values_are_bytes(*this);
    return *values_are_bytes_;
  };
  // What byte `b` of memory gets from a write; nothing: it depends on what is read.
  const auto byte_of = [&](unsigned w, unsigned b) -> std::optional<std::uint8_t> {
    const Event& e = events[w];
    const unsigned n = b - e.offset;
    if (n >= 8) return std::nullopt;
    const auto of = [&](std::int64_t value) {
      return static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * n));
    };
    if (e.thread == Event::kInitial) return of(test.memories[e.memory].initial);
    const Value& v = paths[e.thread]->values[paths[e.thread]->events[e.in_path].value];
    if (v.kind == Value::Kind::constant) return of(v.constant);
    return n != 0 && are_bytes() ? std::optional<std::uint8_t>(0) : std::nullopt;
  };
  const auto tells = [&](const Stretch& stretch, unsigned b) {
    std::optional<std::uint8_t> one;
    bool differs = false;
    writes.each([&](unsigned w) {
      if (differs || !events[w].covers(stretch)) return;
      const auto byte = byte_of(w, b);
      differs = !byte || (one && *one != *byte);
      one = byte;
    });
    return differs;
  };
  return torn(whole, read, all, tells);
}

}  // namespace warpline::litmus
