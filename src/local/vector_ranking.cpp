#include "local/vector_ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace sotto::local {

namespace {

// All counts lie within this: less than what tells two items with vectors apart, more than what rounding to
// float loses.
constexpr double range_of_equals = 1e-5;
constexpr double least = std::numeric_limits<double>::min();

}  // namespace

VectorRanking::VectorRanking(std::span<const float> counts, std::span<const float> vectors,
                             const RankingWeights& weights)
    : equal_(counts.begin(), counts.end()), has_vector_(counts.size()), weights_(weights) {
  const auto items = static_cast<Index>(counts.size());
  require_shape(!counts.empty() && vectors.size() % counts.size() == 0, "every item has a vector");
  vectors_ = Eigen::Map<const Rows>(vectors.data(), items, static_cast<Index>(vectors.size()) / items)
                 .cast<double>();
  shares_.setZero(items);
  for (Index item = 0; item < items; ++item) {
    const auto place = static_cast<std::size_t>(item);
    has_vector_[place] = !vectors_.row(item).isZero(0);
    if (has_vector_[place]) shares_(item) = std::max(equal_[place], 0.0);  // noise makes counts negative
  }
  shares_ /= std::max(shares_.sum(), least);
  const auto [lowest, highest] = std::minmax_element(equal_.begin(), equal_.end());
  const double top = *highest, range = std::max(*highest - *lowest, least);
  for (double& count : equal_) count = range_of_equals * ((count - top) / range);
}

std::vector<float> VectorRanking::scores(std::span<const ItemRow> history) const {
  std::map<ItemRow, double> times;
  for (const ItemRow item : history) times[item] += 1;
  Eigen::VectorXd reader = Eigen::VectorXd::Zero(vectors_.cols());
  double known = 0;
  for (const auto& [item, often] : times) {
    reader += vectors_.row(static_cast<Index>(item)).transpose();
    known += has_vector_[item] ? 1 : 0;
  }
  const Eigen::VectorXd likes = vectors_ * reader + weights_.popularity * std::sqrt(known) * shares_;
  std::vector<double> exact(equal_);
  double lowest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    exact[i] += likes(static_cast<Index>(i));
    if (has_vector_[i]) lowest = std::min(lowest, exact[i]);
  }
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (!has_vector_[i]) exact[i] += lowest - range_of_equals;
  for (const auto& [item, often] : times) exact[item] += weights_.again * std::log1p(often);
  return {exact.begin(), exact.end()};
}

}  // namespace sotto::local
