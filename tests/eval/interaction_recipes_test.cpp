// Every recipe on interactions from the command's point of view: it trains, learns, resumes, is measured, and
// says what it guarantees.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "eval/training_run.h"
#include "fl/tiny_interactions.h"

namespace sotto::eval {
namespace {

const std::vector<std::string> small_factors = {"cohort=12",
                                                "embedding=6",
                                                "hidden=6",
                                                "layers=2",
                                                "negatives=3",
                                                "embedding_scale=0.3",
                                                "local_learning_rate=0.5"};

TrainJob job_of(const std::string& recipe, const fs::path& out, std::int64_t rounds,
                std::vector<std::string> more = {}) {
  TrainJob job;
  job.reproducible = true;
  job.recipe = recipe;
  job.out = out;
  job.rounds = rounds;
  if (recipe == "fcf") {
    job.assignments = {"cohort=12", "factors=6"};
  } else {
    job.assignments = small_factors;
  }
  job.assignments.insert(job.assignments.end(), more.begin(), more.end());
  return job;
}

struct Golden {
  std::string recipe;
  double hits5;
  std::vector<std::string> settings = {};
};
// Server optimisers that step by gradients need larger steps on data this small.
const std::vector<std::string> large_steps = {"learning_rate=0.05"}, few_epochs = {"local_epochs=4"};

class InteractionRecipe : public ::testing::TestWithParam<Golden> {};

TEST_P(InteractionRecipe, LearnsWhatUsersLikeAndGivesItsGoldenMetrics) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  TrainJob job = job_of(GetParam().recipe, runs / "run", 60, GetParam().settings);
  const auto outcome = train_run(job, dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->held_out);
  EXPECT_LT(outcome->summary.rounds.back().loss, outcome->summary.rounds.front().loss);
  EXPECT_GT(outcome->held_out->mean.hits[0], outcome->held_out->beside[0].metrics.hits[0])
      << "popularity does not know the two tastes";
  EXPECT_NEAR(outcome->held_out->mean.hits[0], GetParam().hits5, 0.02);
  const auto again = evaluate_run(runs / "run", dataset);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_DOUBLE_EQ(std::get<metrics::HeldOutReport>(*again).mean.hits[0], outcome->held_out->mean.hits[0]);
}

TEST_P(InteractionRecipe, ResumedRunEqualsAnUninterruptedOneBitForBit) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data);
  const auto straight = train_run(job_of(GetParam().recipe, runs / "whole", 4), dataset, {});
  ASSERT_TRUE(straight) << straight.error().message;
  ASSERT_TRUE(train_run(job_of(GetParam().recipe, runs / "parts", 2), dataset, {}));
  TrainJob rest = job_of(GetParam().recipe, runs / "parts", 4);
  rest.resume = true;
  rest.assignments.clear();
  const auto resumed = train_run(rest, dataset, {});
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->summary.rounds.back().loss, straight->summary.rounds.back().loss);
  EXPECT_EQ(resumed->held_out->mean.hits[0], straight->held_out->mean.hits[0]);
}

std::string complete(const std::string& recipe, const std::vector<std::string>& choice) {
  const auto made = recipes::find_recipe(recipe).value()->make();
  SettingsTable table;
  EXPECT_TRUE(recipes::bind_settings(*made, table, choice));
  return table.to_json().dump();
}

TEST(InteractionRecipes, PrivRecStartsAsReptileAndFederatedSgdIsAVariant) {
  const auto paper = nlohmann::json::parse(complete("privrec", {}));
  EXPECT_EQ(paper.at("cohort"), 30);
  EXPECT_EQ(paper.at("optimiser"), "sgd");
  EXPECT_EQ(paper.at("local_steps"), 0) << "all steps of the local epochs";
  EXPECT_GT(paper.at("local_epochs"), 1);
  EXPECT_GT(paper.at("proximal"), 0);
  EXPECT_EQ(paper.at("proximal_norm"), "paper");
  EXPECT_GT(paper.at("tuning_epochs"), 0);
  const auto fedsgd = nlohmann::json::parse(complete("privrec", {"variant=fedsgd"}));
  EXPECT_EQ(fedsgd.at("local_steps"), 1);
  EXPECT_EQ(fedsgd.at("optimiser"), "adam");
  EXPECT_EQ(fedsgd.at("tuning_epochs"), 0);
}

