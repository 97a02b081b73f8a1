#pragma once
// The plans of two sums that one budget pays for: of vectors of norm 1 without negative entries, and then of
// products of norm 1 (unit_products.h). From a budget to the noise of both. One user replaced moves either by
// √2 and what rounding adds.

#include "privacy/accounting/account.h"
#include "secagg/vectors/calibrated_plan.h"

namespace sotto::secagg {

struct TwoSumsShape {
  std::uint64_t first = 0, second = 0;  // numbers in each; of the second a triangle's
  std::uint64_t cohort = 0;             // devices in each
  std::uint64_t group = 0;              // that sum together; 0: the cohort is one group
  double first_noise = 1;               // noise multiplier of the first sum over that of the second
};

struct TwoSums {
  EncodingPlan first, second;
  privacy::Guarantee guarantee;  // of what a device takes part in
};

// What so many participations cost when each may be in either of two sums: a sum that failed is gathered
// again. The worst of all ways to divide them.
Result<privacy::Guarantee> worst_of_two_sums(privacy::PrivacyEvent first, privacy::PrivacyEvent second,
                                             std::uint64_t participations, double delta);

// The least noise with which the budget holds: each sum once, or so many participations in either of them
// where budget.participations says so. Refuses budgets that are not given.
Result<TwoSums> calibrated_two_sums(const TrainingBudget& budget, const TwoSumsShape& shape,
                                    std::uint64_t population);

// The same sums without noise, to compare with.
Result<std::pair<EncodingPlan, EncodingPlan>> two_sums_without_noise(const TrainingBudget& budget,
                                                                     const TwoSumsShape& shape);

}  // namespace sotto::secagg
