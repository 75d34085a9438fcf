#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace warpline::ptx {

/// Judges the rows `version<TAB>target<TAB>instruction[<TAB>context]` of `text`, each inside the same
/// declarations: one line "accept" or "reject<TAB>reason" per row, in order; nothing for blank rows and
/// those that begin with '#'. `progress` hears the share done and the rows judged, now and then.
using TableProgress = std::function<void(double done, std::uint64_t rows)>;
[[nodiscard]] std::string judge_table(std::string_view text, const TableProgress& progress);

}  // namespace warpline::ptx
