#pragma once
// Where everything of a plot goes, before anything is drawn.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "eval/axis.h"
#include "eval/plot.h"

namespace sotto {

constexpr double plot_font_size = 12;

// Good enough for laying out labels in any sans-serif font.
double plot_text_width(std::string_view text);

// At most `limit` characters, the last of them "…" when something was cut.
std::string shortened(std::string_view text, std::size_t limit);

constexpr std::size_t longest_reference_label = 24, longest_category = 24, longest_legend_label = 40;

// Points with both coordinates.
std::size_t point_count(const PlotSeries& series);

// A value computed from a plot; independent of it afterwards.
struct PlotLayout {
  struct LegendEntry {
    std::size_t series;
    double x, y;  // left end and middle of the mark
  };

  explicit PlotLayout(const Plot& plot);

  double px(double x_value) const { return left + x.position(x_value) * (right - left); }
  double py(double y_value) const { return bottom - y.position(y_value) * (bottom - top); }

  double width, height;
  Axis x, y;
  double left, top, right, bottom;  // of the area inside the axes
  std::vector<LegendEntry> legend;
  bool slanted_categories = false;
};

}  // namespace sotto
