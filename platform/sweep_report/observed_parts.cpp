// What warps waited for, the lines that they waited at, and figures over time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"
#include "platform/sweep_report/stacked_bars.h"
#include "rtl_models/base/plain_name.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sm/stall_reason.h"

namespace warpline::sweep {
namespace {

constexpr std::size_t kHottest = 10;
/// Reasons with a smaller share of warp-cycles wherever they are shown are left out of the table.
constexpr double kLeastShare = 0.005;
/// Counters that are no standard figure have plots of their own, so many.
constexpr std::size_t kMostOtherPlots = 4;
/// In the overview.
constexpr std::size_t kMostBars = 24;

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? NAN : static_cast<double>(part) / static_cast<double>(whole);
}

std::string count_text(std::uint64_t n) {
  return grouped(n);
}

std::uint64_t of(const std::map<std::string, std::uint64_t>& stalls, const std::string& reason) {
  const auto found = stalls.find(reason);
  return found == stalls.end() ? 0 : found->second;
}

const StudyRun& study_run(const ReportInput& in, const Subject& s, const ObservedRun& o) {
  return in.results.runs[s.runs[o.run]];
}

/// "point 3, the worst: l2.slices = 2".
std::string label_of(const ReportInput& in, const Subject& s, const ObservedRun& o) {
  const StudyRun& run = study_run(in, s, o);
  const std::string roles = joined(o.roles, ", ", " and ");
  return fmt::format("point {}{}: {}", run.point, roles.empty() ? "" : " (" + roles + ")",
                     settings_text(in.results, run));
}

bool is_profiled(const ObservedRun& o) {
  return o.warp_cycles != 0;
}

/// Those that are compared: which have a name, and a profile.
std::vector<const ObservedRun*> compared(const std::vector<ObservedRun>& observed) {
  std::vector<const ObservedRun*> out;
  for (const ObservedRun& o : observed)
    if (is_profiled(o) && !o.roles.empty()) out.push_back(&o);
  return out;
}

/// The run that is `role`, or the only one.
const ObservedRun* with_role(const std::vector<ObservedRun>& observed, const std::string& role) {
  for (const ObservedRun& o : observed)
    if (is_profiled(o) && std::any_of(o.roles.begin(), o.roles.end(),
                                      [&](const std::string& r) { return r == role || r == "only"; }))
      return &o;
  return nullptr;
}

std::string reason_text(const std::string& reason) {
  for (const StallReasonText& r : kStallReasonTexts)
    if (reason == r.name) return r.description;
  return {};
}

/// A line as people know it: of CUDA where that is known.
std::string place_of(const ObservedLine& line) {
  const bool cuda = !line.cuda.empty();
  const std::string& place = cuda ? line.cuda : line.place;
  const std::string& text = cuda ? line.cuda_text : line.text;
  return "<code>" + escaped(place.substr(place.rfind('/') + 1)) + "</code>" +
         (text.empty() ? "" : " <code>" + escaped(text) + "</code>");
}

/// The lines of a run as people know them, the hottest first: those of CUDA, and of PTX those that come from
/// none.
std::vector<ObservedLine> known_lines(const ObservedRun& o) {
  std::vector<ObservedLine> out = o.cuda_lines();
  std::copy_if(o.lines.begin(), o.lines.end(), std::back_inserter(out),
               [](const ObservedLine& line) { return line.cuda.empty(); });
  std::stable_sort(out.begin(), out.end(),
                   [](const ObservedLine& a, const ObservedLine& b) { return a.stalled() > b.stalled(); });
  return out;
}

/// Of the reasons that cost less at the best point than at the worst, the one that makes most of the
/// difference.
std::string stall_sentence(const std::vector<ObservedRun>& observed) {
  const ObservedRun* const worst = with_role(observed, "worst");
  const ObservedRun* const best = with_role(observed, "best");
  if (worst == nullptr || best == nullptr || worst == best) return {};
  std::string most;
  std::uint64_t less = 0;
  for (const auto& [reason, cycles] : worst->stalls) {
    const std::uint64_t after = of(best->stalls, reason);
    if (reason == name_of(StallReason::selected) || cycles <= after || cycles - after <= less) continue;
    most = reason;
    less = cycles - after;
  }
  if (most.empty()) return "<p>At the best point no wait is shorter than at the worst.</p>\n";
  std::string out = fmt::format(
      "<p>From the worst point to the best, waits for <b>{}</b> shrink most: {} \u2192 {} "
      "warp-cycles of <code>{}</code>.",
      escaped(reason_text(most)), count_text(of(worst->stalls, most)), count_text(of(best->stalls, most)),
      escaped(most));
  const std::vector<ObservedLine> lines = known_lines(*worst);
  const auto line = std::max_element(
      lines.begin(), lines.end(),
      [&](const ObservedLine& a, const ObservedLine& b) { return of(a.stalls, most) < of(b.stalls, most); });
  if (line != lines.end())
    out +=
        fmt::format(" At the worst point, {} of them are charged to {}.",
                    percent_text(share_of(of(line->stalls, most), of(worst->stalls, most))), place_of(*line));
  return out + "</p>\n";
}

/// What the bars show, in numbers.
std::string stall_table(const ReportInput& in, const Subject& s,
                        const std::vector<const ObservedRun*>& shown) {
  HtmlTable table("What warps of " + escaped(s.name) + " do or wait for: shares of warp-cycles");
  std::vector<Cell> head = {{"reason"}};
  for (const ObservedRun* o : shown)
    head.push_back({fmt::format("point {}{}", study_run(in, s, *o).point,
                                o->roles.empty() ? "" : "<br><small>" + joined(o->roles, ", ") + "</small>"),
                    "number"});
  head.push_back({"a warp waits for, or does"});
  table.head(head);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t r = 0; r < kStallReasons; ++r) {
    double most = 0;
    for (const ObservedRun* o : shown)
      most = std::max(most, share_of(of(o->stalls, kStallReasonTexts[r].name), o->warp_cycles));
    if (most >= kLeastShare) order.emplace_back(-most, r);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [less, r] : order) {
    std::vector<Cell> row = {{"<code>" + std::string(kStallReasonTexts[r].name) + "</code>"}};
    for (const ObservedRun* o : shown)
      row.push_back(
          {percent_text(share_of(of(o->stalls, kStallReasonTexts[r].name), o->warp_cycles)), "number"});
    row.push_back({escaped(kStallReasonTexts[r].description)});
    table.row(row);
  }
  std::vector<Cell> all = {{"warp-cycles"}};
  for (const ObservedRun* o : shown) all.push_back({count_text(o->warp_cycles), "number"});
  all.push_back({""});
  table.row(all);
  return table.html();
}

