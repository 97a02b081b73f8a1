#pragma once
// Goodness of fit for integer noise, with a stated false-alarm rate.
//
// Every statistical test of noise goes through fits() or same_law() at false_alarm: over the choice of its
// seed a correct sampler fails with probability 1e-6. Seeds are fixed, so a test that passes keeps passing
// until the sampler changes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sotto::privacy::statistics {

inline constexpr double false_alarm = 1e-6;

// P(chi-square with `freedom` degrees > value): the regularised upper incomplete gamma function Q(freedom/2,
// value/2).
inline double chi_square_tail(double value, double freedom) {
  const double a = freedom / 2, x = value / 2;
  if (x <= 0) return 1;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {  // series for P
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > 1e-17 * sum; ++n) sum += term *= x / n;
    return std::max(0.0, 1 - front * sum);
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;  // continued fraction for Q (Lentz)
  for (int i = 1; i < 10000; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    fraction *= d * c;
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  return front * fraction;
}

inline double p_value(std::span<const double> observed, std::span<const double> expected) {
  double statistic = 0, seen = 0, awaited = 0;
  int cells = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {  // neighbours are pooled until at least 10 are expected
    seen += observed[i];
    awaited += expected[i];
    if (awaited < 10) continue;
    statistic += (seen - awaited) * (seen - awaited) / awaited;
    ++cells;
    seen = awaited = 0;
  }
  if (seen > 0 && awaited == 0) return 0;  // something impossible happened
  if (awaited > 0) statistic += (seen - awaited) * (seen - awaited) / std::max(awaited, 10.0);
  return chi_square_tail(statistic, std::max(1, cells - 1));
}

// below(x) = P(X < x) at whole numbers x. Cells are about an eighth of `scale` wide and reach to 6 scales.
inline double fit_p_value(std::span<const std::int64_t> samples, const std::function<double(double)>& below,
                          double scale) {
  const double width = std::max(1.0, std::floor(scale / 8));
  const auto half = static_cast<std::int64_t>(std::ceil(6 * scale / width)) + 1;
  const auto cells = static_cast<std::size_t>(2 * half + 2);
  std::vector<double> observed(cells), expected(cells);
  for (const std::int64_t sample : samples) {
    const double at = std::floor(static_cast<double>(sample) / width) + static_cast<double>(half) + 1;
    observed[static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(cells - 1)))] += 1;
  }
  double before = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    const double after =
        i + 1 == cells ? 1 : below((static_cast<double>(i) - static_cast<double>(half)) * width);
    expected[i] = static_cast<double>(samples.size()) * std::max(0.0, after - before);
    before = after;
  }
  return p_value(observed, expected);
}

inline bool fits(std::span<const std::int64_t> samples, const std::function<double(double)>& below,
                 double scale) {
  return fit_p_value(samples, below, scale) > false_alarm;
}

// Two samples of equal size from one law?
inline bool same_law(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  std::vector<std::int64_t> sorted(a.begin(), a.end());
  sorted.insert(sorted.end(), b.begin(), b.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> edges;
  for (std::size_t i = 1; i < 64; ++i) edges.push_back(sorted[i * sorted.size() / 64]);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const auto count = [&](std::span<const std::int64_t> values) {
    std::vector<double> cells(edges.size() + 1);
    for (const std::int64_t value : values) {
      cells[static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin())] +=
          1;
    }
    return cells;
  };
  const auto first = count(a), second = count(b);
  double statistic = 0;
  int used = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double both = first[i] + second[i];
    if (both == 0) continue;
    statistic += (first[i] - second[i]) * (first[i] - second[i]) / both;
    ++used;
  }
  if (used < 2) return true;
  return chi_square_tail(statistic, used - 1) > false_alarm;
}

// Observed choices against their probabilities.
inline bool fits_choice(std::span<const std::uint64_t> choices, std::span<const double> probabilities) {
  std::vector<double> observed(probabilities.size()), expected(probabilities.size());
  for (const std::uint64_t choice : choices) {
    if (choice >= observed.size()) return false;
    observed[choice] += 1;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = probabilities[i] * static_cast<double>(choices.size());
  }
  return p_value(observed, expected) > false_alarm;
}

// P(X < x) of the laws, from their definitions.
inline double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

inline std::function<double(double)> rounded_gaussian(double sigma) {
  return [sigma](double x) { return normal_below((x - 0.5) / sigma); };
}

inline std::function<double(double)> discrete_laplace(double scale) {
  const double q = std::exp(-1 / scale);
  return [scale, q](double x) {
    if (x <= 0) return std::exp((x - 1) / scale) / (1 + q);
    return 1 - std::exp(-x / scale) / (1 + q);
  };
}

// Sums a symmetric probability mass given at 0, 1, 2, ... up to a constant factor.
inline std::function<double(double)> from_masses(const std::vector<double>& masses) {
  double total = masses[0];
  for (std::size_t i = 1; i < masses.size(); ++i) total += 2 * masses[i];
  const auto last = static_cast<std::ptrdiff_t>(masses.size()) - 1;
  std::vector<double> below(2 * masses.size());
  double sum = 0;
  for (std::ptrdiff_t x = -last; x <= last; ++x) {
    below[static_cast<std::size_t>(x + last)] = sum;
    sum += masses[static_cast<std::size_t>(std::abs(x))] / total;
  }
  below[static_cast<std::size_t>(2 * last + 1)] = 1;
  return [below, last](double x) {
    if (x <= static_cast<double>(-last)) return 0.0;
    if (x > static_cast<double>(last)) return 1.0;
    return below[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(x) + last)];
  };
}

inline std::function<double(double)> discrete_gaussian(double sigma) {
  // From σ = 20 on, sums of the weights and areas under the density agree to all digits of double.
  if (sigma > 20) return rounded_gaussian(sigma);
  std::vector<double> masses;
  for (int x = 0; x < 40 * sigma + 10; ++x) masses.push_back(std::exp(-x * x / (2 * sigma * sigma)));
  return from_masses(masses);
}

inline std::function<double(double)> skellam(double variance) {
  // From variance 10^6 on, the normal law differs by less than 10^-7: invisible to these sample sizes.
  if (variance > 1e6) return rounded_gaussian(std::sqrt(variance));
  const int steps = static_cast<int>(16 * std::sqrt(variance)) + 60;
  std::vector<long double> bessel(static_cast<std::size_t>(steps) + 2);
  bessel[static_cast<std::size_t>(steps)] = 1e-3000L;
  for (int j = steps; j > 0; --j) {
    const auto i = static_cast<std::size_t>(j);
    bessel[i - 1] = bessel[i + 1] + 2.0L * j / variance * bessel[i];
  }
  std::vector<double> masses;
  for (int x = 0; x < steps; ++x)
    masses.push_back(static_cast<double>(bessel[static_cast<std::size_t>(x)] / bessel[0]));
  return from_masses(masses);
}

}  // namespace sotto::privacy::statistics
