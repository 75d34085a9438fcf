#pragma once

#include <functional>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/study/calibration.h"

namespace warpline::study {

/// Measures rows on models of `config`, `jobs` at a time. `go_on` is called after each row, by one thread at
/// a time; once it returns false no further row is begun. Returns the results in the order of the rows;
/// empty: it was stopped. They are the same for every number of jobs. Pre: the configuration has no problems.
[[nodiscard]] std::vector<RowResult> measure_rows(const GpuConfig& config,
                                                  const std::vector<const MeasuredRow*>& rows, unsigned jobs,
                                                  const std::function<bool()>& go_on);

}  // namespace warpline::study
