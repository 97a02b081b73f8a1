// The papers' tables to the fourth digit, and their claims.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "privacy/accounting/account.h"
#include "privacy/accounting/claims.h"
#include "privacy/accounting/datasheet.h"

namespace sotto::privacy {
namespace {

TEST(PaperTables, ReproduceAll36FiniteCellsToTheFourthDigit) {
  const auto cells = privrec_tables();
  ASSERT_TRUE(cells) << cells.error().message;
  ASSERT_EQ(cells->size(), 36U);
  for (const auto& cell : *cells) {
    EXPECT_NEAR(cell.reproduced, cell.paper, 1e-9) << cell.table << ' ' << cell.cohort << ' ' << cell.delta;
    EXPECT_NEAR(cell.computed, cell.paper, 1e-4);
    EXPECT_LT(cell.per_round, cell.computed);
    EXPECT_LT(cell.best, cell.per_round);
  }
}

TEST(PaperTables, ComposingPerRoundGivesTheKnownValue) {
  const auto cell = privrec_cell(3, 30, 1e-8);
  ASSERT_TRUE(cell);
  EXPECT_NEAR(cell->per_round, 3.41, 5e-3);
  EXPECT_NEAR(cell->best, 1.9365, 1e-3);
  EXPECT_FALSE(privrec_cell(3, 31, 1e-8));
}

TEST(PaperClaims, NameEveryPaperWithThreeReasons) {
  const auto claims = paper_claims();
  ASSERT_TRUE(claims) << claims.error().message;
  for (const auto* paper : {"FedNewsRec", "Efficient-FedRec", "PrivateRec", "DP-PrivRec"}) {
    EXPECT_TRUE(std::any_of(claims->begin(), claims->end(), [&](const Claim& c) {
      return c.system == paper;
    })) << paper;
  }
  for (const auto& claim : *claims) EXPECT_EQ(claim.why.size(), 3U) << claim.system;
}

// Its noise alone is worth millions, and the click counts beside it have none.
TEST(PaperClaims, NothingHoldsForFedNewsRec) {
  const auto claims = paper_claims();
  ASSERT_TRUE(claims);
  const auto& claim = claims->front();
  EXPECT_NEAR(*claim.claimed_epsilon, 2.0 / 3, 1e-12);
  EXPECT_FALSE(claim.true_epsilon);
  EXPECT_NE(claim.why.at(1).find("e+07 at δ 1e-06 of the noised gradients alone"), std::string::npos)
      << claim.why.at(1);
  EXPECT_NE(claim.why.at(2).find("behaviours travels beside them in the clear"), std::string::npos);
}

TEST(OwnClaims, EveryRecipeWithNoiseStandsBesideThePapersAndKeepsItsBudget) {
  const auto claims = own_claims();
  ASSERT_TRUE(claims) << claims.error().message;
  std::string names;
  for (const Claim& claim : *claims) {
    names += claim.system + "\n";
    EXPECT_EQ(claim.why.size(), 3U) << claim.system;
    if (!claim.claimed_epsilon) continue;
    ASSERT_TRUE(claim.true_epsilon) << claim.system;
    EXPECT_LE(*claim.true_epsilon, *claim.claimed_epsilon) << claim.system;
    EXPECT_GT(*claim.true_epsilon, 0.99 * *claim.claimed_epsilon) << "no noise is wasted: " << claim.system;
  }
  for (const char* recipe :
       {"sotto", "fednewsrec", "efficient-fedrec", "privaterec", "dp-fedrec", "dp-privrec", "dp-svd"})
    EXPECT_NE(names.find(recipe), std::string::npos) << recipe;
}

// At a cap that did not follow from ε the published answer could never exceed 7.113.
TEST(ParticipationCap, GrowsWithEpsilonAndIsNeverInTheWay) {
  const SamplingWithoutReplacement cohorts{50, 20'000};
  std::uint64_t last = 0;
  for (const double epsilon : {1.0, 10.0, 20.0}) {
    const std::uint64_t cap = participation_cap_for(epsilon, 1e-6, Adversary::published, cohorts, 1000);
    EXPECT_GT(cap, last);
    EXPECT_LE((1 + std::exp(epsilon)) * 20'000 * chance_above_cap(1000, 0.0025, cap), 1e-9);
    EXPECT_GT((1 + std::exp(epsilon)) * 20'000 * chance_above_cap(1000, 0.0025, cap - 1), 1e-9);
    last = cap;
  }
  EXPECT_LT(participation_cap_for(20, 1e-6, Adversary::server, cohorts, 1000), last);
  EXPECT_EQ(participation_cap_for(1e6, 1e-6, Adversary::published, cohorts, 1000), 1000U);
}

}  // namespace
}  // namespace sotto::privacy
