#include "platform/report/svg_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

namespace warpline {
namespace svg_plot_test {

using testing::HasSubstr;
using testing::Not;

Plot plot() {
  Plot p;
  p.title = "a < b";
  p.x_label = "bytes";
  p.y_label = "cycles";
  p.x_logarithmic = true;
  p.series = {{"here", {{10, 1}, {1000, 2}, {1e6, 4}}, true}, {"published", {{1000, 3}}, false}};
  return p;
}

std::vector<std::pair<double, double>> marks(const std::string& svg) {
  static const std::regex kMark("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
  std::vector<std::pair<double, double>> out;
  for (std::sregex_iterator i(svg.begin(), svg.end(), kMark), end; i != end; ++i)
    out.emplace_back(std::stod((*i)[1]), std::stod((*i)[2]));
  return out;
}

TEST(SvgPlot, HasAMarkForEachPointInItsPlace) {
  const auto m = marks(svg_of(plot()));
  ASSERT_EQ(m.size(), 4U);
  EXPECT_NEAR((m[1].first - m[0].first) / (m[2].first - m[0].first), 2.0 / 5, 0.01) << "decades are as wide";
  EXPECT_NEAR((m[1].second - m[0].second) / (m[2].second - m[0].second), 1.0 / 3, 0.01);
  EXPECT_LT(m[2].second, m[0].second) << "more is higher up";
  EXPECT_NEAR(m[3].first, m[1].first, 0.11);
}

TEST(SvgPlot, NamesWhatItShowsAsHtmlDoes) {
  const std::string svg = svg_of(plot());
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, HasSubstr("published: 1000, 3"));
  EXPECT_THAT(svg, HasSubstr(">bytes<"));
  EXPECT_EQ(html_text("\"<&>\""), "&quot;&lt;&amp;&gt;&quot;");
}

TEST(SvgPlot, LeavesOutWhatLiesOnNoAxis) {
  Plot p = plot();
  p.series[0].points = {{0, 1}, {-5, 1}, {10, NAN}, {10, INFINITY}, {10, 5}};
  p.series[1].points.clear();
  const std::string svg = svg_of(p);
  EXPECT_EQ(marks(svg).size(), 1U);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  p.series[0].points.clear();
  EXPECT_THAT(svg_of(p), HasSubstr("nothing to show"));
}

}  // namespace svg_plot_test
}  // namespace warpline
