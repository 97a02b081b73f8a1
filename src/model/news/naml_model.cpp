// NAML (Wu et al. 2019): title, abstract, category and subcategory are views of an item, each encoded for
// itself and merged by additive attention; a user is the additive pooling of the clicks. A view an item does
// not have (no abstract, unknown category) takes no part in the merge.

#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

class NamlModel final : public NewsRecommender {
 public:
  explicit NamlModel(const ModelInputs& inputs)
      : shape_(inputs.shape),
        items_(inputs.items),
        words_(register_words(*this, inputs)),
        title_(register_module("title", std::make_shared<TextCnn>(shape_))),
        abstract_(register_module("abstract", std::make_shared<TextCnn>(shape_))),
        codes_(register_module("codes", std::make_shared<CategoryVectors>(items_, shape_.category_size))),
        category_(register_module("category", std::make_shared<Dense>(shape_.category_size, shape_.filters))),
        subcategory_(
            register_module("subcategory", std::make_shared<Dense>(shape_.category_size, shape_.filters))),
        views_(
            register_module("views", std::make_shared<AdditivePooling>(shape_.filters, shape_.pooling_size))),
        clicks_(register_module("clicks",
                                std::make_shared<AdditivePooling>(shape_.filters, shape_.pooling_size))) {}

  Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override {
    // All views of all items as one table: view v of item i is row v * M + i.
    const Tensor table =
        torch::cat({title_->forward(text_rows(words_, items_->titles, items, pass), pass),
                    abstract_->forward(text_rows(words_, items_->abstracts, items, pass), pass),
                    category_->forward(codes_->categories(items, pass), pass.item_owners()).relu(),
                    subcategory_->forward(codes_->subcategories(items, pass), pass.item_owners()).relu()});
    std::vector<std::int64_t> rows, offsets = {0};
    for (std::size_t i = 0; i < items.size(); ++i) {
      const data::ItemId item = items[i];
      const bool present[] = {!items_->titles.of(item).empty(), !items_->abstracts.of(item).empty(),
                              items_->categories[item] != 0, items_->subcategories[item] != 0};
      for (std::size_t view = 0; view < std::size(present); ++view)
        if (present[view]) rows.push_back(static_cast<std::int64_t>(view * items.size() + i));
      offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
    return views_->forward(gather_rows(table, std::move(rows)),
                           Segments(std::move(offsets), pass.item_owners()));
  }

  Tensor encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) override {
    const auto [vectors, clicks] = clicks_of(item_vectors, histories, pass);
    return clicks_->forward(dropout(vectors, shape_.dropout, pass, clicks.row_owners()), clicks);
  }

  std::int64_t vector_size() const override { return shape_.filters; }
  std::string_view first_user_parameter() const override { return "clicks.weight"; }

 private:
  NewsShape shape_;
  std::shared_ptr<const ItemFeatures> items_;
  Tensor words_;
  std::shared_ptr<TextCnn> title_, abstract_;
  std::shared_ptr<CategoryVectors> codes_;
  std::shared_ptr<Dense> category_, subcategory_;
  std::shared_ptr<AdditivePooling> views_, clicks_;
};

}  // namespace

std::shared_ptr<RankingModel> make_naml(const ModelInputs& inputs) {
  return std::make_shared<NamlModel>(inputs);
}

}  // namespace sotto::model
