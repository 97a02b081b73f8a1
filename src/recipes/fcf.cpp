// FCF (Ammad-ud-din et al. 2019): federated matrix factorisation for implicit feedback. Item factors are
// global; each device solves for its own factors and returns the gradient of its error in the item factors.
// Reads which items a user liked and nothing about the items. No DP.
//
// interactions: PrivRec's protocol (fl/interaction_data.h); test users solve from their support rows.
// impressions:  the users, and the test, of the news recipes; for every test impression the device solves
//               from the history before it and ranks what was shown. Data with both counts as interactions.

#include <algorithm>
#include <optional>
#include <span>

#include "fl/plain_means.h"
#include "fl/training_data.h"
#include "recipes/interaction_run.h"
#include "recipes/run_data.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

// Who trains on what, and the item factors. Refers to the request.
struct FactorisationRun {
  const RunRequest& request;
  std::int64_t max_history = 0;
  fl::DevicePositives devices = {};
  std::optional<fl::InteractionData> interactions = {};  // empty: the data has impressions
  std::vector<std::uint32_t> test_impressions = {};
  std::shared_ptr<fl::FactorModel> model = {};
  std::unique_ptr<model::FlatParameters> parameters = {};

  TestMetrics measure() const {
    if (interactions)
      return request.evaluate_held_out(request.dataset, *interactions, [&](const fl::TakeScores& take) {
        fl::score_test_users(request.dataset, *interactions, *model, take);
      });
    return request.evaluate(*model, request.dataset, test_impressions, static_cast<std::size_t>(max_history));
  }
};

// The ranking of a device that leaves the weight of its own items out of what it solves: x ~ (YᵀY + λ)⁻¹ Σ y,
// exact for one click, whose weight only lengthens x. The longest vector of an item has length 1, and n
// clicks move the score of no item by more than √n. Behind the factors stands what only an item without any
// has: it is ranked below the others.
TrainedFactors factors_of(const fl::FactorModel& model) {
  const torch::NoGradGuard no_grad;
  constexpr double tiny = 1e-30;
  constexpr float below_all = -32;  // a device reads 1,000 clicks at most, and √1000 is less
  const torch::Tensor factors = model.factors.to(torch::kCPU, torch::kFloat64);
  const torch::Tensor system = torch::mm(factors.t(), factors) +
                               model.settings().regularisation * torch::eye(factors.size(1), torch::kFloat64);
  const torch::Tensor inverse = torch::linalg_inv(system);
  const double longest = std::max(factors.norm(2, {1}).max().item<double>(), tiny),
               most = std::max((torch::mm(factors, inverse) * factors).sum(1).max().item<double>(), tiny);
  const torch::Tensor mix = inverse * (longest * longest / most);

  const auto padded = [](const torch::Tensor& matrix, std::int64_t rows) {
    const torch::Tensor wide =
        torch::constant_pad_nd(matrix, {0, 1, 0, rows}).to(torch::kFloat32).contiguous();
    const std::span values(wide.data_ptr<float>(), static_cast<std::size_t>(wide.numel()));
    return std::vector<float>(values.begin(), values.end());
  };
  TrainedFactors made;
  made.size = static_cast<std::size_t>(factors.size(1)) + 1;
  made.items = padded(factors / longest, 0);
  made.mix = padded(mix, 1);
  made.constant.assign(made.size, 0);
  made.constant.back() = 1;
  made.unseen_item.assign(made.size, 0);
  made.unseen_item.back() = below_all;
  return made;
}

class Fcf final : public Recipe {
 public:
  Fcf() { impressions_.validation_impressions = 0; }

  void bind(SettingsTable& table) override {
    engine_.rounds = 500;
    engine_.bind(table, false);
    optimiser_.optimiser = "adam";
    optimiser_.learning_rate = 0.01;
    optimiser_.bind(table);
    table.add("cohort", cohort_, {1, 10000000}, "Users per round");
    interactions_.bind(table);
    table
        .add("max_history", impressions_.max_history, {1, 10000},
             "Impressions: most recent clicks of a history that a test device solves from")
        .add("user_share", impressions_.user_share, {1e-6, 1.0}, "Impressions: share of the users who train");
    factors_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.devices.users, cohort_, request.seed));
    fl::PlainMeans source(std::move(sampler),
                          fl::factorisation_mean(run.devices, run.devices.users.size(), *run.model));
    SOTTO_TRY(auto outcome, train_to_last_round(request, *run.parameters, source, optimiser_, engine_,
                                                [&] { return run.measure(); }));
    outcome.training_users = run.devices.users.size();
    outcome.training_samples = run.devices.count();
    return outcome;
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    return measure_last_round(request, *run.parameters, [&] { return run.measure(); });
  }

  Result<std::optional<TrainedFactors>> open_factors(const RunRequest& request) override {
    SOTTO_TRY(const auto run, prepare(request));
    SOTTO_CHECK(load_last_round(request, *run.parameters));
    return factors_of(*run.model);
  }

 private:
  Result<FactorisationRun> prepare(const RunRequest& request) const {
    FactorisationRun run{request, impressions_.max_history};
    SOTTO_TRY(const auto device, request.compute_device());
    SOTTO_CHECK(choose_devices(run));
    torch::manual_seed(request.seed);
    run.model =
        std::make_shared<fl::FactorModel>(static_cast<std::int64_t>(request.dataset.item_count()), factors_);
    run.model->to(device);
    run.parameters = std::make_unique<model::FlatParameters>(*run.model);
    return run;
  }

  Status choose_devices(FactorisationRun& run) const {
    const data::Dataset& dataset = run.request.dataset;
    if (dataset.has_interactions()) {
      const fl::TrainingDataSettings other;
      if (impressions_.max_history != other.max_history || impressions_.user_share != other.user_share)
        return bad_input(
            "{} has interactions, and max_history and user_share are about impressions: leave them out",
            dataset.name());
      SOTTO_TRY(run.interactions, tested_interactions(run.request, interactions_));
      run.devices = fl::positives_of(dataset, *run.interactions);
      return {};
    }
    if (!dataset.has_impressions())
      return bad_input("{} has neither interactions nor impressions: nothing can be learned from it",
                       dataset.name());
    const fl::InteractionSettings other;
    if (interactions_.train_share != other.train_share || interactions_.rows != other.rows ||
        interactions_.positive_above != other.positive_above)
      return bad_input(
          "{} has impressions, and train_share, positive_above and rows are about interactions: leave them "
          "out",
          dataset.name());
    SOTTO_TRY(auto data, fl::prepare_training_data(dataset, impressions_, run.request.seed));
    run.devices = fl::positives_of(dataset, data.users);
    keep_drawn_tests(data.test, run.request);
    run.test_impressions = std::move(data.test);
    return {};
  }

  fl::EngineSettings engine_;
  fl::OptimiserSettings optimiser_;
  std::int64_t cohort_ = 100;
  fl::FactorisationSettings factors_;
  fl::InteractionSettings interactions_;
  fl::TrainingDataSettings impressions_;
};

}  // namespace

std::unique_ptr<Recipe> make_fcf() { return std::make_unique<Fcf>(); }

}  // namespace sotto::recipes
