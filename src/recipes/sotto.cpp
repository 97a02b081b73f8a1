// The flagship. Items are public: their vectors come from the catalogue's words and cost no privacy. Readers
// train what is left, some two hundred numbers of the user model, under user-level distributed noise; so few
// that the noise hardly matters. The iterates' tail is averaged, no round is chosen.
// noise=none: the same without clipping and noise, to compare with.

#include "recipes/sotto.h"

#include "fl/private_source.h"
#include "fl/tail_average.h"
#include "recipes/news_run.h"
#include "recipes/private_training.h"

namespace sotto {
namespace {

class Sotto final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.rounds = 60;
    engine_.bind(table);
    table.add("cohort", cohort_, {0, 10000000}, "Readers per round; 0: half of them, at most 10,000")
        .add_choice("noise", noise_, {"distributed", "none"},
                    "none: no clipping, no noise, no differential privacy");
    optimiser_.optimiser = "adam";
    optimiser_.learning_rate = 0.05;
    optimiser_.bind(table);
    private_.bind(table);
    private_.bind_following_bound(table);
    news_.model = "catalogue";
    news_.data.validation_impressions = 0;
    news_.data.negatives = 20;
    news_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    const auto readers = static_cast<std::int64_t>(run.data().users.size());
    const std::int64_t cohort = cohort_ > 0 ? cohort_ : std::min<std::int64_t>((readers + 1) / 2, 10000);
    SOTTO_TRY(auto sampler, CohortSampler::create(run.data().users, cohort, request.seed));
    SOTTO_TRY(auto steps, make_optimiser(optimiser_, run.parameters().values()));
    const auto rounds = static_cast<std::uint32_t>(engine_.rounds);
    TailAverage optimiser(std::move(steps), run.parameters().values(), rounds / 2, rounds);
    if (noise_ == "none") {
      if (private_.epsilon > 0)
        return bad_input("noise=none gives no guarantee: leave --epsilon out, or noise=none");
      FederatedSettings plain;
      plain.cohort = cohort;
      FederatedSource source(plain, std::move(sampler), {}, run.training());
      return run.train(source, optimiser, engine_);
    }
    const auto shape = TrainingShape::of(run.dimension(), sampler.population(), cohort, engine_.rounds);
    SOTTO_TRY(const auto plan, PrivateTraining::begin(private_, shape, news_.data, request.run));
    PrivateSource source(plan.plan, std::move(sampler), plan.participations(), run.training(), request.seed);
    if (private_.clip_quantile > 0)
      source.follow({private_.clip, private_.clip_floor, private_.clip_quantile, private_.clip_rate});
    SOTTO_TRY(auto outcome, run.train(source, optimiser, engine_));
    outcome.privacy = datasheet_of(plan, "sotto");
    return outcome;
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    return run.evaluate_best();
  }

 private:
  std::int64_t cohort_ = 0;
  std::string noise_ = "distributed";
  EngineSettings engine_;
  OptimiserSettings optimiser_;
  PrivateTrainingSettings private_;
  NewsSettings news_;
};

}  // namespace

std::unique_ptr<Recipe> make_sotto() { return std::make_unique<Sotto>(); }

}  // namespace sotto
