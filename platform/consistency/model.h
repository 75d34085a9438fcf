#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "platform/consistency/execution.h"

namespace warpline::litmus {

/// The axioms of the PTX memory consistency model (PTX ISA, "Axioms").
enum class Axiom : std::uint8_t { coherence, fence_sc, single_copy, atomicity, no_thin_air, causality };
constexpr unsigned kAxioms = 6;
[[nodiscard]] const char* name_of(Axiom axiom);

/// Causality of an execution (PTX ISA, "Causality order"), proxies included.
struct Causality {
  Relation observation;
  Relation synchronizes;
  Relation base;
  Relation cause;
};

/// Which write each read reads from, as a relation.
[[nodiscard]] Relation reads_from_relation(const Candidate& c, const std::vector<ReadsFrom>& reads_from);
[[nodiscard]] Causality causality(const Candidate& c, const Relation& reads_from, const Relation& fence_order,
                                  const Relation& barrier_order);

/// The axiom that forbids an execution in which reads read so whatever the coherence order, if one does.
/// Reads without a write yet are left out: what is forbidden then stays so.
[[nodiscard]] std::optional<Axiom> violated_without_coherence(const Candidate& c, const Relation& reads_from,
                                                              const Causality& causality);

/// The work that a search may do before it gives up.
class Budget {
 public:
  /// `work`: the sum over all steps of the square of the number of events. `stop`, if set: whether to give up
  /// anyway.
  Budget(double work, const std::function<bool()>& stop) : left_(work), stop_(stop) {}
  /// Takes the work of a step. False: nothing is left.
  [[nodiscard]] bool spend(unsigned events) {
    left_ -= static_cast<double>(events) * events;
    stopped_ = stopped_ || (stop_ && stop_());
    return !spent();
  }
  [[nodiscard]] bool spent() const { return stopped_ || left_ < 0; }

 private:
  double left_;
  const std::function<bool()>& stop_;
  bool stopped_ = false;
};

/// Calls `f` with each coherence order that the axioms allow, until it answers true; returns whether it did.
/// Orders are as small as the axioms let them be: what neither causality nor moral strength orders is
/// unordered. `known`: writes of which the order is known already; null: none. `why` is the axiom that
/// rejected the last one that was tried. Where `budget`, if any, is spent it returns true at once.
bool each_coherence_order(const Candidate& c, const std::vector<ReadsFrom>& reads_from,
                          const Causality& causality, const std::function<bool(const Relation&)>& f,
                          std::optional<Axiom>& why, const Relation* known = nullptr,
                          Budget* budget = nullptr);

/// The reads that precede the writes that are coherence-after what they read.
[[nodiscard]] Relation from_reads(const Candidate& c, const std::vector<ReadsFrom>& reads_from,
                                  const Relation& coherence);

/// Accesses of two threads to partly the same bytes, one of them a write, that causality does not order: a
/// mixed-size data race (PTX ISA, "Limitations on mixed-size data-races"). The PTX text promises its axioms
/// to programs without one. Nothing: there is none.
[[nodiscard]] std::optional<std::pair<unsigned, unsigned>> mixed_size_race(const Candidate& c,
                                                                           const Causality& causality);

/// Calls `f` with each way in which the barriers of an execution can have met, until it answers true. None if
/// a barrier is never complete.
bool each_barrier_order(const Candidate& c, Values& values, const std::function<bool(const Relation&)>& f);

}  // namespace warpline::litmus
