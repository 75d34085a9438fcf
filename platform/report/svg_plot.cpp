#include "platform/report/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpline {
namespace {

constexpr double kWidth = 640, kHeight = 360, kLeft = 76, kRight = 16, kBottom = 46;
constexpr double kTitleHeight = 28, kLegendHeight = 18, kLetter = 6.6;
constexpr unsigned kColours = 6;

std::string short_number(double v) {
  const double size = std::abs(v);
  if (size >= 1e9) return fmt::format("{:.4g}G", v / 1e9);
  if (size >= 1e6) return fmt::format("{:.4g}M", v / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g}k", v / 1e3);
  return fmt::format("{:.4g}", v);
}

/// One direction of a plot: which numbers lie where.
class Axis {
 public:
  Axis(double low, double high, bool logarithmic, double from, double to)
      : logarithmic_(logarithmic), from_(from), to_(to) {
    if (logarithmic_) {
      low = std::log10(low);
      high = std::log10(high);
    } else if (low > 0 && low < high / 2) {
      low = 0;
    }
    const double margin = high > low ? (high - low) * 0.04 : std::max(std::abs(high) * 0.1, 0.1);
    low_ = logarithmic_ || low != 0 ? low - margin : low;
    high_ = high + margin;
  }
  [[nodiscard]] double at(double v) const {
    return from_ + ((logarithmic_ ? std::log10(v) : v) - low_) / (high_ - low_) * (to_ - from_);
  }
  /// Round numbers along it, four to ten.
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> out;
    if (logarithmic_) {
      const double decades = high_ - low_;
      for (int e = static_cast<int>(std::floor(low_)); e <= std::ceil(high_); ++e)
        for (const double m : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}) {
          const bool fine = m == 1 || (decades <= 2.5 && (m == 2 || m == 5)) || decades < 0.9;
          if (const double v = m * std::pow(10, e); fine && std::log10(v) >= low_ && std::log10(v) <= high_)
            out.push_back(v);
        }
      return out;
    }
    const double raw = (high_ - low_) / 6, power = std::pow(10, std::floor(std::log10(raw)));
    const double unit = raw / power, step = (unit < 1.5 ? 1 : unit < 3.5 ? 2 : unit < 7.5 ? 5 : 10) * power;
    for (double n = std::ceil(low_ / step); n * step <= high_; ++n) out.push_back(n * step);
    return out;
  }

 private:
  bool logarithmic_;
  double from_, to_, low_ = 0, high_ = 1;
};

/// The mark of a series, in the middle of nothing.
std::string mark_shape(std::size_t series, double size) {
  switch (series % 4) {
    case 1: return fmt::format("M{0:.1f} {0:.1f}H{1:.1f}V{1:.1f}H{0:.1f}Z", -0.9 * size, 0.9 * size);
    case 2:
      return fmt::format("M0 {:.1f}L{:.1f} {:.1f}H{:.1f}Z", -1.2 * size, 1.1 * size, 0.8 * size, -1.1 * size);
    case 3: return fmt::format("M0 {0:.1f}L{1:.1f} 0L0 {1:.1f}L{0:.1f} 0Z", -1.3 * size, 1.3 * size);
    default: return {};
  }
}

std::string mark_at(std::size_t series, double x, double y, double size, const std::string& tooltip) {
  const std::string title = tooltip.empty() ? "" : "<title>" + html_text(tooltip) + "</title>";
  const std::string shape = mark_shape(series, size);
  if (shape.empty())
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\">{}</circle>", x, y, size, title);
  return fmt::format("<path class=\"mark\" transform=\"translate({:.1f} {:.1f})\" d=\"{}\">{}</path>", x, y,
                     shape, title);
}

/// Where the entries of a legend lie: as many to a line as fit.
class Legend {
 public:
  explicit Legend(const Plot& plot) {
    double x = kLeft;
    for (const PlotSeries& s : plot.series) {
      const double width = 34 + kLetter * static_cast<double>(s.name.size());
      if (x > kLeft && x + width > kWidth - kRight) {
        x = kLeft;
        ++lines_;
      }
      places_.emplace_back(x, lines_);
      x += width;
    }
  }
  [[nodiscard]] unsigned lines() const { return lines_ + 1; }
  [[nodiscard]] double x(std::size_t n) const { return places_[n].first; }
  [[nodiscard]] double y(std::size_t n) const { return places_[n].second * kLegendHeight; }

 private:
  unsigned lines_ = 0;
  std::vector<std::pair<double, unsigned>> places_;
};

}  // namespace

