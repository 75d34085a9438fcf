// Tables of a workload or a kernel.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/sweep_report/heat_map.h"
#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

constexpr std::size_t kMostMoved = 30;
/// Where the effects of single keys explain less, it is said.
constexpr double kMostlyExplained = 0.9;
/// A counter that moved by less is left out: of the larger, the part that the other lacks.
constexpr double kLeastMoved = 0.05;

}  // namespace

std::string effects_part(const ReportInput& in, std::size_t subject) {
  const Subject& s = in.subjects[subject];
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
  if (table.empty()) return {};
  std::string out = table.html();
  if (s.zeros() != 0)
    out += fmt::format(
        "<p class=\"note\">{} of {} points have {} of 0, of which there is no logarithm: changes are as if "
        "it "
        "were 1, and lines and maps have means of the points as they are.</p>\n",
        s.zeros(), s.runs.size(), escaped(in.metrics.front().name));
  if (s.effects.explained < kMostlyExplained)
    out += fmt::format(
        "<p class=\"note\">Effects of single keys explain {} of what varies here; the rest is what keys do "
        "together, as heat maps show.</p>\n",
        percent_text(s.effects.explained));
  return out;
}

/// Figures by the values of every key: the evidence for what the keys do.
std::string figures_part(const ReportInput& in, std::size_t subject) {
  const Subject& s = in.subjects[subject];
  if (in.factors.empty()) return {};
  HtmlTable table("Figures of " + escaped(s.name) +
                      " by the values of each key, over points that differ in that key alone",
                  "figures");
  std::vector<Cell> keys = {{""}}, values = {{"figure"}};
  std::vector<std::vector<std::size_t>> columns;
  std::vector<bool> begins;  // a column is the first of its key
  std::vector<std::string> unmatched;
  for (const std::size_t number : s.effects.order()) {
    const Factor& f = in.factors[number];
    unsigned own = 0;
    const std::vector<std::size_t> alike = s.at_all_levels(in.factors, number);
    std::size_t of_alike = 0, levels = 0;
    for (std::size_t l = 0; l < f.levels.size(); ++l) {
      if (s.effects.count[number][l] == 0) continue;
      values.push_back({escaped(f.levels[l].label), own == 0 ? "number first" : "number"});
      std::vector<std::size_t> column;
      for (const std::size_t n : s.at_level(f, l))
        if (std::binary_search(alike.begin(), alike.end(), n)) column.push_back(n);
      of_alike = std::max(of_alike, column.size());
      ++levels;
      columns.push_back(std::move(column));
      begins.push_back(own++ == 0);
    }
    // Of what is matched, each level has as many.
    if (of_alike * levels != alike.size())
      unmatched.push_back("<span class=\"key\">" + escaped(f.name) + "</span>");
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
  std::string out = "<h3>Figures by key</h3>\n" + table.html();
  if (!unmatched.empty())
    out += fmt::format(
        "<p class=\"note\">No points differ in {} alone and have all of its values: its columns are of all "
        "points, which "
        "differ in other keys, too.</p>\n",
        joined(unmatched, ", ", " or "));
  return out;
}

/// What goes through the memory hierarchy at the best and the worst point.
std::string hierarchy_part(const ReportInput& in, std::size_t subject) {
  const Subject& s = in.subjects[subject];
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
std::string counters_part(const ReportInput& in, std::size_t subject) {
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

}  // namespace warpline::sweep
