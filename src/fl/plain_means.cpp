#include "fl/plain_means.h"

#include <array>

#include "fl/divergence.h"
#include "fl/process_group.h"

namespace sotto::fl {

void WeightedMean::add(const torch::Tensor& update, double weight) { add_sum(update * weight, weight, 1); }

void WeightedMean::add_sum(const torch::Tensor& weighted_sum, double weight, std::uint64_t clients) {
  if (sum_.defined())
    sum_.add_(weighted_sum);
  else
    sum_ = weighted_sum.clone();
  weight_ += weight;
  clients_ += clients;
}

void WeightedMean::merge(WeightedMean&& other) {
  if (other.sum_.defined()) add_sum(other.sum_, other.weight_, other.clients_);
  other = WeightedMean(other.minimum_clients_);
}

Result<torch::Tensor> WeightedMean::report() && {
  if (clients_ < minimum_clients_)
    return failed("only {} of at least {} clients took part: the round is discarded", clients_,
                  minimum_clients_);
  if (!(weight_ > 0)) return failed("the updates of the round have no weight");
  return std::move(sum_).div_(weight_);
}

Status ClipNorm::apply(std::uint32_t, data::UserId, torch::Tensor& update) const {
  // The factor stays where the update is: reading the norm would make the CPU wait for a card at every user.
  update.mul_((limit_ / update.norm().to(torch::kFloat64)).clamp_max(1));
  return {};
}

Status ElementwiseLaplaceNoise::apply(std::uint32_t round, data::UserId user, torch::Tensor& update) const {
  const torch::Tensor plain = update.to(torch::kCPU, torch::kFloat64).contiguous();
  privacy::NoiseStream draws(noise_, Purpose::noise, round, user);
  const auto released =
      mechanism_.release({plain.data_ptr<double>(), static_cast<std::size_t>(plain.numel())}, draws.random());
  if (!released) {
    if (plain.isfinite().all().item<bool>()) return tl::unexpected(released.error());
    return diverged(round + 1, "a device's update", "Lower learning_rate, or clip_norm");
  }
  update.copy_(torch::tensor(released->reals()));
  return {};
}

void FederatedSettings::bind(SettingsTable& table) {
  table.add("cohort", cohort, {1, 10000000}, "Users per round")
      .add("minimum_cohort", minimum_cohort, {1, 10000000}, "A round with fewer users is discarded")
      .add_choice("mode", mode, {"sound", "paper"},
                  "sound: every click counts once; paper: as the paper prints it (FedNewsRec weights by "
                  "clicks twice, "
                  "PrivateRec counts every user once)")
      .add("local_epochs", local_epochs, {0, 10000},
           "Local epochs per round (FedAvg); 0: one gradient per round (FedSGD)")
      .add("local_batch", local_batch, {1, 100000}, "Clicks per local step")
      .add("local_learning_rate", local_learning_rate, {1e-9, 1000.0}, "Step size of local epochs");
}

void FederatedSettings::bind_clipping(SettingsTable& table) {
  table.add("clip_norm", clip_norm, {0.0, 1e9}, "L2 norm each user's update is clipped to; 0: no clipping");
}

UpdateTransforms make_transforms(const FederatedSettings& settings) {
  UpdateTransforms transforms;
  if (settings.clip_norm > 0) transforms.push_back(std::make_unique<ClipNorm>(settings.clip_norm));
  return transforms;
}

namespace {

// Processes that train together each compute their share of the leader's cohort.
std::vector<data::UserId> leaders_cohort(std::vector<data::UserId> drawn) {
  processes().from_leader(drawn);
  return drawn;
}

// Packed 32-bit floats, the whole model both ways: which rows a device has touched would tell its items.
void count_whole_model(RoundUpdate& update) {
  update.bytes_down = update.bytes_up = sizeof(float) * static_cast<std::uint64_t>(update.direction.numel());
}

class NewsMean {
 public:
  NewsMean(const FederatedSettings& settings, UpdateTransforms transforms, NewsTraining& training)
      : settings_(settings),
        weighting_(settings.mode == "paper" ? settings.printed : Weighting::samples),
        transforms_(std::move(transforms)),
        training_(training) {}

  Result<RoundUpdate> of(std::uint32_t round, const std::vector<data::UserId>& drawn) const {
    const std::vector<data::UserId> cohort = leaders_cohort(drawn);
    const auto own = processes().share_of(std::span(cohort));
    Sums sums;
    Status added;
    if (!own.empty())
      added = transforms_.empty() && settings_.local_epochs == 0 ? add_together(round, own, sums)
                                                                 : add_apart(round, own, sums);
    SOTTO_CHECK(processes().agree(std::move(added)));
    bring_together(sums);
    WeightedMean mean(static_cast<std::uint64_t>(settings_.minimum_cohort));
    mean.add_sum(sums.weighted, sums.weight, sums.clients);
    RoundUpdate update;
    update.loss = sums.loss / sums.clicks;
    update.samples = sums.samples;
    update.clients = mean.clients();
    SOTTO_TRY(update.direction, std::move(mean).report());
    count_whole_model(update);
    return update;
  }

 private:
  // Over the users of one process; clicks weighted as the loss is.
  struct Sums {
    torch::Tensor weighted;  // of updates; undefined: nobody's yet
    double loss = 0, clicks = 0, weight = 0;
    std::uint64_t samples = 0, clients = 0;
  };