std::string bars_of(const ReportInput& in, const Subject& s, const std::vector<const ObservedRun*>& shown) {
  std::vector<StallBar> bars;
  std::vector<std::string> texts;
  for (const ObservedRun* o : shown) {
    bars.push_back({label_of(in, s, *o), o->stalls});
    const auto most = std::max_element(o->stalls.begin(), o->stalls.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != o->stalls.end())
      texts.push_back(fmt::format("{}: mostly {}, {}", label_of(in, s, *o), most->first,
                                  percent_text(share_of(most->second, o->warp_cycles))));
  }
  return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What warps wait for\">" +
         stall_bars_svg(s.name + ": what warps do or wait for", joined(texts, "; ") + ". The table has all.",
                        bars) +
         "</div>\n";
}

std::string line_table(const Subject& s, const ObservedRun& o, const std::vector<ObservedLine>& lines,
                       bool cuda) {
  const bool many = s.kernel.empty() && std::any_of(lines.begin(), lines.end(), [&](const ObservedLine& l) {
                      return l.kernel != lines.front().kernel;
                    });
  HtmlTable table(
      fmt::format("Lines of {} for which warps wait longest{}", cuda ? "CUDA" : "PTX or the trace",
                  lines.size() > kHottest ? fmt::format(", {} of {}", kHottest, lines.size()) : ""),
      "lines");
  std::vector<Cell> head = {{"line"}, {"source"}};
  if (many) head.insert(head.begin() + 1, {"kernel"});
  for (const char* const name :
       {"stalled", "of all", "mostly", "issued", "sectors", "L1 hits", "L2 hits", "conflicts", "latency"})
    head.push_back({name, std::string(name) == "mostly" ? "" : "number"});
  table.head(head);
  for (std::size_t n = 0; n < std::min(lines.size(), kHottest); ++n) {
    const ObservedLine& l = lines[n];
    const std::string& place = cuda ? l.cuda : l.place;
    std::vector<Cell> row = {{fmt::format("<code title=\"{}\">{}</code>", escaped(place),
                                          escaped(place.substr(place.rfind('/') + 1)))},
                             {"<code>" + escaped(cuda ? l.cuda_text : l.text) + "</code>", "source"}};
    if (many) row.insert(row.begin() + 1, {escaped(plain_name(l.kernel))});
    const std::uint64_t stalled = l.stalled(), beyond = l.answered - l.first_level;
    const std::string mostly = l.mostly();
    row.push_back({count_text(stalled), "number"});
    row.push_back({percent_text(share_of(stalled, o.warp_cycles)), "number"});
    row.push_back({mostly.empty() ? ""
                                  : fmt::format("<code>{}</code> {}", escaped(mostly),
                                                percent_text(share_of(of(l.stalls, mostly), stalled))),
                   "nowrap"});
    row.push_back({count_text(l.issued), "number"});
    row.push_back({l.sectors == 0 ? "" : count_text(l.sectors), "number"});
    row.push_back({l.answered == 0 ? "" : percent_text(share_of(l.first_level, l.answered)), "number"});
    row.push_back({beyond == 0 ? "" : percent_text(share_of(l.l2, beyond)), "number"});
    row.push_back({l.conflicts == 0 ? "" : count_text(l.conflicts), "number"});
    row.push_back({l.accesses == 0 ? "" : number_text(share_of(l.latency, l.accesses)), "number"});
    table.row(row);
  }
  return table.html();
}

