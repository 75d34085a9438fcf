#include "platform/sweep/optimiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <variant>

#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

using search::Candidate;
using search::Rating;

/// The geometric mean of numbers from 0 on; of one number, itself.
double mean_of(const std::vector<double>& values) {
  if (values.size() == 1) return values[0];
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<Aim> Aim::of(const std::vector<std::pair<std::string, std::string>>& objectives,
                    const std::vector<std::string>& constraints, const std::vector<std::string>& metrics) {
  std::vector<std::string> names = condition_names();
  names.insert(names.end(), metrics.begin(), metrics.end());
  Aim aim;
  Diagnostics faults;
  std::vector<std::string> used;
  for (const auto& [option, text] : objectives) {
    aim.objectives.emplace_back(ExpressionText::behind(option, text, names), faults);
    for (const std::string& name : aim.objectives.back().names()) used.push_back(name);
  }
  for (const std::string& text : constraints) {
    aim.constraints.emplace_back(ExpressionText::behind("--subject-to", text, names), faults);
    for (const std::string& name : aim.constraints.back().names()) used.push_back(name);
  }
  if (!faults.empty()) return faults;
  for (const std::string& name : used)
    if (is_among(name, metrics) && !is_among(name, aim.metrics)) aim.metrics.push_back(name);
  return aim;
}

Diagnostics Aim::unfit(const Study& study, const Point& point) const {
  const PointKeys keys(study, point);
  double next = 1.7;  // of numbers that nothing divides by, or takes from each other, to nothing
  std::map<std::string, Operand> known;
  const Lookup lookup = [&](const std::string& name) -> Operand {
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    Operand value = next += 0.1373;
    if (!is_among(name, metrics)) {
      const Operand of_key = keys(name);
      if (std::holds_alternative<std::string>(of_key)) value = of_key;
    }
    return known[name] = value;
  };
  Diagnostics faults;
  const auto look = [&](const Expression& e, const std::function<void()>& reckon) {
    try {
      reckon();
    } catch (const ConditionError& error) {
      faults.push_back(Diagnostic::about(e.text(), error.what));
    }
  };
  for (const Formula& f : objectives) look(f, [&] { static_cast<void>(f.value(lookup)); });
  for (const Condition& c : constraints) look(c, [&] { static_cast<void>(c.holds(lookup)); });
  return faults;
}

Optimiser::Optimiser(const Study& study, const Candidates& candidates, const Aim& aim, ResultStore& store,
                     const Options& options)
    : study_(study),
      candidates_(candidates),
      aim_(aim),
      store_(store),
      options_(options),
      search_(
          {candidates.steps(), candidates.ordered()},
          {aim.objectives.size(), options.evaluations, options.seed},
          [this](const Candidate& c) { return exists(c); },
          [this](const std::vector<Candidate>& c) { return evaluate(c); }) {
  for (const Condition& c : aim.constraints) {
    const std::vector<std::string> names = c.names();
    const bool asks_runs = std::any_of(names.begin(), names.end(),
                                       [&](const std::string& name) { return is_among(name, aim.metrics); });
    (asks_runs ? of_runs_ : of_keys_).push_back(&c);
  }
}

bool Optimiser::run() {
  try {
    search_.run();
    return true;
  } catch (const Stopped&) {
    return false;
  }
}

/// What no condition leaves out, what is a GPU, and what meets the constraints on keys alone.
bool Optimiser::exists(const Candidate& candidate) {
  if (options_.runs.stop_wanted && options_.runs.stop_wanted()) throw Stopped{};
  const std::vector<Point> points = candidates_.points_of(candidate);
  if (points.empty()) return false;
  if (!points.front().impossible.empty()) {
    if (impossible_++ == 0) why_impossible_ = points.front().impossible;
    return false;
  }
  return std::all_of(points.begin(), points.end(), [this](const Point& point) {
    const PointKeys keys(study_, point);
    const Lookup lookup = [&keys](const std::string& name) { return keys(name); };
    return std::all_of(of_keys_.begin(), of_keys_.end(),
                       [&lookup](const Condition* c) { return c->holds(lookup); });
  });
}

std::vector<Rating> Optimiser::evaluate(const std::vector<Candidate>& candidates) {
  Plan plan;
  std::vector<Tried> batch(candidates.size());
  for (std::size_t n = 0; n < batch.size(); ++n) {
    batch[n].points = candidates_.points_of(candidates[n]);
    plan.points.insert(plan.points.end(), batch[n].points.begin(), batch[n].points.end());
  }
  if (Sweep(study_, plan, store_, options_.runs).run().stopped) throw Stopped{};
  std::vector<Rating> ratings;
  for (Tried& t : batch) {
    judge(t);
    ratings.push_back(t.rating);
    tried_.push_back(std::move(t));
  }
  if (options_.on_progress) options_.on_progress(tried_.size());
  return ratings;
}

void Optimiser::judge(Tried& tried) const {
  tried.rating.kind = Rating::Kind::failed;
  try {
    judge_values(tried);
  } catch (const ConditionError& e) {
    tried.why = e.what;
    tried.values.clear();
  }
}

/// Throws ConditionError: it has no value.
void Optimiser::judge_values(Tried& tried) const {
  tried.values.assign(aim_.objectives.size(), {});
  tried.metrics.assign(aim_.metrics.size(), {});
  double shortfall = 0;
  for (const Point& point : tried.points) {
    const auto row = store_.found(point.number, aim_.metrics);
    if (!row) throw ConditionError{fmt::format("point {} has no row", point.number)};
    if (row->outcome != "finished")
      throw ConditionError{fmt::format("point {}: {}: {}", point.number, row->outcome, row->reason)};
    for (std::size_t n = 0; n < aim_.metrics.size(); ++n) {
      if (!row->values[n])
        throw ConditionError{fmt::format("point {} has no {}", point.number, aim_.metrics[n])};
      tried.metrics[n].push_back(*row->values[n]);
    }
    const PointKeys keys(study_, point);
    const Lookup lookup = [&](const std::string& name) -> Operand {
      const auto metric = std::find(aim_.metrics.begin(), aim_.metrics.end(), name);
      return metric == aim_.metrics.end()
                 ? keys(name)
                 : *row->values[static_cast<std::size_t>(metric - aim_.metrics.begin())];
    };
    for (std::size_t n = 0; n < aim_.objectives.size(); ++n) {
      const std::string& text = aim_.objectives[n].text();
      const double value = [&] {
        try {
          return aim_.objectives[n].value(lookup);
        } catch (const ConditionError& e) {
          throw ConditionError{fmt::format("point {}: {}: {}", point.number, text, e.what)};
        }
      }();
      if (!std::isfinite(value))
        throw ConditionError{fmt::format("point {}: {} is no finite number", point.number, text)};
      if (value < 0 && tried.points.size() > 1)
        throw ConditionError{
            fmt::format("point {}: {} is below 0, and has no geometric mean", point.number, text)};
      tried.values[n].push_back(value);
    }
    for (const Condition* c : of_runs_) {
      const double by = c->shortfall(lookup);
      if (by > 0 && shortfall == 0)
        tried.why = fmt::format("point {} does not meet {}", point.number, c->text());
      shortfall += by;
    }
  }
  for (std::size_t n = 0; n < aim_.objectives.size(); ++n)
    tried.rating.values.push_back(aim_.maximise ? -value(tried, n) : value(tried, n));
  tried.rating.shortfall = shortfall;
  tried.rating.kind = shortfall > 0 ? Rating::Kind::missed : Rating::Kind::met;
}

double Optimiser::value(const Tried& tried, std::size_t objective) {
  return mean_of(tried.values[objective]);
}

std::vector<const Optimiser::Tried*> Optimiser::best() const {
  std::vector<const Tried*> out;
  for (const Tried& t : tried_)
    if (t.rating.kind == Rating::Kind::met) out.push_back(&t);
  std::sort(out.begin(), out.end(), [](const Tried* a, const Tried* b) {
    return std::make_pair(a->rating.values, a->points[0].number) <
           std::make_pair(b->rating.values, b->points[0].number);
  });
  if (aim_.objectives.size() == 1) return out;
  // By the first objective: what comes is in the front where it has less of the second than all before.
  double least = std::numeric_limits<double>::infinity();
  out.erase(std::remove_if(out.begin(), out.end(),
                           [&least](const Tried* t) {
                             const bool behind = t->rating.values[1] >= least;
                             least = std::min(least, t->rating.values[1]);
                             return behind;
                           }),
            out.end());
  return out;
}

std::vector<const Optimiser::Tried*> Optimiser::nearest() const {
  std::vector<const Tried*> out;
  for (const Tried& t : tried_)
    if (t.rating.kind == Rating::Kind::missed) out.push_back(&t);
  std::stable_sort(out.begin(), out.end(), [](const Tried* a, const Tried* b) {
    return search::SpaceSearch::better(a->rating, b->rating);
  });
  return out;
}

}  // namespace warpline::sweep
