#include <algorithm>

#include "platform/consistency/model.h"

namespace warpline::litmus {
namespace {

/// One execution of a barrier instruction.
struct Arrival {
  unsigned event = 0;
  std::int64_t id = 0;
  std::int64_t threads = 0;  ///< that meet; 0: all that use this barrier
  unsigned time = 0;         ///< how often its thread was at this barrier before
};

/// How the barriers of one execution meet. What arrives, by bar.sync or bar.arrive, precedes what waits, a
/// bar.sync, that it lets go on (PTX ISA, "bar"). Without a number of threads, or where as many use the
/// barrier as it has, the n-th time of one thread meets the n-th of the others; else any that are enough may
/// have met.
class Meeting {
 public:
  Meeting(const Candidate& c, Values& values, const std::function<bool(const Relation&)>& f)
      : c_(c), f_(f), order_(c.size) {
    for (unsigned e = 0; e < c.size; ++e)
      if (c.events[e].kind == EventKind::barrier) arrive(e, values);
  }

  bool run(std::size_t next = 0) {
    while (next < arrivals_.size() && !c_.events[arrivals_[next].event].instruction->waits) ++next;
    if (next == arrivals_.size()) return f_(order_);
    const Arrival& own = arrivals_[next];
    std::vector<unsigned> others;
    bool in_step = own.threads == 0 || threads_at(own) == own.threads;
    for (const Arrival& a : arrivals_)
      if (meets(own, a) && (!in_step || a.time == own.time)) others.push_back(a.event);
    if (!in_step) return choose(next, others, 0, static_cast<std::size_t>(own.threads - 1));
    if (own.threads != 0 && others.size() + 1 < static_cast<std::size_t>(own.threads)) return false;
    const Relation before = order_;
    for (const unsigned e : others) order_.add(e, own.event);
    const bool found = run(next + 1);
    order_ = before;
    return found;
  }

 private:
  void arrive(unsigned e, Values& values) {
    const PathEvent& p = c_.paths[c_.events[e].thread]->events[c_.events[e].in_path];
    Arrival a;
    a.event = e;
    a.id = values.of(c_.events[e].thread, p.value).value_or(0);
    if (p.instruction->counts) a.threads = values.of(c_.events[e].thread, p.threads).value_or(0);
    for (const Arrival& earlier : arrivals_)
      a.time += c_.events[earlier.event].thread == c_.events[e].thread && earlier.id == a.id;
    arrivals_.push_back(a);
  }

  [[nodiscard]] bool same_barrier(const Arrival& a, const Arrival& b) const {
    const auto& threads = c_.test.threads;
    return a.id == b.id &&
           threads[c_.events[a.event].thread].place.same_cta(threads[c_.events[b.event].thread].place);
  }
  [[nodiscard]] bool meets(const Arrival& a, const Arrival& b) const {
    return same_barrier(a, b) && c_.events[a.event].thread != c_.events[b.event].thread;
  }
  [[nodiscard]] std::int64_t threads_at(const Arrival& own) const {
    std::vector<unsigned> threads;
    for (const Arrival& a : arrivals_)
      if (same_barrier(own, a)) threads.push_back(c_.events[a.event].thread);
    std::sort(threads.begin(), threads.end());
    return std::unique(threads.begin(), threads.end()) - threads.begin();
  }

  /// `wanted` of `others`, from `from` on, have met the arrival `next`.
  bool choose(std::size_t next, const std::vector<unsigned>& others, std::size_t from, std::size_t wanted) {
    if (wanted == 0) return run(next + 1);
    for (std::size_t n = from; n + wanted <= others.size(); ++n) {
      const EventSet before = order_.row(others[n]);
      order_.add(others[n], arrivals_[next].event);
      if (choose(next, others, n + 1, wanted - 1)) return true;
      order_.row(others[n]) = before;
    }
    return false;
  }

  const Candidate& c_;
  const std::function<bool(const Relation&)>& f_;
  std::vector<Arrival> arrivals_;
  Relation order_;
};

}  // namespace

bool each_barrier_order(const Candidate& c, Values& values, const std::function<bool(const Relation&)>& f) {
  return Meeting(c, values, f).run();
}

}  // namespace warpline::litmus