/// Figures that share an axis.
struct TimePlot {
  const char *title, *unit;
  std::vector<const char*> figures;
};
const std::vector<TimePlot>& time_plots() {
  static const std::vector<TimePlot> kPlots = {
      {"Bandwidth", "GB/s", {"dram_read", "dram_write", "pcie_down", "pcie_up"}},
      {"Hit rates", "share of sectors", {"l1_hit_rate", "l2_hit_rate"}},
      {"Occupancy", "warps resident", {"warps"}},
      {"Busy", "share of cycles", {"reply_ports", "request_ports", "dram_busy"}},
      {"Instructions", "warp instructions a cycle", {"ipc"}},
      {"Queues", "requests or lines", {"crossbar_queue", "l2_misses", "l2_queue", "dram_queue"}}};
  return kPlots;
}

std::string time_plot(const Subject& s, const ObservedRun& o, const std::string& title,
                      const std::string& unit, const std::vector<const ObservedFigure*>& figures, bool sums) {
  Plot plot;
  plot.title = s.name + ": " + title + " over cycles";
  plot.is_titled = false;
  plot.x_label = "cycles since its beginning";
  plot.y_label = unit;
  std::vector<std::string> texts;
  for (const ObservedFigure* f : figures) {
    PlotSeries line;
    line.name = f->name;
    line.marked = false;
    for (std::size_t n = 0; n < o.ends.size(); ++n) {
      const double y = (sums ? f->sums : f->values)[n];
      if (std::isnan(y)) continue;
      // A span is a step.
      line.points.emplace_back(n == 0 ? 0 : o.ends[n - 1], y);
      line.points.emplace_back(o.ends[n], y);
    }
    if (f->most == 0) continue;
    texts.push_back(fmt::format("{}: at most {}{}, up to cycle {}", f->name, number_text(f->most),
                                o.spans_in_one > 1 ? " in a span as it was sampled" : "",
                                number_text(f->most_at)));
    plot.series.push_back(std::move(line));
  }
  if (plot.series.empty()) return {};
  plot.description = joined(texts, "; ") + ".";
  return "<figure><figcaption>" + escaped(title) + "</figcaption>" + svg_of(plot) + "</figure>\n";
}

std::string time_part(const Subject& s, const ObservedRun& o) {
  if (o.ends.empty()) return {};
  std::string out;
  std::vector<std::string> drawn;
  for (const TimePlot& p : time_plots()) {
    std::vector<const ObservedFigure*> figures;
    for (const ObservedFigure& f : o.figures)
      if (std::find(p.figures.begin(), p.figures.end(), f.name) != p.figures.end()) {
        figures.push_back(&f);
        drawn.push_back(f.name);
      }
    out += time_plot(s, o, p.title, p.unit, figures, false);
  }
  std::size_t others = 0;
  for (const ObservedFigure& f : o.figures)
    if (others < kMostOtherPlots && std::find(drawn.begin(), drawn.end(), f.name) == drawn.end()) {
      const std::string plot = time_plot(
          s, o, f.name, o.spans_in_one > 1 ? fmt::format("in {} spans each", o.spans_in_one) : "in each span",
          {&f}, true);
      others += plot.empty() ? 0 : 1;
      out += plot;
    }
  if (out.empty()) return {};
  std::string note;
  if (o.spans_in_one > 1)
    note = fmt::format(
        "<p class=\"note\">Means of {} spans, over their cycles; of counters the sums. <code>warpline export "
        "--table series</code>, or the file of <code>--series</code>, has them one by one.</p>\n",
        o.spans_in_one);
  return "<h4>Over time</h4>\n" + note + "<div class=\"plots\">\n" + out + "</div>\n";
}

}  // namespace

