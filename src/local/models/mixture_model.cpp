#include "local/models/mixture_model.h"

#include <cmath>

#include "local/models/layers.h"
#include "local/tape/arithmetic.h"

namespace sotto::local {

namespace {

class MixtureModel final : public RankingModel {
 public:
  MixtureModel(std::unique_ptr<const RankingModel> inner, Index basis_vectors, double weight_clip)
      : inner_(std::move(inner)),
        layout_(with_basis(*inner_, basis_vectors)),
        clip_(static_cast<float>(weight_clip)) {}

  const Layout& layout() const override { return layout_; }
  Index vector_size() const override { return inner_->vector_size(); }
  ItemGradients item_gradients() const override { return inner_->item_gradients(); }
  Result<std::size_t> count_items(const RoundInputs& inputs) const override {
    return inner_->count_items(inputs);
  }

  Value<float> items(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) const override {
    Pass own{pass.tape, pass.parameters.subspan(1), pass.draws, pass.trains};
    return inner_->items(own, inputs, items);
  }

  Value<float> users(Pass& pass, const Value<float>& vectors, const Histories& histories) const override {
    Pass own{pass.tape, pass.parameters.subspan(1), pass.draws, pass.trains};
    const Value<float>& basis = pass.parameters[0];  // [B, D]
    const Value<float> users = inner_->users(own, vectors, histories);
    const float scale = 1 / std::sqrt(static_cast<float>(vector_size()));
    const Value<float> weights = softmax_rows(scaled(product_transposed(users, basis), scale));
    return product(normalise_rows(clip_rows(weights, clip_)), basis);
  }

  std::size_t numbers_for(const RoundInputs& inputs, ItemRow item) const override {
    return inner_->numbers_for(inputs, item);
  }
  std::size_t numbers_per_click() const override { return inner_->numbers_per_click(); }

 private:
  static Layout with_basis(const RankingModel& inner, Index basis_vectors) {
    Parts parts = {{"basis", basis_vectors, inner.vector_size()}};
    parts.insert(parts.end(), inner.layout().parts().begin(), inner.layout().parts().end());
    return Layout(std::move(parts));
  }
  std::unique_ptr<const RankingModel> inner_;
  Layout layout_;
  float clip_;
};

}  // namespace

std::unique_ptr<RankingModel> make_mixture_model(std::unique_ptr<const RankingModel> inner,
                                                 Index basis_vectors, double weight_clip) {
  return std::make_unique<MixtureModel>(std::move(inner), basis_vectors, weight_clip);
}

}  // namespace sotto::local
