#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "platform/sweep_report/study_results.h"

namespace warpline::sweep {

/// A value of a factor, or a range of neighbouring ones.
struct Level {
  std::string label;
  double number = NAN;  ///< NaN: it is a text
};

/// What a study varies: a key, several that change together, or the GPU.
struct Factor {
  std::string name;
  std::vector<std::string> keys;  ///< none: it is the GPU
  std::vector<Level> levels;      ///< in order, at least two
  bool numeric = false;
  std::vector<unsigned> level_of;  ///< of each run of the study; kNone: it has none
};

/// The factors of a study. Keys that no two runs have differently beside each other are one; a key with very
/// many numbers has ranges of them as levels.
[[nodiscard]] std::vector<Factor> factors_of(const StudyResults& results);

/// How much two factors change what each other does.
struct Interaction {
  std::size_t first = 0, second = 0;  ///< of the factors
  double share = 0;                   ///< of all that varies, 0 to 1
};

/// What each level of each factor does to a metric, the other factors the same: least squares of its
/// logarithm as a sum of one number for each factor. It needs no complete grid.
struct Effects {
  std::vector<std::vector<double>> of;          ///< by factor and level, logarithms; NaN: no run has it
  std::vector<std::vector<std::size_t>> count;  ///< runs with each level
  double explained = 1;                         ///< share of what varies that the sum explains
  std::vector<Interaction> interactions;        ///< the strongest first

  /// How many times as large the metric is at level `b` as at level `a`.
  [[nodiscard]] double ratio(std::size_t factor, std::size_t a, std::size_t b) const {
    return std::exp(of[factor][b] - of[factor][a]);
  }
  /// Levels with the least and the most of the metric.
  [[nodiscard]] std::size_t least(std::size_t factor) const;
  [[nodiscard]] std::size_t most(std::size_t factor) const;
  /// The most over the least: 1 where a factor does nothing, or has but one level here.
  [[nodiscard]] double span(std::size_t factor) const;
  /// Factors, the one that changes most first.
  [[nodiscard]] std::vector<std::size_t> order() const;
};

/// `runs`: numbers of runs; `metric`: what each of these has, above 0.
[[nodiscard]] Effects effects_of(const std::vector<Factor>& factors, const std::vector<std::size_t>& runs,
                                 const std::vector<double>& metric);

}  // namespace warpline::sweep
