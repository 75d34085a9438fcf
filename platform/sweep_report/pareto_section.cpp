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
/// From so many points on, those in one cell of a grid have one mark.
constexpr std::size_t kMany = 1500;
/// And from so many on they are small.
constexpr std::size_t kFaint = 200;
constexpr double kAcross = 90, kUp = 45;
constexpr std::size_t kMostRows = 25;
/// With more keys the table has no room beside the plot.
constexpr std::size_t kMostBeside = 4;

/// A GPU with its settings: all workloads of it together.
struct Candidate {
  const StudyRun* run = nullptr;  ///< one of them
  double x = 0, y = 0;
  std::size_t workloads = 0;
};

/// Of each key with numbers, the smallest that finished; NaN: of other keys, and where that is not above 0.
std::vector<double> least_values(const StudyResults& results) {
  std::vector<double> least(results.keys.size(), NAN);
  for (std::size_t k = 0; k < least.size(); ++k) {
    unsigned first = kNone, last = 0;
    for (const StudyRun& run : results.runs)
      if (results.finished(run) && run.settings[k] != kNone) {
        first = std::min(first, run.settings[k]);
        last = std::max(last, run.settings[k]);
      }
    if (first == kNone || first == last) continue;
    const double value = real_number(results.values[k][first]).value_or(0);
    if (value > 0) least[k] = value;
  }
  return least;
}

/// How many times its smallest value each key with numbers has, on average.
double size_of(const StudyResults& results, const StudyRun& run, const std::vector<double>& least) {
  double sum = 0;
  std::size_t keys = 0;
  for (std::size_t k = 0; k < results.keys.size(); ++k) {
    if (std::isnan(least[k]) || run.settings[k] == kNone) continue;
    const auto own = real_number(results.values[k][run.settings[k]]);
    if (!own) continue;
    sum += *own / least[k];
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
    const std::vector<double> least = least_values(in_.results);
    for (const std::size_t r : s.runs) {
      const StudyRun& run = in_.results.runs[r];
      if (name_ == kSize) {
        out.push_back(size_of(in_.results, run, least));
      } else {
        out.push_back(run.settings[key_] == kNone
                          ? NAN
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
    return name_ + (unit.empty() ? "" : " (" + unit + ")") +
           (several ? ", geometric mean over workloads" : "");
  }

 private:
  const ReportInput& in_;
  std::string name_;
  std::size_t key_ = in_.results.keys.size() + 1;
};

std::vector<Candidate> candidates_of(const ReportInput& in, const Quantity& x, const Quantity& y,
                                     std::size_t& workloads) {
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
  std::sort(out.begin(), out.end(),
            [](const Candidate& a, const Candidate& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
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
  cloud.name = "all points";
  cloud.line = false;
  cloud.faint = candidates.size() > kFaint;
  double low_x = INFINITY, high_x = 0, low_y = INFINITY, high_y = 0;
  for (const Candidate& d : candidates) {
    low_x = std::min(low_x, d.x);
    high_x = std::max(high_x, d.x);
    low_y = std::min(low_y, d.y);
    high_y = std::max(high_y, d.y);
  }
  const auto cell = [](double v, double low, double high, bool logarithmic, double cells) {
    const double part = logarithmic ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
    return high > low ? std::lround(part * cells) : 0L;
  };
  std::map<std::pair<long, long>, std::size_t> taken;
  for (const Candidate& d : candidates) {
    if (candidates.size() > kMany) {
      const auto [at, is_new] = taken.try_emplace({cell(d.x, low_x, high_x, plot.x_logarithmic, kAcross),
                                                   cell(d.y, low_y, high_y, plot.y_logarithmic, kUp)},
                                                  cloud.points.size());
      if (!is_new) continue;
    }
    cloud.points.emplace_back(d.x, d.y);
    cloud.notes.push_back(
        fmt::format("{}: {}, {}", settings_text(in.results, *d.run), number_text(d.x), number_text(d.y)));
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
  Section out{"pareto", "Pareto front: cost and gain", false, {}};
  const auto [name_x, name_y] =
      in.pareto.value_or(std::pair<std::string, std::string>{kSize, in.metrics.front().name});
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
  plot.description = fmt::format(
      "{} points, of which {} are on the Pareto front, from {}, {} to {}, {}. The table beside "
      "it lists the front.",
      candidates.size(), front.size(), number_text(front.front()->x), number_text(front.front()->y),
      number_text(front.back()->x), number_text(front.back()->y));
  plot.x_logarithmic = candidates.back().x > 8 * candidates.front().x;
  const auto [low, high] = std::minmax_element(
      candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.y < b.y; });
  plot.y_logarithmic = high->y > 8 * low->y;
  PlotSeries cloud = cloud_of(in, candidates, plot);
  PlotSeries best;
  best.name = "Pareto front: nothing has less of both";
  HtmlTable table("Points on the Pareto front");
  std::vector<std::size_t> keys;
  for (std::size_t k = 0; k < in.results.keys.size(); ++k)
    if (in.results.values[k].size() > 1) keys.push_back(k);
  const bool has_gpus = in.results.gpus.size() > 1;
  std::vector<Cell> head;
  if (has_gpus) head.push_back({"GPU"});
  for (const std::size_t k : keys)
    head.push_back({"<span class=\"key\">" + escaped(in.results.keys[k]) + "</span>", "number"});
  head.insert(head.end(),
              {{escaped(name_x), "number"}, {escaped(name_y), "number"}, {"to the first", "number"}});
  table.head(head);
  for (const Candidate* c : front) {
    best.points.emplace_back(c->x, c->y);
    best.notes.push_back(
        fmt::format("{}: {}, {}", settings_text(in.results, *c->run), number_text(c->x), number_text(c->y)));
    if (best.points.size() > kMostRows) continue;
    std::vector<Cell> row;
    if (has_gpus) row.push_back({escaped(in.results.gpus[c->run->gpu])});
    for (const std::size_t k : keys)
      row.push_back({c->run->settings[k] == kNone
                         ? ""
                         : escaped(shown_value(in.results.values[k][c->run->settings[k]])),
                     "number"});
    row.insert(row.end(), {{number_text(c->x), "number"},
                           {number_text(c->y), "number"},
                           {c == front.front() ? "" : change_text(c->y / front.front()->y), "number"}});
    table.row(row);
  }
  plot.series = {cloud, best};
  if (!in.pareto)
    out.html +=
        "<p>Size stands for price where nobody says another: how many times its smallest value each key has, "
        "on "
        "average over the keys. <code>--pareto X,Y</code> takes any key, metric or counter instead.</p>\n";
  if (workloads > 1) out.html += "<p>Points at which all workloads finished.</p>\n";
  const std::string more = front.size() > kMostRows ? fmt::format("<p class=\"note\">The first {} of {}.</p>",
                                                                  kMostRows, front.size())
                                                    : "";
  const bool beside = keys.size() + (has_gpus ? 1 : 0) <= kMostBeside;
  out.html += std::string(beside ? "<div class=\"beside\">" : "<div>") + svg_of(plot) + "<div>" +
              table.html() + more + "</div></div>\n";
  return out;
}

}  // namespace warpline::sweep
