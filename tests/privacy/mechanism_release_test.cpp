// Mechanisms that release a noised vector: the noise is the stated one, and so is the guarantee.
#include <gtest/gtest.h>

#include "privacy/accounting/gaussian_exact.h"
#include "privacy/mechanisms/private_attention.h"
#include "privacy/mechanisms/user_embedding_release.h"
#include "privacy/mechanisms/vector_release.h"
#include "privacy/noise_statistics.h"

namespace sotto::privacy {
namespace {

constexpr int releases = 10'000;

// The noise of many releases of one vector: what was released minus the vector, in grid steps.
template <class Release>
std::vector<std::int64_t> noise_of(const std::vector<double>& expected, Release release,
                                   std::uint64_t seed = 1) {
  SeededRandom random(seed, Purpose::test);
  std::vector<std::int64_t> noise;
  for (int i = 0; i < releases; ++i) {
    const Result<GridVector> released = release(DeviceRandom::simulated(random));
    EXPECT_TRUE(released.has_value());
    for (std::size_t j = 0; j < expected.size(); ++j) {
      noise.push_back(released->steps[j] -
                      static_cast<std::int64_t>(std::nearbyint(expected[j] / released->step)));
    }
  }
  return noise;
}

std::vector<std::int64_t> scaled(std::vector<std::int64_t> noise, double factor) {
  for (std::int64_t& x : noise)
    x = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(x) * factor));
  return noise;
}

// A mechanism passes with its own noise and fails with none, half, or the other law at equal variance.
void expect_gaussian(const std::vector<std::int64_t>& noise, double sigma_steps) {
  const auto law = statistics::rounded_gaussian(sigma_steps);
  EXPECT_TRUE(statistics::fits(noise, law, sigma_steps));
  EXPECT_FALSE(statistics::fits(scaled(noise, 0), law, sigma_steps));
  EXPECT_FALSE(statistics::fits(scaled(noise, 0.5), law, sigma_steps));
  EXPECT_FALSE(
      statistics::fits(noise, statistics::discrete_laplace(sigma_steps / std::sqrt(2.0)), sigma_steps));
}

void expect_laplace(const std::vector<std::int64_t>& noise, double scale_steps) {
  const auto law = statistics::discrete_laplace(scale_steps);
  EXPECT_TRUE(statistics::fits(noise, law, scale_steps));
  EXPECT_FALSE(statistics::fits(scaled(noise, 0), law, scale_steps));
  EXPECT_FALSE(statistics::fits(scaled(noise, 0.5), law, scale_steps));
  EXPECT_FALSE(
      statistics::fits(noise, statistics::rounded_gaussian(scale_steps * std::sqrt(2.0)), scale_steps));
}

TEST(GaussianMechanism, AddsGaussianNoiseCalibratedToTheRoundedSensitivity) {
  const auto mechanism =
      GaussianMechanism::create({.noise_multiplier = 1.3, .l2_sensitivity = 0.5, .dimension = 8}).value();
  EXPECT_GE(mechanism.sigma(), 1.3 * (0.5 + mechanism.step() * std::sqrt(8.0)));
  EXPECT_NEAR(mechanism.sigma(), 0.65, 1e-5);
  const std::vector<double> values{0, 0.1, -0.1, 0.3, 0.5, -0.5, 0.25, 0.01};
  const auto noise = noise_of(values, [&](DeviceRandom random) { return mechanism.release(values, random); });
  expect_gaussian(noise, mechanism.sigma() / mechanism.step());
  const PrivacyEvent event = mechanism.event();
  EXPECT_EQ(std::get<GaussianNoise>(event.mechanism).noise_multiplier, 1.3);
  EXPECT_GT(event.total_variation, 0);
  EXPECT_LT(event.total_variation, 1e-22);
  EXPECT_TRUE(validate(event).has_value());
}

