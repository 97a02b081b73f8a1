#include "privacy/audit/threshold_event.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "privacy/accounting/log_math.h"
#include "privacy/audit/gaussian_tradeoff.h"

namespace sotto::privacy {

namespace {

// `p` and `complement` = 1 − p are both given, so that neither loses its digits near 0.
double mass(double trials, double successes, double p, double complement) {
  if (p <= 0) return successes == 0 ? 1 : 0;
  if (complement <= 0) return successes == trials ? 1 : 0;
  return std::exp(log_binomial(trials, successes) + successes * std::log(p) +
                  (trials - successes) * std::log(complement));
}

double at_least(double trials, double successes, double p, double complement) {
  if (successes <= 0) return 1;
  if (successes > trials || p <= 0) return 0;
  if (complement <= 0) return 1;
  if (successes <= trials * p) {  // the other tail is the smaller one
    return std::max(0.0, 1 - at_least(trials, trials - successes + 1, complement, p));
  }
  double term = mass(trials, successes, p, complement), sum = 0;
  for (double k = successes; k <= trials && term > 1e-17 * sum; ++k) {
    sum += term;
    term *= (trials - k) / (k + 1) * (p / complement);
  }
  return std::min(1.0, sum);
}

}  // namespace

double binomial_mass(std::uint64_t trials, std::uint64_t successes, double p) {
  return mass(static_cast<double>(trials), static_cast<double>(successes), p, 1 - p);
}

double binomial_at_least(std::uint64_t trials, std::uint64_t successes, double p) {
  return at_least(static_cast<double>(trials), static_cast<double>(successes), p, 1 - p);
}

double clopper_pearson_lower(std::uint64_t trials, std::uint64_t successes, double failure) {
  if (successes == 0) return 0;
  failure *= 1 - 1e-6;  // covers the rounding errors of the tail
  double low = 0, high = static_cast<double>(successes) / static_cast<double>(trials);
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (binomial_at_least(trials, successes, middle) <= failure ? low : high) = middle;
  }
  return low;
}

double clopper_pearson_upper(std::uint64_t trials, std::uint64_t successes, double failure) {
  return 1 - clopper_pearson_lower(trials, trials - successes, failure);
}

namespace {

// Wilson's interval: near enough to the exact one to rank events, at no cost.
double wilson(double share, double trials, double z) {
  const double square = z * z / trials;
  const double half = z * std::sqrt(share * (1 - share) / trials + square / (4 * trials));
  return std::clamp((share + square / 2 + half) / (1 + square), 0.0, 1.0);
}

double wilson_lower(double share, double trials, double z) { return 1 - wilson(1 - share, trials, z); }

double share_at_least(const std::vector<double>& sorted, double threshold) {
  const auto from = std::lower_bound(sorted.begin(), sorted.end(), threshold);
  return static_cast<double>(sorted.end() - from) / static_cast<double>(sorted.size());
}

// Values at geometrically spaced ranks from both ends: a few hundred, dense where events are rare.
std::vector<double> thresholds_of(const PairSample& sorted) {
  std::vector<double> all;
  all.reserve(sorted.first.size() + sorted.second.size());
  std::merge(sorted.first.begin(), sorted.first.end(), sorted.second.begin(), sorted.second.end(),
             std::back_inserter(all));
  std::vector<double> thresholds;
  for (double rank = 1; rank <= static_cast<double>(all.size()); rank = std::max(rank + 1, rank * 1.04)) {
    const auto at = static_cast<std::size_t>(rank);
    thresholds.push_back(all[at - 1]);
    thresholds.push_back(all[all.size() - at]);
  }
  std::sort(thresholds.begin(), thresholds.end());
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  return thresholds;
}

std::uint64_t count(const ThresholdEvent& event, const std::vector<double>& values) {
  return static_cast<std::uint64_t>(std::count_if(
      values.begin(), values.end(), [&](double value) { return (value >= event.threshold) == event.above; }));
}

}  // namespace

ThresholdEvent choose_event(std::span<const PairSample> candidates, double failure, const EventScore& score) {
  const double z = -normal_quantile(failure / 2);
  ThresholdEvent best;
  double best_score = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    PairSample sorted = candidates[i];
    std::sort(sorted.first.begin(), sorted.first.end());
    std::sort(sorted.second.begin(), sorted.second.end());
    const auto firsts = static_cast<double>(sorted.first.size());
    const auto seconds = static_cast<double>(sorted.second.size());
    for (const double threshold : thresholds_of(sorted)) {
      for (const bool above : {true, false}) {
        const double p = share_at_least(sorted.first, threshold),
                     q = share_at_least(sorted.second, threshold);
        const double first = above ? p : 1 - p, second = above ? q : 1 - q;
        for (const bool likely_first : {true, false}) {
          const RateBounds rates =
              likely_first ? RateBounds{wilson_lower(first, firsts, z), wilson(second, seconds, z)}
                           : RateBounds{wilson_lower(second, seconds, z), wilson(first, firsts, z)};
          const double value = score(rates);
          if (value <= best_score) continue;
          best_score = value;
          best = {i, threshold, above, likely_first};
        }
      }
    }
  }
  return best;
}

RateBounds bound_rates(const ThresholdEvent& event, const PairSample& sample, double failure) {
  const auto& likely = event.likely_first ? sample.first : sample.second;
  const auto& unlikely = event.likely_first ? sample.second : sample.first;
  return {clopper_pearson_lower(likely.size(), count(event, likely), failure / 2),
          clopper_pearson_upper(unlikely.size(), count(event, unlikely), failure / 2)};
}

double epsilon_of_rates(const RateBounds& rates, double delta) {
  if (rates.likely <= delta || rates.unlikely >= 1) return 0;
  return std::max(0.0, std::log((rates.likely - delta) / rates.unlikely));
}

}  // namespace sotto::privacy
