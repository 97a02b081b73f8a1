#pragma once
// Line, scatter and bar plots as SVG text, for reports. Text and axes take the colour of their surroundings
// (currentColor), so that a plot reads well on light and dark pages; series differ in colour, marker and
// dashes, so that it also reads in print and for colour-blind eyes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::report {

enum class SeriesStyle { line, line_and_points, points, bars };

struct PlotSeries {
  std::string label;  // empty: not in the legend
  SeriesStyle style = SeriesStyle::line;
  std::vector<double> x;      // bars: 0, 1, 2... are the categories
  std::vector<double> y;      // values that are not finite leave a gap
  std::vector<double> error;  // half height of the error bars; empty: none
};

// A horizontal line across the plot, named at its right end.
struct ReferenceLine {
  double y = 0;
  std::string label;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<PlotSeries> series;
  std::vector<ReferenceLine> references;
  std::vector<std::string> categories;  // names below x = 0, 1, 2...; empty: a numeric axis
  bool log_x = false, log_y = false;
  std::optional<double> y_low, y_high;  // default: what the data needs; bars start at zero
  int width = 640, height = 380;        // pixels, at least 240 x 160
};

// A complete <svg> element. Any content is accepted: lists of unequal length are cut to the shortest.
std::string to_svg(const Plot& plot);

// The colour of series number `index`, for legends outside the plot.
std::string_view series_colour(std::size_t index);

}  // namespace sotto::report
