#include "eval/experiments/serving/reader_estimates.h"

#include <cmath>
#include <limits>

namespace sotto::private_serving {

namespace {

// Standard error of Σ deviations / queries, where the deviations of one reader go together.
double clustered_error(std::span<const double> deviations, std::span<const std::uint32_t> reader_of) {
  double squares = 0, of_reader = 0, queries = 0;
  std::size_t readers = 0;
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    if (std::isfinite(deviations[i])) {
      of_reader += deviations[i];
      ++queries;
    }
    if (i + 1 == deviations.size() || reader_of[i + 1] != reader_of[i]) {
      squares += of_reader * of_reader;
      of_reader = 0;
      ++readers;
    }
  }
  if (readers < 2 || queries == 0) return std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<double>(readers);
  return std::sqrt(squares * count / (count - 1)) / queries;
}

}  // namespace

Estimate mean_by_reader(std::span<const double> values, std::span<const std::uint32_t> reader_of) {
  double sum = 0, count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  const double mean = sum / count;
  std::vector<double> deviations(values.begin(), values.end());
  for (double& deviation : deviations) deviation -= mean;
  return {mean, clustered_error(deviations, reader_of)};
}

Estimate share_of_gain(std::span<const double> values, std::span<const double> floor,
                       std::span<const double> ceiling, std::span<const std::uint32_t> reader_of) {
  double gained = 0, possible = 0, count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i] + floor[i] + ceiling[i])) continue;
    gained += values[i] - floor[i];
    possible += ceiling[i] - floor[i];
    ++count;
  }
  if (possible == 0)
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  const double share = gained / possible;
  std::vector<double> influence(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    influence[i] = ((values[i] - floor[i]) - share * (ceiling[i] - floor[i])) * count / possible;
  return {share, clustered_error(influence, reader_of)};
}

}  // namespace sotto::private_serving
