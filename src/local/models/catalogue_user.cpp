#include "local/models/catalogue_user.h"

#include "local/models/fetched_vectors.h"
#include "local/tape/arithmetic.h"

namespace sotto::local {

namespace {

class CatalogueUser final : public RankingModel {
 public:
  explicit CatalogueUser(Index size)
      : layout_({{"shared.scale", 1, size},
                 {"shared.average", 1, size},
                 {"shared.query", 1, size},
                 {"shared.doubt", 1, 1}}) {}

  const Layout& layout() const override { return layout_; }
  Index vector_size() const override { return layout_.parts()[0].cols; }
  ItemGradients item_gradients() const override { return ItemGradients::none; }
  Result<std::size_t> count_items(const RoundInputs& inputs) const override {
    return count_vectors(inputs, vector_size());
  }
  Value<float> items(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) const override {
    return fetched_vectors(pass, inputs, items);
  }

  Value<float> users(Pass& pass, const Value<float>& vectors, const Histories& histories) const override {
    const Value<float>&scale = pass.parameters[0], &average = pass.parameters[1], &query = pass.parameters[2],
          &doubt = pass.parameters[3];
    const Value<float> clicks = gather_rows(vectors, histories.rows);
    const Value<float> pooled =
        ragged_pool(product_transposed(clicks, query), clicks, histories.offsets);  // [U, D]
    Rows counts(static_cast<Index>(histories.clicks.size()), 1);
    for (Index u = 0; u < counts.rows(); ++u)
      counts(u, 0) = static_cast<float>(histories.clicks[static_cast<std::size_t>(u)]);
    const Value<float> count = pass.tape.constant(std::move(counts));
    const Value<float> trust = count / (count + exp(doubt));  // [U, 1]
    return average + trust * (exp(scale) * pooled);
  }

  std::size_t numbers_for(const RoundInputs&, ItemRow) const override {
    return static_cast<std::size_t>(vector_size());
  }
  // Of the click, its place in the table and its pooling, with their gradients.
  std::size_t numbers_per_click() const override { return 6 * static_cast<std::size_t>(vector_size()); }

 private:
  Layout layout_;
};

}  // namespace

std::unique_ptr<RankingModel> make_catalogue_user(Index vector_size) {
  return std::make_unique<CatalogueUser>(vector_size);
}

}  // namespace sotto::local
