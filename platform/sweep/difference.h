#pragma once

#include <string>

#include "rtl_models/base/problem.h"

namespace warpline::sweep {

/// What is compared, and how much of it is shown.
struct DifferenceOptions {
  double threshold = 1;    ///< per cent: counters that changed by less are left out
  bool instances = false;  ///< counters of each block, and not the totals alone
};

/// What two runs differ in, as text: how they ended, their configurations, and their counters, those first
/// that explain most of the difference in cycles. `first` and `second` are files of statistics.
[[nodiscard]] Result<std::string> difference_of(const std::string& first, const std::string& second,
                                                const DifferenceOptions& options);

}  // namespace warpline::sweep
