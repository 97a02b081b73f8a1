#pragma once
// A two-tower model to which devices add vectors of their own when they rank. Training, and readers without
// such a vector, see the shared model alone.

#include <memory>
#include <string>

#include "fl/personal_vectors.h"

namespace sotto {

class PersonalModel final : public NewsRecommender {
 public:
  explicit PersonalModel(std::shared_ptr<NewsRecommender> shared)
      : shared_(register_module("shared", std::move(shared))),
        first_user_parameter_("shared." + std::string(shared_->first_user_parameter())) {}

  void use(PersonalVectors personal) { personal_ = std::move(personal); }
  NewsRecommender& shared() { return *shared_; }

  torch::Tensor encode_items(std::span<const ItemId> items, Pass& pass) override {
    return shared_->encode_items(items, pass);
  }
  torch::Tensor encode_users(const torch::Tensor& item_vectors, const Histories& histories,
                             Pass& pass) override {
    const torch::Tensor users = shared_->encode_users(item_vectors, histories, pass);
    if (pass.training || personal_.of_user.empty()) return users;
    return users + personal_.rows(histories.users).to(users.options());
  }
  std::int64_t vector_size() const override { return shared_->vector_size(); }
  std::int64_t bytes_per_item() const override { return shared_->bytes_per_item(); }
  std::string_view first_user_parameter() const override { return first_user_parameter_; }

 private:
  std::shared_ptr<NewsRecommender> shared_;
  std::string first_user_parameter_;
  PersonalVectors personal_;
};

}  // namespace sotto
