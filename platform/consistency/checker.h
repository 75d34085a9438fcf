#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "platform/consistency/test.h"
#include "rtl_models/base/visibility.h"

namespace warpline::litmus {

/// What the axiomatic checker is asked.
struct WARPLINE_PUBLIC CheckOptions {
  unsigned unroll = 3;      ///< how often each loop is followed
  bool draw = false;        ///< fill in Verdict::graph
  double work = kMostWork;  ///< after which it gives up: the sum over all steps of the square of the events
  std::function<bool()> stop;  ///< asked now and then, if set; true: give up
  /// Some seconds.
  static constexpr double kMostWork = 1e9;
};

/// What the PTX memory consistency model (ISA 9.0) says of a test's outcome in question.
struct WARPLINE_PUBLIC Verdict {
  bool allowed = false;
  /// Not every execution was looked at: loops go on longer than `unroll`, or `gave_up` says why. An outcome
  /// that was not found is then forbidden as far as known.
  bool bounded = false;
  /// Why it gave up before it had looked at all that `unroll` asks for; empty: it did not.
  std::string gave_up;
  std::uint64_t executions = 0;  ///< choices of what reads read that were looked at
  /// Where it is forbidden: the axiom that rejected most executions with this outcome, if there were any.
  std::string axiom;
  /// Two accesses of different sizes that race in some execution, quoted; empty: none were found. The PTX
  /// text promises its axioms to programs without such races; they are applied all the same.
  std::string mixed_size_race;
  /// Graphviz: an execution with the outcome, and what forbids it if it is forbidden.
  std::string graph;
};

/// What `test` uses that the model of PTX ISA 7.5 knows nothing of, as sentences ("it has no cluster scope");
/// empty: both models judge it alike.
WARPLINE_PUBLIC [[nodiscard]] std::vector<std::string> beyond_ptx75(const Test& test);

/// Judges the outcome in question of `test`.
WARPLINE_PUBLIC [[nodiscard]] Verdict check(const Test& test, const CheckOptions& options = {});

/// What one run of a test was seen to do.
struct WARPLINE_PUBLIC ObservedRun {
  /// For each thread and its reads in program order, what write they read: a thread and which of its writes,
  /// in program order; thread kInitial: the initial value.
  struct Source {
    static constexpr unsigned kInitial = ~0U;
    unsigned thread = kInitial;
    unsigned write = 0;
  };
  std::vector<std::vector<Source>> reads;
  /// Terms of the condition and what they were at the end.
  std::vector<std::pair<Term, std::int64_t>> end;
};

/// Judges whether the model allows what was observed: coherence and fence order are enumerated.
WARPLINE_PUBLIC [[nodiscard]] Verdict check(const Test& test, const ObservedRun& seen,
                                            const CheckOptions& options = {});

}  // namespace warpline::litmus