TEST(LaplaceMechanism, AddsLaplaceNoiseCalibratedToTheRoundedSensitivity) {
  const auto mechanism =
      LaplaceMechanism::create({.epsilon = 2, .l1_sensitivity = 3, .dimension = 4}).value();
  EXPECT_GE(mechanism.scale(), (3 + 4 * mechanism.step()) / 2);
  EXPECT_NEAR(mechanism.scale(), 1.5, 1e-4);
  const std::vector<double> values{1, -1, 0.5, 0};
  const auto noise = noise_of(values, [&](DeviceRandom random) { return mechanism.release(values, random); });
  expect_laplace(noise, mechanism.scale() / mechanism.step());
  EXPECT_EQ(std::get<PureDp>(mechanism.event().mechanism).epsilon, 2);
  EXPECT_TRUE(validate(mechanism.event()).has_value());
}

TEST(GaussianCalibration, ClassicalFormulaIsRefusedWhereItIsNotProved) {
  EXPECT_TRUE(classical_noise_multiplier(0.99, 1e-5, GuaranteeMode::sound).has_value());
  const auto refused = classical_noise_multiplier(1.0, 1e-5, GuaranteeMode::sound);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("analytic"), std::string::npos);
  // Paper mode computes it; at large ε the truth is worse than the claim.
  const double multiplier = classical_noise_multiplier(20, 1e-5, GuaranteeMode::paper).value();
  EXPECT_GT(true_gaussian_epsilon(multiplier, 1e-5).value(), 20);
}

TEST(GaussianCalibration, AnalyticMultiplierIsTightAndBeatsTheClassicalOne) {
  for (const double epsilon : {0.1, 0.5, 0.9, 3.0, 10.0}) {
    const double analytic = analytic_noise_multiplier(epsilon, 1e-6).value();
    EXPECT_NEAR(true_gaussian_epsilon(analytic, 1e-6).value(), epsilon, 1e-6 * epsilon);
    if (epsilon < 1) {
      EXPECT_LT(analytic, classical_noise_multiplier(epsilon, 1e-6, GuaranteeMode::sound).value());
    }
  }
}

TEST(ElementwiseLaplace, ClipsThenAddsTheStatedNoise) {
  const auto mechanism = ElementwiseLaplace::create({.clip = 0.005, .scale = 0.015, .dimension = 4}).value();
  const std::vector<double> gradient{0.001, -0.002, 3.0, -3.0}, clipped{0.001, -0.002, 0.005, -0.005};
  const double step = grid_step_for(0.015);
  std::vector<double> on_grid = clipped;
  on_grid[2] = std::floor(0.005 / step) * step;
  on_grid[3] = -on_grid[2];
  const auto noise =
      noise_of(on_grid, [&](DeviceRandom random) { return mechanism.release(gradient, random); });
  expect_laplace(noise, 0.015 / step);
}

TEST(ElementwiseLaplace, TrueEpsilonOfFedNewsRecIsTheDimensionTimesTheClaim) {
  const auto mechanism =
      ElementwiseLaplace::create({.clip = 0.005, .scale = 0.015, .dimension = 2'522'800}).value();
  const MechanismStatement statement = mechanism.statement();
  EXPECT_NEAR(statement.claimed_epsilon, 2.0 / 3, 1e-12);
  EXPECT_NEAR(std::get<PureDp>(statement.holds->mechanism).epsilon, 1.68e6, 0.01e6);
}

TEST(PaddingAmplification, MatchesTheCouplingArgumentAndInverts) {
  for (const double p : {0.0, 0.2, 0.5, 0.99}) {
    for (const double epsilon : {0.01, 0.9, 1.1, 10.0, 800.0}) {
      const EpsilonDelta before = budget_before_padding({epsilon, 1e-6}, p);
      const EpsilonDelta after = amplified_by_padding(before, p);
      EXPECT_NEAR(after.epsilon, epsilon, 1e-9 * epsilon);
      EXPECT_NEAR(after.delta, 1e-6, 1e-15);
      EXPECT_GE(before.epsilon, epsilon * (1 - 1e-12));
      if (epsilon < 100) {
        EXPECT_NEAR(std::exp(epsilon) - 1, (1 - p) * (std::exp(before.epsilon) - 1),
                    1e-9 * std::exp(epsilon));
      }
    }
  }
}

