// Bad parameters are refused with the reason, before anything is drawn.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "privacy/accounting/gaussian_exact.h"
#include "privacy/mechanisms/adaptive_clip.h"
#include "privacy/mechanisms/choice_release.h"
#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/label_release.h"
#include "privacy/mechanisms/noise_share.h"
#include "privacy/mechanisms/partition_selection.h"
#include "privacy/mechanisms/private_attention.h"
#include "privacy/mechanisms/user_embedding_release.h"
#include "privacy/mechanisms/vector_release.h"

namespace sotto::privacy {
namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();
const double infinite = std::numeric_limits<double>::infinity();
const std::vector<double> not_positive{0.0, -1.0, not_a_number, infinite, -infinite};
const std::vector<double> not_delta{0.0, 1.0, 1.5, -0.1, not_a_number};
const std::vector<double> not_padding{1.0, -0.1, 2.0, not_a_number};

template <class T>
void expect_refused(const Result<T>& result, const std::string& word) {
  ASSERT_FALSE(result.has_value()) << word;
  EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
  EXPECT_NE(result.error().message.find(word), std::string::npos) << result.error().message;
}

TEST(MechanismRefusals, EpsilonMustBeFiniteAndAboveZero) {
  for (const double bad : not_positive) {
    expect_refused(LaplaceMechanism::create({.epsilon = bad, .l1_sensitivity = 1}), "epsilon");
    expect_refused(classical_noise_multiplier(bad, 1e-5, GuaranteeMode::paper), "epsilon");
    expect_refused(analytic_noise_multiplier(bad, 1e-5), "epsilon");
    expect_refused(KaryResponse::create(bad, 3), "epsilon");
    expect_refused(ExponentialMechanism::create({.epsilon = bad, .sensitivity = 1}), "epsilon");
    expect_refused(PaperLabelPermutation::create(bad, 4), "epsilon");
    expect_refused(SoundLabelRelease::create(bad, 4), "epsilon");
    expect_refused(UnknownItems::create(bad, 1e-6, 3), "epsilon");
    expect_refused(PrototypeSelection::create(PrototypeRule::response, bad, 8), "epsilon");
    expect_refused(PrototypeSelection::create(PrototypeRule::similarity, bad, 8), "epsilon");
    expect_refused(PrivateAttention::create({.basis_vectors = 3, .clip = 1, .epsilon = bad}), "epsilon");
    expect_refused(UserEmbeddingRelease::create({.dimension = 3, .clip = 1, .epsilon = bad}), "epsilon");
  }
}

TEST(MechanismRefusals, DeltaMustLieBetweenZeroAndOne) {
  for (const double bad : not_delta) {
    expect_refused(classical_noise_multiplier(0.5, bad, GuaranteeMode::sound), "delta");
    expect_refused(analytic_noise_multiplier(0.5, bad), "delta");
    expect_refused(true_gaussian_epsilon(1, bad), "delta");
    expect_refused(UnknownItems::create(1, bad, 3), "delta");
    expect_refused(
        PrivateAttention::create(
            {.noise = NoiseKind::gaussian, .basis_vectors = 3, .clip = 1, .epsilon = 1, .delta = bad}),
        "delta");
    expect_refused(UserEmbeddingRelease::create(
                       {.noise = NoiseKind::gaussian, .dimension = 3, .clip = 1, .epsilon = 1, .delta = bad}),
                   "delta");
  }
  expect_refused(PrivateAttention::create({.basis_vectors = 3, .clip = 1, .epsilon = 1, .delta = 1e-6}),
                 "Laplace");
  expect_refused(UserEmbeddingRelease::create({.dimension = 3, .clip = 1, .epsilon = 1, .delta = 1e-6}),
                 "Laplace");
}

TEST(MechanismRefusals, PaddingBelowOne) {
  SecureRandom random;
  for (const double bad : not_padding) {
    expect_refused(PrivateAttention::create({.basis_vectors = 3, .clip = 1, .epsilon = 1, .padding = bad}),
                   "padding");
    expect_refused(draw_padding(3, bad, random), "padding");
  }
  expect_refused(
      UserEmbeddingRelease::create({.dimension = 3, .clip = 1, .epsilon = 1, .padding_in_formula = 0.5}),
      "padding");
}

TEST(MechanismRefusals, BoundsAndScalesMustBePositive) {
  for (const double bad : not_positive) {
    std::vector<double> values{1.0};
    expect_refused(clip_l2(values, bad), "bound");
    expect_refused(clip_l1(values, bad), "bound");
    expect_refused(clip_coordinates(values, bad), "bound");
    expect_refused(GaussianMechanism::create({.noise_multiplier = bad, .l2_sensitivity = 1}),
                   "noise multiplier");
    expect_refused(GaussianMechanism::create({.noise_multiplier = 1, .l2_sensitivity = bad}), "sensitivity");
    expect_refused(LaplaceMechanism::create({.epsilon = 1, .l1_sensitivity = bad}), "sensitivity");
    expect_refused(ElementwiseLaplace::create({.clip = bad, .scale = 1}), "bound");
    expect_refused(ElementwiseLaplace::create({.clip = 1, .scale = bad}), "scale");
    expect_refused(PrivateAttention::create({.basis_vectors = 3, .clip = bad, .epsilon = 1}), "bound");
    expect_refused(UserEmbeddingRelease::create({.dimension = 3, .clip = bad, .epsilon = 1}), "bound");
    expect_refused(ExponentialMechanism::create({.epsilon = 1, .sensitivity = bad}), "sensitivity");
    expect_refused(ClippedMean::create({.clip = bad, .noise_multiplier = 1, .denominator = 1}), "bound");
    expect_refused(ClippedMean::create({.clip = 1, .noise_multiplier = bad, .denominator = 1}),
                   "noise multiplier");
    expect_refused(ClippedMean::create({.clip = 1, .noise_multiplier = 1, .denominator = bad}),
                   "denominator");
    expect_refused(JointClipBit::create(bad, 1), "bound");
    expect_refused(JointClipBit::create(1, bad), "weight");
    expect_refused(NoiseShare::create({.central_sigma = bad, .l2_sensitivity = 1, .devices = 1}), "noise");
    expect_refused(NoiseShare::create({.central_sigma = 9, .l2_sensitivity = bad, .devices = 1}),
                   "sensitivity");
    expect_refused(PublicCatalogue::create(bad, 1, 10), "noise");
  }
}

TEST(MechanismRefusals, CountsMustMakeSense) {
  expect_refused(PrivateAttention::create({.basis_vectors = 1, .clip = 1, .epsilon = 1}), "basis");
  expect_refused(KaryResponse::create(1, 1), "categories");
  expect_refused(PrototypeSelection::create(PrototypeRule::response, 1, 1), "prototypes");
  expect_refused(UnknownItems::create(1, 1e-6, 0), "cap");
  expect_refused(PublicCatalogue::create(5, 11, 10), "catalogue");
  expect_refused(PaperLabelPermutation::create(1, 0), "negatives");
  expect_refused(NoiseShare::create({.central_sigma = 9, .l2_sensitivity = 1, .devices = 0}), "devices");
  expect_refused(NoiseShare::create(
                     {.central_sigma = 9, .l2_sensitivity = 1, .devices = 10, .dropped = 6, .corrupted = 4}),
                 "nobody");
  expect_refused(
      NoiseShare::create({.central_sigma = 9, .l2_sensitivity = 1, .devices = 10, .dropped = ~0ULL}),
      "nobody");
  expect_refused(
      NoiseShare::create(
          {.kind = ShareKind::discrete_gaussian, .central_sigma = 1, .l2_sensitivity = 1, .devices = 100}),
      "finer grid");
  expect_refused(NoiseShare::create({.central_sigma = 9, .l2_sensitivity = 0.5, .devices = 10}), "grid step");
  expect_refused(
      GaussianMechanism::create({.noise_multiplier = 1e6, .l2_sensitivity = 1, .dimension = 1'000'000}),
      "rounding");
  expect_refused(LaplaceMechanism::create({.epsilon = 1e-3, .l1_sensitivity = 1, .dimension = 1'000'000}),
                 "rounding");
}

TEST(MechanismRefusals, AdaptiveClipNamesWhatIsWrong) {
  const AdaptiveClip::Settings good{.initial_bound = 40,
                                    .smallest_bound = 1,
                                    .quantile = 0.9,
                                    .rate = 0.1,
                                    .budget_share = 0.05,
                                    .noise_multiplier = 1,
                                    .cohort = 30};
  ASSERT_TRUE(AdaptiveClip::create(good).has_value());
  auto bad = good;
  bad.budget_share = 0.7;
  expect_refused(AdaptiveClip::create(bad), "one bit");
  bad.mode = GuaranteeMode::paper;
  EXPECT_TRUE(AdaptiveClip::create(bad).has_value());
  for (const double share : {0.0, 1.0, not_a_number}) {
    bad.budget_share = share;
    expect_refused(AdaptiveClip::create(bad), "budget share");
  }
  bad = good;
  bad.quantile = 1;
  expect_refused(AdaptiveClip::create(bad), "quantile");
  bad = good;
  bad.initial_bound = 0.5;
  expect_refused(AdaptiveClip::create(bad), "smallest");
  bad = good;
  bad.cohort = 0;
  expect_refused(AdaptiveClip::create(bad), "cohort");
  SecureRandom random;
  auto clip = AdaptiveClip::create(good).value();
  expect_refused(clip.step(31, random), "cohort");
}

TEST(MechanismRefusals, InputsThatBreakTheSensitivityAreRefused) {
  SecureRandom random;
  const auto attention = PrivateAttention::create({.basis_vectors = 2, .clip = 1, .epsilon = 1}).value();
  expect_refused(attention.release(std::vector<double>{0.5, -0.5}, random), "negative");
  expect_refused(attention.release(std::vector<double>{0.5, not_a_number}, random), "NaN");
  expect_refused(attention.release(std::vector<double>{0.5, 0.2, 0.3}, random), "3 entries");
  const auto prototypes = PrototypeSelection::create(PrototypeRule::similarity, 1, 2).value();
  expect_refused(prototypes.choose(std::vector<double>{0.5, 1.5}, random), "outside");
  expect_refused(prototypes.choose(std::vector<double>{not_a_number, 0.5}, random), "outside");
  const auto response = KaryResponse::create(1, 3).value();
  expect_refused(response.respond(3, random), "outside");
  const auto exponential = ExponentialMechanism::create({.epsilon = 1, .sensitivity = 1}).value();
  expect_refused(exponential.choose({}, random), "nothing");
  expect_refused(exponential.choose(std::vector<double>{infinite}, random), "score");
  const auto labels = SoundLabelRelease::create(1, 4).value();
  expect_refused(labels.release(1, 0, random), "shown");
  expect_refused(labels.release(5, 5, random), "outside");
  const auto paper = PaperLabelPermutation::create(1, 4).value();
  expect_refused(paper.release(std::vector<unsigned char>{0, 1}, 0, random), "not marked");
  expect_refused(paper.release(std::vector<unsigned char>{1, 1}, 0, random), "no negative");
  const auto unknown = UnknownItems::create(1, 1e-6, 3).value();
  expect_refused(unknown.select(std::vector<ItemCount>{{1, 0}}, random), "nobody");
  expect_refused(unknown.select(std::vector<ItemCount>{{1, ~0ULL}}, random), "plausible");
  const auto upload = ElementwiseLaplace::create({.clip = 1, .scale = 1, .dimension = 2}).value();
  expect_refused(upload.release(std::vector<double>{1, not_a_number}, random), "NaN");
}

}  // namespace
}  // namespace sotto::privacy
