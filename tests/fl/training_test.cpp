// Federated and central training on a data set that is small enough to check by the slow way.

#include <gtest/gtest.h>

#include "base/interrupt.h"
#include "fl/central_source.h"
#include "fl/divergence.h"
#include "fl/plain_means.h"
#include "fl/round_engine.h"
#include "fl/tiny_training.h"
#include "model/news/news_recommender.h"

namespace sotto::fl {
namespace {

using testing::relative_difference;
using testing::Tiny;
using torch::Tensor;

TEST(NewsTraining, CohortGradientEqualsTheSumOfUserGradients) {
  Tiny tiny;
  for (const auto weighting : {Weighting::samples, Weighting::paper, Weighting::users}) {
    Tensor sum = torch::zeros_like(tiny.parameters->values());
    double loss = 0;
    for (const data::UserId user : tiny.data.users) {
      const auto own = tiny.training->user_gradient(3, user);
      const auto samples = static_cast<double>(own.samples);
      const double weight = weighting == Weighting::samples ? 1
                            : weighting == Weighting::paper ? samples
                                                            : 1 / samples;
      sum += own.gradient * weight;
      loss += own.loss * weight;
    }
    const auto together = tiny.training->cohort_gradient(3, tiny.data.users, weighting);
    EXPECT_LT(relative_difference(together.gradient, sum), 1e-5);
    EXPECT_NEAR(together.loss, loss, 1e-4);
  }
}

// PrivateRec's FedAdam is given the users' gradients as they are: a reader with many clicks counts once.
TEST(NewsTraining, PrintedMeanOfPrivateRecCountsEveryUserOnce) {
  Tiny tiny;
  Tensor mean = torch::zeros_like(tiny.parameters->values());
  for (const data::UserId user : tiny.data.users) {
    const auto own = tiny.training->user_gradient(0, user);
    mean += own.gradient / static_cast<double>(own.samples * tiny.data.users.size());
  }
  FederatedSettings together, apart;
  together.cohort = apart.cohort = static_cast<std::int64_t>(tiny.data.users.size());
  together.mode = apart.mode = "paper";
  together.printed = apart.printed = Weighting::users;
  apart.clip_norm = 1e6;  // never clips, but needs every user's own gradient
  for (const FederatedSettings& settings : {together, apart})
    EXPECT_LT(relative_difference(tiny.source(settings).round(0).value().direction, mean), 1e-5);
}

TEST(NewsRecommender, EncodingItemsInPartsHasTheSameGradient) {
  Tiny tiny;
  auto& model = dynamic_cast<model::NewsRecommender&>(*tiny.model);
  const std::vector<data::ItemId> items = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  torch::manual_seed(3);
  const Tensor weights = torch::randn({10, model.vector_size()});
  const auto gradient = [&](const model::KeptGraph& graph) {
    tiny.parameters->zero_gradients();
    model::Pass pass = model::Pass::train(1, 1);
    (model.encode_items_in_parts(items, pass, graph) * weights).sum().backward();
    return tiny.parameters->gradients().clone();
  };
  const Tensor whole = gradient({10, 10});
  EXPECT_GT(whole.norm().item<double>(), 0);
  for (const model::KeptGraph& graph :
       {model::KeptGraph{1, 1}, model::KeptGraph{3, 2}, model::KeptGraph{5, 4}})
    EXPECT_LT(relative_difference(gradient(graph), whole), 1e-5) << graph.kept;
}

TEST(NewsRecommender, EncodingUsersInPartsHasTheSameVectorsAndGradients) {
  Tiny tiny;
  auto& model = dynamic_cast<model::NewsRecommender&>(*tiny.model);
  model::Histories histories;
  for (const auto& rows :
       std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {}, {3}, {4, 5, 6, 7, 0}, {}, {2, 2}})
    histories.add(rows);
  torch::manual_seed(4);
  const Tensor items = torch::randn({8, model.vector_size()});
  const Tensor weights = torch::randn({6, model.vector_size()});
  const auto look = [&](const model::KeptGraph& clicks) {
    tiny.parameters->zero_gradients();
    model::Pass pass = model::Pass::train(1, 1);
    const Tensor vectors = items.clone().set_requires_grad(true);
    const Tensor users = model.encode_users_in_parts(vectors, histories, pass, clicks);
    (users * weights).sum().backward();
    return std::vector<Tensor>{users.detach(), vectors.grad(), tiny.parameters->gradients().clone()};
  };
  const auto whole = look({100, 100});
  for (const model::KeptGraph& clicks :
       {model::KeptGraph{1, 1}, model::KeptGraph{3, 2}, model::KeptGraph{4, 6}}) {
    const auto parts = look(clicks);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_GT(whole[i].norm().item<double>(), 0);
      EXPECT_LT(relative_difference(parts[i], whole[i]), 1e-5) << clicks.kept << ' ' << i;
    }
  }
}