TEST(InteractionRecipes, NnSelfIsTestedAfterTheStepItWasTrainedFor) {
  const auto maml = nlohmann::json::parse(complete("nn-self", {}));
  EXPECT_EQ(maml.at("tuning_epochs"), 1);
  EXPECT_EQ(maml.at("tuning_rate"), maml.at("local_learning_rate"));
}

TEST(InteractionRecipes, ARunWhoseDevicesTuneIsMeasuredAgainWithTuning) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  const auto tuned =
      train_run(job_of("privrec", runs / "tuned", 20, {"tuning_epochs=2", "tuning_rate=0.5"}), dataset, {});
  ASSERT_TRUE(tuned) << tuned.error().message;
  const auto plain = train_run(job_of("privrec", runs / "plain", 20, {"tuning_epochs=0"}), dataset, {});
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_NE(tuned->held_out->mean.ndcg[0], plain->held_out->mean.ndcg[0]);
  const auto again = evaluate_run(runs / "tuned", dataset);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_DOUBLE_EQ(std::get<metrics::HeldOutReport>(*again).mean.ndcg[0], tuned->held_out->mean.ndcg[0]);
}

INSTANTIATE_TEST_SUITE_P(Recipes, InteractionRecipe,
                         ::testing::Values(Golden{"privrec", 1, few_epochs},
                                           Golden{"nn-self", 1, large_steps},
                                           Golden{"fofl-self", 1, few_epochs}, Golden{"fcf", 1, large_steps},
                                           Golden{"privrec-cen", 1, large_steps}),
                         [](const auto& test) {
                           std::string name = test.param.recipe;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(InteractionRecipes, TheLastLineHasHitsAndTheRowsBesideTheModel) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data);
  const auto outcome = train_run(job_of("privrec", runs / "run", 2), dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto line = to_json(*outcome);
  for (const char* key : {"hits5", "hits10", "hits20", "hits30", "ndcg5", "ndcg30", "epsilon", "bytes_up"})
    EXPECT_TRUE(line.contains(key)) << key;
  EXPECT_FALSE(line.contains("auc"));
  EXPECT_TRUE(line.at("beside").contains("popularity"));
  EXPECT_EQ(line.at("by_activity").size(), 3U);
}

TEST(InteractionRecipes, NewsDataIsRefusedWithAdvice) {
  const TempFolder data, runs;
  data::DatasetBuilder builder("news", "test");
  builder.add_item({.id = "a", .title = "a"});
  ASSERT_TRUE(builder.write(data.path()));
  const auto refused =
      train_run(job_of("privrec", runs / "run", 2), data::Dataset::open(data.path()).value(), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no interactions"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(fs::exists(runs / "run"));
}

TEST(DpPrivRec, SoundModeNeedsABudget) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data);
  const auto refused = train_run(job_of("dp-privrec", runs / "run", 2), dataset, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--epsilon"), std::string::npos) << refused.error().message;
}

TEST(DpPrivRec, SoundModeSpendsTheBudgetAndNotMore) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  TrainJob job = job_of("dp-privrec", runs / "run", 4);
  job.epsilon = "20";
  const auto outcome = train_run(job, dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->privacy);
  EXPECT_LE(*outcome->privacy->epsilon_server, 20);
  EXPECT_GT(*outcome->privacy->epsilon_server, 19);
  EXPECT_EQ(outcome->privacy->unit, privacy::Unit::user);
  EXPECT_TRUE(fs::exists(runs / "run" / "privacy.toml"));
}

TEST(DpPrivRec, PaperModePrintsTheClaimAndWhatHolds) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data, 60);
  TrainJob job =
      job_of("dp-privrec", runs / "run", 3, {"learning_rate=0.5", "printed_bound=1", "labels=sampled"});
  job.mode = "paper";
  const auto outcome = train_run(job, dataset, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->privacy);
  EXPECT_FALSE(outcome->privacy->epsilon_server) << "the server adds the noise: it sees every difference";
  ASSERT_TRUE(outcome->privacy->epsilon_claimed);
  ASSERT_TRUE(outcome->privacy->epsilon_published);
  EXPECT_GT(*outcome->privacy->epsilon_claimed, *outcome->privacy->epsilon_published);
}

TEST(DpPrivRec, PaperModeRefusesOptimisersThatItsNoiseDoesNotFit) {
  const TempFolder data, runs;
  const data::Dataset dataset = fl::testing::tiny_ratings(data);
  TrainJob job = job_of("dp-privrec", runs / "run", 2, {"optimiser=adam", "labels=sampled"});
  job.mode = "paper";
  const auto refused = train_run(job, dataset, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("optimiser=sgd"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace sotto::eval
