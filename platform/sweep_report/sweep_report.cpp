#include "platform/sweep_report/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/report/page_policy.h"
#include "platform/sweep_report/html.h"
#include "platform/sweep_report/page_parts.h"
#include "platform/sweep_report/report_input.h"
#include "rtl_models/document/document.h"

namespace warpline::sweep {
namespace {

std::string page(const std::string& title, const StudyResults& results,
                 const std::vector<Section>& sections) {
  const std::string style = "\n" + plot_style() + report_style(),
                    script = "\n" + std::string(report_script());
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; "
      "script-src "
      "'{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" "
      "content=\"Warpline "
      "{}\">\n<title>{}</title>\n<style>",
      policy_hash(style), policy_hash(script), escaped(results.warpline), escaped(title));
  out += style +
         "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<div "
         "class=\"frame\">\n"
         "<nav aria-label=\"Sections\"><p>Contents</p><ul>\n";
  for (const Section& s : sections)
    out += fmt::format("<li{}><a href=\"#{}\">{}</a></li>\n", s.is_inner ? " class=\"inner\"" : "", s.id,
                       escaped(s.title));
  out += "</ul></nav>\n<main id=\"main\">\n<header><h1>" + escaped(title) + "</h1><p>" +
         escaped(results.file) + ", by Warpline " + escaped(results.warpline) + "</p></header>\n";
  for (const Section& s : sections) {
    const bool is_page = s.id.rfind("s-", 0) == 0 && !s.is_inner;
    out += fmt::format(
        "<section id=\"{}\" aria-labelledby=\"{}-title\" class=\"{}\">\n<h2 id=\"{}-title\">{}{}</h2>\n",
        s.id, s.id,
        s.is_inner ? "inner"
        : is_page  ? "page"
                   : "",
        s.id, escaped(s.title),
        s.is_inner ? " <small>kernel</small>"
        : is_page  ? " <small>workload</small>"
                   : "");
    out += s.html + "</section>\n";
  }
  return out + "</main>\n</div>\n<script>" + script + "</script>\n</body>\n</html>\n";
}

/// A name of `known`; a fault otherwise.
bool is_known(const char* option, const std::string& name, const std::vector<std::string>& known,
              Diagnostics& faults) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return true;
  faults.push_back(Diagnostic::about(option, "nothing is called " + name, did_you_mean(name, known)));
  return false;
}

Metric metric_called(const StudyResults& results, const std::string& name) {
  static const std::pair<const char*, const char*> kUnits[] = {
      {"cycles", "cycles"}, {"time_ns", "ns"}, {"wall_s", "s"}, {"cpu_s", "s"}, {"peak_bytes", "bytes"}};
  for (const auto& [figure, unit] : kUnits)
    if (name == figure) return {name, unit};
  const auto counter = results.counters.find(name);
  return {name, counter == results.counters.end() ? "" : counter->second.unit};
}

}  // namespace

Result<std::string> study_report(const ResultStore& store, const std::string& path,
                                 const ReportOptions& options) {
  store.hold_still();
  StudyResults results = read_results(store, path);
  results.being_written = ResultStore::somebody_writes(path);
  if (results.runs.empty())
    return Diagnostic::about(path, "has no points yet",
                             "`warpline sweep STUDY --results " + path + "` runs them");

  Diagnostics faults;
  std::vector<std::string> known = ResultStore::figures();
  for (const auto& [counter, name] : results.counters) known.push_back(counter);
  std::vector<std::string> names = options.metrics;
  for (const std::string& name : names) is_known("--metrics", name, known, faults);
  if (names.empty())
    for (const std::string& name : store.metrics())
      if (std::find(known.begin(), known.end(), name) != known.end()) names.push_back(name);
  if (names.empty()) names = {"cycles"};
  const std::vector<Factor> factors = factors_of(results);
  if (options.pareto)
    for (const std::string& name : {options.pareto->first, options.pareto->second})
      is_known("--pareto", name, pareto_names(results, known), faults);
  if (options.heat)
    for (const std::string& name : {options.heat->first, options.heat->second})
      is_known("--heat", name, heat_names(factors), faults);
  if (options.heat && faults.empty() &&
      factor_called(factors, options.heat->first) == factor_called(factors, options.heat->second))
    faults.push_back(Diagnostic::about("--heat", options.heat->first + " and " + options.heat->second +
                                                     " are varied together: a map of them has one line"));
  const std::vector<std::size_t> kept =
      options.points.empty() ? std::vector<std::size_t>{} : observed_points(store);
  for (const std::size_t point : options.points)
    if (!std::binary_search(kept.begin(), kept.end(), point))
      faults.push_back(Diagnostic::about(
          "--points", fmt::format("of point {} neither a profile nor figures over time are kept", point),
          "profile = true and sample = 1000 in a study keep them"));
  if (!faults.empty()) return faults;

  std::vector<Metric> metrics, read;
  for (const std::string& name : names) metrics.push_back(metric_called(results, name));
  read = metrics;
  if (options.pareto)
    for (const std::string& name : {options.pareto->first, options.pareto->second})
      read.push_back(metric_called(results, name));
  const std::vector<Subject> subjects = subjects_of(store, results, read, factors);
  // Between the two levels of the strongest factor: what else changes.
  std::vector<std::vector<unsigned>> sides;
  for (const Subject& s : subjects) {
    std::vector<unsigned>& side = sides.emplace_back(s.runs.size(), kNone);
    if (factors.empty() || s.runs.empty()) continue;
    const std::size_t f = s.effects.order().front();
    const auto [a, b] = compared_levels(factors[f], s.effects, f);
    for (std::size_t n = 0; n < side.size(); ++n) {
      const unsigned level = factors[f].level_of[s.runs[n]];
      side[n] = level == b ? 1 : level == a ? 0 : kNone;
    }
  }
  const auto moved = counted_on_sides(store, results, subjects,
                                      [&sides](std::size_t s, std::size_t n) { return sides[s][n]; });

  const auto observed = observed_runs(store, results, subjects, options.points);
  const ReportInput in{results, factors, subjects, moved, observed, metrics, options.pareto, options.heat};
  std::vector<Section> sections = {overview_section(in), pareto_section(in)};
  for (std::size_t s = 0; s < subjects.size(); ++s) sections.push_back(subject_section(in, s));
  sections.push_back(failures_section(in));
  sections.push_back(points_section(in));
  sections.push_back(configuration_section(in));
  sections.erase(
      std::remove_if(sections.begin(), sections.end(), [](const Section& s) { return s.html.empty(); }),
      sections.end());
  const std::string title = !options.title.empty()  ? options.title
                            : !results.name.empty() ? results.name
                                                    : path;
  return page(title, results, sections);
}

}  // namespace warpline::sweep
