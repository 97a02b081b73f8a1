// NRMS (Wu et al. 2019): multi-head self-attention and additive pooling, over the words of a title and again
// over the clicks of a history.

#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

class NrmsModel final : public NewsRecommender {
 public:
  explicit NrmsModel(const ModelInputs& inputs)
      : items_(inputs.items),
        size_(inputs.shape.attention_size()),
        words_(register_words(*this, inputs)),
        news_(register_module("news",
                              std::make_shared<AttentionEncoder>(inputs.shape, inputs.shape.word_size))),
        user_(register_module("user", std::make_shared<AttentionEncoder>(inputs.shape, size_))) {}

  Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override {
    const auto [words, titles] = text_rows(words_, items_->titles, items, pass);
    return news_->forward(words, titles, pass);
  }

  Tensor encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) override {
    const auto [vectors, clicks] = clicks_of(item_vectors, histories, pass);
    return user_->forward(vectors, clicks, pass);
  }

  std::int64_t vector_size() const override { return size_; }
  std::string_view first_user_parameter() const override { return "user.attention.weight"; }

 private:
  std::shared_ptr<const ItemFeatures> items_;
  std::int64_t size_;
  Tensor words_;
  std::shared_ptr<AttentionEncoder> news_, user_;
};

}  // namespace

std::shared_ptr<RankingModel> make_nrms(const ModelInputs& inputs) {
  return std::make_shared<NrmsModel>(inputs);
}

}  // namespace sotto::model
