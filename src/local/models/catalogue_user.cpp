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

  Status check(const RoundInputs& inputs) const override { return check_vectors(inputs, vector_size()); }

  Value<float> items(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) const override {
    return pass.tape.constant(rows_of(inputs, items));
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

  // Vectors are read, not computed: clicks, their pooling and products.
  std::size_t numbers_per_row() const override { return 4 * static_cast<std::size_t>(vector_size()); }

 private:
  Index vector_size() const { return layout_.parts()[0].cols; }
  Layout layout_;
};

}  // namespace

std::unique_ptr<RankingModel> make_catalogue_user(Index vector_size) {
  return std::make_unique<CatalogueUser>(vector_size);
}

}  // namespace sotto::local
