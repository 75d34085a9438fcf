#include "platform/sweep/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

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

/// Goes to the next steps of a grid, whose last axis turns fastest. Returns false behind the last of them.
bool next_of_grid(const Study& study, Steps& at) {
  std::size_t n = at.size();
  while (n != 0 && ++at[n - 1] == study.axes[n - 1].steps.size()) at[--n] = 0;
  return n != 0;
}

std::vector<Steps> grid(const Study& study) {
  std::vector<Steps> all;
  Steps at(study.axes.size(), 0);
  do {
    all.push_back(at);
  } while (next_of_grid(study, at));
  return all;
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
  Values(const Study& study, const Point& point, const Keys& keys)
      : study_(study), point_(point), keys_(keys) {}
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
  const Keys& keys_;
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

/// What the conditions of a study leave of points.
class Sieve {
 public:
  explicit Sieve(const Study& study) : study_(study) {
    for (const std::vector<Condition>* list : {&study.require, &study.exclude})
      for (const Condition& c : *list) {
        any_ = true;
        for (const std::string& name : c.names()) asks_others_ = asks_others_ || !is_varied(name);
      }
  }
  [[nodiscard]] bool leaves_all() const { return !any_; }

  /// Calls `take` for each workload that is left for `point`, with that in it. `config`: of its GPU, or null
  /// where there is no such GPU; it is only asked for where conditions ask for keys that are not varied.
  void each_left(Point& point, const GpuConfig& plain, const std::function<const GpuConfig*()>& config,
                 const std::function<void()>& take) const {
    Keys keys;
    if (any_) {
      const GpuConfig* const made = asks_others_ ? config() : nullptr;
      if (asks_others_) keys = keys_of(made != nullptr ? *made : plain);
      // What is no GPU can still be left out, by what was asked for.
      if (made == nullptr)
        for (const auto& [key, value] : point.settings) keys[key] = value;
    }
    for (point.workload = 0; point.workload < study_.workloads.size(); ++point.workload)
      if (!any_ || !is_left_out(study_, Values(study_, point, keys))) take();
  }

 private:
  [[nodiscard]] bool is_varied(const std::string& name) const {
    if (name == "gpu" || name == "workload") return true;
    return std::any_of(study_.axes.begin(), study_.axes.end(), [&](const Axis& a) {
      return std::find(a.keys.begin(), a.keys.end(), name) != a.keys.end();
    });
  }
  const Study& study_;
  bool any_ = false, asks_others_ = false;
};

/// The point of a GPU and steps of the axes, but for its number and its workload.
Point point_at(const Study& study, const std::string& gpu, const std::size_t* steps) {
  Point point;
  point.gpu = gpu;
  for (const Axis& a : study.axes) {
    const std::vector<std::string>& values = a.steps[*steps++];
    for (std::size_t k = 0; k < a.keys.size(); ++k) point.settings.emplace_back(a.keys[k], values[k]);
  }
  return point;
}

Result<GpuConfig> gpu_of(const Point& point) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : point.settings) settings.push_back(key + "=" + value);
  return load_gpu(point.gpu, settings);
}

Diagnostic too_many(const Study& study) {
  return Diagnostic::about(study.file, fmt::format("the study has more than {} points", kMostPoints),
                           "design = \"latin\" looks at as many as you say");
}

/// Whether the steps of an axis are numbers that only go up, or only down.
bool has_order(const Axis& axis) {
  for (std::size_t k = 0; k < axis.keys.size(); ++k) {
    bool up = true, down = true;
    double last = 0;
    for (std::size_t n = 0; n < axis.steps.size(); ++n) {
      const auto number = real_number(axis.steps[n][k]);
      if (!number) return false;
      up = up && (n == 0 || *number >= last);
      down = down && (n == 0 || *number <= last);
      last = *number;
    }
    if (!up && !down) return false;
  }
  return true;
}

constexpr std::uint32_t kLeftOut = ~std::uint32_t{0};
static_assert(kMostPoints < kLeftOut);

}  // namespace

