#include "platform/consistency/execution_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "platform/consistency/graph.h"
#include "platform/consistency/read_sources.h"
#include "platform/consistency/record/execution_record.h"

namespace warpline::litmus {
namespace {

/// Returns whether there was any.
template <class F>
bool take_out(std::vector<unsigned>& list, const F& f) {
  const auto end = std::remove_if(list.begin(), list.end(), f);
  const bool any = end != list.end();
  list.erase(end, list.end());
  return any;
}

/// Looks for what reads read such that a recorded execution obeys the axioms.
class ExecutionJudge {
 public:
  ExecutionJudge(const RecordedTest& recorded, const JudgeOptions& options, std::uint64_t most_tries)
      : recorded_(recorded),
        draws_(options.draw),
        stop_(options.stop),
        most_tries_(most_tries),
        c_(recorded.test(), recorded.paths()),
        sources_(sources_of_reads(recorded, c_, Tearing::none)),
        coherence_(c_.size),
        fences_(c_.size),
        barriers_(c_.size) {
    order_writes();
    order_fences();
    order_barriers();
  }

  Judgement run() {
    Judgement out;
    // Reads that are torn ask more of the axioms than reads of one write: first without.
    const bool has_whole = !nobody_wrote(sources_).has_value();
    bool obeys = has_whole && search(sources_);
    std::vector<ReadSources> torn;
    if (!obeys && !spent()) torn = sources_of_reads(recorded_, c_, Tearing::racing);
    const bool tears = torn.size() > sources_.size();
    const std::vector<ReadSources>& all = has_whole || !tears ? sources_ : torn;
    const auto nobody = tears ? nobody_wrote(torn) : nobody_wrote(sources_);
    if (tears && !nobody) obeys = search(torn);
    if (obeys) {
      out.verdict = Judgement::Verdict::obeys;
    } else if (stopped_) {
      out.stopped = true;
      out.reason = "interrupted";
    } else if (spent()) {
      out.reason =
          fmt::format("values do not tell what reads read, and {} tries did not show it", most_tries_);
    } else {
      const std::vector<ReadSources> apart =
          nobody ? sources_of_reads(recorded_, c_, Tearing::all) : std::vector<ReadSources>{};
      const bool exists = nobody && !nobody_wrote(apart);
      explain(exists ? apart : all, out);
      if (nobody && !exists) {
        out.axiom = "reads-from";
        const RecordedEvent& e = *recorded_.origin(c_.events[*nobody]);
        out.reason =
            fmt::format("{} reads {} of {}, which nobody had written", place_of(recorded_.record(), e),
                        value_text(e.read, e.bytes), name_of(recorded_.record(), e));
      }
    }
    out.tries = tries_;
    return out;
  }

 private:
  [[nodiscard]] const RecordedEvent* origin(unsigned e) const { return recorded_.origin(c_.events[e]); }

  /// A read that has bytes that nobody had written.
  [[nodiscard]] static std::optional<unsigned> nobody_wrote(const std::vector<ReadSources>& sources) {
    for (const ReadSources& s : sources)
      if (s.writes.empty()) return s.slot.read;
    return std::nullopt;
  }

  void order_writes() {
    const auto moment = [&](unsigned w) { return origin(w) == nullptr ? 0 : origin(w)->coherent; };
    c_.writes.each([&](unsigned a) {
      c_.overlapping.row(a).each([&](unsigned b) {
        if (c_.writes.has(b) && moment(a) < moment(b)) coherence_.add(a, b);
      });
    });
    coherence_ = coherence_.closure();
  }

  /// When a thread goes on behind a fence, what came before it has been drained, and nothing behind it has
  /// been read: the order in which threads go on is one that fits.
  void order_fences() {
    for (const auto& [a, b] : c_.fence_pairs) {
      const bool forward = origin(a)->answered < origin(b)->answered;
      fences_.add(forward ? a : b, forward ? b : a);
    }
    fences_ = fences_.closure();
  }

  void order_barriers() {
    std::vector<unsigned> arrivals;
    for (unsigned e = 0; e < c_.size; ++e)
      if (c_.events[e].kind == EventKind::barrier) arrivals.push_back(e);
    for (const unsigned a : arrivals)
      for (const unsigned b : arrivals)
        if (c_.events[a].thread != c_.events[b].thread && origin(a)->meeting == origin(b)->meeting &&
            origin(b)->waits && (!origin(a)->of_cluster || origin(a)->releases))
          barriers_.add(a, b);
  }

  /// What is known: reads with one source left.
  [[nodiscard]] static std::vector<ReadsFrom> known(const std::vector<ReadSources>& sources) {
    std::vector<ReadsFrom> out;
    for (const ReadSources& s : sources) {
      out.push_back(s.slot);
      if (s.writes.size() == 1) out.back().write = s.writes.front();
    }
    return out;
  }

