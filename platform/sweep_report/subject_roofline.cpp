// Rooflines of a workload or a kernel, in warp instructions, as N. Ding and S. Williams draw them ("An
// Instruction Roofline Model for GPUs", PMBS 2019).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/metrics/roofline.h"
#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"

namespace warpline::sweep {
namespace {

/// Runs that are drawn beside the best and the worst.
constexpr std::size_t kMostMarks = 300;

/// Where a run stands under each of its roofs.
std::vector<Roofline> places_of(const Subject& s, std::size_t run, const StudyResults& results) {
  std::vector<Roofline> out;
  s.with_source(run, results, [&](FigureSource& source) {
    out = rooflines({[&](const std::string& path) { return source.counter(path.c_str()); },
                     [&](const std::string& path) { return source.key(path.c_str()); }, source.time_ns()});
  });
  return out;
}

PlotSeries roof_line(const char* which, const Roofline& p, double low, double high) {
  PlotSeries line;
  line.name = fmt::format("roof of the {} point", which);
  line.marked = false;
  for (const double x : {low, std::clamp(p.issue_rate / p.bandwidth, low, high), high})
    line.points.emplace_back(x, p.roof(x));
  return line;
}

std::string place_text(const char* which, const Roofline& p) {
  return fmt::format("The {} point reaches {} of its roof, which is that of {}.", which,
                     percent_text(p.rate / p.roof(p.intensity)),
                     p.bandwidth_limits() ? "bandwidth" : "issue slots");
}

/// Of memory number `memory`; `places`: of each run, by memory.
std::string roofline(const ReportInput& in, const Subject& s,
                     const std::vector<std::vector<Roofline>>& places, std::size_t memory) {
  const std::size_t best = s.best(), worst = s.worst();
  const Roofline &at_best = places[best][memory], &at_worst = places[worst][memory];
  if (!at_best.is_known() || !at_worst.is_known()) return {};
  PlotSeries others;
  others.name = "points";
  others.line = false;
  others.faint = true;
  double low = INFINITY, high = 0;
  const std::size_t step = std::max<std::size_t>(1, s.runs.size() / kMostMarks);
  const auto note = [&](std::size_t n, const Roofline& p) {
    return fmt::format("{}: {} warp instructions a byte, {} a ns, {} of the roof",
                       settings_text(in.results, in.results.runs[s.runs[n]]), number_text(p.intensity),
                       number_text(p.rate), percent_text(p.rate / p.roof(p.intensity)));
  };
  for (std::size_t n = 0; n < s.runs.size(); n += step) {
    const Roofline& p = places[n][memory];
    if (!p.is_known()) continue;
    others.points.emplace_back(p.intensity, p.rate);
    others.notes.push_back(note(n, p));
    low = std::min(low, p.intensity);
    high = std::max(high, p.intensity);
  }
  for (const Roofline& p : {at_best, at_worst}) {
    low = std::min({low, p.intensity, p.issue_rate / p.bandwidth});
    high = std::max({high, p.intensity, p.issue_rate / p.bandwidth});
  }
  low /= 2;
  high *= 2;
  PlotSeries marked;
  marked.name = "worst and best";
  marked.line = false;
  for (const auto& [n, p] : {std::pair(worst, at_worst), std::pair(best, at_best)}) {
    marked.points.emplace_back(p.intensity, p.rate);
    marked.notes.push_back(std::string(n == best ? "best: " : "worst: ") + note(n, p));
  }
  Plot plot;
  plot.title = fmt::format("{}: roofline of {}", s.name, at_best.memory);
  plot.is_titled = false;
  plot.x_label = fmt::format("warp instructions per byte of {}", at_best.memory);
  plot.y_label = "warp instructions per ns";
  plot.x_logarithmic = plot.y_logarithmic = true;
  plot.description = place_text("worst", at_worst) + " " + place_text("best", at_best);
  plot.series = {others, marked, roof_line("worst", at_worst, low, high),
                 roof_line("best", at_best, low, high)};
  return fmt::format("<figure><figcaption>Roofline of {}</figcaption>{}<p class=\"note\">{}</p></figure>\n",
                     at_best.memory, svg_of(plot), plot.description);
}

}  // namespace

std::string roofline_part(const ReportInput& in, std::size_t subject) {
  std::string out;
  const Subject& s = in.subjects[subject];
  std::vector<std::vector<Roofline>> places;
  for (std::size_t n = 0; n < s.runs.size(); ++n) places.push_back(places_of(s, n, in.results));
  for (std::size_t m = 0; !places.empty() && m < places.front().size(); ++m)
    out += roofline(in, s, places, m);
  return out.empty() ? "" : "<h3>Rooflines</h3>\n<div class=\"plots\">\n" + out + "</div>\n";
}

}  // namespace warpline::sweep
