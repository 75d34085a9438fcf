// Rooflines of a workload or a kernel, in warp instructions, as N. Ding and S. Williams draw them ("An
// Instruction Roofline Model for GPUs", PMBS 2019).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"

namespace warpline::sweep {
namespace {

/// Runs that are drawn beside the best and the worst.
constexpr std::size_t kMostMarks = 300;

/// A memory, what the runs move to and from it, and what it could.
struct Roof {
  const char* name;
  double (*bytes)(FigureSource&);      ///< of a run
  double (*bandwidth)(FigureSource&);  ///< bytes per nanosecond at most
};

constexpr double kSectorSize = 32;

constexpr Roof kRoofs[] = {
    {"DRAM", [](FigureSource& s) { return s.counter("dram.bytes_read") + s.counter("dram.bytes_written"); },
     [](FigureSource& s) {
       return s.key("gpus") * s.key("dram.channels") * kSectorSize / s.key("dram.sector_cycles") *
              s.key("clocks.dram") / 1000;
     }},
    {"reads of L2", [](FigureSource& s) { return s.counter("crossbar.response_sectors") * kSectorSize; },
     [](FigureSource& s) {
       return s.key("gpus") * s.key("l2.slices") * s.key("hops.crossbar_l2.response.width") *
              s.key("clocks.l2") / 1000;
     }}};

/// Where a run stands under its roof.
struct Place {
  double intensity = NAN, rate = NAN;        ///< warp instructions for each byte, and for each nanosecond
  double bandwidth = NAN, issue_rate = NAN;  ///< at most: bytes, and warp instructions, for each nanosecond
  [[nodiscard]] bool is_known() const {
    return intensity > 0 && rate > 0 && bandwidth > 0 && issue_rate > 0 && std::isfinite(intensity);
  }
  [[nodiscard]] double roof(double at) const { return std::min(issue_rate, at * bandwidth); }
};

Place place_of(const Subject& s, std::size_t run, const StudyResults& results, const Roof& roof) {
  Place p;
  s.with_source(run, results, [&](FigureSource& source) {
    const double instructions = source.counter("sm.instructions");
    p.intensity = instructions / roof.bytes(source);
    p.rate = instructions / source.time_ns();
    p.bandwidth = roof.bandwidth(source);
    p.issue_rate =
        source.key("gpus") * source.key("sms") * source.key("sm.partitions") * source.key("clocks.sm") / 1000;
  });
  return p;
}

PlotSeries roof_line(const char* which, const Place& p, double low, double high) {
  PlotSeries line;
  line.name = fmt::format("roof of the {} point", which);
  line.marked = false;
  for (const double x : {low, std::clamp(p.issue_rate / p.bandwidth, low, high), high})
    line.points.emplace_back(x, p.roof(x));
  return line;
}

std::string place_text(const char* which, const Place& p) {
  return fmt::format("The {} point reaches {} of its roof, which is that of {}.", which,
                     percent_text(p.rate / p.roof(p.intensity)),
                     p.intensity * p.bandwidth < p.issue_rate ? "bandwidth" : "issue slots");
}

std::string roofline(const ReportInput& in, const Subject& s, const Roof& roof) {
  const std::size_t best = s.best(), worst = s.worst();
  const Place at_best = place_of(s, best, in.results, roof), at_worst = place_of(s, worst, in.results, roof);
  if (!at_best.is_known() || !at_worst.is_known()) return {};
  PlotSeries others;
  others.name = "points";
  others.line = false;
  others.faint = true;
  double low = INFINITY, high = 0;
  const std::size_t step = std::max<std::size_t>(1, s.runs.size() / kMostMarks);
  const auto note = [&](std::size_t n, const Place& p) {
    return fmt::format("{}: {} warp instructions a byte, {} a ns, {} of the roof",
                       settings_text(in.results, in.results.runs[s.runs[n]]), number_text(p.intensity),
                       number_text(p.rate), percent_text(p.rate / p.roof(p.intensity)));
  };
  for (std::size_t n = 0; n < s.runs.size(); n += step) {
    const Place p = place_of(s, n, in.results, roof);
    if (!p.is_known()) continue;
    others.points.emplace_back(p.intensity, p.rate);
    others.notes.push_back(note(n, p));
    low = std::min(low, p.intensity);
    high = std::max(high, p.intensity);
  }
  for (const Place& p : {at_best, at_worst}) {
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
  plot.title = fmt::format("{}: roofline of {}", s.name, roof.name);
  plot.is_titled = false;
  plot.x_label = fmt::format("warp instructions per byte of {}", roof.name);
  plot.y_label = "warp instructions per ns";
  plot.x_logarithmic = plot.y_logarithmic = true;
  plot.description = place_text("worst", at_worst) + " " + place_text("best", at_best);
  plot.series = {others, marked, roof_line("worst", at_worst, low, high),
                 roof_line("best", at_best, low, high)};
  return fmt::format("<figure><figcaption>Roofline of {}</figcaption>{}<p class=\"note\">{}</p></figure>\n",
                     roof.name, svg_of(plot), plot.description);
}

}  // namespace

std::string roofline_part(const ReportInput& in, std::size_t subject) {
  std::string out;
  for (const Roof& roof : kRoofs) out += roofline(in, in.subjects[subject], roof);
  return out.empty() ? "" : "<h3>Rooflines</h3>\n<div class=\"plots\">\n" + out + "</div>\n";
}

}  // namespace warpline::sweep
