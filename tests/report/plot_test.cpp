#include "report/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/distributions.h"
#include "not_finite.h"
#include "report/markup.h"
#include "report/plot_layout.h"
#include "report/well_formed.h"

namespace sotto::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using testing::infinity;
using testing::nan;

PlotSeries series(SeriesStyle style, std::vector<double> x, std::vector<double> y, std::string label = "") {
  PlotSeries result;
  result.label = std::move(label);
  result.style = style;
  result.x = std::move(x);
  result.y = std::move(y);
  return result;
}

TEST(Plot, HasTitleAxesLegendSeriesAndReferences) {
  Plot plot;
  plot.title = "AUC by round";
  plot.x_label = "round";
  plot.y_label = "AUC";
  plot.series = {series(SeriesStyle::line, {0, 1, 2}, {0.5, 0.6, 0.65}, "federated"),
                 series(SeriesStyle::line_and_points, {0, 1, 2}, {0.5, 0.62, 0.66}, "central")};
  plot.references = {{0.7, "best possible"}};
  const std::string svg = to_svg(plot);
  EXPECT_EQ(markup_problem(svg), "");
  for (const char* text :
       {">AUC by round<", ">round<", ">AUC<", ">federated<", ">central<", ">best possible<", ">0.70<"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_EQ(occurrences(svg, "<path d=\"M"), 2U);  // one line each
  EXPECT_EQ(occurrences(svg, "width=\"7.0\" height=\"7.0\""),
            4U);  // three square points and one in the legend
  EXPECT_THAT(svg, Not(HasSubstr("no data")));
}

TEST(Plot, EscapesEveryText) {
  const std::string evil = "</text><script>\"&'";
  Plot plot;
  plot.title = plot.x_label = plot.y_label = evil;
  plot.series = {series(SeriesStyle::bars, {0}, {1}, evil)};
  plot.references = {{1, evil}};
  plot.categories = {evil};
  const std::string svg = to_svg(plot);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_EQ(markup_problem(svg), "");
}

TEST(Plot, GapsBreakTheLineAndLonePointsGetAMarker) {
  Plot plot;
  plot.series = {series(SeriesStyle::line, {0, 1, 2, 3, 4, 5}, {1, 2, nan, 4, infinity, 5})};
  const std::string svg = to_svg(plot);
  const std::size_t begin = svg.find("<path d=\"") + 9;
  const std::string path = svg.substr(begin, svg.find('"', begin) - begin);
  EXPECT_EQ(occurrences(path, "M"), 3U);
  EXPECT_EQ(occurrences(path, "L"), 1U);
  EXPECT_EQ(occurrences(svg, "<circle"), 2U);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(Plot, BarsOfSeveralSeriesStandSideBySide) {
  Plot plot;
  plot.categories = {"AUC", "MRR"};
  plot.series = {series(SeriesStyle::bars, {0, 1}, {0.6, 0.3}),
                 series(SeriesStyle::bars, {0, 1}, {0.7, 0.4})};
  const std::string svg = to_svg(plot);
  EXPECT_EQ(occurrences(svg, "<rect"), 4U);
  std::vector<double> left;
  for (std::size_t at = svg.find("<rect x=\""); at != std::string::npos;
       at = svg.find("<rect x=\"", at + 1)) {
    left.push_back(std::stod(svg.substr(at + 9)));
  }
  EXPECT_LT(left[0], left[2]);  // first category: series 0, then 1
  EXPECT_LT(left[2], left[1]);
  EXPECT_LT(left[1], left[3]);
}

TEST(Plot, ErrorBarsReachDownToTheEdgeOfALogarithmicAxis) {
  Plot plot;
  plot.log_y = true;
  plot.series = {series(SeriesStyle::points, {1}, {1})};
  plot.series[0].error = {2};  // lower end would be negative
  const std::string svg = to_svg(plot);
  EXPECT_EQ(occurrences(svg, "stroke-width=\"1.3\""), 3U);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(Plot, WithoutDataSaysSo) {
  EXPECT_THAT(to_svg(Plot()), HasSubstr("no data"));
  Plot plot;
  plot.series = {series(SeriesStyle::line, {}, {}), series(SeriesStyle::bars, {nan}, {nan})};
  plot.log_x = plot.log_y = true;
  EXPECT_THAT(to_svg(plot), HasSubstr("no data"));
}

TEST(Plot, ColoursAndDashesTellManySeriesApart) {
  Plot plot;
  for (int s = 0; s < 10; ++s) plot.series.push_back(series(SeriesStyle::line, {0, 1}, {0.0 + s, 1.0 + s}));
  const std::string svg = to_svg(plot);
  EXPECT_EQ(occurrences(svg, std::string(series_colour(0))), 2U);  // series 0, and 8 with dashes
  EXPECT_EQ(occurrences(svg, "stroke-dasharray=\"6 3\""), 2U);
  EXPECT_NE(series_colour(0), series_colour(1));
}

TEST(Plot, LabelsOfCloseReferencesDoNotOverlap) {
  Plot plot;
  plot.series = {series(SeriesStyle::line, {0, 1}, {0, 1})};
  plot.references = {{0.001, "r1"}, {0.002, "r2"}, {0.0, "r3"}, {0.003, "r4"}};
  const std::string svg = to_svg(plot);
  std::vector<double> heights;
  for (const char* label : {">r4<", ">r2<", ">r1<", ">r3<"}) {
    const std::size_t y = svg.rfind(" y=\"", svg.find(label));
    heights.push_back(std::stod(svg.substr(y + 4)));
  }
  for (std::size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 12.0);
  EXPECT_LE(heights.back(), plot.height);
}

TEST(Plot, AnyNumbersGiveWellFormedSvgWithoutNaN) {
  SeededRandom random(41, Purpose::test);
  const std::vector<double> awkward = {0,      -0.0,     1,         -1,  1e-320, 1e308,
                                       -1e308, infinity, -infinity, nan, 1e-9,   123456789};
  const auto draw = [&] { return awkward[uniform_below(random, awkward.size())]; };
  for (int round = 0; round < 2000; ++round) {
    Plot plot;
    plot.log_x = bernoulli(random, 0.3);
    plot.log_y = bernoulli(random, 0.3);
    plot.width = static_cast<int>(uniform_below(random, 900)) - 100;
    plot.height = static_cast<int>(uniform_below(random, 600)) - 100;
    if (bernoulli(random, 0.3)) plot.y_low = draw();
    if (bernoulli(random, 0.3)) plot.y_high = draw();
    if (bernoulli(random, 0.3)) plot.categories = {"a", "a long category name that will be cut", ""};
    for (std::size_t s = 0; s < uniform_below(random, 4); ++s) {
      PlotSeries one;
      one.style = static_cast<SeriesStyle>(uniform_below(random, 4));
      one.label = bernoulli(random, 0.5) ? "label" : "";
      for (std::size_t i = 0; i < uniform_below(random, 6); ++i) one.x.push_back(draw());
      for (std::size_t i = 0; i < uniform_below(random, 6); ++i) one.y.push_back(draw());
      for (std::size_t i = 0; i < uniform_below(random, 6); ++i) one.error.push_back(draw());
      plot.series.push_back(one);
    }
    if (bernoulli(random, 0.3)) plot.references = {{draw(), "reference"}, {draw(), ""}};
    const std::string svg = to_svg(plot);
    ASSERT_EQ(markup_problem(svg), "");
    ASSERT_EQ(svg.find("nan"), std::string::npos) << svg;
    ASSERT_EQ(svg.find("\"inf"), std::string::npos) << svg;
    ASSERT_EQ(svg.find("-inf"), std::string::npos) << svg;
  }
}

TEST(PlotLayout, ShortensByCharactersNotBytes) {
  EXPECT_EQ(shortened("kort", 5), "kort");
  EXPECT_EQ(shortened("ærlighet", 4), "ærl…");
  EXPECT_EQ(shortened("", 3), "");
}

TEST(PlotLayout, KeepsTheAreaInsideThePicture) {
  Plot plot;
  plot.width = 300;
  plot.height = 200;
  plot.title = plot.x_label = plot.y_label = "label";
  plot.categories = {"a very long category name", "another very long category"};
  plot.series = {series(SeriesStyle::bars, {0, 1}, {1e6, 2e6}, "a series")};
  plot.references = {{1, "a reference line name"}};
  const PlotLayout layout(plot);
  EXPECT_TRUE(layout.slanted_categories);
  EXPECT_LT(layout.left + 40, layout.right);
  EXPECT_LT(layout.top, layout.bottom);
  EXPECT_LE(layout.bottom, layout.height);
  EXPECT_GE(layout.left, 0);
}

TEST(Markup, EscapesAndRepairs) {
  EXPECT_EQ(escape_markup("a<b & \"c\" 'd' >"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39; &gt;");
  EXPECT_EQ(escape_markup("ε ≤ 3\tæ\n"), "ε ≤ 3\tæ\n");
  EXPECT_EQ(escape_markup(std::string_view("\x00\x1B\xFF", 3)), "\uFFFD\uFFFD\uFFFD");
}

}  // namespace
}  // namespace sotto::report
