#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "platform/consistency/model.h"

namespace warpline::litmus {
namespace {

/// One execution of a barrier instruction.
struct Arrival {
  unsigned event = 0;
  std::int64_t id = 0;
  std::int64_t threads = 0;  ///< that meet; 0: all that use this barrier
  unsigned time = 0;         ///< how often its thread was at this barrier before
  BarrierUse use = {};
};

/// How the barriers of one execution meet. What arrives, by bar.sync or bar.arrive, precedes what waits, a
/// bar.sync, that it lets go on (PTX ISA, "bar"). Without a number of threads, or where as many use the
/// barrier as it has, the n-th time of one thread meets the n-th of the others; else any that are enough may
/// have met. Where a thread may arrive a second time before all others have, barriers count as the SM's do.
class Meeting {
 public:
  Meeting(const Candidate& c, Values& values, const std::function<bool(const Relation&)>& f)
      : c_(c), f_(f), order_(c.size) {
    for (unsigned e = 0; e < c.size; ++e)
      if (c.events[e].kind == EventKind::barrier && c.events[e].instruction->kind == InstructionKind::barrier)
        arrive(e, values);
    order_clusters();
  }

  bool run() {
    const bool some_left = std::any_of(arrivals_.begin(), arrivals_.end(),
                                       [](const Arrival& a) { return passes(a, a.use.arrivals); });
    if (!some_left && !may_come_twice()) return meet(0);
    Count count;
    for (const Arrival& a : arrivals_) count.threads[c_.events[a.event].thread].push_back(&a);
    bool found = false;
    return play(count, found) ? found : meet(0);
  }

 private:
  /// Barriers between two arrivals.
  struct Count {
    struct Thread : std::vector<const Arrival*> {
      std::size_t next = 0;
      bool waits = false, exited = false;
      [[nodiscard]] bool is_done() const { return !waits && next == size(); }
    };
    struct Barrier {
      std::vector<const Arrival*> arrived;
      std::int64_t expected = 0;
    };
    std::map<unsigned, Thread> threads;
    std::map<std::pair<std::uint64_t, std::int64_t>, unsigned> arrivals;  ///< so far
    std::map<std::pair<std::uint64_t, std::int64_t>, Barrier> barriers;   ///< in use; by CTA and number
  };

  /// Threads of a cluster meet at one barrier, the n-th time of one that of the others; who has exited is not
  /// waited for. An arrival precedes each wait of its phase, unless it is relaxed (PTX ISA,
  /// "barrier.cluster").
  void order_clusters() {
    std::vector<unsigned> arrived(c_.test.threads.size(), 0), waited(c_.test.threads.size(), 0);
    std::vector<std::pair<unsigned, unsigned>> arrivals, waits;  // event, phase
    for (unsigned e = 0; e < c_.size; ++e) {
      if (c_.events[e].kind != EventKind::barrier) continue;
      const Instruction& i = *c_.events[e].instruction;
      const unsigned thread = c_.events[e].thread;
      if (i.kind == InstructionKind::cluster_wait) waits.emplace_back(e, waited[thread]++);
      if (i.kind != InstructionKind::cluster_arrive) continue;
      const unsigned phase = arrived[thread]++;
      if (i.op.semantics == Semantics::release) arrivals.emplace_back(e, phase);
    }
    for (const auto& [a, phase] : arrivals)
      for (const auto& [w, of] : waits)
        if (phase == of && c_.test.threads[c_.events[a].thread].place.same_cluster(
                               c_.test.threads[c_.events[w].thread].place))
          order_.add(a, w);
  }

  bool meet(std::size_t next) {
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
    const bool found = meet(next + 1);
    order_ = before;
    return found;
  }

  /// Whether a thread that arrives without waiting comes to the same barrier again.
  [[nodiscard]] bool may_come_twice() const {
    for (const Arrival& a : arrivals_)
      for (const Arrival& later : arrivals_)
        if (a.event < later.event && same_barrier(a, later) && !meets(a, later) && !waits(a)) return true;
    return false;
  }
  [[nodiscard]] bool waits(const Arrival& a) const { return c_.events[a.event].instruction->waits; }
  [[nodiscard]] unsigned thread_of(const Arrival& a) const { return c_.events[a.event].thread; }

