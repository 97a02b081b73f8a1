#include "serving/mechanism_choice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto::serving {
namespace {

TEST(MechanismChoice, MoreBudgetMeansMorePrototypesAndLessOfTheAverageUser) {
  MechanismForEpsilon before;
  for (double epsilon = 0.1; epsilon < 12; epsilon *= 1.3) {
    const auto now = serving_mechanism_for(epsilon).value();
    EXPECT_GE(now.prototypes, before.prototypes);
    EXPECT_GE(now.average_share, 0);
    EXPECT_LE(now.average_share, 1);
    if (now.prototypes == before.prototypes) {
      EXPECT_LE(now.average_share, before.average_share);
    }
    before = now;
  }
  EXPECT_EQ(before.prototypes, 256U);
  EXPECT_LT(before.average_share, 0.02);
}

TEST(MechanismChoice, TellsNothingWhereItWouldNotHelp) {
  EXPECT_EQ(serving_mechanism_for(0.1).value().prototypes, 0U);
  EXPECT_EQ(serving_mechanism_for(0.1).value().average_share, 1);
}

// With all prototypes equally likely, Bayes' rule gives the answered one 1 − share more than the others have.
TEST(MechanismChoice, AverageShareIsWhatBayesRuleGives) {
  const double epsilon = 5;
  const auto choice = serving_mechanism_for(epsilon).value();
  const auto k = static_cast<double>(choice.prototypes);
  const double keep = std::exp(epsilon) / (std::exp(epsilon) + k - 1), other = (1 - keep) / (k - 1);
  EXPECT_NEAR(1 - choice.average_share, keep - other, 1e-12);
  EXPECT_NEAR(choice.average_share / k, other, 1e-12);
}

TEST(MechanismChoice, RefusesWhatIsNoBudget) {
  for (const double epsilon : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_FALSE(serving_mechanism_for(epsilon).has_value());
}

}  // namespace
}  // namespace sotto::serving
