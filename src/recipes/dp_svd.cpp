// Item vectors from two private sums. Every device once sends its items as a vector of length 1; the server
// chooses the items with the largest noisy counts. Every device once sends which of these it likes together,
// less what everybody likes; what the public catalogue says of items holds the noise of that sum back, and
// eigenvectors of the rest are the items' vectors. Devices rank by them.
// Two releases in all: noise is paid for twice, not once per round of a training. noise=none: without it.

#include <algorithm>
#include <cmath>
#include <optional>

#include "fl/pair_fold.h"
#include "fl/round_limit.h"
#include "privacy/accounting/default_plans.h"
#include "recipes/interaction_run.h"
#include "recipes/run_data.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

// What VectorRanking ranks by as one product per item. A row holds the vector, behind it the vector as it
// counts in a history, and the item's popularity; the root of a history's length stands for the length of its
// weights, which it is on average. An item without a vector stands as far below none as the most popular one
// stands above, and further the less it was counted. What was used before is not lifted: devices do not show
// it again.
TrainedFactors factors_of(const model::ItemVectors& model, const local::RankingWeights& weights) {
  const torch::NoGradGuard no_grad;
  const auto vectors = model.vectors.to(torch::kCPU, torch::kFloat32).contiguous();
  const auto counts = model.counts.to(torch::kCPU, torch::kFloat32).contiguous();
  const auto items = static_cast<std::size_t>(vectors.size(0)),
             width = static_cast<std::size_t>(vectors.size(1));
  const auto counted = local::counted_items({counts.data_ptr<float>(), items},
                                            {vectors.data_ptr<float>(), items * width}, weights.rare);
  constexpr double tiny = 1e-300;
  const double lowest = counts.min().item<double>(),
               range = std::max(counts.max().item<double>() - lowest, tiny);
  double most = tiny, all = tiny, squares = 0, loudest = 1;
  for (std::size_t item = 0; item < items; ++item) {
    const double p = counted.popularity[item], says = counted.says[item];
    most = std::max(most, p);
    all += p;
    squares += p * says * says;
    loudest = std::max(loudest, says);
  }
  const double usual = squares > 0 ? std::sqrt(squares / all) : 1;  // weight of an item in a history
  // Devices keep eight bits of a row: its parts are brought to one size.
  const double longest = std::max(vectors.abs().max().item<double>(), tiny);
  const double scale = (longest > tiny ? longest : 1) / most;
  TrainedFactors made;
  made.size = 2 * width + 1;
  for (std::size_t item = 0; item < items; ++item) {
    const float* row = vectors.data_ptr<float>() + item * width;
    made.items.insert(made.items.end(), row, row + width);
    for (std::size_t i = 0; i < width; ++i)
      made.items.push_back(static_cast<float>(counted.says[item] / loudest * row[i]));
    const double rank = (counts.data_ptr<float>()[item] - lowest) / range;  // 0 to 1
    made.items.push_back(
        static_cast<float>(scale * (counted.says[item] > 0 ? counted.popularity[item] : -most * (2 - rank))));
  }
  made.mix.assign(made.size * made.size, 0);
  for (std::size_t i = 0; i < width; ++i)
    made.mix[(width + i) * made.size + i] = static_cast<float>(loudest / usual);
  made.constant.assign(made.size, 0);
  // Counts decide between equals: a tiny part at least.
  made.constant.back() = static_cast<float>(std::max(weights.popularity, 1e-5 / most) / scale);
  made.unseen_item.assign(made.size, 0);
  made.unseen_item.back() = static_cast<float>(-2 * scale * most);
  return made;
}

class DpSvd final : public Recipe {
 public:
  // Everybody is in one sum: with fewer bits the grid is so coarse that rounding lengthens the vectors.
  DpSvd() { budget_.bits = 28; }