TEST(PaddingAmplification, PadsEachItemIndependentlyWithProbabilityP) {
  SeededRandom random(5, Purpose::test);
  std::vector<std::uint64_t> pairs;  // two neighbours as one of four outcomes
  for (int i = 0; i < 50'000; ++i) {
    const auto padded = draw_padding(2, 0.2, DeviceRandom::simulated(random)).value();
    pairs.push_back(static_cast<std::uint64_t>(2 * padded[0] + padded[1]));
  }
  EXPECT_TRUE(statistics::fits_choice(pairs, std::vector<double>{0.64, 0.16, 0.16, 0.04}));
  EXPECT_FALSE(statistics::fits_choice(pairs, std::vector<double>{0.81, 0.09, 0.09, 0.01}));
}

const std::vector<double> some_attention{0.5, 0.3, 0.15, 0.04, 0.01};

PrivateAttention::Settings attention(GuaranteeMode mode, NoiseKind noise, double epsilon, double p) {
  return {.mode = mode,
          .noise = noise,
          .basis_vectors = 5,
          .clip = 0.3,
          .epsilon = epsilon,
          .delta = noise == NoiseKind::gaussian ? 1e-5 : 0,
          .padding = p};
}

std::vector<double> clipped_attention() {
  double squares = 0;
  for (const double a : some_attention) squares += a * a;
  std::vector<double> clipped = some_attention;
  for (double& a : clipped) a *= 0.3 / std::sqrt(squares);
  return clipped;
}

// Scale and sigma are recomputed here from the formulas, not asked from the mechanism.
TEST(PrivateAttention, SoundLaplaceNoiseMatchesItsSensitivity) {
  const auto mechanism =
      PrivateAttention::create(attention(GuaranteeMode::sound, NoiseKind::laplace, 3, 0.5)).value();
  const double before = std::log((std::exp(3.0) - 0.5) / 0.5);
  const double scale = std::sqrt(10.0) * 0.3 / before;
  const auto noise = noise_of(clipped_attention(),
                              [&](DeviceRandom random) { return mechanism.release(some_attention, random); });
  expect_laplace(noise, scale / grid_step_for(scale));
  EXPECT_EQ(std::get<PureDp>(mechanism.statement().holds->mechanism).epsilon, 3);
  EXPECT_EQ(mechanism.statement().holds->unit, Unit::click);
  EXPECT_NEAR(std::get<PureDp>(mechanism.whole_history().mechanism).epsilon, before, 1e-12);
  EXPECT_EQ(mechanism.whole_history().unit, Unit::user);
}

TEST(PrivateAttention, SoundGaussianNoiseMatchesItsSensitivity) {
  const auto mechanism =
      PrivateAttention::create(attention(GuaranteeMode::sound, NoiseKind::gaussian, 2, 0)).value();
  const double sigma = analytic_noise_multiplier(2, 1e-5).value() * std::sqrt(2.0) * 0.3;
  const auto noise = noise_of(clipped_attention(),
                              [&](DeviceRandom random) { return mechanism.release(some_attention, random); });
  expect_gaussian(noise, sigma / grid_step_for(sigma));
  EXPECT_TRUE(std::holds_alternative<GaussianNoise>(mechanism.statement().holds->mechanism));
  EXPECT_EQ(mechanism.statement().holds->unit, Unit::user);
}

TEST(PrivateAttention, PaperNoiseIsThePapersAndTheTruthIsStated) {
  const auto laplace =
      PrivateAttention::create(attention(GuaranteeMode::paper, NoiseKind::laplace, 3, 0)).value();
  const double scale = 0.3 / 3;
  const auto noise = noise_of(clipped_attention(),
                              [&](DeviceRandom random) { return laplace.release(some_attention, random); });
  const double step = grid_step_for(scale);
  expect_laplace(noise, scale / step);
  EXPECT_EQ(laplace.statement().claimed_epsilon, 3);
  EXPECT_NEAR(std::get<PureDp>(laplace.statement().holds->mechanism).epsilon, 3 * std::sqrt(10.0), 1e-9);

  const auto gaussian =
      PrivateAttention::create(attention(GuaranteeMode::paper, NoiseKind::gaussian, 3, 0.5)).value();
  const double before = std::log((std::exp(3.0) - 0.5) / 0.5);
  const double sigma = 0.3 / before * std::sqrt(2 * std::log(1.25 * 0.5 / 1e-5));
  expect_gaussian(noise_of(clipped_attention(),
                           [&](DeviceRandom random) { return gaussian.release(some_attention, random); }),
                  sigma / grid_step_for(sigma));
  const auto truth = std::get<ApproximateDp>(gaussian.statement().holds->mechanism);
  EXPECT_GT(truth.epsilon, 3);
  EXPECT_NEAR(truth.delta, 1e-5, 1e-18);
  EXPECT_FALSE(gaussian.statement().why.empty());
}

