// LSTUR (An et al. 2019). News: a title's CNN vector beside the vectors of its category and subcategory.
// User: a GRU over the clicks for the short-term interest, and a vector of the user's own for the long-term
// one, which starts the GRU (ini) or stands beside its result (con). The own vector is masked at random in
// training; a masked or unknown user has the learned row of unknown users, where the paper puts zeros.

#include "model/layers/recurrent.h"
#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

class LsturModel final : public NewsRecommender {
 public:
  explicit LsturModel(const ModelInputs& inputs)
      : shape_(inputs.shape),
        items_(inputs.items),
        size_(shape_.filters + 2 * shape_.category_size),
        beside_(shape_.user_start == "con"),
        words_(register_words(*this, inputs)),
        title_(register_module("title", std::make_shared<TextCnn>(shape_))),
        codes_(register_module("codes", std::make_shared<CategoryVectors>(items_, shape_.category_size))),
        recent_(register_module(
            "recent_clicks",
            std::make_shared<RecentGru>(size_, recent_size(), shape_.recent_clicks, shape_.weights()))),
        own_(register_module(
            "own", std::make_shared<UserVectors>(inputs, beside_ ? size_ - recent_size() : size_))) {}

  Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override {
    return torch::cat({title_->forward(text_rows(words_, items_->titles, items, pass), pass),
                       codes_->categories(items, pass), codes_->subcategories(items, pass)},
                      1);
  }

  Tensor encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) override {
    const auto [vectors, clicks] = clicks_of(item_vectors, histories, pass);
    const Tensor x = dropout(vectors, shape_.dropout, pass), own = own_->forward(histories, pass);
    return beside_ ? torch::cat({recent_->forward(x, clicks), own}, 1) : recent_->forward(x, clicks, own);
  }

  std::int64_t vector_size() const override { return size_; }

 private:
  std::int64_t recent_size() const { return beside_ ? size_ / 2 : size_; }

  NewsShape shape_;
  std::shared_ptr<const ItemFeatures> items_;
  std::int64_t size_;
  bool beside_;
  Tensor words_;
  std::shared_ptr<TextCnn> title_;
  std::shared_ptr<CategoryVectors> codes_;
  std::shared_ptr<RecentGru> recent_;
  std::shared_ptr<UserVectors> own_;
};

}  // namespace

std::shared_ptr<RankingModel> make_lstur(const ModelInputs& inputs) {
  return std::make_shared<LsturModel>(inputs);
}

}  // namespace sotto::model
