#pragma once
// Where everything of a plot goes, before anything is drawn.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/plot.h"

namespace sotto::report {

// The scale of one plot axis: range, ticks at round values, and the way from values to pixels.

// Round values (1, 2 or 5 times a power of ten apart) that cover [low, high] from the inside, about `wanted`
// of them. Requires finite low < high.
std::vector<double> linear_ticks(double low, double high, std::size_t wanted);

// Powers of ten within [low, high]; with fewer than two decades also their multiples by 2 and 5. Requires
// 0 < low < high.
std::vector<double> logarithmic_ticks(double low, double high, std::size_t wanted);

// As many decimals as tell values `step` apart from each other. The unit (k, M, G, T) is chosen by `largest`,
// the largest value on the axis, so that all labels have the same: 5,000 is "5k" beside "20k", "5000" beside
// "8000".
std::string tick_label(double value, double step, double largest);

// An immutable value.
class Axis {
 public:
  struct Options {
    bool logarithmic = false;
    bool include_zero = false;  // linear axes only
    double margin = 0.05;       // share of the range added at both ends
    std::size_t wanted_ticks = 6;
  };

  // Covers all finite values (on a logarithmic axis, all positive ones); without any, 0 to 1 (1 to 10).
  static Axis covering(std::span<const double> values, const Options& options);
  // Exactly this range; falls back to covering() when it is empty or impossible.
  static Axis between(double low, double high, const Options& options);

  double low() const { return low_; }
  double high() const { return high_; }
  const std::vector<double>& ticks() const { return ticks_; }
  std::string label(double tick) const;

  bool shows(double value) const;       // finite, and positive on a logarithmic axis
  double position(double value) const;  // 0 at low, 1 at high; clamped to [0, 1]

 private:
  Axis(double low, double high, const Options& options);
  double low_, high_;
  bool logarithmic_;
  std::vector<double> ticks_;
};

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

}  // namespace sotto::report
