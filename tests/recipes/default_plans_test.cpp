// The private plans that recipes make when nothing is set, read off their own declarations: how much noise
// they take, and what `sotto privacy claims` says of them.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fl/private_training.h"
#include "privacy/accounting/account.h"
#include "privacy/accounting/claims.h"
#include "recipes/recipe.h"

namespace sotto::recipes {
namespace {

using ::testing::HasSubstr;

nlohmann::json declared(const std::string& recipe) {
  const auto made = find_recipe(recipe).value()->make();
  SettingsTable table;
  EXPECT_TRUE(bind_settings(*made, table, {"mode=sound"}));
  EXPECT_TRUE(made->promises_epsilon()) << recipe << " is private when nothing is set";
  return table.to_json();
}

// 0: half of the users, at most 10,000, as the setting's help says.
std::uint64_t cohort_of(const nlohmann::json& settings, std::uint64_t users) {
  const auto cohort = settings.at(settings.contains("group") ? "group" : "cohort").get<std::uint64_t>();
  return cohort > 0 ? cohort : std::min<std::uint64_t>(users / 2, 10'000);
}

// Of usual data sets: what no recipe declares.
struct UsualData {
  const char* recipe;
  std::uint64_t dimension, users;
};
constexpr UsualData usual_data[] = {{"sotto", 200, 20'000},
                                    {"fednewsrec", 1'000'000, 50'000},
                                    {"privaterec", 1'000'000, 50'000},
                                    {"dp-fedrec", 1'000'000, 50'000},
                                    {"efficient-fedrec", 400'000, 10'000},
                                    {"dp-privrec", 20'000, 4'800}};

// Of the Gaussian mechanism itself, drawn the same way, at the same δ.
double exact_gaussian_noise(double epsilon, double delta, const fl::TrainingShape& asked, bool server,
                            std::uint64_t cap) {
  return privacy::smallest_noise(
             epsilon,
             [&](double noise) -> Result<double> {
               privacy::PrivacyEvent event{privacy::GaussianNoise{noise}, privacy::Adjacency::replace_one,
                                           privacy::Unit::user};
               event.count = server ? std::min(cap, asked.rounds) : asked.rounds;
               if (!server)
                 event.sampling = privacy::SamplingWithoutReplacement{asked.cohort, asked.population};
               SOTTO_TRY(const auto holds, privacy::account_best({&event, 1}, delta,
                                                                 server ? privacy::Adversary::server
                                                                        : privacy::Adversary::published));
               return holds.epsilon;
             })
      .value();
}

TEST(DefaultPlans, HaveTheNoiseOfTheExactGaussianWithinTwoPercent) {
  for (const UsualData& usual : usual_data) {
    const auto settings = declared(usual.recipe);
    const fl::TrainingShape shape{usual.dimension, usual.users, cohort_of(settings, usual.users),
                                  settings.at("rounds").get<std::uint64_t>()};
    for (const char* against : {"published", "server"}) {
      fl::PrivateTrainingSettings budget;
      budget.epsilon = 8, budget.against = against;
      budget.delta = settings.at("delta"), budget.clip_quantile = settings.value("clip_quantile", 0.0);
      budget.bits = settings.at("bits"), budget.participations = settings.at("participations");
      const auto training = fl::PrivateTraining::calibrate(budget, shape);
      ASSERT_TRUE(training) << usual.recipe << ": " << training.error().message;
      const double exact =
          exact_gaussian_noise(budget.epsilon, budget.delta, shape, budget.against == "server",
                               static_cast<std::uint64_t>(training->accounted.participations));
      const double ratio = training->plan.settings().noise_multiplier / exact;
      EXPECT_LT(ratio, 1.02) << usual.recipe << ", " << against;
      EXPECT_GT(ratio, 0.999) << usual.recipe << ", " << against << ": less noise than Gaussian noise needs";
    }
  }
}

// The claims about a recipe; their systems name several recipes.
std::vector<privacy::Claim> claims_of(const std::string& recipe) {
  const auto all = privacy::own_claims().value();
  std::vector<privacy::Claim> named;
  for (const privacy::Claim& claim : all)
    if (fmt::format(" {},", claim.system).find(fmt::format(" {},", recipe)) != std::string::npos ||
        claim.system.find(fmt::format(" {} (", recipe)) != std::string::npos)
      named.push_back(claim);
  return named;
}

TEST(DefaultPlans, AreTheOnesThatClaimsReckonWith) {
  for (const UsualData& usual : usual_data) {
    const auto settings = declared(usual.recipe);
    std::size_t trainings = 0;
    for (const privacy::Claim& claim : claims_of(usual.recipe)) {
      if (claim.release.find("training") == std::string::npos) continue;
      ++trainings;
      EXPECT_THAT(claim.release, HasSubstr(fmt::format("{} rounds of {} of", settings.at("rounds").dump(),
                                                       cohort_of(settings, 20'000))))
          << usual.recipe;
      EXPECT_EQ(claim.delta, settings.at("delta").get<double>()) << usual.recipe;
    }
    EXPECT_EQ(trainings, 2U) << usual.recipe << ": what is published, and what the server sees";
  }
}

TEST(DefaultPlans, ClaimsKnowTheNoiseOfTheTwoSumsOfDpSvd) {
  const auto claims = claims_of("dp-svd");
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_THAT(claims.front().why.front(),
              HasSubstr(fmt::format("{:g} times that on counts",
                                    declared("dp-svd").at("choose_noise").get<double>())));
}

}  // namespace
}  // namespace sotto::recipes
