// Bounds that follow a quantile of the users' norms, in the secure sum and as DP-PrivRec prints it; and the
// noise that must be there.

#include <gtest/gtest.h>

#include <cmath>

#include "fl/printed_means.h"
#include "fl/simulated_rounds.h"

namespace sotto::fl {
namespace {

using testing::WholeModelRounds;

constexpr std::uint64_t population = 400;
constexpr std::int64_t cohort = 100;

// User u always sends an update of norm (u + 1) / 100, along the first axis: norms are uniform on (0, 4].
class KnownNorms final : public UserUpdates {
 public:
  explicit KnownNorms(std::int64_t dimension) : values_(torch::zeros({dimension})) {}
  Status each_update(std::uint32_t, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override {
    for (const data::UserId user : users) {
      UserUpdate own{user, torch::zeros_like(values_), 0, 1};
      own.direction[0] = (user + 1) / 100.0;
      SOTTO_CHECK(take(own));
    }
    return {};
  }
  const torch::Tensor& values() const { return values_; }

 private:
  torch::Tensor values_;
};

CohortSampler sampler() {
  std::vector<data::UserId> users(population);
  for (data::UserId user = 0; user < population; ++user) users[user] = user;
  return CohortSampler::create(users, cohort, 1).value();
}

secagg::EncodingPlan plan_with_bit(std::uint64_t dimension, double noise_multiplier) {
  secagg::EncodingPlan::Settings settings;
  settings.dimension = dimension;
  settings.clip = 1;
  settings.clip_bit_weight = 0.5;
  settings.denominator = cohort;
  settings.devices = cohort;
  settings.noise_multiplier = noise_multiplier;
  settings.adjacency = privacy::Adjacency::replace_one;
  settings.step = secagg::finest_step(settings, 20).value();
  return secagg::EncodingPlan::create(settings).value();
}

privacy::AdaptiveClip::Settings printed(double noise) {
  privacy::AdaptiveClip::Settings settings;
  settings.mode = privacy::GuaranteeMode::paper;
  settings.initial_bound = 0.5, settings.smallest_bound = 0.01, settings.rate = 0.1;
  settings.quantile = 0.7, settings.budget_share = 0.7;
  settings.noise_multiplier = noise, settings.cohort = cohort, settings.server_rate = 0.5;
  return settings;
}

double mean_of_last(UpdateSource& source, const std::function<double()>& bound) {
  double sum = 0;
  for (std::uint32_t round = 0; round < 300; ++round) {
    EXPECT_TRUE(source.round(round));
    if (round >= 200) sum += bound();
  }
  return sum / 100;
}

class AdaptiveBoundOf : public testing::EitherGather {};
INSTANTIATE_TEST_SUITE_P(Gathers, AdaptiveBoundOf, testing::either_gather,
                         [](const auto& test) { return std::string(test.param); });

TEST_P(AdaptiveBoundOf, ConvergesToTheQuantileInsideTheSecureSum) {
  KnownNorms norms(4);
  WholeModelRounds parts(GetParam(), plan_with_bit(4, 0.5), sampler(), 1000, norms, norms.values(), 1);
  CohortRounds& source = parts.rounds;
  source.follow({0.5, 0.01, 0.7, 0.1});
  EXPECT_NEAR(mean_of_last(source, [&] { return source.bound(); }), 0.7 * 4, 0.1);
}

TEST(AdaptiveBound, ConvergesToTheQuantileAsPrinted) {
  KnownNorms norms(4);
  PrintedMeans source(printed(0.5), sampler(), norms, norms.values(), privacy::NoiseOrigin::reproducible(1));
  EXPECT_NEAR(mean_of_last(source, [&] { return source.bound(); }), 0.7 * 4, 0.1);
}

TEST_P(AdaptiveBoundOf, StaysAboveItsFloor) {
  KnownNorms norms(4);
  WholeModelRounds parts(GetParam(), plan_with_bit(4, 0.5), sampler(), 1000, norms, norms.values(), 1);
  CohortRounds& source = parts.rounds;
  source.follow({1, 0.8, 0.01, 0.5});
  for (std::uint32_t round = 0; round < 20; ++round) ASSERT_TRUE(source.round(round));
  EXPECT_NEAR(source.bound(), 0.8, 0.05);
}

// Root mean square of coordinates that no user touches.
double spread(const torch::Tensor& direction) {
  const torch::Tensor rest = direction.narrow(0, 1, direction.numel() - 1);
  return std::sqrt(rest.square().mean().item<double>());
}

TEST_P(AdaptiveBoundOf, TheNoiseInTheSecureSumIsThePromisedOneTimesTheBound) {
  constexpr std::int64_t dimension = 4000;
  KnownNorms norms(dimension);
  const secagg::EncodingPlan plan = plan_with_bit(dimension, 1);
  WholeModelRounds parts(GetParam(), plan, sampler(), 1000, norms, norms.values(), 1);
  CohortRounds& source = parts.rounds;
  source.follow({2, 0.01, 0.7, 0.1});
  EXPECT_NEAR(spread(source.round(0).value().direction) / (2 * plan.sigma_of_mean()), 1, 0.05);
}

TEST(AdaptiveBound, ThePrintedNoiseIsNotScaledByTheServersStep) {
  // theta += alpha3 * mean + N(0, (2Sz/M)^2 / (1 - h)); the direction is multiplied by alpha3 later.
  KnownNorms norms(4000);
  PrintedMeans source(printed(1), sampler(), norms, norms.values(), privacy::NoiseOrigin::reproducible(1));
  const double expected = 2 * 0.5 * 1 / static_cast<double>(cohort) / std::sqrt(0.3) / 0.5;
  EXPECT_NEAR(spread(source.round(0).value().direction) / expected, 1, 0.05);
}

TEST_P(AdaptiveBoundOf, ARoundAskedAgainFromTheSameStateIsTheSame) {
  KnownNorms norms(4);
  WholeModelRounds parts(GetParam(), plan_with_bit(4, 0.5), sampler(), 1000, norms, norms.values(), 1);
  CohortRounds& source = parts.rounds;
  source.follow({1, 0.01, 0.7, 0.1});
  const torch::Tensor before = source.state().front()->clone();
  const torch::Tensor first = source.round(5).value().direction;
  source.state().front()->copy_(before);
  EXPECT_TRUE(torch::equal(first, source.round(5).value().direction));
}

}  // namespace
}  // namespace sotto::fl
