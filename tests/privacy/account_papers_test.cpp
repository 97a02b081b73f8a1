// The papers' tables to the fourth digit, and their claims.

#include <gtest/gtest.h>

#include <algorithm>

#include "privacy/accounting/claims.h"

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
    EXPECT_TRUE(std::any_of(claims->begin(), claims->end(), [&](const Claim& c) { return c.paper == paper; }))
        << paper;
  }
  for (const auto& claim : *claims) EXPECT_EQ(claim.why.size(), 3U) << claim.paper;
}

TEST(PaperClaims, FedNewsRecCostsMillions) {
  const auto claims = paper_claims();
  ASSERT_TRUE(claims);
  const auto& claim = claims->front();
  EXPECT_NEAR(*claim.claimed_epsilon, 2.0 / 3, 1e-12);
  EXPECT_GT(*claim.true_epsilon, 1e6);
}

}  // namespace
}  // namespace sotto::privacy
