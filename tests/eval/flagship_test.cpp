// The flagship from the command's point of view: it learns under its budget, says what it costs, and refuses
// what would not hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "data/dataset_builder.h"
#include "eval/impression_evaluator.h"
#include "eval/small_newsroom.h"
#include "fl/private_training.h"
#include "publish/served_codebook.h"
#include "publish/two_tower_rows.h"

namespace sotto::eval {
namespace {

using ::testing::HasSubstr;
using testing::refusal;
using testing::SmallNewsroom;

const std::vector<std::string> short_vectors = {"vector_size=12"};

std::vector<std::string> narrow_and(std::vector<std::string> more) {
  more.insert(more.begin(), short_vectors.begin(), short_vectors.end());
  return more;
}

TEST(Flagship, LearnsUnderItsBudgetAndGivesItsGoldenMetrics) {
  const SmallNewsroom news;
  const auto outcome = news.train(news.job("sotto", "run", 6, narrow_and({"personal_steps=3"}), "8"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_NEAR(outcome->test.mean.auc, 0.648, 0.01);
  ASSERT_TRUE(outcome->privacy);
  EXPECT_LE(outcome->privacy->epsilon_server.value(), 8);
  EXPECT_GT(outcome->privacy->epsilon_server.value(), 7.9);
  EXPECT_EQ(outcome->privacy->epsilon_query, 0) << "the device ranks by itself";
  EXPECT_EQ(outcome->parameters, 3 * 12 + 1) << "noise grows with every number that is trained";
  const auto again = evaluate_run(news.runs / "run", news.dataset);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_DOUBLE_EQ(std::get<metrics::MeanImpressionMetrics>(*again).mean.auc, outcome->test.mean.auc);
  std::vector<std::uint32_t> test;
  for (std::uint32_t i = 0; i < news.dataset.impression_count(); ++i)
    if (news.dataset.impression(i).split == data::Split::test) test.push_back(i);
  EXPECT_GT(outcome->test.mean.auc, evaluate_popularity(news.dataset, test).mean.auc);
}

TEST(Flagship, ThePublishedModelHasTheNoiseThatItsBudgetAsksFor) {
  const SmallNewsroom news;
  // One step of everybody: what is published is the start minus the noisy mean.
  const auto published = [&](const std::string& name, const std::string& epsilon) {
    const auto outcome = news.train(
        news.job("sotto", name, 1,
                 narrow_and({"optimiser=sgd", "learning_rate=1", "dropping=0", "corrupted=0"}), epsilon));
    EXPECT_TRUE(outcome) << refusal(outcome);
    torch::Tensor values;
    const recipes::Evaluate look = [&](model::RankingModel& model, const data::Dataset&,
                                       std::span<const std::uint32_t>, std::size_t) {
      std::vector<torch::Tensor> flat;
      for (const auto& parameter : model.parameters()) flat.push_back(parameter.detach().reshape({-1}));
      values = torch::cat(flat).clone();
      return metrics::MeanImpressionMetrics{};
    };
    EXPECT_TRUE(evaluate_run({.run = news.runs / name, .evaluate = look}, news.dataset));
    return values;
  };
  const auto noise = published("noisy", "0.5") - published("hardly", "100000");
  fl::PrivateTrainingSettings budget;
  budget.epsilon = 0.5, budget.dropping = budget.corrupted = 0;
  const std::uint64_t readers =
      fl::prepare_training_data(news.dataset, {.validation_impressions = 0}, 1)->users.size();
  const auto plan = fl::PrivateTraining::calibrate(budget, {37, readers, (readers + 1) / 2, 1}).value();
  const double ratio = noise.pow(2).mean().sqrt().item<double>() / plan.plan.sigma_of_mean();
  // 37 draws: half or twice the noise is far outside.
  EXPECT_GT(ratio, 0.65);
  EXPECT_LT(ratio, 1.45);
}

TEST(Flagship, WithoutNoiseThereIsNoGuarantee) {
  const SmallNewsroom news;
  const auto outcome = news.train(news.job("sotto", "twin", 2, narrow_and({"noise=none"})));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->privacy);
  EXPECT_TRUE(to_json(*outcome).at("epsilon").is_null());
  EXPECT_THAT(refusal(news.train(news.job("sotto", "both", 2, narrow_and({"noise=none"}), "8"))),
              HasSubstr("epsilon has no effect with noise=none"));
}

TEST(Flagship, TellsWhatAnAnswerCostsAndWhatTheServerMakesOfIt) {
  const SmallNewsroom news;
  const auto outcome =
      news.train(news.job("sotto", "run", 2, narrow_and({"serving_epsilon=10", "prototypes=8"}), "8"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->served);
  EXPECT_GT(outcome->served->mean.auc, 0.52);
  EXPECT_LT(outcome->served->mean.auc, outcome->test.mean.auc + 0.01);
  const auto sheet = nlohmann::json::parse(read_file(news.runs / "run/privacy.json", 1 << 16).value());
  EXPECT_EQ(sheet.at("epsilon_query"), 10);
  for (const char* key : {"epsilon", "epsilon_published", "delta", "unit", "mechanism", "not_protected"})
    EXPECT_TRUE(sheet.contains(key)) << key;
  EXPECT_THAT(read_file(news.runs / "run/privacy.txt", 1 << 16).value(),
              HasSubstr("10 each, on top of the training"));
}

// Without chance: at this ε every answer is the true one, and the server ranks by that prototype alone.
TEST(Flagship, TheServedNumberIsThatOfTheCodebookWhichIsServed) {
  const SmallNewsroom news(120);
  const auto outcome =
      news.train(news.job("sotto", "run", 1, narrow_and({"serving_epsilon=1000", "prototypes=6"}), "8"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->served);
  double expected = 0;
  const recipes::Evaluate look = [&](model::RankingModel& model, const data::Dataset& dataset,
                                     std::span<const std::uint32_t> impressions, std::size_t max_history) {
    const torch::NoGradGuard no_grad;
    model::NewsRecommender& towers = *publish::shared_towers(model);
    const auto items = publish::encode_catalogue(towers, dataset.item_count()).value();
    const auto book =
        publish::served_codebook(towers, items, publish::demand_of_items(items, {}, publish::codebook_seed),
                                 {.prototypes = 6, .max_history = max_history})
            .value();
    publish::Rows ranked_by(impressions.size(), items.width);
    for (std::size_t i = 0; i < impressions.size(); ++i) {
      const auto impression = dataset.impression(impressions[i]);
      const auto user =
          publish::encode_histories(towers, items, max_history, {impression.history}, {impression.user})
              .value();
      std::size_t nearest = 0;
      for (std::size_t k = 1; k < book.prototypes.size(); ++k) {
        if (publish::cosine(book.prototypes[k], user[0]) > publish::cosine(book.prototypes[nearest], user[0]))
          nearest = k;
      }
      std::copy_n(book.prototypes[nearest].begin(), items.width, ranked_by[i].begin());
    }
    auto metrics = evaluate_impressions(dataset, impressions, items.values, ranked_by.values, items.width);
    expected = metrics.mean.auc;
    return metrics;
  };
  ASSERT_TRUE(evaluate_run({.run = news.runs / "run", .evaluate = look}, news.dataset));
  EXPECT_NEAR(outcome->served->mean.auc, expected, 1e-6);
}

TEST(Flagship, RefusesWhatWouldNotHoldWithAdvice) {
  const SmallNewsroom news(60);
  const auto refused = [&](std::vector<std::string> more, const std::string& epsilon) {
    return refusal(news.train(news.job("sotto", "refused", 2, narrow_and(std::move(more)), epsilon)));
  };
  EXPECT_THAT(refused({}, ""), HasSubstr("give --epsilon"));
  EXPECT_THAT(refused({"serving_epsilon=5", "prototypes=0"}, "8"), HasSubstr("prototypes to at least 2"));
  EXPECT_THAT(refused({"validation_impressions=10"}, "8"), HasSubstr("validation_impressions=0"));
  EXPECT_THAT(refused({"vector_size=4000"}, "8"), HasSubstr("vector_size"));
  EXPECT_FALSE(fs::exists(news.runs / "refused")) << "nothing is left behind";
}

TEST(Flagship, NeedsDataWithText) {
  const TempFolder data, runs;
  data::DatasetBuilder builder("silent", "test");
  const std::vector<data::ItemId> shown = {builder.add_item({.id = "a"}), builder.add_item({.id = "b"})};
  const data::UserId user = builder.user("u");
  for (const data::Split split : {data::Split::train, data::Split::test})
    builder.add_impression(user, 1, split, builder.add_history(shown), 0, shown,
                           std::vector<std::uint8_t>{1, 0});
  ASSERT_TRUE(builder.write(data.path()));
  TrainJob job;
  job.recipe = "sotto", job.out = runs / "run", job.epsilon = "8";
  EXPECT_THAT(refusal(train_run(job, data::Dataset::open(data.path()).value(), {})),
              HasSubstr("have no text"));
}

TEST(Flagship, APrivateRunKeepsItsNumberOfRounds) {
  const SmallNewsroom news(60);
  ASSERT_TRUE(news.train(news.job("sotto", "run", 2, short_vectors, "8")));
  TrainJob more = news.job("sotto", "run", 4, {});
  more.resume = true;
  EXPECT_THAT(refusal(news.train(more)), HasSubstr("noise is fixed before the first round"));
}

}  // namespace
}  // namespace sotto::eval