std::string html_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string svg_of(const Plot& plot) {
  const auto lies = [&](const std::pair<double, double>& p) {
    return std::isfinite(p.first) && std::isfinite(p.second) && (!plot.x_logarithmic || p.first > 0) &&
           (!plot.y_logarithmic || p.second > 0);
  };
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  for (const PlotSeries& s : plot.series)
    for (const auto& p : s.points) {
      if (!lies(p)) continue;
      x_low = std::min(x_low, p.first);
      x_high = std::max(x_high, p.first);
      y_low = std::min(y_low, p.second);
      y_high = std::max(y_high, p.second);
    }
  const std::string description =
      plot.description.empty() ? "" : "<desc>" + html_text(plot.description) + "</desc>";
  const Legend legend(plot);
  const double top = (plot.is_titled ? kTitleHeight : 6) + legend.lines() * kLegendHeight + 4;
  const double height = kHeight + top - kTitleHeight - kLegendHeight;
  std::string out =
      fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\"><title>{}</title>{}\n", kWidth,
                  height, html_text(plot.title), description);
  if (plot.is_titled)
    out += fmt::format("<text class=\"title\" x=\"{}\" y=\"18\">{}</text>\n", kLeft, html_text(plot.title));
  if (!(x_low <= x_high))
    return out + fmt::format("<text x=\"{}\" y=\"{}\">nothing to show</text>\n</svg>\n", kLeft, height / 2);
  const Axis x(x_low, x_high, plot.x_logarithmic, kLeft, kWidth - kRight);
  const Axis y(y_low, y_high, plot.y_logarithmic, height - kBottom, top);
  for (const double v : plot.x_ticks.empty() ? x.ticks() : plot.x_ticks)
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text class=\"x\" x=\"{0:.1f}\" y=\"{3}\">{4}</text>\n",
        x.at(v), top, height - kBottom, height - kBottom + 16, short_number(v));
  for (const double v : y.ticks())
    out += fmt::format(
        "<path class=\"grid\" d=\"M{1} {0:.1f}H{2}\"/><text class=\"y\" x=\"{3}\" y=\"{4:.1f}\">{5}</text>\n",
        y.at(v), kLeft, kWidth - kRight, kLeft - 6, y.at(v) + 4, short_number(v));
  out += fmt::format("<text class=\"x\" x=\"{}\" y=\"{}\">{}</text>\n", (kLeft + kWidth - kRight) / 2,
                     height - 12, html_text(plot.x_label));
  out += fmt::format("<text class=\"x\" transform=\"translate(14 {}) rotate(-90)\">{}</text>\n",
                     (top + height - kBottom) / 2, html_text(plot.y_label));
  for (std::size_t n = 0; n < plot.series.size(); ++n) {
    const PlotSeries& s = plot.series[n];
    std::string path, marks;
    const double size = s.faint ? 2 : s.line ? 3 : 4;
    for (std::size_t k = 0; k < s.points.size(); ++k) {
      const auto& p = s.points[k];
      if (!lies(p)) continue;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(p.first), y.at(p.second));
      if (!s.marked) continue;
      marks += mark_at(n, x.at(p.first), y.at(p.second), size,
                       k < s.notes.size() ? s.notes[k]
                                          : fmt::format("{}: {}, {}", s.name, short_number(p.first),
                                                        short_number(p.second))) +
               "\n";
    }
    out += fmt::format("<g class=\"c{}{}\">", n % kColours,
                       s.faint  ? " marks faint"
                       : s.line ? ""
                                : " marks");
    if (s.line) out += fmt::format("<path class=\"line d{}\" d=\"{}\"/>", n % 4, path);
    const double at = (plot.is_titled ? kTitleHeight : 6) + legend.y(n) + 8;
    if (s.line)
      out += fmt::format("<path class=\"line d{}\" d=\"M{:.1f} {:.1f}h18\"/>", n % 4, legend.x(n), at);
    out += marks + (s.marked ? mark_at(n, legend.x(n) + 9, at, size, "") : std::string{}) +
           fmt::format("<text class=\"legend\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n", legend.x(n) + 23,
                       at + 4, html_text(s.name));
  }
  return out + "</svg>\n";
}

std::string plot_style() {
  return R"css(:root { --ink: #1a1a1a; --paper: #ffffff; --faint: #d8d8d8; --c0: #0b62a4; --c1: #b5420a; --c2: #2b7a2b;
  --c3: #7a3ba8; --c4: #8a6d00; --c5: #a3195b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #16181a; --faint: #3a3d40; --c0: #62b0e8;
  --c1: #f0935a; --c2: #7ecb7e; --c3: #c79af0; --c4: #e0c050; --c5: #f08ab8; } }
svg.plot { width: 100%; max-width: 640px; height: auto; font: 12px sans-serif; fill: var(--ink); }
svg.plot .title { font-weight: bold; font-size: 13px; } svg.plot .x { text-anchor: middle; }
svg.plot .y { text-anchor: end; } svg.plot .grid { stroke: var(--faint); fill: none; }
svg.plot .line { fill: none; stroke-width: 1.8; } svg.plot .d1 { stroke-dasharray: 7 3; }
svg.plot .d2 { stroke-dasharray: 2 3; } svg.plot .d3 { stroke-dasharray: 9 3 2 3; }
)css"
         "svg.plot .c0 { fill: var(--c0); stroke: var(--c0); } svg.plot .c1 { fill: var(--c1); stroke: "
         "var(--c1); }\n"
         "svg.plot .c2 { fill: var(--c2); stroke: var(--c2); } svg.plot .c3 { fill: var(--c3); stroke: "
         "var(--c3); }\n"
         "svg.plot .c4 { fill: var(--c4); stroke: var(--c4); } svg.plot .c5 { fill: var(--c5); stroke: "
         "var(--c5); }\n"
         "svg.plot .faint circle { stroke-width: 1; opacity: 0.6; } svg.plot .marks circle, svg.plot .marks "
         ".mark { fill: var(--paper); stroke-width: 1.6; } svg.plot text { stroke: none; "
         "}\n";
}

}  // namespace warpline
