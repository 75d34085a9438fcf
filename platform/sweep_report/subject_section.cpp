#include <fmt/format.h>

#include <algorithm>

#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"

namespace warpline::sweep {

std::string subject_id(const ReportInput& in, const Subject& s) {
  return "s-" + anchor(in.results.workloads[s.workload]) + "-" + anchor(s.kernel);
}

Section subject_section(const ReportInput& in, std::size_t subject) {
  const Subject& s = in.subjects[subject];
  const bool is_kernel = !s.kernel.empty();
  const std::string& workload = in.results.workloads[s.workload];
  Section out{subject_id(in, s), s.name, is_kernel, {}};
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
  for (const auto part : {effects_part, stalls_part, plots_part, figures_part, roofline_part, hierarchy_part,
                          observed_part, counters_part})
    out.html += part(in, subject);
  return out;
}

}  // namespace warpline::sweep
