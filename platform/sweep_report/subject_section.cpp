#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/sweep_report/heat_map.h"
#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

constexpr std::size_t kMostLinePlots = 4, kMostLines = 6, kMostHeatMaps = 3, kMostMoved = 30;
/// A counter that moved by less is left out: of the larger, the part that the other lacks.
constexpr double kLeastMoved = 0.05;

std::string unit_in(const Metric& m) {
  return m.unit.empty() || m.unit == m.name ? "" : " (" + m.unit + ")";
}

/// The geometric mean of a metric over runs; the mean where it may be 0.
double mean_of(const std::vector<double>& values, const std::vector<std::size_t>& which) {
  double sum = 0, logarithms = 0, least = INFINITY;
  std::size_t count = 0;
  for (const std::size_t n : which) {
    if (std::isnan(values[n])) continue;
    sum += values[n];
    logarithms += std::log(values[n]);
    least = std::min(least, values[n]);
    ++count;
  }
  if (count == 0) return NAN;
  const auto of = static_cast<double>(count);
  return least > 0 ? std::exp(logarithms / of) : sum / of;
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
  const std::vector<double> values = s.values_of(metric, in.results);
  Plot plot;
  plot.title = s.name + ": " + metric.name + " against " + f.name;
  plot.is_titled = false;
  plot.x_label = f.name;
  plot.y_label = metric.name + unit_in(metric);
  for (std::size_t l = 0; l < f.levels.size(); ++l)
    if (s.effects.count[over][l] != 0) plot.x_ticks.push_back(f.levels[l].number);
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
  // Upwards, as on an axis.
  for (std::size_t r = g.levels.size(); r-- != 0;) {
    if (s.effects.count[down][r] == 0) continue;
    map.rows.push_back(g.levels[r].label);
    const std::vector<std::size_t> row = s.at_level(g, r);
    std::vector<double>& values = map.values.emplace_back();
    for (const std::size_t c : columns) values.push_back(mean_of(s.metric, both(row, s.at_level(f, c))));
  }
  map.description = fmt::format(
      "Geometric means over the other keys. Columns: {} from {} to {}; rows: {} from {} down to {}.", f.name,
      map.columns.front(), map.columns.back(), g.name, map.rows.front(), map.rows.back());
  return "<figure><figcaption>" + escaped(metric.name) + " by <span class=\"key\">" + escaped(f.name) +
         "</span> and <span class=\"key\">" + escaped(g.name) + "</span></figcaption>" + heat_map_svg(map) +
         "</figure>\n";
}

std::string effects_table(const ReportInput& in, const Subject& s) {
  HtmlTable table("What each key does to " + escaped(in.metrics.front().name) + " of " + escaped(s.name));
  table.head({{"key"}, {"values"}, {"change", "number"}, {"its size"}, {"what goes with it"}});
  double most = 1;
  for (std::size_t f = 0; f < in.factors.size(); ++f) most = std::max(most, s.effects.span(f));
  for (const std::size_t f : s.effects.order()) {
    const auto [a, b] = compared_levels(in.factors[f], s.effects, f);
    const double ratio = s.effects.ratio(f, a, b);
    std::string why = evidence(in, s, f);
    if (const std::string depends = dependence(in, s, f); !depends.empty())
      why += (why.empty() ? "" : ". ") + depends;
    table.row({{"<span class=\"key\">" + escaped(in.factors[f].name) + "</span>"},
               {fmt::format("{} \u2192 {}", escaped(in.factors[f].levels[a].label),
                            escaped(in.factors[f].levels[b].label)),
                "nowrap"},
               {"<strong>" + change_text(ratio) + "</strong>", "number"},
               {effect_bar(s.effects.span(f), most)},
               {why, "text"}});
  }
  return table.empty() ? "" : table.html();
}

std::string plots(const ReportInput& in, const Subject& s) {
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
    return out;
  }
  std::size_t maps = 0;
  for (std::size_t i = 0; i < order.size() && maps < kMostHeatMaps; ++i)
    for (std::size_t j = i + 1; j < order.size() && maps < kMostHeatMaps; ++j) {
      if (j > 1 && !does_something(order[j])) continue;
      out += heat_map(in, s, order[i], order[j]);
      ++maps;
    }
  return out;
}

