#include "model/news/private_rec_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/cohort/weighted_rows.h"
#include "model/layers/layers.h"

namespace sotto::model {

using torch::Tensor;

namespace {

// Clicks that are padded name r0, whose rows stand behind the items: one for all, or one for each user of
// the owned histories.
Histories padded(const Histories& histories, double padding, std::int64_t items, const Owners& owners,
                 const std::vector<privacy::NoiseOrigin>& draws) {
  Histories copy = histories;
  std::int64_t user = 0;
  for (std::size_t u = 0; u < histories.size(); ++u) {
    while (owners && static_cast<std::int64_t>(u) >= owners->offsets[static_cast<std::size_t>(user) + 1])
      ++user;
    const auto first = static_cast<std::size_t>(histories.offsets[u]);
    const auto count = static_cast<std::size_t>(histories.offsets[u + 1]) - first;
    privacy::NoiseStream own(draws[u], Purpose::padding);
    const auto replaced = privacy::draw_padding(count, padding, own.random());
    TORCH_CHECK(replaced.has_value(), "padding failed");
    for (std::size_t i = 0; i < count; ++i)
      if ((*replaced)[i]) copy.rows[first + i] = items + user;
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

Tensor PrivateRecModel::encode_anonymous(Pass& pass) {
  if (!pass.users) return backbone_->encode_items({&settings_.anonymous, 1}, pass);
  const Owners& histories = pass.users->histories;
  std::vector<std::int64_t> one_each(static_cast<std::size_t>(histories->users()) + 1);
  std::iota(one_each.begin(), one_each.end(), 0);
  const std::vector<data::ItemId> items(static_cast<std::size_t>(histories->users()), settings_.anonymous);
  const UserBatch users{c10::make_intrusive<RowOwners>(*histories->parameters, std::move(one_each)),
                        histories, pass.users->dropout_seeds};
  Pass apart = pass;
  apart.users = &users;
  Tensor vectors = backbone_->encode_items(items, apart);
  pass.seed = apart.seed;  // the draws go on behind those of r0, as a user's alone would
  return vectors;
}

Tensor PrivateRecModel::anonymous_vector() {
  const torch::NoGradGuard no_grad;
  Pass pass = Pass::evaluation();
  return encode_anonymous(pass).squeeze(0);
}

Tensor PrivateRecModel::encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) {
  const auto& mechanism = pass.training ? settings_.training : settings_.serving;
  const Owners owners = pass.history_owners();
  Draws draws;
  Tensor users;
  const bool changed = mechanism || settings_.printed;
  if (changed) draws = draws_of(histories, pass);
  if (changed && settings_.padding > 0) {
    const Tensor table = torch::cat({item_vectors, encode_anonymous(pass).to(item_vectors.scalar_type())});
    users = backbone_->encode_users(
        table, padded(histories, settings_.padding, item_vectors.size(0), owners, draws), pass);
  } else {
    users = backbone_->encode_users(item_vectors, histories, pass);
  }
  const double scale = 1 / std::sqrt(static_cast<double>(vector_size()));
  Tensor weights = (product_transposed(users, basis_, owners) * scale).softmax(1);
  const Tensor norm = weights.norm(2, 1, true);
  weights = weights * (settings_.clip / norm).clamp_max(1);
  // The mechanism clips again, which changes nothing.
  if (mechanism) weights = weights + noise_on(weights, *mechanism, draws);
  if (changed) weights = pass.training ? weights.relu() : torch::softplus(weights);
  return product(normalised(weights), basis_, owners);
}

}  // namespace sotto::model
