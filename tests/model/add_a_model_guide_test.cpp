// docs/guides/add-a-model.md, followed: its blocks stand here line for line.

#include <gtest/gtest.h>

#include "model/flat_parameters.h"
#include "model/news/news_models.h"
#include "model/news/news_parts.h"
#include "model/small_news.h"

namespace sotto::model {
namespace {

using torch::Tensor;

// A reader's clicks, pooled by additive attention; an item is the mean of its title's words.
class MeanWordsModel final : public NewsRecommender {
 public:
  explicit MeanWordsModel(const ModelInputs& inputs)
      : items_(inputs.items),
        size_(inputs.shape.word_size),
        words_(register_words(*this, inputs)),
        user_(register_module("user", std::make_shared<AdditivePooling>(size_, inputs.shape.pooling_size))) {}

  // [M, D]
  Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override {
    const auto [words, titles] = text_rows(words_, items_->titles, items, pass);
    return segment_mean(words, titles);
  }

  // [U, D]
  Tensor encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) override {
    const auto [vectors, clicks] = clicks_of(item_vectors, histories, pass);
    return user_->forward(vectors, clicks);
  }

  std::int64_t vector_size() const override { return size_; }
  std::string_view first_user_parameter() const override { return "user.weight"; }

 private:
  std::shared_ptr<const ItemFeatures> items_;
  std::int64_t size_;
  Tensor words_;  // [vocabulary, D]
  std::shared_ptr<AdditivePooling> user_;
};

std::shared_ptr<RankingModel> make_mean_words(const ModelInputs& inputs) {
  return std::make_shared<MeanWordsModel>(inputs);
}

constexpr ModelEntry mean_words = {"mean-words",
                                   "mean words of a title, attention over clicks",
                                   FeatureUse{},  // titles alone
                                   true,          // two towers
                                   0,             // no vector of anybody's own
                                   "word_size pooling_size train_words",
                                   &make_mean_words};

TEST(AddAModelGuide, ItsModelIsFiniteForEmptyHistoriesAndItemsWithoutWords) {
  const auto model = mean_words.make(testing::small_inputs());
  Pass pass;
  EXPECT_TRUE(torch::isfinite(model->scores(testing::SmallRequest().request(), pass)).all().item<bool>());
}

TEST(AddAModelGuide, ItsModelLearns) {
  torch::manual_seed(5);
  const auto model = mean_words.make(testing::small_inputs());
  FlatParameters flat(*model);
  const std::vector<data::ItemId> history = {0, 1};
  RankingBatch batch(3, 50);
  batch.add(history, std::vector<data::ItemId>{4, 3, 1}, 1);
  const auto loss = [&] {
    Pass pass = Pass::train(1, 1);
    return batch.loss(*model, pass);
  };
  const double before = loss().item<double>();
  for (int step = 0; step < 20; ++step) {
    flat.zero_gradients();
    loss().backward();
    torch::NoGradGuard no_grad;
    flat.values().sub_(flat.gradients(), 0.1);
  }
  EXPECT_LT(loss().item<double>(), before);
}

TEST(AddAModelGuide, ItsEntryTellsThatDevicesCanTrainItTogether) {
  EXPECT_TRUE(mean_words.federated());
  EXPECT_TRUE(mean_words.reads_setting("pooling_size"));
  EXPECT_FALSE(mean_words.reads_setting("heads"));
}

}  // namespace
}  // namespace sotto::model
