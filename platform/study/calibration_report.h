#pragma once

#include <string>
#include <vector>

#include "platform/study/calibration.h"

namespace warpline::study {

/// A page of HTML, one file without network or script: errors by class, curves with the published points laid
/// over them, and every row. `gpu` and `version` head it.
[[nodiscard]] std::string calibration_html(const std::string& gpu, const std::string& version,
                                           const std::vector<RowResult>& results);

/// The same as JSON: rows with value, measured, error, or why they are refused; classes.
[[nodiscard]] std::string calibration_json(const std::string& gpu, const std::vector<RowResult>& results);

}  // namespace warpline::study