  /// Who reads any byte of a write that is one with it reads none from before that write.
  void untear(std::vector<ReadSources>& sources, bool& removed) const {
    for (const ReadSources& s : sources) {
      if (s.writes.size() != 1) continue;
      const unsigned known = s.writes.front();
      const unsigned read = s.slot.read;
      for (ReadSources& other : sources) {
        if (&other == &s || other.slot.read != read) continue;
        const auto torn = [&](unsigned w) {
          const bool older = c_.indivisible.has(known, read) && coherence_.has(w, known) &&
                             c_.events[known].overlaps(other.slot);
          return older ||
                 (c_.indivisible.has(w, read) && coherence_.has(known, w) && c_.events[w].overlaps(s.slot));
        };
        removed |= take_out(other.writes, torn);
      }
    }
  }

  /// Takes out the sources that contradict what is known, until nothing more follows. False: there is none
  /// left of some read, or what is known violates an axiom.
  bool narrow(std::vector<ReadSources>& sources) {
    for (;;) {
      const Relation reads_from = reads_from_relation(c_, known(sources));
      const Causality all = causality(c_, reads_from, fences_, barriers_);
      if (violated_without_coherence(c_, reads_from, all)) return false;
      const Relation causes_of = all.cause.inverse();
      bool removed = false, lost = false;
      for (ReadSources& s : sources) {
        const auto fails = [&](unsigned w) {
          if (all.cause.has(s.slot.read, w)) return true;
          bool hidden = false;
          (causes_of.row(s.slot.read) & coherence_.row(w)).each([&](unsigned later) {
            hidden |= c_.events[later].overlaps(s.slot);
          });
          return hidden;
        };
        removed |= take_out(s.writes, fails);
        lost |= s.writes.empty();
      }
      untear(sources, removed);
      if (lost) return false;
      if (!removed) return true;
    }
  }

  /// The read whose source is chosen next. The search revises its latest choices first. So atomics come
  /// before other reads, because the first candidate, the latest write, is nearly always theirs; then come
  /// the reads with the fewest candidates.
  [[nodiscard]] auto next_choice(std::vector<ReadSources>& sources) const {
    const auto rank = [&](const ReadSources& s) {
      const bool open = s.writes.size() != 1;
      const bool atomic = c_.events[s.slot.read].partner != Event::kNone;
      return std::tuple(!open, !atomic, s.writes.size());
    };
    const auto next = std::min_element(sources.begin(), sources.end(),
                                       [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return next == sources.end() || next->writes.size() == 1 ? sources.end() : next;
  }

  bool search(std::vector<ReadSources> sources) {
    ++tries_;
    if (spent() || !narrow(sources)) return false;
    const auto open = next_choice(sources);
    if (open == sources.end()) return !violated(known(sources));
    const std::vector<unsigned> choices = open->writes;
    for (const unsigned w : choices) {
      open->writes = {w};
      if (search(sources)) return true;
      if (spent()) return false;
    }
    return false;
  }
  /// Whether there are to be no more tries.
  [[nodiscard]] bool spent() {
    stopped_ = stopped_ || (stop_ && stop_());
    return stopped_ || tries_ > most_tries_;
  }

  [[nodiscard]] std::optional<Axiom> violated(const std::vector<ReadsFrom>& reads_from) const {
    const Relation relation = reads_from_relation(c_, reads_from);
    const Causality all = causality(c_, relation, fences_, barriers_);
    if (const auto axiom = violated_without_coherence(c_, relation, all)) return axiom;
    std::optional<Axiom> why;
    const bool found = each_coherence_order(
        c_, reads_from, all, [](const Relation&) { return true; }, why, &coherence_);
    return found ? std::nullopt : why;
  }

  /// Says what is wrong with the likeliest of the executions that were rejected.
  void explain(std::vector<ReadSources> sources, Judgement& out) const {
    out.verdict = Judgement::Verdict::violates;
    for (ReadSources& s : sources)
      if (s.writes.size() > 1) s.writes.resize(1);
    const std::vector<ReadsFrom> reads_from = known(sources);
    const Axiom axiom = violated(reads_from).value_or(Axiom::causality);
    out.axiom = name_of(axiom);
    out.reason = "no choice of what reads read obeys the axioms";
    const Causality all = causality(c_, reads_from_relation(c_, reads_from), fences_, barriers_);
    if (const auto race = mixed_size_race(c_, all)) {
      const RecordedEvent& a = *origin(race->first);
      const RecordedEvent& b = *origin(race->second);
      out.remark = fmt::format(
          "{} and {} access {} by different sizes without an order: of such a race PTX "
          "promises nothing, and its axioms are applied all the same",
          place_of(recorded_.record(), a), place_of(recorded_.record(), b), name_of(recorded_.record(), b));
    }
    if (!draws_) return;
    out.graph = draw(c_, reads_from, coherence_, all, axiom);
  }

  const RecordedTest& recorded_;
  bool draws_;
  const std::function<bool()>& stop_;
  bool stopped_ = false;
  std::uint64_t most_tries_;
  const Candidate c_;
  const std::vector<ReadSources> sources_;
  Relation coherence_, fences_, barriers_;
  std::uint64_t tries_ = 0;
};

}  // namespace

Judgement judge_execution(const RecordedTest& recorded, const JudgeOptions& options,
                          std::uint64_t most_tries) {
  return ExecutionJudge(recorded, options, most_tries).run();
}

}  // namespace warpline::litmus
