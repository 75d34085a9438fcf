#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/study/fit_plan.h"

namespace warpline::study {

/// What a row of a fit is at some values of the keys.
struct FitAnswer {
  bool answered = false;
  double measured = 0;  ///< in the row's unit
  std::string refused;  ///< why it is not answered
};

/// What was measured at one point.
struct FitEvaluation {
  std::vector<FitAnswer> rows;  ///< of the plan, in its order; none where the GPU is no good
  std::string no_gpu;           ///< why there is no GPU of these values
};

/// What measurements depend on: those of another identity are of no use.
struct FitIdentity {
  std::string build;              ///< of the model
  std::string gpu;                ///< digest of all its keys
  std::vector<std::string> keys;  ///< paths, with what goes with each
  std::vector<std::string> rows;  ///< each with what is measured, and how
};

/// The identity of a plan for a GPU. `build` names the model that measures.
[[nodiscard]] FitIdentity identity_of(const FitPlan& plan, const GpuConfig& config, const std::string& build);

/// All that was measured for a fit so far, by the values of the keys. A file holds it between runs.
class FitState {
 public:
  using Point = std::vector<std::uint64_t>;

  explicit FitState(FitIdentity identity) : identity_(std::move(identity)) {}
  /// Reads what json() wrote. Faults: it is something else, or the state of a fit of another identity.
  [[nodiscard]] static Result<FitState> read(const std::string& file, const std::string& text,
                                             const FitIdentity& identity);

  /// Null: not measured.
  [[nodiscard]] const FitEvaluation* find(const Point& at) const;
  const FitEvaluation& add(const Point& at, FitEvaluation evaluation);
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] std::string json() const;

 private:
  FitIdentity identity_;
  std::map<Point, FitEvaluation> points_;
};

}  // namespace warpline::study
