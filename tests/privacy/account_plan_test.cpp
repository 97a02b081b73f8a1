// Plans, calibration, adversaries and conversions: the right number, or a refusal that says why.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <tuple>

#include "account_events.h"
#include "privacy/accounting/account.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/accounting/gaussian_exact.h"
#include "privacy/accounting/plan.h"
#include "privacy/accounting/plan_epsilon.h"
#include "privacy/accounting/rdp_accountant.h"

namespace sotto::privacy {
namespace {

using namespace account_test;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

::testing::AssertionResult refuses(const PrivacyEvent& event, std::string_view words) {
  const auto answer = account(Events{event}, 1e-6, Method::rdp, Adversary::published);
  if (answer) return ::testing::AssertionFailure() << "accepted with epsilon " << answer->epsilon;
  if (answer.error().message.find(words) == std::string::npos) {
    return ::testing::AssertionFailure() << "the message is: " << answer.error().message;
  }
  return ::testing::AssertionSuccess();
}

TEST(Accounting, RefusesParametersWithoutATheorem) {
  for (const double bad : {0.0, -1.0, not_a_number, double{INFINITY}}) {
    EXPECT_TRUE(refuses(gaussian(bad), "noise multiplier"));
    EXPECT_TRUE(refuses(laplace(bad), "scale"));
    EXPECT_TRUE(refuses(response(bad, 3), "epsilon"));
  }
  EXPECT_TRUE(refuses(response(1, 1), "categories"));
  EXPECT_TRUE(refuses(gaussian(1, 0), "rounds"));
  for (const double bad : {0.0, -0.1, 1.01, not_a_number})
    EXPECT_TRUE(refuses(sampled_gaussian(1, bad, 1), "rate"));
  EXPECT_TRUE(refuses(cohort_gaussian(1, 11, 10, 1), "population"));
  EXPECT_TRUE(refuses(cohort_gaussian(1, 0, 10, 1), "cohort"));
  EXPECT_TRUE(refuses({DiscreteGaussianNoise{0.3, 5, 1, 1, 1}, Adjacency::add_remove, Unit::user}, "sigma"));
  EXPECT_TRUE(refuses({SkellamNoise{100, 1, 2}, Adjacency::add_remove, Unit::user}, "exceeds"));
  for (const double bad : {0.0, 1.0, -1e-6, not_a_number}) {
    EXPECT_FALSE(account(Events{gaussian(1)}, bad, Method::pld, Adversary::published));
  }
  EXPECT_FALSE(account({}, 1e-6, Method::pld, Adversary::published));
}

TEST(Accounting, RefusesCombinationsWithoutATheorem) {
  PrivacyEvent event = response(1, 3);
  event.adjacency = Adjacency::add_remove;
  EXPECT_TRUE(refuses(event, "replace-one"));
  event = sampled_gaussian(1, 0.1, 1);
  event.adjacency = Adjacency::replace_one;
  EXPECT_TRUE(refuses(event, "add-remove"));
  event = cohort_gaussian(1, 1, 10, 1);
  event.adjacency = Adjacency::add_remove;
  EXPECT_TRUE(refuses(event, "replace-one"));
}

TEST(Accounting, RefusesToMixAdjacenciesOrUnits) {
  EXPECT_FALSE(account(Events{gaussian(1), response(1, 2)}, 1e-6, Method::pld, Adversary::published));
  PrivacyEvent click = gaussian(1);
  click.unit = Unit::click;
  EXPECT_FALSE(account(Events{gaussian(1), click}, 1e-6, Method::pld, Adversary::published));
}

TEST(Accounting, GivesTheServerNoAmplification) {
  const auto answer = account(Events{sampled_gaussian(1, 0.01, 10)}, 1e-6, Method::pld, Adversary::server);
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("cohort"), std::string::npos);
}

TEST(Accounting, ChargesTheSamplersDistance) {
  PrivacyEvent event = gaussian(1, 10);
  const auto exact = account(Events{event}, 1e-6, Method::pld, Adversary::server);
  event.total_variation = 1e-16;
  const auto charged = account(Events{event}, 1e-6, Method::pld, Adversary::server);
  ASSERT_TRUE(exact && charged);
  EXPECT_GT(charged->epsilon, exact->epsilon);
  // δ of the ideal law at that ε plus (1 + e^ε)·t fits into 1e-6.
  const double total =
      gaussian_delta(1 / std::sqrt(10.0), charged->epsilon) + (1 + std::exp(charged->epsilon)) * 1e-15;
  EXPECT_LE(total, 1e-6);
  event.total_variation = 1e-7;
  EXPECT_FALSE(account(Events{event}, 1e-6, Method::pld, Adversary::server));
}

TEST(Accounting, ChargesTheSamplersFactorTwiceToEpsilonAndOnceToDelta) {
  PrivacyEvent event = gaussian(1, 10);
  for (const Method method : {Method::pld, Method::rdp, Method::analytic_gaussian}) {
    event.log_ratio = 0;
    const auto exact = account(Events{event}, 1e-6 * std::exp(-0.1), method, Adversary::server);
    event.log_ratio = 0.01;
    const auto charged = account(Events{event}, 1e-6, method, Adversary::server);
    ASSERT_TRUE(exact && charged) << name(method);
    EXPECT_NEAR(charged->epsilon, exact->epsilon + 0.2, 1e-9) << name(method);
    EXPECT_FALSE(charged->epsilon_lower) << "the lower bound is of the law alone";
  }
  PrivacyEvent answer = response(0.5, 4, 6);
  answer.log_ratio = 0.01;
  EXPECT_DOUBLE_EQ(account(Events{answer}, 0, Method::pure_composition, Adversary::server).value().epsilon,
                   6 * 0.52);
  answer.log_ratio = 1;
  EXPECT_TRUE(refuses(answer, "log ratio"));
  answer.log_ratio = not_a_number;
  EXPECT_TRUE(refuses(answer, "log ratio"));
}

TEST(Accounting, AnswersNameTheirAssumptions) {
  const auto answer = account_best(Events{cohort_gaussian(1, 30, 4800, 1000)}, 1e-8, Adversary::published);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->adjacency, Adjacency::replace_one);
  EXPECT_EQ(answer->unit, Unit::user);
  EXPECT_EQ(answer->sampling, "without replacement, 30 of 4800");
  EXPECT_FALSE(answer->notes.empty());
}

