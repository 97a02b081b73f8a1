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

// p_j / q of the rarest: beyond it counts are noise.
constexpr double rarest = 0.01;

}  // namespace

CountedItems counted_items(std::span<const float> counts, std::span<const float> vectors, double rare) {
  const std::size_t items = counts.size(), width = items == 0 ? 0 : vectors.size() / items;
  CountedItems counted{std::vector<double>(items, 0), std::vector<double>(items, 0)};
  double most = 0;
  for (std::size_t i = 0; i < items; ++i) {
    const auto vector = vectors.subspan(i * width, width);
    if (std::all_of(vector.begin(), vector.end(), [](float number) { return number == 0; })) continue;
    counted.says[i] = 1;
    counted.popularity[i] = std::max<double>(counts[i], 0);  // noise makes counts negative
    most = std::max(most, counted.popularity[i]);
  }
  for (std::size_t i = 0; i < items && most > 0; ++i)
    if (counted.says[i] > 0)
      counted.says[i] = std::pow(std::max(counted.popularity[i] / most, rarest), -rare);
  return counted;
}

VectorRanking::VectorRanking(std::span<const float> counts, std::span<const float> vectors,
                             const RankingWeights& weights)
    : equal_(counts.begin(), counts.end()), weights_(weights) {
  const auto items = static_cast<Index>(counts.size());
  require_shape(!counts.empty() && vectors.size() % counts.size() == 0, "every item has a vector");
  vectors_ = Eigen::Map<const Rows>(vectors.data(), items, static_cast<Index>(vectors.size()) / items)
                 .cast<double>();
  CountedItems counted = counted_items(counts, vectors, weights.rare);
  popularities_ = std::move(counted.popularity);
  says_ = std::move(counted.says);
  const auto [least, most] = std::minmax_element(equal_.begin(), equal_.end());
  const double top = *most, range = std::max(*most - *least, std::numeric_limits<double>::min());
  for (double& count : equal_) count = range_of_equals * ((count - top) / range);
}

std::vector<float> VectorRanking::scores(std::span<const ItemRow> liked,
                                         std::span<const ItemRow> known) const {
  std::map<ItemRow, double> times, own;
  for (const ItemRow item : known) own[item] = weights_.low * says_[item];
  for (const ItemRow item : liked) {
    times[item] += 1;
    own[item] = says_[item];
  }
  Eigen::VectorXd reader = Eigen::VectorXd::Zero(vectors_.cols());
  double squares = 0;
  for (const auto& [item, weight] : own) {
    if (weight == 0) continue;
    reader += weight * vectors_.row(static_cast<Index>(item)).transpose();
    squares += weight * weight;
  }
  if (squares > 0) reader /= std::sqrt(squares);
  const Eigen::VectorXd likes = vectors_ * reader;
  std::vector<double> exact(equal_);
  double lowest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    exact[i] += likes(static_cast<Index>(i)) + weights_.popularity * popularities_[i];
    if (says_[i] > 0) lowest = std::min(lowest, exact[i]);
  }
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (says_[i] == 0) exact[i] += lowest - range_of_equals;
  for (const auto& [item, often] : times) exact[item] += weights_.again * std::log1p(often);
  return {exact.begin(), exact.end()};
}

}  // namespace sotto::local
