// The noise that private training promises is in its updates, and nobody is exposed more often than allowed.

#include "fl/cohort_rounds.h"

#include <gtest/gtest.h>

#include "fl/simulated_rounds.h"
#include "fl/tiny_training.h"

namespace sotto::fl {
namespace {

using testing::Tiny;
using testing::WholeModelRounds;
using torch::Tensor;

secagg::EncodingPlan plan_for(const Tiny& tiny, std::uint64_t cohort, double noise_multiplier,
                              std::uint64_t dropped = 0) {
  secagg::EncodingPlan::Settings settings;
  settings.dimension = static_cast<std::uint64_t>(tiny.parameters->size());
  settings.clip = 0.5;
  settings.denominator = static_cast<double>(cohort);
  settings.devices = cohort;
  settings.dropped = dropped;
  settings.noise_multiplier = noise_multiplier;
  settings.adjacency = privacy::Adjacency::replace_one;
  settings.step = secagg::finest_step(settings, 24).value();
  return secagg::EncodingPlan::create(settings).value();
}

WholeModelRounds source(const char* sums, const Tiny& tiny, const secagg::EncodingPlan& plan,
                        std::uint64_t cap, std::uint64_t noise_seed) {
  return {
      sums,
      plan,
      CohortSampler::create(tiny.data.users, static_cast<std::int64_t>(plan.settings().devices), 5).value(),
      cap,
      *tiny.training,
      tiny.parameters->values(),
      noise_seed};
}

Tensor clipped_mean(const Tiny& tiny, std::uint32_t round, double clip, std::int64_t cohort) {
  Tensor sum = torch::zeros_like(tiny.parameters->values());
  for (const data::UserId user : CohortSampler::create(tiny.data.users, cohort, 5).value().sample(round)) {
    const Tensor own = tiny.training->user_gradient(round, user).gradient.clone();
    sum += own * std::min(1.0, clip / own.norm().item<double>());
  }
  return sum / static_cast<double>(cohort);
}

class CohortRoundsOf : public testing::EitherGather {};
INSTANTIATE_TEST_SUITE_P(Gathers, CohortRoundsOf, testing::either_gather,
                         [](const auto& test) { return std::string(test.param); });

TEST_P(CohortRoundsOf, UpdatesAreTheClippedMeanWithThePromisedNoise) {
  const Tiny tiny;
  const std::uint64_t cohort = 8, dropped = 2;
  const secagg::EncodingPlan plan = plan_for(tiny, cohort, 0.05, dropped);
  const Tensor expected = clipped_mean(tiny, 1, 0.5, static_cast<std::int64_t>(cohort));
  double squares = 0, sums = 0, count = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Tensor noise = source(GetParam(), tiny, plan, 100, seed).round(1).value().direction - expected;
    squares += noise.pow(2).sum().item<double>();
    sums += noise.sum().item<double>();
    count += static_cast<double>(noise.numel());
  }
  // Nobody dropped, so the noise is that of all devices: more than promised by the shares kept in reserve.
  const double sigma = plan.sigma_of_mean() * std::sqrt(static_cast<double>(cohort) / (cohort - dropped));
  // Six standard errors of the variance and of the mean: false alarms below 1 in 10^8.
  EXPECT_NEAR(squares / count / (sigma * sigma), 1, 6 * std::sqrt(2 / count) + 0.01);
  EXPECT_NEAR(sums / count, 0, 6 * sigma / std::sqrt(count));
}

TEST_P(CohortRoundsOf, HalvedOrMissingNoiseWouldBeSeen) {
  const Tiny tiny;
  const secagg::EncodingPlan plan = plan_for(tiny, 8, 0.05), half = plan_for(tiny, 8, 0.025);
  const Tensor expected = clipped_mean(tiny, 1, 0.5, 8);
  const auto variance = [&](const secagg::EncodingPlan& used) {
    return (source(GetParam(), tiny, used, 100, 3).round(1).value().direction - expected)
        .pow(2)
        .mean()
        .item<double>();
  };
  const double promised = plan.sigma_of_mean() * plan.sigma_of_mean();
  EXPECT_GT(variance(plan), 0.8 * promised);
  EXPECT_LT(variance(half), 0.5 * promised);
}

TEST_P(CohortRoundsOf, ARoundAskedForAgainIsTheSame) {
  const Tiny tiny;
  auto rounds = source(GetParam(), tiny, plan_for(tiny, 6, 1), 100, 9);
  const Tensor first = rounds.round(3).value().direction.clone();
  EXPECT_TRUE(rounds.round(4));
  EXPECT_TRUE(torch::equal(rounds.round(3).value().direction, first));
  EXPECT_FALSE(torch::equal(rounds.round(4).value().direction, first));
}

TEST_P(CohortRoundsOf, DevicesStayAwayOnceTheyHaveTakenPartOftenEnough) {
  const Tiny tiny;  // 12 users
  auto capped = source(GetParam(), tiny, plan_for(tiny, 12, 1, 12 - 2), 2, 9);
  EXPECT_EQ(capped.round(0).value().clients, 12U);
  EXPECT_EQ(capped.round(1).value().clients, 12U);
  const auto third = capped.round(2);
  ASSERT_FALSE(third) << "everybody has taken part twice";
  EXPECT_NE(third.error().message.find("participations"), std::string::npos) << third.error().message;
}

}  // namespace
}  // namespace sotto::fl
