#include "platform/study/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "platform/search/step_minimiser.h"
#include "rtl_models/base/text.h"

namespace warpline::study {
namespace {

/// How many tolerances a row that has no answer counts as.
constexpr double kUnanswered = 100;
/// Below it a row's change by a key is none: what is left of rounding.
constexpr double kNoChange = 1e-9;
/// Above it, of the cosine of two keys' sensitivities, the keys move the rows alike.
constexpr double kAlike = 0.98;
/// Below it, of a singular value by the largest, the rows do not tell a combination of keys.
constexpr double kUntold = 0.05;

/// A point, in steps from the start.
using Steps = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// The search is to end: it has used up its evaluations.
struct Spent {};

double huber(double x) {
  const double size = std::abs(x);
  return size <= 1 ? size * size : 2 * size - 1;
}

double dot(const Reals& a, const Reals& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}
double length(const Reals& a) {
  return std::sqrt(dot(a, a));
}

/// Solves the symmetric system m x = y, whose diagonal is above 0.
Reals solved(std::vector<Reals> m, Reals y) {
  const std::size_t n = y.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(m[r][c]) > std::abs(m[pivot][c])) pivot = r;
    std::swap(m[c], m[pivot]);
    std::swap(y[c], y[pivot]);
    for (std::size_t r = c + 1; r < n; ++r) {
      const double by = m[r][c] / m[c][c];
      for (std::size_t k = c; k < n; ++k) m[r][k] -= by * m[c][k];
      y[r] -= by * y[c];
    }
  }
  for (std::size_t c = n; c-- > 0;) {
    for (std::size_t k = c + 1; k < n; ++k) y[c] -= m[c][k] * y[k];
    y[c] /= m[c][c];
  }
  return y;
}

/// Eigenvalues of the symmetric matrix `m`, and their vectors as columns of `vectors`, by Jacobi's rotations.
Reals eigenvalues(std::vector<Reals> m, std::vector<Reals>& vectors) {
  const std::size_t n = m.size();
  vectors.assign(n, Reals(n, 0));
  for (std::size_t k = 0; k < n; ++k) vectors[k][k] = 1;
  for (unsigned sweep = 0; sweep < 64; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        off += m[p][q] * m[p][q];
        if (std::abs(m[p][q]) < 1e-300) continue;
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = m[k][p], kq = m[k][q];
          m[k][p] = c * kp - s * kq;
          m[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = m[p][k], qk = m[q][k];
          m[p][k] = c * pk - s * qk;
          m[q][k] = s * pk + c * qk;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = vectors[k][p], kq = vectors[k][q];
          vectors[k][p] = c * kp - s * kq;
          vectors[k][q] = s * kp + c * kq;
        }
      }
    if (off < 1e-24) break;
  }
  Reals out(n);
  for (std::size_t k = 0; k < n; ++k) out[k] = m[k][k];
  return out;
}

class Fitter {
 public:
  Fitter(const FitPlan& plan, FitState& state, const FitSurroundings& surroundings)
      : plan_(plan), state_(state), surroundings_(surroundings), best_(plan.keys.size(), 0) {}

  Result<FitOutcome> run() {
    const Steps start(plan_.keys.size(), 0);
    budget_ = plan_.search.evaluations;
    try {
      const FitEvaluation& before = at(start);
      out_.before = before;
      out_.start = point(start);
      if (const std::string why = nothing_at_start(before); !why.empty())
        return Diagnostic::about("--fit", "the keys' start is no good: " + why);
      search();
      budget_ = std::numeric_limits<std::size_t>::max();
      settle();
      judge();
    } catch (const FitStopped& stopped) {
      out_.stopped = stopped.why;
    }
    out_.points = static_cast<unsigned>(asked_.size());
    if (out_.start.empty()) return std::move(out_);
    out_.found = point(best_);
    out_.after = *state_.find(out_.found);
    out_.cost_before = fit_cost(plan_, out_.before);
    out_.cost_after = fit_cost(plan_, out_.after);
    return std::move(out_);
  }

 private:
  [[nodiscard]] FitState::Point point(const Steps& steps) const {
    FitState::Point out(steps.size());
    for (std::size_t k = 0; k < steps.size(); ++k) out[k] = plan_.keys[k].value(steps[k]);
    return out;
  }

  static std::string nothing_at_start(const FitEvaluation& before) {
    if (!before.no_gpu.empty()) return before.no_gpu;
    for (const FitAnswer& a : before.rows)
      if (a.answered) return {};
    return "no row is answered (" + before.rows.front().refused + ")";
  }

