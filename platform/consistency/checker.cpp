#include "platform/consistency/checker.h"

#include <algorithm>
#include <array>

#include "platform/consistency/graph.h"

namespace warpline::litmus {
namespace {

/// Events of an execution that is looked at, at most.
constexpr std::size_t kMostEvents = 128;

/// A value that a register must have at the end.
struct Demand {
  unsigned thread = 0, number = 0;
  std::int64_t value = 0;
};

/// What is looked for.
struct Question {
  std::vector<Term> terms;                     ///< that it looks at
  std::function<bool(const ValueOf&)> wanted;  ///< whether an end is the one looked for
  const ObservedRun* seen = nullptr;           ///< if set, reads read as this says
  std::vector<Demand> demands;                 ///< that every such end meets
  std::vector<Demand> demands_of_memory;       ///< likewise, of locations by their number
  bool tears = false;  ///< looks at reads that are torn although nothing may tear them, too
  bool races = false;  ///< looks for a mixed-size data race instead: in any execution
};

/// Looks through the executions of a test for one with a certain end that the axioms allow.
class Search {
 public:
  Search(const Test& test, const Question& question, const CheckOptions& options)
      : test_(test), question_(question), options_(options), budget_(options.work, options.stop) {}

  Verdict run() {
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
    if (const auto most = std::max_element(rejected_.begin(), rejected_.end());
        !verdict_.allowed && *most != 0)
      verdict_.axiom = name_of(static_cast<Axiom>(most - rejected_.begin()));
    return std::move(verdict_);
  }

 private:
  /// Bytes of a memory that the question looks at, and which write was the last of them.
  struct LastWrite : Stretch {
    unsigned write = Event::kNone;
  };

  bool combine(unsigned thread) {
    if (thread == all_paths_.size()) return judge_candidate();
    for (const Path& p : all_paths_[thread]) {
      paths_[thread] = &p;
      if (combine(thread + 1)) return true;
    }
    return false;
  }

  bool judge_candidate() {
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
    c.reads.each([&](unsigned read) {
      // Where a read is torn, more is asked for than where it is not: races are there without.
      const auto parts = question_.races ? c.cut(c.events[read]) : c.parts(read, question_.tears);
      for (const Stretch& bytes : parts) slots_.push_back({bytes, read, Event::kNone});
    });
    bool as_seen = true;
    if (question_.seen != nullptr)
      for (unsigned t = 0; t < paths_.size(); ++t) {
        std::size_t reads = 0;
        for (const PathEvent& e : paths_[t]->events) reads += e.kind == EventKind::read;
        as_seen = as_seen && reads == question_.seen->reads[t].size();
      }
    add_last_writes();
    return as_seen && assign(0);
  }

