// Item vectors from two private sums. Every device once sends its items as a vector of length 1; the server
// chooses the items with the largest noisy counts. Every device once sends which of these it likes together;
// eigenvectors of the noisy sum that stand out of the noise are the items' vectors. Devices rank by them.
// Two releases in all: noise is paid for twice, not once per round of a training. noise=none: without it.

#include <algorithm>
#include <optional>

#include "fl/pair_fold.h"
#include "recipes/interaction_run.h"
#include "recipes/run_data.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

// The fewer columns, the less noise: features with more values than this (title words) are left out.
constexpr std::int64_t most_values_of_feature = 100;

// What VectorRanking ranks by, divided by √H, as one product per item: the vector, and behind it the item's
// share of all counts. An item without a vector stands as far below none as the most counted one stands
// above, and further the less it was counted. What was used before is not lifted: devices do not show it
// again.
TrainedFactors factors_of(const model::ItemVectors& model, double popularity) {
  const torch::NoGradGuard no_grad;
  const auto vectors = model.vectors.to(torch::kCPU, torch::kFloat32).contiguous();
  const auto counts = model.counts.to(torch::kCPU, torch::kFloat64).contiguous();
  const auto present = vectors.ne(0).any(1).contiguous();
  const auto items = static_cast<std::size_t>(vectors.size(0)),
             width = static_cast<std::size_t>(vectors.size(1));
  const auto shares = (counts.clamp_min(0) * present).contiguous();  // noise makes counts negative
  const double all = std::max(shares.sum().item<double>(), 1e-300);
  const double most = std::max(shares.max().item<double>() / all, 1e-300);
  const double lowest = counts.min().item<double>(),
               range = std::max(counts.max().item<double>() - lowest, 1e-300);
  const double longest = vectors.abs().max().item<double>();
  // Devices keep eight bits of a row: its last number is brought to the size of the others.
  const double scale = longest > 0 ? longest / most : 1 / most;
  TrainedFactors made;
  made.size = width + 1;
  for (std::size_t item = 0; item < items; ++item) {
    const float* row = vectors.data_ptr<float>() + item * width;
    const double rank = (counts.data_ptr<double>()[item] - lowest) / range;  // 0 to 1
    const double share =
        present.data_ptr<bool>()[item] ? shares.data_ptr<double>()[item] / all : -most * (2 - rank);
    made.items.insert(made.items.end(), row, row + width);
    made.items.push_back(static_cast<float>(scale * share));
  }
  made.mix.assign(made.size * made.size, 0);
  for (std::size_t i = 0; i < width; ++i) made.mix[i * made.size + i] = 1;
  // Counts decide between equals, and for somebody without a history: a tiny part at least.
  made.constant.assign(made.size, 0);
  made.constant.back() = static_cast<float>(std::max(popularity, 1e-5 / most) / scale);
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
        .add("items", items_, {0, 10'000},
             "Items that get a vector, the most counted ones; 0: training users / 8, between 50 and 1,000")
        .add("choose_noise", choose_noise_, {0.0, 1000.0},
             "Noise multiplier of the counts that choose them, over that of the pairs; 0: thousands of "
             "training users, between 1 and 4")
        .add("vectors", vectors_, {1, 4096}, "Numbers per item, at most")
        .add("ridge", ridge_, {0.0, 1e9}, "A direction in which so many users agree counts half")
        .add("features", features_,
             "Also look for what items of one genre, category or decade have in common")
        .add("popularity", popularity_, {0.0, 1e9},
             "With so many training users an item's share of all counts adds to its score once, with half "
             "of them twice")
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
    const auto users = static_cast<double>(data.users.size());
    fl::PairFold fold(request.dataset, data, *model, std::move(plans), {vectors_, ridge_ / users},
                      features_of(request.dataset.catalogue()));
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
    const auto devices = static_cast<double>(std::max<std::uint64_t>(request.devices, 1));
    LocalSettingsList local;
    local.add("catalogue", static_cast<std::int64_t>(catalogue))
        .add("items", static_cast<std::int64_t>(shape.chosen))
        .add("vectors", vectors_)
        .add("popularity_weight", popularity_ / devices)
        .add("again", again_)
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
    return factors_of(*model, popularity_ / static_cast<double>(data.users.size()));
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
    const double cohort = plans.front().settings().denominator;
    RunRequest sized = request;
    sized.devices = static_cast<std::uint64_t>(cohort);
    SOTTO_TRY(const auto task, device_task(sized));
    SOTTO_TRY(const auto model, make_model(request));
    model::FlatParameters parameters(*model);
    const std::uint64_t chosen = shape_of(request.dataset.item_count(), sized.devices).chosen;
    const fl::InteractionData nobody;
    fl::PairFold fold(request.dataset, nobody, *model, {plans[0], plans[1], chosen},
                      {vectors_, ridge_ / cohort}, features_of(request.dataset.catalogue()));
    SOTTO_TRY(const auto optimiser, fl::make_optimiser(optimiser_, parameters.values()));
    return train_remotely(request, task, parameters, fold, *optimiser, engine_, {});
  }

  std::vector<model::TabularField> features_of(const data::Catalogue& catalogue) const {
    return features_ ? model::item_fields(catalogue, most_values_of_feature)
                     : std::vector<model::TabularField>();
  }

  fl::SumsShape shape_of(std::uint64_t all, std::uint64_t users) const {
    const std::uint64_t chosen =
        items_ > 0 ? static_cast<std::uint64_t>(items_) : std::clamp<std::uint64_t>(users / 8, 50, 1000);
    const double counts_noise =
        choose_noise_ > 0 ? choose_noise_ : std::clamp(static_cast<double>(users) / 1000, 1.0, 4.0);
    return {all, std::min(chosen, all), users, counts_noise};
  }

  Result<std::shared_ptr<model::ItemVectors>> make_model(const RunRequest& request) const {
    SOTTO_TRY(const auto device, request.compute_device());
    const auto items = static_cast<std::int64_t>(request.dataset.item_count());
    auto model = std::make_shared<model::ItemVectors>(items, vectors_);
    model->to(device);
    return model;
  }

  TestMetrics measure(const RunRequest& request, const fl::InteractionData& data,
                      const model::ItemVectors& model) const {
    const local::RankingWeights weights{popularity_ / static_cast<double>(data.users.size()), again_};
    return request.evaluate_held_out(request.dataset, data, [&](const fl::TakeScores& take) {
      fl::score_test_users(request.dataset, data, model, weights, take);
    });
  }

  fl::EngineSettings engine_;
  fl::OptimiserSettings optimiser_;
  std::string noise_ = "distributed";
  std::int64_t items_ = 0, vectors_ = 64;
  bool features_ = true;
  double choose_noise_ = 0, ridge_ = 50, popularity_ = 1000, again_ = 10;
  fl::PrivateTrainingSettings budget_;
  fl::InteractionSettings data_;
};

}  // namespace

std::unique_ptr<Recipe> make_dp_svd() { return std::make_unique<DpSvd>(); }

}  // namespace sotto::recipes
