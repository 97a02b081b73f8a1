#include "eval/recommender_evaluator.h"

#include <gtest/gtest.h>

#include "eval/impression_evaluator.h"
#include "fl/tiny_training.h"

namespace sotto::eval {
namespace {

// Hides that a model has two towers.
class OnlyScores final : public model::RankingModel {
 public:
  explicit OnlyScores(model::RankingModel& model) : model_(model) {}
  torch::Tensor scores(const model::ScoreRequest& request, model::Pass& pass) override {
    ++calls;
    return model_.scores(request, pass);
  }
  int calls = 0;

 private:
  model::RankingModel& model_;
};

TEST(RecommenderEvaluator, PairsAndTowersGiveTheSameMetrics) {
  fl::testing::Tiny tiny;
  const auto test = impressions_of_split(tiny.dataset, data::Split::test),
             train = impressions_of_split(tiny.dataset, data::Split::train);
  // Enough impressions for several calls.
  std::vector<std::uint32_t> many;
  for (int i = 0; i < 150; ++i) {
    many.insert(many.end(), test.begin(), test.end());
    many.insert(many.end(), train.begin(), train.end());
  }
  OnlyScores pairs(*tiny.model);
  for (const std::size_t max_history : {0U, 1U, 50U}) {
    const auto fast = evaluate_recommender(*tiny.model, tiny.dataset, many, max_history),
               slow = evaluate_recommender(pairs, tiny.dataset, many, max_history);
    EXPECT_EQ(fast.counted, slow.counted);
    EXPECT_NEAR(fast.mean.auc, slow.mean.auc, 1e-6);
    EXPECT_NEAR(fast.mean.ndcg10, slow.mean.ndcg10, 1e-6);
  }
  EXPECT_GT(pairs.calls, 3);
}

TEST(RecommenderEvaluator, NoImpressionsGiveZeros) {
  fl::testing::Tiny tiny;
  OnlyScores pairs(*tiny.model);
  EXPECT_EQ(evaluate_recommender(*tiny.model, tiny.dataset, {}, 50).counted, 0U);
  EXPECT_EQ(evaluate_recommender(pairs, tiny.dataset, {}, 50).counted, 0U);
}

}  // namespace
}  // namespace sotto::eval