TEST(Accounting, PureCompositionAddsUp) {
  const auto answer = account(Events{response(0.5, 4, 6)}, 0, Method::pure_composition, Adversary::server);
  ASSERT_TRUE(answer);
  EXPECT_DOUBLE_EQ(answer->epsilon, 3.0);
  EXPECT_EQ(answer->delta, 0);
  EXPECT_FALSE(account(Events{gaussian(1)}, 0, Method::pure_composition, Adversary::server));
}

TEST(Calibration, FindsTheSmallestNoiseFromTheSafeSide) {
  for (const Method method : {Method::pld, Method::rdp}) {
    const auto noise = smallest_noise(2.0, [&](double candidate) -> Result<double> {
      SOTTO_TRY(const auto holds,
                account(Events{sampled_gaussian(candidate, 0.02, 500)}, 1e-6, method, Adversary::published));
      return holds.epsilon;
    });
    ASSERT_TRUE(noise);
    const auto at = account(Events{sampled_gaussian(*noise, 0.02, 500)}, 1e-6, method, Adversary::published);
    const auto less =
        account(Events{sampled_gaussian(*noise * 0.998, 0.02, 500)}, 1e-6, method, Adversary::published);
    ASSERT_TRUE(at && less);
    EXPECT_LE(at->epsilon, 2.0);
    EXPECT_GT(less->epsilon, 2.0);
  }
}

TEST(Calibration, FindsTheClosedFormWithinItsTolerance) {
  // Largest noise first or last: neither a large nor a small answer may be out of reach.
  for (const double epsilon : {0.01, 0.7, 40.0}) {
    const auto noise = smallest_noise(
        epsilon, [](double candidate) -> Result<double> { return gaussian_epsilon(candidate, 1e-5); });
    ASSERT_TRUE(noise);
    const double exact = gaussian_noise_for(epsilon, 1e-5).value();
    EXPECT_GE(*noise, exact * (1 - 1e-9));
    EXPECT_LE(*noise, exact * (1 + 1.1e-4));
  }
}

// A grid holds noise up to a bound that is no power of two.
TEST(Calibration, FindsNoiseBetweenTooLittleAndMoreThanIsAccountedFor) {
  const auto up_to = [](double most) -> EpsilonOfNoise {
    return [most](double noise) -> Result<double> {
      if (noise > most) return bad_input("the grid is full");
      return 10 / noise;
    };
  };
  const auto found = smallest_noise(1, up_to(11));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NEAR(*found, 10, 2e-3);
  const auto refused = smallest_noise(1, up_to(9));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the grid is full"), std::string::npos) << refused.error().message;
}

