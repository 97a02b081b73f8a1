#include "local/models/split_user.h"

#include "local/models/fetched_vectors.h"

namespace sotto::local {

namespace {

class SplitUser final : public RankingModel {
 public:
  explicit SplitUser(const AttentionEncoder::Sizes& sizes) : SplitUser(sizes, {}) {}

  const Layout& layout() const override { return layout_; }
  Index vector_size() const override { return size_; }
  ItemGradients item_gradients() const override { return ItemGradients::returned; }
  Result<std::size_t> count_items(const RoundInputs& inputs) const override {
    return count_vectors(inputs, size_);
  }
  Value<float> items(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) const override {
    return fetched_vectors(pass, inputs, items);
  }
  Value<float> users(Pass& pass, const Value<float>& vectors, const Histories& histories) const override {
    return user_.forward(pass, gather_rows(vectors, histories.rows), histories.offsets);
  }
  std::size_t numbers_for(const RoundInputs&, ItemRow) const override {
    return static_cast<std::size_t>(size_);
  }
  std::size_t numbers_per_click() const override { return attention_numbers(size_); }

 private:
  SplitUser(const AttentionEncoder::Sizes& sizes, Parts parts)
      : size_(sizes.in), user_(parts, "user", sizes), layout_(std::move(parts)) {}
  Index size_;
  AttentionEncoder user_;
  Layout layout_;
};

}  // namespace

std::unique_ptr<RankingModel> make_split_user(const AttentionEncoder::Sizes& sizes) {
  return std::make_unique<SplitUser>(sizes);
}

}  // namespace sotto::local
