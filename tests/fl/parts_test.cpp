// The parts of a round, one by one.

#include <gtest/gtest.h>

#include <set>

#include "fl/cohort_sampler.h"
#include "fl/plain_means.h"
#include "fl/run_log.h"
#include "fl/server_optimiser.h"
#include "test_paths.h"

namespace sotto::fl {
namespace {

using torch::Tensor;

TEST(CohortSampler, DrawsDistinctUsersThatDependOnTheRoundOnly) {
  auto sampler = CohortSampler::create({3, 5, 7, 9, 11}, 3, 42).value();
  const auto first = sampler.sample(0);
  EXPECT_EQ(std::set<data::UserId>(first.begin(), first.end()).size(), 3U);
  EXPECT_EQ(sampler.sample(0), first);
  bool differs = false;
  for (std::uint32_t round = 1; round < 10; ++round) differs |= sampler.sample(round) != first;
  EXPECT_TRUE(differs);
}

TEST(CohortSampler, GivesEveryUserTheSameChance) {
  auto sampler = CohortSampler::create({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 1).value();
  std::vector<int> times(10, 0);
  constexpr int rounds = 3000;
  for (std::uint32_t round = 0; round < rounds; ++round)
    for (const data::UserId user : sampler.sample(round)) ++times[user];
  for (const int count : times) EXPECT_NEAR(count, rounds * 0.3, 150);  // 6 standard deviations
}

TEST(CohortSampler, RefusesImpossibleCohorts) {
  EXPECT_FALSE(CohortSampler::create({1, 2}, 3, 1));
  EXPECT_FALSE(CohortSampler::create({1, 2}, 0, 1));
  EXPECT_FALSE(CohortSampler::create({}, 1, 1));
}

TEST(WeightedMean, IsTheSameWhetherAddedOrMerged) {
  const Tensor a = torch::tensor({1.0F, 2.0F}), b = torch::tensor({5.0F, -2.0F});
  WeightedMean whole, left, right;
  whole.add(a, 1);
  whole.add(b, 3);
  left.add(a, 1);
  right.add(b, 3);
  left.merge(std::move(right));
  const Tensor expected = torch::tensor({4.0F, -1.0F});
  EXPECT_TRUE(torch::allclose(std::move(whole).report().value(), expected));
  EXPECT_TRUE(torch::allclose(std::move(left).report().value(), expected));
}

TEST(WeightedMean, RefusesToReportBelowTheMinimumCohort) {
  WeightedMean mean(2);
  mean.add(torch::ones({3}), 1);
  EXPECT_FALSE(std::move(mean).report());
}

TEST(ClipNorm, ScalesOnlyWhatIsTooLong) {
  const ClipNorm clip(5);
  Tensor longer = torch::tensor({6.0F, 8.0F}), shorter = torch::tensor({3.0F, 3.0F});
  ASSERT_TRUE(clip.apply(0, 0, longer));
  ASSERT_TRUE(clip.apply(0, 0, shorter));
  EXPECT_TRUE(torch::allclose(longer, torch::tensor({3.0F, 4.0F})));
  EXPECT_TRUE(shorter.equal(torch::tensor({3.0F, 3.0F})));
  Tensor nothing = torch::zeros({2});
  ASSERT_TRUE(clip.apply(0, 0, nothing));
  EXPECT_TRUE(nothing.equal(torch::zeros({2})));
}

Tensor after_steps(const OptimiserSettings& settings, const std::vector<double>& gradients) {
  Tensor parameters = torch::zeros({1}, torch::kFloat64);
  auto optimiser = make_optimiser(settings, parameters).value();
  for (std::uint32_t round = 0; round < gradients.size(); ++round)
    optimiser->step(parameters, torch::full({1}, gradients[round], torch::kFloat64), round);
  return parameters;
}

TEST(ServerOptimiser, SgdAndFedAvgFollowTheirFormulas) {
  EXPECT_NEAR(after_steps({.optimiser = "sgd", .learning_rate = 0.5}, {1, 2}).item<double>(), -1.5, 1e-12);
  EXPECT_NEAR(after_steps({.optimiser = "sgd", .learning_rate = 0.5, .momentum = 0.5}, {1, 2}).item<double>(),
              -0.5 - 0.5 * 2.5, 1e-12);
  EXPECT_NEAR(after_steps({.optimiser = "fedavg", .learning_rate = 9}, {1, 2}).item<double>(), -3, 1e-12);
}

TEST(ServerOptimiser, FedAdamFollowsBothFormulas) {
  for (const bool paper : {false, true}) {
    double theta = 0, m = 0, v = 0;
    for (const double g : {1.0, -3.0, 2.0}) {
      m = 0.9 * m + 0.1 * g;
      v = 0.99 * v + 0.01 * (paper ? m * m : g * g);
      theta -= 0.1 * m / (std::sqrt(v) + 1e-3);
    }
    const OptimiserSettings settings{.optimiser = "fedadam",
                                     .second_moment = paper ? "paper" : "standard",
                                     .learning_rate = 0.1,
                                     .tau = 1e-3};
    EXPECT_NEAR(after_steps(settings, {1, -3, 2}).item<double>(), theta, 1e-12);
  }
}

TEST(ServerOptimiser, StepSizeHalvesAsAskedAndStartsAtItsValue) {
  const OptimiserSettings settings{.optimiser = "sgd", .learning_rate = 0.8, .halve_every = 2};
  EXPECT_DOUBLE_EQ(settings.rate_at(0), 0.8);
  EXPECT_DOUBLE_EQ(settings.rate_at(2), 0.4);
  EXPECT_NEAR(after_steps(settings, {1, 0, 1}).item<double>(), -0.8 - 0.4, 1e-12);
}

TEST(ServerOptimiser, AdamCorrectsItsBias) {
  // The first step of Adam has the length of the learning rate whatever the gradient.
  EXPECT_NEAR(after_steps({.optimiser = "adam", .learning_rate = 0.1, .tau = 1e-12}, {1234}).item<double>(),
              -0.1, 1e-9);
}

TEST(Checkpoint, ComesBackBitForBit) {
  const TempFolder folder;
  torch::manual_seed(1);
  const Checkpoint written{7,
                           5,
                           0.625,
                           12.5,
                           2,
                           "a:3 b:2 ",
                           torch::randn({5}),
                           {torch::randn({5}), torch::ones({1}, torch::kFloat64)},
                           {{6, 0.75}, {7, 0.5}}};
  ASSERT_TRUE(save_checkpoint(folder / "c.sotto", written));
  const auto read = load_checkpoint(folder / "c.sotto", "a:3 b:2 ").value();
  EXPECT_EQ(read.rounds_done, 7U);
  EXPECT_EQ(read.best_round, 5U);
  EXPECT_EQ(read.best_score, 0.625);
  EXPECT_EQ(read.seconds, 12.5);
  EXPECT_TRUE(read.parameters.equal(written.parameters));
  EXPECT_TRUE(read.optimiser.at(0).equal(written.optimiser[0]));
  EXPECT_TRUE(read.optimiser.at(1).equal(written.optimiser[1]));
  ASSERT_EQ(read.unwritten.size(), 2U);
  EXPECT_EQ(read.unwritten[1].loss, 0.5);
}

TEST(Checkpoint, OfAnotherModelIsRefused) {
  const TempFolder folder;
  ASSERT_TRUE(save_checkpoint(folder / "c.sotto", {1, 1, 0, 0, 1, "a:3 ", torch::zeros({3}), {}, {}}));
  EXPECT_FALSE(load_checkpoint(folder / "c.sotto", "a:4 "));
}

TEST(RunLog, EndsWhereTheCheckpointEndsWhateverWasHalfWritten) {
  const TempFolder folder;
  {
    auto log = RunLog::open(folder / "log.jsonl", 0, {}).value();
    for (std::uint32_t round = 1; round <= 3; ++round)
      ASSERT_TRUE(log.append(
          {{round, 1.0 / round, 1, 2, 3, 4, 5, metrics::ImpressionMetrics{0.5, 0.25, 0.125, 0.75}}}));
    auto text = read_file(folder / "log.jsonl").value();
    ASSERT_TRUE(write_file_atomically(folder / "log.jsonl", text + "{\"round\": 4, \"lo"));
  }
  // Rounds whose lines are there were released: an older checkpoint would release them again.
  EXPECT_FALSE(RunLog::open(folder / "log.jsonl", 2, {}));
  const auto log = RunLog::open(folder / "log.jsonl", 3, {}).value();
  ASSERT_EQ(log.records().size(), 3U);
  EXPECT_EQ(log.records()[1].round, 2U);
  EXPECT_EQ(log.records()[1].validation->ndcg10, 0.75);
  EXPECT_EQ(read_run_log(folder / "log.jsonl").size(), 3U);

  // The checkpoint of round 5 has the lines that the log lacks.
  const auto completed =
      RunLog::open(folder / "log.jsonl", 5, {{2, 9}, {4, 0.25}, {5, 0.125}}).value().records();
  ASSERT_EQ(completed.size(), 5U);
  EXPECT_EQ(completed[1].loss, 0.5);
  EXPECT_EQ(completed[4].loss, 0.125);
}

}  // namespace
}  // namespace sotto::fl
