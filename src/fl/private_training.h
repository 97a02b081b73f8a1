#pragma once
// The one sound path of private training (docs/privacy/training.md): from a budget to a noise multiplier, an
// encoding plan for the devices, the two epsilons that hold, and rounds that keep to it.

#include <memory>

#include "base/files.h"
#include "base/settings.h"
#include "fl/cohort_rounds.h"
#include "fl/training_data.h"
#include "privacy/accounting/datasheet.h"
#include "secagg/vectors/calibrated_plan.h"

namespace sotto::fl {

struct PrivateTrainingSettings {
  double epsilon = 0, delta = 1e-6, clip = 1;
  std::string against = "server";
  std::int64_t participations = 0, bits = 18;
  double dropping = 0.1, corrupted = 0.1;
  double clip_quantile = 0, clip_rate = 0.2, clip_floor = 1e-6;
  std::string updates = "batched";
  SumSettings sums;
  void bind(SettingsTable& table);
  // Budget, bits and margins alone: for recipes in which everybody takes part and norms are known.
  void bind_budget(SettingsTable& table);
  // For recipes whose rounds can follow a quantile of the users' norms.
  void bind_following_bound(SettingsTable& table);
  bool on_devices() const { return updates == "device"; }
  BoundRule bound_rule() const { return {clip, clip_floor, clip_quantile, clip_rate}; }
};

using TrainingShape = secagg::TrainingShape;
inline TrainingShape shape_of(std::uint64_t dimension, const CohortSampler& sampler, std::int64_t rounds) {
  return {dimension, sampler.population(), sampler.cohort(), static_cast<std::uint64_t>(rounds)};
}

// A plan that was calibrated to a budget, with what a run's folder says about it.
struct PrivateTraining : secagg::CalibratedPlan {
  std::string sums;  // how this simulation comes to its sums

  // The least noise with which the budget holds against the adversary named. Refuses budgets that are not
  // given.
  static Result<PrivateTraining> calibrate(const PrivateTrainingSettings& settings,
                                           const TrainingShape& shape);
  std::uint64_t participations() const { return static_cast<std::uint64_t>(accounted.participations); }
  privacy::PrivacyDatasheet datasheet(std::string recipe) const;
};

// Refuses to choose the best round on users' impressions: a release that no budget here covers.
Status check_nothing_is_chosen(const TrainingDataSettings& data);

// The sound path as one object: noise calibrated to the budget, the plan in the run's folder, rounds, and the
// page about them. Movable; what it is given must outlive it.
class SoundRounds {
 public:
  // Writes privacy.toml into the run's folder and refuses to replace another plan.
  static Result<SoundRounds> begin(const PrivateTrainingSettings& budget, const TrainingShape& shape,
                                   const fs::path& run);

  const secagg::EncodingPlan& plan() const { return training_.plan; }
  // Rounds through a fold that was made for plan(). The clipping bound follows a quantile where the budget
  // has one. The sampler's draws must be as secret as the noise: the published ε counts on both.
  Result<UpdateSource*> through(RoundFold& fold, UserUpdates& updates, CohortSampler sampler,
                                const privacy::NoiseOrigin& noise, std::uint64_t seed);
  privacy::PrivacyDatasheet datasheet(std::string recipe) const {
    return training_.datasheet(std::move(recipe));
  }

 private:
  SoundRounds(const PrivateTrainingSettings& budget, PrivateTraining training)
      : budget_(budget), training_(std::move(training)) {}

  PrivateTrainingSettings budget_;
  PrivateTraining training_;
  std::unique_ptr<Gather> gather_;
  std::unique_ptr<CohortRounds> rounds_;
};

}  // namespace sotto::fl