  /// The evaluation of a point, which may become the best. Throws Spent and FitStopped.
  const FitEvaluation& at(const Steps& steps) {
    const FitState::Point values = point(steps);
    const FitEvaluation* known = state_.find(values);
    if (asked_.count(steps) != 0) return *known;
    if (asked_.size() >= budget_) throw Spent{};
    const bool fresh = known == nullptr;
    if (fresh) {
      known = &state_.add(values, surroundings_.measure(values));
      ++out_.measured;
    }
    asked_.insert(steps);
    if (!known->no_gpu.empty()) {
      ++out_.no_gpus;
      out_.no_gpu = known->no_gpu;
    }
    const double cost = fit_cost(plan_, *known);
    if (asked_.size() == 1 || (cost < least_ && searching_)) {
      least_ = cost;
      best_ = steps;
    }
    if (fresh) surroundings_.keep(state_, static_cast<unsigned>(asked_.size()), least_);
    return *known;
  }
  double cost_at(const Steps& steps) { return fit_cost(plan_, at(steps)); }

  [[nodiscard]] bool within(std::size_t key, std::int64_t n) const {
    return -plan_.keys[key].steps_down() <= n && n <= plan_.keys[key].steps_up();
  }

  void search() {
    using Method = search::StepMinimiser::Method;
    searching_ = true;
    try {
      const FitSearch& s = plan_.search;
      if (s.global != FitSearch::Global::none) {
        budget_ = s.global_evaluations;
        try {
          optimise(s.global == FitSearch::Global::crs ? Method::crs : Method::direct);
        } catch (const Spent&) {
          // The local stage goes on from the best.
        }
        budget_ = s.evaluations;
      }
      optimise(s.local == FitSearch::Local::bobyqa   ? Method::bobyqa
               : s.local == FitSearch::Local::cobyla ? Method::cobyla
                                                     : Method::subplex);
      refine();
    } catch (const Spent&) {
      out_.spent = true;
    }
    searching_ = false;
  }

  [[nodiscard]] double span(std::size_t key) const {
    return static_cast<double>(plan_.keys[key].steps_down() + plan_.keys[key].steps_up());
  }

  void optimise(search::StepMinimiser::Method method) {
    search::StepMinimiser search;
    search.method = method;
    for (std::size_t k = 0; k < plan_.keys.size(); ++k) {
      search.last.push_back(plan_.keys[k].steps_down() + plan_.keys[k].steps_up());
      search.begin.push_back(best_[k] + plan_.keys[k].steps_down());
    }
    search.seed = plan_.search.seed;
    search.tolerance = plan_.search.tolerance;
    // Points that are known cost nothing, but there is an end of asking for them.
    search.most_calls = 20 * budget_ + 1000;
    // What it gives up on is refined.
    search.run([this](Steps steps) {
      for (std::size_t k = 0; k < steps.size(); ++k) steps[k] -= plan_.keys[k].steps_down();
      return cost_at(steps);
    });
  }

  /// Tells, of each key, how a step up moves the rows at `here`, in tolerances by the square roots of
  /// weights. Asks for both neighbours of each.
  std::vector<Reals> sensitivities(const Steps& here, std::vector<Reals>* per_cent = nullptr) {
    std::vector<Reals> out;
    for (std::size_t k = 0; k < here.size(); ++k) {
      Reals column(plan_.rows.size(), 0), change(plan_.rows.size(), 0);
      Steps up = here, down = here;
      ++up[k];
      --down[k];
      if (!within(k, up[k])) up = here;
      if (!within(k, down[k])) down = here;
      const FitEvaluation middle = at(here), above = at(up), below = at(down);
      for (std::size_t r = 0; r < column.size(); ++r) {
        const FitRow& row = plan_.rows[r];
        const auto answer = [r](const FitEvaluation& e) {
          return e.no_gpu.empty() && e.rows[r].answered ? &e.rows[r] : nullptr;
        };
        const FitAnswer* const high = answer(above) == nullptr ? answer(middle) : answer(above);
        const FitAnswer* const low = answer(below) == nullptr ? answer(middle) : answer(below);
        const int steps = (up != here && answer(above) != nullptr ? 1 : 0) +
                          (down != here && answer(below) != nullptr ? 1 : 0);
        if (high == nullptr || low == nullptr || steps == 0) continue;
        change[r] = 100 * (high->measured - low->measured) / row.row->value / steps;
        if (std::abs(change[r]) < kNoChange) change[r] = 0;
        column[r] = change[r] / row.tolerance * std::sqrt(row.weight);
      }
      out.push_back(std::move(column));
      if (per_cent != nullptr) per_cent->push_back(std::move(change));
    }
    return out;
  }

  /// From neighbour to neighbour until none is better: a step of one key, of two that move the rows alike
  /// against each other, and to where the cost would be least if the rows were as straight as they are here.
  void refine() {
    for (;;) {
      const Steps here = best_;
      const std::vector<Reals> columns = sensitivities(here);
      const Reals ahead = straight_ahead(here, columns);
      for (const double part : {1.0, 0.5}) {
        Steps there = here;
        for (std::size_t k = 0; k < there.size(); ++k)
          there[k] = std::clamp<std::int64_t>(here[k] + std::llround(part * ahead[k]),
                                              -plan_.keys[k].steps_down(), plan_.keys[k].steps_up());
        cost_at(there);
      }
      if (best_ == here) exchange(here, columns);
      if (best_ == here) return;
    }
  }

