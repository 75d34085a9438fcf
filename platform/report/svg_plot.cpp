#include "platform/report/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpline {
namespace {

constexpr double kWidth = 640, kHeight = 360, kLeft = 76, kRight = 16, kTop = 48, kBottom = 46;
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
      const bool wide = high_ - low_ > 2.5;
      for (int e = static_cast<int>(std::floor(low_)); e <= std::ceil(high_); ++e)
        for (const double m : {1.0, 2.0, 5.0})
          if (const double v = m * std::pow(10, e);
              (m == 1 || !wide) && std::log10(v) >= low_ && std::log10(v) <= high_)
            out.push_back(v);
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
  std::string out = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\"><title>{}</title>\n"
      "<text class=\"title\" x=\"{}\" y=\"18\">{}</text>\n",
      kWidth, kHeight, html_text(plot.title), kLeft, html_text(plot.title));
  if (!(x_low <= x_high))
    return out + fmt::format("<text x=\"{}\" y=\"{}\">nothing to show</text>\n</svg>\n", kLeft, kHeight / 2);
  const Axis x(x_low, x_high, plot.x_logarithmic, kLeft, kWidth - kRight);
  const Axis y(y_low, y_high, plot.y_logarithmic, kHeight - kBottom, kTop);
  for (const double v : x.ticks())
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text class=\"x\" x=\"{0:.1f}\" y=\"{3}\">{4}</text>\n",
        x.at(v), kTop, kHeight - kBottom, kHeight - kBottom + 16, short_number(v));
  for (const double v : y.ticks())
    out += fmt::format(
        "<path class=\"grid\" d=\"M{1} {0:.1f}H{2}\"/><text class=\"y\" x=\"{3}\" y=\"{4:.1f}\">{5}</text>\n",
        y.at(v), kLeft, kWidth - kRight, kLeft - 6, y.at(v) + 4, short_number(v));
  out += fmt::format("<text class=\"x\" x=\"{}\" y=\"{}\">{}</text>\n", (kLeft + kWidth - kRight) / 2,
                     kHeight - 12, html_text(plot.x_label));
  out += fmt::format("<text class=\"x\" transform=\"translate(14 {}) rotate(-90)\">{}</text>\n",
                     (kTop + kHeight - kBottom) / 2, html_text(plot.y_label));
  double legend = kLeft;
  for (std::size_t n = 0; n < plot.series.size(); ++n) {
    const PlotSeries& s = plot.series[n];
    const std::size_t colour = n % kColours;
    std::string path, marks;
    for (const auto& p : s.points) {
      if (!lies(p)) continue;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(p.first), y.at(p.second));
      marks += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}: {}, {}</title></circle>\n", x.at(p.first),
          y.at(p.second), s.line ? 2.5 : 4, html_text(s.name), short_number(p.first), short_number(p.second));
    }
    out += fmt::format("<g class=\"c{}{}\">", colour, s.line ? "" : " marks");
    if (s.line) out += "<path class=\"line\" d=\"" + path + "\"/>";
    out += marks + fmt::format("<text class=\"legend\" x=\"{:.1f}\" y=\"{}\">{} {}</text></g>\n", legend,
                               kTop - 12, s.line ? "\u2014" : "\u25cb", html_text(s.name));
    legend += 24 + 7.0 * static_cast<double>(s.name.size());
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
svg.plot .line { fill: none; stroke-width: 1.8; }
)css"
         "svg.plot .c0 { fill: var(--c0); stroke: var(--c0); } svg.plot .c1 { fill: var(--c1); stroke: "
         "var(--c1); }\n"
         "svg.plot .c2 { fill: var(--c2); stroke: var(--c2); } svg.plot .c3 { fill: var(--c3); stroke: "
         "var(--c3); }\n"
         "svg.plot .c4 { fill: var(--c4); stroke: var(--c4); } svg.plot .c5 { fill: var(--c5); stroke: "
         "var(--c5); }\n"
         "svg.plot .marks circle { fill: var(--paper); stroke-width: 1.6; } svg.plot text { stroke: none; "
         "}\n";
}

}  // namespace warpline
