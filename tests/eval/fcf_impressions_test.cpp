// fcf on impressions from the command's point of view.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/written_view.h"
#include "eval/training_run.h"
#include "fl/factorisation_training.h"
#include "fl/same_behaviour.h"
#include "fl/tiny_interactions.h"

namespace sotto::eval {
namespace {

using ::testing::HasSubstr;

TrainJob small_job(const fs::path& out, std::int64_t rounds) {
  TrainJob job;
  job.recipe = "fcf";
  job.out = out;
  job.rounds = rounds;
  job.assignments = {"cohort=12", "factors=6", "learning_rate=0.05"};
  return job;
}

// Users of two tastes; a test impression shows one more item of the user's taste among items that the user
// never rated, of both tastes.
data::Dataset tiny_impressions(const TempFolder& ratings, const TempFolder& view) {
  data::ImpressionViewOptions options;
  options.negatives = 4;
  options.test_share = 0.3;
  const auto made =
      data::write_impression_view(fl::testing::tiny_ratings(ratings, 60), options, view / "view");
  if (!made) throw std::runtime_error(made.error().message);
  return data::Dataset::open(view / "view").value();
}

TEST(FcfOnImpressions, LearnsWhatUsersLikeAndGivesItsGoldenMetrics) {
  const TempFolder ratings, view, runs;
  const data::Dataset dataset = tiny_impressions(ratings, view);
  const auto outcome = train_run(small_job(runs / "run", 60), dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->held_out);
  EXPECT_LT(outcome->summary.rounds.back().loss, outcome->summary.rounds.front().loss);
  EXPECT_EQ(outcome->summary.best_round, 60U) << "no round is chosen on what users did";
  EXPECT_NEAR(outcome->test.mean.auc, 0.696, 0.005);
  EXPECT_NEAR(outcome->test.mean.mrr, 0.610, 0.005);
  EXPECT_NEAR(outcome->test.mean.ndcg10, 0.707, 0.005);
  const auto again = evaluate_run(runs / "run", dataset);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_DOUBLE_EQ(std::get<metrics::MeanImpressionMetrics>(*again).mean.auc, outcome->test.mean.auc);
}

TEST(FcfOnImpressions, TrainsTheFactorsOfTheSameInteractionsBitForBit) {
  const TempFolder folder, same, runs;
  const data::Dataset ratings = fl::testing::tiny_ratings(folder);
  const data::Dataset impressions =
      fl::testing::as_impressions(ratings, fl::prepare_interactions(ratings, {}, 1).value(), same);
  ASSERT_TRUE(train_run(small_job(runs / "ratings", 5), ratings, {}));
  ASSERT_TRUE(train_run(small_job(runs / "impressions", 5), impressions, {}));
  fl::FactorisationSettings settings;
  settings.factors = 6;
  fl::FactorModel model(static_cast<std::int64_t>(ratings.item_count()), settings);
  const std::string layout = model::FlatParameters(model).layout();
  const auto factors = [&](const char* run) {
    return fl::load_checkpoint(runs / run / "best.sotto", layout).value().parameters;
  };
  EXPECT_TRUE(torch::equal(factors("ratings"), factors("impressions")));
}

TEST(FcfOnImpressions, ResumedRunEqualsAnUninterruptedOne) {
  const TempFolder ratings, view, runs;
  const data::Dataset dataset = tiny_impressions(ratings, view);
  const auto straight = train_run(small_job(runs / "whole", 4), dataset, {});
  ASSERT_TRUE(straight) << straight.error().message;
  ASSERT_TRUE(train_run(small_job(runs / "parts", 2), dataset, {}));
  TrainJob rest = small_job(runs / "parts", 4);
  rest.resume = true;
  rest.assignments.clear();
  const auto resumed = train_run(rest, dataset, {});
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->test.mean.auc, straight->test.mean.auc);
}

TEST(FcfOnImpressions, HoldsNoNewsModelAndSaysWhatItHolds) {
  const TempFolder ratings, view, runs;
  const data::Dataset dataset = tiny_impressions(ratings, view);
  ASSERT_TRUE(train_run(small_job(runs / "run", 1), dataset, {}));
  const auto news = recipes::open_news_run(runs / "run", dataset);
  ASSERT_FALSE(news);
  EXPECT_THAT(news.error().message, HasSubstr("vectors of items that are known by their ids"));
}

TEST(FcfOnImpressions, DataWithoutBehaviourIsRefused) {
  const TempFolder data, runs;
  data::DatasetBuilder builder("items", "test");
  builder.add_item({.id = "a", .title = "a"});
  ASSERT_TRUE(builder.write(data.path()));
  const auto refused = train_run(small_job(runs / "run", 2), data::Dataset::open(data.path()).value(), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("neither interactions nor impressions"));
  EXPECT_FALSE(fs::exists(runs / "run"));
}

}  // namespace
}  // namespace sotto::eval
