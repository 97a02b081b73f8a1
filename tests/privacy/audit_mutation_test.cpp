// The audit can fail: mechanisms whose noise is missing, halved or of the wrong law are caught, at the
// confidence and about the sample size of the audit itself. docs/privacy/audit.md says which mutations no
// audit of this size can see.
#include <gtest/gtest.h>

#include "privacy/audit/audited_mechanism.h"
#include "privacy/audit/mechanism_subjects.h"
#include "privacy/audit_tampering.h"
#include "privacy/mechanisms/choice_release.h"
#include "privacy/mechanisms/label_release.h"
#include "privacy/mechanisms/partition_selection.h"

namespace sotto::privacy {
namespace {

bool caught(const AuditedMechanism& mechanism) {
  const auto finding = audit_mechanism(mechanism, {.samples = 60'000, .seed = 7});
  EXPECT_TRUE(finding.has_value());
  return finding.has_value() && finding->refuted();
}

AuditedMechanism named(std::string_view name) {
  for (const MechanismEntry& entry : audited_mechanisms()) {
    if (entry.name == name) return entry.make().value();
  }
  ADD_FAILURE() << "no mechanism " << name;
  return {};
}

class NoisedNumbers : public ::testing::TestWithParam<const char*> {};

TEST_P(NoisedNumbers, PassUntampered) { EXPECT_FALSE(caught(named(GetParam()))); }
TEST_P(NoisedNumbers, AreCaughtWithoutNoise) {
  EXPECT_TRUE(caught(tampering::noise_scaled(named(GetParam()), 0)));
}
TEST_P(NoisedNumbers, AreCaughtWithHalfOfTheNoise) {
  EXPECT_TRUE(caught(tampering::noise_scaled(named(GetParam()), 0.5)));
}

INSTANTIATE_TEST_SUITE_P(Audit, NoisedNumbers,
                         ::testing::Values("laplace", "gaussian", "elementwise-laplace", "attention-laplace",
                                           "attention-gaussian", "embedding-laplace", "embedding-gaussian",
                                           "partition-catalogue", "clipped-mean", "adaptive-clip",
                                           "skellam-shares", "discrete-gaussian-shares"),
                         [](const ::testing::TestParamInfo<const char*>& which) {
                           std::string name = which.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class NoisedChoices : public ::testing::TestWithParam<const char*> {};

TEST_P(NoisedChoices, PassUntampered) { EXPECT_FALSE(caught(named(GetParam()))); }
TEST_P(NoisedChoices, AreCaughtWhenTheTruthIsTold) {
  EXPECT_TRUE(caught(tampering::told_plainly(named(GetParam()), 1)));
}
TEST_P(NoisedChoices, AreCaughtWhenTheTruthIsToldEveryOtherTime) {
  EXPECT_TRUE(caught(tampering::told_plainly(named(GetParam()), 0.5)));
}

INSTANTIATE_TEST_SUITE_P(Audit, NoisedChoices,
                         ::testing::Values("exponential", "response", "label-release", "prototype-response",
                                           "prototype-similarity"),
                         [](const ::testing::TestParamInfo<const char*>& which) {
                           std::string name = which.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Laplace(1) has standard deviation √2.
TEST(WrongLaw, GaussianOfTheSameVarianceInPlaceOfLaplaceIsCaught) {
  EXPECT_FALSE(caught(tampering::noise_replaced(named("laplace"), tampering::laplace_law(std::sqrt(2.0)))));
  EXPECT_TRUE(caught(tampering::noise_replaced(named("laplace"), tampering::gaussian_law(std::sqrt(2.0)))));
}

// The right law in floating point: the low bits of a sum tell what the noise was added to (Mironov 2012).
TEST(WrongLaw, LaplaceNoiseOffTheGridIsCaught) {
  EXPECT_TRUE(caught(tampering::noise_replaced(named("laplace"), tampering::laplace_draw)));
}

TEST(WrongLaw, UniformNoiseInPlaceOfLaplaceIsCaught) {
  EXPECT_TRUE(caught(tampering::noise_replaced(named("laplace"), tampering::uniform_law(std::sqrt(2.0)))));
}

TEST(WrongLaw, OtherLawsOfTheSameVarianceInPlaceOfGaussianAreCaught) {
  EXPECT_FALSE(caught(tampering::noise_replaced(named("gaussian"), tampering::gaussian_law(1))));
  AuditedMechanism along_one_axis = named("gaussian");
  along_one_axis.noiseless = {std::vector<double>{1, 0, 0, 0}, std::vector<double>(4)};
  along_one_axis.statistics = {projection(along_one_axis.noiseless[0], along_one_axis.noiseless[1])};
  EXPECT_FALSE(caught(tampering::noise_replaced(along_one_axis, tampering::gaussian_law(1))));
  EXPECT_TRUE(caught(tampering::noise_replaced(along_one_axis, tampering::laplace_law(1))));
  EXPECT_TRUE(caught(tampering::noise_replaced(along_one_axis, tampering::uniform_law(1))));
}

TEST(WrongLaw, OtherLawsOfTheSameVarianceInASumAreCaught) {
  AuditedMechanism shares = named("skellam-shares");
  shares.noiseless = {std::vector<double>{40, 0, 0, 0}, std::vector<double>(4)};
  shares.statistics = {projection(shares.noiseless[0], shares.noiseless[1])};
  EXPECT_FALSE(caught(tampering::noise_replaced(shares, tampering::gaussian_law(41))));
  EXPECT_TRUE(caught(tampering::noise_replaced(shares, tampering::uniform_law(40))));
  EXPECT_TRUE(caught(tampering::noise_replaced(shares, tampering::laplace_law(40))));
}

TEST(WrongLaw, ResponseThatForgetsHowManyValuesThereAreIsCaught) {
  AuditedMechanism response = named("response");
  response.release = [](Neighbour neighbour, DeviceRandom random) -> Result<std::vector<double>> {
    const auto value = static_cast<std::uint64_t>(neighbour);
    if (bernoulli(random.source(), 1 / (1 + std::exp(-1.0)))) return std::vector{static_cast<double>(value)};
    const std::uint64_t other = uniform_below(random.source(), 3);
    return std::vector{static_cast<double>(other + (other >= value ? 1 : 0))};
  };
  EXPECT_TRUE(caught(response));
}

TEST(WrongLaw, ExponentialMechanismWithoutItsFactorTwoIsCaught) {
  AuditedMechanism exponential = named("exponential");
  const auto doubled = ExponentialMechanism::create({.epsilon = 2, .sensitivity = 1}).value();
  exponential.release = [doubled](Neighbour neighbour, DeviceRandom random) -> Result<std::vector<double>> {
    std::vector<double> scores(8, neighbour == Neighbour::first ? 0 : 1);
    scores[0] = 1 - scores[0];
    SOTTO_TRY(const std::size_t chosen, doubled.choose(scores, random));
    return std::vector{static_cast<double>(chosen)};
  };
  EXPECT_TRUE(caught(exponential));
}

TEST(WrongLaw, NegativesThatAvoidTheRealClickAreCaught) {
  AuditedMechanism labels = named("label-release");
  labels.release = [](Neighbour neighbour, DeviceRandom random) -> Result<std::vector<double>> {
    constexpr std::uint32_t shown_count = 5;
    SOTTO_TRY(const auto mechanism, SoundLabelRelease::create(1, 2));
    for (;;) {
      SOTTO_TRY(const LabelledSample sample,
                mechanism.release(shown_count, static_cast<std::uint32_t>(neighbour), random));
      std::uint32_t items = sample.positive << shown_count;
      bool real_click_is_negative = false;
      for (const std::uint32_t item : sample.negatives) {
        items |= 1U << item;
        real_click_is_negative |= item == static_cast<std::uint32_t>(neighbour);
      }
      if (!real_click_is_negative) return std::vector{static_cast<double>(items)};
    }
  };
  EXPECT_TRUE(caught(labels));
}

TEST(WrongLaw, PaddingThatIsPromisedButNotDoneIsCaught) {
  AuditedMechanism padded = named("attention-padded");
  // The same noise, but the first neighbour's click always shows.
  padded.release = [release = padded.release, noiseless = padded.noiseless](
                       Neighbour neighbour, DeviceRandom random) -> Result<std::vector<double>> {
    SOTTO_TRY(std::vector<double> released, release(Neighbour::second, random));
    for (std::size_t i = 0; i < released.size(); ++i) {
      released[i] += noiseless[static_cast<std::size_t>(neighbour)][i] - noiseless[1][i];
    }
    return released;
  };
  EXPECT_TRUE(caught(padded));
}

TEST(WrongLaw, ClippingBitWithoutNoiseIsCaught) {
  AuditedMechanism round = named("adaptive-clip");
  round.release = [release = round.release, noiseless = round.noiseless](
                      Neighbour neighbour, DeviceRandom random) -> Result<std::vector<double>> {
    SOTTO_TRY(std::vector<double> released, release(neighbour, random));
    released[1] = noiseless[static_cast<std::size_t>(neighbour)][1];
    return released;
  };
  round.statistics.push_back([](std::span<const double> released) { return released[1]; });
  EXPECT_TRUE(caught(round));
}

// `plain`: without any noise; else with half of it.
AuditedMechanism tampered_item_counts(bool plain) {
  AuditedMechanism counts = named("partition-count");
  const auto twice_the_epsilon = UnknownItems::create(2, 1e-3, 1).value();
  counts.release = [twice_the_epsilon, plain](Neighbour neighbour,
                                              DeviceRandom random) -> Result<std::vector<double>> {
    const ItemCount count{7, neighbour == Neighbour::first ? 12U : 11U};
    if (plain) return std::vector{static_cast<double>(count.users)};
    SOTTO_TRY(const auto shown, twice_the_epsilon.select(std::span(&count, 1), random));
    return std::vector{shown.empty() ? 0.0 : static_cast<double>(shown[0].second)};
  };
  return counts;
}

TEST(WrongLaw, ItemCountsWithTooLittleNoiseAreCaught) {
  EXPECT_FALSE(caught(named("partition-count")));
  EXPECT_TRUE(caught(tampered_item_counts(true)));
  EXPECT_TRUE(caught(tampered_item_counts(false)));
}

TEST(WrongLaw, ThresholdThatNamesLonelyItemsTooOftenIsCaught) {
  AuditedMechanism newcomer = named("partition-newcomer");
  EXPECT_FALSE(caught(newcomer));
  const auto loose = UnknownItems::create(1, 0.1, 1).value();  // five times the promised δ
  newcomer.release = [loose](Neighbour neighbour, DeviceRandom random) -> Result<std::vector<double>> {
    std::vector<ItemCount> counts;
    if (neighbour == Neighbour::first) counts.push_back({7, 1});
    SOTTO_TRY(const auto shown, loose.select(counts, random));
    return std::vector{shown.empty() ? 0.0 : static_cast<double>(shown[0].second)};
  };
  EXPECT_TRUE(caught(newcomer));
}

}  // namespace
}  // namespace sotto::privacy
