#include "platform/sweep_report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/sweep_report/html.h"

namespace warpline::sweep {
namespace {

constexpr double kCellHeight = 30, kTop = 26, kLabelLetter = 6.7, kMapWidth = 560;
constexpr unsigned kShades = 9;
/// Bars of effects: so long is the longest.
constexpr double kBar = 150;

/// 12,345 as "12.3k": what fits into a cell.
std::string brief(double v) {
  if (std::abs(v) >= 1e9) return fmt::format("{:.3g}G", v / 1e9);
  if (std::abs(v) >= 1e6) return fmt::format("{:.3g}M", v / 1e6);
  if (std::abs(v) >= 1e4) return fmt::format("{:.3g}k", v / 1e3);
  return number_text(v);
}

std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t most = 0;
  for (const std::string& t : texts) most = std::max(most, t.size());
  return most;
}

}  // namespace

std::string heat_map_svg(const HeatMap& map) {
  double low = INFINITY, high = 0, least = INFINITY;  // shades are those of what is above 0
  for (const auto& row : map.values)
    for (const double v : row) {
      if (!std::isnan(v)) least = std::min(least, v);
      if (v > 0) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
    }
  const double left = std::max(40.0, 16 + kLabelLetter * static_cast<double>(longest(map.rows)));
  const double cell = std::min(
      110.0, (kMapWidth - left - 4) / static_cast<double>(std::max<std::size_t>(map.columns.size(), 1)));
  const double bottom = kTop + kCellHeight * static_cast<double>(map.rows.size());
  const bool slanted = kLabelLetter * static_cast<double>(longest(map.columns)) > cell - 4;
  const double labels = slanted ? 14 + 0.75 * kLabelLetter * static_cast<double>(longest(map.columns)) : 18;
  const double legend = bottom + labels + 34;
  std::string out = fmt::format(
      "<svg class=\"plot heat\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "role=\"img\"><title>{}</title><desc>{}</desc>\n",
      kMapWidth, legend + 30, escaped(map.title), escaped(map.description));
  const double range = high > low ? std::log(high / low) : 0;
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = kTop + kCellHeight * static_cast<double>(r);
    out += fmt::format("<text class=\"y\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left - 8, y + 19,
                       escaped(map.rows[r]));
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const double v = map.values[r][c], x = left + cell * static_cast<double>(c);
      const bool known = !std::isnan(v);
      const auto shade = range > 0 && v > 0
                             ? static_cast<unsigned>(std::lround((kShades - 1) * std::log(v / low) / range))
                             : 0U;
      const std::string note = fmt::format("{} = {}, {} = {}: {}", map.across, map.columns[c], map.down,
                                           map.rows[r], known ? number_text(v) + " " + map.unit : "no run");
      out += fmt::format(
          "<g><title>{}</title><rect class=\"{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{:.1f}\"/>",
          escaped(note), known ? fmt::format("h{}", shade) : "none", known && v == least ? " least" : "",
          x + 1, y + 1, cell - 2, kCellHeight - 2);
      if (known && cell >= 40)
        out += fmt::format("<text class=\"x {}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                           shade >= 5 ? "deep" : "pale", x + cell / 2, y + 19, brief(v));
      out += "</g>\n";
    }
  }
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    const double x = left + cell * (static_cast<double>(c) + 0.5);
    if (slanted) {
      out += fmt::format("<text class=\"y\" transform=\"translate({:.1f} {:.1f}) rotate(-45)\">{}</text>\n",
                         x + 4, bottom + 14, escaped(map.columns[c]));
    } else {
      out += fmt::format("<text class=\"x\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, bottom + 16,
                         escaped(map.columns[c]));
    }
  }
  const double middle = left + cell * static_cast<double>(map.columns.size()) / 2;
  out += fmt::format("<text class=\"x axis\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", middle,
                     bottom + labels + 16, escaped(map.across));
  out += fmt::format("<text class=\"axis\" x=\"0\" y=\"14\">{}</text>\n", escaped(map.down));
  // What the shades are.
  for (unsigned s = 0; s < kShades && range > 0; ++s)
    out += fmt::format("<rect class=\"h{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"18\" height=\"10\"/>", s,
                       left + 18.0 * s, legend);
  if (range > 0)
    out += fmt::format(
        "<text class=\"legend\" x=\"{:.1f}\" y=\"{:.1f}\">{} to {} {}; framed: the least</text>\n",
        left + 18.0 * kShades + 8, legend + 9, brief(least), brief(high), escaped(map.unit));
  return out + "</svg>\n";
}

std::string effect_bar(double times, double most) {
  const double whole = std::log(std::max(most, 1.05)),
               length = kBar * std::min(1.0, std::log(std::max(times, 1.0)) / whole);
  return fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 {0} 12\" width=\"{0}\" height=\"12\" aria-hidden=\"true\"><rect "
      "class=\"track\" "
      "width=\"{0}\" height=\"12\" rx=\"2\"/><rect class=\"fill\" width=\"{1:.1f}\" height=\"12\" "
      "rx=\"2\"/></svg>",
      kBar, length);
}

}  // namespace warpline::sweep
