#pragma once

#include <cstddef>
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

/// What a study comes to.
struct Plan {
  std::vector<Point> points;  ///< possible and impossible ones
  std::size_t left_out = 0;   ///< by the study's conditions
};

/// The most points of a study: what a file of a few lines may ask for by mistake.
constexpr std::size_t kMostPoints = 10'000'000;

/// All points of `study`, in the same order whenever it is asked. A fault: there are more than kMostPoints,
/// or a condition says nothing of a point.
[[nodiscard]] Result<Plan> plan_of(const Study& study);

}  // namespace warpline::sweep
