// DP-PrivRec (Wang et al. 2021, Algorithm 2).
// paper: differences are clipped to a bound that follows a quantile, and the server adds noise, both as
// printed; claimed and true ε are printed. sound: the same rounds; differences and clip bit are summed with
// distributed noise, calibrated to the budget.

#include "recipes/dp_privrec.h"

#include "fl/printed_private_source.h"
#include "recipes/printed_privrec.h"
#include "recipes/sound_rounds.h"

namespace sotto {
namespace {

class DpPrivRec final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.bind(table);
    table.add_choice("mode", mode_, {"sound", "paper"}, "sound: calibrated to a budget; paper: as printed");
    optimiser_.optimiser = "sgd";
    optimiser_.learning_rate = 1;
    optimiser_.bind(table);
    private_.clip_quantile = 0.5;
    private_.bind(table);
    private_.bind_following_bound(table);
    printed_.bind(table);
    settings_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request));
    SOTTO_TRY(auto sampler, run.sampler());
    return mode_ == "paper" ? as_printed(run, std::move(sampler), request)
                            : soundly(run, std::move(sampler), request);
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request));
    return run.evaluate_best();
  }

 private:
  Result<TrainOutcome> as_printed(InteractionRun& run, CohortSampler sampler, const RunRequest& request) {
    SOTTO_TRY(const auto clip, printed_.adaptive_clip(optimiser_, settings_.cohort));
    SOTTO_TRY(auto sheet, printed_datasheet(clip, sampler.population(), engine_.rounds, private_.delta));
    PrintedPrivateSource source(clip, std::move(sampler), run.training(), request.seed);
    SOTTO_TRY(auto outcome, run.train(source, optimiser_, engine_));
    outcome.privacy = std::move(sheet);
    return outcome;
  }

  Result<TrainOutcome> soundly(InteractionRun& run, CohortSampler sampler, const RunRequest& request) {
    SOTTO_TRY(auto rounds, SoundRounds::begin(private_, run, std::move(sampler), engine_, request));
    SOTTO_TRY(auto outcome, run.train(rounds.source(), optimiser_, engine_));
    outcome.privacy = rounds.datasheet("dp-privrec");
    return outcome;
  }

  std::string mode_ = "sound";
  EngineSettings engine_;
  OptimiserSettings optimiser_;
  PrivateTrainingSettings private_;
  PrintedPrivRecSettings printed_;
  InteractionRunSettings settings_;
};

}  // namespace

std::unique_ptr<Recipe> make_dp_privrec() { return std::make_unique<DpPrivRec>(); }

}  // namespace sotto
