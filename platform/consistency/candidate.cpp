#include <algorithm>

#include "platform/consistency/execution.h"

namespace warpline::litmus {
namespace {

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
  e.scope = i.op.scope;
  e.strong = i.op.is_strong();
  e.acquires = i.op.acquires() && e.kind != EventKind::write;
  e.releases = i.op.releases() && e.kind != EventKind::read;
  e.sequential = e.kind == EventKind::fence && i.op.semantics == Semantics::sc;
  if (!e.accesses()) return e;
  const Location& l = test.locations[i.location];
  e.memory = l.memory;
  e.address = l.address;
  e.offset = i.offset;
  e.bytes = i.bytes();
  return e;
}

bool same_place(const Test& test, const Event& a, const Event& b) {
  return a.thread != Event::kInitial && b.thread != Event::kInitial &&
         test.threads[a.thread].place.same_cta(test.threads[b.thread].place);
}

/// PTX ISA, "Morally strong operations".
bool are_morally_strong(const Test& test, const Event& a, const Event& b, bool ordered) {
  const auto includes_other = [&](const Event& x, const Event& y) {
    return includes(x.scope, test.threads[x.thread].place, test.threads[y.thread].place);
  };
  if (!ordered && !(a.strong && b.strong && includes_other(a, b) && includes_other(b, a))) return false;
  if (a.proxy != b.proxy) return false;
  return !a.accesses() || !b.accesses() ||
         (a.memory == b.memory && a.address == b.address && a.offset == b.offset && a.bytes == b.bytes);
}

}  // namespace

Candidate::Candidate(const Test& t, const std::vector<const Path*>& p) : test(t), paths(p) {
  for (unsigned m = 0; m < test.memories.size(); ++m) {
    Event e;
    e.memory = m;
    e.bytes = std::max(Test::kBytes, test.memories[m].bytes);
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
  for (Relation* r : {&program_order, &dependency, &overlapping, &same_address, &morally_strong, &atomic,
                      &release_pattern, &acquire_pattern, &same_proxy_and_cta, &proxy_fence_of})
    *r = Relation(size);

  for (unsigned n = 0; n < size; ++n) {
    Event& e = events[n];
    if (e.kind == EventKind::read) reads.add(n);
    if (e.kind == EventKind::write) writes.add(n);
    if (e.thread == Event::kInitial) continue;
    if (e.accesses() && e.proxy == Proxy::generic) generic.add(n);
    has_proxy_fences = has_proxy_fences || e.kind == EventKind::proxy_fence;
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
      if (x.thread == y.thread && a < b) program_order.add(a, b);
      if (are_morally_strong(test, x, y, x.thread == y.thread)) morally_strong.add(a, b);
      if (!same_place(test, x, y) || x.proxy != y.proxy || !y.accesses()) continue;
      if (x.accesses()) same_proxy_and_cta.add(a, b);
      if (x.kind == EventKind::proxy_fence) proxy_fence_of.add(a, b);
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
  writes.each([&](unsigned w) {
    const Event& e = events[w];
    if (e.memory != whole.memory) return;
    for (const unsigned edge : {e.offset, e.offset + e.bytes})
      if (edge > whole.offset && edge < end) edges.push_back(edge);
  });
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<Stretch> out;
  for (std::size_t n = 0; n + 1 < edges.size(); ++n)
    out.push_back({whole.memory, edges[n], edges[n + 1] - edges[n]});
  return out;
}

}  // namespace warpline::litmus
