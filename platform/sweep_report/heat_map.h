#pragma once

#include <string>
#include <vector>

namespace warpline::sweep {

/// A number for each pair of values of two things.
struct HeatMap {
  std::string title, description;
  std::string across, down;                 ///< what the columns and the rows are
  std::vector<std::string> columns, rows;   ///< their labels
  std::string unit;                         ///< of the numbers
  std::vector<std::vector<double>> values;  ///< by row and column; NaN: there is none
};

/// As an SVG element: the shade of a cell goes with the logarithm of its number, which stands in it, too; the
/// least has a frame. It takes its colours from the page's style.
[[nodiscard]] std::string heat_map_svg(const HeatMap& map);

/// A bar that shows by how many times something grows or shrinks, beside others whose most is `most`: for a
/// cell of a table, whose text says the same.
[[nodiscard]] std::string effect_bar(double times, double most);

}  // namespace warpline::sweep
