// Efficient-FedRec (Yi et al. 2021): the news model stays on the server, devices train the user model on the
// vectors of their group's items. Secure sums of items and of gradients; FedAdam on the user model, Adam on
// the news model by back-propagating the vectors' gradients.
// paper: sums without noise. sound: the whole catalogue's vectors are sent and returned, so that which items
// a device holds shows nowhere, and the sum carries user-level distributed noise.

#include "fl/device_updates.h"
#include "fl/server_optimiser.h"
#include "fl/split_fold.h"
#include "recipes/news_run.h"
#include "recipes/run_data.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

class EfficientFedRec final : public NewsRecipe {
 public:
  EfficientFedRec() : NewsRecipe(NewsSettings::private_nrms()) {}

  void bind(SettingsTable& table) override {
    engine_.bind(table);
    table.add_choice(
        "mode", mode_, {"sound", "paper"},
        "paper: secure sums without noise; sound: user-level DP. Chooses the defaults of the steps");
    efficient_.bind(table);
    // As printed: one step size for both models, for weights that are pre-trained, and the squares of m (Eqs.
    // 5 and 7). Otherwise models start at random and second moments are the usual ones.
    const bool printed = mode_ == "paper";
    user_optimiser_.learning_rate = news_optimiser_.learning_rate = printed ? 5e-5 : 1e-3;
    user_optimiser_.second_moment = printed ? "paper" : "standard";
    user_optimiser_.bind(table);
    table.add("news_learning_rate", news_optimiser_.learning_rate, {1e-9, 1000.0},
              "Step size of Adam on the news model, whose second moment is that of the user model");
    private_.bind(table);
    news_.bind_with_choice(table);
  }

  bool promises_epsilon() const override { return mode_ != "paper"; }

  std::vector<SettingCondition> conditions() const override {
    auto conditions = read_only_with("mode", {"paper"}, {"compress", "upload_bits", "largest_update"});
    for (auto& condition : read_only_with("mode", {"sound"}, sound_path_settings()))
      if (condition.setting != "sums" && condition.setting != "server")
        conditions.push_back(std::move(condition));
    conditions.push_back({"upload_bits", "compress", {}});
    return conditions;
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_CHECK(check_federated(news_));
    SOTTO_TRY(auto run, prepare(request));
    SOTTO_TRY(auto split, fl::SplitTraining::create(run.training(), run.model()));
    const auto first = static_cast<std::int64_t>(run.dimension()) - split.user_size();
    news_optimiser_.second_moment = user_optimiser_.second_moment;
    // Eq. 7 is FedAdam's form, without bias correction.
    news_optimiser_.optimiser = news_optimiser_.second_moment == "paper" ? "fedadam" : "adam";
    SOTTO_TRY(auto news, fl::make_optimiser(news_optimiser_, run.parameters().values().slice(0, 0, first)));
    SOTTO_TRY(auto user, fl::make_optimiser(user_optimiser_, split.user_encoder()));
    fl::SplitOptimiser optimiser(std::move(news), std::move(user), first);
    if (request.remote != nullptr) return remotely(run, split, optimiser, request);
    return mode_ == "paper" ? as_printed(run, split, optimiser, request)
                            : soundly(run, split, optimiser, request);
  }

