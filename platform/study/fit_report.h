#pragma once

#include <string>
#include <vector>

#include "platform/config/config_entries.h"
#include "platform/study/fit.h"

namespace warpline::study {

/// What a fit has come to, as tables for people.
[[nodiscard]] std::string fit_text(const FitPlan& plan, const FitOutcome& outcome);

/// The values that were found as a GPU file, each with the rows that it was found from. `base`: the preset
/// that they belong to; empty: none, and the keys are to be put into a file. `changed`: keys whose values are
/// not that preset's, and were not searched. What the rows do not tell is a comment. Pre: the fit has ended.
[[nodiscard]] std::string fit_toml(const FitPlan& plan, const FitOutcome& outcome, const std::string& base,
                                   const std::vector<ConfigEntry>& changed);

/// All of it for programs. `gpu` as the user called it.
[[nodiscard]] std::string fit_json(const std::string& gpu, const FitPlan& plan, const FitOutcome& outcome);

}  // namespace warpline::study