  void bind(SettingsTable& table) override {
    engine_.rounds = 2;
    engine_.checkpoint_every = 1;
    engine_.bind(table, false);
    optimiser_.optimiser = "fedavg";  // a round sets what it brings
    table.add_choice("noise", noise_, {"distributed", "none"}, "none: no noise, no differential privacy")
        .add(
            "items", items_, {0, 10'000},
            "Items that get a vector, the most counted ones; 0: training users / 6, at least 50, and no more "
            "than an upload of 1 MB holds")
        .add("choose_noise", choose_noise_, {0.01, 1000.0},
             "Noise multiplier of the counts that choose them, over that of the pairs")
        .add("low", taste_.low, {0.0, 1.0}, "How much a row counts that is not positive")
        .add("centre", taste_.centre, {0.0, 1.0},
             "Share of what everybody likes that is taken out of a user's taste")
        .add("vectors", taste_.vectors, {1, 4096}, "Numbers per item, at most")
        .add("ridge", taste_.ridge, {0.0, 1e9},
             "A direction counts half that has so many times a direction's mean share, over the root of a "
             "user's mean sum of items")
        .add("features", taste_.features, "Reckon with items of one genre, category or year being alike")
        .add("rare", rare_, {0.0, 1.0},
             "Items of a history count by this power of how much rarer they are than the most counted one")
        .add("popularity", popularity_, {0.0, 1e9},
             "How much counts add to scores, over the root of the training users")
        .add("again", again_, {0.0, 1e6},
             "How far what a user has used before is lifted, by the logarithm of how often");
    budget_.bind_budget(table);
    data_.bind(table);
  }

  bool promises_epsilon() const override { return noise_ != "none"; }

  std::vector<SettingCondition> conditions() const override {
    return read_only_with("noise", {"distributed"},
                          {"epsilon", "delta", "dropping", "corrupted", "choose_noise", "features"});
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    if (request.remote != nullptr) return remotely(request);
    const fl::RoundLimit none({});  // items are counted first: one round alone has made no model
    SOTTO_CHECK(check());
    SOTTO_TRY(const auto data, tested_interactions(request, data_));
    SOTTO_TRY(const auto model, make_model(request));
    const fl::SumsShape shape = shape_of(request.dataset.item_count(), data.users.size());
    std::optional<fl::TwoPrivateSums> sums;
    if (noise_ != "none") {
      SOTTO_CHECK(check_may_train_privately(request.dataset));
      SOTTO_TRY(sums, fl::TwoPrivateSums::calibrate(budget_, shape));
      SOTTO_CHECK(privacy::save_plan(sums->accounted, request.run / "privacy.toml"));
    }
    SOTTO_TRY(auto plans, sums ? Result<fl::PairPlans>(sums->plans) : fl::sums_without_noise(budget_, shape));
    model::FlatParameters parameters(*model);
    fl::PairFold fold(request.dataset, data, *model, std::move(plans), taste_);
    const auto everybody = static_cast<std::int64_t>(data.users.size());
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(data.users, everybody, request.seed));
    std::vector<secagg::PlanAgreement> agreed;
    if (sums)
      agreed = {secagg::PlanAgreement::to(sums->plans.counts), secagg::PlanAgreement::to(sums->plans.pairs)};
    // Without noise rounding is all that is drawn, and no ε rests on it.
    SOTTO_TRY(const auto gather,
              budget_.sums.gather({{std::move(sampler), fl::every_round},
                                   fold,
                                   sums ? request.noise() : privacy::NoiseOrigin::reproducible(request.seed),
                                   std::move(agreed),
                                   {.seed = request.seed}}));
    fl::CohortRounds source(fold, *gather);
    SOTTO_TRY(auto outcome, train_to_last_round(request, parameters, source, optimiser_, engine_,
                                                [&] { return measure(request, data, *model); }));
    outcome.training_users = data.users.size();
    outcome.training_samples = data.row_count();
    if (sums) outcome.privacy = sums->datasheet("dp-svd");
    return outcome;
  }

  Result<fl::DeviceTask> device_task(const RunRequest& request) override {
    if (noise_ == "none") return bad_input("devices sum under noise: leave out noise=none");
    SOTTO_TRY(const auto model, make_model(request));
    const model::FlatParameters parameters(*model);
    const std::uint64_t catalogue = request.dataset.item_count();
    const fl::SumsShape shape = shape_of(catalogue, request.devices);
    const local::RankingWeights weights = weights_for(request.devices);
    LocalSettingsList local;
    local.add("catalogue", static_cast<std::int64_t>(catalogue))
        .add("items", static_cast<std::int64_t>(shape.chosen))
        .add("vectors", taste_.vectors)
        .add("low", weights.low)
        .add("centre", taste_.centre)
        .add("popularity_weight", weights.popularity)
        .add("rare", weights.rare)
        .add("again", weights.again)
        .add("positive_above", data_.positive_above)
        .add("rows", data_.rows);
    auto task = task_over(request.dataset.catalogue(), "dp-svd", std::move(local), parameters.layout());
    task.bits = static_cast<unsigned>(budget_.bits);
    task.first_noise = shape.counts_noise;
    return task;
  }

