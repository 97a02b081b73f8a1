// DP-PrivRec (Wang et al. 2021, Algorithm 2).
// paper: differences are clipped to a bound that follows a quantile, and the server adds noise, both as
// printed; claimed and true ε are printed. sound: the same rounds; differences and clip bit are summed with
// distributed noise, calibrated to the budget.

#include "fl/printed_means.h"
#include "privacy/accounting/claims.h"
#include "privacy/accounting/datasheet.h"
#include "recipes/interaction_run.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

class DpPrivRec final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    // Printed rounds are PrivRec's; private ones take one step each, which noise spoils least.
    settings_ = mode_ == "paper" ? InteractionRunSettings::printed() : InteractionRunSettings();
    engine_.rounds = mode_ == "paper" ? 1000 : 100;
    engine_.bind(table, false);
    table.add_choice("mode", mode_, {"sound", "paper"},
                     "sound: calibrated to a budget; paper: as printed. Chooses the defaults of the others");
    optimiser_.optimiser = "sgd";
    optimiser_.learning_rate = 1;
    optimiser_.bind(table);
    private_.clip_quantile = 0.5;
    private_.bind(table);
    private_.bind_following_bound(table);
    table
        .add("printed_noise", noise_, {1e-9, 1e6},
             "paper mode: z, the noise multiplier as the paper counts it")
        .add("printed_budget_share", budget_share_, {1e-6, 0.999999},
             "paper mode: h, the share of the budget spent on the clipping bound")
        .add("printed_quantile", quantile_, {0.001, 0.999},
             "paper mode: gamma, the share of users left whole")
        .add("printed_bound", initial_bound_, {1e-9, 1e9}, "paper mode: S, the first clipping bound")
        .add("printed_floor", smallest_bound_, {1e-12, 1e9}, "paper mode: the bound never falls below this")
        .add("printed_bound_rate", bound_rate_, {1e-9, 1e9}, "paper mode: alpha4, how fast the bound moves");
    settings_.bind(table, UserLearning::reptile);
  }

  std::vector<SettingCondition> conditions() const override {
    auto conditions = settings_.conditions();
    for (auto& condition : read_only_with("mode", {"paper"},
                                          {"printed_noise", "printed_budget_share", "printed_quantile",
                                           "printed_bound", "printed_floor", "printed_bound_rate"}))
      conditions.push_back(std::move(condition));
    for (auto& condition : read_only_with("mode", {"sound"}, {"clip_quantile", "clip_rate", "clip_floor"}))
      conditions.push_back(std::move(condition));
    for (auto& condition : read_only_with("mode", {"sound"}, sound_path_settings()))
      if (condition.setting != "delta") conditions.push_back(std::move(condition));  // of the printed claim
    return conditions;
  }

  bool promises_epsilon() const override { return mode_ != "paper"; }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request));
    if (request.remote != nullptr)
      return run.train_remotely(private_.bound_rule(), optimiser_, engine_, "dp-privrec");
    SOTTO_TRY(auto sampler, run.secret_sampler());
    if (mode_ != "paper")
      return run.train_soundly(private_, std::move(sampler), optimiser_, engine_, "dp-privrec");
    SOTTO_TRY(const auto clip, printed_clip());
    SOTTO_TRY(auto sheet, printed_datasheet(clip, sampler.population()));
    fl::PrintedMeans source(clip, std::move(sampler), run.training(), run.training().values(),
                            request.noise());
    SOTTO_TRY(auto outcome, run.train(source, optimiser_, engine_));
    outcome.privacy = std::move(sheet);
    return outcome;
  }

  Result<fl::DeviceTask> device_task(const RunRequest& request) override {
    if (mode_ == "paper") return bad_input("devices sum under noise: leave out mode=paper");
    SOTTO_TRY(const auto run, InteractionRun::prepare(settings_, request));
    SOTTO_TRY(auto task, run.device_task("dp-privrec"));
    task.clip = private_.clip;
    task.bound_follows = private_.clip_quantile > 0;
    return task;
  }

  Result<std::optional<TrainedFactors>> open_factors(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request));
    return run.factors_of_best();
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request));
    return run.evaluate_best();
  }

 private:
  // Refuses optimisers other than plain sgd: the printed noise is added to its step.
  Result<privacy::AdaptiveClip::Settings> printed_clip() const {
    if (optimiser_.optimiser != "sgd" || optimiser_.momentum != 0 || optimiser_.halve_every != 0)
      return bad_input(
          "paper mode adds its noise to a plain step alpha3 * mean: use optimiser=sgd without momentum and "
          "halve_every, and learning_rate for alpha3");
    privacy::AdaptiveClip::Settings settings;
    settings.mode = privacy::GuaranteeMode::paper;
    settings.initial_bound = initial_bound_;
    settings.smallest_bound = smallest_bound_;
    settings.quantile = quantile_;
    settings.rate = bound_rate_;
    settings.budget_share = budget_share_;
    settings.noise_multiplier = noise_;
    settings.cohort = static_cast<std::uint64_t>(settings_.cohort);
    settings.server_rate = optimiser_.learning_rate;
    return settings;
  }

  // Nobody's participations are capped.
  Result<privacy::PrivacyDatasheet> printed_datasheet(const privacy::AdaptiveClip::Settings& clip,
                                                      std::uint64_t population) const {
    SOTTO_TRY(const auto mechanism, privacy::AdaptiveClip::create(clip));
    const privacy::PrivacyEvent event = mechanism.round_event();
    const auto count = static_cast<std::uint64_t>(engine_.rounds);
    SOTTO_TRY(const auto holds,
              privacy::account_training(
                  {event.mechanism, event.adjacency, event.unit,
                   privacy::SamplingWithoutReplacement{clip.cohort, population}, count, count, 0},
                  private_.delta));
    privacy::PrivacyDatasheet sheet;
    sheet.recipe = "dp-privrec";
    sheet.mode = "paper";
    sheet.mechanism = fmt::format(
        "mean of differences clipped to an adaptive bound, Gaussian noise of the server; printed multiplier "
        "{:g}, of a round as it is applied {:.4g}",
        clip.noise_multiplier, std::get<privacy::GaussianNoise>(event.mechanism).noise_multiplier);
    sheet.sampling = fmt::format("{} of {} users per round, without replacement", clip.cohort, population);
    sheet.composition = fmt::format("{} rounds, no cap on participations; server: {}, published: {}",
                                    engine_.rounds, name(holds.server.method), name(holds.published.method));
    sheet.unit = event.unit;
    sheet.adjacency = event.adjacency;
    sheet.delta = private_.delta;
    // The server adds the noise itself: before that it sees every difference as it is.
    sheet.epsilon_server = std::nullopt;
    sheet.epsilon_published = holds.published.epsilon;
    sheet.epsilon_claimed = privacy::privrec_claimed_epsilon(clip.noise_multiplier, clip.cohort, population,
                                                             count, private_.delta);
    sheet.server_sees = {"who takes part in which round", "every device's clipped difference, without noise",
                         "whether it was within the bound"};
    sheet.not_protected = {
        "everything, from the server: noise is added there and not on the devices",
        fmt::format("were the sum taken securely and the noise as above, the server would see epsilon {:.4g}",
                    holds.server.epsilon),
        "the claim composes once per client and round, and takes z for the multiplier although the noise is "
        "not scaled by alpha3"};
    return sheet;
  }

  std::string mode_ = "sound";
  fl::EngineSettings engine_;
  fl::OptimiserSettings optimiser_;
  fl::PrivateTrainingSettings private_;
  double noise_ = 1, budget_share_ = 0.7, quantile_ = 0.9, initial_bound_ = 40, smallest_bound_ = 0.01,
         bound_rate_ = 1;
  InteractionRunSettings settings_;
};

}  // namespace

std::unique_ptr<Recipe> make_dp_privrec() { return std::make_unique<DpPrivRec>(); }

}  // namespace sotto::recipes