  void bring_together(Sums& sums) const {
    if (processes().size() == 1) return;
    if (!sums.weighted.defined()) sums.weighted = torch::zeros_like(training_.parameters().values());
    processes().add(sums.weighted);
    std::array<double, 5> all = {sums.loss, sums.clicks, sums.weight, static_cast<double>(sums.samples),
                                 static_cast<double>(sums.clients)};
    processes().add(std::span<double>(all));
    sums.loss = all[0], sums.clicks = all[1], sums.weight = all[2];
    sums.samples = static_cast<std::uint64_t>(all[3]);
    sums.clients = static_cast<std::uint64_t>(all[4]);
  }

  // The loss of a round is the mean over clicks, weighted as the gradient is.
  double loss_weight(std::uint64_t samples) const { return weight_of_sample(weighting_, samples); }
  double user_weight(std::uint64_t samples) const {
    return weighting_ == Weighting::users ? 1.0 : static_cast<double>(samples);
  }

  Status add_together(std::uint32_t round, std::span<const data::UserId> cohort, Sums& sums) const {
    const LocalGradient total = training_.cohort_gradient(round, cohort, weighting_);
    for (const data::UserId user : cohort)
      sums.clicks +=
          loss_weight(training_.samples_of(user)) * static_cast<double>(training_.samples_of(user));
    sums.loss = total.loss;
    sums.samples = total.samples;
    const double weight = weighting_ == Weighting::users ? static_cast<double>(cohort.size())
                                                         : static_cast<double>(total.samples);
    sums.weighted = total.gradient.clone();
    sums.weight = weight;
    sums.clients = cohort.size();
    return {};
  }

  Status add_apart(std::uint32_t round, std::span<const data::UserId> cohort, Sums& sums) const {
    const LocalEpochs local{settings_.local_epochs, settings_.local_batch, settings_.local_learning_rate};
    const bool differences = local.epochs > 0;
    const auto add = [&](data::UserId user, const LocalGradient& own) -> Status {
      const auto samples = static_cast<double>(own.samples);
      // Gradients are sums over a user's clicks, weight differences are not: the mean over clicks divides the
      // sum by the clicks first, so that the weight brings it back.
      torch::Tensor one =
          differences || weighting_ == Weighting::paper ? own.gradient.clone() : own.gradient / samples;
      for (const auto& transform : transforms_) SOTTO_CHECK(transform->apply(round, user, one));
      const double weight = user_weight(own.samples);
      one.mul_(weight);
      sums.weighted = sums.weighted.defined() ? sums.weighted.add_(one) : one;
      sums.weight += weight;
      ++sums.clients;
      sums.loss += loss_weight(own.samples) * own.loss;
      sums.clicks += loss_weight(own.samples) * samples;
      sums.samples += own.samples;
      return {};
    };
    return differences ? training_.users_epochs(round, cohort, local, add)
                       : training_.user_gradients(round, cohort, add);
  }

  FederatedSettings settings_;
  Weighting weighting_;
  UpdateTransforms transforms_;
  NewsTraining& training_;
};

}  // namespace

CohortMean news_mean(const FederatedSettings& settings, UpdateTransforms transforms, NewsTraining& training) {
  const auto mean = std::make_shared<const NewsMean>(settings, std::move(transforms), training);
  return [mean](std::uint32_t round, const std::vector<data::UserId>& cohort) {
    return mean->of(round, cohort);
  };
}

namespace {

// From the mean over a share of the cohort to the mean over all of it.
void bring_together(torch::Tensor& mean, double& loss, std::uint64_t& samples, std::size_t own,
                    std::size_t all) {
  if (processes().size() == 1) return;
  const double share = static_cast<double>(own) / static_cast<double>(all);
  mean.mul_(share);
  processes().add(mean);
  std::array<double, 2> sums = {share * loss, static_cast<double>(samples)};
  processes().add(std::span<double>(sums));
  loss = sums[0];
  samples = static_cast<std::uint64_t>(sums[1]);
}

}  // namespace

CohortMean interaction_mean(InteractionTraining& training) {
  return [&training](std::uint32_t round, const std::vector<data::UserId>& drawn) -> Result<RoundUpdate> {
    const std::vector<data::UserId> cohort = leaders_cohort(drawn);
    const auto own = processes().share_of(std::span(cohort));
    MeanUpdate mean;
    if (own.empty())
      mean.direction = torch::zeros_like(training.values());
    else
      mean = training.mean_update(round, own);
    bring_together(mean.direction, mean.loss, mean.samples, own.size(), cohort.size());
    RoundUpdate update;
    update.direction = mean.direction;
    update.loss = mean.loss;
    update.clients = cohort.size();
    update.samples = mean.samples;
    count_whole_model(update);
    return update;
  };
}

CohortMean factorisation_mean(const DevicePositives& devices, std::size_t population,
                              const FactorModel& model) {
  // Every user of the population brings its share of λ‖Y‖².
  const double decay = 2 * model.settings().regularisation / static_cast<double>(population);
  return [&devices, &model, decay](std::uint32_t,
                                   const std::vector<data::UserId>& drawn) -> Result<RoundUpdate> {
    const std::vector<data::UserId> cohort = leaders_cohort(drawn);
    torch::NoGradGuard no_grad;
    RoundUpdate update;
    std::vector<OwnItems> users;
    for (const data::UserId user : processes().share_of(std::span(cohort))) {
      users.push_back(devices.of(user));
      update.samples += users.back().size();
    }
    FactorGradient mean{torch::zeros_like(model.factors), 0};
    if (!users.empty()) mean = factor_gradient(model.factors, users, model.settings());
    bring_together(mean.gradient, mean.loss, update.samples, users.size(), cohort.size());
    update.direction = (mean.gradient + decay * model.factors).reshape(-1);
    update.loss = mean.loss;
    update.clients = cohort.size();
    count_whole_model(update);
    return update;
  };
}

}  // namespace sotto::fl
