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

/// Marks are what has a tooltip; those of the legend have none.
std::vector<std::pair<double, double>> marks(const std::string& svg) {
  static const std::regex kMark(
      "(?:<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"|<path class=\"mark\" transform=\"translate.([0-9.]+) "
      "([0-9.]+).\")[^>]*><title>");
  std::vector<std::pair<double, double>> out;
  for (std::sregex_iterator i(svg.begin(), svg.end(), kMark), end; i != end; ++i) {
    const bool round = (*i)[1].matched;
    out.emplace_back(std::stod((*i)[round ? 1 : 3]), std::stod((*i)[round ? 2 : 4]));
  }
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

TEST(SvgPlot, TellsMoreWhereItIsAsked) {
  Plot p = plot();
  p.description = "goes up & down";
  p.x_ticks = {10, 1000};
  p.series[1].notes = {"a note of its own"};
  p.is_titled = false;
  const std::string svg = svg_of(p);
  EXPECT_THAT(svg, HasSubstr("<desc>goes up &amp; down</desc>"));
  EXPECT_THAT(svg, HasSubstr("a note of its own"));
  EXPECT_THAT(svg, Not(HasSubstr("published: 1000")));
  EXPECT_THAT(svg, HasSubstr("<title>a &lt; b</title>"))
      << "whoever does not see it hears its title all the same";
  EXPECT_THAT(svg, Not(HasSubstr("class=\"title\"")));
  EXPECT_THAT(svg, Not(HasSubstr(">100<"))) << "numbers stand where they are asked for";
}

TEST(SvgPlot, ALegendThatIsTooLongHasSeveralLines) {
  Plot p = plot();
  const auto height = [&p] {
    const std::string svg = svg_of(p);
    return std::stod(svg.substr(svg.find("viewBox=\"0 0 640 ") + 17));
  };
  const double one_line = height();
  for (unsigned n = 0; n < 6; ++n) p.series.push_back({"a series with quite a long name", {{10, 1}}, true});
  EXPECT_GT(height(), one_line);
}

}  // namespace svg_plot_test
}  // namespace warpline
