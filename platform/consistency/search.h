#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "platform/consistency/checker.h"
#include "platform/consistency/execution.h"
#include "platform/consistency/model.h"

namespace warpline::litmus {

/// Looks through the executions of a test for one with a certain end that the axioms allow.
class Search {
 public:
  using ValueOf = std::function<std::int64_t(const Term&)>;
  struct Question {
    std::vector<Term> terms;                     ///< that it looks at
    std::function<bool(const ValueOf&)> wanted;  ///< whether an end is the one looked for
    const ObservedRun* seen = nullptr;           ///< if set, reads read as this says
  };
  /// Both outlive it.
  Search(const Test& test, const Question& question, const CheckOptions& options)
      : test_(test), question_(question), options_(options), budget_(options.work, options.stop) {}

  [[nodiscard]] Verdict run();

 private:
  bool combine(unsigned thread);
  bool judge_candidate();
  void add_slots(unsigned read);
  bool assign(std::size_t slot);
  [[nodiscard]] bool is_hopeless(std::size_t slots) const;
  bool judge_reads();
  bool order_fences(std::size_t pair, Relation order);
  bool judge_orders(const Relation& fences, const Relation& barriers);
  bool choose_last(const Relation& coherence, std::size_t stretch);
  [[nodiscard]] bool wanted();
  void reject(Axiom axiom, const Causality& causality);
  void add_stretches();
  [[nodiscard]] std::vector<unsigned> cuts(unsigned memory, unsigned from, unsigned to) const;
  [[nodiscard]] bool may_read(const ReadsFrom& slot, unsigned write) const;
  [[nodiscard]] bool was_seen(unsigned read, unsigned write) const;
  [[nodiscard]] bool tears(const ReadsFrom& slot, unsigned write, std::size_t slots) const;

  const Test& test_;
  const Question& question_;
  const CheckOptions& options_;
  Verdict verdict_;
  std::vector<std::vector<Path>> all_paths_;  ///< by thread
  std::vector<const Path*> paths_;            ///< the combination being looked at
  const Candidate* candidate_ = nullptr;
  std::vector<ReadsFrom> slots_;
  /// Bytes of a memory that the question looks at, and which write was the last of them.
  struct Stretch {
    unsigned memory = 0;
    unsigned offset = 0, bytes = 0;
    unsigned write = Event::kNone;
  };
  std::vector<Stretch> stretches_;
  bool looks_at_memory_ = false;
  Budget budget_;  ///< once it is spent, every part of the search answers "found", which ends it
  std::array<std::uint64_t, kAxioms> rejected_{};
};

/// Graphviz of an execution: threads side by side, program order downward, and what reads from what;
/// `violated` names the axiom that forbids it.
[[nodiscard]] std::string draw(const Candidate& c, const std::vector<ReadsFrom>& reads_from,
                               const Relation& coherence, const Causality& causality,
                               std::optional<Axiom> violated);

}  // namespace warpline::litmus
