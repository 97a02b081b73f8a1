#include "report/plot_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/utf8.h"

namespace sotto::report {

namespace {

// Values beyond these are left out, and margins end at the outer ones: nothing computed from them overflows.
constexpr double max_value = 1e290, min_value = 1e-290, outermost = 1e305, innermost = 1e-305;

double nice_step(double range, std::size_t wanted) {
  const double rough = range / static_cast<double>(std::max<std::size_t>(wanted, 1));
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double multiple = rough / power;
  return power * (multiple < 1.5 ? 1 : multiple < 3.5 ? 2 : multiple < 7.5 ? 5 : 10);
}

}  // namespace

std::vector<double> linear_ticks(double low, double high, std::size_t wanted) {
  const double step = nice_step(high - low, wanted);
  const double tolerance = 1e-9 * step;
  std::vector<double> ticks;
  // Whole multiples of the step, so that zero is zero and no rounding error piles up.
  const double first = std::ceil((low - tolerance) / step);
  for (double i = 0; ticks.size() <= 10 * (wanted + 1); ++i) {
    const double tick = (first + i) * step;
    if (!(tick <= high + tolerance)) break;
    ticks.push_back(tick == 0 ? 0.0 : tick);
  }
  return ticks;
}

std::vector<double> logarithmic_ticks(double low, double high, std::size_t wanted) {
  const auto first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const auto last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  const bool dense = std::log10(high) - std::log10(low) < 2;
  const auto most = static_cast<int>(std::clamp<std::size_t>(wanted, 1, 100));
  const int stride = std::max(1, (last - first + most - 1) / most);
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; exponent += stride) {
    for (const double multiple : {1.0, 2.0, 5.0}) {
      if (multiple != 1.0 && !dense) continue;
      const double tick = multiple * std::pow(10.0, exponent);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
    }
  }
  return ticks;
}

std::string tick_label(double value, double step, double largest) {
  if (value == 0) return "0";
  largest = std::max(std::abs(largest), std::abs(value));
  step = std::abs(step);
  if (largest >= 1e15 || largest < 1e-4) return fmt::format("{:.3g}", value);
  struct Unit {
    double size, from;  // "k" only from 10,000 on
    const char* suffix;
  };
  static constexpr Unit units[] = {
      {1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e3, 1e4, "k"}, {1, 0, ""}};
  for (const Unit& unit : units) {
    if (largest < unit.from || (unit.size > 1 && step < unit.size / 100)) continue;
    double scaled_step = step / unit.size;
    int decimals = 0;
    for (; decimals < 12 && std::abs(scaled_step - std::round(scaled_step)) > 1e-6; ++decimals)
      scaled_step *= 10;
    return fmt::format("{:.{}f}{}", value / unit.size, decimals, unit.suffix);
  }
  return fmt::format("{:g}", value);
}

Axis::Axis(double low, double high, const Options& options)
    : low_(low),
      high_(high),
      logarithmic_(options.logarithmic),
      ticks_(options.logarithmic ? logarithmic_ticks(low, high, options.wanted_ticks)
                                 : linear_ticks(low, high, options.wanted_ticks)) {}

Axis Axis::covering(std::span<const double> values, const Options& options) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    const bool usable =
        options.logarithmic ? value >= min_value && value <= max_value : std::abs(value) <= max_value;
    if (!usable) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (options.logarithmic) {
    if (!(low <= high)) return Axis(1, 10, options);
    if (high < 1.000001 * low) return Axis(low / 2, high * 2, options);
    const double factor = std::pow(10.0, options.margin * (std::log10(high) - std::log10(low)));
    return Axis(std::max(low / factor, innermost), std::min(high * factor, outermost), options);
  }
  if (!(low <= high)) return Axis(0, 1, options);
  if (options.include_zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low <= 1e-9 * size || high == low) {  // one value: some room around it
    const double room = size > 0 ? 0.1 * size : 0.5;
    return Axis(low - room, high + room, options);
  }
  const double room = options.margin * (high - low);
  const bool floor_at_zero = options.include_zero && low == 0,
             ceiling_at_zero = options.include_zero && high == 0;
  return Axis(floor_at_zero ? 0 : low - room, ceiling_at_zero ? 0 : high + room, options);
}

Axis Axis::between(double low, double high, const Options& options) {
  const bool possible = std::abs(low) <= max_value && std::abs(high) <= max_value && low < high &&
                        high - low > 1e-9 * std::max(std::abs(low), std::abs(high)) &&
                        (!options.logarithmic || low >= min_value);
  if (possible) return Axis(low, high, options);
  const double ends[] = {low, high};
  return covering(ends, options);
}

std::string Axis::label(double tick) const {
  if (logarithmic_) {
    const double decade = std::pow(10.0, std::floor(std::log10(tick) + 1e-9));
    return tick_label(tick, decade, tick);
  }
  const double largest = std::max(std::abs(low_), std::abs(high_));
  return tick_label(tick, ticks_.size() > 1 ? ticks_[1] - ticks_[0] : nice_step(high_ - low_, 4), largest);
}

bool Axis::shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }

double Axis::position(double value) const {
  const double place = logarithmic_ ? (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_))
                                    : (value - low_) / (high_ - low_);
  return std::clamp(place, 0.0, 1.0);
}

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

}  // namespace sotto::report
