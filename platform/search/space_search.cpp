#include "platform/search/space_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace warpline::search {
namespace {

using Kind = Rating::Kind;

/// Axes of more steps are gone along with longer strides first.
constexpr std::size_t kLongAxis = 4;
/// Costs of what misses a constraint, and of what has no values: above those of all that is met, which are 0
/// to 1.
constexpr double kShort = 2, kNothing = 4;
/// So many are looked at for the first candidate that there is.
constexpr std::uint64_t kLooksForFirst = 1000;
/// Weights of the first of two objectives, as the front is gone down to.
constexpr double kWeights[] = {0.5, 1, 0, 0.25, 0.75};

}  // namespace

SpaceSearch::SpaceSearch(Space space, const Options& options, Exists exists, Evaluate evaluate)
    : space_(std::move(space)),
      options_(options),
      exists_(std::move(exists)),
      evaluate_(std::move(evaluate)),
      random_(options.seed) {
  for (const std::size_t n : space_.steps) cells_ *= n;
}

SpaceSearch::Cell SpaceSearch::cell_of(const Candidate& candidate) const {
  Cell cell = 0;
  for (std::size_t n = 0; n < candidate.size(); ++n) cell = cell * space_.steps[n] + candidate[n];
  return cell;
}

Candidate SpaceSearch::candidate_of(Cell cell) const {
  Candidate out(space_.steps.size());
  for (std::size_t n = out.size(); n-- != 0; cell /= space_.steps[n])
    out[n] = static_cast<std::size_t>(cell % space_.steps[n]);
  return out;
}

bool SpaceSearch::is_known(const Candidate& candidate) const {
  return ratings_.count(cell_of(candidate)) != 0;
}

const Rating& SpaceSearch::rating_of(const Candidate& candidate) const {
  return ratings_.at(cell_of(candidate));
}

/// Rates those that are not known yet, as far as the budget goes.
void SpaceSearch::rate(const std::vector<Candidate>& candidates) {
  std::vector<Candidate> batch;
  std::set<Cell> asked;
  bool spent = false;
  for (const Candidate& c : candidates) {
    if (is_known(c) || !asked.insert(cell_of(c)).second) continue;
    if (!exists_(c)) {
      ratings_[cell_of(c)] = {};
    } else if (evaluated_.size() + batch.size() == limit_) {
      spent = true;
      break;
    } else {
      batch.push_back(c);
    }
  }
  if (!batch.empty()) {
    std::vector<Rating> ratings = evaluate_(batch);
    for (std::size_t n = 0; n < batch.size(); ++n) {
      ratings_[cell_of(batch[n])] = std::move(ratings[n]);
      evaluated_.push_back(std::move(batch[n]));
    }
  }
  if (spent) throw Spent{};
}

const Rating& SpaceSearch::rated(const Candidate& candidate) {
  rate({candidate});
  return rating_of(candidate);
}

void SpaceSearch::run() {
  try {
    search();
  } catch (const Spent&) {
    // The budget is used up.
  }
}

void SpaceSearch::search() {
  limit_ = options_.evaluations;
  sample();
  if (options_.objectives == 1) {
    const Cost cost = cost_of(1);
    look_over(cost);
    if (const Candidate* best = least(cost)) descend(*best, cost);
    for (Candidate next; draw(next);) descend(next, cost);
    return;
  }
  look_over(cost_of(0.5));
  for (const double weight : kWeights) {
    // By the values that are known now.
    const Cost cost = cost_of(weight);
    if (const Candidate* best = least(cost)) descend(*best, cost);
  }
  widen_front();
  for (Candidate next; draw(next); widen_front()) rate({next});
}

