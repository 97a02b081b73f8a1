#include "eval/plot_layout.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace sotto {

namespace {

constexpr double legend_line = 17;

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t position = 0; position < text.size(); ++count) decode_utf8(text, position);
  return count;
}

Axis x_axis(const Plot& plot) {
  if (!plot.categories.empty())
    return Axis::between(-0.5, static_cast<double>(plot.categories.size()) - 0.5, {});
  std::vector<double> values;
  bool bars = false;
  for (const PlotSeries& series : plot.series) {
    const bool is_bars = series.style == SeriesStyle::bars && !plot.log_x;
    bars = bars || is_bars;
    for (std::size_t i = 0; i < point_count(series); ++i) {
      const double room = is_bars ? 0.5 : 0.0;  // half a bar
      values.push_back(series.x[i] - room);
      values.push_back(series.x[i] + room);
    }
  }
  return Axis::covering(values, {.logarithmic = plot.log_x, .margin = bars ? 0.0 : 0.02, .wanted_ticks = 7});
}

Axis y_axis(const Plot& plot) {
  std::vector<double> values;
  bool bars = false;
  for (const PlotSeries& series : plot.series) {
    bars = bars || series.style == SeriesStyle::bars;
    for (std::size_t i = 0; i < point_count(series); ++i) {
      const double error = i < series.error.size() && std::isfinite(series.error[i]) ? series.error[i] : 0;
      // All three: on a logarithmic axis the lower end may be below zero, where covering() ignores it.
      values.insert(values.end(), {series.y[i] - error, series.y[i], series.y[i] + error});
    }
  }
  for (const ReferenceLine& reference : plot.references) values.push_back(reference.y);
  const Axis::Options options{.logarithmic = plot.log_y, .include_zero = bars && !plot.log_y};
  Axis fitted = Axis::covering(values, options);
  if (!plot.y_low && !plot.y_high) return fitted;
  return Axis::between(plot.y_low.value_or(fitted.low()), plot.y_high.value_or(fitted.high()), options);
}

// Rows of "mark label" below the title.
std::vector<PlotLayout::LegendEntry> place_legend(const Plot& plot, double left, double right, double top) {
  std::vector<PlotLayout::LegendEntry> legend;
  double x = left, y = top;
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    if (plot.series[s].label.empty()) continue;
    const double entry_width = 44 + plot_text_width(shortened(plot.series[s].label, longest_legend_label));
    if (!legend.empty() && x + entry_width > right) {
      x = left;
      y += legend_line;
    }
    legend.push_back({s, x, y});
    x += entry_width;
  }
  return legend;
}

}  // namespace

double plot_text_width(std::string_view text) {
  return 0.6 * plot_font_size * static_cast<double>(character_count(text));
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (character_count(text) <= limit) return std::string(text);
  std::size_t position = 0;
  for (std::size_t i = 0; i + 1 < limit; ++i) decode_utf8(text, position);
  return std::string(text.substr(0, position)) + "…";
}

std::size_t point_count(const PlotSeries& series) { return std::min(series.x.size(), series.y.size()); }

PlotLayout::PlotLayout(const Plot& plot)
    : width(std::max(plot.width, 240)), height(std::max(plot.height, 160)), x(x_axis(plot)), y(y_axis(plot)) {
  double widest_tick = 0, widest_reference = 0, widest_category = 0;
  for (const double tick : y.ticks()) widest_tick = std::max(widest_tick, plot_text_width(y.label(tick)));
  for (const ReferenceLine& reference : plot.references) {
    widest_reference =
        std::max(widest_reference, plot_text_width(shortened(reference.label, longest_reference_label)));
  }
  for (const std::string& name : plot.categories) {
    widest_category = std::max(widest_category, plot_text_width(shortened(name, longest_category)));
  }
  left = 14 + widest_tick + (plot.y_label.empty() ? 0 : 20);
  right = width - (widest_reference > 0 ? widest_reference + 12 : 16);

  double below_axis = legend_line;
  if (!plot.categories.empty()) {
    const auto slot = [&] { return (right - left) / static_cast<double>(plot.categories.size()); };
    slanted_categories = widest_category > slot() - 6;
    if (slanted_categories) {  // by 30 degrees, ending below the middle of the slot
      const double first = plot_text_width(shortened(plot.categories.front(), longest_category));
      left = std::max(left, std::min(0.87 * first - slot() / 2 + 8, 0.3 * width));
      below_axis = 14 + 0.5 * widest_category;
    }
  }

  const double title_room = plot.title.empty() ? 12 : 32;
  legend = place_legend(plot, left, width - 8, title_room + 4);
  top = title_room + (legend.empty() ? 0 : legend.back().y - legend.front().y + legend_line + 4);
  bottom = std::max(height - 10 - below_axis - (plot.x_label.empty() ? 0 : 20), top + 40);
}

}  // namespace sotto
