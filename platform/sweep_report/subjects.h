#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep_report/factors.h"
#include "platform/sweep_report/figures.h"
#include "platform/sweep_report/study_results.h"

namespace warpline::sweep {

/// What a report judges or shows beside the figures: cycles, another column of `runs`, or a counter.
struct Metric {
  std::string name, unit;
};

/// A workload, or a kernel of one that has several: what a report has a page of. Of each of its finished runs
/// it has what figures and metrics are made of.
struct Subject {
  std::string name;
  unsigned workload = 0;
  std::string kernel;  ///< as the file of results has it, mangled; empty: whole runs
  double share = 1;    ///< of the cycles of its workload
  std::vector<std::size_t> runs;
  std::vector<double> cycles, time_ns;
  std::map<std::string, std::vector<double>> counters;  ///< by path; one that is missing counted nothing
  std::vector<double> metric;                           ///< the first one of the report; NaN: it has none
  /// The same as effects take it, which are changes of logarithms: 1 where it is 0, the mean where it is not
  /// known.
  std::vector<double> positive;
  Effects effects;  ///< on that

  /// Runs whose metric is 0.
  [[nodiscard]] std::size_t zeros() const;

  /// A metric of each run; NaN: it has none.
  [[nodiscard]] std::vector<double> values_of(const Metric& metric, const StudyResults& results) const;
  /// A figure over runs, whose numbers in `runs` are given; NaN: it says nothing.
  [[nodiscard]] double figure(const Figure& figure, const std::vector<std::size_t>& which,
                              const StudyResults& results) const;
  /// Calls use(source) with what figures of a run, by its number in `runs`, are made of.
  void with_source(std::size_t run, const StudyResults& results,
                   const std::function<void(FigureSource& source)>& use) const;
  /// Numbers in `runs` of those at a level of a factor.
  [[nodiscard]] std::vector<std::size_t> at_level(const Factor& factor, std::size_t level) const;
  /// Runs at two levels of factor number `factor`, each at one beside one at the other that differs in
  /// nothing else, by their numbers in `runs`; none: there are none such.
  [[nodiscard]] std::pair<std::vector<std::size_t>, std::vector<std::size_t>> matched(
      const std::vector<Factor>& factors, std::size_t factor, std::size_t a, std::size_t b) const;
  /// Numbers of each run, `values`, as they would be were the other factors than `kept` the same everywhere:
  /// their effects are taken out, by least squares. Means of a complete grid stay as they are; where points
  /// are missing, they compare what is alike. As they are where one is not above 0.
  [[nodiscard]] std::vector<double> with_others_the_same(const std::vector<Factor>& factors,
                                                         const std::vector<double>& values,
                                                         const std::vector<std::size_t>& kept) const;
  /// Runs that differ in nothing but factor number `factor`, and of which there is one at each of its levels
  /// that any run has; all runs where there are none such.
  [[nodiscard]] std::vector<std::size_t> at_all_levels(const std::vector<Factor>& factors,
                                                       std::size_t factor) const;
  /// The run with the least of the metric, of those that have it. Pre: there are runs.
  [[nodiscard]] std::size_t best() const;
  [[nodiscard]] std::size_t worst() const;
};

/// The geometric mean of values over some of them, by their numbers; the mean where one is 0; NaN: of none.
[[nodiscard]] double mean_of(const std::vector<double>& values, const std::vector<std::size_t>& which);

/// The workloads of a study, each followed by its kernels, those with the most cycles first. Workloads of
/// which nothing finished have no runs.
[[nodiscard]] std::vector<Subject> subjects_of(const ResultStore& store, const StudyResults& results,
                                               const std::vector<Metric>& metrics,
                                               const std::vector<Factor>& factors);

/// A counter, and its mean over runs on two sides.
struct Moved {
  CounterName counter;
  double before = 0, after = 0;
};
/// Of each subject, what all its totals come to on two sides, which `side_of` tells of its runs by their
/// number: 0, 1, or kNone for neither. Those that counted something.
[[nodiscard]] std::vector<std::vector<Moved>> counted_on_sides(
    const ResultStore& store, const StudyResults& results, const std::vector<Subject>& subjects,
    const std::function<unsigned(std::size_t subject, std::size_t run)>& side_of);

}  // namespace warpline::sweep
