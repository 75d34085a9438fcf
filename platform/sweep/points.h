#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/study.h"

namespace warpline::sweep {

/// One run of a study.
struct Point {
  std::size_t number = 0;                                     ///< in the order of the study, from 0
  std::size_t workload = 0;                                   ///< of Study::workloads
  std::string gpu;                                            ///< preset or file
  std::vector<std::pair<std::string, std::string>> settings;  ///< key and value
  std::string impossible;                                     ///< why there is no such GPU; empty: there is
};

/// What a study comes to, or a share of it.
struct Plan {
  std::vector<Point> points;  ///< possible and impossible ones
  std::size_t left_out = 0;   ///< by the study's conditions, of all points
};

/// Of the points of a study those whose numbers leave `index` when they are divided by `of`: so that what is
/// alike is spread over all shares.
struct Share {
  std::size_t index = 0, of = 1;
  [[nodiscard]] bool has(std::size_t number) const { return number % of == index; }
};

/// The most points of a study: what a file of a few lines may ask for by mistake.
constexpr std::size_t kMostPoints = 10'000'000;

/// All points of `study`, in the same order whenever it is asked, or those of a share. A fault: there are
/// more than kMostPoints, or a condition says nothing of a point.
[[nodiscard]] Result<Plan> plan_of(const Study& study, const Share& share = {});

/// The candidates of a study: each of its GPUs with each combination of keys, on which every workload is run.
/// They are not made before they are asked for, so that there may be many.
class Candidates {
 public:
  /// All of `study`, which outlives them. A fault: as of plan_of(), or the study's design is no grid.
  [[nodiscard]] static Result<Candidates> of(const Study& study);

  /// How many steps there are: of GPUs, and of each axis of the study.
  [[nodiscard]] const std::vector<std::size_t>& steps() const { return steps_; }
  /// Of the same, whether steps beside each other are alike: numbers that only go up, or only down.
  [[nodiscard]] const std::vector<bool>& ordered() const { return ordered_; }
  /// How many the study's conditions leave.
  [[nodiscard]] std::size_t count() const { return count_; }
  /// The point of each workload, as plan_of() has them; none where a condition leaves one of them out.
  /// Pre: `at` has a step for each of steps().
  [[nodiscard]] std::vector<Point> points_of(const std::vector<std::size_t>& at) const;

 private:
  explicit Candidates(const Study& study);
  const Study* study_;
  std::vector<std::size_t> steps_;
  std::vector<bool> ordered_;
  std::size_t count_ = 0;
  /// Of each candidate the number of its first point, or kLeftOut; empty: there are no conditions.
  std::vector<std::uint32_t> first_;
};

/// What the names of keys, `gpu` and `workload` stand for at a point, in expressions.
class PointKeys {
 public:
  /// Both outlive this.
  PointKeys(const Study& study, const Point& point) : study_(study), point_(point) {}
  /// Throws ConditionError: this GPU has no such key.
  [[nodiscard]] Operand operator()(const std::string& name) const;

 private:
  const Study& study_;
  const Point& point_;
  mutable std::map<std::string, std::string> others_;  ///< keys that are not varied, once they are asked for
};

}  // namespace warpline::sweep
