// Lines and heat maps of a workload or a kernel.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/sweep_report/heat_map.h"
#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

constexpr std::size_t kMostLinePlots = 4, kMostLines = 6, kMostHeatMaps = 3;

std::string unit_in(const Metric& m) {
  return m.unit.empty() || m.unit == m.name ? "" : " (" + m.unit + ")";
}

std::vector<std::size_t> both(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  std::vector<std::size_t> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

/// A metric against a key that is a number; a line for each level of `by`, if there is one.
std::string line_plot(const ReportInput& in, const Subject& s, const Metric& metric, std::size_t over,
                      std::optional<std::size_t> by) {
  const Factor& f = in.factors[over];
  std::vector<std::size_t> kept = {over};
  if (by) kept.push_back(*by);
  const std::vector<double> values =
      s.with_others_the_same(in.factors, s.values_of(metric, in.results), kept);
  Plot plot;
  plot.title = s.name + ": " + metric.name + " against " + f.name;
  plot.is_titled = false;
  plot.x_label = f.name;
  plot.y_label = metric.name + unit_in(metric);
  for (std::size_t l = 0; l < f.levels.size(); ++l)
    if (s.effects.count[over][l] != 0) plot.x_ticks.push_back(f.levels[l].number);
  if (plot.x_ticks.empty()) return {};
  plot.x_logarithmic = plot.x_ticks.front() > 0 && plot.x_ticks.back() >= 4 * plot.x_ticks.front();
  double low = INFINITY, high = 0;
  const std::size_t lines = by ? in.factors[*by].levels.size() : 1;
  for (std::size_t g = 0; g < lines; ++g) {
    PlotSeries line;
    line.name = by ? in.factors[*by].name + " = " + in.factors[*by].levels[g].label : "all points";
    for (std::size_t l = 0; l < f.levels.size(); ++l) {
      std::vector<std::size_t> which = s.at_level(f, l);
      if (by) which = both(which, s.at_level(in.factors[*by], g));
      const double y = mean_of(values, which);
      if (std::isnan(y)) continue;
      low = std::min(low, y);
      high = std::max(high, y);
      line.points.emplace_back(f.levels[l].number, y);
      line.notes.push_back(fmt::format("{}{} = {}: {} {}", by ? line.name + ", " : "", f.name,
                                       f.levels[l].label, number_text(y), metric.unit));
    }
    if (!line.points.empty()) plot.series.push_back(std::move(line));
  }
  if (plot.series.empty()) return {};
  plot.y_logarithmic = low > 0 && high > 10 * low;
  std::vector<std::string> ends;
  for (const PlotSeries& line : plot.series)
    ends.push_back(fmt::format("{}: {} to {}", line.name, number_text(line.points.front().second),
                               number_text(line.points.back().second)));
  plot.description = fmt::format("From {} = {} to {}. {}.", f.name, number_text(plot.x_ticks.front()),
                                 number_text(plot.x_ticks.back()), joined(ends, "; "));
  return "<figure><figcaption>" + escaped(metric.name) + " against <span class=\"key\">" + escaped(f.name) +
         "</span></figcaption>" + svg_of(plot) + "</figure>\n";
}

std::string heat_map(const ReportInput& in, const Subject& s, std::size_t across, std::size_t down) {
  const Factor &f = in.factors[across], &g = in.factors[down];
  const Metric& metric = in.metrics.front();
  HeatMap map;
  map.across = f.name;
  map.down = g.name;
  map.unit = metric.unit;
  map.title = fmt::format("{}: {} by {} and {}", s.name, metric.name, f.name, g.name);
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < f.levels.size(); ++c)
    if (s.effects.count[across][c] != 0) {
      columns.push_back(c);
      map.columns.push_back(f.levels[c].label);
    }
  const std::vector<double> alike = s.with_others_the_same(in.factors, s.metric, {across, down});
  // Upwards, as on an axis.
  for (std::size_t r = g.levels.size(); r-- != 0;) {
    if (s.effects.count[down][r] == 0) continue;
    map.rows.push_back(g.levels[r].label);
    const std::vector<std::size_t> row = s.at_level(g, r);
    std::vector<double>& values = map.values.emplace_back();
    for (const std::size_t c : columns) values.push_back(mean_of(alike, both(row, s.at_level(f, c))));
  }
  if (map.rows.empty() || map.columns.empty()) return {};
  map.description = fmt::format(
      "{} Columns: {} from {} to {}; rows: {} from {} down to {}.",
      s.zeros() == 0 ? "Geometric means, the other keys the same." : "Means of the points as they are.",
      f.name, map.columns.front(), map.columns.back(), g.name, map.rows.front(), map.rows.back());
  return "<figure><figcaption>" + escaped(metric.name) + " by <span class=\"key\">" + escaped(f.name) +
         "</span> and <span class=\"key\">" + escaped(g.name) + "</span></figcaption>" + heat_map_svg(map) +
         "</figure>\n";
}

}  // namespace

std::vector<std::string> heat_names(const std::vector<Factor>& factors) {
  std::vector<std::string> out;
  for (const Factor& f : factors) {
    if (f.keys.size() != 1) out.push_back(f.name);
    out.insert(out.end(), f.keys.begin(), f.keys.end());
  }
  return out;
}

std::size_t factor_called(const std::vector<Factor>& factors, const std::string& name) {
  for (std::size_t f = 0; f < factors.size(); ++f)
    if (factors[f].name == name ||
        std::find(factors[f].keys.begin(), factors[f].keys.end(), name) != factors[f].keys.end())
      return f;
  return 0;
}

std::string plots_part(const ReportInput& in, std::size_t subject) {
  const Subject& s = in.subjects[subject];
  if (in.factors.empty()) return {};
  std::string out;
  const std::vector<std::size_t> order = s.effects.order();
  std::size_t drawn = 0;
  // What does nothing is no picture, unless it is all there is.
  const auto does_something = [&](std::size_t f) {
    return f == order.front() || s.effects.span(f) >= kLittle;
  };
  for (const std::size_t f : order) {
    if (!in.factors[f].numeric || drawn == kMostLinePlots || !does_something(f)) continue;
    std::optional<std::size_t> by;
    for (const std::size_t g : order)
      if (!by && g != f && in.factors[g].levels.size() <= kMostLines) by = g;
    out += line_plot(in, s, in.metrics.front(), f, by);
    // Other metrics, against what changes most.
    if (drawn++ == 0)
      for (std::size_t m = 1; m < in.metrics.size(); ++m) out += line_plot(in, s, in.metrics[m], f, by);
  }
  if (in.heat) {
    const std::size_t a = factor_called(in.factors, in.heat->first),
                      b = factor_called(in.factors, in.heat->second);
    if (a != b) out += heat_map(in, s, a, b);
    return "<div class=\"plots\">\n" + out + "</div>\n";
  }
  std::size_t maps = 0;
  for (std::size_t i = 0; i < order.size() && maps < kMostHeatMaps; ++i)
    for (std::size_t j = i + 1; j < order.size() && maps < kMostHeatMaps; ++j) {
      if (j > 1 && !does_something(order[j])) continue;
      out += heat_map(in, s, order[i], order[j]);
      ++maps;
    }
  return "<div class=\"plots\">\n" + out + "</div>\n";
}

}  // namespace warpline::sweep