/// Figures by the values of every key: the evidence for what the keys do.
std::string figures_table(const ReportInput& in, const Subject& s) {
  HtmlTable table(
      "Figures of " + escaped(s.name) + " by the values of each key, over all points with that value",
      "figures");
  std::vector<Cell> keys = {{""}}, values = {{"figure"}};
  std::vector<std::vector<std::size_t>> columns;
  std::vector<bool> begins;  // a column is the first of its key
  for (const std::size_t number : s.effects.order()) {
    const Factor& f = in.factors[number];
    unsigned own = 0;
    for (std::size_t l = 0; l < f.levels.size(); ++l) {
      if (s.effects.count[number][l] == 0) continue;
      values.push_back({escaped(f.levels[l].label), own == 0 ? "number first" : "number"});
      columns.push_back(s.at_level(f, l));
      begins.push_back(own++ == 0);
    }
    keys.push_back({"<span class=\"key\">" + escaped(f.name) + "</span>", "first", own});
  }
  table.head(keys);
  table.head(values);
  std::vector<Cell> metric = {{escaped(in.metrics.front().name) + ", mean"}};
  for (std::size_t c = 0; c < columns.size(); ++c)
    metric.push_back({number_text(mean_of(s.metric, columns[c])), begins[c] ? "number first" : "number"});
  table.row(metric);
  for (const Figure& f : figures()) {
    std::vector<Cell> row = {
        {fmt::format("<span title=\"{}\">{}{}</span>", escaped(f.meaning), escaped(f.name),
                     f.kind == FigureKind::busy ? " busy"
                     : f.unit.empty()           ? ""
                                                : ", " + f.unit)}};
    bool any = false;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const double v = s.figure(f, columns[c], in.results);
      any = any || v > (f.kind == FigureKind::busy ? 0.01 : 0);
      std::string classes = begins[c] ? "number first" : "number";
      if (f.kind == FigureKind::busy && v >= 0.2)
        classes += fmt::format(" u{}", std::min(4, static_cast<int>(v * 5)));
      row.push_back({f.kind == FigureKind::number ? number_text(v) : figure_text(f, v), classes});
    }
    if (any) table.row(row);
  }
  return table.html();
}

/// What goes through the memory hierarchy at the best and the worst point.
std::string hierarchy(const ReportInput& in, const Subject& s) {
  struct Stage {
    const char *name, *accesses, *hits;
    double bytes;  ///< of each access
  };
  static constexpr Stage kStages[] = {
      {"L1", "l1_lg.sector_accesses", "l1_lg.sector_hits", 32},
      {"texture cache", "texture.sector_accesses", "texture.sector_hits", 32},
      {"constant cache", "constant.sector_accesses", "constant.sector_hits", 32},
      {"instruction cache", "instruction.sector_accesses", "instruction.sector_hits", 32},
      {"L2", "l2.sector_accesses", "l2.sector_hits", 32},
      {"DRAM, read", "dram.bytes_read", nullptr, 1},
      {"DRAM, written", "dram.bytes_written", nullptr, 1}};
  const std::size_t points[] = {s.worst(), s.best()};
  HtmlTable table("Memory hierarchy of " + escaped(s.name) + " at its worst and its best point");
  table.head(
      {{""},
       {fmt::format("worst: {}", escaped(settings_text(in.results, in.results.runs[s.runs[points[0]]]))),
        "first", 2},
       {fmt::format("best: {}", escaped(settings_text(in.results, in.results.runs[s.runs[points[1]]]))),
        "first", 2}});
  table.head({{"level"},
              {"asked for", "number first"},
              {"hits", "number"},
              {"asked for", "number first"},
              {"hits", "number"}});
  const auto at = [&](const char* path, std::size_t n) {
    const auto column = s.counters.find(path);
    return column == s.counters.end() ? 0.0 : column->second[n];
  };
  for (const Stage& stage : kStages) {
    std::vector<Cell> row = {{stage.name}};
    double all = 0;
    for (const std::size_t n : points) {
      const double asked = at(stage.accesses, n);
      all += asked;
      row.push_back({bytes_text(asked * stage.bytes), "number first"});
      if (stage.hits == nullptr || asked == 0) {
        row.push_back({"", "number"});
      } else {
        const double share = at(stage.hits, n) / asked;
        row.push_back(
            {fmt::format(
                 "{} <svg class=\"rate\" width=\"60\" height=\"10\" aria-hidden=\"true\"><rect "
                 "class=\"track\" "
                 "width=\"60\" height=\"10\"/><rect class=\"fill\" width=\"{:.1f}\" height=\"10\"/></svg>",
                 percent_text(share), 60 * share),
             "number"});
      }
    }
    if (all > 0) table.row(row);
  }
  return table.empty() ? "" : "<h3>Through the memory hierarchy</h3>\n" + table.html();
}

