#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"

namespace warpline::sweep {
namespace {

constexpr std::size_t kMostReasons = 100;

}  // namespace

Section failures_section(const ReportInput& in) {
  // Many points fail for one reason: it is said once.
  struct Reason {
    std::size_t points = 0;
    const StudyRun* first = nullptr;
  };
  std::map<std::pair<std::string, std::string>, Reason> reasons;
  for (const StudyRun& run : in.results.runs) {
    if (in.results.finished(run)) continue;
    Reason& r = reasons[{in.results.outcomes[run.outcome], run.reason}];
    if (r.points++ == 0) r.first = &run;
  }
  Section out{"failures", "Points that did not finish", false, {}};
  if (reasons.empty()) return out;
  std::vector<std::pair<std::pair<std::string, std::string>, Reason>> order(reasons.begin(), reasons.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.points > b.second.points; });
  HtmlTable table("Outcomes and reasons");
  table.head({{"outcome"},
              {"points", "number"},
              {"reason"},
              {"first", "number"},
              {"workload and settings of the first"}});
  for (std::size_t n = 0; n < std::min(order.size(), kMostReasons); ++n) {
    const auto& [what, reason] = order[n];
    table.row({{escaped(what.first)},
               {number_text(static_cast<double>(reason.points)), "number"},
               {escaped(what.second)},
               {std::to_string(reason.first->point), "number"},
               {escaped(in.results.workloads[reason.first->workload] + ": " +
                        settings_text(in.results, *reason.first))}});
  }
  out.html = "<p>Tables and plots elsewhere are of points that finished.</p>\n" + table.html();
  if (order.size() > kMostReasons)
    out.html += fmt::format("<p>And {} more reasons.</p>\n", order.size() - kMostReasons);
  return out;
}

}  // namespace warpline::sweep