/// The first candidate that there is, and a Latin hypercube: each axis is cut in as many strata as there are
/// candidates, and each of them taken once, in an order of its own.
void SpaceSearch::sample() {
  const std::size_t count = std::min<std::size_t>(2 * space_.steps.size(), options_.evaluations / 3);
  std::vector<Candidate> all(1 + count, Candidate(space_.steps.size(), 0));
  for (Cell cell = 0; cell < std::min(cells_, kLooksForFirst) && !exists_(all[0]);
       all[0] = candidate_of(++cell % cells_))
    ratings_[cell] = {};
  std::vector<std::size_t> strata(count);
  for (std::size_t axis = 0; axis < space_.steps.size(); ++axis) {
    std::iota(strata.begin(), strata.end(), std::size_t{0});
    for (std::size_t n = count; n > 1; --n) std::swap(strata[n - 1], strata[random_.below(n)]);
    for (std::size_t n = 0; n < count; ++n)
      all[1 + n][axis] = (2 * strata[n] + 1) * space_.steps[axis] / (2 * count);
  }
  rate(all);
}

/// NLopt's global search, over a part of the budget. Axes with one step are none to it.
void SpaceSearch::look_over(const Cost& cost) {
  StepMinimiser search;
  search.method = StepMinimiser::Method::direct;
  std::vector<std::size_t> axes;
  for (std::size_t n = 0; n < space_.steps.size(); ++n)
    if (space_.steps[n] > 1) {
      axes.push_back(n);
      search.last.push_back(static_cast<std::int64_t>(space_.steps[n] - 1));
    }
  if (axes.empty()) return;
  search.begin.assign(axes.size(), 0);
  search.seed = options_.seed;
  const std::size_t share = std::min(4 * axes.size(), options_.evaluations / 4);
  // Candidates that are known cost nothing, but there is an end of asking for them.
  search.most_calls = 20 * share + 100;
  limit_ = std::min(options_.evaluations, evaluated_.size() + share);
  try {
    Candidate at(space_.steps.size(), 0);
    search.run([&](const std::vector<std::int64_t>& steps) {
      for (std::size_t k = 0; k < axes.size(); ++k) at[axes[k]] = static_cast<std::size_t>(steps[k]);
      return cost(rated(at));
    });
  } catch (const Spent&) {
    // Others go on from the best.
  }
  limit_ = options_.evaluations;
}

/// The candidates a stride from `at` along one axis: of a `part`-th of its steps, at least one; where steps
/// have no order, all others.
std::vector<Candidate> SpaceSearch::around(const Candidate& at, std::size_t part) const {
  std::vector<Candidate> out;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const std::size_t steps = space_.steps[axis], stride = std::max<std::size_t>(steps / part, 1);
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t off = step < at[axis] ? at[axis] - step : step - at[axis];
      if (off == 0 || (space_.ordered[axis] && off != stride)) continue;
      out.push_back(at);
      out.back()[axis] = step;
    }
  }
  return out;
}

/// The candidates a step away along two ordered axes.
std::vector<Candidate> SpaceSearch::across(const Candidate& at) const {
  std::vector<Candidate> out;
  for (std::size_t a = 0; a < at.size(); ++a)
    for (std::size_t b = a + 1; b < at.size(); ++b)
      for (const unsigned way : {0U, 1U, 2U, 3U}) {
        if (!space_.ordered[a] || !space_.ordered[b]) break;
        Candidate next = at;
        // Below the first step it is far beyond the last.
        next[a] += (way & 1U) != 0 ? 1 : std::size_t(-1);
        next[b] += (way & 2U) != 0 ? 1 : std::size_t(-1);
        if (next[a] < space_.steps[a] && next[b] < space_.steps[b]) out.push_back(std::move(next));
      }
  return out;
}

/// From `from` to better ones until no neighbour is better.
void SpaceSearch::descend(Candidate from, const Cost& cost) {
  double here = cost(rated(from));
  const auto moves = [&](const std::vector<Candidate>& near) {
    rate(near);
    const Candidate before = from;
    for (const Candidate& c : near)
      if (const double there = cost(rating_of(c)); there < here) {
        here = there;
        from = c;
      }
    return from != before;
  };
  const std::size_t longest =
      space_.steps.empty() ? 1 : *std::max_element(space_.steps.begin(), space_.steps.end());
  std::size_t part = kLongAxis;
  for (;;) {
    if (moves(around(from, part))) continue;
    if (part < longest) {
      part *= 2;
    } else if (!moves(across(from))) {
      return;
    }
  }
}

