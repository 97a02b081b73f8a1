#include "model/news/noisy_user_model.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sotto::model {

NoisyUserModel::NoisyUserModel(std::shared_ptr<NewsRecommender> backbone,
                               privacy::UserEmbeddingRelease serving, const privacy::NoiseOrigin& noise)
    : backbone_(register_module("backbone", std::move(backbone))),
      serving_(std::move(serving)),
      noise_(noise),
      first_user_parameter_("backbone." + std::string(backbone_->first_user_parameter())) {}

torch::Tensor NoisyUserModel::encode_items(std::span<const data::ItemId> items, Pass& pass) {
  return backbone_->encode_items(items, pass);
}

torch::Tensor NoisyUserModel::encode_users(const torch::Tensor& item_vectors, const Histories& histories,
                                           Pass& pass) {
  const torch::Tensor users = backbone_->encode_users(item_vectors, histories, pass);
  if (pass.training) return users;
  const torch::Tensor plain = users.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  torch::Tensor released = torch::empty_like(plain);
  const auto columns = static_cast<std::size_t>(plain.size(1));
  for (std::size_t u = 0; u < histories.size(); ++u) {
    privacy::NoiseStream draws(noise_, Purpose::noise, 0, histories.users[u]);
    const auto noisy = serving_.release({plain.data_ptr<double>() + u * columns, columns}, draws.random());
    TORCH_CHECK(noisy.has_value(), "a user vector could not be released");
    const std::vector<double> values = noisy->reals();
    std::copy(values.begin(), values.end(), released.data_ptr<double>() + u * columns);
  }
  return released.to(users.options());
}

}  // namespace sotto::model
