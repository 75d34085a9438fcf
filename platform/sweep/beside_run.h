#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/base/problem.h"

namespace warpline::sweep {

/// The fields of a row of CSV without quotes inside, as `--series` writes them.
[[nodiscard]] std::vector<std::string> row_fields(std::string_view row);

/// Why the text of the file `path` is no profile (`--profile`) of the run whose statistics are `run`: its
/// form, counts that can be none, another GPU or transport, kernels that the run did not launch, other
/// instructions. Nothing: it may be one.
[[nodiscard]] Diagnostics faults_of_profile(const std::string& path, const std::string& text,
                                            const nlohmann::json& run);
/// The same of figures over time (`--series`): its form, numbers that can be none, kernels that the run did
/// not launch, another last cycle.
[[nodiscard]] Diagnostics faults_of_series(const std::string& path, const std::string& text,
                                           const nlohmann::json& run);

}  // namespace warpline::sweep
