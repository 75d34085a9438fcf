#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

/// Rows of the page as it is without scripts, and on paper.
constexpr std::size_t kStaticRows = 50;

/// A text inside a script element: what would end it is spelt otherwise.
std::string script_text(const std::string& text) {
  std::string out;
  for (const char c : json_string(printable(text)))
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

template <class Texts>
std::string list(const Texts& texts) {
  std::vector<std::string> items;
  items.reserve(texts.size());
  for (const std::string& t : texts) items.push_back(script_text(t));
  return "[" + joined(items, ",") + "]";
}

std::string number(double v) {
  return std::isfinite(v) ? fmt::format("{}", v) : "null";
}

/// Of each run the metrics.
std::vector<std::vector<double>> metrics_of_runs(const ReportInput& in) {
  std::vector<std::vector<double>> out(in.results.runs.size(), std::vector<double>(in.metrics.size(), NAN));
  for (const Subject& s : in.subjects) {
    if (!s.kernel.empty()) continue;
    for (std::size_t m = 0; m < in.metrics.size(); ++m) {
      const std::vector<double> values = s.values_of(in.metrics[m], in.results);
      for (std::size_t n = 0; n < values.size(); ++n) out[s.runs[n]][m] = values[n];
    }
  }
  return out;
}

}  // namespace

Section points_section(const ReportInput& in) {
  const StudyResults& r = in.results;
  Section out{"points", "All points", false, {}};
  const std::vector<std::vector<double>> metrics = metrics_of_runs(in);
  std::vector<std::string> metric_names, units;
  for (const Metric& m : in.metrics) {
    metric_names.push_back(m.name);
    units.push_back(m.unit == m.name ? "" : m.unit);
  }
  // The best first, as the table of `warpline sweep` has them.
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n < r.runs.size(); ++n) order.push_back(n);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double x = metrics[a][0], y = metrics[b][0];
    return std::isnan(x) || std::isnan(y) ? !std::isnan(x) && std::isnan(y) : x < y;
  });
  HtmlTable table("Points, the least " + escaped(in.metrics.front().name) + " first");
  std::vector<Cell> head = {{"point", "number"}, {"workload"}, {"GPU"}};
  for (const std::string& key : r.keys) head.push_back({escaped(key), "number"});
  head.push_back({"outcome"});
  for (std::size_t m = 0; m < metric_names.size(); ++m)
    head.push_back(
        {escaped(metric_names[m]) + (units[m].empty() ? "" : " <small>" + escaped(units[m]) + "</small>"),
         "number"});
  table.head(head);
  for (std::size_t n = 0; n < std::min(order.size(), kStaticRows); ++n) {
    const StudyRun& run = r.runs[order[n]];
    std::vector<Cell> row = {{std::to_string(run.point), "number"},
                             {escaped(r.workloads[run.workload])},
                             {escaped(r.gpus[run.gpu])}};
    for (std::size_t k = 0; k < r.keys.size(); ++k)
      row.push_back(
          {run.settings[k] == kNone ? "" : escaped(shown_value(r.values[k][run.settings[k]])), "number"});
    row.push_back({escaped(r.outcomes[run.outcome])});
    for (const double v : metrics[order[n]]) row.push_back({number_text(v), "number"});
    table.row(row);
  }
  const std::string shown =
      order.size() > kStaticRows
          ? fmt::format(
                "<p class=\"static-note\">The first {} of {}; with scripts the table has all, and "
                "<code>warpline export</code> writes them.</p>\n",
                kStaticRows, number_text(static_cast<double>(order.size())))
          : "";
  out.html = "<p>To repeat a point, run its command with the same version of Warpline (" +
             escaped(r.warpline) +
             ") and the same files (<a href=\"#configuration\">hashes</a>): <code>--stats FILE</code> writes "
             "all that it counts.</p>\n"
             "<div id=\"points-table\">" +
             shown + table.html() + "</div>\n";
  std::vector<std::string> values, commands, rows, reasons, reason_texts;
  std::unordered_map<std::string, std::size_t> reason_numbers;
  for (const auto& v : r.values) values.push_back(list(v));
  for (const CommandParts& c : r.commands)
    commands.push_back("[" + script_text(shell_text(c.before)) + "," + script_text(shell_text(c.after)) +
                       "]");
  // Nearly always a workload has one command: only points with another one say so.
  std::vector<unsigned> usual(r.workloads.size(), kNone);
  std::vector<std::string> usual_texts, others;
  for (const StudyRun& run : r.runs) {
    if (usual[run.workload] == kNone) usual[run.workload] = run.command;
    if (usual[run.workload] != run.command)
      others.push_back(fmt::format("\"{}\":{}", run.point, run.command));
  }
  usual_texts.reserve(usual.size());
  for (const unsigned command : usual) usual_texts.push_back(std::to_string(command));
  for (const std::size_t n : order) {
    const StudyRun& run = r.runs[n];
    std::string row = fmt::format("[{},{},{},{}", run.point, run.workload, run.gpu, run.outcome);
    for (const unsigned s : run.settings) row += s == kNone ? ",-1" : "," + std::to_string(s);
    for (const double v : metrics[n]) row += "," + number(v);
    rows.push_back(row + "]");
    if (run.reason.empty()) continue;
    // Many points have the same reason.
    const auto [at, is_new] = reason_numbers.try_emplace(run.reason, reason_texts.size());
    if (is_new) reason_texts.push_back(run.reason);
    reasons.push_back(fmt::format("\"{}\":{}", run.point, at->second));
  }
  out.html += "<script type=\"application/json\" id=\"points-data\">{\"workloads\":" + list(r.workloads) +
              ",\"gpus\":" + list(r.gpus) + ",\"outcomes\":" + list(r.outcomes) +
              ",\"keys\":" + list(r.keys) + ",\"values\":[" + joined(values, ",") +
              "],\"metrics\":" + list(metric_names) + ",\"units\":" + list(units) + ",\"commands\":[" +
              joined(commands, ",") + "],\"command_of\":[" + joined(usual_texts, ",") +
              "],\"other_commands\":{" + joined(others, ",") + "},\"reasons\":{" + joined(reasons, ",") +
              "},\"texts\":" + list(reason_texts) + ",\n\"rows\":[" + joined(rows, ",\n") + "]}</script>\n";
  return out;
}

}  // namespace warpline::sweep
