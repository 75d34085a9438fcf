#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "platform/sweep/condition.h"
#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"

namespace warpline::sweep {
namespace {

constexpr const char* kSize = "size";
/// Marks nearer to each other are drawn as one, where there are many.
constexpr std::size_t kMany = 1500;
constexpr double kCell = 1.0 / 110;
constexpr std::size_t kMostRows = 40;

/// A GPU with its settings: all workloads of it together.
struct Candidate {
  const StudyRun* run = nullptr;  ///< one of them
  double x = 0, y = 0;
  std::size_t workloads = 0;
};

/// How many times its smallest value each key with numbers has, on average.
double size_of(const StudyResults& results, const StudyRun& run) {
  double sum = 0;
  std::size_t keys = 0;
  for (std::size_t k = 0; k < results.keys.size(); ++k) {
    if (results.values[k].size() < 2 || run.settings[k] == kNone) continue;
    const auto least = real_number(results.values[k].front()), own = real_number(results.values[k][run.settings[k]]);
    if (!least || !own || *least <= 0) continue;
    sum += *own / *least;
    ++keys;
  }
  return keys == 0 ? NAN : sum / static_cast<double>(keys);
}

/// What is drawn in one direction.
class Quantity {
 public:
  Quantity(const ReportInput& in, std::string name) : in_(in), name_(std::move(name)) {
    const auto key = std::find(in.results.keys.begin(), in.results.keys.end(), name_);
    if (key != in.results.keys.end()) key_ = static_cast<std::size_t>(key - in.results.keys.begin());
  }
  [[nodiscard]] std::vector<double> values(const Subject& s) const {
    std::vector<double> out;
    if (name_ != kSize && key_ == in_.results.keys.size() + 1) {
      return s.values_of({name_, ""}, in_.results);
    }
    for (const std::size_t r : s.runs) {
      const StudyRun& run = in_.results.runs[r];
      if (name_ == kSize) {
        out.push_back(size_of(in_.results, run));
      } else {
        out.push_back(run.settings[key_] == kNone ? NAN
                                                  : real_number(in_.results.values[key_][run.settings[key_]]).value_or(NAN));
      }
    }
    return out;
  }
  [[nodiscard]] std::string label(bool several) const {
    if (name_ == kSize) return "size: how many times their smallest values the keys have, on average";
    if (key_ < in_.results.keys.size()) return name_;
    std::string unit;
    for (const Metric& m : in_.metrics)
      if (m.name == name_ && m.unit != name_) unit = m.unit;
    if (const auto counter = in_.results.counters.find(name_); counter != in_.results.counters.end())
      unit = counter->second.unit;
    return name_ + (unit.empty() ? "" : " (" + unit + ")") + (several ? ", geometric mean over workloads" : "");
  }

