#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "platform/sweep_report/heat_map.h"
#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

constexpr std::size_t kSentences = 3;

std::string tile(const std::string& value, const std::string& what) {
  return fmt::format("<div class=\"tile\"><dt>{}</dt><dd>{}</dd></div>", what, value);
}

std::string tiles(const ReportInput& in) {
  std::size_t finished = 0;
  double wall = 0;
  for (const StudyRun& run : in.results.runs) {
    finished += in.results.finished(run) ? 1 : 0;
    wall += run.wall_s;
  }
  const std::size_t all = in.results.runs.size();
  std::string out = "<dl class=\"tiles\">";
  out += tile(number_text(static_cast<double>(all)), "points");
  out += tile(number_text(static_cast<double>(finished)), "finished");
  if (finished != all)
    out += tile("<a href=\"#failures\">" + number_text(static_cast<double>(all - finished)) + "</a>",
                "not finished");
  out += tile(std::to_string(in.factors.size()), "things varied");
  out += tile(std::to_string(in.results.workloads.size()), "workloads");
  return out +
         tile(wall >= 5400 ? fmt::format("{:.1f} h", wall / 3600)
              : wall >= 90 ? fmt::format("{:.0f} min", wall / 60)
                           : fmt::format("{:.1f} s", wall),
              "of runs in all") +
         "</dl>\n";
}

std::string shade_of(double ratio) {
  const double size = std::abs(std::log(ratio));
  return size < 0.01 ? "e0" : size < 0.05 ? "e1" : size < 0.15 ? "e2" : size < 0.4 ? "e3" : "e4";
}

/// What each factor does to all workloads together: the mean of their effects.
Effects of_all_workloads(const ReportInput& in) {
  Effects all;
  for (std::size_t f = 0; f < in.factors.size(); ++f) {
    std::vector<double>& sums = all.of.emplace_back(in.factors[f].levels.size(), 0.0);
    all.count.emplace_back(sums.size(), 0);
    for (std::size_t l = 0; l < sums.size(); ++l) {
      for (const Subject& s : in.subjects)
        if (s.kernel.empty() && !s.runs.empty() && !std::isnan(s.effects.of[f][l])) {
          sums[l] += s.effects.of[f][l];
          ++all.count[f][l];
        }
      sums[l] = all.count[f][l] == 0 ? NAN : sums[l] / static_cast<double>(all.count[f][l]);
    }
    // Of workloads that were run with different values, there is no mean.
    std::vector<std::size_t> counts;
    for (const std::size_t count : all.count[f])
      if (count != 0) counts.push_back(count);
    if (std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) != counts.end())
      std::fill(sums.begin(), sums.end(), NAN);
  }
  return all;
}

std::string lead(const ReportInput& in, const Effects& all) {
  const std::vector<std::size_t> order = all.order();
  const auto about = [&](std::size_t f) {
    const auto [a, b] = compared_levels(in.factors[f], all, f);
    return fmt::format("<b class=\"key\">{}</b> ({} from {} to {})", escaped(in.factors[f].name),
                       change_text(all.ratio(f, a, b)), escaped(in.factors[f].levels[a].label),
                       escaped(in.factors[f].levels[b].label));
  };
  if (all.span(order.front()) < kLittle)
    return fmt::format("<p class=\"lead\">None of the keys changes {} by more than 1%.</p>\n",
                       escaped(in.metrics.front().name));
  std::string out = fmt::format("<p class=\"lead\">{} changes {} most", about(order.front()),
                                escaped(in.metrics.front().name));
  std::vector<std::string> then, nothing;
  for (std::size_t n = 1; n < order.size(); ++n)
    if (all.span(order[n]) < kLittle) {
      const std::vector<double>& effects = all.of[order[n]];
      const auto known =
          std::count_if(effects.begin(), effects.end(), [](double e) { return !std::isnan(e); });
      if (known < 2) continue;  // it is not varied, or cannot be told
      nothing.push_back("<b class=\"key\">" + escaped(in.factors[order[n]].name) + "</b>");
    } else if (then.size() < kSentences) {
      then.push_back(about(order[n]));
    }
  if (!then.empty()) out += ", then " + joined(then, ", then ");
  out += ".";
  if (!nothing.empty())
    out += " " + joined(nothing, ", ", " and ") + (nothing.size() == 1 ? " does" : " do") + " nothing.";
  return out + "</p>\n";
}

std::vector<Cell> matrix_row(const ReportInput& in, Cell name, const Effects& effects) {
  std::vector<Cell> row = {std::move(name)};
  for (std::size_t f = 0; f < in.factors.size(); ++f) {
    const auto [a, b] = compared_levels(in.factors[f], effects, f);
    const double ratio = effects.ratio(f, a, b);
    if (a == b || std::isnan(ratio)) {
      row.push_back({"\u2013", "number"});
      continue;
    }
    row.push_back(
        {fmt::format("<strong>{}</strong> <small>{} \u2192 {}</small>", change_text(ratio),
                     escaped(in.factors[f].levels[a].label), escaped(in.factors[f].levels[b].label)),
         "number " + shade_of(ratio)});
  }
  return row;
}

/// What each factor does to each subject.
std::string matrix(const ReportInput& in, const Effects& all) {
  HtmlTable table("What each key does to " + escaped(in.metrics.front().name) +
                  ", the others the same: from the value with most to the one with least");
  std::vector<Cell> head = {{"workload or kernel"}};
  for (const Factor& f : in.factors)
    head.push_back({"<span class=\"key\">" + escaped(f.name) + "</span>", "number"});
  table.head(head);
  if (in.results.workloads.size() > 1) table.row(matrix_row(in, {"all workloads"}, all));
  for (const Subject& s : in.subjects)
    if (!s.runs.empty())
      table.row(matrix_row(in,
                           {fmt::format("<a href=\"#{}\">{}</a>", subject_id(in, s), escaped(s.name)),
                            s.kernel.empty() ? "" : "inner"},
                           s.effects));
  return table.html();
}

