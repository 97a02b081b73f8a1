// Mechanisms that release a choice: exact probabilities, and ratios within e^ε.
#include <gtest/gtest.h>

#include "privacy/mechanisms/choice_release.h"
#include "privacy/mechanisms/label_release.h"
#include "privacy/noise_statistics.h"

namespace sotto::privacy {
namespace {

using statistics::fits_choice;

template <class Choose>
std::vector<std::uint64_t> choices(int count, Choose choose, std::uint64_t seed = 3) {
  SeededRandom random(seed, Purpose::test);
  std::vector<std::uint64_t> seen;
  for (int i = 0; i < count; ++i) seen.push_back(choose(DeviceRandom::simulated(random)));
  return seen;
}

std::vector<double> response_law(double epsilon, std::size_t categories, std::size_t value) {
  const double others = 1 / (std::exp(epsilon) + static_cast<double>(categories) - 1);
  std::vector<double> law(categories, others);
  law[value] = std::exp(epsilon) * others;
  return law;
}

TEST(KaryResponse, KeepsAndReplacesWithTheStatedProbabilities) {
  for (const std::size_t categories : {2U, 5U, 40U}) {
    for (const double epsilon : {0.5, 1.0, 4.0}) {
      const auto response = KaryResponse::create(epsilon, categories).value();
      const auto seen =
          choices(100'000, [&](DeviceRandom random) { return response.respond(1, random).value(); });
      EXPECT_TRUE(fits_choice(seen, response_law(epsilon, categories, 1)));
      // Less noise, no noise, or another value's answer is refused.
      EXPECT_FALSE(fits_choice(seen, response_law(2 * epsilon, categories, 1)));
      EXPECT_FALSE(fits_choice(std::vector<std::uint64_t>(100'000, 1), response_law(epsilon, categories, 1)));
      if (epsilon > 0.5) {
        EXPECT_FALSE(fits_choice(seen, response_law(epsilon, categories, 0)));
      }
    }
  }
}

// Draws `first`, then anything.
class FirstDraw final : public RandomSource {
 public:
  explicit FirstDraw(std::uint64_t first) : first_(first) {}
  void fill(std::span<std::uint64_t> out) override {
    rest_.fill(out);
    out.front() = first_;
  }

 private:
  std::uint64_t first_;
  SeededRandom rest_{1, Purpose::test};
};

// A value is kept when the first draw is below a threshold, which is found by halving.
long double keep_probability(const KaryResponse& response) {
  std::uint64_t kept_below = 0;  // every draw below it keeps the value
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t next = kept_below + (std::uint64_t{1} << bit);
    FirstDraw draw(next - 1);
    if (response.respond(0, DeviceRandom::simulated(draw)).value() == 0) kept_below = next;
  }
  return std::ldexp(static_cast<long double>(kept_below), -64);
}

TEST(KaryResponse, TrueRatioNeverExceedsTheStatedEpsilon) {
  for (const double epsilon : {1e-9, 0.3, 1.0, 7.0, 30.0, 45.0, 700.0}) {
    for (const std::uint64_t categories : {2ULL, 37ULL, 1'000'000ULL}) {
      const auto response = KaryResponse::create(epsilon, categories).value();
      const long double keep = keep_probability(response);
      EXPECT_LT(keep, 1.0L);
      EXPECT_LE(std::log(keep * (static_cast<long double>(categories) - 1) / (1 - keep)), epsilon);
    }
  }
}

std::vector<double> exponential_law(const std::vector<double>& scores, double epsilon, double sensitivity) {
  std::vector<double> law;
  double sum = 0;
  for (const double score : scores) law.push_back(std::exp(epsilon * score / (2 * sensitivity)));
  for (const double weight : law) sum += weight;
  for (double& weight : law) weight /= sum;
  return law;
}

TEST(ExponentialMechanism, ChoosesProportionallyToTheExponentOfTheScore) {
  const std::vector<double> scores{0.0, 0.5, 1.0, -2.0, 0.9};
  for (const double epsilon : {0.5, 2.0, 8.0}) {
    const auto mechanism = ExponentialMechanism::create({.epsilon = epsilon, .sensitivity = 1}).value();
    const auto seen = choices(
        60'000, [&](DeviceRandom random) { return std::uint64_t{mechanism.choose(scores, random).value()}; });
    EXPECT_TRUE(fits_choice(seen, exponential_law(scores, epsilon, 1)));
    EXPECT_FALSE(fits_choice(seen, exponential_law(scores, 2 * epsilon, 1)));
    EXPECT_FALSE(fits_choice(std::vector<std::uint64_t>(60'000, 2), exponential_law(scores, epsilon, 1)));
    EXPECT_FALSE(fits_choice(seen, std::vector<double>(5, 0.2)));
  }
}

TEST(ExponentialMechanism, StatesThePureGuarantee) {
  const auto mechanism = ExponentialMechanism::create({.epsilon = 2, .sensitivity = 1}).value();
  EXPECT_EQ(std::get<PureDp>(mechanism.event().mechanism).epsilon, 2);
}

TEST(PaperLabelPermutation, AlwaysSendsTheRealClickAndSaysThatNothingHolds) {
  const auto mechanism = PaperLabelPermutation::create(1, 4).value();
  SeededRandom random(1, Purpose::test);
  std::vector<unsigned char> clicked(37);
  clicked[11] = clicked[20] = 1;
  for (int i = 0; i < 300; ++i) {
    const auto sample = mechanism.release(clicked, 11, DeviceRandom::simulated(random)).value();
    auto items = sample.negatives;
    items.push_back(sample.positive);
    EXPECT_EQ(items.size(), 5U);
    EXPECT_NE(std::find(items.begin(), items.end(), 11U), items.end());
    EXPECT_EQ(std::find(items.begin(), items.end(), 20U), items.end());
  }
  EXPECT_FALSE(mechanism.statement().holds.has_value());
}

TEST(PaperLabelPermutation, PicksThePositiveWithThePapersOdds) {
  const auto mechanism = PaperLabelPermutation::create(4, 4).value();
  std::vector<unsigned char> clicked(10);
  clicked[0] = 1;
  const double odds = 4.0 / 9 * std::exp(4.0);
  EXPECT_NEAR(std::exp(mechanism.beta(10)), odds, 1e-9);
  const auto seen = choices(50'000, [&](DeviceRandom random) {
    return std::uint64_t{mechanism.release(clicked, 0, random).value().positive};
  });
  std::vector<double> law(10, 4 / (4 + odds) / 9);
  law[0] = odds / (4 + odds);
  EXPECT_TRUE(fits_choice(seen, law));
  EXPECT_FALSE(fits_choice(seen, std::vector<double>(10, 0.1)));
}

TEST(SoundLabelRelease, WholeOutputKeepsTheRatioOfTheStatedEpsilon) {
  // Every output (positive, set of negatives) of a small impression, under two neighbouring clicks.
  const double epsilon = 1.5;
  const auto mechanism = SoundLabelRelease::create(epsilon, 2).value();
  const auto outputs = [&](std::uint32_t click, std::uint64_t seed) {
    return choices(
        120'000,
        [&](DeviceRandom random) {
          const auto sample = mechanism.release(5, click, random).value();
          std::uint64_t set = 0;
          for (const std::uint32_t item : sample.negatives) {
            EXPECT_NE(item, sample.positive);
            set |= 1ULL << item;
          }
          return 32 * std::uint64_t{sample.positive} + set;
        },
        seed);
  };
  const auto law = [&](std::size_t click) {
    std::vector<double> probabilities(160);
    for (std::size_t positive = 0; positive < 5; ++positive) {
      for (std::size_t set = 0; set < 32; ++set) {
        if (__builtin_popcountll(set) != 2 || (set >> positive & 1) != 0) continue;
        probabilities[32 * positive + set] = response_law(epsilon, 5, click)[positive] / 6;  // C(4,2) sets
      }
    }
    return probabilities;
  };
  EXPECT_TRUE(fits_choice(outputs(0, 4), law(0)));
  EXPECT_TRUE(fits_choice(outputs(3, 5), law(3)));
  EXPECT_FALSE(fits_choice(outputs(3, 6), law(0)));
  for (std::size_t i = 0; i < 160; ++i) {
    if (law(0)[i] > 0) {
      EXPECT_LE(law(0)[i], std::exp(epsilon) * law(3)[i] * (1 + 1e-12));
    }
  }
  const auto statement = mechanism.statement(5).value();
  EXPECT_EQ(statement.holds->unit, Unit::click);
  EXPECT_TRUE(validate(*statement.holds).has_value());
}

TEST(PrototypeSelection, ByResponseKeepsTheNearestWithTheStatedProbability) {
  const std::vector<double> similarities{0.1, 0.9, -0.3, 0.2};
  const auto selection = PrototypeSelection::create(PrototypeRule::response, 2, 4).value();
  const auto seen =
      choices(50'000, [&](DeviceRandom random) { return selection.choose(similarities, random).value(); });
  EXPECT_TRUE(fits_choice(seen, response_law(2, 4, 1)));
  EXPECT_FALSE(fits_choice(seen, response_law(1, 4, 1)));
  EXPECT_FALSE(fits_choice(std::vector<std::uint64_t>(50'000, 1), response_law(2, 4, 1)));
}

TEST(PrototypeSelection, BySimilarityIsTheExponentialMechanismWithSensitivityTwo) {
  const std::vector<double> similarities{0.1, 0.9, -0.3, 0.2};
  const auto selection = PrototypeSelection::create(PrototypeRule::similarity, 6, 4).value();
  const auto seen =
      choices(50'000, [&](DeviceRandom random) { return selection.choose(similarities, random).value(); });
  EXPECT_TRUE(fits_choice(seen, exponential_law(similarities, 6, 2)));
  EXPECT_FALSE(fits_choice(seen, exponential_law(similarities, 6, 1)));
}

TEST(PrototypeSelection, SimilaritiesAreCosinesAndSurviveZeroVectors) {
  const std::vector<float> prototypes{1, 0, 0, 2, 0, 0, 1, 1};
  const auto similarities = cosine_similarities(prototypes, std::vector<float>{3, 0}).value();
  EXPECT_NEAR(similarities[0], 1, 1e-12);
  EXPECT_NEAR(similarities[1], 0, 1e-12);
  EXPECT_EQ(similarities[2], 0);
  EXPECT_NEAR(similarities[3], std::sqrt(0.5), 1e-12);
  const auto nothing = cosine_similarities(prototypes, std::vector<float>{0, 0}).value();
  EXPECT_EQ(nothing, std::vector<double>(4));
}

TEST(PrototypeSelection, AnAnswerThatIsMostlyChanceIsNotMixedInAtAll) {
  for (const std::uint64_t prototypes : {2U, 8U, 64U, 256U}) {
    double before = 1;
    for (double epsilon = 0.01; epsilon < 12; epsilon += 0.05) {
      const double told = share_that_tells_nothing(epsilon, prototypes),
                   mixed = share_of_average_user(epsilon, prototypes);
      EXPECT_LE(mixed, before) << "more budget never means more of the average user";
      EXPECT_EQ(mixed, told > 0.75 ? 1 : told);
      before = mixed;
    }
    EXPECT_LT(before, 0.01);
  }
}

}  // namespace
}  // namespace sotto::privacy
