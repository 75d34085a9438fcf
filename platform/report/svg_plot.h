#pragma once

#include <string>
#include <utility>
#include <vector>

namespace warpline {

/// Points of a plot that belong together.
struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x, y
  bool line = true;                               ///< joined; otherwise marks alone
  bool faint = false;                             ///< many marks: small, and seen through
  bool marked = true;                             ///< of a line: whether its points have marks
  std::vector<std::string> notes = {};  ///< of each point, what its tooltip says instead of its name
};

/// A plot of numbers over a number.
struct Plot {
  std::string title;
  std::string x_label, y_label;  ///< with their units
  bool x_logarithmic = false, y_logarithmic = false;
  std::vector<PlotSeries> series;
  std::string description;      ///< for those who do not see it; empty: the title says it
  std::vector<double> x_ticks;  ///< where the x axis has numbers; empty: at round ones
  bool is_titled = true;        ///< whether the title is drawn, too
};

/// The plot as an SVG element for a page of HTML, without any script: axes with round numbers, a legend, the
/// value of each mark as its tooltip; series differ by colour, by the shape of their marks and by dashes. It
/// takes its colours from the page's style (plot_style()). Points that cannot lie on an axis (not finite, or
/// not positive on a logarithmic one) are left out.
[[nodiscard]] std::string svg_of(const Plot& plot);

/// The style sheet that plots want, light and dark.
[[nodiscard]] std::string plot_style();

/// Text as HTML shows it: with &lt; for <, and so on.
[[nodiscard]] std::string html_text(const std::string& text);

}  // namespace warpline