  void exchange(const Steps& here, const std::vector<Reals>& columns) {
    for (std::size_t a = 0; a < here.size(); ++a) {
      for (std::size_t b = 0; b < here.size(); ++b) {
        const double of_a = length(columns[a]), of_b = length(columns[b]);
        // A step of the stronger, and what makes up for it of the weaker.
        if (a == b || of_b <= 0 || of_a < of_b || (of_a == of_b && a > b)) continue;
        const double cosine = dot(columns[a], columns[b]) / of_a / of_b;
        if (std::abs(cosine) < 0.5) continue;
        const double many = std::min(std::max(1.0, std::round(of_a / of_b * std::abs(cosine))), 1e9);
        for (const int sign : {1, -1}) {
          Steps there = here;
          there[a] += sign;
          there[b] -= static_cast<std::int64_t>(many) * (cosine < 0 ? -sign : sign);
          if (within(a, there[a]) && within(b, there[b])) cost_at(there);
        }
      }
    }
  }

  /// The step of least squares, of errors weighted as Huber's function weighs them.
  Reals straight_ahead(const Steps& here, const std::vector<Reals>& columns) {
    const std::size_t n = columns.size();
    const FitEvaluation& now = at(here);
    Reals residual(plan_.rows.size(), 0), weight(plan_.rows.size(), 0);
    for (std::size_t r = 0; r < residual.size(); ++r) {
      if (!now.rows[r].answered) continue;
      const FitRow& row = plan_.rows[r];
      const double error = (now.rows[r].measured / row.row->value - 1) * 100 / row.tolerance;
      residual[r] = error * std::sqrt(row.weight);
      weight[r] = 1 / std::max(1.0, std::abs(error));
    }
    std::vector<Reals> m(n, Reals(n, 0));
    Reals y(n, 0);
    double largest = 0;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b)
        for (std::size_t r = 0; r < residual.size(); ++r)
          m[a][b] += weight[r] * columns[a][r] * columns[b][r];
      for (std::size_t r = 0; r < residual.size(); ++r) y[a] -= weight[r] * columns[a][r] * residual[r];
      largest = std::max(largest, m[a][a]);
    }
    if (largest == 0) return y;
    for (std::size_t a = 0; a < n; ++a) m[a][a] += 1e-6 * largest;
    Reals out = solved(std::move(m), std::move(y));
    for (std::size_t k = 0; k < n; ++k) out[k] = std::clamp(out[k], -span(k), span(k));
    return out;
  }

  /// Keys that are of no consequence go back to where they started.
  void settle() {
    const std::vector<Reals> columns = sensitivities(best_);
    for (std::size_t k = 0; k < best_.size(); ++k) {
      Steps there = best_;
      there[k] = 0;
      if (length(columns[k]) == 0 && cost_at(there) <= least_) best_ = there;
    }
  }

  // What is known of the keys that were found.

  void judge() {
    const std::size_t n = plan_.keys.size();
    std::vector<Reals> per_cent;
    const std::vector<Reals> columns = sensitivities(best_, &per_cent);
    std::vector<bool> told(n, false);
    for (std::size_t k = 0; k < n; ++k) {
      const FitKey& key = plan_.keys[k];
      FittedKey found;
      found.found = key.value(best_[k]);
      found.at_lowest = best_[k] == -key.steps_down();
      found.at_highest = best_[k] == key.steps_up();
      found.changes = per_cent[k];
      const double size = length(columns[k]);
      if (size > 0) found.play = static_cast<double>(key.step) / size;
      for (std::size_t r = 0; r < plan_.rows.size(); ++r)
        if (size > 0 && std::abs(columns[k][r]) >= 0.05 * size) found.rows.push_back(plan_.rows[r].row->id);
      told[k] = size * span(k) >= 1;
      if (!told[k]) out_.undetermined.push_back({{key.path}, size > 0 ? hardly(k, size) : unmoved(k)});
      out_.keys.push_back(std::move(found));
    }
    judge_together(columns, told);
  }

  [[nodiscard]] std::string hardly(std::size_t k, double size) const {
    const FitKey& key = plan_.keys[k];
    return fmt::format("{}: from {} to {} the rows move by {:.2g} of a tolerance, all together", key.path,
                       key.lowest, key.highest, size * span(k));
  }

  /// How far a key goes before a row moves.
  std::string unmoved(std::size_t k) {
    const FitKey& key = plan_.keys[k];
    std::int64_t ends[2] = {best_[k], best_[k]};
    for (const int sign : {-1, 1}) {
      std::int64_t& end = ends[sign < 0 ? 0 : 1];
      const std::int64_t last = sign < 0 ? -key.steps_down() : key.steps_up();
      for (std::int64_t by = 1; end != last; by *= 2) {
        Steps there = best_;
        there[k] = sign < 0 ? std::max(last, best_[k] - by) : std::min(last, best_[k] + by);
        if (moved(at(best_), at(there))) break;
        end = there[k];
      }
    }
    const bool all = ends[0] == -key.steps_down() && ends[1] == key.steps_up();
    return fmt::format("{}: no row moves from {} to {}{}", key.path, key.value(ends[0]), key.value(ends[1]),
                       all ? ", which is all that is allowed" : "");
  }

  [[nodiscard]] bool moved(const FitEvaluation& a, const FitEvaluation& b) const {
    if (a.no_gpu.empty() != b.no_gpu.empty()) return true;
    for (std::size_t r = 0; r < a.rows.size(); ++r) {
      if (a.rows[r].answered != b.rows[r].answered) return true;
      if (std::abs(a.rows[r].measured - b.rows[r].measured) * 100 > kNoChange * plan_.rows[r].row->value)
        return true;
    }
    return false;
  }

  /// Keys that move the rows alike: two by two, and then what combinations are left.
  void judge_together(const std::vector<Reals>& columns, const std::vector<bool>& told) {
    std::vector<std::size_t> apart;  // one of each that move the rows alike
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (!told[k]) continue;
      bool alike = false;
      for (std::size_t n = 0; n < apart.size() && !alike; ++n) {
        const std::size_t other = apart[n];
        const double size = length(columns[k]), of_other = length(columns[other]);
        const double cosine = dot(columns[k], columns[other]) / size / of_other;
        if (std::abs(cosine) < kAlike) continue;
        alike = true;
        const FitKey &a = plan_.keys[other], &b = plan_.keys[k];
        const double worth = size / static_cast<double>(b.step) / (of_other / static_cast<double>(a.step));
        out_.undetermined.push_back(
            {{a.path, b.path},
             fmt::format(
                 "{} and {} move the rows alike (correlation {:+.3f}): 1 more of {} is as {:.3g} {} of {}",
                 a.path, b.path, cosine, b.path, worth, cosine < 0 ? "less" : "more", a.path)});
      }
      if (!alike) apart.push_back(k);
    }
    if (apart.empty()) return;
    std::vector<Reals> m(apart.size(), Reals(apart.size())), vectors;
    for (std::size_t a = 0; a < apart.size(); ++a)
      for (std::size_t b = 0; b < apart.size(); ++b)
        m[a][b] =
            dot(columns[apart[a]], columns[apart[b]]) / length(columns[apart[a]]) / length(columns[apart[b]]);
    const Reals values = eigenvalues(m, vectors);
    double largest = 0;
    for (const double v : values) largest = std::max(largest, v);
    for (std::size_t v = 0; v < values.size(); ++v) {
      const double singular = std::sqrt(std::max(values[v], 0.0));
      out_.singular_values.push_back(singular);
      if (singular >= kUntold * std::sqrt(largest)) continue;
      FitUndetermined together;
      for (std::size_t a = 0; a < apart.size(); ++a)
        if (std::abs(vectors[a][v]) > 0.2) together.keys.push_back(plan_.keys[apart[a]].path);
      together.why = fmt::format("{}: the rows do not tell them one by one (singular value {:.2g} of {:.2g})",
                                 joined(together.keys, ", ", " and "), singular, std::sqrt(largest));
      out_.undetermined.push_back(std::move(together));
    }
    std::sort(out_.singular_values.rbegin(), out_.singular_values.rend());
  }

  const FitPlan& plan_;
  FitState& state_;
  const FitSurroundings& surroundings_;
  std::set<Steps> asked_;
  std::size_t budget_ = 0;  ///< of asked_
  bool searching_ = false;
  Steps best_;
  double least_ = 0;
  FitOutcome out_;
};

}  // namespace

double fit_cost(const FitPlan& plan, const FitEvaluation& evaluation) {
  double sum = 0, weights = 0;
  for (std::size_t r = 0; r < plan.rows.size(); ++r) {
    const FitRow& row = plan.rows[r];
    const bool answered = evaluation.no_gpu.empty() && evaluation.rows[r].answered;
    const double error =
        answered ? (evaluation.rows[r].measured / row.row->value - 1) * 100 / row.tolerance : kUnanswered;
    sum += row.weight * huber(error);
    weights += row.weight;
  }
  return sum / weights;
}

Result<FitOutcome> run_fit(const FitPlan& plan, FitState& state, const FitSurroundings& surroundings) {
  return Fitter(plan, state, surroundings).run();
}

}  // namespace warpline::study
