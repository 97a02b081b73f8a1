#pragma once
// A two-tower model to which devices add vectors of their own when they rank. Training, and readers without
// such a vector, see the shared model alone.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/settings.h"
#include "data/dataset.h"
#include "model/news/news_recommender.h"

namespace sotto::fl {

// Fast personal adaptation, on the device and for the device alone: a vector of the reader's own beside what
// the shared user model makes of the history, found by a few steps of descent on the impressions that the
// device has kept. It learns from what was shown and not clicked, which histories leave out. Nothing of it is
// ever sent.
//
//   p ← p − (Σ over clicks ∇ −log softmax((u_i + p)·shown)[click] + weight·p) / (weight + clicks)
//
// Letters: U users, D size of a vector.
struct PersonalSettings {
  std::int64_t steps = 10;  // 0: no adaptation
  double weight = 3;
  void bind(SettingsTable& table);
};

// Plain values; safe to read from several threads.
struct PersonalVectors {
  std::int64_t size = 0;  // D
  std::unordered_map<data::UserId, std::vector<float>> of_user;

  // From the training impressions of the users given; those without any keep none. The model is only read.
  static PersonalVectors learn(model::NewsRecommender& model, const data::Dataset& dataset,
                               std::vector<data::UserId> users, std::size_t max_history,
                               const PersonalSettings& settings);
  // [users, D], zeros for those without one.
  torch::Tensor rows(const std::vector<data::UserId>& users) const;
};

class PersonalModel final : public model::NewsRecommender {
 public:
  explicit PersonalModel(std::shared_ptr<model::NewsRecommender> shared)
      : shared_(register_module("shared", std::move(shared))),
        first_user_parameter_("shared." + std::string(shared_->first_user_parameter())) {}

  void use(PersonalVectors personal) { personal_ = std::move(personal); }
  model::NewsRecommender& shared() { return *shared_; }

  torch::Tensor encode_items(std::span<const data::ItemId> items, model::Pass& pass) override {
    return shared_->encode_items(items, pass);
  }
  torch::Tensor encode_users(const torch::Tensor& item_vectors, const model::Histories& histories,
                             model::Pass& pass) override {
    const torch::Tensor users = shared_->encode_users(item_vectors, histories, pass);
    if (pass.training || personal_.of_user.empty()) return users;
    return users + personal_.rows(histories.users).to(users.options());
  }
  std::int64_t vector_size() const override { return shared_->vector_size(); }
  std::int64_t bytes_per_item() const override { return shared_->bytes_per_item(); }
  std::string_view first_user_parameter() const override { return first_user_parameter_; }

 private:
  std::shared_ptr<model::NewsRecommender> shared_;
  std::string first_user_parameter_;
  PersonalVectors personal_;
};

}  // namespace sotto::fl
