#include "recipes/last_round.h"

namespace sotto {

Result<TrainOutcome> train_to_last_round(const RunRequest& request, FlatParameters& parameters,
                                         UpdateSource& source, const OptimiserSettings& optimiser_settings,
                                         const EngineSettings& engine_settings, const MeasureTest& measure) {
  SOTTO_TRY(const auto optimiser, make_optimiser(optimiser_settings, parameters.values()));
  RoundEngine engine(engine_settings, request.run, parameters, source, *optimiser);
  TrainOutcome outcome;
  SOTTO_TRY(outcome.summary, engine.run(request.resume, {}, request.observe));
  if (!outcome.summary.interrupted) {
    const TestMetrics test = measure();
    if (const auto* held_out = std::get_if<HeldOutReport>(&test)) outcome.held_out = *held_out;
    if (const auto* impressions = std::get_if<MeanImpressionMetrics>(&test)) outcome.test = *impressions;
  }
  outcome.parameters = parameters.size();
  if (!outcome.summary.rounds.empty()) {
    outcome.bytes_down = outcome.summary.rounds.back().bytes_down;
    outcome.bytes_up = outcome.summary.rounds.back().bytes_up;
  }
  return outcome;
}

Result<TestMetrics> measure_last_round(const RunRequest& request, FlatParameters& parameters,
                                       const MeasureTest& measure) {
  SOTTO_TRY(const auto last, load_checkpoint(request.run / "best.sotto", parameters.layout()));
  {
    torch::NoGradGuard no_grad;
    parameters.values().copy_(last.parameters);
  }
  return measure();  // may train: devices tune before they are tested
}

}  // namespace sotto
