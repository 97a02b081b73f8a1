#include "fl/federated_source.h"

namespace sotto {

void FederatedSettings::bind(SettingsTable& table) {
  table.add("cohort", cohort, {1, 10000000}, "Users per round")
      .add("minimum_cohort", minimum_cohort, {1, 10000000}, "A round with fewer users is discarded")
      .add_choice(
          "mode", mode, {"sound", "paper"},
          "sound: every click counts once; paper: FedNewsRec's printed rule, which weights by clicks twice")
      .add("local_epochs", local_epochs, {0, 10000},
           "Local epochs per round (FedAvg); 0: one gradient per round (FedSGD)")
      .add("local_batch", local_batch, {1, 100000}, "Clicks per local step")
      .add("local_learning_rate", local_learning_rate, {1e-9, 1000.0}, "Step size of local epochs")
      .add("clip_norm", clip_norm, {0.0, 1e9}, "L2 norm each user's update is clipped to; 0: no clipping");
}

UpdateTransforms make_transforms(const FederatedSettings& settings) {
  UpdateTransforms transforms;
  if (settings.clip_norm > 0) transforms.push_back(std::make_unique<ClipNorm>(settings.clip_norm));
  return transforms;
}

FederatedSource::FederatedSource(const FederatedSettings& settings, CohortSampler sampler,
                                 UpdateTransforms transforms, NewsTraining& training)
    : settings_(settings),
      weighting_(settings.mode == "paper" ? Weighting::paper : Weighting::samples),
      sampler_(std::move(sampler)),
      transforms_(std::move(transforms)),
      training_(training) {}

// The loss of a round is the mean over clicks, weighted as the gradient is.
double FederatedSource::loss_weight(std::uint64_t samples) const {
  return weighting_ == Weighting::paper ? static_cast<double>(samples) : 1.0;
}

Result<RoundUpdate> FederatedSource::round(std::uint32_t round) {
  const auto cohort = sampler_.sample(round);
  RoundUpdate update;
  WeightedMean mean(static_cast<std::uint64_t>(settings_.minimum_cohort));
  if (transforms_.empty() && settings_.local_epochs == 0) {
    SOTTO_CHECK(aggregate_together(round, cohort, mean, update));
  } else {
    SOTTO_CHECK(aggregate_apart(round, cohort, mean, update));
  }
  update.clients = mean.clients();
  SOTTO_TRY(update.direction, std::move(mean).report());
  // Packed 32-bit floats, the whole model both ways.
  update.bytes_down = update.bytes_up = 4 * static_cast<std::uint64_t>(training_.parameters().size());
  return update;
}

Status FederatedSource::aggregate_together(std::uint32_t round, const std::vector<UserId>& cohort,
                                           WeightedMean& mean, RoundUpdate& update) {
  const LocalGradient total = training_.cohort_gradient(round, cohort, weighting_);
  double clicks = 0;
  for (const UserId user : cohort)
    clicks += loss_weight(training_.samples_of(user)) * static_cast<double>(training_.samples_of(user));
  update.loss = total.loss / clicks;
  update.samples = total.samples;
  mean.add_sum(total.gradient, static_cast<double>(total.samples), cohort.size());
  return {};
}

Status FederatedSource::aggregate_apart(std::uint32_t round, const std::vector<UserId>& cohort,
                                        WeightedMean& mean, RoundUpdate& update) {
  const LocalEpochs local{settings_.local_epochs, settings_.local_batch, settings_.local_learning_rate};
  const bool differences = local.epochs > 0;
  double loss = 0, clicks = 0;
  const auto add = [&](UserId user, const LocalGradient& own) -> Status {
    const auto samples = static_cast<double>(own.samples);
    // Gradients are sums over a user's clicks, weight differences are not: the mean over clicks divides the
    // sum by the clicks first, so that the weight brings it back.
    torch::Tensor one =
        differences || weighting_ == Weighting::paper ? own.gradient.clone() : own.gradient / samples;
    for (const auto& transform : transforms_) transform->apply(round, user, one);
    mean.add(one, samples);
    loss += loss_weight(own.samples) * own.loss;
    clicks += loss_weight(own.samples) * samples;
    update.samples += own.samples;
    return {};
  };
  SOTTO_CHECK(differences ? training_.users_epochs(round, cohort, local, add)
                          : training_.user_gradients(round, cohort, add));
  update.loss = loss / clicks;
  return {};
}

}  // namespace sotto
