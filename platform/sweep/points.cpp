#include "platform/sweep/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"
#include "rtl_models/base/random.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

using Steps = std::vector<std::size_t>;  ///< of each axis, which

/// How many the design has of each GPU and workload; kMostPoints + 1: more.
std::size_t count_of(const Study& study) {
  std::size_t n = 1;
  if (study.design == Design::latin) return study.points;
  if (study.design == Design::one_at_a_time) {
    for (const Axis& a : study.axes) n += a.steps.size() - 1;
    return n;
  }
  for (const Axis& a : study.axes) {
    if (n > kMostPoints / a.steps.size()) return kMostPoints + 1;
    n *= a.steps.size();
  }
  return n;
}

std::vector<Steps> grid(const Study& study) {
  std::vector<Steps> all;
  Steps at(study.axes.size(), 0);
  for (;;) {
    all.push_back(at);
    // The last axis turns fastest.
    std::size_t n = at.size();
    while (n != 0 && ++at[n - 1] == study.axes[n - 1].steps.size()) at[--n] = 0;
    if (n == 0) return all;
  }
}

std::vector<Steps> one_at_a_time(const Study& study) {
  std::vector<Steps> all = {Steps(study.axes.size(), 0)};
  for (std::size_t axis = 0; axis < study.axes.size(); ++axis)
    for (std::size_t step = 1; step < study.axes[axis].steps.size(); ++step) {
      all.push_back(all.front());
      all.back()[axis] = step;
    }
  return all;
}

/// Each axis is cut in as many strata as there are points, and each of them taken once, in an order of its
/// own. Points that fall on the same steps are looked at once.
std::vector<Steps> latin(const Study& study) {
  Random random(study.seed);
  const std::size_t points = study.points;
  std::vector<Steps> all(points, Steps(study.axes.size()));
  std::vector<std::size_t> strata(points);
  for (std::size_t axis = 0; axis < study.axes.size(); ++axis) {
    std::iota(strata.begin(), strata.end(), std::size_t{0});
    for (std::size_t n = points; n > 1; --n) std::swap(strata[n - 1], strata[random.below(n)]);
    const std::size_t steps = study.axes[axis].steps.size();
    for (std::size_t n = 0; n < points; ++n) all[n][axis] = strata[n] * steps / points;
  }
  std::vector<Steps> once;
  std::map<Steps, bool> seen;
  for (Steps& s : all)
    if (!std::exchange(seen[s], true)) once.push_back(std::move(s));
  return once;
}

/// A value as TOML writes it, for conditions.
Operand operand_of(const std::string& value) {
  if (const auto number = real_number(value)) return *number;
  if (value.size() >= 2 && value.front() == '"') return value.substr(1, value.size() - 2);
  return value;
}

/// The keys of a GPU, as TOML writes them.
using Keys = std::map<std::string, std::string>;

Keys keys_of(const GpuConfig& config) {
  Keys keys;
  for (const ConfigEntry& e : config_entries(config))
    if (!e.value.empty()) keys[e.path()] = e.value;
  return keys;
}

/// What conditions see of a point.
class Values {
 public:
  Values(const Study& study, const Point& point, Keys keys)
      : study_(study), point_(point), keys_(std::move(keys)) {}
  [[nodiscard]] Operand operator()(const std::string& name) const {
    if (name == "gpu") return point_.gpu;
    if (name == "workload") return study_.workloads[point_.workload].name;
    const auto found = keys_.find(name);
    if (found == keys_.end()) throw ConditionError{"this GPU has no key \"" + name + "\""};
    return operand_of(found->second);
  }

 private:
  const Study& study_;
  const Point& point_;
  Keys keys_;
};

bool is_left_out(const Study& study, const Values& values) {
  const auto holds = [&](const Condition& c) {
    try {
      return c.holds(values);
    } catch (const ConditionError& e) {
      throw ConditionError{c.text() + ": " + e.what};
    }
  };
  return std::any_of(study.exclude.begin(), study.exclude.end(), holds) ||
         !std::all_of(study.require.begin(), study.require.end(), holds);
}

}  // namespace

Result<Plan> plan_of(const Study& study) {
  const std::size_t each = count_of(study), times = study.gpus.size() * study.workloads.size();
  if (each > kMostPoints / times)
    return Diagnostic::about(study.file, fmt::format("the study has more than {} points", kMostPoints),
                             "design = \"latin\" looks at as many as you say");
  const std::vector<Steps> designs = study.design == Design::grid    ? grid(study)
                                     : study.design == Design::latin ? latin(study)
                                                                     : one_at_a_time(study);
  const bool has_conditions = !study.require.empty() || !study.exclude.empty();
  Plan plan;
  for (const std::string& gpu : study.gpus) {
    const Result<GpuConfig> plain = load_gpu(gpu);
    if (!plain.ok()) return plain.faults();
    for (const Steps& steps : designs) {
      Point point;
      point.gpu = gpu;
      std::vector<std::string> settings;
      for (std::size_t axis = 0; axis < steps.size(); ++axis) {
        const Axis& a = study.axes[axis];
        for (std::size_t k = 0; k < a.keys.size(); ++k) {
          point.settings.emplace_back(a.keys[k], a.steps[steps[axis]][k]);
          settings.push_back(a.keys[k] + "=" + point.settings.back().second);
        }
      }
      const Result<GpuConfig> config = load_gpu(gpu, settings);
      if (!config.ok()) point.impossible = config.faults().front().message;
      Keys keys;
      if (has_conditions) {
        keys = keys_of(config.ok() ? config.value() : plain.value());
        // What is no GPU can still be left out, by what was asked for.
        if (!config.ok())
          for (const auto& [key, value] : point.settings) keys[key] = value;
      }
      for (point.workload = 0; point.workload < study.workloads.size(); ++point.workload) {
        try {
          if (has_conditions && is_left_out(study, Values(study, point, keys))) {
            ++plan.left_out;
            continue;
          }
        } catch (const ConditionError& e) {
          return Diagnostic::about(study.file, "condition " + e.what);
        }
        point.number = plan.points.size();
        plan.points.push_back(point);
      }
    }
  }
  return plan;
}

}  // namespace warpline::sweep
