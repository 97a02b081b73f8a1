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

}  // namespace

VectorRanking::VectorRanking(const ItemVectors& model, const RankingWeights& weights)
    : vectors_(model.vectors.detach().to(torch::kCPU, torch::kFloat64).contiguous()), weights_(weights) {
  const torch::NoGradGuard no_grad;
  const Tensor counts = model.counts.to(torch::kCPU, torch::kFloat64).contiguous();
  const Tensor present = vectors_.ne(0).any(1).contiguous();
  const auto items = static_cast<std::size_t>(counts.numel());
  has_vector_.assign(present.data_ptr<bool>(), present.data_ptr<bool>() + items);
  shares_ = counts.clamp_min(0) * present;  // noise makes counts negative
  shares_ /= shares_.sum().clamp_min(std::numeric_limits<double>::min());
  equal_.assign(counts.data_ptr<double>(), counts.data_ptr<double>() + items);
  const auto [least, most] = std::minmax_element(equal_.begin(), equal_.end());
  const double top = *most, range = std::max(*most - *least, std::numeric_limits<double>::min());
  for (double& count : equal_) count = range_of_equals * ((count - top) / range);
}

std::vector<float> VectorRanking::scores(std::span<const data::ItemId> history) const {
  const torch::NoGradGuard no_grad;
  std::map<data::ItemId, double> times;
  for (const data::ItemId item : history) times[item] += 1;
  Tensor reader = torch::zeros({vectors_.size(1)}, torch::kFloat64);
  double known = 0;
  for (const auto& [item, often] : times) {
    reader += vectors_[static_cast<std::int64_t>(item)];
    known += has_vector_[item] ? 1 : 0;
  }
  const Tensor likes = torch::mv(vectors_, reader) + weights_.popularity * std::sqrt(known) * shares_;
  const double* like = likes.data_ptr<double>();
  std::vector<double> exact(equal_);
  double lowest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    exact[i] += like[i];
    if (has_vector_[i]) lowest = std::min(lowest, exact[i]);
  }
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (!has_vector_[i]) exact[i] += lowest - range_of_equals;
  for (const auto& [item, often] : times) exact[item] += weights_.again * std::log1p(often);
  return {exact.begin(), exact.end()};
}

}  // namespace sotto::model