std::string stalls_part(const ReportInput& in, std::size_t subject) {
  const Subject& s = in.subjects[subject];
  const std::vector<const ObservedRun*> shown = compared(in.observed[subject]);
  if (shown.empty()) return {};
  return "<h3>What warps wait for</h3>\n" + stall_sentence(in.observed[subject]) + bars_of(in, s, shown) +
         "<details open><summary>The same in numbers</summary>" + stall_table(in, s, shown) + "</details>\n";
}

std::string observed_part(const ReportInput& in, std::size_t subject) {
  const Subject& s = in.subjects[subject];
  std::string out;
  // Worst first: that is where there is something to find.
  std::vector<const ObservedRun*> order;
  for (const ObservedRun& o : in.observed[subject]) order.push_back(&o);
  const ObservedRun* open = with_role(in.observed[subject], "worst");
  if (open == nullptr && !order.empty()) open = order.front();
  std::stable_sort(order.begin(), order.end(), [&](const ObservedRun* a, const ObservedRun* b) {
    const auto rank = [&](const ObservedRun* o) { return o == open ? 0 : o->roles.empty() ? 2 : 1; };
    return rank(a) < rank(b);
  });
  for (const ObservedRun* o : order) {
    std::string inside;
    if (is_profiled(*o)) {
      if (o->roles.empty()) inside += bars_of(in, s, {o});
      if (const std::vector<ObservedLine> cuda = o->cuda_lines(); !cuda.empty())
        inside += line_table(s, *o, cuda, true);
      inside += line_table(s, *o, o->lines, false);
    }
    inside += time_part(s, *o);
    if (inside.empty()) continue;
    out += fmt::format("<details class=\"point\"{}><summary>{}</summary>\n{}</details>\n",
                       o == open ? " open" : "", escaped(label_of(in, s, *o)), inside);
  }
  if (out.empty()) return {};
  return "<h3>Hottest lines and figures over time</h3>\n"
         "<p class=\"note\">Of some points, those with a name first; <code>--points N,N</code> has others, "
         "and "
         "<code>warpline export --table lines</code> all.</p>\n" +
         out;
}

std::string stalls_overview(const ReportInput& in) {
  std::vector<StallBar> bars;
  HtmlTable table("Where warps wait longest, at the best point of each");
  table.head({{"workload or kernel"},
              {"warp-cycles", "number"},
              {"mostly", ""},
              {"hottest line"},
              {"its share", "number"}});
  std::vector<std::string> texts;
  for (std::size_t n = 0; n < in.subjects.size(); ++n) {
    const Subject& s = in.subjects[n];
    // A workload whose kernels have pages is told by these.
    if (s.kernel.empty() && n + 1 < in.subjects.size() && in.subjects[n + 1].workload == s.workload) continue;
    const ObservedRun* const best = with_role(in.observed[n], "best");
    if (best == nullptr || bars.size() == kMostBars) continue;
    bars.push_back({s.name, best->stalls});
    const auto most = std::max_element(best->stalls.begin(), best->stalls.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string mostly;
    if (most != best->stalls.end()) {
      const std::string share = percent_text(share_of(most->second, best->warp_cycles));
      texts.push_back(fmt::format("{}: mostly {}, {}", s.name, most->first, share));
      mostly = fmt::format("<code>{}</code> {}", escaped(most->first), share);
    }
    const std::vector<ObservedLine> lines = known_lines(*best);
    table.row({{fmt::format("<a href=\"#{}\">{}</a>", subject_id(in, s), escaped(s.name))},
               {count_text(best->warp_cycles), "number"},
               {mostly, "nowrap"},
               {lines.empty() ? "" : place_of(lines.front()), "source"},
               {lines.empty() ? "" : percent_text(share_of(lines.front().stalled(), best->warp_cycles)),
                "number"}});
  }
  if (bars.empty()) return {};
  return "<h3>What warps wait for</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
         "aria-label=\"What warps "
         "wait for\">" +
         stall_bars_svg("What warps do or wait for, at the best point of each workload and kernel",
                        joined(texts, "; ") + ".", bars) +
         "</div>\n" + table.html();
}

}  // namespace warpline::sweep
