#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/study/fit_plan.h"
#include "platform/study/fit_state.h"
#include "rtl_models/base/problem.h"

namespace warpline::study {

/// Thrown by what measures: the fit is to stop, and keeps what there is.
struct FitStopped {
  std::string why;
};

/// What a fit needs from around it. Both may throw FitStopped.
struct FitSurroundings {
  /// Measures a point that the state has not.
  std::function<FitEvaluation(const FitState::Point& at)> measure;
  /// The state has grown. `points`: how many the fit has asked for, known ones too; `cost`: the least so far.
  std::function<void(const FitState& state, unsigned points, double cost)> keep;
};

/// What was found of a key.
struct FittedKey {
  std::uint64_t found = 0;
  bool at_lowest = false, at_highest = false;
  /// How far the key could go by itself before the rows have moved by a tolerance, all together; 0: they do
  /// not move.
  double play = 0;
  std::vector<double> changes;    ///< of each row by a step up, per cent of the published value
  std::vector<std::string> rows;  ///< names of those that the key moves
};

/// Keys that the rows do not tell, or not one by one, and why.
struct FitUndetermined {
  std::vector<std::string> keys;
  std::string why;  ///< a sentence that names them
};

/// What a fit has come to.
struct FitOutcome {
  std::string stopped;    ///< why before its end, and then there are no sensitivities; empty: it has ended
  bool spent = false;     ///< the search used up its evaluations before it was done
  unsigned points = 0;    ///< that it has asked for, known ones too
  unsigned measured = 0;  ///< of them, that were not known
  unsigned no_gpus = 0;   ///< of them, at which there is no GPU
  std::string no_gpu;     ///< why, of one of these
  FitState::Point start, found;
  FitEvaluation before, after;  ///< at these
  double cost_before = 0, cost_after = 0;
  std::vector<FittedKey> keys;  ///< of the plan, in its order
  std::vector<FitUndetermined> undetermined;
  /// Of the sensitivities in tolerances, each key's scaled to length 1; the largest first. Those near 0 stand
  /// for combinations of keys that the rows do not tell.
  std::vector<double> singular_values;
};

/// What an evaluation costs: the weighted mean over the rows of Huber's function of error by tolerance, which
/// is its square up to 1 and 2 |x| - 1 beyond. A row that is not answered costs as one that errs by a hundred
/// tolerances, and so does every row where there is no GPU.
[[nodiscard]] double fit_cost(const FitPlan& plan, const FitEvaluation& evaluation);

/// Searches the keys of `plan` for the least cost: by NLopt's global stage, where one is asked for, its local
/// stage, and then from neighbour to neighbour until none is better. What `state` knows is not measured
/// again; what is measured is added to it. The same plan and the same measurements have the same outcome,
/// whether the state was empty or not. Faults: nothing can be measured at the start.
[[nodiscard]] Result<FitOutcome> run_fit(const FitPlan& plan, FitState& state,
                                         const FitSurroundings& surroundings);

}  // namespace warpline::study