TEST(Calibration, RefusesWhatCannotBeReachedAndSaysWhy) {
  const EpsilonOfNoise never = [](double) -> Result<double> { return bad_input("the grid is too coarse"); };
  const auto refused = smallest_noise(1, never);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the grid is too coarse"), std::string::npos);
  EXPECT_FALSE(smallest_noise(-1, never));
}

TEST(TrainingExposure, AnswersForBothAdversaries) {
  TrainingExposure exposure{
      GaussianNoise{1}, Adjacency::replace_one, Unit::user, SamplingWithoutReplacement{30, 4800}, 1000, 1000};
  const auto both = account_training(exposure, 1e-6);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->server.adversary, Adversary::server);
  EXPECT_LT(both->published.epsilon, 3);
  EXPECT_GT(both->server.epsilon, 100);
  // About the 14 that six participations cost.
  exposure.participation_cap = 6;
  const auto capped = account_training(exposure, 1e-6);
  ASSERT_TRUE(capped);
  EXPECT_NEAR(capped->server.epsilon, 14, 0.5);
  // The cap binds often, so amplification cannot be used: what is published is as private as what the server
  // saw.
  EXPECT_DOUBLE_EQ(capped->published.epsilon, capped->server.epsilon);
}

TEST(TrainingExposure, ChargesARareCap) {
  TrainingExposure exposure{
      GaussianNoise{1}, Adjacency::add_remove, Unit::user, PoissonSampling{0.01}, 1000, 100};
  const auto capped = account_training(exposure, 1e-6);
  exposure.participation_cap = 1000;
  const auto free = account_training(exposure, 1e-6);
  ASSERT_TRUE(capped && free);
  EXPECT_GE(capped->published.epsilon, free->published.epsilon);
  EXPECT_LT(capped->published.epsilon, 1.01 * free->published.epsilon);
}

// All courses of `rounds` rounds in which one of `units` is drawn: who was drawn, all equally likely.
std::vector<std::vector<std::uint32_t>> courses_of(std::uint32_t units, std::uint32_t rounds) {
  std::vector<std::vector<std::uint32_t>> all = {{}};
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::vector<std::vector<std::uint32_t>> longer;
    for (const auto& course : all)
      for (std::uint32_t unit = 0; unit < units; ++unit) {
        longer.push_back(course);
        longer.back().push_back(unit);
      }
    all = std::move(longer);
  }
  return all;
}