/// Of those that are known, the one of the least cost; of equal ones, the first.
const Candidate* SpaceSearch::least(const Cost& cost) const {
  const Candidate* out = nullptr;
  double best = 0;
  for (const Candidate& c : evaluated_)
    if (const double here = cost(rating_of(c)); out == nullptr || here < best) {
      out = &c;
      best = here;
    }
  return out;
}

/// Values are measured by the range of those that are known now. Of two, the first weighs `weight`, and the
/// greater counts: so that candidates of a hollow front are found, too.
SpaceSearch::Cost SpaceSearch::cost_of(double weight) const {
  std::vector<double> low(options_.objectives, 0), range(options_.objectives, 1);
  for (std::size_t n = 0; n < low.size(); ++n) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const Candidate& c : evaluated_) {
      const Rating& r = rating_of(c);
      if (r.kind != Kind::met) continue;
      least = std::min(least, r.values[n]);
      most = std::max(most, r.values[n]);
    }
    if (least <= most) low[n] = least;
    if (least < most) range[n] = most - least;
  }
  return [low, range, weight](const Rating& r) {
    if (r.kind == Kind::missed) return kShort + r.shortfall / (1 + r.shortfall);
    if (r.kind != Kind::met) return kNothing;
    double value = 0;
    if (low.size() == 1) {
      value = (r.values[0] - low[0]) / range[0];
    } else {
      const double x = weight * (r.values[0] - low[0]) / range[0];
      const double y = (1 - weight) * (r.values[1] - low[1]) / range[1];
      value = std::max(x, y) + 0.01 * (x + y);
    }
    // Into 0 to 1, whatever comes.
    return 0.5 + value / (1 + std::abs(value)) / 2;
  };
}

/// Rates the neighbours of all of the front, until it does not change.
void SpaceSearch::widen_front() {
  std::set<Cell> seen;
  for (;;) {
    std::vector<Candidate> near;
    for (const Candidate& c : best())
      if (seen.insert(cell_of(c)).second)
        for (Candidate& neighbour : around(c, std::numeric_limits<std::size_t>::max()))
          near.push_back(std::move(neighbour));
    if (near.empty()) return;
    rate(near);
  }
}

/// A candidate that exists and is not known yet. Returns false: there is none any more.
bool SpaceSearch::draw(Candidate& candidate) {
  while (!exhausted()) {
    const Cell begin = random_.below(cells_);
    Cell cell = begin;
    while (ratings_.count(cell) != 0) cell = (cell + 1) % cells_;
    candidate = candidate_of(cell);
    if (exists_(candidate)) return true;
    ratings_[cell] = {};
  }
  return false;
}

bool SpaceSearch::better(const Rating& a, const Rating& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.kind == Kind::missed && a.shortfall != b.shortfall) return a.shortfall < b.shortfall;
  return (a.kind == Kind::met || a.kind == Kind::missed) && a.values[0] < b.values[0];
}

std::vector<Candidate> SpaceSearch::best() const {
  std::vector<std::pair<Candidate, const Rating*>> met;
  for (const Candidate& c : evaluated_)
    if (const Rating& r = rating_of(c); r.kind == Kind::met) met.emplace_back(c, &r);
  // By values, then by the order of the space: of equal ones the first alone is best.
  std::sort(met.begin(), met.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second->values, a.first) < std::tie(b.second->values, b.first);
  });
  std::vector<Candidate> out;
  const Rating* last = nullptr;
  for (const auto& [candidate, rating] : met) {
    // The first has more with each: what comes is in the front where the second has less than all before.
    if (last != nullptr && (options_.objectives == 1 || rating->values[1] >= last->values[1])) continue;
    last = rating;
    out.push_back(candidate);
  }
  return out;
}

}  // namespace warpline::search
