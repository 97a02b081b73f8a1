#pragma once
// VDP serving around any two-tower model (PrivateRec's baseline): in evaluation, which is serving, a user
// vector is replaced by what the device would send, clipped and noised by the real mechanism. Training is the
// model's own.
//
// A server of live items asks devices in other ways and serves the model within.

#include <memory>
#include <string>

#include "model/news/news_recommender.h"
#include "privacy/mechanisms/user_embedding_release.h"
#include "privacy/noise/noise_origin.h"

namespace sotto::model {

class NoisyUserModel final : public NewsRecommender {
 public:
  // One query per user where the noise is reproducible: addressed by the user.
  NoisyUserModel(std::shared_ptr<NewsRecommender> backbone, privacy::UserEmbeddingRelease serving,
                 const privacy::NoiseOrigin& noise);

  torch::Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override;
  torch::Tensor encode_users(const torch::Tensor& item_vectors, const Histories& histories,
                             Pass& pass) override;
  std::int64_t vector_size() const override { return backbone_->vector_size(); }
  std::string_view first_user_parameter() const override { return first_user_parameter_; }

  NewsRecommender& backbone() const { return *backbone_; }

 private:
  std::shared_ptr<NewsRecommender> backbone_;
  privacy::UserEmbeddingRelease serving_;
  privacy::NoiseOrigin noise_;
  std::string first_user_parameter_;
};

}  // namespace sotto::model
