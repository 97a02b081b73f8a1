// Item vectors from two private sums. Every device once sends its items as a vector of length 1; the server
// chooses the items with the largest noisy counts. Every device once sends which of these it likes together;
// eigenvectors of the noisy sum that stand out of the noise are the items' vectors. Devices rank by them.
// Two releases in all, so that noise is paid for twice and not once per round of a training.
// noise=none: the same sums without noise, to compare with.

#include "recipes/dp_svd.h"

#include <algorithm>

#include "recipes/compute_device.h"
#include "recipes/interaction_run.h"
#include "recipes/two_private_sums.h"

namespace sotto {
namespace {

class DpSvd final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.rounds = 2;
    engine_.checkpoint_every = 1;
    engine_.bind(table);
    private_.bits = 28;
    private_.bind_budget(table);
    data_.bind(table);
    table.add_choice("noise", noise_, {"distributed", "none"}, "none: no noise, no differential privacy")
        .add("items", items_, {0, 10'000},
             "Items that get a vector, the most counted ones; 0: training users / 8, between 50 and 1,000")
        .add("choose_noise", choose_noise_, {0.01, 1000.0},
             "Noise multiplier of the counts that choose them, over that of the pairs")
        .add("vectors", spectrum_.vectors, {1, 4096}, "Numbers per item, at most")
        .add("ridge", spectrum_.ridge, {0.0, 1.0}, "Eigenvalue, of at most 1, that counts half")
        .add("again", again_, {0.0, 1e6},
             "How far what a user has used before is lifted, by the logarithm of how often");
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_CHECK(check());
    SOTTO_TRY(const auto data, prepare_interactions(request.dataset, data_, request.seed));
    SOTTO_TRY(const auto model, make_model(request));
    FlatParameters parameters(*model);
    const SumsShape shape = shape_of(request.dataset, data);
    std::optional<TwoPrivateSums> sums;
    std::optional<PairPlans> plans;
    if (noise_ == "none") {
      SOTTO_TRY(plans, sums_without_noise(private_, shape));
    } else {
      SOTTO_TRY(sums, TwoPrivateSums::calibrate(private_, shape, choose_noise_));
      SOTTO_CHECK(save_plan(sums->accounted, request.run / "privacy.toml"));
      plans = sums->plans;
    }
    PairSource source(request.dataset, data, *model, *plans, spectrum_, request.seed);
    OptimiserSettings set_what_comes;
    set_what_comes.optimiser = "fedavg";
    SOTTO_TRY(auto outcome, train_on_interactions(request, data, parameters, source, set_what_comes, engine_,
                                                  scoring(request.dataset, data, *model)));
    if (sums) outcome.privacy = datasheet_of(*sums, "dp-svd");
    return outcome;
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(const auto data, prepare_interactions(request.dataset, data_, request.seed));
    SOTTO_TRY(const auto model, make_model(request));
    FlatParameters parameters(*model);
    return evaluate_on_interactions(request, data, parameters, scoring(request.dataset, data, *model));
  }

 private:
  Status check() const {
    if (engine_.rounds != 2)
      return bad_input("dp-svd has two rounds, one for each release, not {}: leave out rounds",
                       engine_.rounds);
    if (noise_ == "none" && private_.epsilon > 0)
      return bad_input("noise=none keeps no budget: leave out --epsilon, or noise=none");
    if (noise_ != "none" && private_.epsilon <= 0)
      return bad_input("dp-svd needs a budget: give --epsilon (and delta, {:g} by default)", private_.delta);
    return {};
  }

  SumsShape shape_of(const Dataset& dataset, const InteractionData& data) const {
    const std::uint64_t users = data.users.size(), items = dataset.item_count();
    const std::uint64_t chosen =
        items_ > 0 ? static_cast<std::uint64_t>(items_) : std::clamp<std::uint64_t>(users / 8, 50, 1000);
    return {items, std::min(chosen, items), users};
  }

  Result<std::shared_ptr<ItemVectors>> make_model(const RunRequest& request) const {
    SOTTO_TRY(const auto device, compute_device(request.device));
    auto model = std::make_shared<ItemVectors>(static_cast<std::int64_t>(request.dataset.item_count()),
                                               spectrum_.vectors);
    model->to(device);
    return model;
  }

  ScoreTestUsers scoring(const Dataset& dataset, const InteractionData& data,
                         const ItemVectors& model) const {
    return [&, this](const TakeScores& take) { score_test_users(dataset, data, model, again_, take); };
  }

  EngineSettings engine_;
  PrivateTrainingSettings private_;
  InteractionSettings data_;
  std::string noise_ = "distributed";
  std::int64_t items_ = 0;
  double choose_noise_ = 4, again_ = 10;
  SpectrumSettings spectrum_;
};

}  // namespace

std::unique_ptr<Recipe> make_dp_svd() { return std::make_unique<DpSvd>(); }

}  // namespace sotto