  /// Has threads arrive and exit in every order, and tries what the barriers order then. False: there are too
  /// many orders.
  bool play(const Count& count, bool& found) {
    constexpr std::size_t kMostStates = 20000;
    if (found || !seen_.insert(key_of(count)).second) return true;
    if (seen_.size() > kMostStates) return false;
    bool all_exited = true;
    for (const auto& [thread, of] : count.threads) {
      all_exited = all_exited && of.exited;
      if (of.waits || of.exited) continue;
      const Relation before = order_;
      Count next = count;
      Count::Thread& mover = next.threads.at(thread);
      if (mover.is_done()) {
        mover.exited = true;
      } else {
        come(next, *mover[mover.next++]);
      }
      release(next);
      if (!play(next, found)) return false;
      order_ = before;
    }
    if (all_exited) found = found || f_(order_);
    return true;
  }
  void come(Count& count, const Arrival& a) {
    const auto barrier = std::pair(cta_of(a), a.id);
    const unsigned number = ++count.arrivals[barrier];
    if (passes(a, number)) return pass(count, a);
    Count::Barrier& b = count.barriers[barrier];
    b.arrived.push_back(&a);
    if (a.threads != 0) b.expected = a.threads;
    count.threads.at(thread_of(a)).waits = waits(a);
  }
  /// Who passes has met those who came before.
  void pass(const Count& count, const Arrival& a) {
    for (const auto& [thread, of] : count.threads)
      for (std::size_t n = 0; n < of.next; ++n)
        if (meets(a, *of[n]) && waits(a)) order_.add(of[n]->event, a.event);
  }
  /// Whether it does as the arrival of that number at its barrier, from 1 on.
  [[nodiscard]] static bool passes(const Arrival& a, unsigned number) {
    return a.threads != 0 && is_left_over(number, a.use.arrivals, static_cast<unsigned>(a.threads));
  }
  /// Releases who waits at barriers that are complete.
  void release(Count& count) {
    for (auto b = count.barriers.begin(); b != count.barriers.end();) {
      if (!is_complete(count, b->second)) {
        ++b;
        continue;
      }
      for (const Arrival* w : b->second.arrived) {
        if (!waits(*w)) continue;
        count.threads.at(thread_of(*w)).waits = false;
        for (const Arrival* a : b->second.arrived)
          if (thread_of(*a) != thread_of(*w)) order_.add(a->event, w->event);
      }
      b = count.barriers.erase(b);
    }
  }
  [[nodiscard]] bool is_complete(const Count& count, const Count::Barrier& b) const {
    const Arrival& first = *b.arrived.front();
    std::size_t expected = b.expected != 0 ? static_cast<std::size_t>(b.expected) : first.use.threads;
    if (expected == 0) {
      // Every thread that has not exited, and of those that have, what had arrived.
      for (const auto& [thread, of] : count.threads)
        expected += !of.exited && c_.test.threads[thread].place.same_cta(place_of(first));
      for (const Arrival* a : b.arrived) expected += count.threads.at(thread_of(*a)).exited;
    }
    return b.arrived.size() >= expected;
  }
  /// All that what follows depends on.
  [[nodiscard]] std::vector<std::uint64_t> key_of(const Count& count) const {
    std::vector<std::uint64_t> key;
    for (const auto& [thread, of] : count.threads) key.push_back(of.next * 4 + of.waits * 2U + of.exited);
    for (const auto& [id, number] : count.arrivals) key.push_back(number);
    for (const auto& [id, b] : count.barriers) {
      std::vector<std::uint64_t> arrived;
      for (const Arrival* a : b.arrived) arrived.push_back(a->event);
      std::sort(arrived.begin(), arrived.end());
      key.insert(key.end(), arrived.begin(), arrived.end());
      key.push_back(~std::uint64_t{0});
    }
    for (const Arrival& a : arrivals_)
      for (const Arrival& w : arrivals_)
        if (order_.has(a.event, w.event)) key.push_back(std::uint64_t{a.event} << 32U | w.event);
    return key;
  }

  void arrive(unsigned e, Values& values) {
    const PathEvent& p = c_.paths[c_.events[e].thread]->events[c_.events[e].in_path];
    Arrival a;
    a.event = e;
    a.id = values.of(c_.events[e].thread, p.value).value_or(0);
    if (p.instruction->counts) a.threads = values.of(c_.events[e].thread, p.threads).value_or(0);
    a.use = barrier_use(c_.test, c_.test.threads[c_.events[e].thread], *p.instruction);
    for (const Arrival& earlier : arrivals_)
      a.time += c_.events[earlier.event].thread == c_.events[e].thread && earlier.id == a.id;
    arrivals_.push_back(a);
  }

  [[nodiscard]] const Placement& place_of(const Arrival& a) const {
    return c_.test.threads[thread_of(a)].place;
  }
  [[nodiscard]] std::uint64_t cta_of(const Arrival& a) const {
    std::uint64_t first = 0;
    while (!c_.test.threads[first].place.same_cta(place_of(a))) ++first;
    return first;
  }
  [[nodiscard]] bool same_barrier(const Arrival& a, const Arrival& b) const {
    return a.id == b.id && place_of(a).same_cta(place_of(b));
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
    if (wanted == 0) return meet(next + 1);
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
  std::set<std::vector<std::uint64_t>> seen_;  ///< states of the barriers, tried
};

}  // namespace

bool each_barrier_order(const Candidate& c, Values& values, const std::function<bool(const Relation&)>& f) {
  return Meeting(c, values, f).run();
}

}  // namespace warpline::litmus
