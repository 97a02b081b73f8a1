// The flagship's model. Item vectors come from the catalogue's words (word_space.h) and are never trained;
// readers train some two hundred numbers about how clicks become a reader:
//   u = average + n/(n + e^doubt) · e^scale ∘ Σ softmax(query·x)_i x_i     (n clicks x_i; ∘ per dimension)
// It starts as the mean of the clicks, which ranks well before anything is learned. A full matrix instead of
// the scales learns the training days' items by heart, and under user-level noise every number costs.

#include <cmath>

#include "model/cohort/weighted_rows.h"
#include "model/news/news_models.h"
#include "model/news/news_parts.h"
#include "model/news/news_recommender.h"
#include "model/news/word_space.h"
#include "model/tensor.h"

namespace sotto::model {
namespace {

using torch::Tensor;

constexpr double first_scale = 12, first_doubt = 3;

// Of all words: far cheaper than reading them.
std::uint64_t fingerprint(const ItemFeatures& items) {
  std::uint64_t mixed = 0;
  const auto mix = [&](const auto& numbers) {
    for (const auto number : numbers)
      mixed = (mixed ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15ULL;
  };
  for (const ItemText* text : {&items.titles, &items.abstracts}) mix(text->tokens), mix(text->offsets);
  return mixed;
}

class CatalogueModel final : public NewsRecommender {
 public:
  explicit CatalogueModel(const ModelInputs& inputs)
      : items_(inputs.items),
        words_(inputs.words),
        read_(fingerprint(*items_)),
        vectors_(register_buffer("vectors", words_.vectors_of(*items_))),
        scale_(register_parameter("scale", torch::full({1, vector_size()}, std::log(first_scale)))),
        average_(register_parameter("average", torch::zeros({1, vector_size()}))),
        query_(register_parameter("query", torch::zeros({vector_size()}))),
        doubt_(register_parameter("doubt", torch::full({1, 1}, std::log(first_doubt)))) {}

  Tensor encode_items(std::span<const data::ItemId> items, Pass&) override {
    // Whoever hands a trained model articles of its own puts them in the place of the items.
    if (const std::uint64_t now = fingerprint(*items_); now != read_) {
      vectors_.set_data(words_.vectors_of(*items_).to(vectors_.options()));
      read_ = now;
    }
    const std::vector<std::int64_t> rows(items.begin(), items.end());
    return vectors_.index_select(0, index_tensor(rows, vectors_.device()));
  }

  Tensor encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) override {
    const auto [clicks, segments] = clicks_of(item_vectors, histories, pass);
    const Owners owners = pass.history_owners();
    const Tensor mean =
        ragged_pool(projection(clicks, query_, segments.row_owners()), clicks, segments);  // [U, D]
    const std::vector<std::int64_t> same(histories.size(), 0);
    const Tensor count = clicks_per_history(histories).to(mean.device());  // [U, 1]
    const Tensor trust = count / (count + lookup(doubt_, same, owners).exp());
    return lookup(average_, same, owners) + trust * lookup(scale_, same, owners).exp() * mean;
  }

  std::int64_t vector_size() const override { return vectors_.size(1); }
  std::string_view first_user_parameter() const override { return "scale"; }
  // Vectors are read, not computed.
  std::int64_t bytes_per_item() const override { return 16 * vector_size() * std::int64_t{sizeof(float)}; }

 private:
  static Tensor clicks_per_history(const Histories& histories) {
    std::vector<float> counts;
    for (std::size_t h = 0; h < histories.size(); ++h)
      counts.push_back(static_cast<float>(histories.offsets[h + 1] - histories.offsets[h]));
    return torch::tensor(counts).unsqueeze(1);
  }

  std::shared_ptr<const ItemFeatures> items_;
  WordSpace words_;
  std::uint64_t read_;                      // of the items that vectors_ is made from
  Tensor vectors_;                          // [all items, D]
  Tensor scale_, average_, query_, doubt_;  // [1, D], [1, D], [D], [1, 1]
};

}  // namespace

std::shared_ptr<RankingModel> make_catalogue_model(const ModelInputs& inputs) {
  return std::make_shared<CatalogueModel>(inputs);
}

}  // namespace sotto::model
