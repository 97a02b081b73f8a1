// PLM-NR (Wu et al. 2021), the model of Efficient-FedRec: a large news model for the server, the small user
// model of NRMS for devices.
//   news: pieces -> BERT -> additive pooling -> linear
//   user: dropout -> self-attention over clicks -> dropout -> additive pooling
// No dropout in the news model, so that gradients through news vectors are exact.

#include "model/bert/bert_text.h"
#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

class PlmNrModel final : public NewsRecommender {
 public:
  explicit PlmNrModel(const ModelInputs& inputs)
      : items_(inputs.items), size_(inputs.shape.attention_size()) {
    TORCH_CHECK(inputs.bert != nullptr, "PLM-NR needs a language model");
    text_ = register_module("text", std::make_shared<BertTextEncoder>(inputs.bert, inputs.shape.pooling_size,
                                                                      inputs.shape.bert_memory << 20));
    projection_ = register_module("projection", std::make_shared<Dense>(text_->config().hidden, size_));
    user_ = register_module("user", std::make_shared<AttentionEncoder>(inputs.shape, size_));
  }

  Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override {
    std::vector<std::int64_t> pieces, offsets = {0};
    std::vector<float> worded;  // 0 for an item without words: its vector is zero, whatever the bias
    for (const data::ItemId item : items) {
      const auto own = items_->titles.of(item);
      pieces.insert(pieces.end(), own.begin(), own.end());
      worded.push_back(own.empty() ? 0.0F : 1.0F);
      offsets.push_back(static_cast<std::int64_t>(pieces.size()));
    }
    const Segments texts(std::move(offsets), pass.item_owners());
    const Tensor vectors = projection_->forward(text_->forward(pieces, texts), pass.item_owners());
    return vectors * torch::tensor(worded).to(vectors).unsqueeze(1);
  }

  Tensor encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) override {
    const auto [vectors, clicks] = clicks_of(item_vectors, histories, pass);
    return user_->forward(vectors, clicks, pass);
  }

  std::int64_t vector_size() const override { return size_; }
  std::string_view first_user_parameter() const override { return "user.attention.weight"; }
  bool bounds_its_memory() const override { return true; }  // by bert_memory
  std::int64_t bytes_per_item() const override {
    constexpr std::int64_t pieces = 20;
    return pieces * text_->config().layers * activation_bytes(text_->config(), pieces);
  }

 private:
  std::shared_ptr<const ItemFeatures> items_;
  std::int64_t size_;
  std::shared_ptr<BertTextEncoder> text_;
  std::shared_ptr<Dense> projection_;
  std::shared_ptr<AttentionEncoder> user_;
};

}  // namespace

std::shared_ptr<RankingModel> make_plm_nr(const ModelInputs& inputs) {
  return std::make_shared<PlmNrModel>(inputs);
}

}  // namespace sotto::model
