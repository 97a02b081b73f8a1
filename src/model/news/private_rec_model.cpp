#include "model/news/private_rec_model.h"

#include <algorithm>
#include <cmath>

#include "model/cohort/weighted_rows.h"
#include "model/layers/layers.h"

namespace sotto::model {

using torch::Tensor;

namespace {

// Clicks that are padded name the blank row behind the items.
Histories padded(const Histories& histories, const privacy::PrivateAttention& mechanism, std::int64_t blank,
                 const std::vector<privacy::NoiseOrigin>& draws) {
  Histories copy = histories;
  for (std::size_t u = 0; u < histories.size(); ++u) {
    const auto first = static_cast<std::size_t>(histories.offsets[u]);
    const auto count = static_cast<std::size_t>(histories.offsets[u + 1]) - first;
    privacy::NoiseStream own(draws[u], Purpose::padding);
    const auto replaced = mechanism.pad(count, own.random());
    TORCH_CHECK(replaced.has_value(), "padding failed");
    for (std::size_t i = 0; i < count; ++i)
      if ((*replaced)[i]) copy.rows[first + i] = blank;
  }
  return copy;
}

// What the mechanism adds to each row of weights [U, B].
Tensor noise_on(const Tensor& weights, const privacy::PrivateAttention& mechanism,
                const std::vector<privacy::NoiseOrigin>& draws) {
  const Tensor plain = weights.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  Tensor released = torch::empty_like(plain);
  const auto columns = static_cast<std::size_t>(plain.size(1));
  for (std::size_t u = 0; u < draws.size(); ++u) {
    const std::span<const double> row(plain.data_ptr<double>() + u * columns, columns);
    privacy::NoiseStream own(draws[u], Purpose::noise);
    const auto noisy = mechanism.release(row, own.random());
    TORCH_CHECK(noisy.has_value(), "noise could not be drawn");
    const std::vector<double> values = noisy->reals();
    std::copy(values.begin(), values.end(), released.data_ptr<double>() + u * columns);
  }
  return (released - plain).to(weights.options());
}

// Positive and summing to 1; uniform where everything is switched off.
Tensor normalised(const Tensor& weights) {
  const Tensor sums = weights.sum(1, true);
  const Tensor uniform = torch::full_like(weights, 1.0 / static_cast<double>(weights.size(1)));
  return torch::where(sums.gt(1e-12), weights / sums.clamp_min(1e-12), uniform);
}

}  // namespace

PrivateRecModel::PrivateRecModel(std::shared_ptr<NewsRecommender> backbone, Settings settings)
    : settings_(std::move(settings)),
      backbone_(register_module("backbone", std::move(backbone))),
      basis_(register_parameter("basis", glorot_uniform(settings_.basis_vectors, backbone_->vector_size()))),
      first_user_parameter_("backbone." + std::string(backbone_->first_user_parameter())) {
  if (settings_.noise.is_secret()) training_secret_ = SecureRandom()();
}

// In training fresh ones every pass, each user's own where users are told apart. They keep their addresses,
// behind a secret where noise is secret, because a part of a pass may be computed twice and must come out the
// same; no ε rests on them. In evaluation one query per user, or as secret as the origin.
PrivateRecModel::Draws PrivateRecModel::draws_of(const Histories& histories, Pass& pass) const {
  using privacy::NoiseOrigin;
  Draws draws;
  if (pass.users) {
    const auto seeds = pass.next_seeds();
    const auto& offsets = pass.users->histories->offsets;
    for (std::size_t user = 0; user < seeds.size(); ++user)
      for (std::int64_t h = offsets[user]; h < offsets[user + 1]; ++h)
        draws.push_back(NoiseOrigin::reproducible((seeds[user] ^ training_secret_) +
                                                  static_cast<std::uint64_t>(h - offsets[user])));
    return draws;
  }
  constexpr std::uint64_t apart = 0x9e3779b97f4a7c15ULL;
  if (pass.training) {
    const std::uint64_t base = pass.next_seed() ^ training_secret_;
    for (std::size_t h = 0; h < histories.size(); ++h)
      draws.push_back(NoiseOrigin::reproducible(base + h * apart));
    return draws;
  }
  const std::uint64_t base = settings_.noise.seed().value_or(0);
  for (const data::UserId user : histories.users)
    draws.push_back(settings_.noise.readdressed(base + std::uint64_t{user} * apart));
  return draws;
}

Tensor PrivateRecModel::encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) {
  const auto& mechanism = pass.training ? settings_.training : settings_.serving;
  const Owners owners = pass.history_owners();
  Draws draws;
  Tensor users;
  if (mechanism) {
    draws = draws_of(histories, pass);
    const Tensor table =
        torch::cat({item_vectors, torch::zeros({1, item_vectors.size(1)}, item_vectors.options())});
    users = backbone_->encode_users(table, padded(histories, *mechanism, item_vectors.size(0), draws), pass);
  } else {
    users = backbone_->encode_users(item_vectors, histories, pass);
  }
  const double scale = 1 / std::sqrt(static_cast<double>(vector_size()));
  Tensor weights = (product_transposed(users, basis_, owners) * scale).softmax(1);
  const Tensor norm = weights.norm(2, 1, true);
  weights = weights * (settings_.clip / norm).clamp_max(1);
  if (mechanism) {
    // The mechanism clips again, which changes nothing.
    const Tensor noisy = weights + noise_on(weights, *mechanism, draws);
    weights = pass.training ? noisy.relu() : torch::softplus(noisy);
  }
  return product(normalised(weights), basis_, owners);
}

}  // namespace sotto::model