TEST(PlainMeans, PerUserPathEqualsTheBatchedPath) {
  for (const char* mode : {"sound", "paper"}) {
    Tiny tiny;
    FederatedSettings batched;
    batched.cohort = 6;
    batched.mode = mode;
    FederatedSettings one_by_one = batched;
    one_by_one.clip_norm = 1e6;  // never clips, but needs every user's own gradient
    const auto fast = tiny.source(batched).round(2).value();
    const Tensor direction = fast.direction.clone();
    const auto slow = tiny.source(one_by_one).round(2).value();
    EXPECT_LT(relative_difference(direction, slow.direction), 1e-5) << mode;
    EXPECT_NEAR(fast.loss, slow.loss, 1e-5) << mode;
    EXPECT_EQ(fast.clients, 6U);
    EXPECT_EQ(fast.bytes_up, 4U * static_cast<std::uint64_t>(tiny.parameters->size()));
  }
}

TEST(PlainMeans, OneLocalFullBatchEpochIsOneGradientStep) {
  Tiny tiny;
  FederatedSettings gradient;
  gradient.cohort = 4;
  FederatedSettings local = gradient;
  local.local_epochs = 1, local.local_batch = 1000, local.local_learning_rate = 0.01;
  const Tensor before = tiny.parameters->values().clone();
  const Tensor difference = tiny.source(local).round(1).value().direction.clone();
  EXPECT_TRUE(tiny.parameters->values().equal(before)) << "local training must leave the shared model alone";
  const Tensor direction = tiny.source(gradient).round(1).value().direction;
  EXPECT_LT(relative_difference(difference / 0.01, direction), 1e-3);
}

TEST(PlainMeans, SmallCohortIsDiscarded) {
  Tiny tiny;
  FederatedSettings settings;
  settings.cohort = 1;
  EXPECT_FALSE(tiny.source(settings).round(0));
}

TEST(CentralSource, VisitsEverySampleOncePerEpoch) {
  Tiny tiny;
  CentralSource source(tiny.data, *tiny.training, 4, 0, 5);
  std::uint64_t samples = 0;
  for (std::uint32_t round = 0; round < source.rounds_per_epoch(); ++round)
    samples += source.round(round).value().samples;
  EXPECT_EQ(samples, tiny.data.sample_count());
}

struct Trained {
  Tensor parameters;
  RunSummary summary;
};

Trained train(const fs::path& run, std::int64_t rounds, bool resume, double dropout = 0.2,
              const Observe& observe = {}) {
  Tiny tiny(dropout);
  FederatedSettings federated;
  federated.cohort = 6;
  auto source = tiny.source(federated);
  auto optimiser =
      make_optimiser({.optimiser = "fedadam", .learning_rate = 0.02}, tiny.parameters->values()).value();
  EngineSettings settings;
  settings.rounds = rounds, settings.checkpoint_every = 3;
  RoundEngine engine(settings, run, *tiny.parameters, source, *optimiser);
  auto summary = engine.run(resume, {}, observe).value();
  return {tiny.parameters->values().clone(), std::move(summary)};
}

TEST(RoundEngine, Learns) {
  const TempFolder run;
  const auto trained = train(run.path(), 60, false, 0);
  EXPECT_LT(trained.summary.rounds.back().loss, 0.5 * trained.summary.rounds.front().loss);
}

TEST(RoundEngine, ResumedRunEqualsAnUninterruptedOneBitForBit) {
  const TempFolder whole, parts;
  const auto straight = train(whole.path(), 10, false);
  train(parts.path(), 4, false);
  const auto resumed = train(parts.path(), 10, true);
  EXPECT_TRUE(resumed.parameters.equal(straight.parameters));
  ASSERT_EQ(resumed.summary.rounds.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(resumed.summary.rounds[i].loss, straight.summary.rounds[i].loss);
}

TEST(RoundEngine, InterruptFinishesTheRoundAndSaves) {
  const TempFolder whole, parts;
  const auto straight = train(whole.path(), 8, false);
  const auto cut = train(parts.path(), 8, false, 0.2,
                         [](const RoundRecord& record) { set_interrupted(record.round == 4); });
  set_interrupted(false);
  EXPECT_TRUE(cut.summary.interrupted);
  EXPECT_EQ(cut.summary.rounds.size(), 5U);  // the signal came after round 4: round 5 was finished
  EXPECT_TRUE(train(parts.path(), 8, true).parameters.equal(straight.parameters));
}

// A finite loss, and from some round on a direction that is not made of numbers.
class FailingDirections final : public UpdateSource {
 public:
  FailingDirections(std::int64_t size, std::uint32_t from) : size_(size), from_(from) {}
  Result<RoundUpdate> round(std::uint32_t round) override {
    RoundUpdate update;
    update.direction = torch::full({size_}, round < from_ ? 0.0 : NAN);
    update.loss = 0.5;
    return update;
  }

 private:
  std::int64_t size_;
  std::uint32_t from_;
};

TEST(RoundEngine, AStepOutOfTheNumbersIsDivergenceInItsOwnRoundAlsoTheLast) {
  const TempFolder run;
  Tiny tiny;
  FailingDirections source(tiny.parameters->size(), 2);
  auto optimiser =
      make_optimiser({.optimiser = "sgd", .learning_rate = 0.1}, tiny.parameters->values()).value();
  EngineSettings settings;
  settings.rounds = 3, settings.checkpoint_every = 1;
  RoundEngine engine(settings, run.path(), *tiny.parameters, source, *optimiser);
  const auto trained = engine.run(false, {}, {});
  ASSERT_FALSE(trained);
  EXPECT_EQ(diverged_round(trained.error()), 3U) << trained.error().message;
  const auto kept = load_checkpoint(run.path() / "last.sotto", tiny.parameters->layout());
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->rounds_done, 2U);
  EXPECT_TRUE(kept->parameters.isfinite().all().item<bool>());
}

