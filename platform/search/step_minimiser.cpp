#include "platform/search/step_minimiser.h"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>

namespace warpline::search {
namespace {

using Steps = std::vector<std::int64_t>;

// NLopt sees each axis as 0 to 1. What it asks for is rounded to a step; C has no exceptions, so that they
// wait for its return.

struct Call {
  const StepMinimiser& search;
  const std::function<double(const Steps&)>& cost;
  nlopt_opt opt;
  std::exception_ptr thrown;
};

double objective(unsigned n, const double* x, double*, void* data) {
  Call& call = *static_cast<Call*>(data);
  if (call.thrown != nullptr) return 0;
  try {
    Steps steps(n);
    for (std::size_t k = 0; k < n; ++k) {
      const double clamped = std::isfinite(x[k]) ? std::clamp(x[k], 0.0, 1.0) : 0;
      steps[k] = std::llround(clamped * static_cast<double>(call.search.last[k]));
    }
    return call.cost(steps);
  } catch (...) {
    call.thrown = std::current_exception();
    nlopt_force_stop(call.opt);
    return 0;
  }
}

nlopt_algorithm algorithm_of(StepMinimiser::Method method) {
  switch (method) {
    case StepMinimiser::Method::direct: return NLOPT_GN_DIRECT_L;
    case StepMinimiser::Method::crs: return NLOPT_GN_CRS2_LM;
    case StepMinimiser::Method::bobyqa: return NLOPT_LN_BOBYQA;
    case StepMinimiser::Method::cobyla: return NLOPT_LN_COBYLA;
    case StepMinimiser::Method::subplex: break;
  }
  return NLOPT_LN_SBPLX;
}

}  // namespace

void StepMinimiser::run(const std::function<double(const Steps&)>& cost) const {
  const std::size_t n = last.size();
  const std::unique_ptr<std::remove_pointer_t<nlopt_opt>, void (*)(nlopt_opt)> opt(
      nlopt_create(algorithm_of(method), static_cast<unsigned>(n)), nlopt_destroy);
  Call call{*this, cost, opt.get(), nullptr};
  std::vector<double> x(n), half(n), first(n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto span = static_cast<double>(last[k]);
    x[k] = static_cast<double>(begin[k]) / span;
    half[k] = 0.5 / span;
    first[k] = std::min(std::max(1.0, std::round(span / 8)) / span, 0.49);
  }
  nlopt_set_min_objective(opt.get(), objective, &call);
  nlopt_set_lower_bounds1(opt.get(), 0);
  nlopt_set_upper_bounds1(opt.get(), 1);
  nlopt_set_maxeval(opt.get(), static_cast<int>(std::min<std::size_t>(most_calls, 2'000'000'000)));
  if (method == Method::direct || method == Method::crs) {
    nlopt_srand(seed);
  } else {
    nlopt_set_xtol_abs(opt.get(), half.data());
    nlopt_set_initial_step(opt.get(), first.data());
    if (tolerance > 0) nlopt_set_ftol_rel(opt.get(), tolerance);
  }
  double least = 0;
  // Whatever it returns: who answers knows the best.
  nlopt_optimize(opt.get(), x.data(), &least);
  if (call.thrown != nullptr) std::rethrow_exception(call.thrown);
}

}  // namespace warpline::search
