#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpline::sweep {

/// Warp-cycles of a run by reason, as a bar whose parts are shares of them.
struct StallBar {
  std::string label;
  std::map<std::string, std::uint64_t> stalls;  ///< by the names of reasons
};

/// Bars under each other, with a legend and what they come to behind them, as an SVG element that takes its
/// colours from the page's style. Reasons that are alike have one colour, and are one part: all of shared
/// memory and the first caches, all that arithmetic keeps. `title` and `description` are for those who do not
/// see it.
[[nodiscard]] std::string stall_bars_svg(const std::string& title, const std::string& description,
                                         const std::vector<StallBar>& bars);

}  // namespace warpline::sweep