TEST(RoundEngine, KeepsTheBestRoundAndStopsWithoutPatience) {
  const TempFolder run;
  Tiny tiny;
  FederatedSettings federated;
  federated.cohort = 6;
  auto source = tiny.source(federated);
  auto optimiser =
      make_optimiser({.optimiser = "sgd", .learning_rate = 0.1}, tiny.parameters->values()).value();
  EngineSettings settings;
  settings.rounds = 50, settings.evaluate_every = 1, settings.patience = 4;
  RoundEngine engine(settings, run.path(), *tiny.parameters, source, *optimiser);
  // The third look is the best one; nothing after it counts.
  std::vector<Tensor> seen;
  const auto validate = [&] {
    seen.push_back(tiny.parameters->values().clone());
    return metrics::ImpressionMetrics{seen.size() == 3 ? 0.9 : 0.5, 0, 0, 0};
  };
  const auto summary = engine.run(false, validate, {}).value();
  EXPECT_EQ(summary.best_round, 3U);
  EXPECT_EQ(summary.rounds.size(), 7U);
  EXPECT_TRUE(tiny.parameters->values().equal(seen.at(2)));
}

TEST(RoundEngine, LooksAndWritesAsOftenAsAskedAndAfterTheLastRound) {
  const TempFolder run;
  Tiny tiny;
  FederatedSettings federated;
  federated.cohort = 6;
  auto source = tiny.source(federated);
  auto optimiser =
      make_optimiser({.optimiser = "sgd", .learning_rate = 0.1}, tiny.parameters->values()).value();
  EngineSettings settings;
  settings.rounds = 7, settings.checkpoint_every = 3, settings.evaluate_every = 2;
  RoundEngine engine(settings, run.path(), *tiny.parameters, source, *optimiser);
  std::vector<std::uint32_t> looked, written;
  const auto observe = [&](const RoundRecord& record) {
    if (record.validation) looked.push_back(record.round);
    const auto last = load_checkpoint(run.path() / "last.sotto", tiny.parameters->layout());
    if (last && last->rounds_done == record.round) written.push_back(record.round);
  };
  // No look is better than the first one, which is written for being the best.
  ASSERT_TRUE(engine.run(
      false,
      [] {
        return metrics::ImpressionMetrics{0.5, 0, 0, 0};
      },
      observe));
  EXPECT_EQ(looked, (std::vector<std::uint32_t>{2, 4, 6, 7}));
  EXPECT_EQ(written, (std::vector<std::uint32_t>{2, 3, 6, 7}));
}

TEST(TrainingData, HoldsValidationOutOfTraining) {
  const TempFolder folder;
  const data::Dataset dataset = testing::tiny_news(folder);
  TrainingDataSettings settings;
  settings.validation_impressions = 4;
  const auto data = prepare_training_data(dataset, settings, 1).value();
  EXPECT_EQ(data.validation.size(), 4U);
  EXPECT_EQ(data.test.size(), dataset.user_count());
  for (const auto& samples : data.samples)
    for (const auto& sample : samples)
      EXPECT_EQ(std::count(data.validation.begin(), data.validation.end(), sample.impression), 0);
}

TEST(TrainingData, WarnsThatFewTestImpressionsSayLittle) {
  using ::testing::internal::CaptureStderr, ::testing::internal::GetCapturedStderr;
  const auto said = [](std::uint32_t users) {
    const TempFolder folder;
    const data::Dataset dataset = testing::tiny_news(folder, users);
    CaptureStderr();
    EXPECT_TRUE(prepare_training_data(dataset, {}, 1));
    return GetCapturedStderr();
  };
  const std::string few = said(12);
  EXPECT_NE(few.find("tiny has 12 test impressions: by so few an AUC has a standard error of about "),
            std::string::npos)
      << few;
  EXPECT_EQ(said(100).find("test impressions"), std::string::npos);
}

TEST(TrainingData, TakesTheShareOfUsersAskedFor) {
  const TempFolder folder;
  const data::Dataset dataset = testing::tiny_news(folder);
  TrainingDataSettings settings;
  settings.user_share = 0.5;
  settings.validation_impressions = 0;
  EXPECT_EQ(prepare_training_data(dataset, settings, 1).value().users.size(), 6U);
}

}  // namespace
}  // namespace sotto::fl
