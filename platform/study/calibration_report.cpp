#include "platform/study/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "platform/report/svg_plot.h"

namespace warpline::study {
namespace {

/// Rows that differ in one number make a curve over it.
struct Curve {
  std::string title, over, unit;
  PlotSeries published{"published", {}, false}, here{"here", {}, true};
};

/// The argument that curves of a quantity run over; empty: they have none.
std::string runs_over(const MeasuredRow& row) {
  for (const char* key : {"bytes", "block", "stride", "warps", "ways", "contention", "blocks"})
    if (row.arguments.numbers.count(key) != 0) return key;
  return {};
}

std::vector<Curve> curves_of(const std::vector<RowResult>& results) {
  std::map<std::string, Curve> by_rest;
  for (const RowResult& r : results) {
    if (!r.answered) continue;
    const std::string over = runs_over(*r.row);
    if (over.empty()) continue;
    std::string title = r.row->gpu + ": " + r.row->quantity->name;
    for (const auto& [key, word] : r.row->arguments.words) title += " " + word;
    for (const auto& [key, n] : r.row->arguments.numbers)
      if (key != over) title += fmt::format(", {} {:g}", key, n);
    Curve& c = by_rest[title + " " + r.row->unit];
    c.title = title;
    c.over = over;
    c.unit = r.row->unit;
    const double x = r.row->arguments.numbers.at(over);
    c.published.points.emplace_back(x, r.row->value);
    c.here.points.emplace_back(x, r.measured);
  }
  std::vector<Curve> out;
  for (auto& [key, c] : by_rest) {
    if (c.here.points.size() < 3) continue;
    std::sort(c.here.points.begin(), c.here.points.end());
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace

std::string calibration_html(const std::string& gpu, const std::string& version,
                             const std::vector<RowResult>& results) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>Calibration of {0}</title>\n<style>\n{1}"
      "body {{ font: 15px/1.5 sans-serif; color: var(--ink); background: var(--paper); margin: 2em auto; "
      "max-width: 70em; "
      "padding: 0 1em; }}\n"
      "table {{ border-collapse: collapse; }} td, th {{ padding: 0.15em 0.8em; border-bottom: 1px solid "
      "var(--faint); "
      "text-align: right; }} td:first-child, th:first-child, td.text {{ text-align: left; }}\n"
      ".beyond {{ color: var(--c1); }} .plots {{ display: flex; flex-wrap: wrap; gap: 1em; }} "
      ".plots > * {{ flex: 1 1 28em; }}\n</style></head><body>\n"
      "<h1>Calibration of {0}</h1>\n<p>Published measurements of the GPU, and the same measured on the "
      "model, by Warpline "
      "{2}.</p>\n<h2>Errors by class</h2>\n<table><tr><th>class</th><th>rows</th><th>answered</th><th>median "
      "error</th><th>worst</th><th>within tolerance</th></tr>\n",
      html_text(gpu), plot_style(), html_text(version));
  for (const ClassSummary& s : summarise(results))
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.1f}%</td><td>{:.0f}%</td><td>{}</td></tr>\n",
        s.kind.empty() ? "all" : html_text(s.kind), s.rows, s.answered, s.median, s.worst, s.within);
  out += "</table>\n<h2>Curves</h2>\n<div class=\"plots\">\n";
  for (const Curve& c : curves_of(results)) {
    Plot plot;
    plot.title = c.title;
    plot.x_label = c.over;
    plot.y_label = c.unit;
    plot.x_logarithmic = true;
    plot.series = {c.here, c.published};
    out += svg_of(plot);
  }
  out +=
      "</div>\n<h2>Rows</h2>\n<table><tr><th>row</th><th>published</th><th>here</th><th>unit</th><th>error</"
      "th>"
      "<th>source</th></tr>\n";
  for (const RowResult& r : results) {
    const std::string id = html_text(r.row->id), source = html_text(r.row->source),
                      unit = html_text(r.row->unit);
    if (r.answered) {
      const bool beyond = r.row->tolerance != 0 && !r.within();
      out += fmt::format(
          "<tr{}><td>{}</td><td>{:g}</td><td>{:.5g}</td><td>{}</td><td>{:+.1f}%</td><td "
          "class=\"text\">{}</td></tr>\n",
          beyond ? " class=\"beyond\"" : "", id, r.row->value, r.measured, unit, r.error(), source);
    } else {
      out += fmt::format(
          "<tr><td>{}</td><td>{:g}</td><td>-</td><td>{}</td><td>-</td><td class=\"text\">not answered: "
          "{}</td></tr>\n",
          id, r.row->value, unit, html_text(r.refused));
    }
  }
  return out + "</table>\n</body></html>\n";
}

std::string calibration_json(const std::string& gpu, const std::vector<RowResult>& results) {
  nlohmann::ordered_json out;
  out["gpu"] = gpu;
  for (const RowResult& r : results) {
    nlohmann::ordered_json row = {{"id", r.row->id},
                                  {"gpu", r.row->gpu},
                                  {"source", r.row->source},
                                  {"class", r.row->kind},
                                  {"published", r.row->value},
                                  {"unit", r.row->unit},
                                  {"tolerance_percent", r.row->tolerance}};
    if (r.answered) {
      row["measured"] = r.measured;
      row["error_percent"] = r.error();
    } else {
      row["refused"] = r.refused;
    }
    out["rows"].push_back(std::move(row));
  }
  for (const ClassSummary& s : summarise(results))
    out["classes"].push_back({{"class", s.kind.empty() ? "all" : s.kind},
                              {"rows", s.rows},
                              {"answered", s.answered},
                              {"within", s.within},
                              {"median_error_percent", s.median},
                              {"worst_error_percent", s.worst}});
  return out.dump(2) + "\n";
}

}  // namespace warpline::study
