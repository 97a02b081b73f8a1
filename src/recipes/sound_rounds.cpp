#include "recipes/sound_rounds.h"

namespace sotto {

Result<SoundRounds> SoundRounds::begin(const PrivateTrainingSettings& budget, NewsRun& run,
                                       CohortSampler sampler, const EngineSettings& engine,
                                       const RunRequest& request) {
  SOTTO_CHECK(check_nothing_is_chosen(run.data_settings()));
  return begin(budget, run.training(), std::move(sampler), engine, request);
}

Result<SoundRounds> SoundRounds::begin(const PrivateTrainingSettings& budget, InteractionRun& run,
                                       CohortSampler sampler, const EngineSettings& engine,
                                       const RunRequest& request) {
  return begin(budget, run.training(), std::move(sampler), engine, request);
}

Result<SoundRounds> SoundRounds::begin(const PrivateTrainingSettings& budget, UserUpdates& training,
                                       CohortSampler sampler, const EngineSettings& engine,
                                       const RunRequest& request) {
  const TrainingShape shape{static_cast<std::uint64_t>(training.values().numel()), sampler.population(),
                            sampler.cohort(), static_cast<std::uint64_t>(engine.rounds)};
  SOTTO_TRY(auto plan, PrivateTraining::calibrate(budget, shape));
  SOTTO_CHECK(plan.save(request.run / "privacy.toml"));
  auto source = std::make_unique<PrivateSource>(plan.plan, std::move(sampler), plan.participations(),
                                                training, request.seed);
  if (budget.clip_quantile > 0)
    source->follow({budget.clip, budget.clip_floor, budget.clip_quantile, budget.clip_rate});
  return SoundRounds(std::move(plan), std::move(source));
}

}  // namespace sotto
