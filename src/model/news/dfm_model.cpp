// DFM (Lian et al. 2018): features of reader, history and candidate go through inception modules, channels of
// dense layers of depth 1, 2 and 3 side by side; attention fuses the channels of the last one into a score.
// The history is pooled by attention of the candidate.

#include "model/news/news_models.h"
#include "model/news/news_parts.h"

namespace sotto::model {
namespace {

using torch::Tensor;

constexpr std::int64_t channels = 3;

// [P, in] -> [P, channels * width]: channel c is c + 1 dense layers with ReLU.
class Inception final : public torch::nn::Module {
 public:
  Inception(std::int64_t in, std::int64_t width) {
    for (std::int64_t channel = 0; channel < channels; ++channel)
      for (std::int64_t depth = 0; depth <= channel; ++depth)
        layers_[channel].push_back(
            register_module("channel" + std::to_string(channel + 1) + "_layer" + std::to_string(depth + 1),
                            std::make_shared<Dense>(depth == 0 ? in : width, width)));
  }
  Tensor forward(const Tensor& rows) {
    std::vector<Tensor> results;
    for (const auto& channel : layers_) {
      Tensor x = rows;
      for (const auto& layer : channel) x = layer->forward(x).relu();
      results.push_back(x);
    }
    return torch::cat(results, 1);
  }

 private:
  std::vector<std::shared_ptr<Dense>> layers_[channels];
};

class DfmModel final : public RankingModel {
 public:
  explicit DfmModel(const ModelInputs& inputs)
      : shape_(inputs.shape),
        items_(inputs.items),
        item_size_(shape_.word_size + 2 * shape_.category_size),
        words_(register_words(*this, inputs)),
        codes_(register_module("codes", std::make_shared<CategoryVectors>(items_, shape_.category_size))),
        own_(register_module("own", std::make_shared<UserVectors>(inputs, shape_.user_size))),
        attention_(register_module(
            "attention", std::make_shared<CandidateAttention>(item_size_, item_size_, shape_.pooling_size))),
        first_(register_module(
            "first", std::make_shared<Inception>(shape_.user_size + 3 * item_size_, shape_.filters))),
        second_(register_module("second",
                                std::make_shared<Inception>(channels * shape_.filters, shape_.filters))),
        fusion_(register_module("fusion",
                                std::make_shared<AdditivePooling>(shape_.filters, shape_.pooling_size))),
        score_(register_module("score", std::make_shared<Dense>(shape_.filters, 1))) {}

  Tensor scores(const ScoreRequest& request, Pass& pass) override {
    const auto [words, titles] = text_rows(words_, items_->titles, request.items, pass);
    const Tensor items =
        dropout(torch::cat({segment_mean(words, titles), codes_->categories(request.items, pass),
                            codes_->subcategories(request.items, pass)},
                           1),
                shape_.dropout, pass);
    const Tensor history = attention_->forward(clicks_of(items, request.histories, pass), items, request);
    const Tensor candidate = gather_rows(items, {request.pair_item.begin(), request.pair_item.end()});
    const Tensor own = gather_rows(own_->forward(request.histories, pass),
                                   {request.pair_history.begin(), request.pair_history.end()});
    // The product lets a dense layer see how alike history and candidate are.
    const Tensor features = torch::cat({own, history, candidate, history * candidate}, 1);
    const Tensor fused = second_->forward(dropout(first_->forward(features), shape_.dropout, pass));
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(fused.size(0)) + 1);
    for (std::size_t p = 0; p < offsets.size(); ++p) offsets[p] = static_cast<std::int64_t>(p) * channels;
    return score_->forward(fusion_->forward(fused.view({-1, shape_.filters}), Segments(std::move(offsets))))
        .squeeze(1);
  }

 private:
  NewsShape shape_;
  std::shared_ptr<const ItemFeatures> items_;
  std::int64_t item_size_;
  Tensor words_;
  std::shared_ptr<CategoryVectors> codes_;
  std::shared_ptr<UserVectors> own_;
  std::shared_ptr<CandidateAttention> attention_;
  std::shared_ptr<Inception> first_, second_;
  std::shared_ptr<AdditivePooling> fusion_;
  std::shared_ptr<Dense> score_;
};

}  // namespace

std::shared_ptr<RankingModel> make_dfm(const ModelInputs& inputs) {
  return std::make_shared<DfmModel>(inputs);
}

}  // namespace sotto::model