 private:
  // No ε is printed: rounding and groups follow from the seed.
  Result<TrainOutcome> as_printed(NewsRun& run, fl::SplitTraining& split, fl::ServerOptimiser& optimiser,
                                  const RunRequest& request) {
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.data().users, efficient_.group, request.seed));
    fl::UnionFold fold(efficient_, sampler, split, request.dataset.catalogue().size(), request.seed);
    SOTTO_TRY(const auto gather, private_.sums.gather({{std::move(sampler), fl::every_round},
                                                       fold,
                                                       privacy::NoiseOrigin::reproducible(request.seed)}));
    fl::CohortRounds source(fold, *gather);
    SOTTO_TRY(auto outcome, run.train(source, optimiser, engine_));
    outcome.privacy = printed_datasheet();
    return outcome;
  }

  Result<TrainOutcome> soundly(NewsRun& run, fl::SplitTraining& split, fl::ServerOptimiser& optimiser,
                               const RunRequest& request) {
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.data().users, efficient_.group, request.noise()));
    const std::uint64_t catalogue = request.dataset.catalogue().size();
    SOTTO_CHECK(fl::check_nothing_is_chosen(news_.data));
    SOTTO_CHECK(check_may_train_privately(request.dataset));
    const auto shape = fl::shape_of(split.dimension(catalogue), sampler, engine_.rounds);
    SOTTO_TRY(auto rounds, fl::SoundRounds::begin(private_, shape, request.run));
    fl::CatalogueFold fold(rounds.plan(), split, catalogue);
    std::unique_ptr<fl::DeviceUpdates> on_devices;
    if (private_.on_devices()) {
      SOTTO_TRY(auto task, task_of(run));
      SOTTO_TRY(on_devices, fl::DeviceUpdates::create(std::move(task), fold,
                                                      fl::impressions_on_devices(request.dataset, run.data()),
                                                      request.seed));
    }
    fl::UserUpdates* updates = &fold;
    if (on_devices) updates = on_devices.get();
    SOTTO_TRY(auto* source,
              rounds.through(fold, *updates, std::move(sampler), request.noise(), request.seed));
    SOTTO_TRY(auto outcome, run.train(*source, optimiser, engine_));
    outcome.privacy = rounds.datasheet("efficient-fedrec");
    return outcome;
  }

  Result<TrainOutcome> remotely(NewsRun& run, fl::SplitTraining& split, fl::ServerOptimiser& optimiser,
                                const RunRequest& request) {
    SOTTO_TRY(const auto task, task_of(run));
    fl::CatalogueFold fold(request.remote->plans.front(), split, request.dataset.catalogue().size());
    return train_remotely(request, task, run.parameters(), fold, optimiser, engine_, private_.bound_rule());
  }

  // Devices train the user model on vectors that come with every version.
  Result<fl::DeviceTask> task_of(NewsRun& run) override {
    if (mode_ == "paper") return bad_input("devices sum under noise: leave out mode=paper");
    SOTTO_TRY(auto split, fl::SplitTraining::create(run.training(), run.model()));
    LocalSettingsList local = run.local_examples();
    local.add("heads", news_.shape.heads)
        .add("head_size", news_.shape.head_size)
        .add("pooling_size", news_.shape.pooling_size)
        .add("dropout", news_.shape.dropout);
    fl::DeviceTask task =
        task_over(run.catalogue(), "efficient-fedrec", std::move(local), split.user_layout());
    task.clip = private_.clip;
    return task;
  }

  // No differential privacy holds, and the page says why.
  privacy::PrivacyDatasheet printed_datasheet() const {
    privacy::PrivacyDatasheet sheet;
    sheet.recipe = "efficient-fedrec";
    sheet.mode = "paper";
    sheet.mechanism = fmt::format(
        "secure sums over {} devices, of the items they hold and of gradients; no noise", efficient_.group);
    sheet.sampling = "the server picks and sees the group: nothing is gained by sampling";
    sheet.composition = "none: nothing holds for a single round";
    sheet.server_sees = {"who takes part in which round", "which items a group holds together",
                         "the sum of a group's gradients, and nothing of a single device"};
    sheet.not_protected = {
        "items that one device of a group holds alone, which are most of them: the sum is that device's "
        "gradient",
        "a device in a group whose other devices all work with the server"};
    return sheet;
  }

  std::string mode_ = "sound";
  fl::EfficientSettings efficient_;
  fl::OptimiserSettings user_optimiser_, news_optimiser_;
  fl::PrivateTrainingSettings private_;
};

}  // namespace

std::unique_ptr<Recipe> make_efficient_fedrec() { return std::make_unique<EfficientFedRec>(); }

}  // namespace sotto::recipes