 private:
  const ReportInput& in_;
  std::string name_;
  std::size_t key_ = in_.results.keys.size() + 1;
};

std::vector<Candidate> candidates_of(const ReportInput& in, const Quantity& x, const Quantity& y, std::size_t& workloads) {
  std::map<std::pair<unsigned, std::vector<unsigned>>, Candidate> all;
  workloads = 0;
  for (const Subject& s : in.subjects) {
    if (!s.kernel.empty() || s.runs.empty()) continue;
    ++workloads;
    const std::vector<double> xs = x.values(s), ys = y.values(s);
    for (std::size_t n = 0; n < s.runs.size(); ++n) {
      const StudyRun& run = in.results.runs[s.runs[n]];
      if (!(xs[n] > 0) || !(ys[n] > 0)) continue;
      Candidate& d = all[{run.gpu, run.settings}];
      d.run = &run;
      d.x += std::log(xs[n]);
      d.y += std::log(ys[n]);
      ++d.workloads;
    }
  }
  std::vector<Candidate> out;
  for (auto& [settings, d] : all) {
    if (d.workloads != workloads) continue;  // means over other workloads are no match
    d.x = std::exp(d.x / static_cast<double>(workloads));
    d.y = std::exp(d.y / static_cast<double>(workloads));
    out.push_back(d);
  }
  std::sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  return out;
}

/// The candidates of which no other has less of both. Pre: in the order of x.
std::vector<const Candidate*> front_of(const std::vector<Candidate>& candidates) {
  std::vector<const Candidate*> front;
  for (const Candidate& d : candidates)
    if (front.empty() || d.y < front.back()->y) front.push_back(&d);
  return front;
}

PlotSeries cloud_of(const ReportInput& in, const std::vector<Candidate>& candidates, const Plot& plot) {
  PlotSeries cloud;
  cloud.name = "other points";
  cloud.line = false;
  double low_x = INFINITY, high_x = 0, low_y = INFINITY, high_y = 0;
  for (const Candidate& d : candidates) {
    low_x = std::min(low_x, d.x);
    high_x = std::max(high_x, d.x);
    low_y = std::min(low_y, d.y);
    high_y = std::max(high_y, d.y);
  }
  const auto cell = [](double v, double low, double high, bool logarithmic) {
    const double part = logarithmic ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
    return high > low ? std::lround(part / kCell) : 0L;
  };
  std::map<std::pair<long, long>, std::size_t> taken;
  for (const Candidate& d : candidates) {
    if (candidates.size() > kMany) {
      const auto [at, is_new] = taken.try_emplace({cell(d.x, low_x, high_x, plot.x_logarithmic), cell(d.y, low_y, high_y, plot.y_logarithmic)}, cloud.points.size());
      if (!is_new) continue;
    }
    cloud.points.emplace_back(d.x, d.y);
    cloud.notes.push_back(fmt::format("{}: {}, {}", settings_text(in.results, *d.run), number_text(d.x), number_text(d.y)));
  }
  return cloud;
}

}  // namespace

std::vector<std::string> pareto_names(const StudyResults& results, const std::vector<std::string>& metrics) {
  std::vector<std::string> out = {kSize};
  for (std::size_t k = 0; k < results.keys.size(); ++k)
    if (std::all_of(results.values[k].begin(), results.values[k].end(),
                    [](const std::string& v) { return real_number(v).has_value(); }))
      out.push_back(results.keys[k]);
  out.insert(out.end(), metrics.begin(), metrics.end());
  return out;
}

Section pareto_section(const ReportInput& in) {
  Section out{"pareto", "Cost and gain", false, {}};
  const auto [name_x, name_y] = in.pareto.value_or(std::pair<std::string, std::string>{kSize, in.metrics.front().name});
  const Quantity x(in, name_x), y(in, name_y);
  std::size_t workloads = 0;
  const std::vector<Candidate> candidates = candidates_of(in, x, y, workloads);
  if (candidates.size() < 2) return out;
  const std::vector<const Candidate*> front = front_of(candidates);
  Plot plot;
  plot.title = y.label(workloads > 1) + " against " + x.label(workloads > 1);
  plot.is_titled = false;
  plot.x_label = x.label(workloads > 1);
  plot.y_label = y.label(workloads > 1);
  plot.description = fmt::format("{} points, of which {} are on the Pareto front, from {}, {} to {}, {}. The table beside "
                                 "it lists the front.",
                                 candidates.size(), front.size(), number_text(front.front()->x), number_text(front.front()->y),
                                 number_text(front.back()->x), number_text(front.back()->y));
  plot.x_logarithmic = candidates.back().x > 8 * candidates.front().x;
  const auto [low, high] = std::minmax_element(candidates.begin(), candidates.end(),
                                               [](const Candidate& a, const Candidate& b) { return a.y < b.y; });
  plot.y_logarithmic = high->y > 8 * low->y;
  PlotSeries cloud = cloud_of(in, candidates, plot);
  PlotSeries best;
  best.name = "Pareto front: nothing has less of both";
  HtmlTable table("Points on the Pareto front");
  table.head({{"settings"}, {escaped(name_x), "number"}, {escaped(name_y), "number"}, {"against the first", "number"}});
  for (const Candidate* d : front) {
    best.points.emplace_back(d->x, d->y);
    best.notes.push_back(fmt::format("{}: {}, {}", settings_text(in.results, *d->run), number_text(d->x), number_text(d->y)));
    if (best.points.size() <= kMostRows)
      table.row({{escaped(settings_text(in.results, *d->run))},
                 {number_text(d->x), "number"},
                 {number_text(d->y), "number"},
                 {d == front.front() ? "" : change_text(d->y / front.front()->y), "number"}});
  }
  plot.series = {cloud, best};
  if (!in.pareto)
    out.html += "<p>Size stands for price where nobody says another: how many times its smallest value each key has, on "
                "average over the keys. <code>--pareto X,Y</code> takes any key, metric or counter instead.</p>\n";
  if (workloads > 1) out.html += "<p>Points at which all workloads finished.</p>\n";
  out.html += "<div class=\"beside\">" + svg_of(plot) + table.html() + "</div>\n";
  return out;
}

}  // namespace warpline::sweep
