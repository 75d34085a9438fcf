#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/result_store.h"
#include "rtl_models/base/problem.h"

namespace warpline::sweep {

/// What a report is to show.
struct ReportOptions {
  std::string title;  ///< empty: the study's name
  std::vector<std::string>
      metrics;  ///< empty: the study's; the first is what points are judged by, less is better
  std::optional<std::pair<std::string, std::string>> pareto;  ///< what is drawn across and upwards
  std::optional<std::pair<std::string, std::string>>
      heat;                         ///< the keys of heat maps; else the strongest pairs
  std::vector<std::size_t> points;  ///< whose profiles and figures over time are shown, beside the usual ones
};

/// The results in `store`, which is the file `path`, as one page of HTML that needs nothing else: findings in
/// sentences, plots as SVG, every point, the configuration. The same file makes the same page. A fault is an
/// unknown name in the options, or a file without points. Throws StoreError where it cannot be read.
[[nodiscard]] Result<std::string> study_report(const ResultStore& store, const std::string& path,
                                               const ReportOptions& options);

}  // namespace warpline::sweep