  [[nodiscard]] bool was_seen(unsigned read, unsigned write) const {
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

  /// Whether the bytes that `write` would give to a read are others than the question asks for.
  [[nodiscard]] bool contradicts(const ReadsFrom& slot, unsigned write, Values& values) const {
    const Event& r = candidate_->events[slot.read];
    for (const Demand& d : question_.demands) {
      if (d.thread != r.thread) continue;
      const Path& path = *paths_[d.thread];
      const Value& v = path.values[path.registers[d.number]];
      if (v.kind != Value::Kind::read || v.event != r.in_path || v.constant != 0) continue;
      if (is_other(slot, slot.offset - r.offset, write, d.value, values)) return true;
    }
    return false;
  }

  /// Whether `write` is known to leave in `bytes` other ones than `value` has from byte `from` on.
  [[nodiscard]] static bool is_other(const Stretch& bytes, unsigned from, unsigned write, std::int64_t value,
                                     Values& values) {
    const auto bits = values.written(write, bytes);
    if (from >= Test::kBytes) return false;
    const std::uint64_t wanted = static_cast<std::uint64_t>(value) >> (8 * from);
    const std::uint64_t mask = bytes.bytes >= 8 ? ~0ULL : (1ULL << (8 * bytes.bytes)) - 1;
    return bits && (wanted & mask) != *bits;
  }

  [[nodiscard]] bool may_read(const ReadsFrom& slot, unsigned write) const {
    const Event& w = candidate_->events[write];
    const Event& r = candidate_->events[slot.read];
    if (!w.covers(slot)) return false;
    // What the thread itself writes later by the same proxy and address cannot be read yet (causality).
    if (candidate_->program_order.has(slot.read, write) && w.proxy == r.proxy && w.address == r.address)
      return false;
    return was_seen(slot.read, write);
  }

  /// Whether a register is known to end with another value than the question asks for.
  [[nodiscard]] bool misses_a_demand(Values& values) const {
    return std::any_of(question_.demands.begin(), question_.demands.end(), [&](const Demand& d) {
      const auto value = values.of(d.thread, paths_[d.thread]->registers[d.number]);
      return value && *value != d.value;
    });
  }

  bool assign(std::size_t slot) {
    if (!budget_.spend(candidate_->size)) return true;
    constexpr std::size_t kCheckedEarly = 4;
    Values values(*candidate_, slots_);
    if (!values.possible() || misses_a_demand(values)) return false;
    if (slot == slots_.size()) return judge_reads();
    if (slot >= kCheckedEarly && is_hopeless(slot)) return false;
    bool found = false;
    candidate_->writes.each([&](unsigned write) {
      if (found || !may_read(slots_[slot], write) || contradicts(slots_[slot], write, values)) return;
      if (adds_nothing(slot, write, values)) return;
      slots_[slot].write = write;
      found = assign(slot + 1);
    });
    slots_[slot].write = Event::kNone;
    return found;
  }

  /// Whether the read of `slot` has bytes from `write` already, of bytes that all writes have together with
  /// those of `slot`: then these from it, too, say nothing more of the read.
  [[nodiscard]] bool reads_beside(std::size_t slot, unsigned write) const {
    const ReadsFrom& here = slots_[slot];
    for (std::size_t k = slot; k-- > 0 && slots_[k].read == here.read;) {
      if (slots_[k].write != write) continue;
      bool together = true;
      candidate_->writes.each([&](unsigned w) {
        const Event& e = candidate_->events[w];
        together = together && e.covers(here) == e.covers(slots_[k]) && e.overlaps(here) == e.covers(here) &&
                   e.overlaps(slots_[k]) == e.covers(slots_[k]);
      });
      if (together) return true;
    }
    return false;
  }

  /// Whether the same bytes of `slot` from another write, which the read reads beside, leave no less room for
  /// the rest than from `write`. Of several such writes the first is not given up for another.
  [[nodiscard]] bool adds_nothing(std::size_t slot, unsigned write, Values& values) const {
    if (question_.seen != nullptr) return false;
    const ReadsFrom& here = slots_[slot];
    const auto bits = values.written(write, here);
    if (!bits) return false;
    const bool beside = reads_beside(slot, write);
    for (std::size_t k = slot; k-- > 0 && slots_[k].read == here.read;) {
      const unsigned other = slots_[k].write;
      if (other == write || (beside && other > write)) continue;
      if (candidate_->events[other].covers(here) && may_read(here, other) && reads_beside(slot, other) &&
          bits == values.written(other, here))
        return true;
    }
    return false;
  }

  /// Whether the first `slots` contradict the axioms whatever the others read.
  [[nodiscard]] bool is_hopeless(std::size_t slots) const {
    const Candidate& c = *candidate_;
    // Of two morally strong atomics that read the same, the one that writes first intervenes in the other.
    for (std::size_t a = 0; a < slots; ++a)
      for (std::size_t b = a + 1; b < slots; ++b) {
        const unsigned read = slots_[a].read, other = slots_[b].read, write = slots_[a].write;
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

  bool judge_reads() {
    ++verdict_.executions;
    if (!looks_at_memory_ && !wanted()) return false;
    return order_fences(0, Relation(candidate_->size));
  }

  bool order_fences(std::size_t pair, Relation order) {
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

  bool judge_orders(const Relation& fences, const Relation& barriers) {
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
          if (question_.races) return note_race(all);
          if (!choose_last(coherence, 0)) return false;
          if (options_.draw) verdict_.graph = draw(*candidate_, slots_, coherence, all, std::nullopt);
          return true;
        },
        why, nullptr, &budget_);
    if (!found && why) reject(*why, all);
    return found;
  }

  bool note_race(const Causality& causality) {
    const auto race = mixed_size_race(*candidate_, causality);
    if (!race) return false;
    const auto text = [&](unsigned e) {
      const Event& of = candidate_->events[e];
      return test_.threads[of.thread].name + ": " + of.instruction->text;
    };
    verdict_.mixed_size_race = "\"" + text(race->first) + "\" and \"" + text(race->second) + "\"";
    return true;
  }

  void reject(Axiom axiom, const Causality& causality) {
    // Of an end in memory it is not known yet whether it would be the one in question.
    if (looks_at_memory_ && !options_.draw) return;
    ++rejected_[static_cast<std::size_t>(axiom)];
    if (options_.draw && verdict_.graph.empty())
      verdict_.graph = draw(*candidate_, slots_, Relation(candidate_->size), causality, axiom);
  }

  void add_last_writes() {
    last_writes_.clear();
    for (const Term& t : question_.terms) {
      if (t.kind != Term::Kind::location) continue;
      const unsigned memory = test_.locations[t.number].memory;
      if (std::any_of(last_writes_.begin(), last_writes_.end(),
                      [&](const LastWrite& l) { return l.memory == memory; }))
        continue;
      for (const Stretch& bytes : candidate_->parts_of_end({memory, 0, test_.memories[memory].bytes}))
        last_writes_.push_back({bytes, Event::kNone});
    }
  }

  bool choose_last(const Relation& coherence, std::size_t next) {
    if (!looks_at_memory_) return true;
    if (next == last_writes_.size()) return wanted();
    LastWrite& last = last_writes_[next];
    bool found = false;
    Values values(*candidate_, slots_);
    candidate_->writes.each([&](unsigned write) {
      if (found || !candidate_->events[write].covers(last)) return;
      for (const Demand& d : question_.demands_of_memory)
        if (test_.locations[d.number].memory == last.memory &&
            is_other(last, last.offset, write, d.value, values))
          return;
      bool is_last = true;
      coherence.row(write).each([&](unsigned later) { is_last &= !candidate_->events[later].covers(last); });
      if (!is_last) return;
      last.write = write;
      found = choose_last(coherence, next + 1);
    });
    return found;
  }

  [[nodiscard]] bool wanted() {
    Values values(*candidate_, slots_);
    return question_.wanted([&](const Term& t) {
      if (t.kind == Term::Kind::reg)
        return values.of(t.thread, paths_[t.thread]->registers[t.number]).value_or(0);
      const unsigned memory = test_.locations[t.number].memory;
      std::uint64_t bits = 0;
      for (const LastWrite& l : last_writes_)
        if (l.memory == memory && l.offset < Test::kBytes)
          bits |= values.written(l.write, l).value_or(0) << (8 * l.offset);
      return test_.memories[memory].value(bits);
    });
  }

  const Test& test_;
  const Question& question_;
  const CheckOptions& options_;
  Verdict verdict_;
  std::vector<std::vector<Path>> all_paths_;  ///< by thread
  std::vector<const Path*> paths_;            ///< the combination being looked at
  const Candidate* candidate_ = nullptr;
  std::vector<ReadsFrom> slots_;
  std::vector<LastWrite> last_writes_;
  bool looks_at_memory_ = false;
  Budget budget_;  ///< once it is spent, every part of the search answers "found", which ends it
  std::array<std::uint64_t, kAxioms> rejected_{};
};

/// Adds what every end in question meets: of a conjunction the registers and locations that are to equal
/// constants.
void add_demands(const Proposition& p, Question& out) {
  if (p.kind == Proposition::Kind::conjunction) {
    for (const Proposition& part : p.parts) add_demands(part, out);
  } else if (p.kind == Proposition::Kind::equal) {
    for (const auto& [a, b] : {std::pair(&p.left, &p.right), std::pair(&p.right, &p.left)}) {
      if (b->kind != Term::Kind::constant) continue;
      if (a->kind == Term::Kind::reg) out.demands.push_back({a->thread, a->number, b->value});
      if (a->kind == Term::Kind::location) out.demands_of_memory.push_back({0, a->number, b->value});
    }
  } else if (p.kind == Proposition::Kind::disjunction && p.parts.size() == 1) {
    add_demands(p.parts.front(), out);
  }
}

/// Calls `f` with each offset at which an access may have an element.
template <class F>
void each_place(const Instruction& i, F&& f) {
  const bool anywhere = i.index != Instruction::kNoRegister;
  const unsigned first = anywhere ? 0 : i.offset, end = anywhere ? Test::kBytes : first + i.all_bytes();
  for (unsigned at = first; at < end; at += i.bytes()) f(at);
}

/// Whether accesses of two threads have some bytes in common, and each others of its own or one all and the
/// other a part, and one of them writes.
bool mixes_sizes(const Test& test) {
  struct Access : Stretch {
    std::size_t thread = 0;
    bool writes = false;
  };
  std::vector<Access> all;
  for (std::size_t t = 0; t < test.threads.size(); ++t)
    for (const Instruction& i : test.threads[t].code)
      if (i.kind == InstructionKind::memory && i.op.kind != MemKind::bulk_copy) {
        each_place(i, [&](unsigned offset) {
          all.push_back({{test.locations[i.location].memory, offset, i.bytes()}, t, i.op.writes()});
        });
        if (i.op.kind == MemKind::async_copy)
          all.push_back({{test.locations[i.copy_to].memory, i.copy_offset, i.bytes()}, t, true});
      }
  for (const Access& a : all)
    for (const Access& b : all)
      if (a.thread != b.thread && (a.writes || b.writes) && a.overlaps(b) && !(a.covers(b) && b.covers(a)))
        return true;
  return false;
}

}  // namespace

std::vector<std::string> beyond_ptx75(const Test& test) {
  std::vector<std::string> out;
  const auto uses = [&](auto&& f) {
    return std::any_of(test.threads.begin(), test.threads.end(),
                       [&](const Thread& t) { return std::any_of(t.code.begin(), t.code.end(), f); });
  };
  if (uses([](const Instruction& i) {
        return i.op.scope == Scope::cluster && i.kind != InstructionKind::cluster_arrive &&
               i.kind != InstructionKind::cluster_wait && i.completes == Instruction::kNoLocation;
      }))
    out.emplace_back("it has no cluster scope, which came with PTX ISA 7.8");
  if (uses([](const Instruction& i) { return i.mbarrier != MbarrierUse::none; }))
    out.emplace_back("its axioms know no mbarriers");
  if (uses([](const Instruction& i) {
        return i.kind == InstructionKind::cluster_arrive || i.kind == InstructionKind::cluster_wait;
      }))
    out.emplace_back("it has no \"barrier.cluster\", which came with PTX ISA 7.8");
  if (uses([](const Instruction& i) { return i.op.proxy == Proxy::async; }))
    out.emplace_back("it has no async proxy, which came with PTX ISA 8.0");
  if (uses([](const Instruction& i) {
        return i.completes != Instruction::kNoLocation && i.op.kind != MemKind::bulk_copy;
      }))
    out.emplace_back("it has no \"st.async\" and \"red.async\", which came with PTX ISA 8.1");
  if (uses([](const Instruction& i) { return i.op.type == DataType::b128; }))
    out.emplace_back("it has no atomics of 128 bits, which came with PTX ISA 8.3");
  return out;
}

Verdict check(const Test& test, const CheckOptions& options) {
  Question question;
  question.terms = test.condition.terms();
  question.wanted = [&](const ValueOf& value_of) { return test.condition.in_question(value_of); };
  if (test.condition.kind != Condition::Kind::forall) add_demands(test.condition.proposition, question);
  Verdict verdict = Search(test, question, options).run();
  if (!verdict.allowed && !verdict.bounded && verdict.axiom.empty()) {
    // No read was torn so: does anything but their being whole forbid it?
    question.tears = true;
    CheckOptions again = options;
    again.work = options.work / 10;
    const Verdict torn = Search(test, question, again).run();
    if (!torn.allowed && !torn.bounded) verdict.axiom = torn.axiom;
    if (verdict.graph.empty()) verdict.graph = torn.graph;
  }
  if (!mixes_sizes(test)) return verdict;
  Question race;
  race.wanted = [](const ValueOf&) { return true; };
  race.races = true;
  CheckOptions quick = options;
  quick.draw = false;
  quick.work = options.work / 10;
  verdict.mixed_size_race = Search(test, race, quick).run().mixed_size_race;
  return verdict;
}

Verdict check(const Test& test, const ObservedRun& seen, const CheckOptions& options) {
  Question question;
  for (const auto& [term, value] : seen.end) question.terms.push_back(term);
  question.wanted = [&](const ValueOf& value_of) {
    for (const auto& [term, value] : seen.end)
      if (value_of(term) != value) return false;
    return true;
  };
  question.seen = &seen;
  return Search(test, question, options).run();
}

}  // namespace warpline::litmus
