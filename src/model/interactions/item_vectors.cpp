#include "model/interactions/item_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace sotto::model {

using torch::Tensor;

namespace {

// All counts lie within this: less than what tells two items with vectors apart, more than what rounding to
// float loses.
constexpr double range_of_equals = 1e-5;

// p_j / q of the rarest: beyond it counts are noise.
constexpr double rarest = 0.01;

}  // namespace

CountedItems counted_items(const ItemVectors& model, double rare) {
  const torch::NoGradGuard no_grad;
  const Tensor counts = model.counts.to(torch::kCPU, torch::kFloat64).contiguous();
  const Tensor present = model.vectors.detach().to(torch::kCPU).ne(0).any(1).contiguous();
  const auto items = static_cast<std::size_t>(counts.numel());
  CountedItems counted{std::vector<double>(items, 0), std::vector<double>(items, 0)};
  double most = 0;
  for (std::size_t i = 0; i < items; ++i) {
    if (!present.data_ptr<bool>()[i]) continue;
    counted.popularity[i] = std::max(counts.data_ptr<double>()[i], 0.0);  // noise makes counts negative
    most = std::max(most, counted.popularity[i]);
  }
  for (std::size_t i = 0; i < items; ++i)
    if (present.data_ptr<bool>()[i])
      counted.says[i] = most > 0 ? std::pow(std::max(counted.popularity[i] / most, rarest), -rare) : 1;
  return counted;
}

VectorRanking::VectorRanking(const ItemVectors& model, const RankingWeights& weights)
    : vectors_(model.vectors.detach().to(torch::kCPU, torch::kFloat64).contiguous()), weights_(weights) {
  const torch::NoGradGuard no_grad;
  CountedItems counted = counted_items(model, weights.rare);
  popularities_ = std::move(counted.popularity);
  says_ = std::move(counted.says);
  const Tensor counts = model.counts.to(torch::kCPU, torch::kFloat64).contiguous();
  equal_.assign(counts.data_ptr<double>(), counts.data_ptr<double>() + counts.numel());
  const auto [least, most] = std::minmax_element(equal_.begin(), equal_.end());
  const double top = *most, range = std::max(*most - *least, std::numeric_limits<double>::min());
  for (double& count : equal_) count = range_of_equals * ((count - top) / range);
}

std::vector<float> VectorRanking::scores(std::span<const data::ItemId> liked,
                                         std::span<const data::ItemId> known) const {
  const torch::NoGradGuard no_grad;
  std::map<data::ItemId, double> times, own;
  for (const data::ItemId item : known) own[item] = weights_.low * says_[item];
  for (const data::ItemId item : liked) {
    times[item] += 1;
    own[item] = says_[item];
  }
  Tensor reader = torch::zeros({vectors_.size(1)}, torch::kFloat64);
  double squares = 0;
  for (const auto& [item, weight] : own) {
    if (weight == 0) continue;
    reader += weight * vectors_[static_cast<std::int64_t>(item)];
    squares += weight * weight;
  }
  if (squares > 0) reader /= std::sqrt(squares);
  const Tensor likes = torch::mv(vectors_, reader);
  const double* like = likes.data_ptr<double>();
  std::vector<double> exact(equal_);
  double lowest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    exact[i] += like[i] + weights_.popularity * popularities_[i];
    if (says_[i] > 0) lowest = std::min(lowest, exact[i]);
  }
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (says_[i] == 0) exact[i] += lowest - range_of_equals;
  for (const auto& [item, often] : times) exact[item] += weights_.again * std::log1p(often);
  return {exact.begin(), exact.end()};
}

}  // namespace sotto::model
