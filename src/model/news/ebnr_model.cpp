// EBNR (Okura et al. 2017). News: the encoder of a denoising autoencoder over the words of title and
// abstract; words are hidden at random in training, so the vector must not hang on single ones, and an item
// without words is the zero vector:
//   h = tanh(x W + b) - tanh(b),   x = mean of the word vectors
// The autoencoder's own reconstruction loss is left out: the ranking loss trains it. User: a GRU over the
// clicks.

#include "model/cohort/weighted_rows.h"
#include "model/layers/recurrent.h"
#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

class EbnrModel final : public NewsRecommender {
 public:
  explicit EbnrModel(const ModelInputs& inputs)
      : shape_(inputs.shape),
        items_(inputs.items),
        words_(register_words(*this, inputs)),
        weight_(register_parameter("weight", glorot_uniform(shape_.word_size, shape_.filters))),
        bias_(register_parameter("bias", torch::zeros({shape_.filters}))),
        recent_(register_module(
            "recent_clicks", std::make_shared<RecentGru>(shape_.filters, shape_.filters, shape_.recent_clicks,
                                                         shape_.weights()))) {}

  Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override {
    const auto [words, texts] = text_rows(words_, joined_texts(items), all_rows(items.size()), pass);
    const Tensor kept =
        dropout(torch::ones({words.size(0), 1}, words.options()), shape_.word_mask, pass, texts.row_owners());
    const Owners owners = pass.item_owners();
    const Tensor at_rest = lookup(bias_.unsqueeze(0), std::vector<std::int64_t>(items.size(), 0), owners);
    return affine(segment_mean(words * kept, texts), weight_, bias_, owners).tanh() - at_rest.tanh();
  }

  Tensor encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) override {
    const auto [vectors, clicks] = clicks_of(item_vectors, histories, pass);
    return recent_->forward(dropout(vectors, shape_.dropout, pass, clicks.row_owners()), clicks);
  }

  std::int64_t vector_size() const override { return shape_.filters; }
  std::string_view first_user_parameter() const override { return "recent_clicks.input"; }

 private:
  ItemText joined_texts(std::span<const data::ItemId> items) const {
    ItemText joined;
    joined.offsets.push_back(0);
    for (const data::ItemId item : items) {
      for (const ItemText* text : {&items_->titles, &items_->abstracts})
        joined.tokens.insert(joined.tokens.end(), text->of(item).begin(), text->of(item).end());
      joined.offsets.push_back(static_cast<std::int64_t>(joined.tokens.size()));
    }
    return joined;
  }
  static std::vector<data::ItemId> all_rows(std::size_t count) {
    std::vector<data::ItemId> rows(count);
    for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<data::ItemId>(i);
    return rows;
  }

  NewsShape shape_;
  std::shared_ptr<const ItemFeatures> items_;
  Tensor words_, weight_, bias_;
  std::shared_ptr<RecentGru> recent_;
};

}  // namespace

std::shared_ptr<RankingModel> make_ebnr(const ModelInputs& inputs) {
  return std::make_shared<EbnrModel>(inputs);
}

}  // namespace sotto::model
