#pragma once
// The one sound path of private training (docs/privacy/training.md): from a budget to a noise multiplier, an
// encoding plan for the devices, and the two epsilons that hold.

#include "base/files.h"
#include "base/settings.h"
#include "fl/training_data.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/accounting/plan.h"
#include "privacy/accounting/training_exposure.h"
#include "privacy/mechanisms/elementwise_laplace.h"
#include "secagg/vectors/encoding_plan.h"

namespace sotto {

struct PrivateTrainingSettings {
  double epsilon = 0, delta = 1e-6, clip = 1;
  std::string against = "published";
  std::int64_t participations = 0, bits = 18;
  double dropping = 0.1, corrupted = 0.1;
  double clip_quantile = 0, clip_rate = 0.2, clip_floor = 1e-6;
  void bind(SettingsTable& table);
  // Budget, bits and margins alone: for recipes in which everybody takes part and norms are known.
  void bind_budget(SettingsTable& table);
  // For recipes whose source can follow a quantile of the users' norms.
  void bind_following_bound(SettingsTable& table);
};

// Who trains: fixed before the first round.
struct TrainingShape {
  std::uint64_t dimension = 0, population = 0, cohort = 0, rounds = 0;
  static TrainingShape of(std::uint64_t dimension, std::uint64_t population, std::int64_t cohort,
                          std::int64_t rounds) {
    return {dimension, population, static_cast<std::uint64_t>(cohort), static_cast<std::uint64_t>(rounds)};
  }
};

// What private training adds to a bound that follows a quantile: half of it is the bit's largest value, in
// units of the bound. Costs √(1 + c²/4) in noise.
inline constexpr double clip_bit_weight = 0.5;

// Writes a plan into a run's folder. Refuses to replace another one: rounds that are over had its noise.
Status save_plan(PrivacyPlan plan, const fs::path& file);

struct PrivateTraining {
  EncodingPlan plan;
  TwoAdversaries guarantee;
  PrivacyPlan accounted;  // the same as a file that `sotto privacy account` reads

  // The least noise with which the budget holds against the adversary named. Refuses budgets that are not
  // given.
  static Result<PrivateTraining> calibrate(const PrivateTrainingSettings& settings,
                                           const TrainingShape& shape);
  // The same for a run that begins: nothing else may be released from it, and its plan is written into the
  // run's folder.
  static Result<PrivateTraining> begin(const PrivateTrainingSettings& settings, const TrainingShape& shape,
                                       const TrainingDataSettings& data, const fs::path& run);
  std::uint64_t participations() const { return static_cast<std::uint64_t>(accounted.participations); }
  Status save(const fs::path& file) const { return save_plan(accounted, file); }
};

// A share of so many devices as a number of them, rounded up.
std::uint64_t devices_in(double share, std::uint64_t devices);
// One release of Skellam noise with one user replaced, as a plan states it.
PrivacyPlan stated(const PrivacyEvent& event, double delta);

// Refuses to choose the best round on users' impressions: a release that no budget here covers.
Status check_nothing_is_chosen(const TrainingDataSettings& data);

// The page for a run in sound mode.
PrivacyDatasheet datasheet_of(const PrivateTraining& training, std::string recipe);
// The page for FedNewsRec's uploads as printed: nobody's participations are capped.
Result<PrivacyDatasheet> elementwise_datasheet(const ElementwiseLaplace::Settings& upload,
                                               std::int64_t rounds);

}  // namespace sotto
