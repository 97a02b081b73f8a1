#pragma once
// The plans of two private sums over all training users, item counts and pairs of the chosen items
// (fl/pair_fold.h): from one budget for both to their noise, and the epsilon that holds. Devices send vectors
// of norm 1 without negative entries, so one user replaced moves a sum by √2.

#include "fl/private_training.h"
#include "privacy/accounting/account.h"

namespace sotto::fl {

// How the two sums are encoded; the dimensions are the number of items and pair_count(chosen).
struct PairPlans {
  secagg::EncodingPlan counts, pairs;
  std::uint64_t chosen = 0;
};

struct SumsShape {
  std::uint64_t items = 0, chosen = 0, users = 0;
  double counts_noise = 1;  // noise multiplier of the counts over that of the pairs
};

struct TwoPrivateSums {
  PairPlans plans;
  // Everybody takes part in both sums and the server knows it: one number for both adversaries.
  privacy::Guarantee guarantee;
  privacy::PrivacyPlan accounted;  // the same as a file that `sotto privacy account` reads

  // The least noise with which the budget holds. Refuses budgets that are not given.
  static Result<TwoPrivateSums> calibrate(const PrivateTrainingSettings& settings, const SumsShape& shape);
  privacy::PrivacyDatasheet datasheet(std::string recipe) const;
};

// The same sums without noise, to compare with.
Result<PairPlans> sums_without_noise(const PrivateTrainingSettings& settings, const SumsShape& shape);

}  // namespace sotto::fl
