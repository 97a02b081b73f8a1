#include "eval/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {

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

}  // namespace sotto
