#include "fl/pair_fold.h"

#include <algorithm>
#include <cmath>

#include "base/interrupt.h"
#include "base/progress.h"
#include "fl/item_kernel.h"
#include "fl/pair_spectrum.h"
#include "fl/process_group.h"
#include "secagg/vectors/audited_sums.h"
#include "secagg/vectors/two_sums.h"

namespace sotto::fl {

using torch::Tensor;

namespace {

std::span<const float> values_of(const Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

double noise_of_mean(const secagg::EncodingPlan& plan, std::uint64_t present) {
  if (!plan.noise_share()) return 0;
  const double steps = std::sqrt(plan.noise_share()->share_variance() * static_cast<double>(present));
  return steps * plan.settings().step / plan.settings().denominator;
}

std::vector<local::OwnItem> PairFold::items_of(data::UserId user) const {
  const UserRows& rows = data_.of(user);
  std::vector<local::OwnRow> own;
  for (const auto* list : {&rows.positive, &rows.negative})
    for (const std::uint64_t row : *list)
      own.push_back({dataset_.interactions().items[row], list == &rows.positive});
  return local::own_items(own, settings_.low);
}

Result<RoundTask> PairFold::open(std::uint32_t round) {
  if (round > 1) return failed("round {} does not exist: two sums are all that is released", round + 1);
  publish();
  if (round == 0) return RoundTask{plans_.counts};
  const Tensor counts = model_.counts.to(torch::kCPU).contiguous();
  counts_.assign(values_of(counts).begin(), values_of(counts).end());
  chosen_ = local::most_counted(counts_, plans_.chosen);
  return RoundTask{plans_.pairs, chosen_.size() * sizeof(data::ItemId)};
}

void PairFold::publish() {
  fetched_ = {sent_as_floats(torch::cat({model_.counts.flatten(), model_.vectors.flatten()})), std::nullopt};
}

Status PairFold::each_update(std::uint32_t round, std::span<const data::UserId> users,
                             const std::function<Status(const UserUpdate&)>& take) {
  Progress progress(round == 0 ? "counting items" : "counting pairs of items", users.size(), "users");
  for (const data::UserId user : users) {
    if (interrupted()) return failed("stopped in the middle of a sum, which counts for nothing");
    progress.advance();
    const std::vector<local::OwnItem> own = items_of(user);
    std::vector<float> sent = round == 0
                                  ? local::item_shares(own, dataset_.item_count())
                                  : local::pair_shares(local::taste(own, chosen_, counts_, settings_.centre));
    const Tensor update = torch::from_blob(sent.data(), static_cast<std::int64_t>(sent.size()));
    SOTTO_CHECK(take({user, update, 0, own.size()}));
  }
  return {};
}

Result<Tensor> PairFold::fold(std::uint32_t round, const Tensor& mean, const Gathered& gathered) {
  const torch::NoGradGuard no_grad;
  if (round == 0) return setting(mean, model_.vectors);
  std::vector<float> rows =
      vectors_from_pairs(values_of(mean), chosen_.size(), noise_of_mean(plans_.pairs, gathered.arrived()),
                         {settings_.vectors, ridge(counts_)},
                         item_kernel(dataset_.catalogue(), chosen_, counts_, settings_.features));
  const auto items = static_cast<std::int64_t>(chosen_.size());
  const Tensor vectors = torch::zeros({model_.counts.numel(), settings_.vectors});
  vectors.index_copy_(0, torch::tensor(std::vector<std::int64_t>(chosen_.begin(), chosen_.end())),
                      torch::from_blob(rows.data(), {items, settings_.vectors}));
  return setting(model_.counts, vectors);
}

double PairFold::ridge(std::span<const float> counts) const {
  double breadth = 0;
  for (const data::ItemId item : chosen_) breadth += std::max(counts[item], 0.0F);
  constexpr double least = 1e-2;  // noise can leave nothing of the counts
  return settings_.ridge / (static_cast<double>(chosen_.size()) * std::sqrt(std::max(breadth, least)));
}

Tensor PairFold::setting(const Tensor& counts, const Tensor& vectors) const {
  const auto device = model_.counts.device();
  return torch::cat(
      {(model_.counts - counts.to(device)).reshape(-1), (model_.vectors - vectors.to(device)).reshape(-1)});
}

void score_test_users(const data::Dataset& dataset, const InteractionData& data,
                      const model::ItemVectors& model, const local::RankingWeights& weights,
                      const TakeScores& take) {
  const auto on_cpu = [](const Tensor& tensor) {
    return tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  };
  const Tensor counts = on_cpu(model.counts), vectors = on_cpu(model.vectors);
  const local::VectorRanking ranking(values_of(counts), values_of(vectors), weights);
  const auto share = processes().part_of(data.test.size());
  for (std::size_t user = share.begin; user < share.end && !interrupted(); ++user) {
    std::vector<data::ItemId> liked, known;
    for (const std::uint64_t row : data.test[user].support.positive)
      liked.push_back(dataset.interactions().items[row]);
    for (const std::uint64_t row : data.test[user].support.negative)
      known.push_back(dataset.interactions().items[row]);
    take(user, data.test[user].query, ranking.scores(liked, known).data());
  }
}

namespace {

secagg::TrainingBudget budget_of(const PrivateTrainingSettings& settings) {
  return {.epsilon = settings.epsilon,
          .delta = settings.delta,
          .participations = 0,
          .bits = static_cast<unsigned>(settings.bits),
          .dropping = settings.dropping,
          .corrupted = settings.corrupted};
}

secagg::TwoSumsShape sums_of(const SumsShape& shape) {
  return {shape.items, local::pair_count(shape.chosen), shape.users, 0, shape.counts_noise};
}

privacy::PrivacyPlan accounted_as(const PrivateTrainingSettings& settings, const SumsShape& shape,
                                  const PairPlans& plans) {
  privacy::PrivacyPlan plan = privacy::stated(*plans.counts.event(), settings.delta);
  const privacy::PrivacyPlan pairs = privacy::stated(*plans.pairs.event(), settings.delta);
  plan.second_noise = pairs.noise;
  plan.second_l1_sensitivity = pairs.l1_sensitivity;
  plan.second_l2_sensitivity = pairs.l2_sensitivity;
  plan.second_total_variation = pairs.total_variation;
  plan.second_log_ratio = pairs.log_ratio;
  plan.population = plan.cohort = static_cast<std::int64_t>(shape.users);
  plan.participations = 1;
  return plan;
}

}  // namespace

Result<TwoPrivateSums> TwoPrivateSums::calibrate(const PrivateTrainingSettings& settings,
                                                 const SumsShape& shape) {
  SOTTO_TRY(auto sums, secagg::calibrated_two_sums(budget_of(settings), sums_of(shape), shape.users));
  PairPlans plans{std::move(sums.first), std::move(sums.second), shape.chosen};
  privacy::PrivacyPlan accounted = accounted_as(settings, shape, plans);
  return TwoPrivateSums{std::move(plans), std::move(sums.guarantee), std::move(accounted),
                        settings.sums.chosen(shape.users)};
}

Result<PairPlans> sums_without_noise(const PrivateTrainingSettings& settings, const SumsShape& shape) {
  SOTTO_TRY(auto plans, secagg::two_sums_without_noise(budget_of(settings), sums_of(shape)));
  return PairPlans{std::move(plans.first), std::move(plans.second), shape.chosen};
}

privacy::PrivacyDatasheet TwoPrivateSums::datasheet(std::string recipe) const {
  const secagg::EncodingPlan &counts = plans.counts, &pairs = plans.pairs;
  privacy::PrivacyDatasheet sheet;
  sheet.recipe = std::move(recipe);
  sheet.mode = "sound";
  sheet.mechanism = fmt::format(
      "two sums of vectors of norm 1, of {} item counts and of {} pairs of {} chosen items; Skellam shares "
      "of {} surely honest devices, noise multipliers {:.4g} and {:.4g} of the sensitivity, {} and {} bits; "
      "simulated with sums={}",
      counts.settings().dimension, pairs.settings().dimension, plans.chosen,
      pairs.noise_share()->surely_present(), counts.settings().noise_multiplier,
      pairs.settings().noise_multiplier, counts.modulus().bits(), pairs.modulus().bits(), sums);
  sheet.sampling = fmt::format("none: all {} training users are in both sums", pairs.settings().devices);
  sheet.composition = fmt::format("two releases, each user in both; {}", privacy::name(guarantee.method));
  sheet.unit = guarantee.unit;
  sheet.adjacency = guarantee.adjacency;
  sheet.delta = guarantee.delta;
  sheet.epsilon_server = sheet.epsilon_published = guarantee.epsilon;
  sheet.sums = {secagg::record_of(counts, "item counts"), secagg::record_of(pairs, "pairs of items")};
  sheet.server_sees = {"who takes part", "the two noisy sums, and nothing of a single device",
                       "no history: the device ranks by itself"};
  sheet.not_protected = {
      "what users have in common", "that somebody uses the service",
      "side channels: timing, addresses, a device that is broken into",
      "a device among more accomplices of the server, or more that vanish, than the plan reckons with: the "
      "server says who the training users are",
      "log.jsonl, last.sotto and metrics in this folder: the simulation's own view, not for publication"};
  return sheet;
}

}  // namespace sotto::fl