Result<Plan> plan_of(const Study& study, const Share& share) {
  const std::size_t each = count_of(study), times = study.gpus.size() * study.workloads.size();
  if (each > kMostPoints / times) return too_many(study);
  const std::vector<Steps> designs = study.design == Design::grid    ? grid(study)
                                     : study.design == Design::latin ? latin(study)
                                                                     : one_at_a_time(study);
  const Sieve sieve(study);
  Plan plan;
  std::size_t number = 0;
  for (const std::string& gpu : study.gpus) {
    const Result<GpuConfig> plain = load_gpu(gpu);
    if (!plain.ok()) return plain.faults();
    for (const Steps& steps : designs) {
      Point point = point_at(study, gpu, steps.data());
      // Made where somebody asks for it: it takes a millisecond.
      std::optional<Result<GpuConfig>> config;
      const auto made = [&]() -> const GpuConfig* {
        if (!config) config = gpu_of(point);
        return config->ok() ? &config->value() : nullptr;
      };
      const std::size_t before = number;
      try {
        sieve.each_left(point, plain.value(), made, [&] {
          point.number = number++;
          if (!share.has(point.number)) return;
          if (made() == nullptr) point.impossible = config->faults().front().message;
          plan.points.push_back(point);
        });
      } catch (const ConditionError& e) {
        return Diagnostic::about(study.file, "condition " + e.what);
      }
      plan.left_out += study.workloads.size() - (number - before);
    }
  }
  return plan;
}

Candidates::Candidates(const Study& study) : study_(&study) {
  steps_.push_back(study.gpus.size());
  ordered_.push_back(false);
  for (const Axis& a : study.axes) {
    steps_.push_back(a.steps.size());
    ordered_.push_back(has_order(a));
  }
}

Result<Candidates> Candidates::of(const Study& study) {
  if (study.design != Design::grid)
    return Diagnostic::about(study.file,
                             "a search chooses its points itself: the study's design is not for it",
                             "leave out design; it searches the whole grid");
  const std::size_t each = count_of(study);
  if (each > kMostPoints / (study.gpus.size() * study.workloads.size())) return too_many(study);
  Candidates out(study);
  out.count_ = each * study.gpus.size();
  const Sieve sieve(study);
  std::size_t points = 0;
  for (const std::string& gpu : study.gpus) {
    const Result<GpuConfig> plain = load_gpu(gpu);
    if (!plain.ok()) return plain.faults();
    if (sieve.leaves_all()) continue;
    for (Steps at(study.axes.size(), 0);;) {
      Point point = point_at(study, gpu, at.data());
      std::optional<Result<GpuConfig>> config;
      std::size_t left = 0;
      try {
        sieve.each_left(
            point, plain.value(),
            [&] {
              config = gpu_of(point);
              return config->ok() ? &config->value() : nullptr;
            },
            [&left] { ++left; });
      } catch (const ConditionError& e) {
        return Diagnostic::about(study.file, "condition " + e.what);
      }
      const bool whole = left == study.workloads.size();
      out.first_.push_back(whole ? static_cast<std::uint32_t>(points) : kLeftOut);
      if (!whole) --out.count_;
      points += left;
      if (!next_of_grid(study, at)) break;
    }
  }
  return out;
}

std::vector<Point> Candidates::points_of(const std::vector<std::size_t>& at) const {
  std::size_t cell = 0;
  for (std::size_t n = 0; n < at.size(); ++n) cell = cell * steps_[n] + at[n];
  const std::size_t workloads = study_->workloads.size();
  if (!first_.empty() && first_[cell] == kLeftOut) return {};
  Point point = point_at(*study_, study_->gpus[at[0]], at.data() + 1);
  const Result<GpuConfig> config = gpu_of(point);
  if (!config.ok()) point.impossible = config.faults().front().message;
  point.number = first_.empty() ? cell * workloads : first_[cell];
  std::vector<Point> out;
  for (; point.workload < workloads; ++point.workload, ++point.number) out.push_back(point);
  return out;
}

Operand PointKeys::operator()(const std::string& name) const {
  if (name == "gpu") return point_.gpu;
  if (name == "workload") return study_.workloads[point_.workload].name;
  for (const auto& [key, value] : point_.settings)
    if (key == name) return operand_of(value);
  if (others_.empty())
    if (const Result<GpuConfig> config = gpu_of(point_); config.ok()) others_ = keys_of(config.value());
  const auto found = others_.find(name);
  if (found == others_.end()) throw ConditionError{"this GPU has no key \"" + name + "\""};
  return operand_of(found->second);
}

}  // namespace warpline::sweep