TEST(PrivateAttention, AnyTwoAttentionVectorsAreWithinTheStatedSensitivities) {
  SeededRandom random(9, Purpose::test);
  const double theta = 0.4;
  double largest_l1 = 0, largest_l2 = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> difference(4);
    for (const double sign : {1.0, -1.0}) {
      std::vector<double> a(4);
      double sum = 0, squares = 0;
      const unsigned sharp = 1 + static_cast<unsigned>(random() % 12);
      for (double& x : a) sum += x = std::pow(static_cast<double>(random() >> 11) * 0x1.0p-53, sharp);
      for (double& x : a) squares += (x / sum) * (x / sum);
      const double factor = std::min(1.0, theta / std::sqrt(squares)) / sum;
      for (std::size_t i = 0; i < 4; ++i) difference[i] += sign * a[i] * factor;
    }
    double l1 = 0, squares = 0;
    for (const double x : difference) {
      l1 += std::fabs(x);
      squares += x * x;
    }
    largest_l1 = std::max(largest_l1, l1);
    largest_l2 = std::max(largest_l2, std::sqrt(squares));
  }
  EXPECT_LE(largest_l2, std::sqrt(2.0) * theta + 1e-12);
  EXPECT_LE(largest_l1, std::sqrt(8.0) * theta + 1e-12);
  EXPECT_GT(largest_l2, 1.3 * theta);  // the paper's S = θ is not a bound
}

TEST(PrivateAttention, NormalisationIsPositiveAndUniformWhenNothingIsLeft) {
  const std::vector<double> mixed{2, -1, 0}, none{-2, -1, -0.5};
  EXPECT_EQ(normalise_attention(mixed, AttentionActivation::relu), (std::vector<double>{1, 0, 0}));
  for (const double w : normalise_attention(none, AttentionActivation::relu)) EXPECT_DOUBLE_EQ(w, 1.0 / 3);
  double sum = 0;
  for (const double w : normalise_attention(none, AttentionActivation::softplus)) {
    EXPECT_GT(w, 0);
    sum += w;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(UserEmbeddingRelease, NoiseAndTruthOfBothModes) {
  std::vector<double> embedding(16, 1.0), clipped(16, 0.25 * 0.001);
  UserEmbeddingRelease::Settings settings{
      .mode = GuaranteeMode::paper, .dimension = 16, .clip = 0.001, .epsilon = 10};
  const auto paper = UserEmbeddingRelease::create(settings).value();
  EXPECT_NEAR(std::get<PureDp>(paper.statement().holds->mechanism).epsilon, 40, 1e-9);
  const double step = grid_step_for(0.002 / 10);
  expect_laplace(noise_of(clipped, [&](DeviceRandom random) { return paper.release(embedding, random); }),
                 0.002 / 10 / step);

  settings.mode = GuaranteeMode::sound;
  const auto sound = UserEmbeddingRelease::create(settings).value();
  EXPECT_EQ(std::get<PureDp>(sound.statement().holds->mechanism).epsilon, 10);
  const double sound_scale = 4 * 0.002 / 10;
  expect_laplace(noise_of(clipped, [&](DeviceRandom random) { return sound.release(embedding, random); }),
                 sound_scale / grid_step_for(sound_scale));

  settings.noise = NoiseKind::gaussian;
  settings.delta = 1e-6;
  const auto gaussian = UserEmbeddingRelease::create(settings).value();
  const double sigma = analytic_noise_multiplier(10, 1e-6).value() * 0.002;
  expect_gaussian(noise_of(clipped, [&](DeviceRandom random) { return gaussian.release(embedding, random); }),
                  sigma / grid_step_for(sigma));
}

}  // namespace
}  // namespace sotto::privacy
