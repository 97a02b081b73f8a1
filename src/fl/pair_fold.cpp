#include "fl/pair_fold.h"

#include <algorithm>
#include <cmath>

#include "base/interrupt.h"
#include "fl/pair_spectrum.h"
#include "local/item_sums.h"
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

std::vector<data::ItemId> PairFold::items_of(data::UserId user) const {
  std::vector<data::ItemId> items;
  for (const std::uint64_t row : data_.of(user).positive) items.push_back(dataset_.interactions().items[row]);
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

Result<RoundTask> PairFold::open(std::uint32_t round) {
  if (round > 1) return failed("round {} does not exist: two sums are all that is released", round + 1);
  publish();
  if (round == 0) return RoundTask{plans_.counts};
  const Tensor counts = model_.counts.to(torch::kCPU).contiguous();
  chosen_ = local::most_counted(values_of(counts), plans_.chosen);
  return RoundTask{plans_.pairs, chosen_.size() * sizeof(data::ItemId)};
}

void PairFold::publish() {
  fetched_ = {sent_as_floats(torch::cat({model_.counts.flatten(), model_.vectors.flatten()})), std::nullopt};
}

Status PairFold::each_update(std::uint32_t round, std::span<const data::UserId> users,
                             const std::function<Status(const UserUpdate&)>& take) {
  for (const data::UserId user : users) {
    const std::vector<data::ItemId> own = items_of(user);
    std::vector<float> sent = round == 0
                                  ? local::item_shares(own, dataset_.item_count())
                                  : local::pair_shares(local::places_among(own, chosen_), chosen_.size());
    const Tensor update = torch::from_blob(sent.data(), static_cast<std::int64_t>(sent.size()));
    SOTTO_CHECK(take({user, update, 0, own.size()}));
  }
  return {};
}

Result<Tensor> PairFold::fold(std::uint32_t round, const Tensor& mean, const Gathered& gathered) {
  const torch::NoGradGuard no_grad;
  if (round == 0) return setting(mean, model_.vectors);
  const Tensor counts = model_.counts.to(torch::kCPU).contiguous();
  std::vector<float> rows =
      vectors_from_pairs(values_of(mean), chosen_.size(), noise_of_mean(plans_.pairs, gathered.arrived()),
                         spectrum_, features_of(values_of(counts)));
  const auto items = static_cast<std::int64_t>(chosen_.size());
  const Tensor vectors = torch::zeros({counts.numel(), spectrum_.vectors});
  vectors.index_copy_(0, torch::tensor(std::vector<std::int64_t>(chosen_.begin(), chosen_.end())),
                      torch::from_blob(rows.data(), {items, spectrum_.vectors}));
  return setting(model_.counts, vectors);
}

FeatureColumns PairFold::features_of(std::span<const float> counts) const {
  FeatureColumns columns;
  for (const auto& field : features_) columns.width += static_cast<std::size_t>(field.values);
  columns.values.assign(chosen_.size() * columns.width, 0);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const float entry = std::sqrt(std::max(counts[chosen_[i]], 0.0F));  // noise makes counts negative
    float* column = columns.values.data() + i * columns.width;
    for (const auto& field : features_) {
      for (const std::uint32_t code : field.of(chosen_[i])) column[code] = entry;
      column += field.values;
    }
  }
  return columns;
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
  for (std::size_t user = 0; user < data.test.size() && !interrupted(); ++user) {
    std::vector<data::ItemId> history;
    for (const std::uint64_t row : data.test[user].support.positive)
      history.push_back(dataset.interactions().items[row]);
    take(user, data.test[user].query, ranking.scores(history).data());
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
