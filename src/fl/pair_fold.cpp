#include "fl/pair_fold.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/interrupt.h"
#include "fl/item_kernel.h"
#include "fl/pair_spectrum.h"
#include "privacy/accounting/account.h"
#include "secagg/vectors/audited_sums.h"
#include "secagg/vectors/calibrated_plan.h"

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
  if (round == 0) return RoundTask{plans_.counts};
  const Tensor counts = model_.counts.to(torch::kCPU).contiguous();
  counts_.assign(values_of(counts).begin(), values_of(counts).end());
  chosen_ = local::most_counted(counts_, plans_.chosen);
  return RoundTask{plans_.pairs, chosen_.size() * sizeof(data::ItemId)};
}

Status PairFold::each_update(std::uint32_t round, std::span<const data::UserId> users,
                             const std::function<Status(const UserUpdate&)>& take) {
  for (const data::UserId user : users) {
    const std::vector<local::OwnItem> own = items_of(user);
    std::vector<float> sent = round == 0
                                  ? local::item_shares(own, dataset_.item_count())
                                  : local::pair_shares(local::taste(own, chosen_, counts_, settings_.centre));
    const Tensor update = torch::from_blob(sent.data(), static_cast<std::int64_t>(sent.size()));
    SOTTO_CHECK(take({user, update, 0, own.size()}));
  }
  return {};
}

Result<Tensor> PairFold::fold(std::uint32_t round, const Tensor& mean, const Gathered&) {
  const torch::NoGradGuard no_grad;
  if (round == 0) return setting(mean, model_.vectors);
  std::vector<float> rows =
      vectors_from_pairs(values_of(mean), chosen_.size(), noise_of_mean(plans_.pairs, data_.users.size()),
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
                      const model::ItemVectors& model, const model::RankingWeights& weights,
                      const TakeScores& take) {
  const model::VectorRanking ranking(model, weights);
  for (std::size_t user = 0; user < data.test.size() && !interrupted(); ++user) {
    std::vector<data::ItemId> liked, known;
    for (const std::uint64_t row : data.test[user].support.positive)
      liked.push_back(dataset.interactions().items[row]);
    for (const std::uint64_t row : data.test[user].support.negative)
      known.push_back(dataset.interactions().items[row]);
    take(user, data.test[user].query, ranking.scores(liked, known).data());
  }
}

namespace {

// The values of one grid step in the two sums; 0: the finest that fits into the bits.
struct Steps {
  double counts = 0, pairs = 0;
};

enum class Sent { counts, products };

Result<secagg::EncodingPlan> sum_plan(const PrivateTrainingSettings& settings, Sent sent,
                                      std::uint64_t dimension, std::uint64_t users, double noise_multiplier,
                                      double step) {
  secagg::EncodingPlan::Settings encoding;
  encoding.dimension = dimension;
  encoding.clip = 1;
  (sent == Sent::counts ? encoding.nonnegative : encoding.products) = true;
  encoding.denominator = static_cast<double>(users);
  encoding.devices = users;
  encoding.dropped = secagg::devices_in(settings.dropping, users);
  encoding.corrupted = secagg::devices_in(settings.corrupted, users);
  encoding.noise_multiplier = noise_multiplier;
  encoding.adjacency = privacy::Adjacency::replace_one;
  encoding.step = step;
  if (step == 0) {
    SOTTO_TRY(encoding.step, secagg::finest_step(encoding, static_cast<unsigned>(settings.bits)));
  }
  return secagg::EncodingPlan::create(encoding);
}

Result<PairPlans> pair_plans(const PrivateTrainingSettings& settings, const SumsShape& shape,
                             double noise_multiplier, const Steps& steps) {
  SOTTO_TRY(auto counts, sum_plan(settings, Sent::counts, shape.items, shape.users,
                                  shape.counts_noise * noise_multiplier, steps.counts));
  SOTTO_TRY(auto pairs, sum_plan(settings, Sent::products, local::pair_count(shape.chosen), shape.users,
                                 noise_multiplier, steps.pairs));
  return PairPlans{std::move(counts), std::move(pairs), shape.chosen};
}

struct Candidate {
  PairPlans plans;
  privacy::Guarantee guarantee;
};

Result<Candidate> with_noise(const PrivateTrainingSettings& settings, const SumsShape& shape,
                             double noise_multiplier, const Steps& steps) {
  SOTTO_TRY(auto plans, pair_plans(settings, shape, noise_multiplier, steps));
  const std::array both = {*plans.counts.event(), *plans.pairs.event()};
  SOTTO_TRY(auto guarantee, privacy::account_best(both, settings.delta, privacy::Adversary::server));
  return Candidate{std::move(plans), std::move(guarantee)};
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
  if (settings.epsilon <= 0)
    return bad_input("two private sums need a budget: give --epsilon (and delta, {:g} by default)",
                     settings.delta);
  SOTTO_CHECK(secagg::check_delta(settings.delta, shape.users));
  // Epsilon hardly depends on the grid, and less noise needs no coarser one: the grid of the first noise that
  // is enough serves the search, and the finest is taken at its end.
  Steps steps;
  SOTTO_TRY(const double noise,
            privacy::smallest_noise(settings.epsilon, [&](double candidate) -> Result<double> {
              SOTTO_TRY(const Candidate tried, with_noise(settings, shape, candidate, steps));
              if (steps.counts == 0 && tried.guarantee.epsilon <= settings.epsilon)
                steps = {tried.plans.counts.settings().step, tried.plans.pairs.settings().step};
              return tried.guarantee.epsilon;
            }));
  SOTTO_TRY(Candidate good, with_noise(settings, shape, noise, {}));
  if (good.guarantee.epsilon > settings.epsilon) {
    SOTTO_TRY(good, with_noise(settings, shape, noise, steps));
  }
  privacy::PrivacyPlan accounted = accounted_as(settings, shape, good.plans);
  return TwoPrivateSums{std::move(good.plans), std::move(good.guarantee), std::move(accounted),
                        settings.sums.chosen(shape.users)};
}

Result<PairPlans> sums_without_noise(const PrivateTrainingSettings& settings, const SumsShape& shape) {
  return pair_plans(settings, shape, 0, {});
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
