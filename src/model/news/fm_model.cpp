// A factorisation machine (Rendle 2010). Features of an item: its words (each 1 / their number), category
// and subcategory; of a reader: the id, and the same features of the clicked items, averaged, with weights of
// their own. With x the features, w their weights and v their factors
//   score = sum w x + 1/2 (|sum v x|^2 - sum |v x|^2)
// Terms of the reader alone are the same for all items and change no ranking; what is left is a product:
//   item: [ S | w + 1/2 (|S|^2 - Q) | S as a click ],   reader: [ S | 1 | 0 ]
// with S = sum v x and Q = sum |v x|^2 over the features of one side. Factors of words start at the word
// vectors.

#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

class FmModel final : public NewsRecommender {
 public:
  explicit FmModel(const ModelInputs& inputs)
      : items_(inputs.items),
        factors_(inputs.shape.word_size),
        clicked_words_(register_parameter("clicked_words", inputs.words.clone(), inputs.shape.train_words)),
        words_(register_words(*this, inputs)),
        word_weights_(register_parameter("word_weights", torch::zeros({words_.size(0), 1}))),
        codes_(register_module("codes", std::make_shared<CategoryVectors>(items_, factors_ + 1))),
        clicked_codes_(register_module("clicked_codes", std::make_shared<CategoryVectors>(items_, factors_))),
        own_(register_module("own", std::make_shared<UserVectors>(inputs, factors_))) {}

  Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override {
    const auto [words, titles] = text_rows(words_, items_->titles, items, pass);
    const Tensor weights = text_rows(word_weights_, items_->titles, items, pass).rows;
    // The last column of a code's vector is its weight w.
    const Tensor category = codes_->categories(items, pass), subcategory = codes_->subcategories(items, pass);
    const Tensor both = category + subcategory;
    const Tensor sum = segment_mean(words, titles) + both.slice(1, 0, factors_);
    const Tensor squares = square_sums(segment_mean(words.square(), titles)) / lengths(titles, words) +
                           square_sums(category.slice(1, 0, factors_).square()) +
                           square_sums(subcategory.slice(1, 0, factors_).square());
    const Tensor linear = segment_mean(weights, titles) + both.slice(1, factors_);
    const Tensor alone = linear + 0.5 * (square_sums(sum.square()) - squares);
    const Tensor clicked = segment_mean(text_rows(clicked_words_, items_->titles, items, pass).rows, titles) +
                           clicked_codes_->categories(items, pass) +
                           clicked_codes_->subcategories(items, pass);
    return torch::cat({sum, alone, clicked}, 1);
  }

  Tensor encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) override {
    const auto [vectors, clicks] = clicks_of(item_vectors.slice(1, factors_ + 1), histories, pass);
    const Tensor sum = own_->forward(histories, pass) + segment_mean(vectors, clicks);
    return torch::cat({sum, torch::ones({sum.size(0), 1}, sum.options()), torch::zeros_like(sum)}, 1);
  }

  std::int64_t vector_size() const override { return 2 * factors_ + 1; }

 private:
  static Tensor square_sums(const Tensor& squares) { return squares.sum(1, true); }  // [M, 1]
  // Words per title, at least 1: [M, 1].
  static Tensor lengths(const Segments& titles, const Tensor& like) {
    std::vector<float> counts;
    for (std::int64_t i = 0; i < titles.count(); ++i)
      counts.push_back(
          static_cast<float>(std::max<std::int64_t>(titles.offsets()[i + 1] - titles.offsets()[i], 1)));
    return torch::tensor(counts).to(like).unsqueeze(1);
  }

  std::shared_ptr<const ItemFeatures> items_;
  std::int64_t factors_;
  Tensor clicked_words_, words_, word_weights_;
  std::shared_ptr<CategoryVectors> codes_, clicked_codes_;
  std::shared_ptr<UserVectors> own_;
};

}  // namespace

std::shared_ptr<RankingModel> make_fm(const ModelInputs& inputs) { return std::make_shared<FmModel>(inputs); }

}  // namespace sotto::model
