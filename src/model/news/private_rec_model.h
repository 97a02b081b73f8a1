#pragma once
// PrivateRec (its Algorithm 1) around any two-tower model: a user vector is replaced by a mixture of B public
// basis vectors whose weights are what a device would send: attention over the basis, clipped, noised,
// normalised. Clicks may be replaced first (padding) by the anonymous item r0, whose words are the padding
// token alone: it is encoded like every item, and learns.
//
// Noise is the real mechanism's, in training (ReLU) and in evaluation, which is serving (SoftPlus). Without a
// mechanism (ε = ∞) the weights stay as they are; as printed they are padded and made positive all the same.
// Gradients treat the noise as a constant.
//
// Letters: U histories, B basis vectors, D size of a vector.

#include <memory>
#include <optional>

#include "model/news/news_recommender.h"
#include "privacy/mechanisms/private_attention.h"
#include "privacy/noise/noise_origin.h"

namespace sotto::model {

class PrivateRecModel final : public NewsRecommender {
 public:
  struct Settings {
    std::int64_t basis_vectors = 3;
    double clip = 1;  // L2 norm of the weights
    std::optional<privacy::PrivateAttention> training, serving;
    privacy::NoiseOrigin noise = privacy::NoiseOrigin::secret();
    bool printed = false;        // ε = ∞ pads and makes positive too
    double padding = 0;          // p, as the mechanisms have it
    data::ItemId anonymous = 0;  // the item in the place of padded clicks
  };
  PrivateRecModel(std::shared_ptr<NewsRecommender> backbone, Settings settings);

  torch::Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override {
    return backbone_->encode_items(items, pass);
  }
  torch::Tensor encode_users(const torch::Tensor& item_vectors, const Histories& histories,
                             Pass& pass) override;
  std::int64_t vector_size() const override { return backbone_->vector_size(); }
  std::string_view first_user_parameter() const override { return first_user_parameter_; }
  // The parts that a device has: the user model as it is without mixtures, and the public vectors.
  NewsRecommender& backbone() const { return *backbone_; }
  const torch::Tensor& basis() const { return basis_; }  // [B, D]
  torch::Tensor anonymous_vector();                      // r0 [D], as devices pad with it

 private:
  using Draws = std::vector<privacy::NoiseOrigin>;  // of every history
  Draws draws_of(const Histories& histories, Pass& pass) const;
  // r0 [1, D]; where users are told apart each has its own row.
  torch::Tensor encode_anonymous(Pass& pass);

  Settings settings_;
  std::shared_ptr<NewsRecommender> backbone_;
  torch::Tensor basis_;  // [B, D]
  std::uint64_t training_secret_ = 0;
  std::string first_user_parameter_;
};

}  // namespace sotto::model
