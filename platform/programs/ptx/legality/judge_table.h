#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace warpline::ptx {

/// Judges the rows `version<TAB>target<TAB>instruction[<TAB>context]` of `text`, each inside the same
/// declarations: one line "accept" or "reject<TAB>reason" per row, in order; nothing for blank rows and
/// those that begin with '#'. `progress` hears the share done, now and then.
[[nodiscard]] std::string judge_table(std::string_view text, const std::function<void(double)>& progress);

}  // namespace warpline::ptx