/// The counters that go most with the strongest key.
std::string moved_counters(const ReportInput& in, std::size_t subject) {
  const Subject& s = in.subjects[subject];
  if (in.factors.empty() || s.effects.span(s.effects.order().front()) < kLittle) return {};
  const std::size_t factor = s.effects.order().front();
  const auto [a, b] = compared_levels(in.factors[factor], s.effects, factor);
  std::vector<Moved> moved = in.moved[subject];
  const auto part = [](const Moved& m) { return std::abs(m.after - m.before) / std::max(m.before, m.after); };
  moved.erase(
      std::remove_if(moved.begin(), moved.end(), [&](const Moved& m) { return part(m) < kLeastMoved; }),
      moved.end());
  std::stable_sort(moved.begin(), moved.end(),
                   [&](const Moved& x, const Moved& y) { return part(x) > part(y); });
  if (moved.empty()) return {};
  const std::size_t all = moved.size();
  if (moved.size() > kMostMoved) moved.resize(kMostMoved);
  const Factor& f = in.factors[factor];
  HtmlTable table("Counters that change most with " + escaped(f.name) + ", means over its points");
  table.head({{"counter"},
              {escaped(f.levels[a].label), "number"},
              {escaped(f.levels[b].label), "number"},
              {"change", "number"},
              {"unit"},
              {"meaning"}});
  for (const Moved& m : moved)
    table.row({{"<code>" + escaped(m.counter.path) + "</code>"},
               {number_text(m.before), "number"},
               {number_text(m.after), "number"},
               {m.before == 0 ? "new" : change_text(m.after / m.before), "number"},
               {escaped(m.counter.unit)},
               {escaped(m.counter.meaning)}});
  return fmt::format(
      "<details><summary>Counters that change with <span class=\"key\">{}</span> "
      "<small>{}{}</small></summary>{}"
      "</details>\n",
      escaped(f.name), counted(moved.size(), "counter"), all > moved.size() ? fmt::format(" of {}", all) : "",
      table.html());
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

Section subject_section(const ReportInput& in, std::size_t subject) {
  const Subject& s = in.subjects[subject];
  const bool is_kernel = !s.kernel.empty();
  const std::string& workload = in.results.workloads[s.workload];
  Section out{anchor("s-" + workload + "-" + s.kernel), s.name, is_kernel, {}};
  if (s.runs.empty()) {
    out.html = "<p>No point of it finished.</p>\n";
    return out;
  }
  out.html = "<p>" +
             (is_kernel ? fmt::format("A kernel of {}: {} of its cycles, over all points. ",
                                      escaped(workload), percent_text(s.share))
                        : std::string{}) +
             fmt::format(
                 "{} of {} finished. ",
                 s.runs.size() == 1 ? "1 point" : number_text(static_cast<double>(s.runs.size())) + " points",
                 number_text(static_cast<double>(
                     std::count_if(in.results.runs.begin(), in.results.runs.end(),
                                   [&](const StudyRun& r) { return r.workload == s.workload; })))) +
             limit_sentence(in, s) + "</p>\n";
  if (!in.factors.empty()) {
    out.html += effects_table(in, s);
    if (s.effects.explained < 0.9)
      out.html += fmt::format(
          "<p class=\"note\">Effects of single keys explain {} of what varies here; the rest is what keys do "
          "together, as heat maps show.</p>\n",
          percent_text(s.effects.explained));
    out.html += "<div class=\"plots\">\n" + plots(in, s) + "</div>\n";
    out.html += "<h3>Figures by key</h3>\n" + figures_table(in, s);
  }
  out.html += hierarchy(in, s) + moved_counters(in, subject);
  return out;
}

}  // namespace warpline::sweep