std::string sentences(const ReportInput& in) {
  std::string out = "<ul class=\"findings\">\n";
  for (const Subject& s : in.subjects) {
    if (s.runs.empty()) {
      out += fmt::format("<li><b>{}</b>: no point finished.</li>\n", escaped(s.name));
      continue;
    }
    const bool is_kernel = !s.kernel.empty();
    out += fmt::format("<li{}><p><b>{}</b>{}. ", is_kernel ? " class=\"inner\"" : "", escaped(s.name),
                       is_kernel ? fmt::format(", {} of the cycles of {}", percent_text(s.share),
                                               escaped(in.results.workloads[s.workload]))
                                 : "");
    std::vector<std::string> changes, idle;
    for (const std::size_t f : s.effects.order()) {
      if (s.effects.span(f) < kLittle) {
        const std::vector<std::size_t>& count = s.effects.count[f];
        if (count.size() - static_cast<std::size_t>(std::count(count.begin(), count.end(), 0U)) < 2) continue;
        const auto [a, b] = compared_levels(in.factors[f], s.effects, f);
        if (s.matched(in.factors, f, a, b).first.empty()) continue;  // no two points show it
        idle.push_back("<b class=\"key\">" + escaped(in.factors[f].name) + "</b>");
      } else if (changes.size() < kSentences) {
        changes.push_back(change_sentence(in, s, f));
      }
    }
    if (!changes.empty()) out += joined(changes, "; ") + ". ";
    if (!idle.empty())
      out += joined(idle, ", ", " and ") + (idle.size() == 1 ? " does" : " do") + " nothing. ";
    out += "</p><p class=\"why\">";
    if (!changes.empty()) {
      const std::size_t f = s.effects.order().front();
      if (const std::string why = evidence(in, s, f); !why.empty())
        out += fmt::format("With <b class=\"key\">{}</b>: {}. ", escaped(in.factors[f].name), why);
      out += dependence(in, s, f) + " ";
    }
    out += "Busiest: " + limit_phrase(in, s) + ".</p></li>\n";
  }
  return out + "</ul>\n";
}

/// Cycles of different clocks are no match.
std::string clocks_note(const ReportInput& in) {
  if (in.metrics.front().name != "cycles") return {};
  for (const ConfigurationKey& k : in.results.configuration) {
    if (k.name.rfind("clocks.", 0) != 0) continue;
    std::string first;
    for (const std::string& value : k.by_gpu) {
      if (first.empty()) first = value;
      if (k.varies || (!value.empty() && value != first))
        return "<p class=\"warning\">Clocks differ between points (<code>" + escaped(k.name) +
               "</code>), so that fewer cycles need not be less time: <code>--metrics time_ns</code> judges "
               "by that.</p>\n";
    }
  }
  return {};
}

std::string best_points(const ReportInput& in) {
  HtmlTable table("The best point of each workload");
  table.head({{"workload"},
              {"point"},
              {"settings"},
              {escaped(in.metrics.front().name), "number"},
              {"to repeat it"}});
  for (const Subject& s : in.subjects) {
    if (s.runs.empty() || !s.kernel.empty()) continue;
    const StudyRun& run = in.results.runs[s.runs[s.best()]];
    table.row({{escaped(s.name)},
               {std::to_string(run.point), "number"},
               {escaped(settings_text(in.results, run))},
               {number_text(s.metric[s.best()]), "number"},
               {"<code>" + escaped(command_of(in.results, run)) + "</code>", "command"}});
  }
  return table.empty() ? "" : table.html();
}

}  // namespace

Section overview_section(const ReportInput& in) {
  Section out{"overview", "Overview", false, {}};
  if (in.results.being_written)
    out.html +=
        "<p class=\"warning\">A sweep was writing the file of results when this report was made of it. It "
        "has the points "
        "that were done by then.</p>\n";
  out.html += tiles(in);
  const bool any =
      std::any_of(in.subjects.begin(), in.subjects.end(), [](const Subject& s) { return !s.runs.empty(); });
  if (!any) {
    out.html +=
        "<p class=\"warning\">No point finished, so there is nothing to compare. <a "
        "href=\"#failures\">Points "
        "that did not finish</a> says why.</p>\n";
    return out;
  }
  if (in.factors.empty())
    out.html += "<p>All points have the same GPU and the same keys: nothing is compared.</p>\n";
  out.html += clocks_note(in) + "<h3>What helps, and why</h3>\n";
  if (!in.factors.empty()) {
    const Effects all = of_all_workloads(in);
    out.html += lead(in, all) + matrix(in, all);
  }
  out.html += sentences(in);
  out.html +=
      "<p class=\"note\">A change is that of the geometric mean over all points that finished, with the "
      "other keys the "
      "same: a sum of one effect for each key, fit to the logarithms. Shades go with its size; 1% and less "
      "is taken for "
      "nothing. Figures of several points are the sums of what they counted.</p>\n";
  // Of one run of one kernel, its own section says the same.
  if (in.results.runs.size() > 1 || in.subjects.size() > 1) out.html += stalls_overview(in);
  out.html += "<h3>Best points</h3>\n" + best_points(in);
  return out;
}

}  // namespace warpline::sweep
