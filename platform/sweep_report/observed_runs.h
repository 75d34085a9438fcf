#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/sweep_report/subjects.h"

namespace warpline::sweep {

/// What a line of a kernel did in a run, or several lines of PTX that come from one of CUDA.
struct ObservedLine {
  std::string kernel, place, text;  ///< of PTX, or of a trace
  std::string cuda, cuda_text;      ///< "vecadd.cu:7" and that line; empty: it is not known
  std::uint64_t issued = 0, accesses = 0, sectors = 0, latency = 0, conflicts = 0;
  std::uint64_t first_level = 0, l2 = 0, answered = 0;  ///< sectors by who answered; all that were
  std::map<std::string, std::uint64_t> stalls;          ///< warp-cycles by reason
  [[nodiscard]] std::uint64_t stalled() const;          ///< of all reasons but `selected`
  /// The reason other than `selected` with the most warp-cycles; empty: there is none.
  [[nodiscard]] std::string mostly() const;
  void add(const ObservedLine& other);
};

/// A column of figures over time.
struct ObservedFigure {
  std::string name;
  std::vector<double> values;  ///< NaN: it says nothing of that span; of several, the mean over their cycles
  std::vector<double> sums;    ///< the same, of several the sum
  double most = 0, most_at = 0;  ///< of the spans as they were sampled, and where the first such one ends
};

/// What is kept of a run of a subject beside its counters.
struct ObservedRun {
  std::size_t run = 0;  ///< number in Subject::runs
  std::vector<std::string>
      roles;  ///< "only", or "first", "worst", "best", "asked for"; none: it is one of the others
  std::uint64_t warps = 0, warp_cycles = 0;     ///< 0: there is no profile
  std::map<std::string, std::uint64_t> stalls;  ///< warp-cycles by reason, of all lines
  std::vector<ObservedLine> lines;              ///< those for which warps waited longest first
  std::vector<double> ends;             ///< cycles from the subject's beginning to the end of each span
  std::vector<ObservedFigure> figures;  ///< over these spans
  std::size_t spans_in_one = 1;         ///< as they were sampled: neighbours of many are one here
  /// The same lines, those of one line of CUDA as one; none: no line of CUDA is known.
  [[nodiscard]] std::vector<ObservedLine> cuda_lines() const;
};

/// What the study has kept of some runs of each subject: the first, the worst, the best and those of the
/// points `asked`, and of the others so many as a page can hold, spread over what is between best and worst.
/// Throws StoreError.
[[nodiscard]] std::vector<std::vector<ObservedRun>> observed_runs(const ResultStore& store,
                                                                  const StudyResults& results,
                                                                  const std::vector<Subject>& subjects,
                                                                  const std::vector<std::size_t>& asked);
/// The numbers of points of which something is kept.
[[nodiscard]] std::vector<std::size_t> observed_points(const ResultStore& store);

}  // namespace warpline::sweep
