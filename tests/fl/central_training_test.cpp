// What central training adds: gradient clipping, validation by time, and runs that repeat bit for bit.

#include <gtest/gtest.h>

#include "fl/central_source.h"
#include "fl/round_engine.h"
#include "fl/tiny_training.h"

namespace sotto::fl {
namespace {

using testing::Tiny;
using torch::Tensor;

Tensor direction(double clip) {
  Tiny tiny;
  CentralSource source(tiny.data, *tiny.training, 8, clip, 5);
  return source.round(0).value().direction;
}

TEST(CentralSource, GradientIsCutToTheNormAskedFor) {
  const Tensor whole = direction(0);
  const double norm = whole.norm().item<double>();
  ASSERT_GT(norm, 0);
  EXPECT_TRUE(direction(2 * norm).equal(whole)) << "a smaller gradient stays as it is";
  EXPECT_TRUE(torch::allclose(direction(norm / 4), whole / 4, 1e-5, 1e-9)) << "same direction, shorter";
}

struct Trained {
  Tensor parameters;
  RunSummary summary;
};

Trained train(EngineSettings settings, const Validate& validate, double learning_rate = 0.02) {
  const TempFolder folder;
  Tiny tiny(0.2);
  CentralSource source(tiny.data, *tiny.training, 8, 1, 5);
  auto optimiser =
      make_optimiser({.optimiser = "adam", .learning_rate = learning_rate}, tiny.parameters->values())
          .value();
  RoundEngine engine(settings, folder.path(), *tiny.parameters, source, *optimiser);
  auto summary = engine.run(false, validate, {}).value();
  return {tiny.parameters->values().clone(), std::move(summary)};
}

TEST(CentralTraining, TwoRunsOfOneSeedAreBitEqual) {
  EngineSettings settings;
  settings.rounds = 12;
  const Trained first = train(settings, {}), second = train(settings, {});
  EXPECT_TRUE(first.parameters.equal(second.parameters));
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(first.summary.rounds[i].loss, second.summary.rounds[i].loss);
}

TEST(CentralTraining, StopsWhenValidationGetsNoBetter) {
  EngineSettings settings;
  settings.rounds = 100, settings.evaluate_every = 2, settings.patience = 3;
  int looks = 0;
  const auto validate = [&] { return metrics::ImpressionMetrics{++looks <= 2 ? 0.1 * looks : 0.1, 0, 0, 0}; };
  const Trained run = train(settings, validate);
  EXPECT_EQ(run.summary.best_round, 4U);
  EXPECT_EQ(run.summary.rounds.size(), 10U);  // three looks later
}

TEST(TrainingData, LatestImpressionsValidateInsteadOfRandomOnes) {
  const TempFolder folder;
  const data::Dataset dataset = testing::tiny_news(folder);
  TrainingDataSettings settings;
  settings.validation_impressions = 5;
  settings.validation = "latest";
  const auto data = prepare_training_data(dataset, settings, 1).value();
  ASSERT_EQ(data.validation.size(), 5U);
  std::int64_t earliest = dataset.impression(data.validation[0]).time;
  for (const std::uint32_t impression : data.validation) {
    EXPECT_EQ(dataset.impression(impression).split, data::Split::train);
    earliest = std::min(earliest, dataset.impression(impression).time);
  }
  for (const auto& samples : data.samples)
    for (const auto& sample : samples) EXPECT_LE(dataset.impression(sample.impression).time, earliest);
  EXPECT_EQ(prepare_training_data(dataset, settings, 2).value().validation, data.validation)
      << "time decides, not the seed";

  settings.validation = "random";
  EXPECT_NE(prepare_training_data(dataset, settings, 1).value().validation, data.validation);
}

}  // namespace
}  // namespace sotto::fl