  Result<std::optional<TrainedFactors>> open_factors(const RunRequest& request) override {
    SOTTO_TRY(const auto data, fl::prepare_interactions(request.dataset, data_, request.seed));
    SOTTO_TRY(const auto model, make_model(request));
    model::FlatParameters parameters(*model);
    SOTTO_CHECK(load_last_round(request, parameters));
    return factors_of(*model, weights_for(data.users.size()));
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(const auto data, tested_interactions(request, data_));
    SOTTO_TRY(const auto model, make_model(request));
    model::FlatParameters parameters(*model);
    return measure_last_round(request, parameters, [&] { return measure(request, data, *model); });
  }

 private:
  // Refuses other rounds than the two releases, and noise without a budget.
  Status check() const {
    if (engine_.rounds != 2)
      return bad_input("dp-svd has two rounds, one for each release, not {}: leave out rounds",
                       engine_.rounds);
    if (noise_ != "none" && budget_.epsilon <= 0)
      return bad_input("dp-svd needs a budget: give --epsilon (and delta, {:g} by default)", budget_.delta);
    return {};
  }

  // The two sums of devices elsewhere, whose plans the campaign has.
  Result<TrainOutcome> remotely(const RunRequest& request) {
    const auto& plans = request.remote->plans;
    if (plans.size() != 2 || engine_.rounds != 2)
      return bad_input("dp-svd has two rounds with a sum each: draft its campaign with 'sotto campaign new'");
    RunRequest sized = request;
    sized.devices = static_cast<std::uint64_t>(plans.front().settings().denominator);
    SOTTO_TRY(const auto task, device_task(sized));
    SOTTO_TRY(const auto model, make_model(request));
    model::FlatParameters parameters(*model);
    const std::uint64_t chosen = shape_of(request.dataset.item_count(), sized.devices).chosen;
    const fl::InteractionData nobody;
    fl::PairFold fold(request.dataset, nobody, *model, {plans[0], plans[1], chosen}, taste_);
    SOTTO_TRY(const auto optimiser, fl::make_optimiser(optimiser_, parameters.values()));
    return train_remotely(request, task, parameters, fold, *optimiser, engine_, {});
  }

  fl::SumsShape shape_of(std::uint64_t all, std::uint64_t users) const {
    const std::uint64_t most = local::most_items_of_pairs(static_cast<unsigned>(budget_.bits));
    const std::uint64_t chosen = items_ > 0 ? static_cast<std::uint64_t>(items_)
                                            : std::min(std::max<std::uint64_t>(users / 6, 50), most);
    return {all, std::min(chosen, all), users, choose_noise_};
  }

  Result<std::shared_ptr<model::ItemVectors>> make_model(const RunRequest& request) const {
    SOTTO_TRY(const auto device, request.compute_device());
    const auto items = static_cast<std::int64_t>(request.dataset.item_count());
    auto model = std::make_shared<model::ItemVectors>(items, taste_.vectors);
    model->to(device);
    return model;
  }

  local::RankingWeights weights_for(std::uint64_t users) const {
    return {.popularity = popularity_ / std::sqrt(static_cast<double>(std::max<std::uint64_t>(users, 1))),
            .again = again_,
            .low = taste_.low,
            .rare = rare_};
  }

  TestMetrics measure(const RunRequest& request, const fl::InteractionData& data,
                      const model::ItemVectors& model) const {
    const local::RankingWeights weights = weights_for(data.users.size());
    return request.evaluate_held_out(request.dataset, data, [&](const fl::TakeScores& take) {
      fl::score_test_users(request.dataset, data, model, weights, take);
    });
  }

  fl::EngineSettings engine_;
  fl::OptimiserSettings optimiser_;
  std::string noise_ = "distributed";
  std::int64_t items_ = 0;
  double choose_noise_ = privacy::dp_svd_choose_noise, rare_ = 0.35, popularity_ = 8, again_ = 10;
  fl::TasteSettings taste_;
  fl::PrivateTrainingSettings budget_;
  fl::InteractionSettings data_;
};

}  // namespace

std::unique_ptr<Recipe> make_dp_svd() { return std::make_unique<DpSvd>(); }

}  // namespace sotto::recipes