TEST(TrainingExposure, WithoutReplacementEverybodysCapIsCharged) {
  for (const auto [units, rounds, cap] : {std::array{3U, 2U, 1U}, {4U, 4U, 2U}, {5U, 4U, 3U}}) {
    double somebody = 0, everything = 0;
    for (const auto& course : courses_of(units, rounds)) {
      std::vector<std::uint32_t> drawn(units);
      for (const std::uint32_t unit : course) ++drawn[unit];
      somebody += *std::max_element(drawn.begin(), drawn.end()) > cap ? 1 : 0;
      ++everything;
    }
    const double charged = chance_that_caps_matter(SamplingWithoutReplacement{1, units}, rounds, cap);
    EXPECT_GE(charged, somebody / everything) << units << " units, " << rounds << " rounds";
    EXPECT_GT(somebody / everything, 2 * chance_above_cap(rounds, 1.0 / units, cap))
        << "one unit's is too little";
  }
  EXPECT_EQ(chance_that_caps_matter(PoissonSampling{0.25}, 4, 2), chance_above_cap(4, 0.25, 2));
  EXPECT_EQ(chance_that_caps_matter(SamplingWithoutReplacement{2, 3}, 4, 4), 0);
  EXPECT_LE(chance_that_caps_matter(SamplingWithoutReplacement{999, 1000}, 4, 1), 1);

  const TrainingExposure exposure{
      GaussianNoise{2}, Adjacency::replace_one, Unit::user, SamplingWithoutReplacement{10, 100'000}, 1000, 7};
  const double one = chance_above_cap(1000, 1e-4, 7);
  const auto holds = account_training(exposure, 1e-6);
  ASSERT_TRUE(holds);
  EXPECT_GT(holds->published.epsilon, 0);
  const PrivacyEvent charged{exposure.mechanism,  exposure.adjacency, Unit::user, exposure.sampling, 1000,
                             100'000 * one / 1000};
  EXPECT_DOUBLE_EQ(holds->published.epsilon,
                   account_best(Events{charged}, 1e-6, Adversary::published)->epsilon);
}

// One of five units is drawn per round and what it sends, or that it stays away, is told by randomised
// response. The truth is summed over all courses and answers.
TEST(TrainingExposure, HoldsForCappedCohortsByBruteForce) {
  constexpr std::uint32_t units = 5, rounds = 3, cap = 2, told = 7;
  constexpr double once = 3;
  const double chosen = std::exp(once) / (std::exp(once) + told - 1), other = (1 - chosen) / (told - 1);
  const auto answers = courses_of(told, rounds);
  const auto law_of = [&](std::uint32_t target) {  // what unit 0 sends: 0 or 1; 2: away; 3 … 6: the others
    std::vector<double> law(answers.size());
    for (const auto& course : courses_of(units, rounds)) {
      std::array<std::uint32_t, units> times{};
      std::array<std::uint32_t, rounds> sent{};
      for (std::uint32_t round = 0; round < rounds; ++round) {
        const std::uint32_t unit = course[round];
        sent[round] = ++times[unit] > cap ? 2 : unit == 0 ? target : 2 + unit;
      }
      for (std::size_t i = 0; i < answers.size(); ++i) {
        double chance = std::pow(units, -static_cast<double>(rounds));
        for (std::uint32_t round = 0; round < rounds; ++round)
          chance *= answers[i][round] == sent[round] ? chosen : other;
        law[i] += chance;
      }
    }
    return law;
  };
  const auto first = law_of(0), second = law_of(1);
  for (const double delta : {0.1, 0.3, 0.5, 0.7}) {
    const auto holds = account_training({RandomisedResponse{once, told}, Adjacency::replace_one, Unit::user,
                                         SamplingWithoutReplacement{1, units}, rounds, cap},
                                        delta);
    ASSERT_TRUE(holds) << holds.error().message;
    double truth = 0;
    for (std::size_t i = 0; i < first.size(); ++i)
      truth += std::max(0.0, first[i] - std::exp(holds->published.epsilon) * second[i]);
    EXPECT_LE(truth, delta) << holds->published.epsilon;
  }
}

TEST(TrainingExposure, ChanceAboveTheCapIsABinomialTail) {
  EXPECT_NEAR(chance_above_cap(3, 0.5, 1), 0.5, 1e-8);
  EXPECT_NEAR(chance_above_cap(10, 0.1, 0), 1 - std::pow(0.9, 10), 1e-8);
  EXPECT_EQ(chance_above_cap(10, 0.1, 10), 0);
  EXPECT_EQ(chance_above_cap(10, 1, 9), 1);
  EXPECT_GT(chance_above_cap(1000, 1e-6, 500), 0) << "rounded up, however far out";
}

TEST(Conversion, ReplaceOneDoublesSensitivity) {
  const auto converted = to_replace_one(gaussian(2));
  ASSERT_TRUE(converted);
  EXPECT_DOUBLE_EQ(std::get<GaussianNoise>(converted->mechanism).noise_multiplier, 1);
  EXPECT_FALSE(to_replace_one(sampled_gaussian(1, 0.1, 3)));
}

TEST(Conversion, GroupPrivacyCoversTheExactGaussian) {
  const auto once = account(Events{gaussian(2)}, 1e-6, Method::analytic_gaussian, Adversary::server);
  ASSERT_TRUE(once);
  const auto twice = to_replace_one(*once);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->adjacency, Adjacency::replace_one);
  EXPECT_GE(twice->delta, gaussian_delta(1, twice->epsilon));
}

TEST(Conversion, SmallerUnitsFollowFromReplaceOneOnly) {
  const auto user = response(1, 3);
  const auto click = to_smaller_unit(user, Unit::click);
  ASSERT_TRUE(click);
  EXPECT_EQ(click->unit, Unit::click);
  EXPECT_FALSE(to_smaller_unit(*click, Unit::user));
  EXPECT_FALSE(to_smaller_unit(gaussian(1), Unit::click));
}

TEST(PrivacyPlan, AnswersTheMinimumFlags) {
  PrivacyPlan plan;
  SettingsTable table;
  plan.bind(table);
  for (const auto* assignment :
       {"mechanism=gaussian", "noise=1.1", "sampling=poisson", "population=60000", "cohort=600",
        "rounds=10000", "delta=1e-5", "adjacency=add-remove", "method=pld"}) {
    const auto status = table.set_assignment(assignment);
    ASSERT_TRUE(status) << assignment << ": " << status.error().message;
  }
  const auto answer = account(plan);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_NEAR(answer->published.epsilon, 5.1926, 1e-3);
  EXPECT_FALSE(answer->server);
  ASSERT_TRUE(table.set("participations", "10000"));
  const auto both = account(plan);
  ASSERT_TRUE(both && both->server);
  EXPECT_GT(both->server->epsilon, both->published.epsilon);
}

TEST(PrivacyPlan, ComesFromToml) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "sotto_account_plan.toml";
  std::ofstream(path) << "mechanism = \"randomised-response\"\nepsilon = 0.5\ncategories = 3\nrounds = 4\n"
                         "adjacency = \"replace-one\"\nunit = \"click\"\nmethod = \"pure\"\n";
  PrivacyPlan plan;
  SettingsTable table;
  plan.bind(table);
  const auto loaded = table.load_toml(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto answer = account(plan);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_DOUBLE_EQ(answer->published.epsilon, 2);
  EXPECT_EQ(answer->published.unit, Unit::click);
}

TEST(PrivacyPlan, TwoReleasesAreAccountedTogether) {
  PrivacyPlan plan;
  plan.noise = 3;
  plan.second_noise = 4;
  plan.delta = 1e-6;
  plan.adjacency = "replace-one";
  plan.participations = 1;
  const auto both = account(plan);
  ASSERT_TRUE(both) << both.error().message;
  // Gaussian noise multipliers compose as 1/z² = 1/3² + 1/4².
  EXPECT_NEAR(gaussian_delta(12.0 / 5, both->published.epsilon), 1e-6, 1e-9);
  ASSERT_TRUE(both->server);
  EXPECT_DOUBLE_EQ(both->server->epsilon, both->published.epsilon);
  EXPECT_EQ(both->server->adversary, Adversary::server);
  plan.second_noise = 0;
  EXPECT_LT(account(plan)->published.epsilon, both->published.epsilon);
}

TEST(PrivacyPlan, ASecondReleaseNeedsNoiseAndEverybody) {
  PrivacyPlan plan;
  plan.noise = plan.second_noise = 1;
  plan.delta = 1e-6;
  plan.sampling = "poisson";
  plan.population = 10, plan.cohort = 1;
  EXPECT_NE(account(plan).error().message.find("second_noise"), std::string::npos);
  plan.sampling = "none";
  EXPECT_TRUE(account(plan));
  plan.mechanism = "pure";
  plan.epsilon = 1;
  EXPECT_NE(account(plan).error().message.find("second_noise"), std::string::npos);
  plan.mechanism = "skellam";
  plan.epsilon = 0;
  plan.l1_sensitivity = plan.l2_sensitivity = 1;
  EXPECT_NE(account(plan).error().message.find("l1_sensitivity"), std::string::npos);
}

TEST(PrivacyPlan, SaysWhatIsMissing) {
  PrivacyPlan plan;
  plan.delta = 1e-6;
  EXPECT_NE(account(plan).error().message.find("noise"), std::string::npos);
  plan.noise = 1;
  plan.sampling = "poisson";
  EXPECT_NE(account(plan).error().message.find("population"), std::string::npos);
  plan.population = 10;
  plan.cohort = 11;
  EXPECT_NE(account(plan).error().message.find("cohort"), std::string::npos);
  plan.cohort = 1;
  plan.delta = 0;
  EXPECT_NE(account(plan).error().message.find("delta"), std::string::npos);
}

TEST(Accounting, EpsilonAloneIsThatOfTheAnswer) {
  for (const auto& [mechanism, sampling, noise, rounds] :
       {std::tuple("gaussian", "poisson", 1.0, 300), std::tuple("gaussian", "without-replacement", 1.0, 30),
        std::tuple("gaussian", "none", 3.0, 10), std::tuple("laplace", "none", 10.0, 100),
        std::tuple("laplace", "poisson", 1.0, 50)}) {
    PrivacyPlan plan;
    plan.mechanism = mechanism;
    plan.sampling = sampling;
    plan.noise = noise;
    plan.rounds = rounds;
    plan.population = 1000;
    plan.cohort = 20;
    plan.delta = 1e-6;
    if (plan.sampling == "without-replacement") plan.adjacency = "replace-one";
    const auto whole = account(plan);
    const auto alone = plan_epsilon(plan);
    ASSERT_TRUE(whole && alone) << mechanism << ' ' << sampling;
    EXPECT_GE(*alone, whole->published.epsilon_lower.value_or(0)) << mechanism << ' ' << sampling;
    EXPECT_NEAR(*alone, whole->published.epsilon, 1e-3 * *alone) << mechanism << ' ' << sampling;
  }
  PrivacyPlan wrong;
  wrong.mechanism = "magic";
  EXPECT_FALSE(plan_epsilon(wrong));
}

}  // namespace
}  // namespace sotto::privacy
