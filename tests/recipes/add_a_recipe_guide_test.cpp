// docs/guides/add-a-recipe.md, followed: its blocks stand here line for line.

#include <gtest/gtest.h>

#include "data/newsroom/newsroom.h"
#include "recipes/news_run.h"
#include "recipes/recipe.h"
#include "test_paths.h"

namespace sotto::recipes {
namespace {

// FedSGD (McMahan et al. 2017) over NRMS: every round a cohort of users computes the gradient of the model on
// its own clicks; the server averages and takes one plain step. Only gradients leave a device. No DP.
class FedSgd final : public NewsRecipe {
 public:
  FedSgd() : NewsRecipe({}) {}

  void bind(SettingsTable& table) override {
    engine_.bind(table);
    federated_.bind(table);
    optimiser_.optimiser = "sgd";
    optimiser_.learning_rate = 0.1;
    optimiser_.bind(table);
    news_.model = "nrms";
    news_.shape.train_words = true;
    news_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.data().users, federated_.cohort, request.seed));
    fl::PlainMeans source(std::move(sampler),
                          fl::news_mean(federated_, fl::make_transforms(federated_), run.training()));
    return run.train(source, optimiser_, engine_);
  }

 private:
  fl::FederatedSettings federated_;
  fl::OptimiserSettings optimiser_;
};

constexpr RecipeEntry fedsgd = {
    "fedsgd", "FedSGD over NRMS: one plain step per round, without noise",
    "No differential privacy. Clicks and histories stay on the devices; the server sees the gradient of "
    "every "
    "user who takes part in a round, from which clicked items can be reconstructed.",
    false, [] { return std::unique_ptr<Recipe>(std::make_unique<FedSgd>()); }};

TEST(AddARecipeGuide, ItsRecipeTrainsARunAndMeasuresItAgain) {
  const TempFolder folder;
  data::NewsroomSettings small;
  small.users = 60, small.news = 100, small.days = 3;
  ASSERT_TRUE(data::generate_newsroom(small, folder / "news"));
  const data::Dataset dataset = data::Dataset::open(folder / "news").value();
  fs::create_directory(folder / "run");

  const auto recipe = fedsgd.make();
  SettingsTable table;
  recipe->bind(table);
  for (const char* setting : {"rounds=3", "cohort=10", "word_size=8", "heads=2", "head_size=4",
                              "pooling_size=4", "validation_impressions=0"})
    ASSERT_TRUE(table.set_assignment(setting)) << setting;
  std::size_t measured = 0;
  const Evaluate measure = [&](model::RankingModel&, const data::Dataset&,
                               std::span<const std::uint32_t> impressions, std::size_t) {
    measured = impressions.size();
    return metrics::MeanImpressionMetrics{};
  };
  const RunRequest request{.dataset = dataset, .run = folder / "run", .evaluate = measure};
  const auto outcome = recipe->train(request);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_GT(outcome->parameters, 0);
  EXPECT_GT(outcome->bytes_up, 0U);
  EXPECT_GT(measured, 0U) << "the test impressions are measured at the end";
  measured = 0;
  const auto again = recipe->evaluate(request);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GT(measured, 0U);
}

TEST(AddARecipeGuide, ItsGuaranteeSaysWhatTheServerSees) {
  EXPECT_FALSE(fedsgd.differentially_private);
  EXPECT_NE(fedsgd.guarantee.find("No differential privacy"), std::string_view::npos);
}

}  // namespace
}  // namespace sotto::recipes
