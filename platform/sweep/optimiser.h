#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/search/space_search.h"
#include "platform/sweep/sweep.h"

namespace warpline::sweep {

/// What a search of a study is for.
struct Aim {
  std::vector<Formula> objectives;     ///< one; or two, whose front is looked for
  bool maximise = false;               ///< the most of the one objective; else less is better
  std::vector<Condition> constraints;  ///< which the run of each workload is to meet
  std::vector<std::string> metrics;  ///< of the names in all of these, those that a run says; others are keys

  /// Reads expressions. `metrics`: names of all that runs say. Every fault at once.
  [[nodiscard]] static Result<Aim> of(const std::vector<std::pair<std::string, std::string>>& objectives,
                                      const std::vector<std::string>& constraints,
                                      const std::vector<std::string>& metrics);
  /// What cannot be reckoned whatever runs say: a text that is taken for a number, as `point` has its keys.
  [[nodiscard]] Diagnostics unfit(const Study& study, const Point& point) const;
};

/// Looks for the best candidates of a study. Their points are run as those of a sweep, and are rows of the
/// same file: what has a row is not run again, so that a search that was ended goes on for nothing.
class Optimiser {
 public:
  struct Options {
    std::size_t evaluations = 1;  ///< candidates to be tried, at most, with those that have rows already
    std::uint64_t seed = 1;
    Sweep::Options runs;
    std::function<void(std::size_t tried)> on_progress;  ///< after each batch
  };
  /// What came of a candidate.
  struct Tried {
    std::vector<Point> points;                 ///< of each workload
    search::Rating rating;                     ///< a value of an objective to be maximised is below 0 there
    std::vector<std::vector<double>> values;   ///< of each objective, of each workload; empty: it has none
    std::vector<std::vector<double>> metrics;  ///< of each of the aim's metrics, of each workload
    std::string why;                           ///< it has no value, or misses a constraint; else empty
  };

  /// All of them outlive this.
  Optimiser(const Study& study, const Candidates& candidates, const Aim& aim, ResultStore& store,
            const Options& options);
  /// Returns false where options.runs.stop_wanted has ended it. Throws StoreError as Sweep does.
  bool run();

  /// Candidates that have been tried, in that order: the study's first is the first of them.
  [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }
  /// Of those that meet the constraints, the best first; of two objectives, the front, by the first of them.
  [[nodiscard]] std::vector<const Tried*> best() const;
  /// Of those that miss a constraint, the nearest first.
  [[nodiscard]] std::vector<const Tried*> nearest() const;
  /// Whether every candidate that there is has been tried.
  [[nodiscard]] bool exhausted() const { return search_.exhausted(); }
  /// How many that were looked at are no GPU, and why the first of them is none.
  [[nodiscard]] std::size_t impossible() const { return impossible_; }
  [[nodiscard]] const std::string& why_impossible() const { return why_impossible_; }
  /// An objective of a candidate: of its workloads' values the geometric mean. Pre: it has values.
  [[nodiscard]] static double value(const Tried& tried, std::size_t objective);

 private:
  struct Stopped {};
  [[nodiscard]] bool exists(const search::Candidate& candidate);
  [[nodiscard]] std::vector<search::Rating> evaluate(const std::vector<search::Candidate>& candidates);
  void judge(Tried& tried) const;
  void judge_values(Tried& tried) const;

  const Study& study_;
  const Candidates& candidates_;
  const Aim& aim_;
  ResultStore& store_;
  const Options& options_;
  std::vector<const Condition*> of_keys_, of_runs_;  ///< constraints
  std::vector<Tried> tried_;
  std::size_t impossible_ = 0;
  std::string why_impossible_;
  search::SpaceSearch search_;
};

}  // namespace warpline::sweep
