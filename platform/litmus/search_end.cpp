// How an execution ends: what its registers hold, and which write each byte of memory is of.
#include <algorithm>

#include "warpline/litmus/search.h"

namespace warpline::litmus {

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
